"""HTML of any kind to a Page: decoding, hostile input, blocks, links, XPaths, lost text."""

from __future__ import annotations

import gzip
import json
import random
import re
import time
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lxml import etree
from lxml import html as lxml_html
from parsel import Selector
from scrapy.http import HtmlResponse

from noiseclean_scrapy import kernels
from noiseclean_scrapy.crawl.bounded import bounded_response
from noiseclean_scrapy.page import (
    DEFAULT_BUDGET,
    Html,
    Page,
    PageBudget,
    Rule,
    Rules,
    build_page,
)
from noiseclean_scrapy.page.contents import Contents
from noiseclean_scrapy.page.decoding import decode, is_utf8, mended
from noiseclean_scrapy.page.document import has_more_in_fallbacks
from noiseclean_scrapy.page.parse import characters_lost, inner_text, parse_html
from noiseclean_scrapy.page.presentation import Layout

RUSSIAN = "Привет, мир. Новости дня"
CHINESE = "新闻网今天报道"
JAPANESE = "ニュースを伝える"
ACCENTS = "Ünïcödé café, déjà vu"

ENCODED = {
    "empty": b"",
    "ascii": b"<p>plain</p>",
    "utf-8": f"<p>{RUSSIAN}".encode(),
    "utf-8 mark": b"\xef\xbb\xbf" + f"<p>{RUSSIAN}".encode(),
    "utf-16-le mark": b"\xff\xfe" + f"<p>{RUSSIAN}".encode("utf-16-le"),
    "utf-16-be mark": b"\xfe\xff" + f"<p>{RUSSIAN}".encode("utf-16-be"),
    "windows-1251": f'<meta charset="windows-1251"><p>{RUSSIAN}'.encode("cp1251"),
    "gb2312": (
        '<meta http-equiv="Content-Type" content="text/html; charset=gb2312">' + CHINESE
    ).encode("gb18030"),
    "shift_jis": f"<meta charset=shift_jis><p>{JAPANESE}".encode("cp932"),
    "xml declaration": f'<?xml version="1.0" encoding="koi8-r"?><p>{RUSSIAN}'.encode("koi8-r"),
    "wrongly utf-8": f"<meta charset=utf-8><p>{RUSSIAN}".encode("cp1251"),
    "unknown name": f"<meta charset=martian><p>{ACCENTS}".encode(),
    "undeclared cp1252": f"<p>{ACCENTS} {'naïve ' * 40}".encode("cp1252"),
    "undeclared cp1251": f"<p>{RUSSIAN * 20}".encode("cp1251"),
    "undeclared gb18030": f"<p>{CHINESE * 40}".encode("gb18030"),
}


@pytest.mark.parametrize("body", ENCODED.values(), ids=ENCODED.keys())
def test_decodes_as_scrapy(body: bytes) -> None:
    assert decode(body) == HtmlResponse("http://site.example/", body=body).text


@settings(max_examples=50)
@given(st.binary(max_size=300))
def test_decodes_any_declared_bytes_as_scrapy(body: bytes) -> None:
    body = b"<meta charset=windows-1251>" + body
    assume(not is_utf8(body))  # whatever such a page declares
    assert decode(body) == HtmlResponse("http://site.example/", body=body).text


@pytest.mark.parametrize("body", [random.Random(0).randbytes(5000), bytes(range(128, 256)) * 5])
def test_bytes_that_are_no_text_are_decoded_somehow(body: bytes) -> None:
    assert len(decode(body)) > len(body) / 4
    decoded = bounded_response(HtmlResponse("http://a.org/", body=body), DEFAULT_BUDGET)[0]
    assert decoded.text == decode(body)


LEGACY = {
    "cp1252": "<p>Où est la crème brûlée? Señor Müller fährt über Åse’s Brücke – ça alors, où ça?",
    "cp1250": "<p>Žluťoučký kůň úpěl ďábelské ódy. Příliš žluťoučký kůň, šťastně řekl děda.",
    "iso8859_2": "<p>A komp reggel óta a kikötőben áll, és senki sem tudja, mikor indul. Őszi eső.",
    "cp1251": f"<p>{RUSSIAN} Паром стоит в гавани с утра, и никто не знает, когда он уйдёт.",
    "cp1253": "<p>Το πλοίο έμεινε στο λιμάνι από το πρωί και κανείς δεν ξέρει πότε θα φύγει.",
    "gb18030": f"<p>{CHINESE}，渡轮从早上起一直停在港口，没有人知道它什么时候离开。",
    "cp932": f"<p>{JAPANESE}。フェリーは朝から港に停泊しており、いつ出港するのか誰も知らない。",
}


@pytest.mark.parametrize("charset", LEGACY)
@pytest.mark.parametrize("head", [0, 5000])
def test_charsets_that_are_not_declared_at_once(charset: str, head: int) -> None:
    """Told by a META far below, or not at all."""
    text = f"<html>{' ' * head}{LEGACY[charset] * 8}"
    assert decode(text.encode(charset)) == text
    late = f"<html>{'<!-- -->' * head}<meta charset={charset}>{LEGACY[charset]}"
    assert decode(late.encode(charset)) == late


