"""`satisfiable-subtree`: heuristic rules on a single page, no training (Qi & Sun).

The paper's text nodes are our text blocks (runs of inline content), its generations block-level
elements: the element that holds a block is one generation up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from noiseclean_scrapy.methods.base import Late, Method, Model, PageVerdict, Verdict, kept_features
from noiseclean_scrapy.methods.options import Amount, Count, Share
from noiseclean_scrapy.methods.trees.counts import read_number
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.words import LETTER

_HAN_KANA_LETTER = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)


@dataclass(frozen=True, slots=True)
class Constants:
    """G (`generations`), and alpha, beta (characters) and gamma (a share) of the paper."""

    generations: int
    alpha: float
    beta: float
    gamma: float


HAN_KANA = Constants(generations=2, alpha=40, beta=100, gamma=0.3)
"""The published constants, for pages in Chinese (and Japanese)."""

ALPHABETIC = Constants(generations=2, alpha=140, beta=550, gamma=0.4)
"""For Latin, Cyrillic, Greek and all other scripts: fitted by us.

On 686 pages, at most 10 a site, of the corpora cleanportaleval, big9-dev, blogs-dev and daniel-dev;
sites were split in two by the CRC-32 of their name. G 1 to 3, alpha 40 to 320, beta 100 to 1300 and
gamma 0.2 to 0.6 were searched on the even half (324 pages, 115 sites), coarsely first, then closely
around the best. Mean bag F1 is 0.862 there and 0.840 on the odd half (362 pages, 110 sites); with
the published constants 0.768 and 0.761. On the even half G = 1 reaches 0.831, G = 3 reaches 0.804.
"""

HAN_KANA_SHARE = 0.2
"""Share of Han and Kana letters from which on a page is measured by `HAN_KANA`."""


class SatisfiableSubtreeMethod(Method):
    """Keeps the maximal satisfiable sub-trees of a page; learning only counts pages.

    Each constant that is None is `HAN_KANA`'s or `ALPHABETIC`'s, by the script of the page's text;
    with `published` those of the paper on every page, which are `HAN_KANA`'s.
    """

    def __init__(
        self,
        *,
        generations: Count | None = None,
        alpha: Amount | None = None,
        beta: Amount | None = None,
        gamma: Share | None = None,
        published: bool = False,
    ) -> None:
        named = {"generations": generations, "alpha": alpha, "beta": beta, "gamma": gamma}
        given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        self.han_kana = replace(HAN_KANA, **given)
        self.alphabetic = replace(HAN_KANA if published else ALPHABETIC, **given)
        self._pages = 0.0

    @property
    def pages(self) -> float:
        return self._pages

    def observe(self, page: Page) -> None:
        self._pages += 1

    def merge(self, other: SatisfiableSubtreeMethod) -> None:
        self._pages += other._pages

    def decay(self, factor: float) -> None:
        self._pages *= factor

    def model(self) -> SatisfiableSubtreeModel:
        return SatisfiableSubtreeModel(self.han_kana, self.alphabetic)

    def state(self) -> dict[str, Any]:
        return {"pages": self._pages}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._pages = read_number(state["pages"])


class SatisfiableSubtreeModel(Model):
    """The constants for either kind of script; a page is judged by itself alone.

    `fit` is always 1: nothing was learned that a page could differ from.
    """

    def __init__(self, han_kana: Constants, alphabetic: Constants) -> None:
        self.han_kana = han_kana
        self.alphabetic = alphabetic

    def judge(self, page: Page) -> PageVerdict:
        constants = self.han_kana if is_han_kana(page.text) else self.alphabetic
        deciding = deciding_subtrees(page, constants)
        by_subtree = {subtree: _verdict(subtree, constants) for subtree in set(deciding)}
        verdicts = [by_subtree[deciding[block.element]] for block in page.blocks]
        weights = Late(partial(kept_features, page, [v.kept for v in verdicts]))
        return PageVerdict.of(verdicts, weights, 1.0)


@dataclass(frozen=True, slots=True)
class SubTree:
    """A sub-tree measured against the constants.

    `longest` is the length of the longest text at most G generations below its root. `degree` in
    [0, 1] tells how far the condition that is met least is met; 1 where `satisfiable`.
    """

    longest: int
    text: int
    anchor: int
    satisfiable: bool
    degree: float


def deciding_subtrees(page: Page, constants: Constants) -> list[SubTree | None]:
    """For each element the sub-tree that decides on the text directly in it.

    That is the largest satisfiable one it lies in, else the one that comes nearest to it. None
    where no text is G generations below the element or an ancestor of it.
    """
    count = len(page.elements)
    longest, text, anchor = [0] * count, [0] * count, [0] * count
    roots = set()
    for block in page.blocks:
        length = len(block.text)
        text[block.element] += length
        anchor[block.element] += block.link_characters
        if not length:
            continue
        for generation, element in enumerate(page.path(block.element), 1):
            longest[element.index] = max(longest[element.index], length)
            root = element.index
            if generation == constants.generations:
                break
        roots.add(root)
    for element in reversed(page.elements[1:]):
        text[element.parent] += text[element.index]
        anchor[element.parent] += anchor[element.index]

    deciding: list[SubTree | None] = []
    for element in page.elements:  # parents come before their children
        best = deciding[element.parent] if element.index else None
        if element.index in roots and not (best and best.satisfiable):
            index = element.index
            subtree = _measure(longest[index], text[index], anchor[index], constants)
            if best is None or subtree.satisfiable or subtree.degree > best.degree:
                best = subtree
        deciding.append(best)
    return deciding


def is_han_kana(text: str) -> bool:
    """Whether the text is Chinese or Japanese, by its share of Han and Kana letters.

    >>> is_han_kana("新闻网 news"), is_han_kana("The word 新闻 is Chinese"), is_han_kana("")
    (True, False, False)
    """
    letters = len(LETTER.findall(text))
    return bool(letters) and len(_HAN_KANA_LETTER.findall(text)) >= HAN_KANA_SHARE * letters


def _measure(longest: int, text: int, anchor: int, constants: Constants) -> SubTree:
    satisfiable = (
        longest >= constants.alpha and text >= constants.beta and anchor <= constants.gamma * text
    )
    if satisfiable:
        return SubTree(longest, text, anchor, True, 1.0)
    degree = min(
        1.0 if longest >= constants.alpha else longest / constants.alpha,
        1.0 if text >= constants.beta else text / constants.beta,
        1.0 if anchor <= constants.gamma * text else (1 - anchor / text) / (1 - constants.gamma),
    )
    return SubTree(longest, text, anchor, False, min(degree, 1.0))


def _verdict(subtree: SubTree | None, constants: Constants) -> Verdict:
    if subtree is None:
        return Verdict(False, 0.0, {})
    evidence = {
        "longest_text": float(subtree.longest),
        "total_text": float(subtree.text),
        "link_share": subtree.anchor / subtree.text,
        "alpha": float(constants.alpha),
        "beta": float(constants.beta),
        "gamma": float(constants.gamma),
    }
    return Verdict(subtree.satisfiable, subtree.degree, evidence)
