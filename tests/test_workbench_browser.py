"""The workbench as a person uses it, in a real browser; hostile pages do nothing in it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from parsel import Selector

from example_project.demo import DemoServer, DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.clusters.cleaning import to_record
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.store import PageRecord, Store
from tests.support.browsing import listening
from tests.support.command_line import (
    DemoCrawl,
    copy_demo,
    enter_project,
    environment,
    noiseclean,
    run_console,
    scrapy_command,
)
from tests.support.searching import page as stored_page
from tests.support.services import give_up
from tests.support.workbench import Served, serving, wait_for
from tests.test_report_page import CLICK_ALL, HACKED, RUN, TRICKS

pytest.importorskip("uvicorn", reason="the workbench needs the extra web")
pytestmark = pytest.mark.extras

TEASER = "//article[contains(@class, 'teaser')]//p"


@dataclass
class Window:
    """A window on the workbench, and what it complained about."""

    page: Any
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def window(browser: Any, server: Served, **options: Any) -> Iterator[Window]:
    """A window that was opened at the address that the server printed."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    page = context.new_page()
    page.set_default_timeout(60_000)
    found = Window(page)
    page.on("console", lambda message: found.console.append(message.text))
    page.on("pageerror", lambda error: found.console.append(str(error)))
    page.on("request", lambda request: found.requests.append(request.url))
    try:
        page.goto(server.entrance)
        yield found
    finally:
        context.close()
    assert found.console == []
    assert {url for url in found.requests if not url.startswith((server.url, "data:"))} == set()


@pytest.fixture(scope="module")
def courier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[DemoCrawl, Served]]:
    """The demo newspaper, served; rules can be made."""
    demo = copy_demo(tmp_path_factory.mktemp("courier"))
    noiseclean(demo.database.parent, "reclean", demo.site)  # by the tree that is shown
    with serving(demo.database.parent, "--overrides", "rules.toml") as server:
        yield demo, server


def test_sites_are_sorted_and_filtered(browser: Any, courier: tuple[DemoCrawl, Served]) -> None:
    demo, server = courier
    with window(browser, server) as bench:
        page = bench.page
        assert page.locator("tr[data-site]").count() == 1
        page.get_by_role("link", name="Pages").click()
        assert page.locator("th[aria-sort]").inner_text().startswith("Pages")
        page.get_by_label("Name").fill("nothing like it")
        page.keyboard.press("Enter")
        page.wait_for_url("**q=nothing*")
        assert "No site has such a name" in page.locator("tbody").inner_text()
        page.get_by_label("Name").fill(demo.site)
        page.get_by_role("button", name="Filter").click()
        page.get_by_role("link", name=demo.site).click()
        page.wait_for_url("**/sites/*")
        assert page.get_by_role("heading", level=1).inner_text() == demo.site
        assert page.locator("main section tbody tr").count() >= 50
        page.get_by_role("link", name="Next").click()
        page.wait_for_url("**page=2*")
        assert page.get_by_text("page 2", exact=True).is_visible()


def test_a_search_has_an_address_and_opens_pages(
    browser: Any, courier: tuple[DemoCrawl, Served]
) -> None:
    demo, server = courier
    record = next(page for page in demo.records() if page.url == demo.article()[0])
    assert record.cleaned
    with window(browser, server) as bench:
        page = bench.page
        page.get_by_role("link", name="Search", exact=True).click()
        page.locator("input[name=q]:focus").wait_for()
        page.get_by_label("Words").fill(f'"{record.cleaned.title}"')
        page.keyboard.press("Enter")
        page.locator(".hits mark").first.wait_for()
        page.goto(page.url)  # the address alone says what was searched for
        page.locator(".hits a", has_text=record.cleaned.title).first.click()
        reading = page.locator("[data-list=reading] [data-row]")
        reading.first.wait_for()
        assert "\n".join(reading.all_inner_texts()) == server.get(
            f"/api/pages/{record.key}"
        )["text"]  # fmt: skip