@pytest.mark.parametrize("declared", ["", "<meta charset=windows-1252>"])
@pytest.mark.parametrize("text", [*LEGACY.values(), ACCENTS])
def test_a_damaged_byte_costs_one_letter(text: str, declared: str) -> None:
    before, after = f"{declared}<p>{text * 4}", f" {text * 4}</p>"
    body = before.encode() + b"\xe9" + after.encode()
    page = f"{before}\ufffd{after}"
    assert decode(body) == page
    assert decode(f"{before}{after}".encode() + b"\xe9") == f"{before}{after}\ufffd"
    if not declared:
        response = HtmlResponse("http://a.org/", body=body)
        assert bounded_response(response, DEFAULT_BUDGET)[0].text == page


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Britain\x92s \x93obesity\x94 \x96 a\x85b", "Britain’s “obesity” – a\x85b"),
        ("Earthâ\x80\x99s fog â\x80\x94 â\xad\x90", "Earth’s fog — ⭐"),
        ("FranÃ§ais dâ\x80\x99Ã\x89vianÂ\xa0!", "Français d’Évian\xa0!"),
        ("Ð\x9fÑ\x80Ð¸Ð²ÐµÑ\x82, Ð¼Ð¸Ñ\x80 ð\x9f\x98\x80", "Привет, мир 😀"),
        ("FranÃ§ais, IRMÃ»", "FranÃ§ais, IRMÃ»"),  # as readers see it
        ("CAFÉ\x94 â\x80", "CAFÉ” â€"),
        ("PIÙ\x94 PERÒ\x85 MALMÖ\x92S MITÄ\x94", "PIÙ” PERÒ\x85 MALMÖ’S MITÄ”"),
        ("ESPAÑ\x94 MÉTRÔ\x94 ×\x96", "ESPAÑ” MÉTRÔ” ×–"),
        ("AMANHÃ\xa0CEDO SCHÃ\x96N fÃ\xa0cil", "AMANHÃ\xa0CEDO SCHÖN fàcil"),
        ("CafÃ\x83Â©s Ã\x83Â\x81vila", "Cafés Ávila"),
        ("a\x81b \x8d", "a\x81b \x8d"),
        ("新闻\x92 \ud800 ’", "新闻’ \ud800 ’"),
    ],
)
def test_control_characters_are_the_letters_behind_them(text: str, meant: str) -> None:
    assert mended(text) == meant
    shown = " ".join(re.sub("[\x81\x8d]", "", meant.replace("\ud800", "?")).split())
    assert build_page(f"<p>{text}").text == shown
    if "\ud800" not in text:
        response = HtmlResponse("http://a.org/", body=f"<p>{text}".encode(), encoding="utf-8")
        read, is_part = bounded_response(response, DEFAULT_BUDGET)
        assert (read.text, is_part) == (f"<p>{meant}", False)


def test_addresses_stay_those_that_a_browser_asks_for() -> None:
    links = '<a href="/cafÃ©?q=â\x80\x99">Itâ\x80\x99s</a> <img src=/b\x92c> https://a.org/Ã\x89'
    assert mended(links) == (
        '<a href="/caf%C3%83%C2%A9?q=%C3%A2%C2%80%C2%99">It’s</a> <img src=/b%C2%92c> '
        "https://a.org/%C3%83%C2%89"
    )
    response = HtmlResponse("http://a.org/", body=b"<p>\\ud800 \\x92", encoding="unicode-escape")
    assert bounded_response(response, DEFAULT_BUDGET)[0].text == "<p>? ’"


@given(
    st.text(st.sampled_from("a é\x80\x85\x94\xa0\xbf\xc2\xc3\xe2\xef\xf0Ð新\ud800"), max_size=30)
)
def test_mending_takes_any_text(text: str) -> None:
    assert re.search("[\x80\x94]", mended(text)) is None
    without = re.sub("[\x80-\x9f]", "", text)
    assert mended(without) is without


def test_bytes_beyond_the_budget_are_cut_off_before_a_tag() -> None:
    data = b"<p>one</p><p>two</p>"
    cuts = {size: PageBudget(markup=size).cut_bytes(data) for size in (10, 12, 13, 19, 20)}
    assert cuts == {10: data[:6], 12: data[:10], 13: data[:10], 19: data[:16], 20: data}
    assert PageBudget(markup=4).cut_bytes(b"no tags") == b"no t"


@pytest.mark.parametrize("charset", ["utf-16", "utf-32", "UTF-16LE"])
def test_what_is_read_as_ascii_is_no_utf_16(charset: str) -> None:
    for page in (f"<meta charset={charset}><p>Fog", f"<?xml encoding='{charset}'?><html><p>Fog"):
        assert decode(page.encode()) == page
        response = HtmlResponse("http://a.org/", body=page.encode())
        assert bounded_response(response, DEFAULT_BUDGET)[0].text == page


@pytest.mark.parametrize("charset", ["gb2312", "windows-1251", "ascii", "shift_jis", "utf-16"])
def test_saved_pages_are_utf_8_whatever_they_declare(charset: str) -> None:
    page = f'<meta charset="{charset}"><p>{ACCENTS} {RUSSIAN} {CHINESE}'
    assert decode(page.encode()) == page
    assert decode(page.encode()[:-1]) == page[:-1] + "\ufffd"  # cut off in a character


def test_one_letter_at_the_end_is_no_utf_8() -> None:
    assert decode(b"<meta charset=iso-8859-1><p>caf\xe9") == "<meta charset=iso-8859-1><p>café"


def blocks_found(page: Page, root: Any) -> None:
    """Assert that each block's XPath leads to one element, and that it holds the block's text."""
    for block in page.blocks:
        (element,) = root.xpath(page.xpath(block))
        assert element.tag.rpartition("}")[2] == page.elements[block.element].tag
        if block.element > 0:  # BODY also owns what the parser put behind it
            inside = iter(inner_text(element))  # with that of scripts, which is no block's
            assert all(character in inside for character in "".join(block.text.split()))


def assert_sound(page: Page) -> None:
    """Assert that the page's references fit together."""
    assert page.elements[0].parent == -1
    assert [element.index for element in page.elements] == list(range(len(page.elements)))
    assert [block.index for block in page.blocks] == list(range(len(page.blocks)))
    for element in page.elements[1:]:
        assert 0 <= element.parent < element.index
        assert element.index in page.elements[element.parent].content
    for block in page.blocks:
        assert ~block.index in page.elements[block.element].content
        assert block.text or block.images
        assert 0 <= block.link_characters <= len(block.text)
        assert block.text == block.text.strip()


