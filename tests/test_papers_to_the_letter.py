"""Every method against slow implementations, as published and by default, on whole sites.

`published=True` is held against the papers followed literally, the defaults against the slow
definitions that the tests of each method look at more closely: both on random small sites, on a
generated newspaper and on a generated shop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_project.demo import DemoSite
from example_project.shops import shop_pages
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.errors import TreeDataError
from noiseclean_scrapy.methods import METHODS, method_parameters
from noiseclean_scrapy.methods.base import Model, PageVerdict
from noiseclean_scrapy.methods.block_entropy import BlockEntropyModel
from noiseclean_scrapy.methods.style_tree import StyleTreeModel
from noiseclean_scrapy.page import DEFAULT_BUDGET, Page, build_page
from noiseclean_scrapy.page.presentation import Layout
from tests.support.literal_papers import (
    InfoDiscoverer,
    LiteralPage,
    StructureTree,
    StyleTree,
    read,
    read_built,
    satisfiable,
    without_templates,
)
from tests.support.slow_block_entropy import SlowDiscoverer
from tests.support.slow_satisfiable_subtree import slow_kept as slow_satisfiable
from tests.support.slow_shingle_template import slow_kept as slow_templates
from tests.support.slow_small_sites import examples
from tests.support.slow_structure_tree import slow_nodes, slow_weights
from tests.support.slow_style_tree import kept_blocks, slow_tree

PUBLISHED = sorted(set(METHODS) - {"evidence"})
DISPLAY = replace(DEFAULT_BUDGET, display=True)
THRESHOLDS = (0.0, 0.31831, 0.57722, 0.74048, 0.91597, 0.99991)
"""Numbers that no importance hits by chance, so that rounding cannot decide."""

texts = st.lists(st.sampled_from(["a", "b", "c", "d", "7", "12"]), min_size=1, max_size=4)
inline = st.one_of(
    texts.map(" ".join),
    texts.map(lambda words: f"<b>{words[0]}</b> {' '.join(words)}"),
    st.sampled_from("xyz").map(lambda name: f"<a href=/{name}?page=1>{name} link</a>"),
    st.sampled_from(["<img src=/one.gif?2>", "more <img src=two.gif>"]),
)
BOXES = [
    "div",
    "div bgcolor=red",
    "div bgcolor=red class=x1",
    "div bgcolor=blue width=5",
    'div style="color: red"',
    "section height=7",
]


def boxed(children: list[str]) -> st.SearchStrategy[str]:
    below = "".join(children)
    table = f"<table border=1><tr><td>{below}</td></tr></table>"
    tags = st.sampled_from(BOXES).map(lambda box: f"<{box}>{below}</{box.split()[0]}>")
    return st.one_of(tags, tags, st.just(table))


bodies = st.lists(
    st.recursive(
        st.one_of(inline, inline.map("<p>{}</p>".format)),
        lambda below: st.lists(below, min_size=1, max_size=3).flatmap(boxed),
        max_leaves=6,
    ),
    max_size=4,
).map("".join)


@st.composite
def templates(draw: st.DrawFn, fixed: str) -> str:
    """What all pages have, in changing numbers, around what differs: places split and merge."""
    box = f"<div bgcolor=red><p>{fixed}</p></div>"
    long = "<div bgcolor=red><p>home news sport weather radio books maps jobs</p></div>"
    near = long.replace("</p>", " contact</p>")
    main = f"<div width=5><p>{draw(inline)}</p>{draw(inline)}</div>"
    links = "<ul><li><a href=/1>one</a></li><li><a href=/2>two</a> <a href=/3>three</a></li></ul>"
    parts = [box, long, near, main, links, draw(inline)]
    return "".join(draw(st.lists(st.sampled_from(parts), max_size=6)))


@st.composite
def sites(draw: st.DrawFn) -> list[str]:
    pages = templates(draw(inline)) if draw(st.integers(0, 2)) else bodies
    pool = draw(st.lists(st.tuples(pages, texts), min_size=1, max_size=5))
    chosen = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=7))
    colour = draw(st.sampled_from(["", " bgcolor=white"]))
    return [
        f"<html><head><title>{' '.join(title)}</title></head>"
        f"<body{colour if number % 2 else ''}>{body}</body></html>"
        for number, (body, title) in enumerate(chosen)
    ]


Site = tuple[list[Page], list[LiteralPage]]


def random_site(sources: Sequence[str]) -> Site:
    return [build_page(source, budget=DISPLAY) for source in sources], list(map(read, sources))


@pytest.fixture(scope="module", params=["newspaper", "shop"])
def sources(request: pytest.FixtureRequest) -> list[str]:
    """Some pages of a made-up site."""
    if request.param == "shop":
        return [page.html for page in shop_pages()][:20]
    return [page.html for page in DemoSite(articles=20, seed=4).pages.values()][:24]


@pytest.fixture(scope="module")
def generated_site(sources: list[str]) -> Site:
    """The pages with their display attributes, as the page model reads them."""
    pages = [build_page(source, budget=DISPLAY) for source in sources]
    return pages, list(map(read_built, pages))


def learned(method: str, pages: Sequence[Page], **options: Any) -> SiteCleaner:
    cleaner = SiteCleaner(method, published=True, **options)
    for page in pages:
        cleaner.observe_page(page)
    return cleaner


def judged(method: str, site: Site, **options: Any) -> list[tuple[PageVerdict, LiteralPage]]:
    pages, literal = site
    model = learned(method, pages, **options).model()
    return [(model.judge(page), other) for page, other in zip(pages, literal, strict=True)]


def assert_style_tree(site: Site, threshold: float) -> None:
    tree = StyleTree(site[1], threshold)
    for verdict, page in judged("style-tree", site, threshold=threshold):
        kept, importances, weights = tree.clean(page)
        assert list(verdict.kept) == kept
        assert verdict.weights == weights
        found = [v.evidence.get("composite_importance") for v in verdict.verdicts]
        assert found == pytest.approx(importances, abs=1e-9)


def assert_feature_weighting(site: Site, _: float = 0.0) -> None:
    tree = StructureTree(site[1])
    for verdict, page in judged("feature-weighting", site):
        assert verdict.weights == pytest.approx(tree.page_weights(page), abs=1e-9)


def assert_block_entropy(site: Site, _: float = 0.0) -> None:
    literal = InfoDiscoverer(site[1])
    model = learned("block-entropy", site[0]).model()
    assert isinstance(model, BlockEntropyModel)
    if any(page.body.leaves() for page in site[1]):
        assert model.threshold == literal.threshold
    for built, page in zip(*site, strict=True):
        verdicts = model.judge(built).verdicts
        for leaves, terms in literal.blocks(page):
            entropy = literal.block_entropy(terms)
            for leaf in leaves:
                assert verdicts[leaf.number].evidence["block_entropy"] == pytest.approx(
                    entropy, abs=1e-9
                )
                assert verdicts[leaf.number].kept == (entropy <= literal.threshold + 1e-10)


def assert_satisfiable_subtree(site: Site, _: float = 0.0) -> None:
    for g, alpha, beta, gamma in [(2, 40, 100, 0.3), (1, 3, 6, 0.5), (2, 5, 9, 0.3), (3, 5, 20, 0)]:
        options = {"generations": g, "alpha": alpha, "beta": beta, "gamma": gamma}
        for verdict, page in judged("satisfiable-subtree", site, **options):
            assert list(verdict.kept) == satisfiable(page, g, alpha, beta, gamma)
    for verdict, page in judged("satisfiable-subtree", site):
        assert list(verdict.kept) == satisfiable(page, 2, 40, 100, 0.3)


def assert_shingle_template(site: Site, _: float = 0.0) -> None:
    for links in (1, 2, 3):
        for verdict, page in judged("shingle-template", site, links=links):
            assert list(verdict.kept) == without_templates(site[1], page, links)
    for verdict, page in judged("shingle-template", site):
        assert list(verdict.kept) == without_templates(site[1], page, 3)


LITERALLY: dict[str, Callable[[Site, float], None]] = {
    "style-tree": assert_style_tree,
    "feature-weighting": assert_feature_weighting,
    "block-entropy": assert_block_entropy,
    "satisfiable-subtree": assert_satisfiable_subtree,
    "shingle-template": assert_shingle_template,
}


# The defaults: labels, folding, least support and digits are ours, so the page model's.


def judged_by_default(
    method: str, sources: Sequence[str]
) -> tuple[Model, list[Page], list[PageVerdict]]:
    cleaner = SiteCleaner(method)
    pages = list(map(build_page, sources))
    for page in pages:
        cleaner.observe_page(page)
    model = cleaner.model()
    return model, pages, list(map(model.judge, pages))


def assert_default_style_tree(sources: Sequence[str]) -> None:
    model, pages, verdicts = judged_by_default("style-tree", sources)
    assert isinstance(model, StyleTreeModel)
    layouts = list(map(Layout, pages))
    tree = slow_tree(layouts)
    for layout, verdict in zip(layouts, verdicts, strict=True):
        assert list(verdict.kept) == kept_blocks(tree, layout, model.threshold)


def assert_default_feature_weighting(sources: Sequence[str]) -> None:
    _, pages, verdicts = judged_by_default("feature-weighting", sources)
    nodes = slow_nodes(pages)
    for page, verdict in zip(pages, verdicts, strict=True):
        weights, means = slow_weights(nodes, page)
        assert verdict.weights == pytest.approx(weights, abs=1e-9)
        assert [v.score for v in verdict.verdicts] == pytest.approx(means, abs=1e-9)


def assert_default_block_entropy(sources: Sequence[str]) -> None:
    model, pages, verdicts = judged_by_default("block-entropy", sources)
    assert isinstance(model, BlockEntropyModel)
    definition = SlowDiscoverer(pages, "element")
    assert model.threshold == definition.threshold(0.03)
    for page, verdict in zip(pages, verdicts, strict=True):
        slow = definition.block_entropies(page)
        found = [v.evidence["block_entropy"] for v in verdict.verdicts]
        assert found == pytest.approx(slow, abs=1e-9)
        assert list(verdict.kept) == [h <= model.threshold + 1e-10 for h in slow]


def assert_default_satisfiable_subtree(sources: Sequence[str]) -> None:
    _, pages, verdicts = judged_by_default("satisfiable-subtree", sources)
    constants = {"generations": 2, "alpha": 140, "beta": 550, "gamma": 0.4}
    for page, verdict in zip(pages, verdicts, strict=True):
        assert list(verdict.kept) == slow_satisfiable(page, constants)


def assert_default_shingle_template(sources: Sequence[str]) -> None:
    _, _, verdicts = judged_by_default("shingle-template", sources)
    for source, verdict in zip(sources, verdicts, strict=True):
        assert list(verdict.kept) == slow_templates(sources, source, 3)


BY_DEFAULT: dict[str, Callable[[Sequence[str]], None]] = {
    "style-tree": assert_default_style_tree,
    "feature-weighting": assert_default_feature_weighting,
    "block-entropy": assert_default_block_entropy,
    "satisfiable-subtree": assert_default_satisfiable_subtree,
    "shingle-template": assert_default_shingle_template,
}


def test_every_method_but_ours_is_published() -> None:
    assert list(BY_DEFAULT) == list(LITERALLY)
    assert list(LITERALLY) == [name for name in METHODS if name != "evidence"]
    assert [n for n in METHODS if "published" in method_parameters(n)] == list(LITERALLY)


@pytest.mark.slow
@pytest.mark.parametrize("method", PUBLISHED)
def test_random_sites_are_as_in_the_paper(method: str) -> None:
    @examples
    @given(sites(), st.sampled_from(THRESHOLDS))
    def check(sources: list[str], threshold: float) -> None:
        LITERALLY[method](random_site(sources), threshold)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("method", PUBLISHED)
def test_a_generated_site_is_as_in_the_paper(method: str, generated_site: Site) -> None:
    LITERALLY[method](generated_site, 0.4)


@pytest.mark.slow
@pytest.mark.parametrize("method", PUBLISHED)
def test_random_sites_are_as_our_definition(method: str) -> None:
    @examples
    @given(sites())
    def check(sources: list[str]) -> None:
        if any(build_page(source).blocks for source in sources):
            BY_DEFAULT[method](sources)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("method", PUBLISHED)
def test_a_generated_site_is_as_our_definition(method: str, sources: list[str]) -> None:
    BY_DEFAULT[method](sources)


@pytest.mark.parametrize("method", PUBLISHED)
def test_published_trees_merge_and_travel(method: str) -> None:
    sources = [page.html for page in DemoSite(articles=8, seed=4).pages.values()]
    whole, one, other = (SiteCleaner(method, published=True) for _ in range(3))
    for number, source in enumerate(sources):
        whole.observe(source)
        (other if number % 2 else one).observe(source)
    one.merge(other)
    assert one.to_bytes() == whole.to_bytes()
    again = SiteCleaner.from_bytes(whole.to_bytes())
    assert again.budget.display
    assert again.clean(sources[0]).text == whole.clean(sources[0]).text != ""
    with pytest.raises(TreeDataError, match="published=True"):
        SiteCleaner.from_bytes(whole.to_bytes(), published=False)
    with pytest.raises(TreeDataError, match="published=False"):
        SiteCleaner.from_bytes(SiteCleaner(method).to_bytes(), published=True)
