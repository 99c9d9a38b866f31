"""The features' kinds, and their names in words."""

from __future__ import annotations

import re
from functools import lru_cache

_NEIGHBOURS = re.compile(
    r"(before|after)\d|window|siblings|item_|outer_|place_|.*(mass|_p$|_p_|good|doubt|runs|to_main)"
)
_UP = re.compile(r"up(\d)_(.+)")
_STEP = re.compile(r"(before|after)(\d)_(.+)")
_WINDOW = re.compile(r"window(\d+)_(.+)_(before|after)")
_GROUP = re.compile(r"(own|near|any):(.+)")
_OF = re.compile(r"(item|outer|place|siblings|main|page|section)_(.+)")
_CLASS_WORDS = {"c": "class names of", "x": "class names that mean", "r": "roles of"}
_WHERE = {"own": "its element", "near": "elements near above", "any": "elements above"}
_WHOLE = {
    "item": "the repeated item around",
    "outer": "the outer repeated item",
    "place": "the same place on the page",
    "siblings": "like siblings",
    "main": "the main element",
    "page": "the page",
    "section": "the section below a heading",
}
_TERMS = {
    "p": "expected share of content",
    "own_p": "expected share of content in this one",
    "mass_share": "share of the page's expected content",
    "score": "first judgement of the block alone",
    "length": "length of text",
    "text": "length of text",
    "words": "number of words",
    "link_share": "share of links",
    "text_share": "share of the page's text",
    "long_share": "share of the page's long text",
    "long": "long text",
    "block_length": "mean length of blocks",
    "mean_text": "mean length of text",
    "sentences": "sentences",
    "count": "number of them",
    "number": "number of like ones before it",
    "same_place": "same place in the layout",
    "in_title": "share of words that are in the title",
    "in_description": "share of words that are in the description",
    "declared": "stands in the text that the page declares",
    "page_is_article": "the page declares itself an article",
    "page_is_discussion": "the page declares itself a discussion",
    "page_is_product": "the page declares itself a product",
    "since_related": "blocks since a line that announces related stories",
    "since_comments": "blocks since a line that announces comments",
    "since_about": "blocks since a line that announces a description",
    "since_service": "blocks since a line on sharing, subscribing and the like",
    "h1_before": "main headings so far",
    "repeated_here": "times that the text is on this page",
    "lower_start": "begins in lower case",
    "ends_sentence": "ends like a sentence",
    "pauses": "commas and the like a hundred characters",
    "capitals": "share of words with a capital",
    "levels_to_main": "levels up to the main element of the content",
    "in_mass_main": "in the main element of the content",
    "in_main": "in the element of the long text",
    "mass_before": "share of the expected content that stands before",
    "mass_after": "share of the expected content that follows",
    "noise_since_good": "noise since the last content",
    "noise_until_good": "noise until the next content",
    "good_before": "solid blocks of content before",
    "good_after": "solid blocks of content after",
    "comment_mass_share": "share of the expected content in comments",
    "article_mass": "expected content outside of comments",
}


@lru_cache(maxsize=1000)
def kind_of(name: str) -> str:
    """Whether a feature speaks of the block's own place on the `page` or of its `neighbours`.

    >>> kind_of("link_share"), kind_of("before1_length"), kind_of("up2_p")
    ('page', 'neighbours', 'neighbours')
    """
    return "neighbours" if _NEIGHBOURS.match(name) else "page"


@lru_cache(maxsize=1000)
def in_words(name: str) -> str:
    """A feature's name in words.

    >>> in_words("up2_link_share"), in_words("any:c_footer"), in_words("before1_p")
    ('share of links 2 levels up', 'elements above: class names of footer', \
'expected share of content 1 block before')
    """
    if name in _TERMS:
        return _TERMS[name]
    if found := _UP.fullmatch(name):
        levels = int(found[1])
        where = "in its element" if levels == 0 else f"{levels} level{'s' * (levels > 1)} up"
        return f"{in_words(found[2])} {where}"
    if found := _STEP.fullmatch(name):
        blocks = int(found[2])
        return f"{in_words(found[3])} {blocks} block{'s' * (blocks > 1)} {found[1]}"
    if found := _WINDOW.fullmatch(name):
        return f"{in_words(found[2])} in the {found[1]} blocks {found[3]}"
    if found := _GROUP.fullmatch(name):
        group = found[2]
        prefix = _CLASS_WORDS[group[0]] + " " if group[1:2] == "_" else ""
        return f"{_WHERE[found[1]]}: {prefix}{group[2:] if prefix else group}"
    if found := _OF.fullmatch(name):
        return f"{in_words(found[2])} of {_WHOLE[found[1]]}"
    return name.replace("_", " ")