HOSTILE: dict[str, Html] = {
    "empty": "",
    "empty bytes": b"",
    "white space": " \n\t ",
    "comment only": "<!-- nothing -->",
    "comment unclosed": "<p>seen<!-- unclosed <p>hidden",
    "script unclosed": "<p>seen<script>var hidden",
    "title unclosed": "<title>all <p>is title",
    "tag unclosed": "<p>seen<a href='x",
    "frameset": "<html><frameset><frame src=a><noframes><body>old</body></noframes></frameset>",
    "xhtml": '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE html><html xml:lang="fr" '
    'xmlns="http://www.w3.org/1999/xhtml"><body><p>texte<br/>deux</p></body></html>',
    "feed": '<?xml version="1.0"?><rss><channel><item><title>t</title><link>l</link>'
    "<description><![CDATA[<p>d</p>]]></description></item></channel></rss>",
    "plain text": "no markup < at > all & so on",
    "json": '{"text": "<p>inside</p>", "n": [1, 2]}',
    "byte order mark in text": "\ufeff<p>x",
    "nul": "<p>a\0b<di\0v>c",
    "nul bytes": b"\0\0<p>a\0b",
    "lone surrogate": "<p>a\ud800b",
    "entities": "<p>&#0; &#xD800; &#99999999; &nosuch; &amp &#; &#x;",
    "control characters": "<p>" + "".join(map(chr, range(32))),
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)),
    "gzip": gzip.compress(b"<p>packed</p>"),
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj",
    "random": random.Random(1).randbytes(20_000),
    "body as skipped part": "<svg><body>x</body></svg><p>y",
    "names": '<o:p>a</o:p><x=y>b</x=y><a"b>c</a"b><div.x>d</div.x><p{}>e',
    "end tags in excess": "</td></html></body></body><p>a</html></html><p>b<table></html>c",
    "nested 10,000": "<div>" * 10_000 + "deep",
    "nested inline": "<b>" * 50_000 + "deep",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_sources_give_a_page(source: Html) -> None:
    page = build_page(source, url="http://site.example/")
    assert_sound(page)
    blocks_found(page, parse_html(source).root)
    assert Layout(page).empty == (not page.blocks)


def test_what_is_read_of_hostile_sources() -> None:
    texts = {name: build_page(source).text for name, source in HOSTILE.items()}
    assert texts["comment unclosed"] == texts["script unclosed"] == texts["tag unclosed"] == "seen"
    assert texts["plain text"] == "no markup < at > all & so on"
    assert texts["xhtml"] == "texte deux"
    assert texts["nul"] == "ab\nc"
    assert texts["end tags in excess"] == "a\nb\nc"
    assert texts["body as skipped part"].endswith("y")
    assert texts["comment only"] == texts["frameset"] == ""


_FRAGMENTS = (
    "<p> </p> <div|class='a> </div> <a|href=x> <a|name=y> </a> <br> <b> </b> <table> <tr> <td> "
    "</td> </table> <ul><li> </ul> <script> </script> <!-- --> <style> </style> <title> </title> "
    "<html> </html> <body> </body> <head> </head> <img|src=i> <o:p> <svg> </svg> <noscript> "
    "</noscript> <form> </form> <textarea> </textarea> <frameset> <select><option> <![CDATA["
    " <?x <pre> &amp; &#65; &nbsp; < > \" ' = | \0 \ud800 text слово 新闻"
).split(" ")
FRAGMENTS = [fragment.replace("|", " ") for fragment in _FRAGMENTS]


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=40).map("".join))
def test_any_fragments_give_a_page(text: str) -> None:
    page = build_page(text)
    assert_sound(page)
    blocks_found(page, parse_html(text).root)


@given(st.binary())
def test_any_bytes_give_a_page(body: bytes) -> None:
    assert_sound(build_page(body))


ENDS = st.sampled_from(
    ["", " ", "\n", "\v", "\x1c", "\x85", "\xa0", "\u3000", "\0", " \0 ", "ü", "Ã¼\x80"]
)


@given(ENDS, st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=9), ENDS)
def test_bytes_of_utf_8_are_read_as_their_text(start: str, parts: list[str], end: str) -> None:
    text = "".join((start, "<p>Größe\0 ", *parts, end))
    assume(text.encode("utf-8", "ignore").decode() == text)
    given, read = parse_html(text.encode()), parse_html(text)
    assert etree.tostring(given.root.getroottree()) == etree.tostring(read.root.getroottree())
    assert given.characters_lost == read.characters_lost


def test_parsed_sources_are_used_and_left_alone() -> None:
    response = HtmlResponse("http://s.example/", body=b"<title>T</title><p>a<p>b<a href=x>c</a>d")
    before = etree.tostring(response.selector.root)
    page = build_page(response.selector, text=response.text)
    assert page.text == "a\nbcd"
    assert parse_html(response.selector).root is response.selector.root
    assert etree.tostring(response.selector.root) == before
    blocks_found(page, response.selector.root)


def test_parts_of_documents() -> None:
    document: Any = lxml_html.document_fromstring(
        "<html lang=en><title>T</title><body><p>before<div id=m><p>in <b>it</b></div>after<p>more"
    )
    middle = document.get_element_by_id("m")
    page = build_page(middle)
    assert page.text == "in it"
    assert page.xpath(page.blocks[0]) == "/html[1]/body[1]/div[1]/p[1]"
    blocks_found(page, document)
    assert build_page(Selector(root=middle)).text == "in it"
    assert build_page(document.getroottree()).text == build_page(document).text
    document.body.remove(middle)
    assert build_page(middle).text == "in it"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (Selector("<p>a<b>c</b>").xpath("//b")[0], "c"),
        (Selector("<p>some text").xpath("//p/text()")[0], "some text"),
        (Selector("<p class=c>").xpath("//p/@class")[0], "c"),
        (Selector("<p>").xpath("count(//p)")[0], ""),
        (Selector('{"a": [1]}', type="json"), ""),
        (Selector('{"a": "<p>x"}', type="json").jmespath("a")[0], "x"),
        (Selector("<a><b>x</b></a>", type="xml"), "x"),
        (Selector("<a><b title='&#xD801;'>x</b></a>", type="xml"), "x"),
        (Selector("plain", type="text"), "plain"),
        (etree.Comment("c"), ""),
        (etree.ProcessingInstruction("p", "i"), ""),
        (etree.Entity("amp"), ""),
        (etree.Element("p"), ""),
        (etree.ElementTree(), ""),
    ],
)
def test_odd_sources(source: Html, text: str) -> None:
    page = build_page(source)
    assert_sound(page)
    assert page.text == text


