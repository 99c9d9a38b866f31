"""The language of a page: that of its text, or the declared one where a site declares right."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from noiseclean_scrapy.page.logs import get_logger

logger = get_logger(__name__)

_SAMPLE = 1000
_SHORTEST_SAMPLE = 50
_NEAR_TIE = 10.0
# What the model calls otherwise than pages do: Cantonese and Wu are seldom meant in writing, and
# Central Kurdish and Bokmål it does not know.
_SPOKEN = {"yue": "zh", "wuu": "zh", "zxx": "", "sdh": "ckb"}
_ALIKE = ({"bs", "hr", "sr"}, {"nb", "no"}, {"bo", "dz"})
"""Languages that are hardly told apart in a text: of these the declared one is right."""
_AGREEING = 10
"""Texts in a row that are in the language their page declares, after which a site is believed."""
_ASKED = 20
"""Of so many pages of a site that is believed one text is asked."""
_MOST_SITES = 10_000


@cache
def ranking() -> Callable[[str], list[tuple[str, float]]] | None:
    """What ranks the languages of a text; None without the extra `metadata`."""
    try:
        import py3langid
    except ImportError:
        return None
    rank: Callable[[str], list[tuple[str, float]]] = py3langid.rank
    try:
        rank("")  # unpacks its model in the folder for temporary files
    except OSError as error:
        logger.error("No text is asked for its language, py3langid cannot be loaded: %s", error)
        return None
    return rank


def text_language(text: str, declared: str) -> str:
    """The language of a text; the declared one where the text is short or hardly tells."""
    return _asked_language(text, declared) or declared


def _asked_language(text: str, declared: str) -> str:
    """The language of a text, empty where it does not tell."""
    sample = text[:_SAMPLE]
    rank = ranking() if len(sample) >= _SHORTEST_SAMPLE else None
    if rank is None:
        return ""
    ranks = rank(sample)
    best, score = ranks[0]
    is_tie = dict(ranks).get(declared, -float("inf")) > score - _NEAR_TIE
    if is_tie or any({best, declared} <= alike for alike in _ALIKE):
        return declared
    return _SPOKEN.get(best, best)


class SiteLanguages:
    """Which sites are believed in the language that their pages declare, and which are not.

    A text is asked for its language until ten in a row of a site were in the declared one, then of
    every twentieth page; one that is in another language ends the belief. A page that declares
    nothing is always asked.
    """

    def __init__(self) -> None:
        self._right: dict[str, int] = {}  # how many pages in a row

    def language(self, site: str, text: str, declared: str) -> str:
        """The language of a page of a site."""
        right = self._right.get(site, 0)
        if declared and right >= _AGREEING and right % _ASKED:
            self._right[site] = right + 1
            return declared
        found = _asked_language(text, declared)
        if found and declared:
            if len(self._right) >= _MOST_SITES:
                self._right.clear()
            self._right[site] = right + 1 if found == declared else 0
        return found or declared
