"""A clean page: every character accounted for, and its text as HTML and as Markdown."""

from __future__ import annotations

import copy
import json
import pickle
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from html import unescape
from pathlib import Path
from typing import Any
from unicodedata import normalize

import lxml.html
import nh3
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt
from parsel import Selector

from example_project.demo import DemoSite
from noiseclean_scrapy import CleanPage, SiteCleaner
from noiseclean_scrapy.page.overrides import Overrides
from noiseclean_scrapy.report.page_view import page_view

NEVER_SHOWN = (
    "script style template noscript iframe noembed noframes object applet embed svg canvas audio "
    "video select textarea datalist head title dialog map"
).split()


def whole(html: str) -> CleanPage:
    """The page with all its blocks kept."""
    page = SiteCleaner("style-tree").clean(html)
    assert page.dropped_characters == 0
    return page


def markdown_of(html: str) -> str:
    return whole(html).markdown


def shown_by(markdown: str) -> str:
    """What a Markdown reader shows."""
    return "".join(map(str, lxml.html.fromstring(f"<div>{rendered(markdown)}</div>").itertext()))


def shown_by_html(html: str) -> str:
    """What a reader of HTML5 shows."""
    in_lines = re.sub("</?(?:h[1-6]|[oud]l|li|d[td]|p|t[hd]|blockquote|pre|br)>", "\n", html)
    return unescape(nh3.clean(in_lines, tags=set()))


def rendered(markdown: str) -> str:
    return str(MarkdownIt("commonmark").enable("table").enable("strikethrough").render(markdown))


def letters(text: str) -> str:
    return "".join(text.split())


def words(text: str) -> list[str]:
    return text.split()


# Every character is in exactly one block


def visible_characters(html: str) -> str:
    """Text nodes of the DOM that are not in an element which is never shown, without spaces."""
    inside = " or ".join(f"ancestor::{tag}" for tag in NEVER_SHOWN)
    root: Any = lxml.html.document_fromstring(html)
    text = "".join(map(str, root.xpath(f"//text()[not({inside})]")))
    return "".join(text.replace("\u200b", " ").replace("\ufeff", " ").split())


def assert_accounted(page: CleanPage, html: str) -> None:
    blocks = "".join("".join(block.text.split()) for block in page.blocks)
    assert blocks == visible_characters(html)
    assert page.kept_characters + page.dropped_characters == page.visible_characters
    assert page.visible_characters == sum(len(block.text) for block in page.blocks)
    kept = [block for block in page.blocks if block.kept]
    assert sorted(letters("".join(block.text for block in kept))) == sorted(letters(page.text))


def test_every_character_of_the_demo_pages_is_in_one_block() -> None:
    pages = list(DemoSite().pages.values())[:40]
    cleaner = SiteCleaner()
    for page in pages:
        cleaner.observe(page.html, url=page.path)
    dropped = 0
    for page in pages:
        clean = cleaner.clean(page.html, url=page.path)
        assert_accounted(clean, page.html)
        dropped += clean.dropped_characters
    assert dropped > 0


HARD_PAGES = [
    "<p>One<p>two <b>three</b> four<br><br>five<div>six</div>seven",
    "<div>a<span>b<p>c</p>d</span>e</div>f<!-- no -->g<?php no ?>h",
    "<table><tr><td>a<table><tr><td>b</table>c<td>d</table>e",
    "<ul>text in a list<li>a<ul><li>b</ul>c</ul>",
    "<a href=/x>a<div>b</div>c</a><button>d</button><label>e</label>",
    "<html><body>a</body>b</html>c<p>d",
    "<script>no</script>a<style>no</style>b<noscript>no</noscript>c<select><option>no</select>d",
    "<p>zero\u200bwidth\ufeff and\u00a0hard\u2003space</p><x-own>e<x-inner>f</x-inner></x-own>",
    "<pre>  a\n    b\n</pre><textarea>no</textarea><details><summary>s</summary>t</details>",
    "<svg><text>no</text></svg><math><mi>x</mi></math><ruby>k<rp>(</rp><rt>a</ruby><p hidden>h</p>",
    "<header>a</header><nav>b</nav><main>c</main><aside>d</aside><footer>e</footer>",
    "",
    "no markup at all",
]


@pytest.mark.parametrize("html", HARD_PAGES)
@pytest.mark.parametrize("method", ["evidence", "satisfiable-subtree", "block-entropy"])
def test_every_character_of_hard_pages_is_in_one_block(html: str, method: str) -> None:
    html = html or "<body></body>"
    assert_accounted(SiteCleaner(method).clean(html), html)


