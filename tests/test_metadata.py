"""What a page tells of itself, on pages made by hand and in a real crawl."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta, timezone
from io import BytesIO
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from parsel import Selector
from scrapy.http import Response, TextResponse

from noiseclean_scrapy import PageItem, SiteCleaner
from noiseclean_scrapy.metadata import (
    LIBRARIES_MISSING,
    Metadata,
    _declared,
    extract_metadata,
)
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.page.authors import named_authors
from noiseclean_scrapy.page.days import months, read_time, read_written, shown_days
from noiseclean_scrapy.page.facts import page_facts, text_of
from noiseclean_scrapy.page.headline import choose_title
from noiseclean_scrapy.page.linked_data import own_json
from noiseclean_scrapy.page.people import people_of
from noiseclean_scrapy.page.publication import _marked_author, _stated_author, _stated_time
from noiseclean_scrapy.page.solar_calendar import common_day
from noiseclean_scrapy.page.urls import site_name
from noiseclean_scrapy.store import Store
from tests.support import crawl_site, crawling
from tests.support.crawling import Crawled, Plan

URL = "https://news.example.com/2021/flood?page=2"
TEXTS = {
    "en": "The river rose overnight and flooded the old town, where people were asleep.",
    "de": "Der Fluss stieg über Nacht und überflutete die Altstadt, in der alle schliefen.",
    "pt": "O rio subiu durante a noite e inundou a cidade velha, onde todos dormiam em casa.",
    "el": "Ο ποταμός ανέβηκε τη νύχτα και πλημμύρισε την παλιά πόλη, όπου όλοι κοιμόνταν.",
    "ru": "Река поднялась за ночь и затопила старый город, где все жители спали в домах.",
    "zh": "河水一夜之间上涨，淹没了老城区，那里的居民都在睡觉。"
    "市长说，救援人员已经抵达现场，正在帮助受灾的家庭离开。",
}


def read(head: str = "", body: str = "", text: str = "", url: str = URL) -> Metadata:
    page = f"<html><head>{head}</head><body>{body}</body></html>"
    return extract_metadata(page, url=url, text=text)


def linked(data: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


TIME = '<time datetime="2021-07-05">5 July</time>'
EARLIER = '<time datetime="2011-01-02">2 January</time>'
LATER = '<time datetime="2021-08-01">1 August</time>'


def utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=timezone.utc)


ARTICLE = """{"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "name": "Courier"},
 {"@type": "NewsArticle", "datePublished": "2021-07-15T23:30:00-02:00",
  "dateModified": "2021-08-01T10:00:00Z", "author": {"@type": "Person", "name": "Ana Lima"}}]}"""


def test_json_ld() -> None:
    found = read(f'<script type="application/ld+json">{ARTICLE}</script>')
    assert found.author == "Ana Lima"
    assert found.published == utc(2021, 7, 16, 1, 30)


@pytest.mark.parametrize("control", ["\x01", "\x0b", "\x0c", "\x1f", "\x7f"])
def test_json_ld_with_control_characters(control: str) -> None:
    script = ARTICLE.replace("Ana", f"{control}Ana")
    found = read(f'<script type="application/ld+json">{script}</script>')
    assert found.author == "Ana Lima"
    assert found.published == utc(2021, 7, 16, 1, 30)


def test_meta_and_links() -> None:
    found = read(
        '<meta name="author" content="Ana Lima"><link rel="canonical" href="/2021/flood">'
        '<meta property="article:published_time" content="2021-07-15T08:00:00+02:00">'
        '<meta property="og:image" content="//img.example.com/flood.jpg">'
    )
    assert found == Metadata(
        author="Ana Lima",
        published=utc(2021, 7, 15, 6),
        canonical_url="https://news.example.com/2021/flood",
        image="https://img.example.com/flood.jpg",
    )


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        ("", '<p>By <a rel="author" href=/ana>Ana C. Lima</a></p>', "Ana C. Lima"),
        ('<meta name="author" content="By Ana Lima">', '<a rel="author">Rui Melo</a>', "Ana Lima"),
        (
            '<meta name="author" content="Ana Lima"><meta name="author" content="Rui Melo">',
            "",
            None,
        ),
        ('<meta name="author" content="105092">', "", None),
        ('<meta name="author" content="Lima, Ana">', "", "Lima, Ana"),
        ("", '<p><a rel="author">Ana Lima</a> and <a rel="author">Rui Melo</a></p>', None),
        *(
            (f'<meta name="author" content="{name}">', "", name)
            for name in (
                *("Jean-Luc Picard", "Tom O'Neill", "Tom O’Neill", "Anna Smith-Jones"),
                *("D'Arcy Wentworth", "María José de la Cruz Pérez"),
                *("मीना शर्मा", "রাজেশ বর্মা", "மீனா சர்மா", "สมชาย ใจดี", "מרים כהן"),
                *("王强", "佐藤花子", "김민수", "欧阳修远"),
            )
        ),
    ],
)
def test_one_plain_name_is_taken_without_the_libraries(
    head: str, body: str, author: str | None
) -> None:
    """None: they are asked."""
    assert _stated_author(page_facts(f"<head>{head}<body>{body}")) == (author or "")


MEMBER = "<a>F</a> <span>Offline</span> <a>{}</a> <span>wrote</span>"


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ("<meta itemprop=name content=Fog_Fan94>" + MEMBER.format("Fog_Fan94"), "Fog_Fan94"),
        ("<a itemprop=url><span itemprop=name> fog.fan </span></a> <i>3</i>", "fog.fan"),
        ("<b itemprop='fn name'>By Ana Lima, Courier</b>", "Ana Lima"),
        ("<i itemprop=name>Ana Lima and Rui Melo | Courier</i>", "Ana Lima; Rui Melo"),
        ("<i itemprop=url>Por Ana Lima, <b>fotos</b></i>", "Ana Lima"),
        ("Reuters", "Reuters"),
        ("<i itemprop=name>7 ways to see fog</i>", ""),
        ("<i itemprop=name>105092</i>", ""),
        ("<i itemprop=name>Staff of the Courier</i>", ""),
        ("<!-- nobody -->", ""),
    ],
)
def test_the_author_of_microdata_is_taken_without_the_libraries(author: str, name: str) -> None:
    post = f"<h1>Fog</h1><div itemprop='author creator' itemscope>{author}</div>"
    assert _marked_author(page_facts(post)) == name
    other = "<p itemprop=author><i itemprop=name>{}</i>"
    assert _marked_author(page_facts(post + other.format("fogger"))) == name
    comment = f"<div class=comments>{other.format('fogger')}</div>"
    assert _marked_author(page_facts(comment + post)) == name
    assert read('<meta name="author" content="Eva Silva">', post).author == "Eva Silva"


def test_several_people_of_microdata_are_for_the_libraries() -> None:
    marked = "<p itemprop=author><i itemprop=name>{}</i></p>".format
    assert _marked_author(page_facts(f"{marked('Ana Lima')}{marked('Ana Lima')}")) == "Ana Lima"
    assert _marked_author(page_facts(f"{marked('Ana Lima')}{marked('Rui Melo')}")) == ""
    assert _marked_author(page_facts(f"{marked('Ana Lima')}{marked('melo')}")) == "Ana Lima"


@pytest.mark.parametrize(
    ("names", "authors"),
    [
        (["Lima, Ana"], "Ana Lima"),
        (["Lima, Ana", "van der Berg, Jan", "Lima, Ana"], "Ana Lima; Jan van der Berg"),
        (["Ana Lima", "Rui Melo"], "Ana Lima; Rui Melo"),
        (["Lima, Ana, PhD"], "Lima, Ana, PhD"),
    ],
)
def test_authors_that_are_cited_one_by_one(names: list[str], authors: str) -> None:
    cited = "".join(f'<meta name="citation_author" content="{name}">' for name in names)
    assert read(cited).author == authors


@pytest.mark.parametrize(
    "name", ["Centers for Ice and Fog", "Ministry of Ice and Fog", "Ice and Fog Agency"]
)
def test_an_organisation_is_one_author(name: str) -> None:
    assert read(f'<meta name="author" content="{name}">').author == name


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("By Ana Lima Follow", "Ana Lima"),
        ("By Ana Lima March 5, 2021", "Ana Lima"),
        ("Ana Lima | Sept. 5, 2021", "Ana Lima"),
        ("By Ana Lima Updated March 5, 2021 10:15 am", "Ana Lima"),
        ("By Ana Lima, Senior Reporter", "Ana Lima"),
        ("Written by Ana Lima", "Ana Lima"),
        ("View all posts by Ana Lima", "Ana Lima"),
        ("Ana Lima is a reporter.", "Ana Lima"),
        ("Por Ana Lima", "Ana Lima"),
        ("Escrito por Ana Lima", "Ana Lima"),
        ("Écrit par Ana Lima", "Ana Lima"),
        ("Tekst: Ana Lima", "Ana Lima"),
        ("记者 王强", "王强"),
        ("文/王强", "王强"),
        ("بقلم مريم حداد", "مريم حداد"),
        ("By April May", "April May"),
        ("About the author", ""),
        ("Author", ""),
        ("Author Ana Lima", "Ana Lima"),
        ("Autor: Ana Lima", "Ana Lima"),
        ("Автор Анна Лима", "Анна Лима"),
        ("This post was written by Ana Lima", "Ana Lima"),
        ("Article by Ana Lima", "Ana Lima"),
        ("Ana Lima Monday", "Ana Lima"),
        ("Ana Lima; January", "Ana Lima"),
        ("本文栏目： 上海 作者： 陈鑫", "陈鑫"),
        ("Written By", ""),
        ("Вход; Регистрация", ""),
        ("Reader; Sign in", ""),
        ("用户名： 密码： 登 录", ""),
        ("Tuesday", ""),
        ("Dec", ""),
        ("By Ana Lima June 30, 2013", "Ana Lima"),
        ("Ana Lima • March 3, 2026", "Ana Lima"),
        ("By Ana Lima | Updated 5 May 2026", "Ana Lima"),
        ("Analysis by Ana Lima, Editor-at-large", "Ana Lima"),
        ("Recipe by Ana Lima", "Ana Lima"),
        ("Martin Luther King, Jr.", "Martin Luther King"),
        ("Share Tweet Text Share E-mail", ""),
        ("Discuz! Team and Comsenz UI Team", ""),
        ("Ana Lima, MS, RD", "Ana Lima"),
        ("Ana Lima, CEO and Rui Melo, CFP", "Ana Lima; Rui Melo"),
        ("This post was written by Ana Lima, Head of Fog", "Ana Lima"),
        ("Ana Lima, DVM Reviewed by Rui Melo", "Ana Lima"),
        ("Ana Lima Edited by Rui Melo", "Ana Lima"),
        ("Words by Ana Lima Photography by Rui Melo", "Ana Lima"),
        ("Read more about The Courier Team", "The Courier Team"),
        ("Ana Lima, AFP", "Ana Lima; AFP"),
        ("Ana Lima Contributing", "Ana Lima"),
        ("Ana Lima; fog.example.com; p=12", "Ana Lima"),
    ],
)
def test_what_stands_around_a_name_is_no_part_of_it(line: str, author: str) -> None:
    for head, body in ((f'<meta name="author" content="{line}">', ""), ("", line)):
        assert read(head, f'<h1>Flood</h1><p class="byline">{body}</p>').author == author


@pytest.mark.parametrize(
    "name",
    [
        "रमेश शर्मा",
        "สมชาย ใจดี",
        "मेधा",
        "fog_fan",
        "fog_fan94",
        "afan42",
        "bell hooks",
        "A.B. Lima Jr.",
        "علی\u200cرضا محمدزاده",
    ],
)
def test_names_are_spelled_as_the_page_has_them(name: str) -> None:
    assert read(body=f'<h1>Flood</h1><span class="author">{name}</span>').author == name
    assert read(f'<meta name="author" content="{name}, Braga">').author == f"{name}; Braga"


def test_a_name_that_is_shown_in_capitals_as_well_is_not_in_capitals() -> None:
    body = '<h1>Flood</h1><p class="author">ANA LIMA</p>'
    assert read('<meta name="author" content="Ana Lima, Braga">', body).author == "Ana Lima; Braga"
    assert read('<meta name="author" content="ana lima, Braga">', body).author == "ana lima; Braga"


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("Yazan: Ali Kaya", "Ali Kaya"),
        ("Autor/in: Lukas Brandt", "Lukas Brandt"),
        ("Tác giả: Nguyễn Văn An", "Nguyễn Văn An"),
        ("著者：佐藤花子", "佐藤花子"),
        ("佐藤花子（さとうはなこ）", "佐藤花子"),
        ("מאת: דנה כהן", "דנה כהן"),
        ("מאת דנה כהן", "דנה כהן"),
        ("كتب أحمد علي", "أحمد علي"),
        ("Przez Jan Nowak", "Jan Nowak"),
        ("Oleh Budi Santoso", "Budi Santoso"),
        ("Oleh Petrenko", "Oleh Petrenko"),
        ("Af Lars Hansen", "Lars Hansen"),
        ("Af Klint", "Af Klint"),
        ("Kirjoittanut Matti Virtanen", "Matti Virtanen"),
        ("Napsala Jana Nová", "Jana Nová"),
        ("A cura di Maria Rossi", "Maria Rossi"),
        ("Ein Kommentar von Max Muster", "Max Muster"),
        ("Иван Петров, корреспондент", "Иван Петров"),
        ("記者王小明／台北報導", "王小明"),
        ("〔記者王小明/台北報導〕", "王小明"),
        ("文／記者王小明", "王小明"),
        ("بقلم/ ليلى حداد", "ليلى حداد"),
        ("Της Άννας Παππά", "Άννας Παππά"),
        ("Piše Ivan Horvat", "Ivan Horvat"),
        ("Հեղինակ՝ Արամ Խաչատրյան", "Արամ Խաչատրյան"),
        ("โดย สมชาย ใจดี", "สมชาย ใจดี"),
    ],
)
def test_words_before_a_marked_author_are_no_part_of_the_name(line: str, author: str) -> None:
    assert read(body=f'<h1>Flood</h1><span class="author">{line}</span>').author == author


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("Penulis: Budi Santoso", "Budi Santoso"),
        ("Tác giả: Nguyễn Văn An", "Nguyễn Văn An"),
        ("โดย : สมชาย ใจดี", "สมชาย ใจดี"),
        ("記者王小明／台北報導", "王小明"),
        ("Ana C. Lima (http://fog.example.com/ana)", "Ana C. Lima"),
        ("علی\u200cرضا محمدزاده", "علی\u200cرضا محمدزاده"),
    ],
)
def test_what_stands_around_a_name_in_meta(content: str, name: str) -> None:
    assert read(f'<meta name="author" content="{content}">').author == name


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("Story by Ana Lima · Photographs by Rui Melo", "Ana Lima"),
        ("Story by <a>Ana Lima</a>; Photos by <a>Rui Melo</a>", "Ana Lima"),
        ("Propos recueillis par Ana Lima", "Ana Lima"),
        ("Par Ana Lima avec AFP", "Ana Lima"),
        ("Ana Lima Tiempo de lectura: 5 min", "Ana Lima"),
        ("글 김민수", "김민수"),
        ("글로벌 김민수", "글로벌 김민수"),
        ("文・山田太郎", "山田太郎"),
        ("取材・文＝山田太郎", "山田太郎"),
        ("Γράφει η Άννα Παππά", "Άννα Παππά"),
        ("About Ana Lima", "Ana Lima"),
        ("About Time", "About Time"),
        ("<h4>About the author</h4><p>Ana Lima</p>", "Ana Lima"),
        ("<h4>About the author</h4><p>Ana Lima writes about walls.</p>", ""),
        ("Ana Lima writes about walls.", ""),
    ],
)
def test_words_in_a_marked_byline_are_no_part_of_the_name(line: str, author: str) -> None:
    assert read(body=f'<h1>Flood</h1><div class="byline">{line}</div>').author == author


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("fr", "Ana Lima et Rui Melo"),
        ("es", "Ana Lima y Rui Melo"),
        ("es", "ANA LIMA Y RUI MELO"),
        ("pt", "Ana da Lima e Rui Melo"),
        ("da", "Ana Lima og Rui Melo"),
        ("sv", "Ana Lima och Rui Melo"),
        ("nl", "Ana Lima en Rui van der Melo"),
        ("pl", "Ana Lima i Rui Melo"),
        ("cs", "Ana Lima a Rui Melo"),
        ("ru", "Анна Лима и Иван Петров"),
        ("el", "Άννα Παππά και Νίκος Λύρας"),
        ("tr", "Ayşe Yılmaz ve Ali Kaya"),
        ("id", "Budi Santoso dan Ana Lima"),
        ("vi", "Nguyễn Văn An và Trần Bình"),
        ("en", "Ana Lima And Rui Melo"),
    ],
)
def test_people_joined_in_any_language_are_told_apart(language: str, line: str) -> None:
    page = f'<html lang="{language}"><h1>Ok</h1><p class="author">{line}</p>'
    found = extract_metadata(page, url=URL).author
    assert found.count("; ") == 1
    assert set(found.split()) < {*line.split(), *(f"{word};" for word in line.split())}


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("es", "José Ortega y Gasset"),
        ("pt", "Ana Costa e Silva"),
        ("ca", "Antoni Gaudí i Cornet"),
        ("es", "Ana Lima en Buenos Aires"),
        ("no", "Ana Lima i New York"),
        ("fr", "Le Figaro et AFP"),
        ("it", "Ministero della Salute e Istituto superiore"),
        ("en", "Department of Health and Human Services"),
        ("en", "Theo Van Gogh"),
        ("de", "Bund der Energieverbraucher e.V."),
        ("pl", "AltumNet sp. z o.o."),
        ("en", "Ursula von der Leyen"),
    ],
)
def test_names_that_hold_such_a_word_stay(language: str, name: str) -> None:
    assert people_of(name, language) == name


@pytest.mark.parametrize(("name", "author"), [(", The Courier", "The Courier"), ('"Al B"', "Al B")])
def test_signs_around_a_name_in_json_ld(name: str, author: str) -> None:
    assert read(linked({"@type": "Article", "author": {"name": name}})).author == author


def test_an_address_of_mail_in_a_byline_is_no_name() -> None:
    mail = "<p><a href='mailto:al@fog.example'>al@fog.example</a></p>"
    body = f"<h1>Flood</h1><div class=byline><p><span>By Ana Lima</span></p>{mail}</div>"
    assert read(body=body).author == "Ana Lima"


@pytest.mark.parametrize("mark", ["about-authorization", "authoring-texts", "authority"])
def test_headings_about_authorisation_name_no_author(mark: str) -> None:
    assert read(body=f"<h1>Fog</h1><h2 id={mark}>About permissions</h2>").author == ""


def test_a_word_and_a_name_are_the_author_where_they_are_marked_first() -> None:
    body = '<h1>Flood</h1><p class="author">Ana Lima</p><p class="author">Image: Rui Melo</p>'
    assert read(body=body).author == "Ana Lima"


@pytest.mark.parametrize("name", ["Super User", "admin", "Administrator", "webmaster", "Sat"])
def test_placeholders_are_no_authors(name: str) -> None:
    head, body = f'<meta name="author" content="{name}">', '<b itemprop="author">Ana Lima</b>'
    assert read(head).author == ""
    assert read(head, body).author == "Ana Lima"


@pytest.mark.parametrize(
    "name",
    [
        *("字号", "打印", "Sun Dec", "View Profile", "Medically", "Modified", "Aktualisiert"),
        *("Aktualisiert; veröffentlicht", "This review is"),
    ],
)
def test_words_beside_names_are_no_authors(name: str) -> None:
    assert named_authors(f"{name}; Ana Lima") == "Ana Lima"


def test_names_that_begin_as_days_stay() -> None:
    assert named_authors("Sun Jun; Sun Dexter") == "Sun Jun; Sun Dexter"


@pytest.mark.parametrize("day", ["Mar 03, 2021", "Mar. 3, 2021", "<span>Mar 03</span>"])
def test_the_short_month_of_a_day_is_no_part_of_the_name_before_it(day: str) -> None:
    head = '<meta name="author" content="Rui Mar, Braga">'
    assert read(body=f"<h1>Flood</h1><div class=byline>Ana Lima {day}</div>").author == "Ana Lima"
    assert read(body="<h1>Flood</h1><div class=byline>Ana Lima Mar</div>").author == "Ana Lima Mar"
    assert read(head, f"<h1>Flood</h1><p class=date>{day}").author == "Rui Mar; Braga"


@pytest.mark.parametrize(("shown", "author"), [("<span>By Ana Lima</span>", "Ana Lima"), ("", "")])
def test_a_script_in_a_byline_is_no_name(shown: str, author: str) -> None:
    script = "<script>var byline='Al B';document.write(byline);</script>"
    assert read(body=f"<h1>Flood</h1><div class=byline>{script}{shown}</div>").author == author


def test_soft_hyphens_are_no_part_of_a_name() -> None:
    assert named_authors("Ana Sou\u00adsa") == "Ana Sousa"
    assert read('<meta name="author" content="Ana Sou&shy;sa">').author == "Ana Sousa"


def test_the_number_of_an_account_is_no_name() -> None:
    assert named_authors("Ana Lima; UDC7RFYFNRhrH8pI") == "Ana Lima"
    assert named_authors("3d23d65-ddc6-4ce5") == ""
    assert named_authors("ana_lima_1985") == "ana_lima_1985"


def test_degrees_are_no_names_and_families_are() -> None:
    assert named_authors("Ana Lima; MA; Ph.D.") == "Ana Lima"
    assert named_authors("Ma; Jack") == "Ma; Jack"


def test_initials_have_their_dots_wherever_the_name_stands() -> None:
    marked = "<span itemprop=author>Ana D. Lima</span>"
    for body in (marked, f"<p>Ana E. Lima</p>{marked}", marked.replace("D. Lima", "D.\n Lima")):
        assert read("", f"<h1>Flood</h1>{body}").author == "Ana D. Lima"
    assert read("", "<h1>Flood</h1><p class=author>Ana D Lima</p>").author == "Ana D Lima"


@pytest.mark.parametrize(
    ("head", "body", "published"),
    [
        ("", '<time datetime="2021-07-05T10:00Z">5 July</time>', utc(2021, 7, 5, 10)),
        ("", '<time datetime="2021-07-05">5 July</time><time datetime="2021-07-06">', None),
        ("", f"<h1>Flood</h1>{TIME}{LATER}{EARLIER}", utc(2021, 7, 5)),
        ("", f"{EARLIER}<h1>Flood</h1>{TIME}{LATER}", utc(2021, 7, 5)),
        ("", f"{EARLIER}<div>{TIME}<h1>Flood</h1></div>{LATER}", utc(2021, 7, 5)),
        ("", f"<h1>Flood</h1><p>Updated {LATER}, published {TIME}</p>{EARLIER}", utc(2021, 7, 5)),
        ("", f"{EARLIER}<time pubdate datetime='2021-07-05'></time>{LATER}", utc(2021, 7, 5)),
        ("", f"<time itemprop=dateModified datetime=2021-07-04></time>{TIME}", utc(2021, 7, 5)),
        ("", f"<h1>Flood</h1>{'<i class=author>Ana</i>' * 4}{TIME}{EARLIER}", None),
        ("", f"<h1>Flood</h1><p>It last rose on {EARLIER}, when nobody was hurt at all.</p>", None),
        (
            "",
            f"<h1>Flood</h1><p>It last rose on {EARLIER}, and nobody was hurt at all.</p>{TIME}",
            utc(2021, 7, 5),
        ),
        ("", f"<h1>Flood</h1><p>Published by Ana Lima on {TIME}.</p>{EARLIER}", utc(2021, 7, 5)),
        ('<meta name="dc.date" content="2021-07-04">', '<time datetime="2021-07-05">', None),
        ('<meta name="msvalidate.01" content="3BEB">', TIME, utc(2021, 7, 5)),
        ('<meta property="article:publisher" content="Fog">', TIME, utc(2021, 7, 5)),
        ("", "<time itemprop=datePublished content=2021-07-05></time>", utc(2021, 7, 5)),
    ],
)
def test_the_time_of_a_page_is_taken_without_the_libraries(
    head: str, body: str, published: datetime | None
) -> None:
    facts = page_facts(f"<head>{head}<body>{body}")
    assert _stated_time(facts, _declared(facts), "")[0] == published


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: f"{data[:-1]},}}",
        lambda data: f"{data[:-1]}, \n}} ;",
        lambda data: data.replace('["fog"]', '["fog", ]'),
        lambda data: data.replace("closes", r"\'closes\'"),
        lambda data: f'{{"@type": "WebSite", "name": "Courier"}}{data}',
        lambda data: f"{data}\n,\n{data}",
        lambda data: f"/*<![CDATA[*/{data[:-1]},}};/*]]>*/",
    ],
)
def test_json_ld_that_hands_have_damaged(damage: Callable[[str], str]) -> None:
    story = {
        "@type": "NewsArticle",
        "author": {"name": "Ana Lima"},
        "headline": "Fog closes [port,]",
        "datePublished": "2021-07-05",
        "keywords": ["fog"],
        "articleBody": "The river rose.",
    }
    damaged = damage(json.dumps(story))
    head = f'<title>x</title><script type="application/ld+json">{damaged}</script>'
    found = read(head)
    assert (found.author, found.published) == ("Ana Lima", utc(2021, 7, 5))
    page = build_page(f"{head}<p>Fog.")
    assert choose_title(page, "").replace("'", "") == "Fog closes [port,]"
    # The weights know nothing of these.
    told = page.declared
    assert [*told.kinds, told.body, *told.titles] == [""]


@pytest.mark.parametrize(
    "text", ["", ";", "Fog, {}", "{", '"fog"; {}', '{"author": "Ana" "Lima"}', '{"name": "A"']
)
def test_what_is_no_json_stays_none(text: str) -> None:
    assert own_json(text) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<![CDATA[", "]]>"),
        ("\n//<![CDATA[\n", "\n//]]>\n"),
        ("/*<![CDATA[*/", "/*]]>*/"),
        ("<!--", "-->"),
        ("<!--//--><![CDATA[//><!--\n", "\n//--><!]]>"),
    ],
)
def test_json_ld_in_cdata_and_comments(before: str, after: str) -> None:
    story = json.loads(ARTICLE)
    story["@graph"][1]["headline"] = "Fog closes port"
    story["@graph"][1]["articleBody"] = "x " * 4000  # more than of what cannot be read
    head = f'<script type="application/ld+json">{before}{json.dumps(story)}{after}</script>'
    found = read(head)
    assert (found.author, found.published) == ("Ana Lima", utc(2021, 7, 16, 1, 30))
    page = build_page(f"<title>Courier</title>{head}<p>Fog closed the port on Friday.")
    assert page.declared.wrapped_title == choose_title(page, "") == "Fog closes port"


REVIEW = {"@type": "Review", "author": "Bo Buyer", "datePublished": "2021-03-05"}


@pytest.mark.parametrize(
    "page",
    [
        linked({"@type": "Product", "name": "Kettle", "review": [REVIEW]}),
        linked({"@graph": [{"@type": "Product", "name": "\ud800", "reviews": REVIEW}]}),
        linked({"@type": "Recipe", "name": "Tea", "comment": [{**REVIEW, "@type": "Comment"}]}),
        '<div itemscope itemtype="https://schema.org/Product"><p>Kettle</p><div itemprop="review">'
        '<b itemprop="author">Bo Buyer</b><meta itemprop="datePublished" content="2021-03-05">'
        '<time datetime="2021-03-05">5 March</time></div></div>',
    ],
)
def test_reviews_of_a_product_do_not_tell_of_its_page(page: str) -> None:
    assert read(body=page, url="https://shop.example.com/") == Metadata()


def test_the_page_of_a_product_may_have_its_own_day() -> None:
    data = linked({"@type": "WebPage", "datePublished": "2021-07-05", "comment": [REVIEW]})
    assert read(data, url="https://shop.example.com/").published == utc(2021, 7, 5)


@pytest.mark.parametrize(
    ("other", "published"),
    [
        ('<meta name="date" content="2021-07-05">', utc(2021, 7, 5)),
        ('<time datetime="2021-07-05">5 July</time>', utc(2021, 7, 5)),
        ('<p class="date">July 5, 2021</p>', utc(2021, 7, 5)),
        ("<title>Flood | 5.7.2021</title>", utc(2021, 7, 5)),
        ("", utc(2021, 8, 1)),
    ],
)
def test_the_last_change_is_asked_after_all_others(other: str, published: datetime) -> None:
    stated = '<meta property="article:published_time" content="soon">'
    changed = '<meta property="article:modified_time" content="2021-08-01">'
    found = read(stated + changed, other, url="https://news.example.com/flood")
    assert found.published == published


def test_of_several_times_the_address_tells_which() -> None:
    body = f"<h1>Flood</h1>{LATER}{TIME}"
    assert read("", body, url="https://news.example.com/2021/07/05/x").published == utc(2021, 7, 5)
    assert read("", body, url="https://news.example.com/x").published == utc(2021, 8, 1)


def test_a_time_to_come_is_none() -> None:
    assert read('<meta property="article:published_time" content="2999-07-15">').published is None


@pytest.mark.parametrize(
    ("head", "body", "published"),
    [
        ("<title>Flood | Courier | 28.04.2021</title>", "", utc(2021, 4, 28)),
        ("", '<p>Mo 5.7.21 | 14:07 | by <b class="author">Ana Lima</b></p>', utc(2021, 7, 5)),
        ("<title>雾 2021年7月5日</title>", "", utc(2021, 7, 5)),
        ("", '<p class="date">2021年07月05日 10:15</p>', utc(2021, 7, 5)),
        ("", '<p>2021년 7월 5일 <b class="author">Ana Lima</b></p>', utc(2021, 7, 5)),
        ("", '<p>5 July 2021 by <b class="author">Ana Lima</b></p>', utc(2021, 7, 5)),
        ("", '<p>July 5th, 2021 by <b class="author">Ana Lima</b></p>', utc(2021, 7, 5)),
        (
            "",
            '<i id="date">May 1, 2022</i><h1>Fog</h1><p class="date">2021年7月5日',
            utc(2021, 7, 5),
        ),
        ("", '<i class="caption-source">AFP, 5 July 2021</i>', None),
        ("", '<p>5 Fog 2021 by <b class="author">Ana Lima</b></p>', None),
        ("", '<p>Version 1.2.21.3 by <b class="author">Ana Lima</b></p>', None),
        ("", '<p>31.2.2021 by <b class="author">Ana Lima</b></p>', None),
        ("", '<p>1.2.2999 by <b class="author">Ana Lima</b></p>', None),
        ("", f'<div>{"x" * 500} 5.7.21 <b class="author">Ana Lima</b></div>', None),
    ],
)
def test_a_day_in_the_title_or_beside_the_author(
    head: str, body: str, published: datetime | None
) -> None:
    assert read(head, body, url="https://news.example.com/flood").published == published


@pytest.mark.parametrize(
    ("before", "behind", "language", "published"),
    [
        ("", "<p>2021-07-05 17:32 Courier</p>", "", utc(2021, 7, 5)),
        ("", "<p>Courier</p><p>(2021/7/5)</p>", "", utc(2021, 7, 5)),
        ("<p>2021.7.5.</p>", "", "", utc(2021, 7, 5)),
        ("<p>News</p><p>5 July 2021</p><p>Print</p>", "", "", utc(2021, 7, 5)),
        ("<p>1 May 2020</p>", "<p>5 July 2021</p>", "", utc(2021, 7, 5)),
        ("<p>4 May 2020</p><p>5 July 2021</p>", "", "", utc(2021, 7, 5)),
        ("", "<p>The flood of 5 July 2021 was the worst of all.</p>", "", None),
        ("", "<p>5 July 2021 -- The river rose over night.</p>", "", utc(2021, 7, 5)),
        ("", "<p>By a reporter on Monday, 5 July 2021 at 8 a.m.</p>", "", utc(2021, 7, 5)),
        ("", "<p>5 July 2021 -- Of 3 May 2021, posted 14 May 2021.</p>", "", utc(2021, 7, 5)),
        ("", "<p>Cập nhật: 05/07/2021</p>", "vi", utc(2021, 7, 5)),
        ("", "<p>05-07-2021</p>", "pt", utc(2021, 7, 5)),
        ("", "<p>07/15/2021</p>", "en", utc(2021, 7, 15)),
        ("", "<p>15/07/2021</p>", "en", utc(2021, 7, 15)),
        ("", "<p>05/05/2021</p>", "en", utc(2021, 5, 5)),
        ("", "<p>05/07/2021</p>", "en", None),
        ("", "<p>05/07/2021</p>", "", None),
        ("", "<p>2021-07-05-01</p><p>tel. 2021-07-055</p><p>a/2021/07/05/b</p>", "", None),
        ("", "<p>2021-02-30</p><p>1899-01-01</p><p>2999-01-01</p>", "", None),
        ("", f"<p>2021-07-05 {'fog ' * 40}</p>", "", None),
        ("", "<p>a</p><p>b</p><p>c</p><p>d</p><p>2021-07-05</p>", "", None),
        ("<p>2021-07-05</p>" + "<p>x</p>" * 8, "", "", None),
    ],
)
def test_a_day_beside_the_headline_that_nothing_marks(
    before: str, behind: str, language: str, published: datetime | None
) -> None:
    body = f"{before}<p>Fog on 2020-01-31</p>{behind}<p>It rose.</p>"
    page = f"<html lang='{language}'><body>{body}</body></html>"
    found = extract_metadata(page, url=URL, text="Fog on 2020-01-31\nIt rose.")
    assert found.published == published
    assert extract_metadata(page, url=URL).published is None
    assert extract_metadata(page, url=URL, text="It fell.").published is None


@pytest.mark.parametrize(
    ("line", "language", "day"),
    [
        ("Updated: March 5, 2021 | Published: March 3, 2021", "en", 3),
        ("Updated March 5, 2021 First published on March 3, 2021", "en", 3),
        ("Modified 5 March 2021, Posted 3 March 2021", "en", 3),
        ("Aktualisiert: 5. März 2021 | Veröffentlicht: 3. März 2021", "de", 3),
        ("Aktualisiert am 05.03.2021, erschienen am 03.03.2021", "de", 3),
        ("Atualizado em 5 de março de 2021. Publicado em 3 de março de 2021", "pt", 3),
        ("Published March 5, 2021 | Updated March 7, 2021", "en", 5),
        ("March 5, 2021. Published by the Courier. Fog on March 3, 2021", "en", 5),
    ],
)
@pytest.mark.parametrize("mark", ["", " class=date", " class=byline"])
def test_the_day_of_publication_may_stand_behind_that_of_a_change(
    line: str, language: str, day: int, mark: str
) -> None:
    pytest.importorskip("dateparser", reason="needs the extra metadata")
    html = f"<html lang={language}><h1>Fog</h1><div{mark}>{line}</div><p>{TEXTS[language]}</p>"
    found = extract_metadata(html, url="https://news.example.com/a", text=f"Fog\n{TEXTS[language]}")
    assert found.published == utc(2021, 3, day)


@pytest.mark.parametrize("tag", ["figcaption", "p"])
@pytest.mark.parametrize("behind", ["<p>Published 5 July 2021</p>", ""])
def test_the_day_of_a_picture_is_not_that_of_the_page(tag: str, behind: str) -> None:
    caption = f"<{tag}>The port on 1 January 2020. Photo: Rui Melo</{tag}>"
    body = f"<h1>Fog</h1><figure><img src=/a.jpg>{caption}</figure>{behind}<p>It rose.</p>"
    found = extract_metadata(f"<html lang=en>{body}", url=URL, text="Fog\nIt rose.")
    assert found.published == (utc(2021, 7, 5) if behind else None)


@pytest.mark.parametrize("body", ["<h1>Fog</h1></figcaption><p>{}", "<div>{}</div><h1>Fog</h1>"])
def test_a_headline_within_a_picture_has_a_day(body: str) -> None:
    day = body.format("5 July 2021")
    html = f"<html lang=en><figure><img src=/a.jpg><figcaption>{day}</figure><p>It rose.</p>"
    found = extract_metadata(html, url=URL, text="Fog\nIt rose.")
    assert found.published == utc(2021, 7, 5)


@pytest.mark.parametrize(
    ("behind", "author"),
    [
        ("<p>By Ana Lima</p>", "Ana Lima"),
        ("<p>Courier</p><p>Written by: Ana de Lima and Rui Melo</p>", "Ana de Lima; Rui Melo"),
        ("<p>By ANA LIMA, Associated Press Writer 2 minutes ago</p>", "ANA LIMA"),
        ("<p>By Ana Lima Monday, January 16, 2012</p>", "Ana Lima"),
        ("<p>Posted by Ana Lima on March 8 | Fog</p>", "Ana Lima"),
        ("<p>By Ana Lima Filed Under Fog</p>", "Ana Lima"),
        ("<p>by Ana Lima (AFP) – 17 hours ago</p>", "Ana Lima"),
        ("<p>by Ana Lima ● March 8</p>", "Ana Lima"),
        ("<p>By fog.fan, 2026-03-08(日), in category Weather</p>", "fog.fan"),
        ("<p>Posted by Ana · March 8, 2026 at 3:00 pm</p>", "Ana"),
        ("<p>By fog, and by 8 March 2026</p>", ""),
        ("<p>By fog 8 March 2026</p>", ""),
        ("<p>By Friday, 8 March 2026</p>", ""),
        ("<p>By fog, 8 ships</p>", ""),
        ("<p>By ana@courier.example, 8 March 2026</p>", ""),
        ("<p>By Ana Lima Published March 8</p>", "Ana Lima"),
        ("<p>von Ana Lima, Kurier</p>", "Ana Lima"),
        ("<p>Par Ana Lima et Rui Melo</p>", "Ana Lima; Rui Melo"),
        ("<p>Escrito por Ana Lima | 8 de mayo</p>", "Ana Lima"),
        ("<p>Door Ana Lima</p>", "Ana Lima"),
        ("<p>Par thème</p>", ""),
        ("<p>Por la noche de Lima</p>", ""),
        ("<p>Von Ana Lima aus Aber</p>", ""),
        ("<p>Di Maria</p>", ""),
        ("<p>By clicking here you agree</p>", ""),
        ("<p>By fog</p>", ""),
        ("<p>Bye Ana Lima</p>", ""),
        ("<p>By 2026 it rose.</p>", ""),
        ("<p>By Senior Editor</p>", ""),
        (f"<p>By Ana Lima, {'fog ' * 40}</p>", ""),
        ("<p>a</p><p>b</p><p>c</p><p>d</p><p>By Ana Lima</p>", ""),
    ],
)
def test_a_byline_beside_the_headline_that_nothing_marks(behind: str, author: str) -> None:
    page = f"<p>By Rui Melo</p><p>Fog</p>{behind}<p>It rose.</p>"
    assert extract_metadata(page, url=URL, text="Fog\nIt rose.").author == author
    assert extract_metadata(page, url=URL).author == ""
    marked = f'<meta name="author" content="Eva Silva">{page}'
    assert extract_metadata(marked, url=URL, text="Fog\nIt rose.").author == "Eva Silva"


@pytest.mark.parametrize("name", ["Fog News", "The Courier", "Example", "news.example.com"])
def test_a_byline_goes_before_the_name_of_the_site(name: str) -> None:
    head = f'<meta name="author" content="{name}"><meta property="og:site_name" content="Fog News">'
    head += linked({"@type": "NewsArticle", "author": name, "publisher": {"name": "The Courier"}})
    text = "Fog\nIt rose."
    assert read(head, "<p>Fog</p><p>by Ana Lima</p><p>It rose.</p>", text).author == "Ana Lima"
    assert read(head, "<p>Fog</p><p>It rose.</p>", text).author == name
    other = name.casefold()
    assert read(head, f"<p>Fog</p><p>by {other}, 8 March 2026</p><p>It.</p>", text).author == name


def test_a_file_is_read_once_for_all_facts() -> None:
    page = "<title>Fog</title><p>Fog</p><p>By Ana Lima</p><p>2021-07-05</p><p>It rose.</p>"
    for source in (page, page.encode(), BytesIO(page.encode()), Selector(page)):
        found = extract_metadata(source, url=URL, text="Fog\nIt rose.")
        assert (found.author, found.published) == ("Ana Lima", utc(2021, 7, 5))


def test_a_page_without_a_marked_headline_may_begin_with_the_day_of_today() -> None:
    today = "<p class=source>Courier, 9 April 2022</p><p>News</p>"
    page = f"{today}<p><b>Fog</b></p><p>5 July 2021</p><p>It rose.</p>"
    text = "Fog\nIt rose."
    assert extract_metadata(page, url="", text=text).published == utc(2021, 7, 5)
    marked = page.replace("<p>5 July", "<p class=source>6 July").replace("b>", "h1>")
    assert extract_metadata(marked, url="", text=text).published == utc(2021, 7, 6)


def test_a_day_and_a_title_are_read_as_they_are_shown() -> None:
    page = (
        "<html lang=en><h1><span>Weather</span><span>Fog closes the port</span></h1>"
        "<div><span>5 min read</span><span>Mar 2, 2026</span></div>"
        "<p>No ferry left the pier of the old port before noon, the harbour master says.</p>"
    )
    cleaned = SiteCleaner().clean(page, url="https://news.example.com/")
    assert cleaned.title == "Weather Fog closes the port"
    assert cleaned.metadata.published == utc(2026, 3, 2)


def test_a_day_that_the_libraries_find_has_the_hour_of_the_last_change_on_it() -> None:
    changed = '<meta property="article:modified_time" content="{}T18:30:00+02:00">'
    day = '<meta name="sailthru.date" content="2021-07-05">'
    same, later = (read(day + changed.format(on)).published for on in ("2021-07-05", "2021-07-06"))
    assert same == utc(2021, 7, 5, 16, 30)
    assert later == utc(2021, 7, 5)


def test_a_shown_day_has_the_hour_of_the_last_change_on_that_day() -> None:
    changed = '<meta property="article:modified_time" content="2021-07-05T08:30:00+02:00">'
    for day, published in (("2021-07-05", "2021-07-05T08:30:00+02:00"), ("2021-07-04", None)):
        found = read(changed, f"<p>Fog</p><p>{day}</p><p>It rose.</p>", "Fog\nIt rose.", "")
        assert found.published
        assert found.published.isoformat() == (published or f"{day}T00:00:00+00:00")


@pytest.mark.parametrize(
    ("language", "day"),
    [
        ("es", "5 de julio de 2021"),
        ("pt", "5 de Julho de 2021"),
        ("it", "5 luglio 2021"),
        ("fr", "1er juillet 2021"),
        ("de", "5. Juli 2021"),
        ("nl", "5 juli 2021"),
        ("no", "5. juli 2021"),
        ("pl", "5 lipca 2021"),
        ("ru", "5 июля 2021"),
        ("el", "5 Ιουλίου 2021"),
        ("ar", "٥ يوليو ٢٠٢١"),
        ("hi", "5 जुलाई 2021"),
        ("hi", "५ जुलाई २०२१"),
        ("es", "5 de julio del 2021"),
        ("hi", "जुलाई 5, 2021"),
        ("bn", "জুলাই ৫, ২০২১"),
        ("ar", "5 يوليو، 2021"),
        ("ar", "يوليو 5، 2021"),
        ("ar", "5 يوليو/تموز 2021"),
        ("ar", "٥\u200f/٧\u200f/٢٠٢١"),
        ("el", "5 ΙΟΥΛΙΟΥ 2021"),
        ("th", "5 กรกฎาคม พ.ศ. 2564"),
        ("lv", "2021. gada 5. jūlijā"),
        ("uz", "5-iyul 2021"),
        ("cs", "5. 7. 2021"),
        ("cs", "5.&nbsp;7.&nbsp;2021"),
        ("ko", "입력 2021. 7. 5. 오후 2:05"),
        ("ko", "21.07.05"),
        ("hu", "21.07.05"),
        ("cs", "05.07.21"),
        ("zh", "2021／7／5"),
        ("zh", "民國110年7月5日"),
        ("ja", "令和3年7月5日"),
        ("fa", "۱۴ تیر ۱۴۰۰"),
        ("fa", "دوشنبه ۱۴ تیر ۱۴۰۰ - ۱۰:۱۵"),
        ("fa", "۱۴ تیر\u200cماه ۱۴۰۰"),
        ("fa", "١٤ تير ماه ١٤٠٠"),
        ("fa", "۱۴۰۰/۰۴/۱۴"),
        ("fa", "۱۴ سرطان ۱۴۰۰"),
        ("fa", "۵ ژوئیه ۲۰۲۱"),
    ],
)
def test_days_are_read_as_their_language_writes_them(language: str, day: str) -> None:
    page = f'<html lang="{language}"><h1>Ok</h1><p class="date">{day}</p>'
    found = extract_metadata(page, url="https://news.example.com/").published
    assert found == utc(2021, 7, 1 if day.startswith("1") else 5)


@pytest.mark.parametrize(
    ("solar", "common"),
    [
        ((1357, 11, 22), date(1979, 2, 11)),
        ((1375, 1, 1), date(1996, 3, 20)),
        ((1376, 1, 1), date(1997, 3, 21)),
        ((1399, 12, 30), date(2021, 3, 20)),
        ((1400, 1, 1), date(2021, 3, 21)),
        ((1403, 1, 1), date(2024, 3, 20)),
        ((1404, 1, 1), date(2025, 3, 21)),
    ],
)
def test_days_of_the_solar_calendar(solar: tuple[int, int, int], common: date) -> None:
    assert common_day(*solar) == common
    declared = "-".join(f"{number:02}" for number in solar)
    head = f'<meta property="article:published_time" content="{declared}">'
    is_old = common.year < 1990
    assert read(head).published == (None if is_old else utc(*common.timetuple()[:3]))


@pytest.mark.parametrize("day", ["۳۰ اسفند ۱۴۰۰", "۳۱ مهر ۱۴۰۰", "۱۴۰۰/۱۳/۰۱"])
def test_days_that_the_solar_calendar_lacks_are_none(day: str) -> None:
    page = f'<html lang="fa"><h1>Ok</h1><p class="date">{day}</p>'
    assert extract_metadata(page, url="https://news.example.com/").published is None


def test_english_names_of_months_need_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    with_library = months.__wrapped__("")
    assert with_library == months.__wrapped__("en")
    assert months.__wrapped__("pl")["lipca"] == 7
    monkeypatch.setitem(sys.modules, "dateparser.languages.loader", None)
    assert months.__wrapped__("pl") == with_library
    assert len(with_library) == 12 + 11 + 1


@pytest.mark.parametrize(
    "body",
    [
        '<p>5.7.21 <b class="author">Ana Lima</b> <i class="date">14:07</i></p>',
        '<p>5.7.21 <span><b class="author">Ana Lima</b></span> <i class="date">14:07</i></p>',
    ],
)
def test_no_part_is_taken_twice(body: str) -> None:
    shown = text_of(page_facts(body))
    assert (shown.count("Ana Lima"), shown.count("14:07")) == (1, 1)


def test_what_shows_a_day_itself_is_taken_alone() -> None:
    body = '<div class="share"><p class="date">5 July 2021</p><p class="author">Ana Lima</p></div>'
    assert [part.get("class") for part in page_facts(body).iterfind("body/*")] == ["date", "author"]
    assert read(body=body).author == "Ana Lima"


def test_byline_and_time_in_the_text() -> None:
    found = read(
        body='<h1>Flood</h1><p class="byline">By <a rel="author" href="/ana">Ana Lima</a></p>'
        '<time datetime="2020-03-04">4 March</time><p>It rose.</p>'
    )
    assert (found.author, found.published) == ("Ana Lima", utc(2020, 3, 4))


def test_what_is_named_after_code_does_not_tell() -> None:
    option = '<dt id="--reset-author"><a class="anchor" href="#a"></a><code>--reset-author</code>'
    assert read(body=f"<h1>Fog</h1><dl>{option}</dt><dd>It rose.</dd></dl>").author == ""
    byline = '<p class="byline">By <a rel="author">Ana Lima</a> of <code>fog.c</code></p>'
    assert read(body=f"<h1>Fog <code>fog.c</code></h1>{byline}").author == "Ana Lima"


def test_comments_and_asides_do_not_tell() -> None:
    found = read(
        body='<div id="comments"><p class="author">Troll Face</p><time datetime="2020-03-04">'
        "4 March</time></div><aside><span class='author'>Bob Other</span></aside><p>It rose.</p>",
        url="https://news.example.com/",
    )
    assert found == Metadata()


WRAPPERS = (
    *("content-sidebar-wrap", "layout-no-sidebar", "sticky-footer-wrapper", "no-comments"),
    *("type-commentary", "unrelated", "elementor-widget", "tgme_widget_message_wrap"),
)


@pytest.mark.parametrize("mark", WRAPPERS)
def test_what_holds_the_headline_is_no_sidebar(mark: str) -> None:
    told = '<p class="author">Ana Lima</p>'
    for content in (f"<h1>Flood</h1>{told}", f"<h2>Flood</h2><main>{told}</main>"):
        assert read(body=f"<div class='{mark}'><div id='{mark}'>{content}").author == "Ana Lima"
    assert read(body=f"<h1>Flood</h1><div class='{mark}'>{told}").author == ""


def test_posts_of_blogger_are_a_widget() -> None:
    body = '<h1>Ana</h1><div class="widget Blog" id="Blog1"><p class="author">Ana Lima</p></div>'
    assert read(body=body).author == "Ana Lima"
    assert read(body=body.replace("Blog", "BlogArchive")).author == ""


SIGNED = f'<p class="author">Ana Lima</p>{TIME}'
FOOTER = f"<footer>{SIGNED}</footer>"
POST_FOOTER = (
    f'<div class="post-footer"><div class="post-footer-line post-footer-line-1">{SIGNED}</div>'
    f'<div class="comment-link"><b class="author">Bo Troll</b>{LATER}</div></div>'
)
PAGE_FOOTER = f'<footer><p class="author">Web Master</p>{EARLIER}</footer>'


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        (f"<article><p>It rose.</p>{FOOTER}</article>{PAGE_FOOTER}", True),
        (f"<article><p>It rose.</p>{POST_FOOTER}</article>{PAGE_FOOTER}", True),
        (f"<div><p>It rose.</p>{POST_FOOTER}</div>{PAGE_FOOTER}", True),
        (
            f"<article><p>It rose {'and rose ' * 20}.</p>{FOOTER}</article>"
            f"<article><p>It fell.</p>{PAGE_FOOTER}</article>",
            True,
        ),
        (f"<article><p>It rose.</p>{FOOTER}</article>" * 2, False),  # a list of them
        (f"<div><p>It rose.</p>{POST_FOOTER}</div>" * 2, False),
        (
            f"<article><p>It rose.</p><article><p>It fell.</p>{FOOTER}</article></article>",
            False,
        ),
        (
            f"<article><p>It rose.</p></article><aside><article>{FOOTER}</article></aside>",
            False,
        ),
        (PAGE_FOOTER, False),
    ],
)
def test_the_footer_of_an_article_tells_of_it(body: str, is_told: bool) -> None:
    found = read(body=body, url="https://news.example.com/")
    expected = ("Ana Lima", utc(2021, 7, 5)) if is_told else ("", None)
    assert (found.author, found.published) == expected


@pytest.mark.parametrize(
    "date",
    [
        *("1970-01-01", "1989-12-31", "2999-01-01", "yesterday", ""),
        "03 May 2024 8:99999999999999999999:00",
        "Fri, 03 May 2024 08:00:00 +99999999999999999999",
        "Fri, 03 May 9999999999 08:00:00 GMT",
    ],
)
def test_impossible_dates_are_no_dates(date: str) -> None:
    head = f'<meta property="article:published_time" content="{date}">'
    assert read(head, url="https://news.example.com/").published is None
    data = json.dumps({"@type": "NewsArticle", "datePublished": date})
    linked = f'<script type="application/ld+json">{data}</script>'
    assert read(linked, url="https://news.example.com/").published is None
    assert SiteCleaner().clean(f"{linked}<p>It rose.").text == "It rose."


def test_time_zones_that_nobody_knows_warn_nobody() -> None:
    head = '<meta name=author content="Jo Moss"><meta name=date content="2021-05-03 10:00 GST">'
    facts = read(head)
    assert facts.author == "Jo Moss"
    assert facts.published is not None
    assert facts.published.date().isoformat() == "2021-05-03"


@pytest.mark.parametrize(
    ("stated", "published"),
    [
        ("2024-03", "2024-03-01T00:00:00+00:00"),
        ("2024-03-05 10:00:00 EST", "2024-03-05T10:00:00-05:00"),
        ("2024-03-05T10:00:00-05:00[America/New_York]", "2024-03-05T10:00:00-05:00"),
        ("Tue, 05 Mar 2024 10:00:00 PST", "2024-03-05T10:00:00-08:00"),
        ("2024-03-05 10:00 CET", "2024-03-05T10:00:00+01:00"),
    ],
)
def test_months_and_names_of_zones_are_read(stated: str, published: str) -> None:
    ld = json.dumps({"@type": "NewsArticle", "author": "Ana Silva", "datePublished": stated})
    meta = f"<meta property='article:published_time' content='{stated}'>"
    author = "<meta name=author content='Ana Silva'>"
    for head in (f"<script type='application/ld+json'>{ld}</script>", meta + author):
        found = read(head, "<p>Fog.")
        assert found.published
        assert found.published.isoformat() == published


def test_a_day_in_the_story_is_not_its_own() -> None:
    text = "Das Fest findet am 12.08.2021 im Hof statt. Es gibt Brot und Wein. " * 4
    found = read(body=f"<main><h1 class=date-title>Brotfest</h1><p>{text}</p></main>")
    assert found.published is None


def test_a_date_after_tomorrow_is_no_date() -> None:
    later = (datetime.now(timezone.utc) + timedelta(days=3)).isoformat()
    head = f'<meta property="article:published_time" content="{later}">'
    assert read(head, url="https://news.example.com/").published is None


@pytest.mark.parametrize("language", TEXTS)
def test_language_is_that_of_the_text(language: str) -> None:
    page = '<html lang="sv-SE"><p>x</p></html>'
    assert extract_metadata(page, url=URL, text=TEXTS[language]).language == language


@pytest.mark.parametrize(
    ("page", "declared"),
    [
        ('<html lang="pt-BR"><p>x</p>', "pt"),
        ('<body lang="EL"><p>x</p>', "el"),
        ('<meta http-equiv="Content-Language" content="de">', "de"),
        ('<meta property="og:locale" content="fr_FR">', "fr"),
        ('<html lang="utf-8"><p>x</p>', ""),
        ('<html lang="iw-IL"><p>x</p>', "he"),
        ('<html lang="in"><p>x</p>', "id"),
        ('<html lang="ji"><p>x</p>', "yi"),
        ("<p>x</p>", ""),
    ],
)
def test_language_of_short_texts_is_the_declared_one(page: str, declared: str) -> None:
    assert extract_metadata(page, url=URL, text="Ok").language == declared


def test_languages_that_look_alike_are_told_apart_by_the_declared_one() -> None:
    text = "Vi har en god dag i dag, og alle er i byen for at se på det nye hus ved havnen."
    found = {
        lang: extract_metadata(f'<html lang="{lang}"><p>x</p>', url=URL, text=text).language
        for lang in ("da", "en")
    }
    assert found == {"da": "da", "en": "da"}


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "http://[::1", ""])
def test_addresses_that_are_no_web_addresses_stay_out(link: str) -> None:
    found = read(f'<link rel="canonical" href="{link}"><meta name="og:image" content="{link}">')
    assert (found.canonical_url, found.image) == ("", "")


def test_an_address_that_is_none_hides_no_other() -> None:
    link = '<link rel="canonical" href="android-app://com.example/x">'
    found = read(f'{link}<meta property="og:url" content="/x">')
    assert found.canonical_url == "https://news.example.com/x"


@pytest.mark.parametrize("rel", ["canonical nofollow", "nofollow Canonical", " canonical "])
def test_a_link_may_have_several_relations(rel: str) -> None:
    assert read(f'<link rel="{rel}" href="/x">').canonical_url == "https://news.example.com/x"


def test_the_base_of_the_page_counts() -> None:
    found = read('<base href="https://www.example.org/a/"><link rel="canonical" href="b">')
    assert found.canonical_url == "https://www.example.org/a/b"


@pytest.mark.parametrize(
    "script",
    [
        "{",
        "[" * 100_000,
        "null",
        '{"@type": "NewsArticle", "author": [1, null, {"name": {}}], "datePublished": []}',
        '{"@type": ["NewsArticle", 7], "author": {"name": ["A", 3]}, "datePublished": 20210715}',
        '{"@type": "NewsArticle", "datePublished": "9999-99-99T99:99:99Z"}',
        '{"@type": "NewsArticle", "author": "A\x01"',
        '{"@type": "NewsArticle", "author": "A\x0b", "articleBody": "%s\x0c"}' % ("x" * 3000),
    ],
)
def test_broken_json_ld_breaks_nothing(script: str) -> None:
    head = f'<script type="application/ld+json">{script}</script><link rel="canonical" href="/x">'
    assert read(head).canonical_url == "https://news.example.com/x"


@settings(max_examples=150)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200),
        st.lists(
            st.tuples(
                st.sampled_from(["meta", "time", "link", "span", "abbr", "script", "base", "p"]),
                st.sampled_from(
                    ["name", "property", "class", "datetime", "rel", "type", "itemprop"]
                ),
                st.sampled_from(["author", "date", "canonical", "og:image", "byline", ""]),
                st.text(max_size=30),
            ),
            max_size=8,
        ).map(
            lambda parts: "".join(
                f'<{tag} {name}="{value}" content="{text}" href="{text}">{text}</{tag}>'
                for tag, name, value, text in parts
            )
        ),
    ),
    st.text(max_size=80),
)
def test_nothing_raises_and_nothing_is_changed(page: bytes | str, text: str) -> None:
    selector = Selector(text=page if isinstance(page, str) else page.decode("latin-1"))
    before = etree.tostring(selector.root) if etree.iselement(selector.root) else None
    found = extract_metadata(selector, url=URL, text=text)
    assert isinstance(extract_metadata(page, url="", text=text), Metadata)
    assert found.published is None or found.published.tzinfo is not None
    assert before is None or etree.tostring(selector.root) == before


def test_facts_of_facts_are_the_same() -> None:
    body = '<p class="byline">By Ana Lima</p><time datetime="2020-03-04">4 March</time>'
    page = f'<script type="application/ld+json">{ARTICLE}</script><base href="/x/">{body}'
    facts = page_facts(f'<html lang="pt">{page}')
    assert etree.tostring(page_facts(facts)) == etree.tostring(facts)
    assert extract_metadata(facts, url=URL) == extract_metadata(f'<html lang="pt">{page}', url=URL)


def test_facts_are_few_however_large_the_page() -> None:
    root = lxml.html.document_fromstring(
        "<meta name=a content=b>" * 5000 + "<body>" + "<time>1 May</time>" * 5000
    )
    before = etree.tostring(root)
    facts = page_facts(root)
    assert len(facts.findall("head/meta")) == 200
    assert len(facts.findall("body/time")) == 40
    assert etree.tostring(root) == before


@pytest.mark.parametrize("size", [299, 1999, 40_000])
def test_libraries_are_given_no_long_values(size: int) -> None:
    """They read them in quadratic time: 40,000 dashes took ten seconds."""
    dashes = "-" * size + "x"
    author = [dashes, {"@type": "Person", "name": dashes.replace("-", '"')}] * 20
    data = {"@context": "https://schema.org", "@type": "NewsArticle", "author": author}
    root = lxml.html.document_fromstring(
        f"<title>{dashes}</title>"
        + f"<meta name=author content='{dashes}'>" * 90
        + f"<script type='application/ld+json'>{json.dumps(data)}</script>" * 2
        + f"<body><p><time datetime='{dashes}' itemprop=author>Monday</time> {'text ' * 200}"
    )
    facts = page_facts(root)
    values = [len(value) for node in facts.iter() for value in node.attrib.values()]
    assert sum(length > 300 for length in values) <= 20
    assert max(values) <= 2000
    assert all(len(text_of(title)) <= 2000 for title in facts.iter("title"))
    for script in facts.iter("script"):
        for person in json.loads(text_of(script))["author"]:
            assert len(person if isinstance(person, str) else person["name"]) <= 300
    assert extract_metadata(root, url="https://a.example/").author == ""


def test_json_ld_keeps_what_is_short() -> None:
    story = {"@type": "NewsArticle", "articleBody": 'It "rose". ' * 900}
    people = [{"@type": "Person", "name": f"Ana Lima {chr(97 + n)}"} for n in range(20)]
    data = json.dumps({**story, "author": people, "numbers": [*range(200)]}, indent=1)
    facts = page_facts(f"<script type='application/ld+json'>{data}</script><p>x")
    (script,) = facts.iter("script")
    assert json.loads(text_of(script)) == {**json.loads(data), "articleBody": ""}


# In a crawl

HEAD = (
    '<link rel="canonical" href="/stories/{number}"><meta name="author" content="Ana Lima">'
    '<meta property="article:published_time" content="2021-07-{number:02}T08:00:00+02:00">'
    '<meta property="og:image" content="/{number}.jpg">'
)
PAGES = 6


def page(number: int) -> str:
    words = TEXTS["pt"].split()
    random.Random(number).shuffle(words)
    return (
        f'<html lang="en"><head><title>O rio</title>{HEAD.format(number=number)}</head><body>'
        f"<ul><li>Início</li><li>Notícias</li></ul><h1>O rio, parte {number}</h1>"
        f"<p>{' '.join(words)}</p></body></html>"
    )


class FactsSpider(crawl_site.PagesSpider):
    paths = tuple(f"/{number}" for number in range(1, PAGES + 1))

    def parse(self, response: Response) -> Iterator[Any]:
        yield PageItem(response.url)
        assert isinstance(response, TextResponse)
        yield {"path": response.url[len(self.url) :], "same": self._is_unchanged(response)}
        if response.url.endswith("/6"):
            yield {"path": "seen by nobody", "url": response.url}

    def _is_unchanged(self, response: TextResponse) -> bool:
        return bool(response.selector.get() == Selector(response.text).get())


SETTINGS = {
    "NOISECLEAN_SAMPLE_QUOTA": 4,
    "NOISECLEAN_FIELDS": {"by": "author", "when": "published", "md": "markdown"},
    "NOISECLEAN_DATABASE_URL": "sqlite:///facts.db",
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Crawled, Path, str]:
    folder = tmp_path_factory.mktemp("facts")
    with crawl_site.serve({f"/{n}": page(n) for n in range(1, PAGES + 1)}) as server:
        plan = Plan(FactsSpider, SETTINGS, {"url": server.url})
        return crawling.crawl(folder, plan)[0], folder, server.url


@pytest.mark.slow
def test_items_get_the_facts(crawled: tuple[Crawled, Path, str]) -> None:
    result, _, url = crawled
    found = {item["url"]: item for item in result.items if "author" in item}
    assert len(found) == PAGES
    for number in range(1, PAGES + 1):
        item = found[f"{url}/{number}"]
        assert item["author"] == "Ana Lima"
        assert item["published"] == f"2021-07-{number:02}T08:00:00+02:00"
        assert item["language"] == "pt"
        assert item["canonical_url"] == f"{url}/stories/{number}"
        assert item["image"] == f"{url}/{number}.jpg"
        assert item["markdown"].startswith(f"# O rio, parte {number}\n\n")


@pytest.mark.slow
def test_dicts_get_the_facts_that_are_asked_for(crawled: tuple[Crawled, Path, str]) -> None:
    result, _, _ = crawled
    (item,) = (item for item in result.items if item.get("path") == "/2")
    assert item["same"] is True
    assert (item["by"], item["when"]) == ("Ana Lima", "2021-07-02T08:00:00+02:00")
    assert item["md"].startswith("# O rio, parte 2\n\n")


def test_the_store_has_the_facts(crawled: tuple[Crawled, Path, str]) -> None:
    _, folder, url = crawled
    with Store(f"sqlite:///{folder}/facts.db", read_only=True) as store:
        stored = {record.url: record.metadata for record in store.pages.with_text(site_name(url))}
    assert stored[f"{url}/3"] == Metadata(
        author="Ana Lima",
        published=utc(2021, 7, 3, 6),
        language="pt",
        canonical_url=f"{url}/stories/3",
        image=f"{url}/3.jpg",
    )
    assert len(stored) == PAGES


@pytest.mark.slow
@pytest.mark.parametrize("in_process", [False, True])
def test_what_stands_beside_the_headline_is_found_in_a_crawl(
    tmp_path: Path, *, in_process: bool
) -> None:
    beside = "</h1><p>By Ana Lima, Courier</p><p>2021-07-{:02} 08:00</p>"
    pages = {
        f"/{n}": page(n).replace(HEAD.format(number=n), "").replace("</h1>", beside.format(n))
        for n in range(1, PAGES + 1)
    }
    settings = SETTINGS | {"NOISECLEAN_WRITER_PROCESS": in_process}
    result = crawling.crawl_pages(tmp_path, FactsSpider, pages, settings)
    found = [(item["author"], item["published"]) for item in result.items if "author" in item]
    expected = [("Ana Lima", f"2021-07-{n:02}T00:00:00+00:00") for n in range(1, PAGES + 1)]
    assert sorted(found) == expected
    with Store(f"sqlite:///{tmp_path}/facts.db", read_only=True) as store:
        stored = [record.metadata for record in store.pages.with_text()]
    assert {(known.author, known.published) for known in stored if known} == {
        ("Ana Lima", utc(2021, 7, n)) for n in range(1, PAGES + 1)
    }


def test_facts_can_be_switched_off(tmp_path: Path) -> None:
    pages = {f"/{n}": page(n) for n in range(1, PAGES + 1)}
    settings = SETTINGS | {"NOISECLEAN_METADATA": False}
    result = crawling.crawl_pages(tmp_path, FactsSpider, pages, settings)
    assert {item["author"] for item in result.items if "author" in item} == {""}
    with Store(f"sqlite:///{tmp_path}/facts.db", read_only=True) as store:
        assert {record.metadata for record in store.pages.with_text()} == {None}


@pytest.mark.slow
def test_without_the_libraries_one_warning_says_what_to_install(tmp_path: Path) -> None:
    with crawl_site.serve({f"/{n}": page(n) for n in range(1, PAGES + 1)}) as server:
        plan = Plan(FactsSpider, SETTINGS, {"url": server.url})
        path = crawling._write_plans(tmp_path, [plan], crawling.ASYNCIO, None)
        script = (
            "import sys; sys.modules['trafilatura'] = sys.modules['py3langid'] = None\n"
            "from pathlib import Path; from tests.support import crawling\n"
            "crawling.run_crawls(Path(sys.argv[1]))"
        )
        environment = {
            "PYTHONPATH": ":".join([*sys.path, str(Path(__file__).resolve().parents[1])])
        }
        command = [sys.executable, "-c", script, str(path)]
        subprocess.run(command, check=True, env=environment, timeout=300)
        (result,) = crawling._read_results(path)
    assert result.lines("WARNING", "noiseclean_scrapy.crawl.pipeline") == [LIBRARIES_MISSING]
    found = [item for item in result.items if "author" in item]
    assert {(item["author"], item["language"]) for item in found} == {("Ana Lima", "en")}
    assert {item["canonical_url"] for item in found} == {
        f"{server.url}/stories/{number}" for number in range(1, PAGES + 1)
    }


def story(**article: Any) -> str:
    return linked({"@type": "NewsArticle", "headline": "Flood", **article})


@pytest.mark.parametrize(
    ("head", "image"),
    [
        ('<meta property=og:image content=""><meta property=og:image content="/a.jpg">', "a"),
        (
            '<meta property=og:image content="data:x"><meta name=twitter:image content="/b.jpg">',
            "b",
        ),
        ('<meta property=og:image:url content="/c.jpg">' + story(image="/d.jpg"), "c"),
        (story(image="/d.jpg"), "d"),
        (story(image=["/e.jpg", "/f.jpg"]), "e"),
        (story(image={"@type": "ImageObject", "url": "/g.jpg"}), "g"),
        (story(image={"@id": "#i"}, about={"@id": "#i", "contentUrl": "/h.jpg"}), "h"),
        (story(image=[]) + story(image=7), ""),
    ],
)
def test_the_first_image_that_has_an_address(head: str, image: str) -> None:
    expected = f"https://news.example.com/{image}.jpg" if image else ""
    assert read(head).image == expected


@pytest.mark.parametrize(
    ("link", "image"),
    [
        ("/a b.jpg?x=1&amp;y=ñ", "https://news.example.com/a%20b.jpg?x=1&y=%C3%B1"),
        ("/a%20b.jpg", "https://news.example.com/a%20b.jpg"),
    ],
)
def test_the_address_of_an_image_is_one(link: str, image: str) -> None:
    assert read(f'<meta property=og:image content="{link}">').image == image
    broken = read(story(image="/\ud800.jpg", author="Ana Lima"))
    assert (broken.image, broken.author) == ("", "Ana Lima")


def test_what_is_to_be_loaded_takes_no_room_of_what_tells() -> None:
    loaded = "<link rel=modulepreload href=a.js><link rel='Preload icon' href=b.png>" * 300
    told = '<link rel="Canonical nofollow" href=/flood><meta property=og:image content=/a.jpg>'
    found = read(f"<head>{loaded}{told}<link rel=image_src href=/b.jpg></head>")
    assert found.canonical_url == "https://news.example.com/flood"
    assert found.image == "https://news.example.com/a.jpg"
    assert read(f"<head>{loaded}<link rel=image_src href=/b.jpg></head>").image.endswith("/b.jpg")


@pytest.mark.parametrize(
    ("stated", "published"),
    [
        ("2024-03-05T10:00:00", "2024-03-05T10:00:00+01:00"),
        ("2024-03-05", "2024-03-05T10:00:00+01:00"),
        ("2024-03-05T09:00:00Z", "2024-03-05T10:00:00+01:00"),
        ("2024-03-04", "2024-03-04T00:00:00+00:00"),
        ("2024-03-05T11:00:00", "2024-03-05T11:00:00+00:00"),
        ("2024-03-05T11:00:00+02:00", "2024-03-05T11:00:00+02:00"),
    ],
)
def test_the_hour_and_the_offset_come_from_where_they_are_told(stated: str, published: str) -> None:
    meta = '<meta property="article:published_time" content="2024-03-05T10:00:00+01:00">'
    found = read(story(datePublished=stated) + meta).published
    assert found is not None
    assert found.isoformat() == published


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2024-05-03 08:00:00 MEZ", "2024-05-03T08:00:00+01:00"),
        ("2024-07-03 08:00 MESZ", "2024-07-03T08:00:00+02:00"),
        ("2024-07-03T08:00:00Z", "2024-07-03T08:00:00+00:00"),
        ("2024-07-03T08:00:00Z[UTC]", "2024-07-03T08:00:00+00:00"),
        ("2024-07-03T08:00:00Z [Etc/UTC]", "2024-07-03T08:00:00+00:00"),
        ("Fri, 03 May 2024 08:00:00 CEST", "2024-05-03T08:00:00+02:00"),
        ("Fri, 03 May 2024 08:00:00 JST", "2024-05-03T08:00:00+09:00"),
        ("Fri, 03 May 2024 08:00:00 GMT", "2024-05-03T08:00:00+00:00"),
        ("Fri, 03 May 2024 08:00:00 +0530", "2024-05-03T08:00:00+05:30"),
        ("3 May 2024 8:00 PM", None),
        ("2024-05-03 08:00 a.m.", None),
    ],
)
def test_names_of_zones_are_read_in_every_form(value: str, time: str | None) -> None:
    found = read_time(value)
    assert (found.isoformat() if found else None) == time


def test_minutes_of_a_zone_have_the_sign_of_its_hours() -> None:
    for written, zone in (("-0330", "-03:30"), ("GMT-09:30", "-09:30"), ("+0545", "+05:45")):
        found = read_written(f"Fri May 03 2024 08:00:00 {written}")
        assert found is not None
        assert found.isoformat() == f"2024-05-03T08:00:00{zone}"


@pytest.mark.parametrize("text", ["CO₂ 15 2024", "½¼¾ 12 2024", "m²ab 12, 2024", "①②③ 1 2024"])
def test_a_name_with_other_digits_is_no_month(text: str) -> None:
    assert [day.midnight("en") for day in shown_days(text)] == [None]
    assert read(f"<p class=post-info>{text}").published is None
