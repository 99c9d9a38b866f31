"""Hidden text: what hides an element, which blocks are hidden, and that none reaches the output."""

from __future__ import annotations

from pathlib import Path

import pytest

from noiseclean_scrapy import SiteCleaner, kernels
from noiseclean_scrapy.clusters.cleaning import to_record
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.page import Page, PageBudget, TextBlock, build_page
from noiseclean_scrapy.page.hidden import FADED, FOLDED, hidden_blocks, hides
from noiseclean_scrapy.page.overrides import Overrides
from noiseclean_scrapy.report.reasons import verdict_in_words

STORY = "".join(
    f"<p>{start} the fog lay over the harbour of Porto until noon, and no ferry left its pier."
    for start in ("On Monday", "On Tuesday", "On Wednesday", "On Thursday")
)
SECRET = "Buy seventeen golden watches today, for every reader of this page has already done it."


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "DISPLAY : None !important; color: red",
        "visibility:hidden",
        "visibility: collapse",
        "opacity:0;display:none",
        "font-size:0",
        "font-size: 0px",
        "height:0;overflow:hidden",
        "width:0px; overflow:hidden",
        "text-indent:-9999px",
        "position:absolute;left:-10000px",
        "position: fixed; top: -999em",
        "position:absolute;clip:rect(0,0,0,0)",
        "position:absolute;clip-path:inset(100%)",
        "color:#fff;background:#fff",
        "color: white; background-color: white",
        "color:transparent",
    ],
)
def test_styles_that_hide(style: str) -> None:
    assert hides({"style": style})
    for tag in ("div", "p", "section"):
        html = f'<body><h1>Fog</h1>{STORY}Seen<{tag} style="{style}">{SECRET}</{tag}> too'
        page = build_page(html)
        assert [b.text for b in zip_hidden(page)] == [SECRET]
        text = SiteCleaner().clean(html).text
        assert SECRET not in text
        assert "On Thursday the fog" in text
    for tag in ("span", "b", "a"):
        html = f'<body>{STORY}<p>Seen <{tag} href=x style="{style}">{SECRET}<i>!</i></{tag}>too'
        assert build_page(html).blocks[-1].text == "Seen too"
        asked = build_page(html, budget=PageBudget(hidden=True))
        assert asked.blocks[-1].text == f"Seen {SECRET}!too"


@pytest.mark.parametrize("style", ["opacity:0", "opacity: 0.0;transform:translateY(40px)"])
def test_what_a_script_fades_in_is_for_the_method_to_judge(style: str) -> None:
    html = f'<body><h1>Fog</h1>{STORY}Seen<div style="{style}">{SECRET}</div> too'
    page = build_page(html)
    assert zip_hidden(page) == []
    assert FADED in page.table.hidden
    assert not any(block.hidden for block in SiteCleaner().clean(html).blocks)
    line = build_page(f'<body>{STORY}<p>Seen <span style="{style}">{SECRET}</span>too')
    assert line.blocks[-1].text == "Seen too"


@pytest.mark.parametrize(
    "name",
    [
        *("sr-only", "u-sr-only", "visually-hidden", "plugin-screen-reader-text"),
        *("mw-editsection", "mw-cite-backlink"),
    ],
)
def test_what_a_class_keeps_from_readers_is_no_part_of_a_line(name: str) -> None:
    html = f"<p>Read <a href=/x>this<span class='icon {name}'> (in a <i>new</i> tab)</span></a> now"
    assert build_page(html).table.texts == ["Read this now"]
    asked = build_page(html, budget=PageBudget(hidden=True))
    assert asked.table.texts == ["Read this (in a new tab) now"]
    for other in ("not-sr-only", "md:sr-only", "sr-only-focusable"):
        assert build_page(html.replace(name, other)).table.texts == asked.table.texts


def test_what_a_search_is_to_find_is_not_hidden() -> None:
    assert hides({"hidden": ""})
    assert hides({"hidden": "hidden"})
    assert not hides({"hidden": "until-found"})


def zip_hidden(page: Page) -> list[TextBlock]:
    return [b for b, hidden in zip(page.blocks, hidden_blocks(page), strict=True) if hidden]