@pytest.mark.usefixtures("reader")
def test_surrogates_in_xml_are_no_letters() -> None:
    source = "<html><title>a &#xD800; b</title><body><p>The river &#xD800; rose.</p></body></html>"
    page = build_page(Selector(source, type="xml"))
    for text, around in ((page.title, ("a", "b")), (page.text, ("The river", "rose."))):
        assert re.fullmatch(rf"{around[0]} \ufffd+ {around[1]}", text), text


def test_xhtml_parsed_as_xml() -> None:
    root = etree.fromstring(
        '<h:html xmlns:h="http://www.w3.org/1999/xhtml" xml:lang="nl"><h:head><h:title>T</h:title>'
        "</h:head><h:body><h:p>een <h:b>twee</h:b></h:p><h:p>drie</h:p></h:body></h:html>"
    )
    page = build_page(root)
    assert (page.title, page.language, page.text) == ("T", "nl", "een twee\ndrie")
    blocks_found(page, root)


def block_links(text: str) -> list[tuple[str, int, tuple[str, ...]]]:
    return [(b.text, b.link_characters, b.links) for b in build_page(text).blocks]


def test_links() -> None:
    assert block_links("<p>a <a href=x> link <b>bold</b></a>, end") == [
        ("a link bold, end", 9, ("x",))
    ]
    assert block_links("<p><a name=x>no link") == [("no link", 0, ())]
    assert block_links("<p><a href=x>one <a href=y>two</a> rest") == [
        ("one two rest", 7, ("x", "y"))
    ]
    assert block_links("<p>t <a href=x>unclosed</p><p>next") == [
        ("t unclosed", 8, ("x",)),
        ("next", 0, ()),
    ]


def test_anchor_around_blocks() -> None:
    source = "<a href=x><div>Title</div><p>Teaser <i>text</i></p></a><p>free"
    assert block_links(source) == [
        ("Title", 5, ("x",)),
        ("Teaser text", 11, ("x",)),
        ("free", 0, ()),
    ]
    source = "<div>before <a href=x>in<br><br>side</a> after</div>"
    assert block_links(source) == [("before in", 2, ("x",)), ("side after", 4, ("x",))]


def test_blocks() -> None:
    page = build_page(
        "<div>lead<p>one <em>two</em><img src=i data-src=j><br>three<br> <br>four</div>"
        "<pre>a\n  b</pre><img data-src=k><script>s</script><!-- c -->tail\u200b"
    )
    assert page.text.split("\n") == ["lead", "one two three", "four", "a b", "tail"]
    assert page.blocks[1].images == ("i",)
    assert page.blocks[4].images == ("k",)


def test_title_and_language() -> None:
    page = build_page("<html xml:lang=' de '><title> A &amp;\n B </title><svg><title>icon")
    assert (page.title, page.language) == ("A & B", "de")
    assert build_page("<body lang=el><p>x").language == "el"
    assert build_page("<head><meta><title>T</title></head><svg><title>i").title == "T"
    assert build_page("<p>x").title == build_page("<p>x").language == ""


def test_noscript_that_holds_the_page() -> None:
    forum = "<p>On.</p><noscript><p>Post one.</p><noscript><p>Post two.</p></noscript></noscript>"
    assert "Post one." in build_page(forum).text
    assert build_page("<p>Long enough.</p><noscript>off</noscript>").text == "Long enough."
    empty = build_page("<body><noscript> </noscript><div></div>")
    assert [element.tag for element in empty.elements] == ["body", "div"]


def test_text_in_noscript_is_counted_once_however_deep_it_is() -> None:
    nested = "<noscript>oné<noscript>two</noscript></noscript><noscript>three</noscript>"
    root = parse_html(nested).root
    characters = len("onétwothree")
    assert has_more_in_fallbacks(root, characters - 1)
    assert not has_more_in_fallbacks(root, characters)
    seconds = []
    for depth in (1, 1900):
        text = "<noscript> </noscript>" * 40_000  # bytes, but no characters that are shown
        root = parse_html("<b>" * depth + text + "x").root
        begin = time.process_time()
        assert not has_more_in_fallbacks(root, 1)
        seconds.append(time.process_time() - begin)
    assert seconds[1] < 10 * seconds[0]


def by_selector(selectors: dict[str, Rule]) -> Rules:
    """Rules that name the elements of CSS selectors, the later selector first."""
    return lambda root: {
        node: rule for selector, rule in selectors.items() for node in root.cssselect(selector)
    }


def ruled(source: str, selectors: dict[str, Rule]) -> list[tuple[str, Rule | None]]:
    page = build_page(source, rules=by_selector(selectors))
    assert_sound(page)
    blocks_found(page, parse_html(source).root)
    return [(block.text, block.rule) for block in page.blocks]


def test_the_nearest_rule_around_a_block_counts() -> None:
    source = "<h1>T</h1><div id=a>1<div id=b>2<p>3</p></div>4</div>5"
    assert ruled(source, {}) == [(text, None) for text in "T12345"]
    assert ruled(source, {"h1": "title", "#a": "drop", "#b": "keep"}) == [
        ("T", "title"),
        ("1", "drop"),
        ("2", "keep"),
        ("3", "keep"),
        ("4", "drop"),
        ("5", None),
    ]


