"""The workbench over its real server: who is answered, the API, rules and their journal."""

from __future__ import annotations

import http.client
import json
import random
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from lxml.cssselect import CSSSelector
from parsel import Selector
from starlette.routing import Route

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.page.overrides import Overrides
from noiseclean_scrapy.page.parse import parse_html
from noiseclean_scrapy.page.urls import host
from noiseclean_scrapy.store import Store
from noiseclean_scrapy.web.app import STATIC, create_app
from noiseclean_scrapy.web.boxes import selector_of
from noiseclean_scrapy.web.openapi import description
from noiseclean_scrapy.web.review import review_queue
from noiseclean_scrapy.web.rules import (
    Rule,
    pattern_of,
    read_source,
    with_rule,
    without_rule,
    write_source,
)
from noiseclean_scrapy.web.workbench import Workbench
from tests.support.command_line import DemoCrawl, copy_demo, run_console
from tests.support.databases import stored_texts
from tests.support.searching import page
from tests.support.slow_small_sites import examples, random_bodies
from tests.support.workbench import Served, serving, wait_for

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> DemoCrawl:
    return copy_demo(tmp_path_factory.mktemp("workbench"))


@pytest.fixture(scope="module")
def served(demo_folder: DemoCrawl) -> Iterator[Served]:
    """The workbench of the demo newspaper, in which nothing can be changed."""
    with serving(demo_folder.database.parent, "--read-only") as server:
        yield server


# Who is answered ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1", "127.0.0.1.evil.example:80", ""])
def test_other_hosts_are_refused(name: str, served: Served) -> None:
    assert served.ask("/", {"Host": name}).status == 421


def test_localhost_is_another_name_of_this_machine(served: Served) -> None:
    port = served.url.rpartition(":")[2]
    for name in (f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        assert served.ask("/", {"Host": name}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
)
def test_other_sites_get_nothing(headers: dict[str, str], served: Served) -> None:
    assert served.ask("/api/sites", headers).status == 403


def test_a_link_from_elsewhere_may_be_opened_and_a_form_may_not(served: Served) -> None:
    opened = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    assert served.ask("/search?q=fog", opened).status == 200
    with_token = {**opened, "Authorization": f"Bearer {served.token}"}
    assert served.ask("/api/proposals", with_token, method="POST", body=b"{}").status == 403


def test_changes_need_the_token(served: Served) -> None:
    body = b"{}"
    cookie = f"noiseclean-{served.url.rpartition(':')[2]}"
    for headers in ({}, {"Authorization": "Bearer x"}, {"Cookie": f"{cookie}=x"}):
        answer = served.ask("/api/proposals", headers, method="POST", body=body)
        assert answer.status == 401
        assert "it has the token" in answer.json["error"]
    own = {"Cookie": f"{cookie}={served.token}", "Origin": served.url}
    assert served.ask("/api/proposals", own, method="POST", body=body).status == 400
    foreign = own | {"Origin": "https://evil.example"}
    assert served.ask("/api/proposals", foreign, method="POST", body=body).status == 403


def test_the_token_comes_as_a_cookie_that_no_other_site_sends(served: Served) -> None:
    answer = served.ask(f"/open?token={served.token}")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    wrong = served.ask("/open?token=wrong")
    assert wrong.status == 400
    assert "set-cookie" not in wrong.headers


def test_read_only_changes_nothing(served: Served, demo_folder: DemoCrawl) -> None:
    page = served.page(demo_folder.article()[0])
    given = {"page": page, "verdict": "drop", "selector": "p"}
    answer = served.post("/api/proposals", given)
    assert (answer.status, answer.json["error"]) == (400, "the workbench is read-only")


def test_large_requests_are_refused(served: Served) -> None:
    assert served.post("/api/proposals", {"page": "x" * 70_000}).status == 413
    endless = {"Authorization": f"Bearer {served.token}", "Transfer-Encoding": "chunked"}
    for headers in (endless, {**endless, "Content-Length": "2"}):
        assert served.ask("/api/proposals", headers, method="POST").status == 413


@pytest.mark.parametrize(
    "options", [("--host", "127.0.0.2"), ("--name", "Media-PC", "--host", "127.0.0.2")]
)
def test_the_printed_address_is_answered(options: tuple[str, ...], demo_folder: DemoCrawl) -> None:
    with serving(demo_folder.database.parent, "--read-only", *options) as server:
        host, _, port = urlsplit(server.url).netloc.rpartition(":")
        local = Served(f"http://127.0.0.2:{port}", server.token, server.process)
        known = {"Host": f"{host}:{port}", "Authorization": f"Bearer {server.token}"}
        assert local.ask("/", known).status == 200


def test_pages_without_a_text_have_views(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'noiseclean.db'}", store_html=True) as store:
        for key, html in (("aa", "<p>Fog."), ("bb", None)):
            record = replace(page(key, "text"), cleaned=None, html=html)
            store.pages.write([record], method="evidence")
    with serving(tmp_path, "--read-only") as server:
        for key in ("aa", "bb"):
            assert server.ask(f"/pages/{key}").status == 200
            assert server.get(f"/api/pages/{key}")["key"] == key
        assert "This page has no text." in server.ask("/pages/bb").text
        assert "nothing at this address" not in server.ask("/api/proposals").text


def test_blocks_of_the_api_are_chosen(served: Served, demo_folder: DemoCrawl) -> None:
    address = f"/api/pages/{served.page(demo_folder.article()[0])}"
    whole = served.get(address)
    assert len(whole["blocks"]) == whole["block_count"] > 10
    assert served.get(f"{address}?offset=2&limit=3")["blocks"] == whole["blocks"][2:5]


def test_a_browser_in_the_terminal_is_answered(demo_folder: DemoCrawl, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    code = f"import sys, urllib.request as u; u.urlopen(sys.argv[1]); open({str(seen)!r}, 'w')"
    browser = f'{sys.executable} -c "{code}" %s'
    with serving(
        demo_folder.database.parent, "--read-only", opens=True, environ={"BROWSER": browser}
    ):
        assert wait_for(seen.exists, bool, seconds=30)


def test_every_answer_has_the_headers(served: Served, demo_folder: DemoCrawl) -> None:
    page = served.page(demo_folder.article()[0])
    for path in ("/", "/nothing", "/api/sites", f"/pages/{page}", "/static/workbench.js"):
        headers = served.ask(path).headers
        assert (
            "default-src 'none'; script-src 'self'; style-src 'self';"
            in (headers["content-security-policy"])
        )
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["referrer-policy"] == "no-referrer"
    policy = served.ask(f"/frames/{page}").headers["content-security-policy"]
    assert "sandbox allow-same-origin" in policy
    assert "script-src" not in policy


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/page.html.jinja",
        "/pages/../../etc/passwd",
        "/frames/%00",
        "/sites//etc/passwd",
        "/proposals/..%2f..%2foverrides.toml",
    ],
)
def test_no_path_reaches_the_disk(path: str, served: Served) -> None:
    assert served.ask(path).status == 404


