"""Small style trees for the tests, and ways to look into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from noiseclean_scrapy.methods.style_tree import StyleTreeModel
from noiseclean_scrapy.methods.trees.importance import MeasuredElement
from noiseclean_scrapy.methods.trees.site_style_tree import SiteStyleTree
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.page.presentation import Layout
from tests.support.slow_style_tree import Path


def layout_of(body: str) -> Layout:
    return Layout(build_page(f"<html><body>{body}</body></html>"))


def learn(layouts: Iterable[Layout], *, max_nodes: int = 100_000) -> SiteStyleTree:
    tree = SiteStyleTree(max_nodes=max_nodes)
    for layout in layouts:
        tree.observe(layout)
    return tree


def by_path(root: MeasuredElement) -> dict[Path, MeasuredElement]:
    """Every element once, under the smallest of its places."""
    found: dict[Path, MeasuredElement] = {(): root}
    waiting: list[tuple[Path, MeasuredElement]] = [((), root)]
    seen = {id(root)}
    while waiting:
        path, element = waiting.pop()
        for labels in sorted(element.styles):
            for place, child in enumerate(element.styles[labels][1]):
                if id(child) not in seen:
                    seen.add(id(child))
                    below = (*path, (labels, place))
                    found[below] = child
                    waiting.append((below, child))
    return found


def only(elements: dict[Path, MeasuredElement], label: str) -> MeasuredElement:
    (element,) = [e for e in elements.values() if e.label == label]
    return element


def fast_kept(tree: SiteStyleTree, layout: Layout, limit: float) -> list[bool]:
    return [v.kept for v in StyleTreeModel(tree, limit).judge(layout.page).verdicts]


WORDS = "abcd"


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


mixed = st.one_of(
    texts,
    texts.map("<p>{}</p>".format),
    st.tuples(texts, texts).map(lambda t: f"<p>{t[0]}</p>{t[1]}"),
    st.tuples(texts, texts).map(lambda t: f"{t[0]}<br><br>{t[1]}"),
    st.just("..."),
)


advertisements = st.sampled_from(["", "", "<div class=ad>a b</div>", "<p class=ad>c</p>"])


def _element_html(children: list[str]) -> st.SearchStrategy[str]:
    names = st.sampled_from(["div", "div class=x", "p", "section", "li"])
    return names.map(lambda name: f"<{name}>{''.join(children)}</{name.split()[0]}>")


random_trees = st.recursive(
    texts,
    lambda below: st.lists(below, min_size=1, max_size=3).flatmap(_element_html),
    max_leaves=8,
)


@st.composite
def columns(draw: st.DrawFn, fixed: str) -> str:
    """Two levels that an advertisement splits into several styles."""
    article = "".join(f"<p>{text}</p>" for text in draw(st.lists(texts, max_size=2)))
    box = f"<div class=box>{fixed}</div>"
    inner = draw(advertisements) + box + draw(st.sampled_from(["", article])) + box
    return f"<div class=main>{draw(advertisements)}<div class=col>{inner}</div></div>"


@st.composite
def template_pages(draw: st.DrawFn, fixed: str, items: list[str]) -> str:
    shown = [draw(mixed) if item == "?" else item for item in items]
    nav = "<ul>" + "".join(f"<li>{item}</li>" for item in shown) + "</ul>"
    rest = draw(st.sampled_from(["", "<div class=foot>a b</div>"]))
    mix = f"<div class=mix>{draw(mixed)}</div>" if draw(st.booleans()) else ""
    return draw(advertisements) + nav + draw(columns(fixed)) + mix + rest


@st.composite
def sites(draw: st.DrawFn, most: int = 8) -> tuple[list[Layout], Layout]:
    """One to `most` pages of a site, from a few distinct ones, and one page more, maybe unknown."""
    if draw(st.integers(0, 3)):
        fixed = draw(texts)
        items = draw(st.lists(st.sampled_from(["a", "a b", "?"]), max_size=3))
        pages = template_pages(fixed, items)
    else:
        pages = st.lists(random_trees, max_size=4).map("".join)
    pool = [layout_of(body) for body in draw(st.lists(pages, min_size=2, max_size=5))]
    least = draw(st.integers(1, most))
    chosen = draw(st.lists(st.sampled_from(pool), min_size=least, max_size=most))
    return chosen, layout_of(draw(pages))


examples = settings(
    deadline=None, max_examples=120, suppress_health_check=list(HealthCheck), print_blob=True
)


few_examples = settings(examples, max_examples=40)


FIXED = "home news sport weather contact about imprint"


AD = "<div class=ad>buy</div>"


def two_level_site() -> list[str]:
    """BODY, MAIN and COL have two styles each; what is equal below is merged at every level."""
    box = f"<div class=box>{FIXED}</div>"
    foot = f"<div class=foot>{FIXED}</div>"
    columns_ = [f"<div class=col>{a}{box}{b}</div>" for a, b in [("", ""), (box, "")]]
    mains = [f"<div class=main>{column}{ad}</div>" for column in columns_ for ad in ("", foot)]
    return [main + ad for main in mains for ad in ("", AD)]


def main_with(paragraphs: int) -> str:
    return f"<div class=main>{'<p>a</p>' * paragraphs}</div>"


def never_twice(pages: int) -> Iterator[str]:
    """Pages whose MAIN never has the same style again, with nine elements below it or fewer."""
    tags = ["p", "h2", "h3"]
    for number in range(pages):
        digits = [number // 3**place % 3 for place in range(5)]
        yield "<div class=main>" + "".join(f"<{tags[d]}>a</{tags[d]}>" for d in digits) + "</div>"