def test_what_is_kept_is_a_block_and_what_is_dropped_of_a_sentence_is_none() -> None:
    source = "<p>By <b>A. Author</b> <a href=x><i>more</i> here</a> end"
    assert ruled(source, {"b": "drop", "i": "keep"}) == [
        ("By", None),
        ("more", "keep"),
        ("here", None),
        ("end", None),
    ]
    page = build_page(source, rules=by_selector({"i": "keep"}))
    assert [(block.text, block.links) for block in page.blocks][1:3] == [
        ("more", ("x",)),
        ("here", ("x",)),
    ]


def test_rules_above_and_behind_the_body() -> None:
    assert ruled("<body><p>a</body></html>b<div>c", {"html": "keep"}) == [
        ("a", "keep"),
        ("b", "keep"),
        ("c", "keep"),
    ]
    assert ruled("<p>a<p>b", {"body": "drop", "p + p": "keep"}) == [("a", "drop"), ("b", "keep")]
    document = lxml_html.document_fromstring("<div><p>a</p><p>b</p></div>")
    (division,) = document.cssselect("div")
    page = build_page(division[0], rules=lambda root: {division: "drop"})
    assert [block.rule for block in page.blocks] == ["drop"]


def test_what_is_never_read_stays_so_unless_a_rule_keeps_it() -> None:
    source = "<p>a<dialog><p>b<script>c</script></dialog><p>d"
    assert ruled(source, {}) == [("a", None), ("d", None)]
    assert ruled(source, {"dialog": "drop"}) == [("a", None), ("d", None)]
    assert ruled(source, {"dialog p": "keep"}) == [("a", None), ("d", None)]
    assert ruled(source, {"dialog": "keep"}) == [("a", None), ("b", "keep"), ("d", None)]
    kept: dict[str, Rule] = {"dialog": "keep", "dialog p": "drop"}
    assert ruled(source, kept) == [("a", None), ("b", "drop"), ("d", None)]
    assert ruled(source, {"dialog": "title", "script": "keep"}) == [
        ("a", None),
        ("b", "title"),
        ("c", "keep"),
        ("d", None),
    ]


def test_rules_on_pages_in_noscript() -> None:
    source = "<p>On.</p><noscript><p>Post one.</p><div>Post two.</div></noscript>"
    assert ruled(source, {"div": "drop"}) == [
        ("On.", None),
        ("Post one.", None),
        ("Post two.", "drop"),
    ]
    source = "<p>Long enough.</p><noscript>off</noscript>"
    assert ruled(source, {"noscript": "keep"}) == [("Long enough.", None), ("off", "keep")]


def test_html_closed_too_early() -> None:
    source = "<title>T</title><table><tr><td>a</td></tr></table></body></html>tail<div>b</div><p>c"
    page = build_page(source)
    assert page.text == "a\ntail\nb\nc"
    assert page.characters_lost == 0
    blocks_found(page, parse_html(source).root)


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 3000 + "word " * 100,
        "<p>kept<a title='unclosed>" + "cut off" * 100,
        "<table><tr><td>" * 1500 + "cell " * 100,
    ],
)
def test_lost_text_is_counted(markup: str) -> None:
    assert build_page(markup).characters_lost >= 300
    assert build_page(Selector(markup), text=markup).characters_lost >= 300
    assert build_page(Selector(markup)).characters_lost == 0


@pytest.mark.parametrize(
    "markup",
    [
        '<img alt="a > b ' + "quoted > text " * 50 + '">',
        "<a title='" + "<b>bold</b> " * 50 + "'>x</a>",
        "<a rel=noquote'" + "=x" * 200 + ">x</a>",
        "<script><!-- document.write('<script>a</script>" + "b" * 500 + "'); --></script>",
        "<script><!--></script>" + "<!-- " + "c" * 500,
        "<script>if (a<b) {" + "d" * 500 + "}</script>",
        "<style>" + "e" * 500 + "</style>",
        "<textarea><p>" + "f" * 500,
        "<xmp><script>" + "g" * 500 + "</xmp>",
        "<!DOCTYPE " + "h" * 500 + "><?php " + "i" * 500 + "><!--->",
        "&#33778;" * 100 + "&nbsp;" * 100 + "&copy",
        "<noscript><p>" + "j" * 500 + "</noscript>",
        "<svg><title>" + "k" * 500 + "</title><text>" + "l" * 500,
        "</td></tr></table></html>" + "m" * 500,
    ],
)
def test_no_false_losses(markup: str) -> None:
    source = "<p>" + "word " * 100 + markup + ("" if markup.count("<") == 1 else "<p>end")
    assert abs(characters_lost(parse_html(source).root, source)) == 0


_LOSING = (
    "<a|title=' <a|href=\"x <b|c= <i|b=c\"d'> <i|x=\"'\"> <i|x='\"'> \"> '> > < </ <p/ "
    "<![CDATA[ <!-- --> <title> </title> <script> </script> <script><!-- <textarea> <xmp> "
    "<plaintext> <noembed> <svg> <div> </div> <td> &lt &#0; <\0 \ud800 <br> <frameset> <noscript>"
).split(" ")
LOSING = [part.replace("|", " ") for part in _LOSING] + ["word " * 60, "<div>" * 300, "<b>" * 2100]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(LOSING), max_size=15).map("".join), st.booleans())
def test_no_loss_is_overlooked(markup: str, is_parsed: bool) -> None:
    markup += "cut off " * 80
    found = parse_html(
        Selector(markup.replace("\ud800", "?")) if is_parsed else markup, text=markup
    )
    assert found.characters_lost == characters_lost(found.root, markup)


def test_a_gap_before_the_quote_hides_no_loss() -> None:
    for gap in (0, 1, 999, 1000, 5000):
        markup = f"<p>kept<a title={' ' * gap}'unclosed>" + "cut off" * 100
        assert build_page(markup).characters_lost >= 600