def test_pointing_tells_why_and_where(browser: Any, courier: tuple[DemoCrawl, Served]) -> None:
    demo, server = courier
    key = server.page(demo.article()[0])
    with window(browser, server) as bench:
        page = bench.page
        page.goto(f"{server.url}/pages/{key}")
        frame = page.frame_locator("iframe")
        frame.get_by_role("heading", level=1).hover()
        tip = page.locator(".tip.shown")
        assert tip.inner_text().startswith("Kept: it is the headline")
        frame.get_by_text("Politics", exact=True).first.click()
        stands = page.locator("[data-stands]")
        stands.wait_for()
        pages = len(list(demo.records()))
        page.locator("[data-selector]:not(:empty)").wait_for()
        assert f"of {pages} pages" in stands.inner_text()
        assert frame.locator(".noiseclean-place").count() >= 1
        names = page.locator("select[name=level] option").all_inner_texts()
        assert len(names) > 1


def test_a_rule_is_of_the_block_that_was_clicked_last(
    browser: Any, courier: tuple[DemoCrawl, Served]
) -> None:
    demo, server = courier
    key = server.page(demo.article()[0])
    held: list[Any] = []
    with window(browser, server) as bench:
        page = bench.page
        page.goto(f"{server.url}/pages/{key}")
        rows = page.locator("[data-list=reading] [data-row]")
        drop = page.get_by_role("button", name="Always drop this")

        rows.first.click()
        page.locator("[data-selector]:not(:empty)").wait_for()
        assert drop.is_enabled()
        page.route("**/places*", lambda route: held.append(route))
        rows.nth(2).click()
        wait_for(lambda: page.evaluate("1") and held, bool)
        page.get_by_label("On which pages").select_option("template")
        page.get_by_label("On which pages").select_option("")
        assert page.locator("[data-stands]").inner_text() == "Looking where it stands …"
        assert page.locator("[data-selector]").inner_text() == ""
        assert page.frame_locator("iframe").locator(".noiseclean-place").count() == 0
        assert drop.is_disabled()
        held.pop().continue_()
        page.locator("[data-selector]:not(:empty)").wait_for()
        number = rows.nth(2).get_attribute("data-row")
        with page.expect_request("**/api/proposals") as asked:
            drop.click()
        found = server.get(f"/api/pages/{key}/places?block={number}")
        assert asked.value.post_data_json["selector"] == found["levels"][0]["selector"]
        page.wait_for_url("**/proposals/*")


def test_a_server_that_does_not_answer_is_told(
    browser: Any, courier: tuple[DemoCrawl, Served]
) -> None:
    demo, server = courier
    with window(browser, server) as bench:
        page = bench.page
        page.goto(f"{server.url}/pages/{server.page(demo.article()[0])}")
        rows = page.locator("[data-list=reading] [data-row]")
        rows.first.click()
        page.locator("[data-selector]:not(:empty)").wait_for()
        page.route("**/places*", lambda route: route.abort())
        rows.nth(2).click()
        page.locator("[data-problem]:not(:empty)").wait_for()
        assert page.locator("[data-problem]").inner_text() == (
            "The workbench does not answer: is noiseclean serve still running?"
        )
        assert page.locator("[data-stands]").inner_text() == ""
        assert page.get_by_role("button", name="Always drop this").is_disabled()
        page.unroute("**/places*")
        rows.first.click()
        page.locator("[data-selector]:not(:empty)").wait_for()
        assert page.locator("[data-problem]").inner_text() == ""
        page.route("**/api/proposals", lambda route: route.abort())
        page.get_by_role("button", name="Always drop this").dblclick()
        page.locator("[data-problem]:not(:empty)").wait_for()
        assert page.get_by_role("button", name="Always drop this").is_enabled()
        assert sum(url.endswith("/api/proposals") for url in bench.requests) == 1
        bench.console.clear()  # the browser tells of each request that failed