# Places


def test_blocks_tell_their_place() -> None:
    html = '<body><div class="main post-77"><article><p>A</p></article></div>B</body>'
    places = [(block.text, block.place, block.rule) for block in whole(html).blocks]
    assert places == [("A", "body/div.main/article/p", ""), ("B", "body", "")]


# Line breaks


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a<br>b<br/> c <br>", "a\nb\nc"),
        ("<p>a <b>b<br></b>c<p>d\ne", "a b\nc\nd e"),
        ("<p>a<br><br>b", "a\nb"),
        ("<h1>a<br>b</h1>", "a\nb"),
        ("<pre>\nif a:\n    b()\n\n\tc()  \n</pre>", "if a:\n    b()\n\n\tc()"),
        ("<pre><code><b>if</b> a:<br>  <i>b</i>()</code></pre>", "if a:\n  b()"),
        ("<pre><div>a</div><div>  b</div></pre>", "a\n  b"),
        ("<pre>  <i>a</i>\nb</pre>", "  a\nb"),
        ("<div><code>a\n  b</code></div>", "a\n  b"),
        ("<p>see <code>a\n  b</code></p>", "see a b"),
        ("<pre>a\x00\x01\x04b\u200bc&#3;\r\nd</pre>", "ab c\nd"),
        ("<pre>a\x0bb\x0cc\x1cd&#31;e\x85f\u2028g\u2029h\n i</pre>", "a b c d e f g h\n i"),
    ],
)
def test_text_keeps_line_breaks(html: str, text: str) -> None:
    page = whole(html)
    assert page.text == text
    assert [words(block.text) for block in page.blocks if "\n" in block.text] == []
    assert words(page.text) == words(" ".join(block.text for block in page.blocks))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a<b style='color:red; display: block'>b</b>c", "a\nb\nc"),
        ("<p>a<br><a style=display:flex href=/>b</a><i style=DISPLAY:grid>c</i>", "a\nb\nc"),
        ("<p>a<span style='display:inline-block'>b</span>", "ab"),
        ("<p>a<span style='display:none'>b</span>", "a"),
        ("<pre>a\n<span style=display:block>b\n</span>c</pre>", "a\nb\nc"),
    ],
)
def test_what_its_own_style_makes_a_box_has_its_own_lines(html: str, text: str) -> None:
    assert whole(html).text == text


def test_all_forms_keep_line_breaks() -> None:
    html = "<h2>a<br>b</h2><p>c<br><b>d<br>e</b></p><pre>f\n g</pre><ul><li>h<br>i</ul>"
    page = whole(html)
    assert page.html == (
        "<h2>a<br>b</h2>\n<p>c<br><strong>d<br>e</strong></p>\n<pre>f\n g</pre>\n"
        "<ul>\n<li>h<br>i</li>\n</ul>"
    )
    assert page.markdown == ("## a b\n\nc\\\n**d\\\ne**\n\n```\nf\n g\n```\n\n- h\\\n  i")


def test_a_rule_opens_a_form_field_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('["a.example"]\nkeep = "textarea"\n')
    html, rules = "<p>c<textarea>a\n  b</textarea>", Overrides.read(path)
    cleaned = SiteCleaner().clean(html, url="https://a.example/", overrides=rules)
    assert cleaned.text.endswith("a\n  b")


# HTML


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<p>b", "<p>a</p>\n<p>b</p>"),
        ("<h2><span>a</span></h2><div>b</div>", "<h2>a</h2>\n<p>b</p>"),
        ("<ul><li>a<li>b</ul>", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        (
            "<ul><li>a<ol><li>b<li>c</ol><li><p>d<p>e</ul>",
            "<ul>\n<li>a<ol>\n<li>b</li>\n<li>c</li>\n</ol>\n</li>\n<li>d<p>e</p>\n</li>\n</ul>",
        ),
        ("<ul>a<li>b</ul>", "<p>a</p>\n<ul>\n<li>b</li>\n</ul>"),
        ("<li>a", "<p>a</p>"),
        ("<blockquote>a<p>b</blockquote>", "<blockquote>\n<p>a</p>\n<p>b</p>\n</blockquote>"),
        ("<pre>a &lt;b&gt;</pre>", "<pre>a &lt;b&gt;</pre>"),
        (
            "<table><tr><th>a<th>b<tr><td>c<td>d</table>",
            "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>c</td><td>d</td></tr>\n</table>",
        ),
        ("<table><tr><td>laid<td>out</table>", "<p>laid</p>\n<p>out</p>"),
        (
            "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp;",
            "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp;</p>",
        ),
    ],
)
def test_html(html: str, expected: str) -> None:
    assert whole(html).html == expected


# Markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>a</h1><p>b</p><h3>c</h3>", "# a\n\nb\n\n### c"),
        ("<ul><li>a<li>b</ul><p>c", "- a\n- b\n\nc"),
        ("<ol><li>a<li>b<ul><li>c</ul></ol>", "1. a\n2. b\n   - c"),
        ("<ul><li><p>a<p>b<li>c</ul>", "- a\n\n  b\n- c"),
        ("<blockquote><p>a<p>b</blockquote><p>c", "> a\n>\n> b\n\nc"),
        ("<blockquote><ul><li>a<li>b</ul></blockquote>", "> - a\n> - b"),
        ("<pre>a `b`</pre>", "```\na `b`\n```"),
        ("<pre>```</pre>", "````\n```\n````"),
        (
            "<table><tr><th>a<th>b<tr><td>c|<td><tr><th>e<td>f</table>",
            "| a | b |\n| --- | --- |\n| c\\| |  |\n| e | f |",
        ),
        ("<p># a</p><p>1. b</p><p>- c</p>", "\\# a\n\n1\\. b\n\n\\- c"),
    ],
)
def test_markdown(html: str, expected: str) -> None:
    assert markdown_of(html) == expected


def test_structure_survives_markdown() -> None:
    html = (
        "<h1>A</h1><p>b<ul><li>c<ol><li>d</ol></ul><blockquote><h2>e</h2><p>f</blockquote>"
        "<pre>g</pre><table><tr><td>h<td>i<tr><td>j<td>k</table>"
    )
    tags = re.findall(
        r"<(h1|h2|p|ul|ol|li|blockquote|code|table|tr|t[hd])\b", rendered(markdown_of(html))
    )
    assert tags == ("h1 p ul li ol li blockquote h2 p code table tr th th tr td td".split())


HARD_TEXTS = [
    "*a* _b_ __c__ ***d***",
    "snake_case __init__ _x",
    "# heading? #",
    "> quote?",
    "1. one",
    "12) twelve",
    "- item",
    "+ item",
    "---",
    "===",
    "***",
    "___",
    "~~~",
    "~~gone~~",
    "```",
    "`code`",
    "[link](http://x.example)",
    "![image](x)",
    "[ref]: http://x.example",
    "<b>bold</b> <script>",
    "<http://auto.example>",
    "&amp; &#42; & AT&T",
    "a | b",
    "| --- |",
    "\\*",
    "trailing \\",
    "1986. A great year",
    "http://x.example/a_b_c",
    "- [ ] task",
    "   spaces",
    "::: note",
    "$x$",
    "http://a.example/?a=1&copy=2",
]
SHAPES = ["<p>%s</p>", "<h2>%s</h2>", "<ul><li>%s</ul>", "<blockquote>%s</blockquote>"]
TABLE = "<table><tr><td>%s<td>x<tr><td>y<td>z</table>"


@pytest.mark.parametrize("text", HARD_TEXTS)
@pytest.mark.parametrize("shape", [*SHAPES, TABLE, "<pre>%s</pre>", "<ol><li><p>x<p>%s</ol>"])
def test_markdown_shows_the_same_text(text: str, shape: str) -> None:
    html = shape % text.replace("&", "&amp;").replace("<", "&lt;")
    page = whole(html)
    assert words(shown_by(page.markdown)) == words(" ".join(b.text for b in page.blocks))


def fragments() -> st.SearchStrategy[str]:
    text = st.text(alphabet="ab 1.-+*_#>|`~[]()!\\&;=", min_size=1, max_size=8)
    escaped = text.map(lambda t: t.replace("&", "&amp;").replace(">", "&gt;"))
    tags = [
        "p",
        "h2",
        "ul",
        "ol",
        "li",
        "blockquote",
        "table",
        "tr",
        "td",
        "th",
        "pre",
        "div",
        "br",
    ]
    tags += ["br", "b", "strong", "i", "em", "code", "span", "a href='/x_(y)*`'", "sub"]
    return st.recursive(
        escaped,
        lambda inner: st.builds(
            lambda tag, blank, parts: f"<{tag}>{blank.join(parts)}</{tag.split()[0]}>",
            st.sampled_from(tags),
            st.sampled_from(["", " ", "\n"]),
            st.lists(inner, max_size=4),
        ),
        max_leaves=12,
    )