def test_the_log_of_another_document_is_not_trusted() -> None:
    deep = "<div>" * 3000 + "word " * 100
    root = lxml_html.document_fromstring(deep)
    lxml_html.document_fromstring("<p>another")
    assert parse_html(root, text=deep).characters_lost == 400
    assert parse_html(Selector(root=root), text=deep).characters_lost == 400


MEGABYTE = 1_000_000
LARGE = {
    "less-than": "<" * MEGABYTE,
    "comments": "<!--" * (MEGABYTE // 4),
    "scripts": "<script>" * (MEGABYTE // 8),
    "scripts in comments in scripts": "<script><!--<script></script>" * (MEGABYTE // 30),
    "tags unclosed": "<a " * (MEGABYTE // 3),
    "quotes unclosed": "<a =\"'" * (MEGABYTE // 6),
    "titles": "<title></titl" * (MEGABYTE // 13),
    "siblings": "<div>a</div><p>b</p>" * 20_000,
    "line breaks": "<br>a<br><br>" * 50_000,
    "anchors around blocks": "<a href=x><div>" * 1000 + "a<p>" * 20_000,
    "noscript nested": "<noscript>" * 1500 + "word " * 100_000,
    "paragraphs": f"<p>{'words and more words ' * 50}</p>\n" * 19_000,
    "one text": "word " * (4 * MEGABYTE),
    "one attribute": f"<p title='{'x ' * (10 * MEGABYTE)}'>text",
    "attributes": f"<p {'a=b c ' * (MEGABYTE // 3)}>text",
    "drawings": f"<p>{'-' * MEGABYTE}x<a>{'<b><svg><g/></svg></b>' * 8000}</a> text",
    "lines of code": f"<pre>{'<span class=line>a</span>' * 40_000}",
    "empty lines": f"<pre>{'<div> </div>' * 24_000}x",
}


@pytest.mark.parametrize("source", LARGE.values(), ids=LARGE.keys())
def test_large_sources_take_linear_time(source: str) -> None:
    begin = time.process_time()
    is_sound_but_for_content(build_page(source))
    assert time.process_time() - begin < 15


def is_sound_but_for_content(page: Page) -> None:
    assert page.elements[0].parent == -1
    assert sum(len(element.content) for element in page.elements) == (
        len(page.elements) - 1 + len(page.blocks)
    )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", ""),
        ("<meta name=description content=' A  flood.\n'>", "A flood."),
        ("<meta name=DESCRIPTION content='A flood.'>", "A flood."),
        ("<meta property='og:description' content='A flood.'>", "A flood."),
        ("<meta name='twitter:description' content='A flood.'>", "A flood."),
        ("<meta name=d property='og:description' content='A flood.'>", "A flood."),
        ("<meta name=description><meta name=keywords content='flood, river'>", ""),
        (
            "<meta name=description content=Short><meta property='og:description' "
            "content='The longer one'><meta name=author content='Nobody at all, as it seems'>",
            "The longer one",
        ),
    ],
)
def test_description(head: str, expected: str) -> None:
    assert build_page(f"<html><head>{head}</head><body><p>x").description == expected
    assert build_page(f"<html><body><p>x{head}").description == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('{"articleBody": "It  rose.\\n"}', "It rose."),
        ('{"reviewBody": "Good."}', "Good."),
        ('[{"@type": "Thing"}, {"@graph": [{"articleBody": "Inside."}]}]', "Inside."),
        ('{"articleBody": "Bread &amp; roses"}', "Bread & roses"),
        ('{"articleBody": "a\nline"}', "a line"),  # a control character, as often written
        ('{"review": [{"reviewBody": "One."}, {"reviewBody": "The second."}]}', "The second."),
        ('{"articleBody": ["no", "text"]}', ""),
        ('{"articleBody": null, "reviewBody": 3}', ""),
        ('{"articleBody": "cut off', ""),
        ('{"headline": "It rose."}', ""),
        ('"articleBody"', ""),
        ("[" * 100_000 + '"articleBody"', ""),
        ("[" * 30 + '{"articleBody": "too deep"}' + "]" * 30, ""),
        ("[" * 10 + '{"articleBody": "deep"}' + "]" * 10, "deep"),
        ("", ""),
    ],
)
def test_declared_body(data: str, expected: str) -> None:
    for kind in (
        "application/ld+json",
        "Application/LD+JSON",
        "application/ld+json; charset=utf-8",
    ):
        page = build_page(f"<head><script type='{kind}'>{data}</script></head><p>x")
        assert page.declared.body == expected
        assert page.text == "x"
    assert build_page(f"<script>{data}</script><p>x").declared.body == ""


@pytest.mark.parametrize(
    ("data", "parts", "kinds"),
    [
        ('{"@type": "Product", "description": "A &amp; B.  "}', "A & B.", {"product"}),
        ('{"@type": ["Thing", "Product"], "description": "A."}', "A.", {"product"}),
        ('{"@type": "NewsArticle", "description": "A."}', "", {"article"}),
        (
            '{"@type": "QAPage", "mainEntity": {"@type": "Question", "text": "Why?",'
            ' "acceptedAnswer": {"@type": "Answer", "text": "So."}}}',
            "Why?\nSo.",
            {"discussion"},
        ),
        ('{"@type": "FAQPage", "mainEntity": [{"@type": "Answer", "text": "So."}]}', "So.", set()),
        ('{"@type": {"a": 1}, "text": "x"}', "", set()),
        ('{"@type": [3, null], "text": "x"}', "", set()),
    ],
)
def test_declared_parts_and_kinds(data: str, parts: str, kinds: frozenset[str]) -> None:
    found = build_page(f"<script type=application/ld+json>{data}</script><p>x").declared
    assert (found.body, found.parts, found.kinds) == ("", parts, kinds)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("article", set()), ("product", {"product"}), ("og:product", {"product"}), ("website", set())],
)
def test_kind_by_open_graph(kind: str, expected: set[str]) -> None:
    page = build_page(f"<meta property='og:type' content='{kind}'><p>x")
    assert page.declared.kinds == expected


