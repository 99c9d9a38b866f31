"""Page clusters: by domain, by host, and by template."""

from __future__ import annotations

import random

import pytest

from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.methods import create_method, templates
from noiseclean_scrapy.methods.templates import TemplateMethod, TemplateModel
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.site.cluster import host, registrable_domain

SHOP = (
    "<div class=shop><ul class=menu><li>{0}</li></ul>"
    "<table class=price><tr><td>{1}</td></tr></table></div>"
)
BLOG = (
    "<main class=blog><article class=post><h1>{0}</h1><p>{1}</p></article><aside>{0}</aside></main>"
)


@pytest.mark.parametrize(
    ("url", "domain", "name"),
    [
        ("https://www.News.example.co.uk/a?b#c", "example.co.uk", "www.news.example.co.uk"),
        ("http://user:secret@a.b.example.com:8080/", "example.com", "a.b.example.com"),
        ("http://127.0.0.1:5000/", "127.0.0.1", "127.0.0.1"),
        ("http://[::1]:5000/", "::1", "::1"),
        ("http://localhost/", "localhost", "localhost"),
        ("http://forbes-2005.invalid/1.html", "forbes-2005.invalid", "forbes-2005.invalid"),
        ("https://bücher.example/", "bücher.example", "bücher.example"),
        ("not a url", "", ""),
        ("http://[broken/", "", ""),
    ],
)
def test_domain_and_host_of_a_url(url: str, domain: str, name: str) -> None:
    assert registrable_domain(url) == domain
    assert host(url) == name


def mixed_pages() -> list[Page]:
    """Ten pages of two templates that have nothing in common."""
    pages = []
    for number in range(10):
        template = SHOP if number % 2 else BLOG
        pages.append(
            build_page(f"<body>{template.format(f'name {number}', f'text {number}')}</body>")
        )
    return pages


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