def test_beyond_this_machine_reading_needs_the_token_too(demo: DemoCrawl) -> None:
    with serving(demo.database.parent, "--host", "0.0.0.0", "--name", "bench.example") as server:
        assert server.url.startswith("http://bench.example:")
        port = server.url.rpartition(":")[2]
        local = Served(f"http://127.0.0.1:{port}", server.token, server.process)
        name = {"Host": f"bench.example:{port}"}
        assert local.ask("/api/sites").status == 421
        assert local.ask("/api/sites", name).status == 401
        known = {"Authorization": f"Bearer {server.token}", **name}
        assert local.ask("/api/sites", known).status == 200


def test_behind_a_proxy_reading_needs_the_token_too(demo: DemoCrawl) -> None:
    with serving(demo.database.parent, "--read-only", "--name", "bench.example") as server:
        port = server.url.rpartition(":")[2]
        local = Served(f"http://127.0.0.1:{port}", server.token, server.process)
        name = {"Host": "bench.example"}
        assert local.ask("/api/sites", name).status == local.ask("/api/sites").status == 401
        known = {"Authorization": f"Bearer {server.token}", **name}
        assert local.ask("/api/sites", known).status == 200


def test_two_databases_are_refused(demo: DemoCrawl) -> None:
    folder, name = demo.database.parent, "noiseclean.db"
    for names in (("other.db", "--database", name), ("--database", name, "other.db")):
        done = run_console(folder, "serve", *names, code=2)
        assert "two databases are given" in done.stderr
    with serving(folder, "--read-only", "--database", name) as server:
        assert server.ask("/").status == 200


# What is read ------------------------------------------------------------------------------------


