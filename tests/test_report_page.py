"""The page report in a real browser: the page is seen as it looked, and nothing of it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clean_page import LONGEST_TITLE
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.page.element_paths import ElementPaths
from noiseclean_scrapy.page.overrides import Overrides
from noiseclean_scrapy.page.parse import parse_html
from noiseclean_scrapy.report import page_report
from noiseclean_scrapy.report.inert import NUMBER, inert_document
from noiseclean_scrapy.report.reasons import MOST_BLOCKS
from tests.support.browsing import listening, opened, opening

HACKED = "[window, ...Array.from(frames)].some(w => w.hacked) || document.title === 'hacked'"


@pytest.fixture(scope="module")
def demo() -> tuple[SiteCleaner, str]:
    """A cleaner that knows 30 pages of the demo newspaper, and an article of it."""
    site = DemoSite()
    pages = list(site.pages.values())
    cleaner = SiteCleaner()
    for page in pages[:30]:
        cleaner.observe(page.html)
    return cleaner, next(page.html for page in pages if page.template == "standard")


CLICK_ALL = "s => document.querySelectorAll(s).forEach(part => part.click && part.click())"
RUN = "top.hacked=window.hacked=1;top.document.title='hacked'"
TRICKS = (Path(__file__).parent / "hostile_tricks.txt").read_text(encoding="utf-8")


def test_nothing_of_a_hostile_page_runs_or_loads(browser: Any, tmp_path: Path) -> None:
    story = "<h1>Fog closes the port</h1><p>No ferry left the harbour town on Monday.</p>"
    tricks = TRICKS.rstrip("\n").split("\n")
    assert len(tricks) > 40
    with listening() as (server, asked), opening(browser, tmp_path) as report:
        for trick in tricks:
            trick = trick.replace("RUN", RUN).replace("SERVER", server)
            html = f"<!doctype html><html onclick='{RUN}'>{story}{trick}"
            clean = SiteCleaner().clean(html, url=f"javascript:{RUN}")
            report.open(page_report(clean, html))
            page = report.page
            title = page.title()
            page.frame_locator("iframe").locator("h1").click()
            page.frames[1].evaluate(CLICK_ALL, "body *")
            page.evaluate(CLICK_ALL, "[data-row]")
            page.wait_for_timeout(30)
            assert page.evaluate(HACKED) is False, trick
            assert page.title() == title, trick
            assert [frame.url for frame in page.frames[1:]] == ["about:srcdoc"], trick
            assert page.locator("a").count() == 0, trick  # the page's address is no link
            assert "7777" not in page.inner_text("body"), trick
            report.assert_quiet()
        assert asked == []


def test_addresses_behind_escapes_are_left_to_the_policy(browser: Any, tmp_path: Path) -> None:
    with listening() as (server, asked):
        html = f"<style>p::before{{content:u\\72l({server}/escaped.png)}}</style><p>Fog.</p>"
        report = page_report(SiteCleaner().clean(html), html)
        with opened(browser, report, tmp_path) as found:
            found.page.frame_locator("iframe").locator("p").click()
            assert any("Content Security Policy" in line for line in found.console)
        assert asked == []


def test_the_frame_and_its_policy_hold_without_the_sanitizer(browser: Any, tmp_path: Path) -> None:
    with listening() as (server, asked):
        html = "<h1>Fog</h1><p>The port is closed.</p>"
        report = page_report(SiteCleaner().clean(html), html)
        attack = (
            "<script>top.hacked=1</script><img src=x onerror='top.hacked=1'><svg onload="
            f"'top.hacked=1'></svg><iframe src='{server}/frame'></iframe><img src='{server}/image'>"
            f"<link rel=stylesheet href='{server}/css'><meta http-equiv=refresh "
            f"content='0;url={server}/refresh'>"
        )
        escaped = attack.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&#34;")
        assert report.count("The port is closed.&lt;/p&gt;") == 1
        broken = report.replace(
            "The port is closed.&lt;/p&gt;", f"The port is closed.&lt;/p&gt;{escaped}"
        )
        with opened(browser, broken, tmp_path) as found:
            found.page.wait_for_timeout(500)
            assert found.page.evaluate("window.hacked") is None
            assert any("script" in line for line in found.console)
        assert asked == []


def test_the_page_looks_like_itself_and_blocks_are_tinted(
    browser: Any, tmp_path: Path, demo: tuple[SiteCleaner, str]
) -> None:
    cleaner, html = demo
    clean = cleaner.clean(html, url="https://courier.example/story")
    with opened(browser, page_report(clean, html), tmp_path) as report:
        frame = report.page.frames[1]
        style = "getComputedStyle(document.querySelector('{}')).{}"
        assert frame.evaluate(style.format("body", "backgroundColor")) == "rgb(251, 250, 247)"
        assert frame.evaluate(style.format("body", "fontFamily")).startswith("Georgia")
        assert frame.evaluate("document.body.className").startswith("page page-standard")
        shown: dict[int, str] = {}
        verdicts: dict[int, str] = {}
        for number, verdict, text in frame.evaluate(
            "[...document.querySelectorAll('[data-block]')].map(part => "
            "[+part.dataset.block, part.dataset.verdict, part.textContent])"
        ):
            shown[number] = shown.get(number, "") + text
            verdicts[number] = verdict
        assert sorted(shown) == list(range(len(clean.blocks)))
        for number, block in enumerate(clean.blocks):
            assert "".join(shown[number].split()) == "".join(block.text.split())
            assert verdicts[number] == ("kept" if block.kept else "dropped")
        report.assert_quiet()


def test_hover_and_click_tell_why(
    browser: Any, tmp_path: Path, demo: tuple[SiteCleaner, str]
) -> None:
    cleaner, html = demo
    clean = cleaner.clean(html, url="https://courier.example/story")
    with opened(browser, page_report(clean, html), tmp_path) as report:
        page = report.page
        frame = page.frame_locator("iframe")
        reading = page.locator("[data-list=reading]")
        assert "\n".join(reading.locator("[data-row]").all_inner_texts()) == clean.text
        frame.get_by_role("heading", level=1).hover()
        assert (
            page.locator(".tip.shown")
            .inner_text()
            .startswith("Kept: it is the headline of the page.")
        )
        frame.get_by_text("Politics", exact=True).first.click()
        why = page.locator("[data-why]")
        assert why.inner_text().startswith("Left out: stands on ")
        assert "this text on" in why.inner_text()
        assert "header.site-header / nav.site-nav / ul / li" in why.inner_text()
        page.locator("[data-tab=blocks]").click()
        held = page.locator("[data-list=blocks] .on")
        assert held.text_content() == "Left out: Politics"
        page.locator("[data-list=blocks] [data-row]").last.click()
        last = frame.locator(".noiseclean-active")
        said = page.locator("[data-list=blocks] [data-row]").all_text_contents()
        assert [text.partition(": ")[0] for text in said] == [
            "Kept" if block.kept else "Left out" for block in clean.blocks
        ]
        assert last.get_attribute("data-block") == str(len(clean.blocks) - 1)
        assert page.url.startswith("file:")
        report.assert_quiet()


def test_light_and_dark(browser: Any, tmp_path: Path, demo: tuple[SiteCleaner, str]) -> None:
    cleaner, html = demo
    with opened(browser, page_report(cleaner.clean(html), html), tmp_path) as report:
        page = report.page
        background = "getComputedStyle(document.body).backgroundColor"
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(background) == "rgb(19, 21, 23)"
        page.locator("[data-theme]").click()
        assert page.evaluate(background) == "rgb(246, 245, 241)"
        report.assert_quiet()


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_says_why(method: str, browser: Any, tmp_path: Path) -> None:
    cleaner = SiteCleaner(method)
    stories = [
        f"<body><ul><li>News<li>Sport</ul><div><p>{text} in the harbour.</p></div></body>"
        for text in ("Fog closes the port", "A bakery wins gold", "Trams run late")
    ]
    for story in stories:
        cleaner.observe(story)
    clean = cleaner.clean(stories[0])
    with opened(browser, page_report(clean, stories[0]), tmp_path) as report:
        page = report.page
        page.locator("[data-tab=blocks]").click()
        rows = page.locator("[data-list=blocks] [data-row]")
        assert rows.all_text_contents() == [
            f"{'Kept' if block.kept else 'Left out'}: {block.text}" for block in clean.blocks
        ]
        for index, block in enumerate(clean.blocks):
            rows.nth(index).click()
            sentence = page.locator("[data-why] .verdict").inner_text()
            assert sentence.startswith("Kept:" if block.kept else "Left out:")
        report.assert_quiet()


@pytest.mark.parametrize(
    "html",
    [
        "",
        "plain text",
        "<p>" + "<b>" * 300 + "deep",
        "<body>before<div>one</div>between<br><br>after<script>x</script>end",
        "<table><tr><td>cell<p>in</table>after",
        "<my-card><my-title>Fog</my-title>closes the port</my-card>",
        "<p>lone \ud800 surrogate, nul \0 and \u2028 separator</p>",
        "<html><body><p>one</p></body></html><p>two</p></html><p>three</p>",
        "<noscript>" + "<p>All there is stands here.</p>" * 20 + "</noscript>",
        "<plaintext><p>raw</p>",
        "<p hidden>hidden</p><dialog open>shown</dialog>",
    ],
)
def test_odd_pages_give_reports(html: str, browser: Any, tmp_path: Path) -> None:
    clean = SiteCleaner().clean(html)
    with opened(browser, page_report(clean, html), tmp_path) as report:
        report.page.locator("[data-tab=blocks]").click()
        rows = report.page.locator("[data-list=blocks] [data-row]")
        assert rows.count() == len(clean.blocks)
        report.assert_quiet()


OVER_ALL = """<title>Fog</title><style>
.bar { position: fixed; inset: 0 } .menu { p\\6f sition: sticky; top: 0 }
@media (max-width: 600px) { .late { position: fixed !important } } .wide { width: 700px }
</style><div class=bar><p>We use cookies.</p></div><ul class=menu><li>News<li>Sport</ul>
<div class=late style="position: fixed !important">Subscribe</div><div class=wide><h1>Fog</h1>
<p>Nobody saw the harbour on Monday morning, and nobody went out.</p></div><img alt="A pier">"""


OUTLINE = "part => getComputedStyle(part).outlineStyle"


def test_the_keyboard_is_seen_and_the_page_follows_it(
    browser: Any, tmp_path: Path, demo: tuple[SiteCleaner, str]
) -> None:
    cleaner, html = demo
    with opened(browser, page_report(cleaner.clean(html), html), tmp_path) as report:
        page = report.page
        rows = page.locator("[data-list=reading] [data-row]")
        rows.first.focus()
        for _ in range(rows.count() - 1):
            page.keyboard.press("Tab")
        assert rows.last.evaluate("part => part === document.activeElement")
        assert rows.last.evaluate(OUTLINE) == "solid"
        number = rows.last.get_attribute("data-row")
        box = page.locator("iframe").bounding_box()
        place = page.frame_locator("iframe").locator(f"[data-block='{number}']").first
        assert box["y"] <= place.bounding_box()["y"] < box["y"] + box["height"]
        assert page.locator("iframe").evaluate(OUTLINE) == "none"
        page.frame_locator("iframe").locator("button").first.focus()
        page.keyboard.press("Tab")
        assert page.locator("iframe").evaluate(OUTLINE) == "solid"
        rows.first.focus()
        assert page.locator("iframe").evaluate(OUTLINE) == "none"
        report.assert_quiet()


def test_escape_hides_what_is_shown_beside_the_pointer(
    browser: Any, tmp_path: Path, demo: tuple[SiteCleaner, str]
) -> None:
    cleaner, html = demo
    with opened(browser, page_report(cleaner.clean(html), html), tmp_path) as report:
        page = report.page
        for focused in (
            page.locator("[data-row]").first,
            page.frame_locator("iframe").locator("button"),
        ):
            page.frame_locator("iframe").get_by_role("heading", level=1).hover()
            page.locator(".tip.shown").wait_for()
            focused.first.focus()
            page.keyboard.press("Escape")
            assert page.locator(".tip.shown").count() == 0
            page.mouse.move(1200, 20)


@pytest.mark.parametrize(("width", "height"), [(320, 256), (640, 512), (667, 375), (1280, 400)])
def test_a_low_window_has_room_for_the_page(
    width: int, height: int, browser: Any, tmp_path: Path, demo: tuple[SiteCleaner, str]
) -> None:
    cleaner, html = demo
    with opened(browser, page_report(cleaner.clean(html), html), tmp_path) as report:
        page = report.page
        page.set_viewport_size({"width": width, "height": height})
        assert page.locator("iframe").bounding_box()["height"] >= 0.75 * height
        last = page.locator("[data-list=reading] [data-row]").last
        last.scroll_into_view_if_needed()
        assert page.evaluate("scrollY") > 0
        last.focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        assert 0 <= last.bounding_box()["y"] < height  # the page follows in its frame alone
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_colours_that_are_forced_leave_the_verdicts(
    browser: Any, tmp_path: Path, demo: tuple[SiteCleaner, str]
) -> None:
    cleaner, html = demo
    colour = "(part, pseudo) => getComputedStyle(part, pseudo).backgroundColor"
    with opened(browser, page_report(cleaner.clean(html), html), tmp_path) as report:
        page = report.page
        page.emulate_media(forced_colors="active")
        frame = page.frame_locator("iframe")
        tints = {
            frame.locator(f"[data-verdict={verdict}]").first.evaluate(colour)
            for verdict in ("kept", "dropped")
        }
        dots = {dot.evaluate(colour) for dot in page.locator(".legend .dot").all()[:2]}
        marks = {
            page.locator(f".block.{verdict}").first.evaluate(colour, "::before")
            for verdict in ("kept", "dropped")
        }
        assert [len(tints), len(dots), len(marks)] == [2, 2, 2]


def test_paper_has_the_whole_page(
    browser: Any, tmp_path: Path, demo: tuple[SiteCleaner, str]
) -> None:
    cleaner, html = demo
    with opened(browser, page_report(cleaner.clean(html), html), tmp_path) as report:
        page = report.page
        before = page.locator("iframe").bounding_box()
        assert page.pdf(format="A4").count(b"/Type /Page\n") > 3
        assert page.locator("iframe").bounding_box() == before


def test_without_scripts_a_report_says_so(browser: Any, tmp_path: Path) -> None:
    html = "<h1>Fog</h1><p>The port is closed.</p>"
    (tmp_path / "report.html").write_text(page_report(SiteCleaner().clean(html), html))
    page = browser.new_page(java_script_enabled=False)
    page.goto((tmp_path / "report.html").as_uri())
    assert page.locator("noscript p").is_visible()
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_fixed_and_nothing_sticks_out(width: int, browser: Any, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text('["example.com"]\ndrop = ".wide h1"\n')
    overrides = Overrides.read(tmp_path / "rules.toml")
    clean = SiteCleaner().clean(OVER_ALL, url="https://example.com/fog", overrides=overrides)
    with opened(browser, page_report(clean, OVER_ALL), tmp_path) as report:
        page = report.page
        page.set_viewport_size({"width": width, "height": 844})
        page.frame_locator("iframe").locator("h1").wait_for()
        frame = page.frames[1]
        frame.wait_for_function(
            "!['fixed', 'sticky'].some((way) => [...document.querySelectorAll('*')]"
            ".some((element) => getComputedStyle(element).position === way))"
        )
        sizes = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        content, room = frame.evaluate(sizes)
        assert content <= room + 1
        assert page.evaluate("document.documentElement.scrollWidth") == width
        legend = page.locator(".legend").inner_text()
        for entry in ("kept", "left out", "an override decided", "picture, not loaded"):
            assert entry in legend
        report.assert_quiet()


def test_a_style_that_looks_at_what_follows_does_not_freeze_the_report(
    browser: Any, tmp_path: Path
) -> None:
    style = "<style>.f{position:fixed} div:has(~ div[style] b) b{color:red}</style>"
    html = f"{style}{'<div class=f><b>Fog</b></div>' * 1500}<h1>Fog</h1>"
    with opened(browser, page_report(SiteCleaner().clean(html), html), tmp_path) as report:
        frame = report.page.frames[1]
        position = "getComputedStyle(document.querySelector('.f')).position"
        frame.wait_for_function(f"{position} === 'static'", timeout=20_000)
        assert frame.evaluate(position) == "static"


def test_a_page_of_many_blocks_is_shown_in_part() -> None:
    html = "".join(f"<p>Line {number}" for number in range(MOST_BLOCKS + 5))
    page = SiteCleaner("style-tree").clean(f"<title>{'word ' * 5000}</title>{html}")
    assert len(page.title) == LONGEST_TITLE
    report = page_report(page, html)
    assert f"First {MOST_BLOCKS} of {MOST_BLOCKS + 5} blocks" in report
    assert f'data-kept="{MOST_BLOCKS + 5}"' in report
    assert f"data-block=&#34;{MOST_BLOCKS - 1}&#34;" in report
    assert f"data-block=&#34;{MOST_BLOCKS}&#34;" not in report


def test_each_text_in_deep_inline_elements_has_its_number() -> None:
    """As many as there are, the way up from them is gone once."""
    html = f"<p>Fog closes the port.</p><p>{'<i>' * 60}{'x<u>y</u>' * 40}"
    shown = inert_document(html, SiteCleaner("style-tree").clean(html).blocks)
    assert shown.count(f'{NUMBER}="0"') == shown.count(f'{NUMBER}="1"') == 1


def test_blocks_with_characters_that_are_no_text_have_their_numbers() -> None:
    for code in (*range(1, 0x20), *range(0x7F, 0xA0), 0xAD, 0x200B, 0xFEFF):
        for written in (chr(code), f"&#{code};"):
            html = f"<div><p>Fog{written} closes the port.</p>No ferry{written} left.</div>"
            blocks = SiteCleaner("style-tree").clean(html).blocks
            shown = inert_document(html, blocks)
            assert [shown.count(f'{NUMBER}="{n}"') for n in range(2)] == [1, 1], hex(code)


@pytest.mark.parametrize(
    ("level", "block"),
    [
        ("<font class=a{}><p>", "<p>x"),
        ("<li><b class=a{}>", "<li>x"),
        ("<div><p><b class=a{}>", "<p>x"),
        ("<p><b class=a{}><div>", "<p>x"),
        ("<a href=a{}><b class=b>", "<p>x"),
    ],
)
def test_formatting_around_blocks_does_not_multiply_a_page(level: str, block: str) -> None:
    html = "".join(map(level.format, range(400))) + block * 4000
    shown = inert_document(html, SiteCleaner("style-tree").clean(html).blocks)
    assert len(shown) < 400_000  # it were 40 MB


def test_long_attributes_around_blocks_do_not_multiply_a_page() -> None:
    html = f"<p><b class={'c' * 100_000}><div>{'<p>x' * 1000}"
    shown = inert_document(html, SiteCleaner("style-tree").clean(html).blocks)
    assert len(shown) < 400_000  # it were 100 MB


def test_formatting_around_the_blocks_of_an_ordinary_page_stays() -> None:
    html = f"<font face=Arial color=navy><a name=top>{'<p>Fog closes the <b>port</b>.' * 500}"
    shown = inert_document(html, SiteCleaner("style-tree").clean(html).blocks)
    assert shown.count("<font") == shown.count("<a") >= 1
    assert shown.count("<b>") == 500


def test_elements_are_found_as_xpath_finds_them() -> None:
    html = "<p>a</p><o:p>b</o:p><div><p>c</p>d<br>e<x:y>f</x:y></div><p>g</p><section>h</section>"
    root = parse_html(html).root
    paths = ElementPaths(root)
    for block in SiteCleaner("style-tree").clean(html).blocks:
        for path in (block.xpath, block.xpath.rpartition("/")[0]):
            assert [paths.find(path)] == root.xpath(path)
    for path in ("/html[1]/body[1]/p[3]", "/html[1]/body[1]/form[1]/p[1]", "/p[1]", "p", "", "/"):
        assert paths.find(path) is None