def test_a_site_is_taught_with_the_keyboard_alone(browser: Any, tmp_path: Path) -> None:
    demo = copy_demo(tmp_path)
    folder = demo.database.parent
    with (
        serving(folder, "--overrides", "rules.toml") as server,
        window(browser, server) as bench,
    ):
        page = bench.page
        page.goto(f"{server.url}/pages/{server.page(demo.article()[0])}")
        row = page.locator("[data-list=reading] [data-row]").nth(2)
        row.focus()
        page.keyboard.press("Enter")
        page.locator("[data-selector]:not(:empty)").wait_for()
        page.get_by_role("button", name="Always drop this").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/proposals/*")
        page.locator("[data-done=yes]").wait_for()
        page.wait_for_load_state()  # by then the script listens
        assert page.locator(".beside").count() > 0
        assert page.locator(".beside del").count() > 0
        assert not (folder / "rules.toml").exists()
        page.get_by_role("button", name="Write the rule").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/rules")
        page.locator("[data-state=done]").wait_for()
        page.go_back()
        page.wait_for_url("**/rules")  # there is nothing to decide any more
        assert page.locator("[data-state=done]").count() == 1
        assert "drop" in (folder / "rules.toml").read_text()
        assert "drop" in page.locator("pre").inner_text()
        page.get_by_role("button", name="Undo").focus()
        page.keyboard.press("Enter")
        page.locator("[data-state=undone]").wait_for()
        assert (folder / "rules.toml").read_text() == ""


def test_two_clicks_of_the_tutorial(browser: Any, tmp_path: Path) -> None:
    """What stands below the headlines of lists is pointed at; it goes from all pages, alone."""
    demo = copy_demo(tmp_path)
    folder = demo.database.parent
    (folder / "rules.toml").write_text('["127.0.0.1"]\nkeep = ["figcaption"]\n')
    run_console(folder, "reclean", "--database", "noiseclean.db")
    before = {record.key: record.cleaned.text for record in demo.records() if record.cleaned}
    with Store(f"sqlite:///{demo.database}", read_only=True) as store:
        stored = [Selector(store.pages.html(key) or "<p>") for key in before]
    below = {p.xpath("normalize-space()").get() for page in stored for p in page.xpath(TEASER)}
    with (
        serving(folder, "--overrides", "rules.toml") as server,
        window(browser, server) as bench,
    ):
        page = bench.page
        page.goto(f"{server.url}/pages/{server.page(demo.url('/'))}")
        line = page.frame_locator("iframe").locator(f"xpath={TEASER}").first
        assert line.inner_text() in below
        line.click()
        page.locator("[data-selector]:not(:empty)").wait_for()
        assert "of 66 pages" in page.locator("[data-stands]").inner_text()
        page.get_by_role("button", name="Always drop this").click()
        page.locator("[data-done=yes]").wait_for()
        page.wait_for_load_state()  # by then the script listens
        gone = page.locator(".beside del").all_inner_texts()
        assert len(gone) > 5
        assert {" ".join(text.split()) for text in gone} <= below
        assert page.locator(".beside ins").count() == 0
        page.get_by_role("button", name="Write the rule").click()
        page.locator("[data-state=done]").wait_for()
    rules = (folder / "rules.toml").read_text()
    assert rules.startswith('["127.0.0.1"]\nkeep = ["figcaption"]\ndrop = ["')
    after = {record.key: record.cleaned.text for record in demo.records() if record.cleaned}
    lost = [set(before[key].split("\n")) - set(after[key].split("\n")) for key in before]
    assert sum(bool(lines) for lines in lost) >= 2
    assert {text for lines in lost for text in lines} <= below


def test_the_review_leads_to_pages(browser: Any, courier: tuple[DemoCrawl, Served]) -> None:
    with window(browser, courier[1]) as bench:
        page = bench.page
        page.get_by_role("link", name="Review").click()
        first = page.locator(".queue a").first
        first.wait_for()
        title = first.inner_text()
        first.click()
        page.wait_for_url("**/pages/*")
        assert page.get_by_role("heading", level=1).inner_text() == title