def test_the_api_gives_what_is_stored(served: Served, demo_folder: DemoCrawl) -> None:
    url, _ = demo_folder.article()
    (site,) = served.get("/api/sites")["sites"]
    records = list(demo_folder.records())
    assert (site["name"], site["pages"]) == (demo_folder.site, len(records))
    record = next(record for record in records if record.url == url)
    assert record.cleaned
    page = served.get(f"/api/pages/{record.key}")
    assert page["text"] == record.cleaned.text
    assert page["markdown"].startswith("# ")
    assert {block["kept"] for block in page["blocks"]} == {True, False}
    assert all(block["reasons"] for block in page["blocks"] if block["text"] == "Politics")
    hits = served.get(f"/api/search?q=%22{record.cleaned.title.replace(' ', '%20')}%22")
    assert record.key in {hit["key"] for hit in hits["hits"]}
    assert served.get("/api/pages?limit=3&offset=2")["pages"][0]["url"]


def test_numbers_as_programs_write_them(served: Served) -> None:
    whole = served.get("/api/pages?limit=3")
    assert served.get("/api/pages?limit=00000000003") == whole
    assert served.get("/api/pages?offset=&limit=3") == whole


def test_what_cannot_be_is_told(served: Served) -> None:
    for path, status, words in (
        ("/api/search", 400, "search for"),
        ("/api/search?q=fog&since=tomorrow", 400, "no day"),
        ("/api/pages/nothing", 404, "no such page"),
        ("/api/sites?sort=colour", 400, "none of name, pages"),
        ("/api/sites?limit=abc", 400, "limit='abc' is no number"),
        ("/api/pages?offset=-1", 400, "offset='-1' is no number"),
        ("/api/search?q=fog&page=two", 400, "page='two' is no number"),
        ("/api/proposals/1", 404, "not there any more"),
        ("/api/nothing", 404, "nothing at this address"),
    ):
        answer = served.ask(path)
        assert answer.status == status, path
        assert words in answer.json["error"] or path == "/api/search"
    assert "no such page" in served.ask("/pages/nothing").text
    assert "no site &#39;&lt;b&gt;&#39;" in served.ask("/sites/%3Cb%3E").text


