"""What becomes of a page: its text, its Markdown and its HTML, with all that is in a block."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import lxml.html
import nh3
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from noiseclean_scrapy import CleanPage, SiteCleaner, kernels
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.page import inline_markdown
from noiseclean_scrapy.page.build import build_page
from noiseclean_scrapy.page.contents import MOST_INLINE
from noiseclean_scrapy.page.formula import symbols
from noiseclean_scrapy.page.markup import is_written
from noiseclean_scrapy.page.overrides import Overrides

TABLE = Path(__file__).with_name("what_becomes_of.txt").read_text(encoding="utf-8")
ENTRIES = [entry.partition("\n") for entry in TABLE.split("\n===== ")[1:]]
URL = "https://a.example/b/"
SHOWN = "h1 h2 h3 h4 h5 h6 hr p ul ol li dl dt dd blockquote pre table tr th td br".split()
INLINE = "strong em code kbd samp del ins sub sup q mark ruby rt rp a img".split()


def clean(html: str, **options: Any) -> CleanPage:
    """The page with all its blocks kept."""
    page = SiteCleaner("style-tree", **options).clean(html, url=URL)
    assert page.dropped_characters == 0
    return page


def letters(text: str) -> str:
    return "".join(text.split())


def shown_by_markdown(markdown: str) -> Any:
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    return lxml.html.fromstring(f"<div>{html}</div>")


def shown_by_html(html: str) -> Any:
    """What an HTML5 parser that drops all that is active makes of it: nothing may be missing."""
    attributes = {"a": {"href"}, "img": {"src", "alt"}, "ol": {"start"}}
    safe = nh3.clean(html, tags={*SHOWN, *INLINE}, attributes=attributes, link_rel=None)
    found, given_ = (lxml.html.fromstring(f"<div>{source}</div>") for source in (safe, html))
    for one, other in zip(found.iter(), given_.iter(), strict=False):
        assert (one.tag, one.items()) == (other.tag, other.items())
    return found


def text_of(node: Any) -> str:
    return letters("".join(map(str, node.itertext())))


@pytest.mark.parametrize(("name", "rest"), [(name, rest) for name, _, rest in ENTRIES])
def test_what_becomes_of(name: str, rest: str) -> None:
    html, *expected = re.split(r"\n----- (?:text|markdown|html)\n", rest.rstrip("\n"))
    page = clean(html)
    markdown = page.to_markdown(include_links=True, include_images=True)
    shown = page.to_html(include_links=True, include_images=True)
    assert [page.text, markdown, shown] == expected
    assert is_written(shown)
    for found in (shown_by_markdown(markdown), shown_by_markdown(page.markdown)):
        assert text_of(found) == letters(page.text)
    for found in (shown_by_html(shown), shown_by_html(page.html)):  # Q and SUP are elements here
        text = letters(page.text).replace("²", "2").replace("“never”", "never")
        assert text_of(found) == text
    assert len(ENTRIES) >= 20


@pytest.mark.parametrize("html", [rest.partition("\n")[0] for _, _, rest in ENTRIES])
def test_what_is_compiled_tells_the_same(html: str) -> None:
    compiled = SiteCleaner("style-tree").clean(html, url=URL)
    with kernels.in_python():
        page = SiteCleaner("style-tree").clean(html, url=URL)
    assert page.table == compiled.table
    assert page.to_html(include_links=True) == compiled.to_html(include_links=True)


# Options

LINKED = '<p>See <a href="/fog">the <b>fog</b></a> in<img src="i.png" alt="a picture"> Porto.'


@pytest.mark.parametrize(
    ("options", "html", "markdown"),
    [
        ({}, "See the <strong>fog</strong> in Porto.", "See the **fog** in Porto."),
        ({"include_formatting": False}, "See the fog in Porto.", "See the fog in Porto."),
        (
            {"include_links": True, "include_formatting": False},
            'See <a href="https://a.example/fog">the fog</a> in Porto.',
            "See [the fog](https://a.example/fog) in Porto.",
        ),
        (
            {"include_images": True},
            'See the <strong>fog</strong> in<img src="https://a.example/b/i.png" alt="a picture"> '
            "Porto.",
            "See the **fog** in![a picture](https://a.example/b/i.png) Porto.",
        ),
    ],
)
def test_options(options: dict[str, Any], html: str, markdown: str) -> None:
    for page in (clean(LINKED, **options), clean(LINKED)):
        assert page.to_html(**options) == f"<p>{html}</p>"
        assert page.to_markdown(**options) == markdown
        assert page.text == "See the fog in Porto."
    assert clean(LINKED, **options).markdown == markdown
    settings_ = {f"NOISECLEAN_{name.upper()}": value for name, value in options.items()}
    assert Config.from_settings(settings_).markup == SiteCleaner(**options).markup


@pytest.mark.parametrize(
    "address",
    [
        *(
            "javascript:alert(1)",
            "data:text/html,x",
            "mailto:a@b",
            "#top",
            "//",
            "http://[",
            "ftp:x",
        ),
        *(
            "http://[",
            "  ",
            "http://",
            "java\nscript:alert(1)",
            "\x01http://x",
            "x" * 3000,
            "vbscript:x",
        ),
    ],
)
def test_only_web_addresses_are_linked(address: str) -> None:
    source = address.replace("\x01", "&#1;")
    html = f'<p>See <a href="{source}">this</a><img src="{source}" alt="no"> page.'
    options = {"include_links": True, "include_images": True}
    page = SiteCleaner("style-tree").clean(html)
    assert "javascript" not in page.to_html(**options) + page.to_markdown(**options)
    if "http://x" not in address:
        assert page.to_html(**options) == "<p>See this page.</p>"
        assert page.to_markdown(**options) == "See this page."


def test_addresses_are_relative_to_the_base() -> None:
    html = '<base href="/c/"><p><a href="d">Fog</a> in Porto.'
    assert clean(html).to_markdown(include_links=True) == "[Fog](https://a.example/c/d) in Porto."
    page = SiteCleaner("style-tree").clean('<p><a href="d">Fog</a> in Porto.')
    assert page.to_markdown(include_links=True) == "Fog in Porto."


@pytest.mark.parametrize(
    ("href", "shown"),
    [
        ("http://bücher.example:80/ü?ö", "http://xn--bcher-kva.example:80/%C3%BC?%C3%B6"),
        ("http://пример.рф:8080/a", "http://xn--e1afmkfd.xn--p1ai:8080/a"),
        ("http://jörg@bücher.example/a", "http://j%C3%B6rg@xn--bcher-kva.example/a"),
    ],
)
def test_hosts_of_links_are_in_ascii(href: str, shown: str) -> None:
    html = f"<p>See <a href='{href}'>books</a>."
    assert clean(html).to_markdown(include_links=True) == f"See [books]({shown})."


def test_an_address_that_has_no_bytes_is_none() -> None:
    page = SiteCleaner("style-tree").clean("<p>See <a href=b>books</a>.", url=f"{URL}\udcff/")
    assert page.to_html(include_links=True) == page.html


def test_pictures_stand_between_kept_texts() -> None:
    html = "<p>One</p><img src=/1.png><p>Two</p><div hidden>x</div><img src=/2.png><p>Three</p>"
    page = SiteCleaner("style-tree").clean(html + "<img src=/3.png>", url=URL)
    assert re.findall(r"\d|[A-Z]\w+", page.to_markdown(include_images=True)) == [
        *("One", "1", "Two", "Three"),
    ]


@pytest.mark.parametrize(
    ("attributes", "shown"),
    [
        ("src=1.png", "1.png"),
        ("src=data:image/gif,x data-src=2.png", "2.png"),
        ("src=blank.gif data-lazy-src=3.png srcset='4.png 2x'", "3.png"),
        ("src=5.png srcset='6.png 1x, 7.png 2x'", "5.png"),
        ("srcset=' 8.png, 9.png 2x'", "8.png"),
        ("src=data:image/gif,x data-srcset='10.png 300w'", "10.png"),
        ("src=data:image/gif,x", ""),
        ("src='' srcset=' '", ""),
        ("src=11.png data-src='11-{width}.png'", "11.png"),
        ("src=small.png data-srcset='12.png 300w, 13.png 600w' srcset='14.png 1x'", "12.png"),
        ("data-src='15 16.png'", "15%2016.png"),
        ("src=/17.png data-src=data:image/gif,x", "/17.png"),
        ("src=/1x1.trans.gif srcset='18.png 700w'", "18.png"),
        ("src=data:image/gif,x nitro-lazy-src=/19.png", "/19.png"),
        (
            "src=/Blank.gif?v=1 data-fog-src=true data-cp-src=/a.png data-b-srcset='/20.png 2x'",
            "/20.png",
        ),
        ("src=/lazy_placeholder.gif", ""),
        ("src=/grey-placeholder.png data-src=/blank.gif data-a-src='/{width}.png'", ""),
    ],
)
def test_of_a_picture_that_is_loaded_later_its_own_address_is_shown(
    attributes: str, shown: str
) -> None:
    html = f"<p>Fog <img {attributes} alt=a></p><p>in Porto</p>"
    markdown = clean(html).to_markdown(include_images=True)
    address = f"https://a.example{shown}" if shown[:1] == "/" else f"https://a.example/b/{shown}"
    assert re.findall(r"!\[a\]\((.*)\)", markdown) == ([address] if shown else [])
    with kernels.in_python():
        assert clean(html).to_markdown(include_images=True) == markdown


@pytest.mark.parametrize(
    ("behind", "shown"),
    [
        ("<noscript><img src=/1.png></noscript>", ["/1.png"]),
        (
            " <noscript><picture><img src=/2.png srcset='/3.png 2x'></picture></noscript>",
            ["/2.png"],
        ),
        ("<noscript><img src=/4.png></noscript><noscript><img src=/5.png></noscript>", ["/4.png"]),
        ("<noscript><img src=/6.png><img src=/7.png></noscript>", []),
        ("<noscript><img src=/count.gif width=1 height=1></noscript>", []),
        ("<noscript><img src=/count.gif style='display: none'></noscript>", []),
        ("<noscript><img src=data:image/gif,x></noscript>", []),
        ("<noscript><img src='/{{ name }}.png'></noscript>", []),
        ("<noscript>Fog</noscript>", []),
        ("<noscript></noscript>", []),
        ("<i>Fog</i><noscript><img src=/8.png></noscript>", []),
        (f"<noscript><img src=/9.png alt=a><p>{'Fog ' * 9}</noscript>", ["/9.png"]),  # is read
    ],
)
def test_a_picture_whose_address_stands_in_the_noscript_behind_it_is_shown(
    behind: str, shown: list[str]
) -> None:
    html = f"<p>Fog <img src=data:image/gif,x alt=a>{behind}</p><p>in Porto</p>"
    markdown = clean(html).to_markdown(include_images=True)
    addresses = [f"https://a.example{address}" for address in shown]
    assert re.findall(r"!\[a\]\((.*)\)", markdown) == addresses
    assert build_page(html).table.images[0][0] == "data:image/gif,x"
    with kernels.in_python():
        assert clean(html).to_markdown(include_images=True) == markdown


@pytest.mark.parametrize(
    ("sources", "shown"),
    [
        ("<source srcset='/1.webp 1x, /2.webp 2x'>", ["/1.webp"]),
        ("<source data-srcset='/3.webp 800w'><source srcset=/4.jpg>", ["/3.webp"]),
        ("<source srcset=data:image/gif,x><source data-srcset=/5.jpg>", ["/5.jpg"]),
        ("<source srcset='/{{ name }}.webp'>", []),
        ("<source media=print>", []),
        ("<source srcset=/far.webp>" + "<source>" * 8, []),
    ],
)
def test_a_picture_whose_address_stands_in_a_source_before_it_is_shown(
    sources: str, shown: list[str]
) -> None:
    picture = f"<picture>{sources}<img src=data:image/gif,x alt=a></picture>"
    html = f"<p>Fog {picture} lifted</p><p>in Porto</p>"
    markdown = clean(html).to_markdown(include_images=True)
    addresses = [f"https://a.example{address}" for address in shown]
    assert re.findall(r"!\[a\]\((.*)\)", markdown) == addresses
    with kernels.in_python():
        assert clean(html).to_markdown(include_images=True) == markdown


@pytest.mark.parametrize(
    ("caption", "is_shown"),
    [
        ("Boats in winter. Photo: Ana Lima", True),
        ("<a href=/boats>Boats in winter</a>", False),  # a teaser
        ("Boats <h3>All our boats</h3>", False),
    ],
)
def test_a_caption_that_is_left_out_takes_no_picture_with_it(
    tmp_path: Path, caption: str, is_shown: bool
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('["a.example"]\nkeep = "p"\ndrop = "figcaption"', encoding="utf-8")
    for inner in ("<img src=/1.png alt=a>{}", "{}<img src=/1.png alt=a>"):
        figure = f"<figure>{inner.format(f'<figcaption>{caption}</figcaption>')}</figure>"
        page = SiteCleaner().clean(
            f"<p>Fog lifted.</p>{figure}<p>Ferries sailed.</p>",
            url="https://a.example/",
            overrides=Overrides.read(rules),
        )
        assert page.text == "Fog lifted.\nFerries sailed."
        assert page.to_markdown(include_images=True).count("/1.png") == is_shown


# Words that a style sheet tells apart


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<b>Advert</b><a href=x>Larkham Cable</a>", "Advert Larkham Cable"),
        ("<span>Ana Lima</span><time>3 May</time><span>4 min", "Ana Lima 3 May 4 min"),
        ("<span><i>PHP</i></span><span><i>C</i></span>", "PHP C"),
        ("<code>0x41</code><code>0x42</code>", "0x41 0x42"),
        ("<i>Fog</i><b></b><!-- --><i>Port</i>", "Fog Port"),
        (
            "<span>J</span>oel <b>B</b><i>eck</i> g<i>aming</i> We<b>Try</b>",
            "Joel Beck gaming WeTry",
        ),
        ("<i>20</i><sup>th</sup> H<sub>2</sub><i>O</i>", "20th H2O"),
        ("<code><b>get</b><b>Name</b></code>", "getName"),
        ("<i>“Fog”</i><b>Port</b> <i>a</i><b>(B)</b>", "“Fog”Port a(B)"),
        ("<i>河水</i><b>上涨</b><i>2</i>", "河水上涨2"),
        ("<b>T</b><i>HE HARBOUR</i>", "THE HARBOUR"),
        ("“<b>I</b><i>N 1834</i> <b>X</b><i>YZ</i>", "“IN 1834 X YZ"),
        ("<b>A</b><b>B</b><b>C</b>", "A B C"),
        ("<b>J</b><i>JANE ROE</i>", "J JANE ROE"),
        ("<b>Why?</b><i>Fog.</i><i>Price:</i><b>$9.</b><b>50</b>", "Why? Fog. Price: $9.50"),
    ],
)
def test_words_of_two_elements(html: str, text: str) -> None:
    page = clean(f"<p>{html}")
    assert page.text == text
    assert letters(text) == letters(page.blocks[0].text)
    assert text_of(shown_by_markdown(page.markdown)) == letters(text)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<code><a href=/x>foo()</a></code>", "[`foo()`](https://a.example/x)"),
        ("<code>a <a href=/x>b</a>(c)</code>", "`a `[`b`](https://a.example/x)`(c)`"),
        ("<code><a href=/x>f`g</a></code>", "[``f`g``](https://a.example/x)"),
        ("<a href=/x><code>d</code></a>", "[`d`](https://a.example/x)"),
        ("<code><a>x</a> y</code>", "`x y`"),
    ],
)
def test_links_in_code(html: str, markdown: str) -> None:
    page = clean(f"<p>Said {html}")
    found = page.to_markdown(include_links=True)
    assert found == f"Said {markdown}"
    roots = shown_by_markdown(found), shown_by_html(page.to_html(include_links=True))
    drawn, given = ([(a.get("href"), text_of(a)) for a in root.iter("a")] for root in roots)
    assert drawn == given


def test_quotations_in_quotations_keep_their_marks() -> None:
    assert "<q>He said <q>no</q></q>" in clean("<p>Said <q>He said <q>no</q></q>").html


@pytest.mark.parametrize(
    ("html", "text", "markdown"),
    [
        ("10<sup>6</sup> m<sup>-2</sup>", "10⁶ m⁻²", "10⁶ m⁻²"),
        ("2031<sup><a href=#n>12</a></sup> a<sup>1, 2</sup>", "2031¹² a¹, ²", "2031¹² a¹, ²"),
        ("10<sup>–3</sup> a<sup>1–3</sup>", "10⁻³ a¹⁻³", "10⁻³ a¹⁻³"),
        ("10<sup>6.5</sup> <i>m</i><sup>2/3</sup>", "10^6.5 m^2/3", "10^6.5 *m*^2/3"),
        ("5<sup>1/2</sup> and 499<sup>.00</sup>", "5 1/2 and 499.00", "5 1/2 and 499.00"),
        ("see <sup>1.5</sup>", "see 1.5", "see 1.5"),
        ("in 2031<sup>[1]</sup>, 20<sup>th</sup>", "in 2031[1], 20th", "in 2031\\[1\\], 20th"),
        ("<q>No</q>, says <i>she</i>", "“No”, says she", "“No”, says *she*"),
        ("<q>“No”</q> <q><q>a</q></q>", "“No” ““a””", "“No” ““a””"),
        ("it<em><del>'s</del></em> x", "it's x", "it's x"),
        ("<s>80</s> <del>70</del> 60", "80 70 60", "~~80~~ ~~70~~ 60"),
        ("<s><b>80</b></s><s>7</s> ~~6~~", "80 7 ~~6~~", "~~**80**~~ ~~7~~ \\~\\~6\\~\\~"),
        ("<b>fo</b><strong>gs</strong> ever", "fogs ever", "**fogs** ever"),
        ("<b>Hi</b><b><i>,</i></b><b> you</b>", "Hi, you", "**Hi,** **you**"),
    ],
)
def test_exponents_quotations_and_what_is_struck_out(html: str, text: str, markdown: str) -> None:
    page = clean(f"<p>Said {html}")
    assert page.text == f"Said {text}"
    assert page.markdown == f"Said {markdown}"
    assert text_of(shown_by_markdown(page.markdown)) == letters(page.text)
    assert page.to_html(include_formatting=False) == f"<p>Said {text}</p>"
    assert text_of(shown_by_html(page.html)) == text_of(lxml.html.fromstring(f"<p>Said {html}"))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("in 1834<span><a href='https://a.example/b#footnote-1'>1</a></span> by", "in 1834¹ by"),
        ("12,000<a href='#footnote-2'>2</a> people", "12,000² people"),
        ("the <b>town</b><a href='#fn:12'>12</a>", "the town¹²"),
        ("it,<a href=#_ftn3>3</a>,<a href=#easy-footnote-bottom-4-99>4</a>", "it,³,⁴"),
        ("the town<sup><a href=#fn1>1</a></sup>", "the town¹"),
        ("the town[<a href=#fn1>1</a>,<a href=#fn2>2</a>]", "the town[1,2]"),
        ("of <a href=#fn1>1</a> town", "of 1 town"),
        ("page<a href=#p2>2</a>", "page2"),
        ("page<a href=/notes2>2</a>", "page2"),
        ("in 1834<a href=#fn1>b1</a>", "in 1834b1"),
    ],
)
def test_the_number_of_a_note_is_raised(html: str, text: str) -> None:
    page = clean(f"<p>Built {html}")
    assert page.text == f"Built {text}"
    assert text_of(shown_by_markdown(page.markdown)) == letters(page.text)
    raised = "".join(re.findall("(?<=<sup>)[0-9]+", re.sub("<a [^>]*>", "", page.html)))
    assert raised == "".join(re.findall("[¹²³⁴]", text)).translate(str.maketrans("¹²³⁴", "1234"))
    assert page.html.count("<sup>") == page.html.count("</sup>") == len(re.findall("[¹²³⁴]+", text))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("Les avis<span>de nos clients</span>", "Les avis de nos clients"),
        ("All of it<span><span>by Ana Lima", "All of it by Ana Lima"),
        ("Fog on the S<span>treet", "Fog on the Street"),
        ("Less CO<span>2</span> in the a<span>ir", "Less CO2 in the air"),
        ("Smart<span>News", "SmartNews"),
        ("The fog<b>gy</b> day<i>s</i>", "The foggy days"),
        ("Of FOTO<span>GALERIE", "Of FOTOGALERIE"),
    ],
)
def test_a_second_line_of_a_heading(html: str, text: str) -> None:
    page = clean(f"<h2>{html}")
    assert page.text == text
    assert page.to_html(include_formatting=False) == f"<h2>{text}</h2>"


def test_many_elements_side_by_side_are_read() -> None:
    heading = clean("<h2>Fog of the" + "<span>sea </span>and" * 10_000)
    assert heading.text.startswith("Fog of the sea and")
    page = clean("<p>" + "<b>Fog</b><i>Port</i>" * 10_000)
    assert page.text.split() == ["Fog", "Port"] * 10_000


# Formulas


@pytest.mark.parametrize(
    ("math", "text"),
    [
        ("<mi>x</mi><mo>=</mo><mn>1</mn>", "x=1"),
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x^2"),
        ("<msup><mn>10</mn><mn>3</mn></msup>", "10^3"),
        ("<mn>3</mn><mo>&#x2062;</mo><mfrac><mn>1</mn><mn>2</mn></mfrac>", "3·1/2"),
        ("<mn>2</mn><mo>&#x2062;</mo><mi>x</mi>", "2x"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "x^(1/3)"),
        ("<mroot><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow><mn>3</mn></mroot>", "(x+1)^(1/3)"),
        ("<mi>f</mi><mfenced><mi>x</mi></mfenced>", "f(x)"),
        ("<mfenced open='[' close=']'><mn>1</mn><mn>2</mn></mfenced>", "[1,2]"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_i^2"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a+b)/c"),
        ("<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>", "√(a+b)"),
        ("<mi>y</mi><mtext> if  x </mtext><mi>sin</mi><mo>\u2061</mo><mi>x</mi>", "y if x sinx"),
        ("<semantics><mi>x</mi><annotation>no</annotation></semantics>", "x"),
        (
            "<mtable><mtr><mtd>a</mtd><mtd>b</mtd></mtr><mtr><mtd>c</mtd><mtd>d</mtd></mtr></mtable>",
            "a,b;c,d",
        ),
        ("", ""),
    ],
)
def test_formulas_without_tex(math: str, text: str) -> None:
    assert symbols(lxml.html.fragment_fromstring(f"<math>{math}</math>")) == text


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_formula_that_is_a_picture_alone_is_text(is_kept: bool) -> None:
    picture = "<dl><dd><img src=/math/render/svg/a alt='a+b=c'></dd></dl><img src=/b.png alt=b>"
    hidden = "<div hidden><img src=/math/render/svg/c alt=c></div>"
    behind = "<p>and so on." if is_kept else ""
    page = clean(f"<p>That is{picture}{hidden}{behind}")
    lines = ["That is", "$a+b=c$", "and so on."] if is_kept else ["That is"]
    assert page.text.splitlines() == lines
    assert ("$<code>a+b=c</code>$" in page.html) == is_kept
    assert ("$`a+b=c`$" in page.markdown) == is_kept
    assert page.to_markdown(include_images=True).count("![b]") == is_kept


@pytest.mark.parametrize(
    ("alternative", "tex"),
    [
        ("&#36;&#97;&#95;&#49;&#36;", "a_1"),
        ("$$a_1$$", "a_1"),
        (r"\( a_1 \)", "a_1"),
        (r"\[a \\[2pt] \left[b\right]\]", r"a \\[2pt] \left[b\right]"),
        (r"$\$5$", r"\$5"),
        (r"\$5", r"\$5"),
        (r"$5\$", r"$5\$"),
        ("$a$ and $b$", "$a$ and $b$"),
        (r"\(a\) and \(b\)", r"\(a\) and \(b\)"),
        ("$$a$$ and $$b$$", "$$a$$ and $$b$$"),
        ("$a", "$a"),
        ("$", "$"),
        ("$$", "$$"),
        ("$ $", "$ $"),
    ],
)
def test_delimiters_of_a_formula_are_no_part_of_it(alternative: str, tex: str) -> None:
    page = clean(f'<p>So <img src=/ql-cache/quicklatex.com-1.svg alt="{alternative}"> is right.')
    assert page.text == f"So ${tex}$ is right."
    assert page.markdown == f"So $`{tex}`$ is right."
    assert f"So $<code>{tex}</code>$ is right." in page.html


def test_long_formulas_are_bounded() -> None:
    deep = "<mrow>" * 3000 + "<mi>x</mi>" * 3000
    for math in (
        deep,
        "<mi>x</mi>" * 50_000,
        f"<annotation encoding=TeX>{'x' * 9000}</annotation>",
    ):
        page = SiteCleaner("style-tree").clean(f"<p>Where <math>{math}</math> holds.")
        assert 0 < len(page.text) < 3000


@pytest.mark.parametrize("mark", ["\x01img0\x02", "\x01img99\x02", "\x01a0\x02x", "\x03", "\x04"])
def test_a_formula_cannot_forge_the_marks_of_a_page(mark: str) -> None:
    image = "<img src='/latex?x' alt='long long long'>"
    html = f"{image}<p>See <math alttext='{mark * 3}y'></math> which says a lot.</p><p>The end.</p>"
    page = clean(html)
    shown = re.sub("[\x01-\x04]", "", mark) * 3 + "y"
    assert page.text.split("\n")[-2:] == [f"See ${shown}$ which says a lot.", "The end."]
    assert page.html.endswith(
        f"<p>See $<code>{shown}</code>$ which says a lot.</p>\n<p>The end.</p>"
    )
    assert page.markdown.endswith("which says a lot.\n\nThe end.")


@pytest.mark.parametrize(
    ("ruby", "text"),
    [
        ("漢<rt>kan</rt>", "漢 (kan)"),
        ("漢<rt></rt>", "漢"),
        ("漢<rt> </rt>字<rt>ji</rt>", "漢 字 (ji)"),
        ("漢<rt><img src=a></rt>", "漢"),
        ("<rb>東</rb><rb>京</rb><rt>とう</rt><rt>きょう</rt>", "東京 (とうきょう)"),
        (
            "<rb>北</rb><rb>京</rb><rt>bei</rt> <rt>jing</rt><rt></rt>市<rt>shi</rt>",
            "北京 (bei jing)市 (shi)",
        ),
        ("漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rp>(</rp><rt>ji</rt><rp>)</rp>", "漢 (kan)字 (ji)"),
        ("漢<rt></rt><rt>kan</rt>", "漢 (kan)"),
    ],
)
def test_each_reading_of_characters_has_brackets_where_it_says_something(
    ruby: str, text: str
) -> None:
    page = clean(f"<p>Said <ruby>{ruby}</ruby>.")
    assert page.text.replace(" (", "(") == f"Said {text}.".replace(" (", "(")


@pytest.mark.parametrize("kind", ["ul", "ol"])
def test_lists_side_by_side_stay_apart(kind: str) -> None:
    lists = "".join(f"<{kind}><li>{name}1<li>{name}2</{kind}>" for name in "abc")
    page = clean(f"<p>Some text.</p>{lists}<blockquote>{lists}</blockquote>")
    shown = shown_by_markdown(page.markdown)
    for place in (shown, shown.find(".//blockquote")):
        assert [letters(text_of(part)) for part in place.findall(kind)] == ["a1a2", "b1b2", "c1c2"]


@pytest.mark.parametrize(
    "html",
    [
        "<dl><dd><ol><li>a<li>b</ol></dd><dd><ol start=5><li>c<li>d</ol></dl>",
        "<ul><li><dl><dd><ol><li>a<li>b</ol></dl><dl><dd><ol start=5><li>c<li>d</ol></dl></ul>",
    ],
)
def test_lists_in_definitions_side_by_side_stay_apart(html: str) -> None:
    shown = shown_by_markdown(clean(html).markdown)
    lists = [(part.get("start"), letters(text_of(part))) for part in shown.iter("ol")]
    assert lists == [(None, "ab"), ("5", "cd")]


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ul><li>a</li><ul><li>b<li>c</ul><li>d</ul>", "- a\n  - b\n  - c\n- d"),
        ("<ol><li>a</li><ol><li>b</ol><ul><li>c</ul><li>d</ol>", "1. a\n   1. b\n\n   - c\n2. d"),
        ("<ul><ul><li>a</ul><li>b</ul>", "- a\n\n* b"),
        ("<ul><li>a</li><div><ul><li>b</ul></div></ul>", "- a\n\n* b"),
    ],
)
def test_a_list_right_in_a_list_is_shown_within_the_item_before_it(
    html: str, markdown: str
) -> None:
    page = clean(html)
    assert page.markdown == markdown
    shown = shown_by_markdown(page.markdown)
    depths = [sum(1 for _ in item.iterancestors("li")) for item in shown.iter("li")]
    assert depths == ([0, 0] if "*" in markdown else [0, 1, 1, 0])


def test_controls_in_a_heading_are_no_headings() -> None:
    page = clean("<h3>Tea <div><button>Once</button><button>Twice</button></div></h3><p>Boil.")
    assert page.markdown == "### Tea\n\nOnce\n\nTwice\n\nBoil."
    assert page.html == "<h3>Tea</h3>\n<p>Once</p>\n<p>Twice</p>\n<p>Boil.</p>"
    numbered = clean("<h2><span>1.</span><div><button>How?</button></div></h2><p>So.")
    assert numbered.markdown.endswith("## How?\n\nSo.")
    question = clean("<p>Tea.</p><h3><button>How long?</button></h3><p>Three minutes.")
    assert question.markdown == "Tea.\n\n### How long?\n\nThree minutes."


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<div role=heading aria-level=3>Tea</div>", "### Tea"),
        ("<div role=Heading>Tea</div>", "## Tea"),
        ("<p role=heading aria-level=9>Tea</p>", "###### Tea"),
        ("<h4 role=heading aria-level=2>Tea</h4>", "#### Tea"),
        ("<ul><li role=heading>Tea</ul>", "- Tea"),
        ("<div role=banner aria-level=3>Tea</div>", "Tea"),
        ("<div role=heading><button>Tea</button></div>", "## Tea"),
        ("<div role=heading><p>Tea</p></div>", "Tea"),
        (f"<div role=heading>{'Tea' * 100}</div>", "Tea" * 100),
        ("<div role=heading>Tea<div>Too</div></div>", "Tea\n\nToo"),
    ],
)
def test_a_heading_by_its_role(html: str, markdown: str) -> None:
    page = clean(f"<p>Here.</p>{html}<p>Boil.</p>")
    assert page.markdown == f"Here.\n\n{markdown}\n\nBoil."
    with kernels.in_python():
        again = clean(f"<p>Here.</p>{html}<p>Boil.</p>")
        assert (again.table, again.html) == (page.table, page.html)


def test_terms_in_a_numbered_item_do_not_end_it() -> None:
    page = clean("<ol><li><dt>A<dt>B<dd>C</ol>")
    assert page.html == "<ol>\n<li>A<p>B</p>\n<p>C</p>\n</li>\n</ol>"
    assert page.markdown == "1. A\n\n   B\n\n   C"


@pytest.mark.parametrize(
    ("html", "numbers"),
    [
        ("<ol start=' +4'><li>a<li>b</ol>", "4 5"),
        ("<ol start=-1><li>a<li value=x>b<li value=9>c<li>d</ol>", "1 2 9 10"),
        ("<ol start=0><li>a<li><ol start=8><li>b</ol><li>c</ol>", "0 1 8 2"),
        ("<ol start=123456><li>a</ol>", "123456"),
        ("<ol start=99999999999><li>a</ol>", "1"),
        ("<ol start=999999999><li>a<li>b</ol>", "999999999 999999999"),
        ("<ul><li value=4>a</ul>", ""),
        ("<ol reversed><li>a<li>b<ol><li>c</ol><li>d</ol>", "3 2 1 1"),
        ("<ol reversed start=10><li>a<li>b<li value=4>c<li>d</ol>", "10 9 4 3"),
        ("<ol reversed start=1><li>a<li>b<li>c</ol>", "1 0 0"),
        ("<ul style='margin: 0; LIST-STYLE: inside decimal'><li>a<li>b</ul>", "1 2"),
        (
            "<ul><li style='list-style-type: decimal;'>a<ul><li>b</ul>"
            "<li value=7 style='list-style:decimal-leading-zero'>c</ul>",
            "1 7",
        ),
        ("<ul><li style='list-style-type: decimal'>a<li>b</ul>", ""),
        ("<ul><li style='list-style-type: disc; width: 4.5em'>a<li>b</ul>", ""),
    ],
)
def test_numbers_of_items(html: str, numbers: str) -> None:
    page = clean(f"<p>Here</p>{html}")
    assert re.findall(r"(\d+)[.)]", page.markdown) == numbers.split()
    assert ("<ol" in page.html) == bool(numbers)
    with kernels.in_python():
        assert clean(f"<p>Here</p>{html}").table == page.table


@pytest.mark.parametrize(
    "span",
    ["colspan=0", "colspan=-1", "rowspan=0", "rowspan=99999", "colspan=x", "rowspan=2 colspan=1"],
)
def test_cells_that_cover_others_are_where_a_browser_has_them(span: str) -> None:
    page = clean(f"<table><tr><td {span}>a<td>b<tr><td>c<td>d<tr><td>e<td>f</table>")
    first, _, second, third = page.markdown.split("\n")
    is_tall = span in {"rowspan=0", "rowspan=99999", "rowspan=2 colspan=1"}
    assert first == ("| a | b |  |" if is_tall else "| a | b |")
    assert second == ("|  | c | d |" if is_tall else "| c | d |")
    assert third.startswith("|  | e" if is_tall and "2" not in span else "| e")
    with kernels.in_python():
        again = clean(f"<table><tr><td {span}>a<td>b<tr><td>c<td>d<tr><td>e<td>f</table>")
        assert again.table == page.table


@pytest.mark.parametrize("tag", ["code", "kbd", "samp", "tt"])
def test_a_picture_in_code_stands_between_it(tag: str) -> None:
    page = clean(f"<ul><li><{tag}>a<img src=k.png>b</{tag}> Press it.<p>Then wait.</p></li></ul>")
    picture = "![](https://a.example/b/k.png)"
    assert page.to_markdown(include_images=True) == (f"- `a`{picture}`b` Press it.\n\n  Then wait.")
    alone = clean(f"<ul><li><{tag}><img src=k.png></{tag}> Press it.<p>Then wait.</p></li></ul>")
    assert alone.to_markdown(include_images=True) == f"- {picture} Press it.\n\n  Then wait."


def test_a_picture_without_an_address_leaves_nothing() -> None:
    html = "<p>Fog.</p><p><img src=data:image/gif,x></p><ul><li><img src=data:x><li>low</ul>"
    page = clean(html)
    assert page.to_markdown(include_images=True) == page.markdown == "Fog.\n\n- low"
    assert page.to_html(include_images=True) == page.html


def test_lists_and_code_in_a_table_with_headers() -> None:
    rows = "<tr><td>Basic<td><ul><li>one <b>user</b><li>disk</ul><tr><td>Pro<td><pre>all()</pre>"
    page = clean(f"<table><tr><th>Plan<th>What is in it{rows}</table>")
    assert page.markdown.split("\n")[2:] == ["| Basic | one **user** disk |", "| Pro | `all()` |"]
    assert "<td>one <strong>user</strong><br>disk</td>" in page.html
    assert "|" not in clean(f"<table>{rows}</table>").markdown


def test_the_footer_of_a_table_is_its_last_row() -> None:
    rows = "<tfoot><tr><td>Total<td>30</tfoot><tbody><tr><td>Stone<td>10<tr><td>Work<td>20"
    page = clean(f"<table><thead><tr><th>Item<th>Cost</thead>{rows}</table>")
    assert page.markdown.split("\n")[2:] == ["| Stone | 10 |", "| Work | 20 |", "| Total | 30 |"]
    assert page.html.endswith("<tr><td>Total</td><td>30</td></tr>\n</table>")
    outer = clean(f"<table><tfoot><tr><td><table><tr><td>a<td>b{rows}</table></table>")
    assert outer.markdown.split("\n")[0] == "| a | b |"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<pre><code class="hljs language-Python">x = 1\ny = 2</code></pre>', "python"),
        ('<pre class="language-c++"><div>int a;</div><div>int b;</div></pre>', "c++"),
        ('<pre><code class="lang-js"><div>a</div><div>b</div></code></pre>', "js"),
        ('<pre class="src src-emacs-lisp">(a)</pre>', "emacs-lisp"),
        ('<pre class="sourceCode"><code class="sourceCode c">int a;</code></pre>', "c"),
        (
            '<div class="highlight-python3 notranslate"><div class="highlight"><pre>x = 1</pre>'
            "</div></div>",
            "python",
        ),
        ('<div class="highlight highlight-source-shell"><pre>ls</pre></div>', "shell"),
        (
            '<div class="language-ruby highlighter-rouge"><div class="highlight"><pre><code>puts'
            "</code></pre></div></div>",
            "ruby",
        ),
        ('<div class="language-python highlight"><pre><code>x</code></pre></div>', "python"),
        ('<div class="language-js vp-adaptive-theme"><pre>x</pre></div>', "js"),
        ('<div class="language-sh line-numbers-mode"><pre>x</pre></div>', "sh"),
        (
            '<div class="mw-highlight mw-highlight-lang-ini mw-content-ltr"><pre>x</pre></div>',
            "ini",
        ),
        ('<pre data-language="rust"><code>x</code></pre>', "rust"),
        ('<pre class="chroma"><code data-lang="Go">x</code></pre>', "go"),
        ('<pre class="EnlighterJSRAW" data-enlighter-language="css">x</pre>', "css"),
        ('<pre data-lang="a b"><code data-lang="text">x</code></pre>', ""),
        ('<pre><code class="hljs java">x</code></pre>', "java"),
        ('<pre><code class="bash hljs">x</code></pre>', "bash"),
        ('<pre><code class="hljs copyable">x</code></pre>', ""),
        ('<pre class="brush: php; title: x">x</pre>', "php"),
        ('<pre class="lang:python decode:true">x</pre>', "python"),
        ('<pre class="lang:default decode:true">x</pre>', ""),
        ('<div class="language-en box"><pre>x</pre></div>', ""),
        ('<div class="lang-en"><pre>x</pre></div>', ""),
        ('<div class="highlight-box"><pre>x</pre></div>', ""),
        ('<div class="language-c highlighter-rouge"><div><div><pre>x</pre></div></div></div>', ""),
        ('<pre><code class="lang-auto">x</code></pre>', ""),
        ('<pre><code class="language-`x` language-a\n#b">x</code></pre>', "a"),
        ("<pre>x</pre>", ""),
    ],
)
def test_code_names_its_language(html: str, language: str) -> None:
    first, *_, last = clean(html).markdown.split("\n")
    assert (first, last) == (f"```{language}", "```")
    [fence] = [token for token in MarkdownIt().parse(clean(html).markdown) if token.type == "fence"]
    assert fence.info == language
    with kernels.in_python():
        assert clean(html).markdown.startswith(f"```{language}\n")


def test_a_long_class_of_code_is_not_searched_for_long() -> None:
    page = clean(f'<pre><code class="{"sourceCode " * 100_000}">x</code></pre>')
    assert page.markdown == "```\nx\n```"


def test_a_table_in_a_cell_moves_no_other_cell() -> None:
    inner = "<table><tr><td></td></tr></table>"
    page = clean(f"<table><tr><td>a{inner}</td><td>b</td></tr><tr><td>c<td>d</table>")
    assert page.markdown.split("\n")[::2] == ["| a | b |", "| c | d |"]


def test_long_code_deep_in_lists_is_not_indented_line_by_line() -> None:
    deep = "<blockquote>" * 12 + "<pre>x" + "\n" * 20_000 + "y"
    page = clean(f"<p>Fog</p>{deep}")
    assert len(page.markdown) < 3 * len(deep)
    assert "\n> > > " in clean(f"<p>Fog</p>{deep.replace(chr(10) * 19_000, '')}").markdown
    many = "<blockquote>" * 12 + f"<pre>x{chr(10) * 10_000}y</pre>" * 20
    assert len(clean(f"<p>Fog</p>{many}").markdown) < 4 * len(many)


def test_a_dash_and_a_colon_are_no_table() -> None:
    page = clean("<p>a<br>-:</p>")
    shown = shown_by_markdown(page.markdown)
    assert text_of(shown) == "a-:"
    assert not shown.findall(".//table")


def test_a_table_of_too_many_columns_is_none() -> None:
    rows = "<tr><td colspan=49>a<td>b<tr><td>c<td>d"
    assert "| a |" in clean(f"<table>{rows}</table>").markdown
    assert "|" not in clean(f"<table>{rows.replace('49', '50')}</table>").markdown


def test_a_table_that_would_mostly_be_empty_is_none() -> None:
    wide = "<tr><td colspan=40>a<td>b<tr><td>c<td>d"
    assert "| a |" in clean(f"<table>{wide}{'<tr><td>e' * 20}</table>").markdown
    page = clean(f"<table>{wide}{'<tr><td>e' * 2000}</table>")
    assert "|" not in page.markdown
    assert "<table>" not in page.html


def test_of_a_table_a_part_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('["a.example"]\ndrop = ".no"')
    rules = Overrides.read(path)

    def markdown(rows: str) -> str:
        html = f"<p>Fog</p><table>{rows}</table>"
        return SiteCleaner("style-tree").clean(html, url=URL, overrides=rules).markdown

    most = markdown("<tr><th>Weight<td>1.4 kg<tr><th>Height<td class=no>2 m")
    assert most == "Fog\n\n| Weight | 1.4 kg |\n| --- | --- |\n| Height |  |"
    half = markdown("<tr><td class=no>Menu<td>The port<tr><td class=no>News<td>is closed")
    assert half == "Fog\n\nThe port\n\nis closed"
    column = markdown("<tr><td>Fog<td class=no>7" * 2 + "<tr><td>Rain" * 3)
    assert "|" not in column


def test_of_too_many_inline_elements_none_are_shown() -> None:
    for number, is_shown in ((MOST_INLINE, True), (MOST_INLINE + 1, False)):
        page = clean(f"<p>Here {'<b>x</b> ' * number}")
        assert page.text.count("x") == number
        assert ("<strong>x</strong>" in page.html) is is_shown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<code>a</code><code>b</code><b>!x</b>", "`a`b!x"),
        ("<code>a</code><code>b</code><del>-x</del>", "`a`b-x"),
        ("<code>a</code><code>b</code><b>x</b>", "`a`b**x**"),
        ("<code>a</code><b><code>b</code></b>", "`a`**`b`**"),
        ("x<b><code>a</code></b><code>b</code><i>!x</i>", "x`a`b!x"),
    ],
)
def test_code_behind_code_is_text_to_what_stands_beside_it(html: str, markdown: str) -> None:
    assert clean(f"<p>{html}</p>").markdown == markdown


def test_a_link_over_many_blocks_cannot_multiply_a_page() -> None:
    link = f"<a href='{'x' * 1900}'>{{}}</a>"
    many = "<p>First <a href=y>b</a>.<p>" + link.format("Word<br><br>" * 5000)
    page = SiteCleaner("style-tree", include_links=True).clean(many, url=URL)
    assert "<a" not in page.html
    assert len(page.markdown) < len(many)
    few = clean(many.replace("Word<br><br>" * 5000, "Word<br><br>" * 1000), include_links=True)
    assert few.html.count("<a ") == 1001
    alone = clean("<p>" + link.format("Word") * 2500, include_links=True)
    assert alone.html.count("<a ") == 2500  # as long as the page is


def test_a_long_base_cannot_multiply_a_link_over_many_blocks() -> None:
    html = f"<base href='/{'x' * 1900}/'><a href=y>{'Word<br><br>' * 5000}</a>"
    page = SiteCleaner("style-tree", include_links=True).clean(html, url=URL)
    assert len(page.html) < 3 * len(html)


def test_a_long_base_cannot_multiply_a_page() -> None:
    head = f"<base href='http://a.example/{'x/' * 900}'>"
    many = f"{head}<p>Word {'<a href=1>b</a> ' * 5000}<a href='http://b.example/'>more</a>"
    page = SiteCleaner("style-tree", include_links=True).clean(many)
    assert page.html.count("<a ") == 1
    assert len(page.markdown) < len(many)
    few = SiteCleaner("style-tree", include_links=True).clean(many.replace("x/" * 900, "x/"))
    assert few.html.count("<a ") == 5001


# What must not come through

IMAGE = "<img src=x onerror=alert(1)>"
SHOWN_IMAGE = IMAGE.replace("<", "&lt;")


@pytest.mark.parametrize(
    "html",
    [
        f"<table><tr><td>a<td>b<tr><td><code>x|{SHOWN_IMAGE}</code><td>d</table>",
        f"<table><tr><td>a<td>b<tr><td><code>x\\|{SHOWN_IMAGE}</code><td>d</table>",
        f"<table><tr><td>a<td>b<tr><td><code>x\\\\|{SHOWN_IMAGE}</code><td>d</table>",
        f"<table><tr><td>a<td>b<tr><td><math alttext='|{SHOWN_IMAGE}|'></math><td>d</table>",
        f"<ul><li><pre>code&#13;{SHOWN_IMAGE}</pre></ul>",
        f"<blockquote><pre>code&#13;{SHOWN_IMAGE}</pre></blockquote>",
        f"<pre>code&#13;&#10;{SHOWN_IMAGE}&#13;&#13;more</pre>",
    ],
)
def test_what_is_shown_as_text_stays_text(html: str) -> None:
    page = clean(f"<p>Some text before.</p>{html}")
    shown = shown_by_markdown(page.markdown)
    assert not shown.findall(".//img")
    assert text_of(shown) == letters(" ".join(block.text for block in page.blocks))
    assert "\r" not in page.text + page.markdown + page.html


def test_code_in_cells_keeps_its_bars() -> None:
    cell = "<table><tr><td><code>{}</code><td>b<tr><td>c<td>d</table>"
    assert "| `a\\|b` | b |" in clean(cell.format("a|b")).markdown
    assert r"| a\\\|b | b |" in clean(cell.format(r"a\|b")).markdown  # it cannot be code
    assert "`a|b`" in clean("<p>See <code>a|b</code>.").markdown


def test_long_addresses_are_left_out_before_they_are_joined() -> None:
    long = "x/" * 1500
    assert clean(f"<a href='/{long}'>Fog</a>").to_markdown(include_links=True) == "Fog"
    html = f"<base href='http://b.example/{long}'><p><a href=d>Fog</a> in Porto."
    linked = clean(html).to_markdown(include_links=True)
    assert linked == "[Fog](https://a.example/b/d) in Porto."


_PIECES = st.one_of(
    st.sampled_from(["a", " ", "*", ".", "é"]),
    st.sampled_from(["`x`", "["]).map(inline_markdown._Mark),
)
_PARTS = st.recursive(_PIECES, lambda inner: st.lists(inner, max_size=3), max_leaves=15)


@given(st.lists(_PARTS, max_size=6))
def test_delimiters_that_say_nothing_are_left_out(made: list[Any]) -> None:
    parts: list[Any] = []

    def add(part: Any) -> None:
        if not isinstance(part, list):
            parts.append(part)
            return
        # A list stands for what is in bold.
        mark = inline_markdown._Mark("**", len(parts))
        parts.append(mark)
        for piece in part:
            add(piece)
        parts.append(mark)

    for part in made:
        add(part)
    slow = list(parts)
    opened: dict[int, int] = {}
    for index, part in enumerate(parts):
        begin = opened.setdefault(part.pair, index) if getattr(part, "pair", -1) >= 0 else index
        if begin < index:
            texts = [
                part.text if isinstance(part, inline_markdown._Mark) else part for part in slow
            ]
            before, after = "".join(texts[:begin])[-1:], "".join(texts[index + 1 :])[:1]
            inside = f"**{''.join(texts[begin + 1 : index])}**"
            opens = inline_markdown._may_stand(part, before or " ", inside[2])
            if not (opens and inline_markdown._may_stand(part, after or " ", inside[-3])):
                slow[begin] = slow[index] = ""
    inline_markdown._drop_invalid_pairs(parts)
    assert parts == slow


# Any page


def fragments() -> st.SearchStrategy[str]:
    text = st.text(alphabet="ab 1.!*_`[]()\\&;<$|\r\n", min_size=1, max_size=6)
    tags = ["b", "i", "em", "code", "a href='/x_(y)*`&amp;copy;'", "a href=x", "span", "sub", "kbd"]
    return st.recursive(
        st.one_of(
            text.map(lambda t: t.replace("&", "&amp;").replace("<", "&lt;").replace("\r", "&#13;")),
            st.sampled_from(["<br>", "<img src=i.png alt='*a*]'>", "&#1;", "&#4;", "&#2;b&#3;"]),
        ),
        lambda inner: st.builds(
            lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
            st.sampled_from(tags),
            st.lists(inner, max_size=4),
        ),
        max_leaves=12,
    )


@settings(max_examples=100)
@given(st.lists(fragments(), max_size=4), st.sampled_from(["p", "li", "h2", "td", "pre"]))
def test_any_inline_content_is_shown_as_it_is(parts: list[str], tag: str) -> None:
    html = f"<{tag}>{''.join(parts)}</{tag}>"
    html = f"<table><tr>{html}<td>x<tr><td>y<td>z</table>" if tag == "td" else html
    page = clean(f"<body>{html}</body>")
    text = letters(page.text)
    assert text == letters("".join(block.text for block in page.blocks))
    for options in ({}, {"include_links": True, "include_images": True}):
        assert text_of(shown_by_markdown(page.to_markdown(**options))) == text
        assert text_of(shown_by_html(page.to_html(**options))) == text


def test_numbers_that_do_not_count_up_by_one_are_lists_of_their_own() -> None:
    page = clean("<ol reversed><li>Third<li>Second<li>First</ol><ol><li>a<li value=5>b<li>c</ol>")
    assert page.markdown == "3. Third\n2) Second\n1. First\n\n1) a\n5. b\n6. c"
    assert page.html.startswith('<ol start="3" reversed>\n<li>Third</li>\n<li>Second</li>')
    assert is_written(page.html)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<hr><p>a</p><hr><hr><p>b</p><hr>", "a\n\n---\n\nb"),
        ("<h1>t</h1><hr><p>a</p><div>x<hr>y</div>", "# t\n\na\n\nx\n\n---\n\ny"),
        ("<p>a</p><ul><li>b<hr>c</li><hr><li>d</ul>", "a\n\n- b\n\n  ---\n\n  c\n- d"),
        ("<blockquote><p>a</p><hr><p>b</blockquote>", "> a\n>\n> ---\n>\n> b"),
        ("<ul><li>a</ul><hr><p>b</p><hr><ul><li>c</ul>", "- a\n\n---\n\nb\n\n---\n\n- c"),
        ("<p>a</p><hr style='display: none'><p>b</p>", "a\n\nb"),
        ("<div><p>a</p></div><hr><div><p>b</p></div>", "a\n\nb"),
    ],
)
def test_a_rule_between_two_texts_is_a_thematic_break(html: str, markdown: str) -> None:
    page = clean(html)
    assert page.markdown == markdown
    assert "-" not in page.text
    assert is_written(page.html)
    for root in (shown_by_markdown(page.markdown), shown_by_html(page.html)):
        assert sum(1 for _ in root.iter("hr")) == markdown.count("---")
        assert text_of(root) == letters(page.text)


def test_what_is_left_out_leaves_no_thematic_break_behind(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("['a.example']\ndrop = ['.ad']\n", encoding="utf-8")
    html = "<p>a</p><hr><p class=ad>x</p><hr><p>b</p><hr><p class=ad>y</p>"
    page = SiteCleaner("style-tree").clean(html, url=URL, overrides=Overrides.read(path))
    assert page.markdown == "a\n\n---\n\nb"


def test_a_menu_is_a_list() -> None:
    page = clean("<p>Here</p><menu><li>a<menu><li>b</menu></li></menu>")
    assert page.markdown == "Here\n\n- a\n  - b"
    assert page.html == "<p>Here</p>\n<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>"


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        (
            "<span class=line>a</span><span class=line></span><span class=line>b</span>",
            "a||b",
        ),
        ('<span class="line">a</span>\n<span class="line">b</span>', "a|b"),
        ('<span class="line"><i>a\n</i></span><span class="line"><i>b</i></span>', "a|b"),
        ('<span class="line">1</span><br><span class="line">2</span>', "1|2"),
        ('<span class="line">a</span><span class="note">b</span>', "ab"),
        ('<span class="outline">a</span><span class="outline">b</span>', "ab"),
        ('<span style="display:block">a</span><span style="display:block">b</span>', "a|b"),
        ("<div>a</div><div>   </div><div>b</div>", "a||b"),
        ("<div>a</div><div><br></div><div>  b</div>", "a||  b"),
        ('<div class="line">a</div><div class="line"></div><div class="line">b</div>', "a||b"),
        ("<div>a</div>\n<div>b</div>", "a|b"),
        ("<div><div></div><div>a</div></div><div><div></div><div>b</div></div>", "a|b"),
        ("<div>   </div><div>a</div><div>   </div>", "a"),
    ],
)
def test_lines_of_code(html: str, lines: str) -> None:
    page = f"<p>Here</p><pre><code>{html}</code></pre><p>There</p>"
    code = lines.replace("|", "\n")
    assert clean(page).html == f"<p>Here</p>\n<pre>{code}</pre>\n<p>There</p>"
    assert clean(page).markdown == f"Here\n\n```\n{code}\n```\n\nThere"
    compiled = clean(page).table
    with kernels.in_python():
        assert clean(page).table == compiled


def test_lines_of_code_in_a_cell() -> None:
    page = clean("<table><tr><th>A<th>B<tr><td>loop<td><pre>for x in y:\n    x(`|`)</pre></table>")
    assert page.markdown.split("\n")[2] == "| loop | ``for x in y: x(`\\|`)`` |"
    assert "<td><pre>for x in y:\n    x(`|`)</pre></td>" in page.html


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a.<sup><a href=#c><span>[</span>1<span>]</span></a></sup>", "a.[1]"),
        ("10<sup><i>n</i>+1</sup> and 10<sup>6</sup>", "10ⁿ⁺¹ and 10⁶"),
        ("20<sup>t<i>1</i></sup>", "20t1"),
        ("<span>2</span><span>:</span><span>1</span>", "2:1"),
        ("<b>12</b><b>:</b><b>30</b>", "12:30"),
        ("<b>Total:</b><b>5</b>", "Total: 5"),
        ("<time>10:30</time>the vote", "10:30 the vote"),
        ("<time>2031</time>-32, <time>2031</time>年", "2031-32, 2031年"),
        ("<cite>Ana wrote:</cite>which fog", "Ana wrote: which fog"),
        ("<cite>Ana <a href=#p>↑</a><span>1 May 2031</span></cite>which", "Ana 1 May 2031 which"),
        ("the <cite>Courier</cite>s editor", "the Couriers editor"),
        ("<label><i>pip</i></label><label>conda</label>", "pip conda"),
        ("<label>pip</label>s", "pips"),
        ("late.<span class='x br'></span><span class=br></span>Then", "late.\nThen"),
        ("late.<span class=br>So</span>Then", "late.SoThen"),
    ],
)
def test_marks_and_numbers_in_a_sentence(html: str, text: str) -> None:
    assert clean(f"<p>{html}</p>").text == text
    with kernels.in_python():
        assert clean(f"<p>{html}</p>").text == text


def test_a_formula_that_mathjax_has_drawn_stands_there_once() -> None:
    drawn = "<nobr aria-hidden=true><span class=math>m=3</span></nobr>"
    again = "<span class=MJX_Assistive_MathML><math><mi>m</mi><mo>=</mo><mn>3</mn></math></span>"
    preview = "<span class=MathJax_Preview>m=3</span>"
    source = '<script type="math/tex">m=3</script>'
    html = f"<p>So {preview}<span class=MathJax>{drawn}{again}</span>{source} is right.</p>"
    assert clean(html).text == "So m=3 is right."
    with kernels.in_python():
        assert clean(html).text == "So m=3 is right."