@pytest.mark.slow
def test_a_crawl_is_seen_while_it_runs(browser: Any, tmp_path: Path) -> None:
    demo = copy_demo(tmp_path)
    enter_project(tmp_path)
    with (
        DemoServer(DemoSite(articles=8, seed=6)) as site,
        serving(tmp_path) as server,
        window(browser, server) as bench,
    ):
        page = bench.page
        before = page.locator("[data-total=pages]").inner_text()
        command = scrapy_command(
            *("crawl", "newspaper", "-a", f"start_urls={site.url}/"),
            *("-s", "NOISECLEAN_DATABASE_URL=sqlite:///noiseclean.db"),
            *("-s", "DOWNLOAD_DELAY=0.2", "-s", "AUTOTHROTTLE_ENABLED=0"),
        )
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL
        ) as crawl:
            page.locator("[data-more]").wait_for()
            assert crawl.poll() is None
            assert page.locator("[data-totals]").inner_text().startswith("2 sites ·")
            page.locator("[data-more] a").click()
            name = site.url.removeprefix("http://")
            pages = page.locator(f'tr[data-site="{name}"] [data-value=pages]')
            seen = pages.inner_text()
            page.wait_for_function(
                "([row, seen]) => document.querySelector(row).textContent !== seen",
                arg=[f'tr[data-site="{name}"] [data-value=pages]', seen],
            )
            crawl.wait(120)
        assert page.locator("[data-total=pages]").inner_text() != before
    assert demo.site


def test_windows_that_nobody_sees_leave_room_for_others(
    browser: Any, courier: tuple[DemoCrawl, Served]
) -> None:
    _, server = courier
    with window(browser, server) as bench:
        context = bench.page.context
        # Without a screen all windows of a browser count as seen.
        hide = (
            "Object.defineProperty(document, 'hidden', { get: () => document.title !== 'seen' });"
        )
        context.add_init_script(hide)
        for _ in range(8):
            page = context.new_page()
            page.goto(server.url, timeout=20_000)
        last = page.evaluate(
            "async () => { document.title = 'seen'; const found = new Promise((done) =>"
            "{ const source = new EventSource('/events'); source.onmessage = done;"
            "source.addEventListener('totals', () => { source.close(); done('told'); }); });"
            "document.dispatchEvent(new Event('visibilitychange')); return found; }"
        )
        assert last == "told"


@pytest.mark.slow
def test_two_archives_side_by_side(browser: Any, tmp_path: Path) -> None:
    from tests.support.archives import warc

    for name, seed in (("a.example", 1), ("b.example", 2)):
        pages = DemoSite(articles=6, seed=seed).pages.items()
        archive = warc(
            *(
                ("response", f"https://{name}{path}", "text/html", page.html.encode())
                for path, page in pages
            )
        )
        (tmp_path / f"{name}.warc.gz").write_bytes(archive)
        run_console(tmp_path, "replay", f"{name}.warc.gz", "-s", "NOISECLEAN_STORE_HTML=1")
    with (
        serving(tmp_path, "--overrides", "rules.toml") as server,
        window(browser, server) as bench,
    ):
        page = bench.page
        names = [row["name"] for row in server.get("/api/sites")["sites"]]
        assert names == ["a.example", "b.example"]
        page.goto(f"{server.url}/search?q=the&site=b.example")
        page.locator(".hits a").first.click()
        page.locator("[data-list=reading] [data-row]").nth(1).click()
        page.locator("[data-selector]:not(:empty)").wait_for()
        page.get_by_role("button", name="Always drop this").click()
        page.locator("[data-done=yes]").wait_for()
        page.wait_for_load_state()  # by then the script listens
        page.get_by_role("button", name="Write the rule").click()
        page.locator("[data-state=done]").wait_for()
        rules = (tmp_path / "rules.toml").read_text()
        assert "b.example" in rules
        assert "a.example" not in rules