def test_the_description_names_every_path_and_is_valid(demo: DemoCrawl) -> None:
    validator = pytest.importorskip("openapi_spec_validator", reason="needs the extra dev")
    validator.validate(description("noiseclean-80"))
    with Store(f"sqlite:///{demo.database}", read_only=True) as store:
        routes = create_app(Workbench(store, None), hosts=[]).routes  # type: ignore[arg-type]
    paths = description("noiseclean-80")["paths"]
    described = {(path, method.upper()) for path, ways in paths.items() for method in ways}
    ours = {
        (route.path, method)
        for route in routes
        if isinstance(route, Route) and route.path.startswith("/api/")
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert ours == described


def test_boxes_around_a_block_stand_on_all_pages(served: Served, demo_folder: DemoCrawl) -> None:
    key = served.page(demo_folder.article()[0])
    blocks = served.get(f"/api/pages/{key}")["blocks"]
    number = next(n for n, block in enumerate(blocks) if block["text"] == "Politics")
    found = served.get(f"/api/pages/{key}/places?block={number}")
    records = list(demo_folder.records())
    assert found["of"] == found["pages"] == len(records)
    for level in found["levels"]:
        pages = sum(
            any(
                f"{block.place}/".startswith(f"{level['place']}/")
                for block in record.cleaned.blocks
            )
            for record in records
            if record.cleaned
        )
        assert level["pages"] == pages
    sizes = [level["characters"] for level in found["levels"]]
    assert sizes == sorted(sizes)
    assert sizes[0] >= len("Politics")
    assert served.ask(f"/api/pages/{key}/places?block=99999").status == 404


def test_the_review_names_pages_and_reasons(served: Served) -> None:
    found = wait_for(lambda: served.get("/api/review"), lambda answer: answer["is_ready"])
    assert {page["reason"] for page in found["pages"]} <= {
        "empty text",
        "low fit",
        "doubtful verdicts",
        "kept though repeated",
    }
    assert found["pages"]
    worth = [page["worth"] for page in found["pages"]]
    assert worth == sorted(worth, reverse=True)


def test_a_list_that_ends_earlier_says_so(served: Served, demo_folder: DemoCrawl) -> None:
    for path in ("/?sort=name", f"/sites/{demo_folder.site}?order=fit", "/search?q=the"):
        past = served.ask(f"{path}&page=9999").text
        assert "There is no page 9999 of this list." in past
        assert f'<a href="{path}">Page 1</a>' in past
        assert "is stored yet" not in past
        assert "Previous" not in past
        assert "There is no page" not in served.ask(path).text
    assert "There is no page" not in served.ask("/search?q=nowherefound").text


def test_filters_alone_search_for_nothing_and_say_so(served: Served) -> None:
    words = "Give a word to search for."
    assert words in served.ask("/search?q=&site=example.com").text
    assert words not in served.ask("/search?site=example.com").text  # a link of the site's view
    assert words not in served.ask("/search?q=fog").text


def test_a_wrong_method_is_told_the_right_ones(served: Served) -> None:
    known = {"Authorization": f"Bearer {served.token}"}
    for path, allowed in (("/api/sites", {"GET", "HEAD"}), ("/", {"GET", "HEAD"})):
        answer = served.ask(path, known, method="POST", body=b"{}")
        assert answer.status == 405
        assert set(answer.headers["allow"].split(", ")) == allowed


def test_a_request_for_a_websocket_is_not_told(demo: DemoCrawl) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    with serving(demo.database.parent, "--read-only") as server:
        assert server.ask("/", {**upgrade, "Sec-WebSocket-Key": "x" * 22 + "=="}).status == 200
        server.process.send_signal(signal.SIGINT)
        _, told = server.process.communicate(timeout=60)
    assert "WebSocket" not in told


def test_views_say_what_they_do_without_scripts(served: Served, demo_folder: DemoCrawl) -> None:
    url, _ = demo_folder.article()
    key = served.page(url)
    (silent,) = Selector(served.ask(f"/pages/{key}").text).css("noscript")
    assert "switched off" in silent.css("p").get("")
    text = served.get(f"/api/pages/{key}")["text"]
    assert silent.css("article::text").get("") == text


# Rules -------------------------------------------------------------------------------------------

FILE = """# My rules.
["example.com"]
drop = ".newsletter"   # every week

[["example.com".pages]]
url = "/live/"
drop = [".score-box"]  # moves

["b.example"]
keep = ["table",  # results
  "pre"]
"""


@pytest.mark.parametrize("site", ["example.com", "b.example", "new.example"])
@pytest.mark.parametrize("verdict", ["drop", "keep", "title", "drop_text", "keep_text"])
@pytest.mark.parametrize("pattern", ["", "/live/", r"/\d+/it's"])
def test_a_rule_is_added_and_taken_out_again(site: str, verdict: str, pattern: str) -> None:
    rule = Rule(site, verdict, "div.box > p", pattern)
    written = with_rule(FILE, rule)
    lines = written.splitlines()
    for comment in ("# My rules.", "# every week", "# moves", "# results"):
        assert any(comment in line for line in lines)
    kept = [line for line in FILE.splitlines() if line and "drop = " not in line]
    places = [lines.index(line) for line in kept if line in lines]
    assert places == sorted(places)
    assert with_rule(written, rule) == written
    assert Overrides.parse(written).sites.keys() >= {site}
    without = without_rule(written, rule)
    assert Overrides.parse(without).sites.keys() == Overrides.parse(FILE).sites.keys()
    assert "div.box" not in without
    assert without_rule(FILE, rule) == FILE


@pytest.mark.parametrize(
    "behind", ['\n# Ads of b, see ticket 12\n["b.com"]\ndrop = ".ad"\n', '# drop = ".old"\n']
)
def test_comments_behind_a_rule_stay(behind: str) -> None:
    for pattern in ("", "/live/"):
        rule = Rule("a.com", "drop", "p", pattern)
        source = with_rule("", rule) + behind
        without = without_rule(source, rule)
        assert '"p"' not in without
        assert behind.strip() in without
        assert with_rule(without, rule).count('"p"') == 1


def test_a_rule_that_cannot_be_written_is_to_be_added_by_hand() -> None:
    source = '"a.com".drop = ".ad"\n"a.com".keep = [".story"]\n'
    with pytest.raises(ConfigurationError, match="add it by hand"):
        with_rule(source, Rule("a.com", "keep", "p", "/live/"))


def test_a_rule_taken_out_takes_no_other_rule_with_it() -> None:
    ours = '[["example.com".pages]]\nurl = "/news/"\nkeep = [".story"]\n'
    source = f'["example.com"]\n{ours}[["example.com".pages]]\nurl = "/news/"\ndrop = ".ad"\n'
    rule = Rule("example.com", "drop", ".ad", "/news/")
    assert with_rule(source, rule) == source  # it stands in the second table
    assert without_rule(source, rule) == f'["example.com"]\n{ours}'
    other = Rule("example.com", "drop", ".box", "/news/")
    assert without_rule(with_rule(source, other), other) == source


def test_a_file_keeps_its_line_ends_and_may_begin_with_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_bytes('\ufeff["b.com"]\r\ndrop = ".ad"\r\n'.encode())
    write_source(path, with_rule(read_source(path), Rule("a.com", "drop", "p")))
    assert path.read_bytes().startswith(b'["b.com"]\r\ndrop = ".ad"\r\n')
    assert Overrides.read(path).sites.keys() == {"a.com", "b.com"}


def test_rules_are_added_and_taken_out_in_any_order() -> None:
    rng = random.Random(1)
    sites, patterns = (
        ("example.com", "b.example", "new.example"),
        ("", "/live/", "it's", '"', "\\d"),
    )
    selectors = ("p", "a > b", "p[c='d']", 'p[c="d"]', "p[c='#']")
    for _ in range(150):
        source = rng.choice(("", "# Mine.\n", FILE))
        taken: list[Rule] = []
        for _ in range(8):
            if taken and rng.random() < 0.4:
                source = without_rule(source, taken.pop(rng.randrange(len(taken))))
            else:
                verdict = rng.choice(("drop", "keep", "title", "drop_text"))
                choices = map(rng.choice, (sites, (verdict,), selectors, patterns))
                taken.append(Rule(*choices))
                source = with_rule(source, taken[-1])
            sites_of = Overrides.parse(source).sites.keys()
            assert sites_of >= {rule.site for rule in taken}


@pytest.mark.parametrize(
    "rule",
    [
        Rule("example.com", "burn", "p"),
        Rule("example.com", "drop", "p["),
        Rule("example.com", "drop", "p", "("),
        Rule("no site", "drop", "p"),
        Rule("example.com", "drop", "p" * 2000),
        Rule("example.com", "drop", "p:contains('x')"),
        Rule("example.com", "drop", "u|p"),
        Rule("example.com", "drop", "p\ud800"),
        Rule("example.com", "keep_text", "Fog\x00"),
        Rule("example.com", "drop", "p", "/a\n[b]"),
    ],
)
def test_what_is_no_rule_is_refused(rule: Rule) -> None:
    with pytest.raises(ConfigurationError):
        rule.check()


@pytest.mark.parametrize(
    ("html", "selector"),
    [
        ("<div class='box'><p id=x>1<p>2</div><p>3", "div.box > p"),
        ("<div class='box post-4711 a1b2c3d4'><p id=x>1</div><div><p>3</div>", "div.box > p"),
        ("<div id=aside><p id=x>1</div><div><p>3</div>", "div#aside > p"),
        ("<p>1</p><div><p id=x>2</div>", "div > p"),
        ("<section class=a><p id=x>1</section><section class=b><p>2</section>", "section.a > p"),
        ("<my-card><b id=x>1</b></my-card>", "b"),
    ],
)
def test_selectors_are_short_and_find_their_like(html: str, selector: str) -> None:
    root = parse_html(html).root
    element = next(part for part in root.iter() if part.get("id") == "x")
    del element.attrib["id"]
    assert selector_of(element) == (selector, CSSSelector(selector, translator="html")(root))


@examples
@given(random_bodies, st.randoms(use_true_random=False))
def test_a_selector_finds_what_it_is_said_to(body: str, chance: random.Random) -> None:
    root = parse_html(f"{body}<p>a").root
    element = chance.choice(list(root.iter(etree.Element)))
    selector, like = selector_of(element)
    if selector:
        assert element in like
        found: Any = CSSSelector(selector, translator="html")(root)
        assert (len(found), set(found)) == (len(like), set(like))


def test_a_pattern_holds_for_addresses_of_the_same_form() -> None:
    pattern = pattern_of("https://example.com/news/2031/fog-closes-port.html?page=2")
    for url, is_like in (
        ("https://example.com/news/2030/trams.html", True),
        ("https://example.com/news/2030/trams.html?a=1", True),
        ("https://example.com/news/2030/", False),
        ("https://example.com/sport/2030/trams.html", False),
        ("https://example.com/news/2030/a/trams.html", False),
    ):
        assert bool(re.search(pattern, url)) is is_like, url


def test_a_rule_goes_into_the_table_of_its_site_however_that_is_spelled() -> None:
    source = '["Example.com."]\ndrop = [".ad", ".promo"]\n'
    rule = Rule("example.com", "drop", ".x", "")
    written = with_rule(source, rule)
    assert written == '["Example.com."]\ndrop = [".ad", ".promo", ".x"]\n'
    assert without_rule(written, rule) == source


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://example.com?page=2",
        "https://example.com/",
        "https://example.com//a",
        "https://example.com/a//b.html",
        "https://example.com/a/",
        "https://example.com/.html",
        "https://example.com/news/2031/fog-closes-port.html?page=2",
        "https://example.com#a/b",
        "https://example.com/news/fog.html#a/b?c",
        "javascript:history.back()",
        "urn:pageinfo:1",
        "http://[",
    ],
)
def test_a_pattern_holds_for_its_own_address(url: str) -> None:
    assert re.search(pattern_of(url), url)