@settings(max_examples=300)
@given(fragments())
@example("<blockquote><ol>1 <li></li> <li>1</li></ol></blockquote>")
def test_any_page_keeps_its_text_in_html_and_markdown(html: str) -> None:
    page = whole(f"<body>{html}</body>")
    text = letters("".join(block.text for block in page.blocks))
    assert sorted(letters(shown_by(page.markdown))) == sorted(text)
    assert sorted(letters(shown_by_html(page.html))) == sorted(text)
    assert sorted(letters(page.text)) == sorted(text)
    back = lxml.html.fromstring(f"<div>{page.html}</div>")
    assert {(node.tag, *node.keys()) for node in elements(back) if node.attrib} <= {("ol", "start")}


def elements(root: etree._Element) -> Iterator[etree._Element]:
    return root.iter(etree.Element)


def test_deep_pages_give_markup() -> None:
    html = "<ul><li>a" * 100 + "<blockquote><p>b"
    page = whole(html)
    assert words(shown_by(page.markdown)) == ["a"] * 100 + ["b"]


def test_the_headline_comes_first_in_all_forms() -> None:
    html = "<title>The flood</title><p>Yesterday.</p><h1>The flood</h1><p>It rose.</p>"
    page = SiteCleaner("style-tree").clean(html)
    assert page.text == "The flood\nYesterday.\nIt rose."
    assert page.html == "<h1>The flood</h1>\n<p>Yesterday.</p>\n<p>It rose.</p>"
    assert page.markdown == "# The flood\n\nYesterday.\n\nIt rose."


@pytest.mark.parametrize(
    "html",
    [
        "<ul><li><h1>The flood</h1></li></ul><p>It rose.",
        "<blockquote><div>The <i>flood</i></div></blockquote><p>It rose.",
        "<table><tr><td>The flood<td>3<tr><td>rain<td>4</table><p>It rose.",
        "<pre>The flood</pre><p>It rose.",
        "<dl><dt>The flood<dd>It rose.</dl>",
    ],
)
def test_the_headline_is_a_heading_of_its_own_wherever_it_stands(html: str) -> None:
    page = SiteCleaner("style-tree").clean(f"<title>The flood</title>{html}")
    heading, _, rest = page.markdown.partition("\n\n")
    assert heading.replace("*", "") == "# The flood"
    assert rest.endswith("It rose.")
    assert page.html.startswith(("<h1>The flood</h1>\n", "<h1>The <em>flood</em></h1>\n"))
    left_out = SiteCleaner("style-tree", headline=False).clean(f"<title>The flood</title>{html}")
    assert "flood" not in left_out.markdown


def test_a_block_of_joiners_alone_is_no_line() -> None:
    page = SiteCleaner("style-tree").clean("<p>Fog<p>\u200d<p>\u2060\u00ad<p>\u200dRain")
    assert page.text == "Fog\n\u200dRain"
    assert page.markdown == "Fog\n\n\u200dRain"
    assert page.to_markdown(include_images=True) == page.markdown
    assert page.kept_characters == 8


def test_a_headline_keeps_its_level() -> None:
    page = SiteCleaner("style-tree").clean("<title>Fog</title><li><h3>Fog</h3></li><h4>It rose")
    assert page.markdown == "### Fog\n\n#### It rose"


# Notebooks


def test_notebooks_show_cleaners_and_pages() -> None:
    cleaner = SiteCleaner()
    cleaner.observe("<p>One &lt;script&gt;</p>")
    page = cleaner.clean("<p>One &lt;script&gt;</p>")
    for shown in (page._repr_html_(), cleaner._repr_html_()):
        assert shown.lstrip().startswith("<")
        assert "<script" not in shown
    assert "One &lt;script&gt;" in page._repr_html_()


# Values


STORY = (
    '<html lang=en><title>Fog</title><base href="https://a.example/b/"><link rel=canonical href=c>'
    '<meta name=author content="Ana Lima"><meta property="og:image" content="/fog.jpg">'
    '<meta property="article:published_time" content="2021-07-02T08:00:00+02:00"><h1>Fog</h1>'
    "<p>The port was closed on Monday, said the harbour master, since fog lay over the water."
)


def test_a_page_tells_of_itself() -> None:
    page = SiteCleaner().clean(STORY, url="https://a.example/b/?x=1")
    assert (page.author, page.language) == ("Ana Lima", "en")
    assert page.published == datetime(2021, 7, 2, 6, tzinfo=timezone.utc)
    assert page.canonical_url == "https://a.example/b/c"
    assert page.image == "https://a.example/fog.jpg"


