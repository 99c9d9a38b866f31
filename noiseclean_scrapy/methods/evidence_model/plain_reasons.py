"""Why a block was kept or left out, in words for people who know nothing of the model."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

BECAUSE = "because"
"""What the names of these reasons begin with, and a colon, in a block's evidence."""

_FEW_WORDS, _MANY_WORDS = 8, 15
_SOME_LINKS, _MOSTLY = 0.2, 0.5
_TOP, _END = 0.05, 0.9  # of the text of a page

# What a block is inside of, by the groups of tags and class names; it speaks for content ...
_GOOD = {
    "inside the article": "article main c_article c_content c_body c_main c_docs r_main x_text",
    "a paragraph": "p",
    "a heading": "heading h1 c_title",
    "a quote": "quote",
    "code": "pre",
    "details of a product": "c_product x_facts",
    "a post of a forum": "c_forum",
    "part of a review": "x_review",
}
# ... or against it.
_BAD = {
    "inside a menu": "nav c_nav",
    "inside the header of the page": "header c_header",
    "inside the footer of the page": "footer c_footer",
    "inside a side column": "aside c_side",
    "inside a list of other pages": "c_related",
    "inside a teaser or a card": "c_teaser",
    "beside buttons to share": "c_share",
    "inside comments": "c_comment x_comment",
    "inside an advertisement": "c_ad",
    "inside a notice or a form": "c_popup form button r_noise",
    "beside an author, a date or a label": "c_meta address",
    "beside a picture": "c_caption x_caption x_gallery x_embed figure",
    "an offer": "x_offer",
    "in a list": "li list definition",
    "in a table": "cell table",
    "marked as hidden": "hidden c_hidden",
    "inside a link": "anchor",
    "in a part that opens when it is asked for": "details",
}
_GROUPS = {name: words for words, names in (_GOOD | _BAD).items() for name in names.split()}

OUTSIDE = "outside of the main text"

_ALIKE = "others like it are content", "others like it are no content"
_AROUND = "stands among content", "what stands around it is no content"
VAGUE = frozenset({*_ALIKE, *_AROUND})
"""Reasons that rest on what was thought of other blocks: they come after those that one sees."""

Values = Mapping[str, float]


def _links(value: Values, speaks_for: bool) -> str:
    share = value["link_share"]
    if speaks_for:
        return "no links in it" if share == 0 else ""
    return "mostly links" if share >= _MOSTLY else "partly links" if share >= _SOME_LINKS else ""


def _length(value: Values, speaks_for: bool) -> str:
    if speaks_for:
        return "a long text" if value["words"] >= _MANY_WORDS else ""
    return "only a few words" if value["words"] <= _FEW_WORDS else ""


def _sentences(value: Values, speaks_for: bool) -> str:
    whole = value["sentences"] > 0 or value["ends_sentence"] > 0
    return {(True, True): "whole sentences", (False, False): "no whole sentence"}.get(
        (whole, speaks_for), ""
    )


def _wording(value: Values, speaks_for: bool) -> str:
    words = "worded like content" if value["wording"] > 0 else "not worded like content"
    return words if (value["wording"] > 0) == speaks_for else ""


def _naming(value: Values, speaks_for: bool) -> str:
    named = value["named_near"] + value["named_around"]
    words = f"tags and names like those of {'content' if named > 0 else 'noise'}"
    return words if (named > 0) == speaks_for else ""


def _main(value: Values, speaks_for: bool) -> str:
    inside = value["in_mass_main"] > 0
    words = "inside the main text" if inside else OUTSIDE
    return words if inside == speaks_for else ""


def _where(value: Values, speaks_for: bool) -> str:
    where = value["text_position"]
    words = "near the end of the page" if where >= _END else "at the top of the page"
    return "" if speaks_for or _TOP < where < _END else words


def _section(value: Values, speaks_for: bool) -> str:
    is_of_links = not speaks_for and value["section_link_share"] >= _MOSTLY
    return "below a heading with mostly links" if is_of_links else ""


def _separators(value: Values, speaks_for: bool) -> str:
    return "" if speaks_for or not value["separators"] else "words with signs between them"


def _announced(name: str, words: str) -> Callable[[Values, bool], str]:
    return lambda value, speaks_for: "" if speaks_for or value[name] < 0 else words


def _either(good: str, bad: str) -> Callable[[Values, bool], str]:
    return lambda value, speaks_for: good if speaks_for else bad


_TOPICS: tuple[tuple[str, Callable[[Values, bool], str]], ...] = (
    (r"links|link_share", _links),
    (r"length|words|word_length", _length),
    (r"sentences|ends_sentence|capitals", _sentences),
    (r"wording", _wording),
    (r"named_.*", _naming),
    (r"in_title", _either("its words stand in the title", "")),
    (r"in_description|declared", _either("the page names it as its content", "")),
    (r"repeated_here", _either("", "stands several times on this page")),
    (r"since_related", _announced("since_related", "below a line that announces other pages")),
    (r"since_comments", _announced("since_comments", "below a line that announces comments")),
    (r"since_service", _announced("since_service", "below a line on sharing or subscribing")),
    (r"position|text_position|from_(?:start|end)|long_(?:before|after)", _where),
    (r"since_heading|section_.*", _section),
    (r"separators", _separators),
    (r"in_main|in_mass_main|levels_to_main|main_.*|mass_main.*|(?:before|after)_main", _main),
    (r"(?:siblings|item|outer|place)_.*", _either(*_ALIKE)),
    (r"(?:before|after)\d_.*|window.*|up\d_.*|good_.*|noise_.*|mass_.*", _either(*_AROUND)),
)


# Without a topic, since no plain sentence on the block is true of them: what the whole page is like
# (page_..., h1_before, article_mass, comment_mass_share), the first judgement of the block (score),
# which says what its own features say, and elements and distances that speak for nothing by
# themselves (own:div, any:div, any:inline, any:section, depth, images, from_h1, from_title,
# since_about).


def plain_reasons(
    features: Iterable[tuple[str, float]], changes: Iterable[tuple[str, float]]
) -> Iterator[tuple[str, float]]:
    """Reasons in words and what each adds to the log-odds; where the words fit the page.

    `features` are names and their values, `changes` names and what each adds; there a name may
    come twice.

    >>> values = {"links": 3.0, "link_share": 0.9}
    >>> found = dict(plain_reasons(values.items(), [("links", -0.5), ("link_share", -1.5)]))
    >>> found["mostly links"]
    -2.0
    """
    values = defaultdict(float, features)  # zero for what a model does not look at
    totals: defaultdict[str | int, float] = defaultdict(float)
    for name, change in changes:
        topic = _topic(name)
        # Of tags and class names only those count that are there.
        if isinstance(topic, int) or values[name] > 0:
            totals[topic] += change
    for topic, total in totals.items():
        if isinstance(topic, str):
            words = topic if topic in (_GOOD if total > 0 else _BAD) else ""
        else:
            words = _TOPICS[topic][1](values, total > 0)
        if words and total:
            yield words, total


@lru_cache(maxsize=1000)
def _topic(name: str) -> str | int:
    """What a feature is about: the number of a topic, or words for where a block is."""
    if words := _GROUPS.get(name.partition(":")[2]):
        return words
    found = (number for number, (names, _) in enumerate(_TOPICS) if re.fullmatch(names, name))
    return next(found, "")
