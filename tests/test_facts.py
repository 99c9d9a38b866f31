"""What a page is called, who wrote it and when: JSON-LD, META, TITLE and the headline together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from itertools import permutations
from typing import Any

import pytest

from benchmarks.corpora import SHARED, read_corpus
from benchmarks.facts import half, main, mean_scores, measure, ours
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.metadata import extract_metadata
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.page.days import shown_days
from noiseclean_scrapy.page.headline import choose_title, find_headline
from tests.support.corpora import needs_corpora

URL = "https://www.courier-online.com/sport/1"


def page(
    title: str = "", h1: str = "", meta: Mapping[str, str] | None = None, data: Any = None
) -> str:
    head = "".join(f'<meta property="{name}" content="{x}">' for name, x in (meta or {}).items())
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>' if data else ""
    text = "<p>Forty ferries stayed in the harbour on Monday morning, people there said.</p>"
    return f"<title>{title}</title>{head}{script}<h1>{h1}</h1>{text}"


def title_of(html: str) -> str:
    return SiteCleaner().clean(html, url=URL).title


def article(**values: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "NewsArticle", **values}


MAYOR = 'Mayor calls port "closed"'


@pytest.mark.parametrize(
    ("html", "title"),
    [
        (page("Fog | The Courier", "Fog closes the port"), "Fog closes the port"),
        (page("Fog closes the port | Courier Online"), "Fog closes the port"),
        (page("Courier Online: Fog"), "Courier Online: Fog"),  # a colon may be anybody's
        (page("A", "Fog", {"og:title": "Fog closes port"}), "Fog closes port"),
        (page("A", "Fog", {"og:title": "Fog - Sport - Courier Online"}), "Fog"),
        (page("A", "Fog", {"og:title": "Fog | News | DW", "og:site_name": "DW"}), "Fog"),
        (page("A", "", {"og:title": "Fog – C – 30.01.2024", "og:site_name": "C"}), "Fog"),
        (page("A", "", {"og:title": "Fog | Sea Air News", "og:site_name": "Sea"}), "Fog"),
        (page("A", "", {"og:title": "Sea Air | Fog", "og:site_name": "Sea"}), "Sea Air | Fog"),
        (page("A", "", {"og:title": "Fog | Seaside", "og:site_name": "Sea"}), "Fog | Seaside"),
        (page("A", "", {"og:title": "Fog in the har&shy;bour"}), "Fog in the harbour"),
        (page("A", "雾", {"og:title": "雾：新闻网", "og:site_name": "新闻网"}), "雾"),
        (page("A", "", {"og:title": "雾天_新闻网", "og:site_name": "新闻网"}), "雾天"),
        (page("A", "", {"og:title": "雾，雨！--新闻网", "og:site_name": "新闻网"}), "雾，雨！"),
        (page("A", "", {"og:title": "新闻网_雾天", "og:site_name": "新闻网"}), "雾天"),
        (page("A", "", {"og:title": "雾天_新闻_天气", "og:site_name": "新闻网"}), "雾天_新闻_天气"),
        (page("A", "雾天", {"og:title": "雾天_新闻中心_新闻网", "og:site_name": "新闻网"}), "雾天"),
        (page("A", "", {"og:title": "fog_courier", "og:site_name": "Courier"}), "fog_courier"),
        (page("A", "Port: Fog", {"og:title": "Fog"}), "Fog"),
        (page("A", "Fog", {"og:title": "Port: Fog"}), "Fog"),
        (page("Fog, a guide", "Fog", {"og:title": "Fog, a guide"}, article(headline="Fog")), "Fog"),
        (page("A guide", "Fog", {"og:title": "A guide"}, article(headline="Fog")), "Fog"),
        (page("Fog", "Fog", {"og:title": "A guide"}, article(headline="Fog")), "A guide"),
        (page("A guide", "Fog", {"og:title": "A guide"}), "A guide"),
        (page("A", "Fog", {"og:title": "Port: Fog"}, article(headline="Fog")), "Fog"),
        (page("A", "Fog", {"og:title": "The Courier", "og:site_name": "The Courier"}), "Fog"),
        (page("A", "", data=article(headline="&quot;Fog&quot; &amp; rain")), '"Fog" & rain'),
        (
            page("A", "", data={"@type": "ItemList", "itemListElement": [article(headline="B")]}),
            "A",
        ),
        (page("A", "", {"og:title": "x" * 2000}), "A"),
        # An attribute ends at a quotation mark that is not escaped.
        (page("Mayor calls port &quot;closed&quot;", "", {"og:title": "Mayor calls port "}), MAYOR),
        (page("A", "Fog &quot;on the port&quot;", {"og:title": "Fog "}), 'Fog "on the port"'),
        (page("A", "&quot;Fog&quot;", {"og:title": "Rain"}), "Rain"),
        (
            page("A", "", {"og:title": "Courier exclusive – how fog came"}),
            "Courier exclusive – how fog came",
        ),
        (
            page("A", "", {"og:title": "Courier – how fog came", "og:site_name": "Courier"}),
            "how fog came",
        ),
        (page("A", "Fog closes the port", {"og:title": "Fog closes..."}), "Fog closes the port"),
        (page("A", "Fog closes the port", {"og:title": "Fog clo"}), "Fog closes the port"),
        (page("A", "Fog in the U.S. now", {"og:title": "Fog in the U.S."}), "Fog in the U.S."),
        (page("A", "Fog", {"og:title": "undefined"}), "Fog"),
        (page("A", "Fog", {"og:title": "{{ page.title }}"}), "Fog"),
        (page("Oslo - Wiki", "Oslo", data=article(headline="capital of Norway")), "Oslo"),
        (page("Oslo in fog", "Oslo", data=article(headline="Fog and more")), "Fog and more"),
    ],
)
def test_titles(html: str, title: str) -> None:
    assert title_of(html) == title


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Quickstart — Fog Documentation (3.1.x)", ("Fog Documentation (3.1.x)", "Quickstart¶")),
        ("Fog and rain | Weather of the Coast", ("Weather of the Coast", "Fog and rain")),
        ("Fog | Weather of the Coast", ("Weather of the Coast", "Fog")),
    ],
)
def test_what_ends_a_title_is_no_headline_where_its_beginning_is_shown(
    title: str, shown: tuple[str, str]
) -> None:
    banner, heading = shown
    html = f"<title>{title}</title><div>{banner}</div><h1>{heading}</h1><p>It rose."
    assert headline_of(html) == heading


HEADLINE = "Ships wait off the port of Aber"


@pytest.mark.parametrize(
    ("title", "other"),
    [
        (f"{HEADLINE} - Old Harbour Press Company", "<p>Old Harbour Press Company"),
        (f"{HEADLINE} - Old Harbour Press", "<p>© 2026 Old Harbour Press"),
        (f"{HEADLINE} - Old Harbour Press", f"<nav>Old Harbour Press » Ships » {HEADLINE}</nav>"),
        (f"{HEADLINE} - Harbour", "<h2>Ships wait off the port</h2>"),
        (f"{HEADLINE} - Harbour", f"<li>{HEADLINE}</li>"),
        ("Fog at the port: why ships wait", "<h2>Fog at the port: why ships wait, part 2</h2>"),
        ("", "<h2>Ships</h2>"),
    ],
)
def test_the_headline_is_the_h1_that_is_like_a_title(title: str, other: str) -> None:
    html = f"<title>{title}</title>{other}<div><h1>{HEADLINE}</h1><p>They did."
    assert headline_of(html) == HEADLINE
    assert headline_of(f"<title>{title}</title><h1>{HEADLINE}</h1><p>They did.{other}") == HEADLINE


@pytest.mark.parametrize(
    ("title", "h1", "headline"),
    [
        ("Fog closes port", "Harbour Blog", "Fog closes port"),
        ("Fog closes port | Harbour Blog", "Harbour Blog", "Fog closes port"),
        ("Fog closes port | Harbour Blog", "Menu of the port", "Fog closes port"),
        ("Harbour Blog: Fog closes port", "Harbour Blog", "Fog closes port"),
    ],
)
def test_a_banner_in_h1_is_no_headline(title: str, h1: str, headline: str) -> None:
    html = (
        f"<title>{title}</title><meta property=og:site_name content='Harbour Blog'>"
        f"<h1>{h1}</h1><h2>{headline}</h2><p>It did.<li>{headline}"
    )
    assert headline_of(html) == headline


@pytest.mark.parametrize(
    ("title", "beside", "h1"),
    [
        ("Sport - Rovers win the derby - The Daily Tide of Marlow Valley", "Sport", None),
        ("Lise Arden - Harbour Lights Lyrics | LyricBox", "Lise Arden", None),
        ("Rovers win the derby - Football - The Daily Tide", "Rovers win the derby", "Football"),
    ],
)
def test_a_section_before_the_headline_is_none(title: str, beside: str, h1: str | None) -> None:
    own = h1 or title.split(" - ")[1].split(" | ")[0]
    html = f"<title>{title}</title><p>{beside}</p><h1>{own}</h1><p>{'Ferries stayed. ' * 9}"
    assert title_of(html) == (beside if h1 else own)


def test_a_word_and_a_colon_that_the_title_does_not_have_are_no_part_of_it() -> None:
    assert title_of(page("Best oil - Old Boats", "Thread: Best oil")) == "Best oil"
    assert title_of(page("Thread: Best oil - Old Boats", "Thread: Best oil")) == "Thread: Best oil"


def test_what_ends_the_title_is_a_headline_only_if_nothing_else_is() -> None:
    title = "<title>Fog closes the port | Courier Daily News</title>"
    banner, line = "<h1>Courier Daily News</h1>", "<p>Fog closes the port today</p>"
    assert headline_of(title + banner + line) == "Fog closes the port today"
    assert headline_of(title + banner + "<p>It did.") == "Courier Daily News"


def test_the_only_h1_is_the_headline_though_it_ends_the_title() -> None:
    title = "<title>Aldmouth Post - Harbour wall to be rebuilt</title>"
    before = "<div>Aldmouth Post</div><ol><li>Harbour wall rebuilt</ol>"
    h1, text = "<h1>Harbour wall to be rebuilt</h1>", "<p>It was damaged."
    assert headline_of(title + before + h1 + text) == "Harbour wall to be rebuilt"
    other = "<h2>Aldmouth Post</h2>"
    assert headline_of(title + other + h1 + text) == "Aldmouth Post"
    assert headline_of(title + before + h1 + h1 + text) != "Harbour wall to be rebuilt"


def test_an_h1_with_one_word_of_a_short_first_part_is_no_headline() -> None:
    title = "<title>Fog | Courier Daily News Today</title>"
    assert headline_of(f"{title}<h1>Fog ferry</h1><p>Daily Fog News</p>") == "Daily Fog News"


def headline_of(html: str) -> str:
    found = build_page(html, url=URL)
    headline = find_headline(found)
    assert headline is not None
    return found.table.texts[headline]


def test_the_name_of_the_site_is_no_headline() -> None:
    html = (
        "<title>Fog closes the port LIVE | News | COURIER-ONLINE.COM</title>"
        "<div>COURIER-ONLINE.COM</div><h1>Harbour: fog closes port, ferries stay</h1><p>It did."
    )
    assert headline_of(html) == "Harbour: fog closes port, ferries stay"


def test_what_most_pages_of_a_site_show_is_no_headline() -> None:
    names = "Fog Rain Wind Snow Hail Heat".split()
    text = "closed the harbour for a day and forty ferries stayed in port, people there said"
    pages = [
        f"<title>Tales of a port</title><h1>Tales of a port</h1><h2>{name} again</h2>"
        f"<p>{name} {text}.</p><p>{' '.join(reversed(text.split()))} of {name}.</p>"
        for name in names
    ]
    cleaner = SiteCleaner()
    assert cleaner.clean(pages[0]).text.startswith("Tales of a port")
    for html in pages:
        cleaner.observe(html)
    assert not any("Tales of a port" in cleaner.clean(html).text for html in pages)


def test_numbered_headlines_stay() -> None:
    pages = [f"<title>Part {n}</title><h1>Part {n}</h1><p>{'fog ' * n} came." for n in range(6)]
    cleaner = SiteCleaner()
    for html in pages:
        cleaner.observe(html)
    assert [cleaner.clean(html).text.splitlines()[0] for html in pages] == [
        f"Part {n}" for n in range(6)
    ]


def test_the_www_of_an_address_is_no_name() -> None:
    html = page("Fog | SEA News", "", {"og:title": "Fog | SEA News"})
    assert choose_title(build_page(html, url="https://www.sea.example/fog"), "") == "Fog"
    assert choose_title(build_page(html, url="https://www.rain.example/"), "") == "Fog | SEA News"


def test_titles_of_pages_without_a_headline() -> None:
    assert choose_title(build_page(page("A | Courier", "", {"og:title": "B"})), "") == "B"
    assert choose_title(build_page("<title>A</title>"), "") == "A"
    assert choose_title(build_page(""), "") == ""


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("Ana Sousa", "Ana Sousa"),
        ({"@type": "Person", "name": "By Ana Sousa"}, "Ana Sousa"),
        ([{"name": "Ana Sousa (as)"}, {"name": "Rui Melo"}], "Ana Sousa; Rui Melo"),
        ({"@type": "Organization", "name": "dpa"}, "dpa"),
        ({"name": "Ana Sousa, Rui Melo and Ida Lund"}, "Ana Sousa; Rui Melo; Ida Lund"),
        ({"name": "Courier e AFP"}, "Courier e AFP"),
        ("Ana Sousa, Senior Reporter", "Ana Sousa"),
        ("Ana Sousa, Staff Writer and Rui Melo", "Ana Sousa; Rui Melo"),
        ("Ana Sousa, Editor at Large, and Rui Melo, Ph.D.", "Ana Sousa; Rui Melo"),
        ("Ana Sousa, Rui Melo of AFP", "Ana Sousa; Rui Melo of AFP"),
        ("Senior Reporter", "Senior Reporter"),
        ("Centers of Ice Research and Fog Control", "Centers of Ice Research and Fog Control"),
        (
            "National Institute of Ice and Fog Research",
            "National Institute of Ice and Fog Research",
        ),
        ("Ana Sousa and Boston University", "Ana Sousa; Boston University"),
        ("Rui Melo of AFP and Ana Sousa", "Rui Melo of AFP; Ana Sousa"),
        ({"name": ["Ana Sousa", "Ana Sousa"]}, "Ana Sousa"),
        ("Rui Melo Tech Reporter", "Rui Melo"),
        ("Ana Maria de Sousa Writer", "Ana Maria de Sousa"),
        ("Rui Melo Reporter of AFP", "Rui Melo Reporter of AFP"),
        ("Von Miller", "Von Miller"),
        ("Von Ana Sousa", "Ana Sousa"),
        ("Von dpa", "dpa"),
        ("Por EFE", "EFE"),
        ("Por Redacción", "Redacción"),
        ("Redakcja: PAP", "PAP"),
        ("By Reuters", "Reuters"),
        ("홍길동 기자", "홍길동"),
        ("山田 太郎 記者", "山田 太郎"),
        ("홍길동 기자 hong@news.example", "홍길동"),
        ({"@id": "#ana"}, "Ana Sousa"),
        ("https://example.com/ana", ""),
        ('<a href="/ana" hreflang="en">Ana <b>Sousa</b></a>', "Ana Sousa"),
        ({"name": "&lt;p>By Ana Sousa,&lt;br>Rui Melo&lt;/p>"}, "Ana Sousa; Rui Melo"),
        ("<3 Ana Sousa", "<3 Ana Sousa"),
        ([7, None, {"name": {}}], ""),
    ],
)
def test_authors(author: Any, names: str) -> None:
    data = {"@graph": [article(author=author), {"@id": "#ana", "name": "Ana Sousa"}]}
    assert extract_metadata(page(data=data), url=URL).author == names


def test_what_only_refers_to_an_object_says_no_less_of_it() -> None:
    image = {"@id": "#i"}
    objects = [
        article(author={"@id": "#p"}, publisher={"@id": "#o"}, image=image),
        {"@type": "Person", "@id": "#p", "name": "Ana Sousa"},
        {"@type": "Organization", "@id": "#o", "name": "Courier"},
        {"@type": "ImageObject", "@id": "#i", "url": "https://courier-online.com/i.jpg"},
        {"@type": "WebPage", "author": {"@id": "#p"}, "primaryImageOfPage": image},
    ]
    for graph in permutations(objects):
        found = extract_metadata(page(data={"@graph": graph}), url=URL)
        assert (found.author, found.image) == ("Ana Sousa", "https://courier-online.com/i.jpg")


@pytest.mark.parametrize(
    "image",
    [
        ["", "https://courier-online.com/i.jpg"],
        [{"@type": "ImageObject", "@id": "#none"}, "https://courier-online.com/i.jpg"],
        {"url": ["https://courier-online.com/i.jpg", "https://courier-online.com/2.jpg"]},
        [{"contentUrl": "https://courier-online.com/i.jpg"}, "https://courier-online.com/2.jpg"],
    ],
)
def test_of_several_images_the_first_that_has_an_address(image: Any) -> None:
    data = article(author="Ana Sousa", image=image)
    found = extract_metadata(page(data=data), url=URL)
    assert found.image == "https://courier-online.com/i.jpg"


def test_whoever_asks_is_the_author_of_a_page_of_answers() -> None:
    answer = {"@type": "Answer", "author": {"name": "Rui Melo"}}
    asked = {"@type": "Question", "name": "Fog?", "author": {"name": "Fog_Fan"}}
    asked |= {"acceptedAnswer": answer, "datePublished": "2024-05-03T10:00:00Z"}
    found = extract_metadata(page(data={"@type": "QAPage", "mainEntity": [asked]}), url=URL)
    assert (found.author, found.published) == (
        "Fog_Fan",
        datetime(2024, 5, 3, 10, tzinfo=timezone.utc),
    )
    assert title_of(page("A", data={"@type": "QAPage", "mainEntity": asked})) == "A"
    others = {"@type": "FAQPage", "mainEntity": [asked]}
    assert extract_metadata(page(data=others), url=URL).author == ""
    both = [{"@type": "QAPage", "mainEntity": asked}, article(author="Ana Sousa")]
    assert extract_metadata(page(data=both), url=URL).author == "Ana Sousa"
    nothing = {"@type": "QAPage", "mainEntity": {"acceptedAnswer": answer}}
    assert extract_metadata(page(data=nothing), url=URL).author != "Fog_Fan"


def test_people_may_be_called_like_a_day() -> None:
    for name in ("Emmanuel Sunday", "Joe Friday", "Jean Share"):
        assert extract_metadata(page(data=article(author=name)), url=URL).author == name


@pytest.mark.parametrize(
    ("shown", "day"),
    [
        ("<span class=date>05/03/2024</span>", None),
        ("<time>5/3/2024 10:00</time>", None),
        ("<span class=date>05/13/2024</span>", "2024-05-13"),
        ("<span class=date>5/5/2024</span>", "2024-05-05"),
        ("<span class=date>05/03/2024</span><meta itemprop=date content=2024-03-05>", "2024-03-05"),
        (
            "<span itemprop=datePublished content=2024-05-03T08:00:00-04:00>05/03/2024</span>",
            "2024-05-03",
        ),
        (
            '<span property="dc:date dc:created" content="2024-05-03T08:00:00Z">by ana on '
            "Fri, 05/03/2024 - 08:00</span>",
            "2024-05-03",
        ),
    ],
)
def test_days_of_numbers_on_english_pages(shown: str, day: str | None) -> None:
    html = f"<html lang=en><h1>Fog closes port</h1>{shown}<p>{'Ferries stayed. ' * 9}"
    found = extract_metadata(html, url=URL, text="Fog closes port").published
    assert (str(found.date()) if found else None) == day


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("2nd of March 2026", "en", "2026-03-02"),
        ("Friday 3rd March 2026", "en", "2026-03-03"),
        ("2026. március 2.", "hu", "2026-03-02"),
        ("2026. márc. 02. 10:30", "hu", "2026-03-02"),
        ("2026 m. kovo 2 d. 10:30", "lt", "2026-03-02"),
        ("2 มีนาคม 2569", "th", "2026-03-02"),
        ("2 آذار 2026", "ar", "2026-03-02"),
        ("2 كانون الثاني 2026", "ar", "2026-01-02"),
        ("2 تشرين الأول، 2025", "ar", "2025-10-02"),
        ("15 غشت 2025", "ar", "2025-08-15"),
        ("7 พ.ค. 2567", "th", "2024-05-07"),
        ("7 tháng 5, 2024", "vi", "2024-05-07"),
        ("Thứ ba, ngày 7 tháng 5 năm 2024", "vi", "2024-05-07"),
        ("7-May-2024", "en", "2024-05-07"),
        ("07-May-2024-1", "en", None),
        ("in 2026. Page 2. Next", "en", None),
    ],
)
def test_written_days(text: str, language: str, day: str | None) -> None:
    if language != "en":
        pytest.importorskip("dateparser", reason="needs the extra metadata")
    found = [shown.midnight(language) for shown in shown_days(text)]
    assert [str(time.date()) for time in found if time] == ([day] if day else [])


@pytest.mark.parametrize(
    ("days", "day"),
    [
        (("03-11-2015", "03-12-2015", "03-13-2015"), "2015-03-11"),
        (("03-11-2015", "13-11-2015"), "2015-11-03"),
        (("03-11-2015", "03-12-2015"), None),
        (("03-13-2015", "03-11-2015"), "2015-03-13"),
    ],
)
def test_a_later_post_tells_how_to_read_the_day_of_the_first(
    days: Sequence[str], day: str | None
) -> None:
    posts = "".join(f"<p><span class=date>{one}</span> Fog.</p>" for one in days)
    found = extract_metadata(f"<html lang=en><h1>Fog</h1>{posts}", url=URL).published
    assert (str(found.date()) if found else None) == day


def test_a_job_has_the_day_on_which_it_was_posted() -> None:
    job = {
        "@type": "JobPosting",
        "datePosted": "2024-05-03",
        "validThrough": "2024-06-03T10:00:00Z",
    }
    found = extract_metadata(page(h1="Keeper of a lighthouse", data=job), url=URL).published
    assert str(found)[:10] == "2024-05-03"


OTHER = article(datePublished="2019-01-01")


@pytest.mark.parametrize(
    "data",
    [
        {"@type": "ItemList", "itemListElement": [OTHER]},
        {"@type": "WebPage", "hasPart": OTHER},
        {"@type": "WebPage", "dateModified": "2019-01-01"},
        {"@type": "WebPage", "dateModified": "2019-01-01T00:00:00Z"},
        {"@type": "Event", "startDate": "2019-01-01T19:30:00+01:00"},
        {"@type": "Offer", "availabilityEnds": "2019-01-01T00:00:00Z"},
        article(video={"@type": "VideoObject", "uploadDate": "2019-01-01"}),
        article(video=[{"@type": "VideoObject", "datePublished": "2019-01-01"}]),
    ],
)
def test_days_of_other_things_do_not_date_a_page(data: Any) -> None:
    html = page(h1="Fog closes port", data=data).replace("</h1>", "</h1><p>May 3, 2024</p>")
    found = extract_metadata(html, url=URL, text="Fog closes port").published
    assert str(found)[:10] == "2024-05-03"


TEXT = "<p>Forty ferries stayed in the harbour on Monday morning, people there said.</p>"
TIME = "<p class=meta><time datetime=2024-05-03T08:30:00+02:00>3 May 2024</time></p>"
FAR = "".join(f"<div class=author>{number}</div>" for number in range(5))
EVENT = "<div class=more><time datetime=2024-06-01T10:00:00Z>1 June</time> Fair</div>"
COMMENT = "<p><span itemprop=datePublished content=2024-06-01T10:00:00Z>1 June</span> Nice!"


@pytest.mark.parametrize(
    ("html", "time"),
    [
        (f"<h1>Fog closes port</h1><p>May 3, 2024</p>{TEXT}{FAR}{EVENT}", "2024-05-03 00:00"),
        (f"<h1>Fog closes port</h1><p>May 3, 2024</p>{TEXT}{FAR}{COMMENT}", "2024-05-03 00:00"),
        (f"<h1>Fog closes port</h1><p>Fair or foul</p>{TEXT}{FAR}{EVENT}", "2024-06-01 10:00"),
        (f"{TIME}<h1>Fog closes port</h1><p>On 1 May 2024 it came.</p>{TEXT}", "2024-05-03 08:30"),
        (f"<h2>Fog closes port</h2>{TIME}<p>On 1 May 2024 it came.</p>{TEXT}", "2024-05-03 08:30"),
        (f"<h1>Fog closes port</h1><p>3 May 2024</p>{FAR}{TIME}{TEXT}", "2024-05-03 08:30"),
    ],
)
def test_a_time_far_from_the_headline_gives_way_to_another_day_beside_it(
    html: str, time: str
) -> None:
    found = extract_metadata(html, url=URL, text="Fog closes port").published
    assert str(found)[:16] == time


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("2024/05/03 08:00", "2024-05-03T08:00:00+00:00"),
        ("2024-5-3 8:00", "2024-05-03T08:00:00+00:00"),
        ("2024-05-03T8:00:00+02:00", "2024-05-03T08:00:00+02:00"),
        ("03.05.2024 08:00", "2024-05-03T08:00:00+00:00"),
        ("2024年05月03日 08:00", "2024-05-03T08:00:00+00:00"),
        ("May 3, 2024 8:00 am", "2024-05-03T08:00:00+00:00"),
        ("May 3, 2024, 12:30 p.m. EST", "2024-05-03T12:30:00-05:00"),
        ("Fri May 03 2024 08:00:00 GMT+0200 (CEST)", "2024-05-03T08:00:00+02:00"),
        ("5/3/2024 12:05:06 AM", "2024-05-03T00:05:06+00:00"),
        ("Fri, 05/13/2024 - 08:00", "2024-05-13T08:00:00+00:00"),
        (1714723200, "2024-05-03T08:00:00+00:00"),
        ("1714723200000", "2024-05-03T08:00:00+00:00"),
        ("05/03/2024 08:00", None),
        ("5/3/2024", None),
        ("2024050312", None),
        ("20240503T080000Z", "2024-05-03T08:00:00+00:00"),
        ("2024-05-03T08:00:00,5+02", "2024-05-03T08:00:00.500000+02:00"),
        ("May 3 to May 5, 2024", None),
        ("May 3, 2024, page 5", None),
        ("3 May 2024 25:00", "2024-05-03T00:00:00+00:00"),
        (float("nan"), None),
        (True, None),
    ],
)
def test_times_as_people_and_programs_write_them(written: Any, time: str | None) -> None:
    found = extract_metadata(page(data=article(datePublished=written)), url=URL).published
    assert found == (datetime.fromisoformat(time) if time else None)


@pytest.mark.parametrize(
    ("published", "day"),
    [
        ("2024-05-03T00:20:00+02:00", "2024-05-03"),
        ("2024-05-03T00:20:00.12+0200", "2024-05-03"),
        ("2024-05-03T23:20:00Z", "2024-05-03"),
        ("2024-05-03", "2024-05-03"),
        ("1024-05-03", None),
        ("soon", None),
        (20240503, None),
    ],
)
def test_the_day_is_that_of_the_publisher(published: Any, day: str | None) -> None:
    found = extract_metadata(page(data=article(datePublished=published)), url=URL).published
    assert (str(found.date()) if found else None) == day
    assert found is None or found.tzinfo is not None


def test_the_article_tells_before_meta_and_pictures() -> None:
    data = [
        {"@type": "ImageObject", "datePublished": "2024-01-01"},
        article(datePublished="2024-05-02T23:30:00+02:00", author="Ana Sousa"),
    ]
    html = page(meta={"date": "2024-05-03", "author": "Courier"}, data=data)
    found = extract_metadata(html, url=URL)
    assert (found.author, str(found.published)) == ("Ana Sousa", "2024-05-02 23:30:00+02:00")


def test_of_one_moment_the_day_is_that_of_the_publishers_clock() -> None:
    html = page(
        meta={"article:published_time": "2024-05-03T00:30:00+02:00"},
        data=article(datePublished="2024-05-02T22:30:00Z"),
    )
    found = extract_metadata(html, url=URL).published
    assert str(found) == "2024-05-03 00:30:00+02:00"


def test_json_ld_is_read_however_much_stands_before_it() -> None:
    html = "<link rel=x href=y>" * 500 + page(data=article(author="Ana Sousa"))
    assert extract_metadata(html, url=URL).author == "Ana Sousa"


@needs_corpora
@pytest.mark.slow
def test_facts_of_news_are_found(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    pages = half(read_corpus(SHARED / "corpora/fundus-dev"), "b")
    found = mean_scores(measure(ours, pages))
    assert found["title"] > 0.8
    assert found["authors"] > 0.85
    assert found["day"] > 0.94
    assert main(["--tool", "noiseclean_scrapy", "--out", str(tmp_path / "facts.json")]) == 0
    assert "Titles, authors, days: all publishers" in capsys.readouterr().out