@pytest.mark.parametrize(
    "control",
    ["aria-controls='p0 p1'", "data-target='#p1'", "data-bs-target=' #p1'"],
)
def test_what_a_control_opens_is_not_hidden(control: str) -> None:
    answer = (
        "<div id=p1 hidden><p>It lay until noon, as the pilots of the port said on Monday.</div>"
    )
    question = "<h3><button {}>How long did it lay?</button></h3>"
    html = f"<body><h1>Fog</h1>{STORY}{question.format(control)}{answer}"
    for other, shown in (
        (html, True),
        (f"{html}<div hidden>{SECRET}</div>", True),
        (f"<body><h1>Fog</h1>{STORY}{question.format('')}{answer}", False),
        (html.replace(answer, f"<div aria-hidden=true>{answer}</div>"), False),
        (html.replace("#", ".").replace("p1'", "p2'"), False),
    ):
        page = build_page(other)
        found = [block.text for block in zip_hidden(page)]
        assert any("noon, as" in text for text in found) is not shown
        assert (SECRET in found) is (SECRET in other)
        with kernels.in_python():
            assert build_page(other).table == page.table
    assert not any(block.hidden for block in SiteCleaner().clean(html).blocks)
    assert FOLDED not in build_page(html, budget=PageBudget(hidden=True)).table.hidden


@pytest.mark.parametrize(
    "style",
    [
        "",
        ";;:",
        "display:block",
        "opacity:0.5",
        "opacity:1",
        "font-size:10px",
        "height:0",
        "overflow:hidden",
        "width:90%;overflow:hidden",
        "left:-10000px",
        "position:absolute;left:-5px",
        "color:red;background:blue",
        "color:inherit;background:inherit",
        "background:none",
        "--display:none",
    ],
)
def test_styles_that_do_not_hide(style: str) -> None:
    assert not hides({"style": style})


@pytest.mark.parametrize("attribute", ["hidden", 'aria-hidden="true"', 'style="display:none"'])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_hidden_text_does_not_reach_the_output_unless_asked_for(
    method: str, attribute: str
) -> None:
    html = f"<body><h1>Fog</h1><div>{STORY}</div><div {attribute}><div><p>{SECRET}</div></div>"
    cleaned = SiteCleaner(method).clean(html)
    assert SECRET not in cleaned.text
    assert SECRET not in cleaned.html
    [secret] = [block for block in cleaned.blocks if block.text == SECRET]
    assert secret.hidden
    assert verdict_in_words(secret, headline=False) == (
        "Left out: the page's markup hides it from readers."
    )
    stored = [
        block.text
        for block in to_record(cleaned, 1, Config(store_html=False)).blocks
        if block.hidden
    ]
    assert stored == [SECRET] == [block.text for block in cleaned.blocks if block.hidden]
    asked = SiteCleaner("shingle-template", budget=PageBudget(hidden=True)).clean(html)
    assert SECRET in asked.text


def test_a_body_that_a_script_unhides_stays() -> None:
    for wrapper in ('<body style="opacity:0">', '<body><div style="visibility:hidden">'):
        assert "On Thursday the fog" in SiteCleaner().clean(f"{wrapper}<h1>Fog</h1>{STORY}").text


def test_a_long_list_of_links_that_is_hidden_stays_so() -> None:
    links = f"<p style='display:none'>{'<a href=/x>All the news of the harbour</a> ' * 50}</p>"
    page = build_page(f"<body>{STORY}{links}")
    assert [block.text for block in zip_hidden(page)] == [page.blocks[-1].text]


def test_a_hidden_headline_is_that_of_the_page() -> None:
    html = f"<title>Fog closes the port</title><h1 hidden>Fog closes the port</h1>{STORY}"
    page = SiteCleaner().clean(html)
    assert page.headline is not None
    assert (page.headline.kept, page.headline.hidden) == (True, False)
    assert page.text.startswith("Fog closes the port\n")


@pytest.mark.parametrize("label", ["tab-pane", "accordion-body", "slide", "faq"])
def test_what_a_reader_opens_stays(label: str) -> None:
    folded = f"<div class={label} style='display:none'><p>{SECRET}</p></div>"
    page = build_page(f"<body>{STORY}{folded}<table style='display:none'><tr><td>{SECRET}x")
    assert [block.text for block in zip_hidden(page)] == [f"{SECRET}x"]