# Safety ------------------------------------------------------------------------------------------


def hostile_database(folder: Path, address: str) -> list[str]:
    """A database of one page for each trick; their keys."""
    story = "<h1>Fog closes the port</h1><p>No ferry left the harbour town on Monday.</p>"
    keys = []
    with Store(f"sqlite:///{folder / 'hostile.db'}", store_html=True) as store:
        for number, trick in enumerate(TRICKS.rstrip("\n").split("\n")):
            trick = trick.replace("RUN", RUN).replace("SERVER", address)
            html = f"<!doctype html><html onclick='{RUN}'><title>{trick}</title>{story}{trick}"
            clean = SiteCleaner().clean(html, url="https://h.example/")
            keys.append(f"{number:04x}")
            record = PageRecord(
                key=keys[-1],
                cluster="h.example",
                url=f"javascript:{RUN}//{number}",
                body_hash="",
                fetched_at=datetime.now(timezone.utc),
                position=number + 1,
                html=html,
                cleaned=to_record(clean, 0, Config()),
            )
            store.pages.write([record], method="evidence")
    return keys


def test_nothing_of_a_hostile_page_runs_or_loads(browser: Any, tmp_path: Path) -> None:
    with listening() as (address, asked):
        keys = hostile_database(tmp_path, address)
        with serving(tmp_path, database="hostile.db") as server:
            context = browser.new_context()
            page = context.new_page()
            page.goto(server.entrance)
            for path in ("/", "/sites/h.example", "/search?q=fog", "/review"):
                page.goto(server.url + path)
                assert page.evaluate(HACKED) is False, path
            for key in keys:
                page.goto(f"{server.url}/pages/{key}")
                title = page.title()
                page.frame_locator("iframe").locator("h1").first.click()
                page.frames[1].evaluate(CLICK_ALL, "body *")
                assert page.evaluate(HACKED) is False, key
                assert page.title() == title, key
                assert [frame.url for frame in page.frames[1:]] == [f"{server.url}/frames/{key}"]
                # The frame alone, as a window of its own, is as dead.
                page.goto(f"{server.url}/frames/{key}")
                page.evaluate(CLICK_ALL, "body *")
                assert page.evaluate("[window.hacked, document.title]")[0] is None, key
            context.close()
        assert asked == []


def test_another_site_can_neither_read_nor_change_nor_frame(browser: Any, tmp_path: Path) -> None:
    demo = copy_demo(tmp_path)
    with (
        serving(demo.database.parent, "--overrides", "rules.toml") as server,
        DemoServer(DemoSite(articles=2)) as evil,
    ):
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.entrance)  # the person has the cookie
        page.goto(evil.url.replace("127.0.0.1", "localhost"))
        read = "url => fetch(url, {credentials: 'include'}).then(a => a.text(), () => 'refused')"
        assert page.evaluate(read, f"{server.url}/api/sites") == "refused"
        post = (
            "url => fetch(url, {method: 'POST', mode: 'no-cors', credentials: 'include', "
            "body: JSON.stringify({page: 'x', verdict: 'drop', selector: 'p'})})"
            ".then(a => a.type, () => 'refused')"
        )
        page.evaluate(post, f"{server.url}/api/proposals")
        assert server.get("/api/changes")["changes"] == []
        framed = (
            "url => new Promise(done => { const frame = document.createElement('iframe');"
            "frame.src = url; frame.onload = () => { let text; try { text = "
            "frame.contentDocument.body.textContent } catch { text = 'closed' } done(text) };"
            "document.body.append(frame) })"
        )
        page.evaluate(framed, f"{server.url}/")
        shown = [frame.url for frame in page.frames[1:]]
        assert not any(url.startswith(server.url) for url in shown) or (
            "Another site asked" in page.frames[-1].content()
        )
        context.close()


# For everybody -----------------------------------------------------------------------------------