def test_a_file_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "story.html"
    path.write_text(STORY)
    with path.open("rb") as file:
        page = SiteCleaner().clean(file)
    assert (page.author, page.title) == ("Ana Lima", "Fog")
    assert SiteCleaner().clean(b"%PDF-1.7\n").author == ""


def test_a_page_as_plain_values() -> None:
    page = SiteCleaner().clean(STORY, url="https://a.example/b/?x=1")
    values = page.to_dict()
    assert values == {
        "url": "https://a.example/b/?x=1",
        "title": "Fog",
        "author": "Ana Lima",
        "published": page.published,
        "language": "en",
        "canonical_url": "https://a.example/b/c",
        "image": "https://a.example/fog.jpg",
        "text": page.text,
    }
    assert json.loads(page.to_json()) == values | {"published": "2021-07-02T08:00:00+02:00"}
    found = json.loads(page.to_json("markdown", "blocks", "weights"))
    assert list(found)[-3:] == ["markdown", "blocks", "weights"]
    assert found["blocks"] == [block.to_dict() for block in page.blocks]
    assert {weight["feature"]: weight["weight"] for weight in found["weights"]} == page.weights
    with pytest.raises(ValueError, match="'pdf' is none of text, html, markdown, blocks, weights"):
        page.to_dict("pdf")


@pytest.mark.parametrize("is_shown_so", [True, False])
@pytest.mark.parametrize(
    "composed",
    ["Chính phủ công bố kế hoạch", "정부 도로 보수 계획 발표", "Νέο σχέδιο για τους δρόμους"],
)
def test_a_headline_may_be_spelled_in_letters_and_marks(composed: str, is_shown_so: bool) -> None:
    apart = normalize("NFD", composed)
    declared, shown = (composed, apart) if is_shown_so else (apart, composed)
    body = f"<h1>Báo</h1><div><h1>{shown}</h1></div><span>{declared}</span><p>{declared} mới."
    page = SiteCleaner("style-tree").clean(f"<title>{declared} | Báo</title>{body}")
    assert page.title == shown
    assert page.text.splitlines()[0] == shown
    assert declared not in page.text.splitlines()


def test_a_headline_of_joiners_alone_is_none() -> None:
    page = SiteCleaner().clean("<title>x</title><h1>&#x2060;</h1>")
    assert (page.text, page.html, page.markdown) == ("", "", "")
    assert page.problem


def test_a_block_is_shown_as_the_text_has_it() -> None:
    page = SiteCleaner().clean(
        "<p>By <b>Jane</b><time>28 March</time></p><p>Fog<br>closes</p><nav><a>One</a><a>Two</a>"
    )
    assert [block.text for block in page.blocks][:2] == ["By Jane28 March", "Fog closes"]
    shown = [page.shown_text(block) for block in page.blocks]
    assert shown == ["By Jane 28 March", "Fog closes", "One Two"]
    assert [row["text"] for row in page_view(page, "").rows] == shown


@pytest.mark.parametrize("method", ["evidence", "style-tree"])
def test_a_block_is_copied_without_its_page(method: str) -> None:
    html = f"<h1>Fog closes the port</h1>{'<p>Ferries ran late until noon.</p>' * 500}"
    page = SiteCleaner(method).clean(Selector(html))
    block = page.blocks[0]
    assert len({block, copy.copy(block)}) == 1
    pickled = pickle.dumps(block)
    assert len(pickled) < 2000
    for copied in (pickle.loads(pickled), copy.deepcopy(block), copy.copy(block)):
        assert copied == block
        assert block.evidence == copied.evidence != {}


def test_a_page_that_was_looked_at_is_copied_with_its_texts() -> None:
    page = SiteCleaner("style-tree").clean("<p><b>Jane</b><time>28 March</time></p>")
    assert page.shown_text(page.blocks[0]) == "Jane 28 March"
    copied = pickle.loads(pickle.dumps(page))
    assert copied.shown_text(copied.blocks[0]) == "Jane 28 March"


def test_a_page_is_copied_with_its_metadata_and_without_its_source() -> None:
    html = "<meta name=author content='Jane Roe'><p>Fog closes the port.</p>"
    for source in (html, Selector(html), Selector(html).root):
        page = SiteCleaner().clean(source)
        for copied in (pickle.loads(pickle.dumps(page)), copy.deepcopy(page)):
            assert copied == page
            assert copied.author == "Jane Roe"