def test_a_switch_is_nothing_to_open() -> None:
    for label, hidden in (("toggle-switch-container", [SECRET]), ("toggle-box", [])):
        page = build_page(f"<body>{STORY}<div class={label} style='display:none'>{SECRET}</div>")
        assert [block.text for block in zip_hidden(page)] == hidden


@pytest.mark.usefixtures("reader")
def test_hidden_parts_of_a_sentence_are_no_text() -> None:
    html = "<p>As at 2017<sup style='display:none'>[update]</sup>, two<sup>nd</sup>."
    assert build_page(html).text == "As at 2017, twond."


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    ("attributes", "is_shown"),
    [
        ("", True),
        ("hidden", False),
        ("width=1 height=1 style='display:none' alt=''", False),
        ("style='Top:0; DISPLAY : none !important'", False),
        ("style='visibility:hidden'", False),
        ("width=1 height=1", False),
        ("width=0 height=0px", False),
        ("width=1 height=200", True),
        ("width=1", True),
        ("width=1 height=1 alt=Quay", True),
        ("width=1 height=1 srcset='/fog.png 300w'", True),
        ("width=64 height=64 style='color:transparent'", True),
        ("style='opacity:0'", True),
        ("aria-hidden=true", True),
    ],
)
def test_a_picture_that_is_hidden_is_not_shown(attributes: str, is_shown: bool) -> None:
    picture = f"<img src=/fog.png {attributes}>"
    html = f"<title>Fog</title><body>{STORY}{picture}<p>The fog {picture} lifted.</p>{STORY}"
    cleaner, everything = SiteCleaner(), SiteCleaner(budget=PageBudget(hidden=True))
    page = cleaner.clean(html, url="https://example.com/")
    assert page.to_markdown(include_images=True).count("fog.png") == 2 * is_shown
    assert page.to_html(include_images=True).count("fog.png") == 2 * is_shown
    assert page.text == cleaner.clean(html.replace(attributes, "")).text
    assert sum(bool(block.images) for block in build_page(html).blocks) == 2
    asked = everything.clean(html, url="https://example.com/")
    assert asked.to_markdown(include_images=True).count("fog.png") == 2


@pytest.mark.usefixtures("reader")
def test_a_formula_that_is_a_hidden_picture_stays_text() -> None:
    html = "<p>So <img hidden src=/math/render/svg/a alt='a+b'> is right.</p>"
    assert SiteCleaner("style-tree").clean(html).text == "So $a+b$ is right."


def test_a_rule_to_keep_shows_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "overrides.toml"
    path.write_text('["example.com"]\nkeep = "#box"', encoding="utf-8")
    html = f"<body>{STORY}<div id=box><p>Fog <img hidden src=/fog.png></p></div>{STORY}"
    cleaned = SiteCleaner().clean(html, url="https://example.com/", overrides=Overrides.read(path))
    assert "fog.png" in cleaned.to_markdown(include_images=True)


def test_a_rule_to_keep_decides_before(tmp_path: Path) -> None:
    path = tmp_path / "overrides.toml"
    path.write_text('["example.com"]\nkeep = "#box"', encoding="utf-8")
    html = f"<body>{STORY}<div id=box hidden><p>{SECRET}</p></div>"
    overrides = Overrides.read(path)
    cleaned = SiteCleaner().clean(html, url="https://example.com/", overrides=overrides)
    assert not any(block.hidden for block in cleaned.blocks)
    assert SECRET in cleaned.text


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("<a href='#fog' title=Permalink>¶</a>", ""),
        ("<a href='#fog'> # </a>", ""),
        ("<a href='#fog'>🔗\ufe0f</a>", ""),
        ("<a href='#note-1'>↩\ufe0e</a>", ""),
        ("<a href='#note-1'>1</a>", "1"),
        ("<a href='#top'>Top</a>", "Top"),
        ("<a href='/tags'>#</a>", "#"),
        ("<a name=fog>¶</a>", "¶"),
        ("<a href='#fog'>####################</a>", "#" * 20),
        ("<a href='#fog'><i>¶</i></a>", "¶"),
    ],
)
def test_links_that_are_a_sign_are_no_text(link: str, shown: str) -> None:
    page = build_page(f"<body><h1>Fog{link}</h1><div>{link}</div><p>The port is closed.")
    texts = [f"Fog{shown}", shown, "The port is closed."]
    assert page.table.texts == [text for text in texts if text]