VIEWS = ("/", "/search?q=harbour", "/review", "/rules", "/sites/{site}", "/pages/{key}")


def views(bench: Window, demo: DemoCrawl, server: Served) -> Iterator[str]:
    """Each view in turn; of a page with a block that is chosen, then with a rule that is tried."""
    key = server.page(demo.article()[0])
    for view in VIEWS:
        bench.page.goto(server.url + view.format(site=demo.site, key=key))
        yield view
    bench.page.locator("[data-row]").nth(1).click()
    bench.page.locator("[data-selector]:not(:empty)").wait_for()
    yield "a block"
    bench.page.get_by_role("button", name="Always drop this").click()
    bench.page.locator("[data-done=yes]").wait_for()
    bench.page.wait_for_load_state()  # by then the script listens
    yield "a rule"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, browser: Any, courier: tuple[DemoCrawl, Served]) -> None:
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        give_up("axe-core is not installed: pip install -e '.[dev]'")
    demo, server = courier
    with window(browser, server, color_scheme=scheme, bypass_csp=True) as bench:
        for view in views(bench, demo, server):
            # What a crawled page looks like is its own matter.
            found = Axe().run(bench.page, context={"exclude": ["iframe"]})
            assert found.violations_count == 0, f"{view}: {found.generate_report()}"


@pytest.mark.parametrize("width", [320, 390, 1280, 2560])
def test_nothing_sticks_out(width: int, browser: Any, courier: tuple[DemoCrawl, Served]) -> None:
    demo, server = courier
    with window(browser, server, viewport={"width": width, "height": 800}) as bench:
        for view in views(bench, demo, server):
            assert bench.page.evaluate("document.documentElement.scrollWidth") <= width, view


@pytest.mark.parametrize(("width", "height"), [(320, 256), (667, 375), (640, 512)])
def test_a_low_window_has_room_for_the_page(
    width: int, height: int, browser: Any, courier: tuple[DemoCrawl, Served]
) -> None:
    demo, server = courier
    with window(browser, server, viewport={"width": width, "height": height}) as bench:
        page = bench.page
        page.goto(f"{server.url}/pages/{server.page(demo.article()[0])}")
        page.frame_locator("iframe").get_by_role("heading", level=1).click()
        page.locator("[data-selector]:not(:empty)").wait_for()
        assert page.locator("iframe").bounding_box()["height"] >= 0.75 * height
        page.get_by_role("button", name="Always drop this").click(trial=True)
        page.locator("[data-list=reading] [data-row]").last.click(trial=True)
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_one_long_word_does_not_widen_a_view(browser: Any, tmp_path: Path) -> None:
    word, site = "fog" * 400, f"{'a' * 60}.{'b' * 60}.example"
    with Store(f"sqlite:///{tmp_path / 'noiseclean.db'}", store_html=True) as store:
        record = stored_page("aa", "Fog closes.", title=word, cluster=site)
        store.pages.write(
            [replace(record, html=f"<title>{word}</title><p>Fog closes.")], method="evidence"
        )
    with (
        serving(tmp_path) as server,
        window(browser, server, viewport={"width": 320, "height": 800}) as bench,
    ):
        for path in ("/search?q=fog", "/pages/aa", f"/sites/{site}", "/"):
            bench.page.goto(server.url + path)
            bench.page.get_by_text(site if path == "/" else "fog").first.wait_for()
            assert bench.page.evaluate("document.documentElement.scrollWidth") == 320, path


def test_without_scripts_a_page_has_its_text(
    browser: Any, courier: tuple[DemoCrawl, Served]
) -> None:
    demo, server = courier
    key = server.page(demo.article()[0])
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server.url}/pages/{key}")
    last = server.get(f"/api/pages/{key}")["text"].split("\n")[-1]
    assert last in page.locator("noscript article").inner_text()
    assert page.locator("noscript").evaluate("part => part.clientHeight") > 400
    context.close()