def teach(server: Served, key: str, selector: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Propose to drop what a selector finds, and take it; the proposal and the change."""
    given = {"page": key, "verdict": "drop", "selector": selector}
    asked = server.post("/api/proposals", given)
    assert asked.status == 201, asked
    path = f"/api/proposals/{asked.json['id']}"
    proposal = wait_for(lambda: server.get(path), lambda found: found["is_done"])
    taken = server.post(f"{path}/take", {})
    assert taken.status == 201, taken
    return proposal, taken.json


def state_of(server: Served, change: dict[str, Any]) -> str:
    rows = server.get("/api/changes")["changes"]
    return str(next(row["state"] for row in rows if row["id"] == change["id"]))


def recleaned(demo: DemoCrawl) -> dict[str, str]:
    """The texts by address, once the newest tree has cleaned all pages, as teaching does."""
    run_console(demo.database.parent, "reclean", demo.site, "--database", "noiseclean.db")
    return stored_texts(demo.database)


def test_a_rule_is_tried_taken_and_undone(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    before = recleaned(demo)
    url, _ = demo.article()
    file = folder / "rules.toml"
    file.write_text("# Mine.\n")
    with serving(folder, "--overrides", "rules.toml") as server:
        proposal, change = teach(server, server.page(url), "h1")
        path = f"/proposals/{proposal['id']}"
        assert (served := server.ask(path)).status == 303
        assert served.headers["location"] == "/rules"
        for late in (server.ask(f"/api{path}"), server.post(f"/api{path}/take", {})):
            assert (late.status, late.json["error"]) == (
                404,
                "this rule was taken already: see Rules",
            )
        wait_for(lambda: state_of(server, change), lambda state: state == "done")
        written = file.read_text()
        assert written.startswith("# Mine.\n")
        assert Overrides.read(file).sites.keys() == {host(url)}
        after = stored_texts(demo.database)
        changed = {page for page in before if before[page] != after[page]}
        assert proposal["changed"] == len(changed) > 1
        assert proposal["looked_at"] == proposal["pages"] == len(before)
        assert len(proposal["beside"]) == min(20, len(changed))
        lost = sum(len(before[page]) - len(after[page]) for page in changed)
        assert 0 < proposal["lost"] <= lost
        assert server.post(f"/api/changes/{change['id']}/undo", {}).status == 200
        wait_for(lambda: state_of(server, change), lambda state: state == "undone")
    assert stored_texts(demo.database) == before
    assert file.read_text().strip() == "# Mine."


def test_rules_that_are_taken_at_once_are_all_written(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    url, _ = demo.article()
    selectors = ["h1", "h2", "h3", "figcaption", "blockquote", "li"]
    with serving(folder, "--overrides", "rules.toml") as server:
        key = server.page(url)
        given = [{"page": key, "verdict": "drop", "selector": each} for each in selectors]
        proposals = [server.post("/api/proposals", each).json["id"] for each in given]
        paths = [f"/api/proposals/{proposal}/take" for proposal in proposals]
        with ThreadPoolExecutor(len(paths)) as people:
            taken = list(people.map(lambda path: server.post(path, {}), [*paths, *paths]))
        assert sorted(answer.status for answer in taken) == [201] * 6 + [404] * 6
        # What is undone while it is still being cleaned stays undone.
        undone = next(answer.json for answer in taken if answer.status == 201)
        assert server.post(f"/api/changes/{undone['id']}/undo", {}).status == 200
        rows = wait_for(
            lambda: server.get("/api/changes")["changes"],
            lambda rows: not {row["state"] for row in rows} & {"cleaning", "undoing"},
        )
        assert sorted(row["state"] for row in rows) == ["done"] * 5 + ["undone"]
    (table,) = tomllib.loads((folder / "rules.toml").read_text()).values()
    assert sorted(table["drop"]) == sorted(set(selectors) - {undone["rule"]["selector"]})


def test_what_a_dead_server_began_the_next_one_ends(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    before = recleaned(demo)
    url, _ = demo.article()
    with serving(folder, "--overrides", "rules.toml") as server:
        _, change = teach(server, server.page(url), "h1")
        server.kill()
    journal = folder / "rules.toml.changes.json"
    (row,) = json.loads(journal.read_text())
    assert row["id"] == change["id"]
    # As if it had died before it came to the file, and to the pages.
    (folder / "rules.toml").unlink()
    journal.write_text(json.dumps([{**row, "state": "cleaning"}]))
    assert recleaned(demo) == before
    with serving(folder, "--overrides", "rules.toml") as server:
        wait_for(lambda: state_of(server, change), lambda state: state == "done")
    assert "h1" in (folder / "rules.toml").read_text()
    assert stored_texts(demo.database) != before


def test_a_rule_that_stood_in_the_file_stays_there(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    url, _ = demo.article()
    file = folder / "rules.toml"
    file.write_text(f'["{host(url)}"]\ndrop = ["h1"]  # Mine.\n')
    written = file.read_text()
    with serving(folder, "--overrides", "rules.toml") as server:
        _, change = teach(server, server.page(url), "h1")
        wait_for(lambda: state_of(server, change), lambda state: state == "done")
        assert server.post(f"/api/changes/{change['id']}/undo", {}).status == 200
        wait_for(lambda: state_of(server, change), lambda state: state == "undone")
    assert file.read_text() == written


def test_a_rule_that_was_taken_twice_stays_until_both_are_undone(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    url, _ = demo.article()
    with serving(folder, "--overrides", "rules.toml") as server:
        changes = []
        for _ in range(2):
            _, change = teach(server, server.page(url), "h1")
            changes.append(change)
            wait_for(lambda: state_of(server, changes[-1]), lambda state: state == "done")
        for change, stays in zip(changes, (True, False), strict=True):
            assert server.post(f"/api/changes/{change['id']}/undo", {}).status == 200
            assert ("h1" in (folder / "rules.toml").read_text()) is stays


def test_a_rule_that_cannot_be_written_fails(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    with serving(folder, "--overrides", "rules.toml") as server:
        given = {"page": server.page(demo.article()[0]), "verdict": "drop", "selector": "h1"}
        path = f"/api/proposals/{server.post('/api/proposals', given).json['id']}"
        wait_for(lambda: server.get(path), lambda found: found["is_done"])
        (folder / "rules.toml").write_text("[")
        assert server.post(f"{path}/take", {}).status == 400
        (change,) = server.get("/api/changes")["changes"]
    assert (change["state"], bool(change["error"])) == ("failed", True)
    (row,) = json.loads((folder / "rules.toml.changes.json").read_text())
    assert row["state"] == "failed"


def test_a_rule_whose_journal_cannot_be_written_is_not_taken(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    journal = folder / "rules.toml.changes.json"
    with serving(folder, "--overrides", "rules.toml") as server:
        given = {"page": server.page(demo.article()[0]), "verdict": "drop", "selector": "h1"}
        path = f"/api/proposals/{server.post('/api/proposals', given).json['id']}"
        wait_for(lambda: server.get(path), lambda found: found["is_done"])
        journal.mkdir()
        assert server.post(f"{path}/take", {}).status == 400
        assert server.get(path)["looked_at"] > 0
        assert server.get("/api/changes")["changes"] == []
        assert not (folder / "rules.toml").exists()
        journal.rmdir()
        answer = server.post(f"{path}/take", {})
        assert answer.status == 201
        # It says so a moment before the journal does, which would come back.
        wait_for(journal.read_text, lambda text: '"done"' in text)
        assert state_of(server, answer.json) == "done"
        journal.unlink()
        journal.mkdir()
        assert server.post(f"/api/changes/{answer.json['id']}/undo", {}).status == 400
        assert state_of(server, answer.json) == "done"
        journal.rmdir()
    assert "h1" in (folder / "rules.toml").read_text()


def undone_without_a_body(server: Served, change: Mapping[str, Any]) -> int:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    with closing(connection):
        connection.putrequest("POST", f"/api/changes/{change['id']}/undo")
        connection.putheader("Authorization", f"Bearer {server.token}")
        connection.endheaders()
        return connection.getresponse().status


def test_a_rule_that_is_taken_again_after_a_failure_can_be_undone(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    file = folder / "rules.toml"
    url, _ = demo.article()
    with serving(folder, "--overrides", "rules.toml") as server:
        _, first = teach(server, server.page(url), "h1")
        wait_for(lambda: state_of(server, first), lambda state: state == "done")
    journal = folder / "rules.toml.changes.json"
    (row,) = json.loads(journal.read_text())
    journal.write_text(json.dumps([{**row, "state": "failed", "error": "the database was away"}]))
    with serving(folder, "--overrides", "rules.toml") as server:
        _, second = teach(server, server.page(url), "h1")
        wait_for(lambda: state_of(server, second), lambda state: state == "done")
        for change in (first, second):
            assert undone_without_a_body(server, change) == 200
            wait_for(lambda: state_of(server, change), lambda state: state == "undone")  # noqa: B023
    assert "h1" not in file.read_text()


def test_a_damaged_journal_is_one_line(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    (folder / "rules.toml.changes.json").write_text("[")
    options = ("--overrides", "rules.toml", "--no-open", "--port", "0")
    done = run_console(folder, "serve", *options, code=2)
    assert "rules.toml.changes.json is damaged" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_broken_overrides_file_is_left_alone(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    url, _ = demo.article()
    file = folder / "rules.toml"
    file.write_text('["example.com"]\ndrop = "p"\n')
    with serving(folder, "--overrides", "rules.toml") as server:
        key = server.page(url)
        file.write_text('["example.com"]\ndorp = "p"\n')
        given = {"page": key, "verdict": "drop", "selector": "h1"}
        answer = server.post("/api/proposals", given)
        assert answer.status == 400
        assert "dorp" in answer.json["error"]
    assert "dorp" in file.read_text()


def test_the_database_is_that_of_the_settings_or_of_an_option(demo: DemoCrawl) -> None:
    folder = demo.database.parent
    for arguments in ([], ["--database", "noiseclean.db"], ["--database", str(demo.database)]):
        with serving(folder, *arguments, database=None) as server:
            assert server.get("/api/sites")["total"] == 1


def test_a_port_that_is_taken_and_a_database_that_is_not_there(
    served: Served, demo: DemoCrawl
) -> None:
    port = served.url.rpartition(":")[2]
    done = run_console(demo.database.parent, "serve", "noiseclean.db", "--port", port, code=1)
    assert f"cannot listen on 127.0.0.1 port {port}: it is in use" in done.stderr
    done = run_console(
        demo.database.parent, "serve", "noiseclean.db", "--overrides", "none/o.toml", code=2
    )
    assert "--overrides none/o.toml: there is no folder none" in done.stderr
    done = run_console(demo.database.parent, "serve", "nothing.db", code=1)
    assert "there is no database" in done.stderr


def test_a_postgresql_database_is_served_too(postgresql_url: str, tmp_path: Path) -> None:
    with Store(postgresql_url, store_html=True) as store:
        html = "<h1>Fog closes the port</h1><p>No ferry left the harbour on Monday.</p>"
        store.pages.write([page("1", "No ferry left the harbour.", html=html)], method="evidence")
    with serving(tmp_path, "--overrides", "rules.toml", database=postgresql_url) as server:
        (site,) = server.get("/api/sites")["sites"]
        assert site["pages"] == 1
        assert server.get("/api/search?q=ferry")["hits"][0]["key"] == "1"
        assert server.get("/api/pages/1")["markdown"].startswith("# Fog closes the port")
        assert server.ask("/pages/%00").status in (404, 503)
        _, change = teach(server, "1", "h1")
        wait_for(lambda: state_of(server, change), lambda state: state == "done")


def test_the_static_files_are_there(served: Served) -> None:
    for name, kind in STATIC.items():
        answer = served.ask(f"/static/{name}")
        assert (answer.status, answer.headers["content-type"].split(";")[0]) == (200, kind)
        assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")


def test_pages_that_keep_their_headline_alone_are_worth_a_look(sqlite_url: str) -> None:
    with Store(sqlite_url) as store:
        for kept in (0, 3, 400):
            record = page(f"k{kept}", "Fog", title="Fog")
            assert record.cleaned
            cleaned = replace(record.cleaned, kept_characters=kept, visible_characters=2000)
            store.pages.write([replace(record, cleaned=cleaned)], method="evidence")
        found = {
            one.line.key: one.note for one in review_queue(store) if one.reason == "empty text"
        }
    assert found == {
        "k0": "all was left out, 2,000 characters",
        "k3": "all but the headline was left out, 1,997 characters",
    }
