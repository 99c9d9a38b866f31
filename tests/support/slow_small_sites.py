"""Small sites for comparisons with slow implementations: hypothesis strategies."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

texts = st.lists(st.sampled_from("abcde"), min_size=1, max_size=4).map(" ".join)
parts = st.sampled_from(["<h3>{}</h3>", "<ul><li>{}</ul>", "<dt>{}<dd>4", "<tr><th>{}<td>7 m"])
paragraphs = st.lists(texts.map("<p>{}</p>".format), min_size=1, max_size=3).map("".join)


def _boxes(children: list[str]) -> st.SearchStrategy[str]:
    names = st.sampled_from(["div", "div class=x", "section", "table", "li"])
    return names.map(
        lambda name: (
            f"<table><tr><td>5{''.join(children)}</table>"
            if name == "table"
            else f"<{name}>{''.join(children)}</{name.split()[0]}>"
        )
    )


random_bodies = st.lists(
    st.recursive(
        st.one_of(texts, paragraphs, st.builds(str.format, parts, texts)),
        lambda below: st.lists(below, min_size=1, max_size=3).flatmap(_boxes),
        max_leaves=8,
    ),
    max_size=4,
).map("".join)


@st.composite
def template_bodies(draw: st.DrawFn, fixed: str) -> str:
    """A menu, an article and several boxes, in changing numbers, which may be alike."""
    box = f"<div class=box><div><p>{fixed}</p></div></div>"
    other = f"<div class=box><div><p>{draw(texts)}</p></div></div>"
    article = f"<div class=main>{draw(paragraphs)}</div>"
    return "".join(draw(st.lists(st.sampled_from([box, other, article, "a b"]), max_size=6)))


@st.composite
def sites(draw: st.DrawFn, most: int = 7) -> list[str]:
    """The bodies of one to `most` pages of a site, from a few different ones."""
    bodies = template_bodies(draw(texts)) if draw(st.integers(0, 2)) else random_bodies
    pool = draw(st.lists(bodies, min_size=1, max_size=5))
    return draw(st.lists(st.sampled_from(pool), min_size=1, max_size=most))


examples = settings(
    deadline=None, max_examples=60, suppress_health_check=list(HealthCheck), print_blob=True
)