def test_declared_parts_are_bounded_together() -> None:
    texts = [f"Answer {number} {'word ' * 5000}" for number in range(10)]
    data = json.dumps([{"@type": ["Answer"] * 99, "text": text} for text in [*texts, *texts]])
    found = build_page(f"<script type=application/ld+json>{data}</script><p>x").declared
    assert found.parts == "\n".join(map(str.strip, texts))[:100_000]


def test_the_longest_body_is_declared() -> None:
    one, two, broken = (
        f"<script type=application/ld+json>{data}</script>"
        for data in ('{"articleBody": "A."}', '{"articleBody": "A and B."}', '{"articleBody": }')
    )
    for scripts in (one + two + broken, broken + two + one):
        assert build_page(f"{scripts}<p>x").declared.body == "A and B."


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("", False),
        ("hidden", True),
        ("hidden=''", True),
        ("aria-hidden=true", True),
        ("aria-hidden=false", False),
        ("style='display:none'", True),
        ("style='color: red; DISPLAY : none !important'", True),
        ("style='visibility:hidden'", True),
        ("style='display:block'", False),
        ("style='overflow:hidden'", False),
        ("style", False),
        ("class=hidden", False),
    ],
)
def test_hidden_by_own_attributes(attributes: str, expected: bool) -> None:
    page = build_page(f"<div {attributes}><p>in</p></div><p>out")
    assert page.text == "in\nout"
    hidden = {element.tag: element.hidden for element in page.elements}
    assert hidden == {"body": False, "div": expected, "p": False}


@settings(max_examples=50)
@given(st.text(max_size=200), st.text(max_size=50))
def test_metadata_never_raises(data: str, value: str) -> None:
    page = build_page(
        f'<meta name="description" content="{value}">'
        f'<script type="application/ld+json">{{"articleBody": "{data}"}}</script><p>x'
    )
    assert isinstance(page.description, str)
    assert isinstance(page.declared.body, str)


@pytest.mark.parametrize(
    "markup",
    [
        "<title>News</title><nav><a href=/>Home</a></nav><article><p>Text of it.</p></article>",
        "<!doctype html><head><title>News</title></head><nav>Home</nav><main>Text of it.</main>",
        "<title>News</title><!-- menu --><nav>Home</nav>Text of it.<footer></footer>",
    ],
)
def test_pages_without_a_body_tag(markup: str) -> None:
    page = build_page(markup)
    assert page.title == "News"
    assert [block.text for block in page.blocks] == ["Home", "Text of it."]
    root: Any = lxml_html.document_fromstring(markup)
    for block in page.blocks:
        (element,) = root.xpath(page.xpath(block))
        assert block.text in inner_text(element)


def test_metadata_in_head_is_no_content() -> None:
    page = build_page("<head><title>News</title><x-flag></x-flag></head><body class=a><p>Text")
    assert [page.elements[block.element].tag for block in page.blocks] == ["p"]
    assert page.elements[0].tag == "body"


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("<p>Said <button>Ana Lima</button>, the mayor", ["Said Ana Lima, the mayor"]),
        ("<p>The <x-term>fog <b>lay</b></x-term> low", ["The fog lay low"]),
        ("<p>The <b><x-term>fog</x-term></b> low", ["The", "fog", "low"]),
        ("<p>The <b>old <x-term>fog</x-term> lay</b> low", ["The old fog lay low"]),
        ("<p>The <x-box><p>fog</p></x-box> low", ["The", "fog", "low"]),
        ("<p>The <x-box>fog<div>lay</div></x-box> low", ["The", "fog", "lay", "low"]),
        ("<div>The fog <!-- --><x-box>lay</x-box> low</div>", ["The fog lay low"]),
        ("<div>See (<x-n>3</x-n>, <x-n>4</x-n>) and</div>", ["See (3, 4) and"]),
        ("<p><x-n>3</x-n> litres <x-n>4</x-n>", ["3 litres 4"]),
        ("<p>By <x-a><x-b>Ana</x-b><x-c>Lima</x-c></x-a> here", ["By AnaLima here"]),
        ("<p>By <x-a><x-b>Ana</x-b><div>Lima</div></x-a> here", ["By", "Ana", "Lima", "here"]),
        ("<div><x-n>3</x-n> litres</div>", ["3", "litres"]),
        ("<h2>History <button>Toggle</button></h2>", ["History", "Toggle"]),
        ("<h2>History <x-n>3</x-n></h2>", ["History 3"]),
        ("<div><a hidden><b>x</b></a><a><h2>Fog</h2></a> low</div>", ["Fog", "low"]),
        ("<div><math><mi>x</mi></math><a><h2>Fog</h2></a> low</div>", ["x", "Fog", "low"]),
        ("<p>An <embed src=a.swf> joined.</p>", ["An joined."]),
        ("<embed src=a.pdf><p>Mist</p><p>Port</p>", ["Mist", "Port"]),
        ("<pre>a<br><br>b</pre>", ["a b"]),
        ("<p>a<br><br>b</p>", ["a", "b"]),
        ("<pre><i class=ln>7</i>a <i class=mi>8</i></pre><p><i class=ln>9</i>", ["a 8", "9"]),
        ("<div><x-card>Mist</x-card> <x-card>Port</x-card></div>", ["Mist", "Port"]),
        (
            "<div>Share: <button>Mail</button> | <button>Print</button></div>",
            ["Share:", "Mail", "|", "Print"],
        ),
        (
            "<p>Rated for: <button>a</button>, <button>b</button>, <button>c</button></p>",
            ["Rated for: a, b, c"],
        ),
        (
            "<div><button>a</button>, <button>b</button> | <button>c</button></div>",
            ["a, b |", "c"],
        ),
        ("<ul><li><x-link>Fog</x-link>.<li>(<x-link>Mist</x-link>)", ["Fog.", "(Mist)"]),
        ("<p>The <x-tip hidden>thick</x-tip> fog", ["The fog"]),
        ("<p>The <x-tip style='display:none'>thick</x-tip> fog", ["The fog"]),
        ("<p>The <section>thick</section> fog", ["The", "thick", "fog"]),
    ],
)
def test_buttons_and_elements_of_unknown_names_within_a_sentence(
    html: str, texts: list[str]
) -> None:
    page = build_page(html)
    assert [block.text for block in page.blocks] == texts
    with kernels.in_python():
        assert build_page(html).table == page.table