CODE = "<pre>def fog():<br>    lift()<br>    return 3</pre>"


@pytest.mark.parametrize(
    ("numbers", "is_text"),
    [
        ("<td><pre>1<br>2<br>3</pre>", False),
        ("<td class=lntd><pre class=chroma><code><span>7\n</span>8\n9\n</code></pre>", False),
        ("<td><div class=line-numbers><pre>1</pre></div>", False),
        ("<td class=gutter><pre><span>9</span><br>10</pre>", False),
        ("<td><pre>1<br>2</pre>", True),
        ("<td><pre>1<br>2<br>4</pre>", True),
        ("<td><p>1 2 3</p>", True),
        ("<td><pre>1999999<br>2000000<br>2000001</pre>", True),
        ("<td><ul><li><div><pre>1<br>2<br>3</pre></div></ul>", True),
    ],
)
def test_numbers_of_lines_of_code_are_no_text(numbers: str, is_text: bool) -> None:
    html = f"<body>{STORY}<table><tr>{numbers}<td>{CODE}</table>"
    page = SiteCleaner("style-tree").clean(html)
    number = next(block for block in page.blocks if block.text[:1].isdigit())
    assert (number.kept, number.hidden) == (is_text, not is_text)
    assert page.text.endswith("def fog():\n    lift()\n    return 3")
    everything = SiteCleaner("style-tree", budget=PageBudget(hidden=True)).clean(html)
    assert everything.dropped_characters == 0


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [
        (
            "<div><span>7</span><div>import os</div></div><div><b>8</b><div>os.sync()</div></div>",
            ["7", "8"],
        ),
        ("<div>7</div><div>import os</div><div>9</div><div>os.sync()</div>", []),
        ("<div>1</div><div>2</div><div>3</div><div>done</div>", []),
        ("7\nimport os\n8\nos.sync()", []),
    ],
)
def test_numbers_in_elements_of_their_own_count_the_lines_of_code(
    lines: str, numbers: list[str]
) -> None:
    page = SiteCleaner().clean(f"<body><h1>Fog</h1>{STORY}<pre>{lines}</pre>{STORY}Seen.")
    assert [block.text for block in page.blocks if block.hidden] == numbers
    assert any("os.sync()" in block.text or block.text == "done" for block in page.blocks)


@pytest.mark.parametrize(
    ("code", "hidden"),
    [
        ("<button>Copy</button><code>ls\nfog</code>", ["Copy"]),
        ("<div><span>bash</span><button><div>Copy</div></button></div>ls", ["bash", "Copy"]),
        ("<div>the fog lifts<button>Copy</button></div>ls", ["Copy"]),
        ("<div>ls<button>Copy</button></div>", ["Copy"]),
        ("ls\n<button>Copy</button>", ["Copy"]),
    ],
)
def test_buttons_in_code_are_no_text(code: str, hidden: list[str]) -> None:
    page = SiteCleaner("style-tree").clean(f"<body>{STORY}<pre>{code}</pre>")
    assert [block.text for block in page.blocks if block.hidden] == hidden
    assert "```\n" in page.markdown
    assert not any(text in page.text for text in hidden)


@pytest.mark.parametrize(
    ("buttons", "hidden"),
    [
        ("<button>1x</button><button><b>2x</b></button><button></button>", ["1x", "2x"]),
        ("<button>1x</button>", []),
        ("<button>1x</button><button>Print</button>", []),
        ("<p><button>1x</button></p><p><button>2x</button></p>", []),
    ],
)
def test_short_buttons_side_by_side_are_no_text(buttons: str, hidden: list[str]) -> None:
    html = f"<body>{STORY}<h3>Ingredients <div>{buttons}</div></h3><p>Fog</p>{STORY}"
    page = SiteCleaner("style-tree").clean(html)
    assert [block.text for block in page.blocks if block.hidden] == hidden
    assert not any(text in page.text for text in hidden)
    assert not any(hidden_blocks(build_page(html, budget=PageBudget(hidden=True))))
