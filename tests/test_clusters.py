"""Page clusters: by domain, by host, and by template."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.methods import create_method, templates
from noiseclean_scrapy.methods.templates import TemplateMethod, TemplateModel
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.urls import host, site_host, site_name
from tests.support.archives import warc
from tests.support.command_line import noiseclean
from tests.support.crawl_site import story

SHOP = (
    "<div class=shop><ul class=menu><li>{0}</li></ul>"
    "<table class=price><tr><td>{1}</td></tr></table></div>"
)
BLOG = (
    "<main class=blog><article class=post><h1>{0}</h1><p>{1}</p></article><aside>{0}</aside></main>"
)


@pytest.mark.parametrize(
    ("url", "site", "by_host"),
    [
        ("https://www.News.example.co.uk/a?b#c", "example.co.uk", "www.news.example.co.uk"),
        ("http://user:secret@a.b.example.com:8080/", "example.com", "a.b.example.com"),
        ("https://alice.github.io/", "alice.github.io", "alice.github.io"),
        ("https://www.alice.github.io:81/", "alice.github.io", "www.alice.github.io"),
        ("https://github.io/", "github.io", "github.io"),
        ("https://shop.blogspot.com/", "shop.blogspot.com", "shop.blogspot.com"),
        ("http://127.0.0.1:5000/", "127.0.0.1:5000", "127.0.0.1:5000"),
        ("http://127.0.0.1:80/", "127.0.0.1", "127.0.0.1"),
        ("https://127.0.0.1:443/", "127.0.0.1", "127.0.0.1"),
        ("https://127.0.0.1:80/", "127.0.0.1:80", "127.0.0.1:80"),
        ("http://[::1]:5000/", "[::1]:5000", "[::1]:5000"),
        ("http://[::1]/", "::1", "::1"),
        ("http://localhost/", "localhost", "localhost"),
        ("http://LOCALHOST:8000/", "localhost:8000", "localhost:8000"),
        ("http://forbes-2005.invalid/1.html", "forbes-2005.invalid", "forbes-2005.invalid"),
        ("https://bücher.example/", "xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("http://127.0.0.1:port/", "127.0.0.1", "127.0.0.1"),
        ("not a url", "", ""),
        ("http://[broken/", "", ""),
        ("file:///home/ana/pages/1.html", "localhost", "localhost"),
        ("file://server/share/1.html", "server", "server"),
        ("data:text/html,<p>fog", "", ""),
        (f"http://{'a.' * 200}example/", "", ""),
    ],
)
def test_site_and_host_of_a_url(url: str, site: str, by_host: str) -> None:
    assert site_name(url) == site
    assert site_host(url) == by_host


def test_host_of_a_url() -> None:
    assert host("http://User:secret@News.Example.com.:8080/") == "news.example.com"
    assert host("http://[::1]:5000/") == "::1"
    assert host("http://[broken/") == host("not a url") == ""


def test_one_tenant_of_a_host_erases_nothing_of_another(tmp_path: Path) -> None:
    """Five pages of a stranger repeat a paragraph that a blog has once: it stays the blog's own."""
    motto = "We build wooden boats by hand and tell about each of them here."

    def page(number: int, *, copies: bool) -> str:
        return story(number).replace("<h1>", f"<p>{motto}</p><h1>" if copies else "<h1>")

    blog = [(f"http://alice.github.io/{n}", page(n, copies=n == 10)) for n in range(11)]
    attack = [(f"http://mallory.github.io/{n}", page(100 + n, copies=True)) for n in range(5)]
    records = [("response", url, "text/html", html.encode()) for url, html in (*blog, *attack)]
    (tmp_path / "pages.warc.gz").write_bytes(warc(*records))
    done = noiseclean(tmp_path, "clean", "pages.warc.gz", "--format", "jsonl")
    rows = {row["url"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert {row["site"] for row in rows.values()} == {"alice.github.io", "mallory.github.io"}
    assert motto in rows["http://alice.github.io/10"]["text"]
    assert motto not in rows["http://mallory.github.io/1"]["text"]


def mixed_pages() -> list[Page]:
    """Ten pages of two templates that have nothing in common."""
    pages = []
    for number in range(10):
        template = SHOP if number % 2 else BLOG
        pages.append(
            build_page(f"<body>{template.format(f'name {number}', f'text {number}')}</body>")
        )
    return pages


def letters(number: int) -> str:
    """A class name for each number: digits would be masked."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number)) + "z"


def learned(pages: list[Page]) -> TemplateMethod:
    method = TemplateMethod(lambda: create_method("style-tree"))
    for page in pages:
        method.observe(page)
    return method


def template_of(model: TemplateModel, page: Page) -> int:
    structure = templates.page_structure(page)
    return max(
        range(len(model.templates)),
        key=lambda number: len(structure & model.templates[number][0]),
    )


def test_pages_of_different_templates_are_told_apart() -> None:
    pages = mixed_pages()
    model = learned(pages).model()
    assert len(model.templates) == 2
    assert len({template_of(model, page) for page in pages[::2]}) == 1
    assert template_of(model, pages[0]) != template_of(model, pages[1])


def test_templates_do_not_depend_on_the_order_of_pages() -> None:
    pages = [build_page(page.html) for page in DemoSite(articles=24, seed=3).pages.values()]
    states = []
    for seed in (1, 2):
        random.Random(seed).shuffle(pages)
        states.append(learned(pages).state())
    assert states[0] == states[1]
    halves = learned(pages[::2]), learned(pages[1::2])
    halves[0].merge(halves[1])
    assert halves[0].state() == states[0]


def test_number_of_templates_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "PART_LIMIT", 4)
    method = learned([build_page(f"<body><div class={tag}><p>x</p></div>") for tag in "abcdefghij"])
    assert len(method.state()) == 4
    assert method.pages == 10


def test_structures_are_bounded_whatever_a_site_sends() -> None:
    def body(number: int) -> str:
        cells = (f"<p class={letters(number * 3000 + n)}>x" for n in range(3000))
        return f"<body><div class={letters(number % 3)}>{''.join(cells)}</div>"

    method = TemplateMethod(lambda: create_method("satisfiable-subtree"))
    for number in range(12):
        method.observe(build_page(body(number)))
    assert len(method._parts) > 1
    for part in method._parts.values():
        assert len(part.structure) <= 2 * templates.MOST_PAIRS
        assert part.typical() == templates._typical([part])
    pairs = {f"<p class=x{letters(n)}>x" for n in range(templates.MOST_PAIRS + 9)}
    page = build_page(f"<body>{''.join(sorted(pairs))}")
    assert len(templates.page_structure(page)) == templates.MOST_PAIRS
    for _ in range(20):
        method.decay(0.5)
    assert not any(part.structure for part in method._parts.values())


def like(*numbers: int) -> Page:
    """A page with one label pair for each number."""
    return build_page(f"<body>{''.join(f'<p class={letters(n)}>x' for n in numbers)}")


def templates_of(*pages: Page) -> int:
    return len(learned(list(pages)).model().templates)


FIRST, SECOND, THIRD = (like(*range(start, start + 10)) for start in (50, 52, 54))
"""Each has 8 of 12 label pairs with the next one; the first and the third have 6 of 14."""


def test_parts_alike_in_most_label_pairs_are_one_template() -> None:
    signatures = {min(templates.page_structure(page)) for page in (FIRST, SECOND, THIRD)}
    assert len(signatures) == 3  # else they are one part
    assert templates_of(FIRST, SECOND) == 1
    assert templates_of(FIRST, THIRD) == 2
    # Parts are compared with the largest one.
    assert templates_of(FIRST, SECOND, SECOND, THIRD) == 1
    assert templates_of(FIRST, FIRST, SECOND, THIRD) == 2


def test_a_template_has_what_half_of_its_pages_have() -> None:
    several = learned([FIRST, like(*range(50, 62)), like(*range(50, 61))])
    [(structure, _)] = several.model().templates
    assert structure == templates.page_structure(like(*range(50, 61)))


def test_parts_are_compared_as_they_are_now() -> None:
    method = learned([FIRST, THIRD])
    assert len(method.model().templates) == 2
    least = min(range(50, 60), key=lambda n: min(templates.page_structure(like(n))))
    for _ in range(2):
        method.observe(like(least, *range(54, 64)))
    assert len(method.model().templates) == 1


def test_forgotten_templates_make_room_for_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "PART_LIMIT", 4)
    method = learned([like(number) for number in range(1, 5)])
    for _ in range(3):
        method.note_redesign()
    assert method.pages == 0
    for page in mixed_pages():
        method.observe(page)
    assert len(method.model().templates) == 2


def test_templates_are_told_apart_until_they_are_forgotten() -> None:
    method = learned(mixed_pages())
    left = []
    for _ in range(4):
        method.decay(0.25)
        left.append(len(method.model().templates))
    assert left == [2, 2, 2, 0]
    assert method.pages == 0


def test_parts_without_label_pairs_are_not_alike() -> None:
    state = {key: [part, {}] for key, (part, _) in learned(mixed_pages()).state().items()}
    method = learned([])
    method.restore(state)
    assert len(method.model().templates) == len(state) == 2


def test_templates_survive_bytes_and_forget() -> None:
    cleaner = SiteCleaner(templates=True)
    for page in mixed_pages():
        cleaner.observe_page(page)
    copy = SiteCleaner.from_bytes(cleaner.to_bytes())
    assert copy.to_bytes() == cleaner.to_bytes()
    source = BLOG.format("name 0", "text 0")
    assert copy.clean(source) == cleaner.clean(source)
    copy.decay(0.5)
    assert copy.pages == 5


def test_untaught_templates_keep_everything() -> None:
    assert SiteCleaner(templates=True).clean("<p>hello</p>").text == "hello"


@pytest.mark.parametrize("method", ["style-tree", "evidence"])
def test_what_a_redesign_leaves_of_structures_is_what_it_leaves_of_pages(method: str) -> None:
    pages = [build_page(SHOP.format("Shop", f"Offer {n}")) for n in range(8)]
    learned, redesigned = (TemplateMethod(lambda: create_method(method)) for _ in range(2))
    for page in pages:
        learned.observe(page)
        redesigned.observe(page)
    redesigned.note_redesign()
    for part in redesigned._parts.values():
        assert max(part.structure.values()) == part.method.pages
    left = {"style-tree": 2.0, "evidence": 8.0}[method]
    assert redesigned.pages == left
    learned.decay(left / 8)
    assert learned._parts.keys() == redesigned._parts.keys()
    for key, part in learned._parts.items():
        assert part.structure == redesigned._parts[key].structure