@pytest.mark.parametrize(
    ("html", "lines", "trained"),
    [
        ("<p>one</br>two", ["one", "two"], ["onetwo"]),
        ("<p>one</BR />two<br></br>three", ["one", "two", "three"], ["onetwo", "three"]),
        ("<p>one<br clear=all> </br></br>two", ["one", "two"], ["one", "two"]),
        ("<pre>one</br>two</pre>", ["one", "two"], ["onetwo"]),
        ("<p title='</br>'>one</bra>two</p><script>'</br>'</script>", ["onetwo"], ["onetwo"]),
    ],
)
def test_the_end_of_a_break_is_a_break(html: str, lines: list[str], trained: list[str]) -> None:
    html = f"<title>é</title>{html}"
    crawled = HtmlResponse("http://a.org/", body=html.encode(), encoding="utf-8")
    read = bounded_response(crawled, DEFAULT_BUDGET)[0]
    for page in (
        build_page(html),
        build_page(html.encode()),
        build_page(read.selector, text=read.text),
    ):
        assert list(Contents(page).lines) == lines
    assert list(Contents(build_page(html, budget=PageBudget(mended=False))).lines) == trained
    part = read.selector.css("p, pre")[0]
    assert list(Contents(build_page(part, text=read.text)).lines) == trained


def test_blanks_without_width_part_no_words_of_khmer() -> None:
    phrase = "រដ្ឋមន្ត្រី\u200bក្រសួង\u200b\u200bមហាផ្ទៃ។\u200b ថ្ងៃ\u200bFog\u200bcloses"
    page = build_page(f"<p>{phrase}")
    assert page.text == "រដ្ឋមន្ត្រីក្រសួងមហាផ្ទៃ។ ថ្ងៃ Fog closes"
    trained = build_page(f"<p>{phrase}", budget=PageBudget(mended=False))
    assert len(trained.text.split()) == 6
    assert mended("fog\u200bcloses") == "fog\u200bcloses"


@pytest.mark.parametrize(
    ("html", "texts", "trained"),
    [
        ("<p>An <a href=/x>extension <svg><g><path/></g></svg></a> is late.</p>", 1, 3),
        ("<p>An <i><a href=/x>extension <b><svg><path/></svg></b></a></i> is late.</p>", 1, 3),
        ("<p>An <!-- x --> <a>extension <svg><path/></svg></a> <!-- y -->is late.</p>", 1, 3),
        ("<div>An <span>extension <select><option>a</select></span> is late.</div>", 1, 3),
        ("<div><a>Share <svg><path/></svg></a> <a>Save <svg><path/></svg></a></div>", 2, 2),
        ("<p>An <a href=/x>extension <svg><g/></svg><div>box</div></a> is late.</p>", 4, 4),
        ("<p><a>Install Fog<span><svg><path/></svg></span></a>.</p>", 1, 2),
        ("<li><a>Fog <svg><path/></svg></a>, <a>mist <svg><path/></svg></a></li>", 1, 3),
        ("<p>Rated for: <button>a</button>, <button>b</button>, <button>c</button></p>", 1, 4),
    ],
)
def test_drawings_and_buttons_in_a_row_part_no_sentence(
    html: str, texts: int, trained: int
) -> None:
    for budget, count in ((PageBudget(), texts), (PageBudget(mended=False), trained)):
        page = build_page(html, budget=budget)
        assert len(page.table.texts) == count
        with kernels.in_python():
            assert build_page(html, budget=budget).table == page.table


EAST_ASIAN = {
    "gb18030": "<p>雾使港口关闭。林德穆尔港务局星期二表示，一旦雾散去，渡轮服务将恢复。</p>",
    "big5hkscs": "<p>霧使港口關閉。林德穆爾港務局星期二表示，一旦霧散去，渡輪服務將恢復。</p>",
    "cp932": "<p>リンドムーア港湾局は火曜日、霧が晴れ次第フェリーの運航を再開すると発表した。</p>",
    "euc_jp": "<p>リンドムーア港湾局は火曜日、霧が晴れ次第フェリーの運航を再開すると発表した。</p>",
    "cp949": "<p>린드무어 항만청은 화요일 안개가 걷히는 대로 여객선 운항을 재개한다고 밝혔다.</p>",
}


@pytest.mark.parametrize("charset", EAST_ASIAN)
@pytest.mark.parametrize("damage", ["cut", "a byte too much", "a byte too little"])
def test_a_damaged_byte_costs_a_letter_not_the_page(charset: str, damage: str) -> None:
    if (charset, damage) == ("cp949", "a byte too little"):
        damage = "cut"  # what is Korean but for that is Thai to the last byte
    text = EAST_ASIAN[charset]
    page = (text * 8).encode(charset)
    half = len(page) // 2
    while page[half : half + 1] == b"<" or page[:half].rpartition(b">")[2].isascii():
        half += 1
    damaged = {
        "cut": page[:-5],
        "a byte too much": page[:half] + b"\xff" + page[half:],
        "a byte too little": page[:half] + page[half + 1 :],
    }
    assert decode(damaged[damage]).count(text) >= 6
