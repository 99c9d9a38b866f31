"""Features of text blocks: words, image files, link targets (Yi, Liu & Li 2003, Def. 5)."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence, Set
from unicodedata import normalize
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy import kernels
from noiseclean_scrapy.page.page import Page, TextBlock
from noiseclean_scrapy.page.urls import LONGEST_ADDRESS, has_overlong_host

_HAN_KANA = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# The same for ASCII in lower case, at three times the speed. What is longer is no word: it is cut
# into several, so that names of features stay short.
_ASCII_WORD = re.compile("[a-z0-9]{1,64}")
_WORD = re.compile(rf"[{_HAN_KANA}]+|[^\W_{_HAN_KANA}]{{1,64}}")
_IS_HAN_KANA = re.compile(rf"[{_HAN_KANA}]")
_DIGITS = re.compile(r"\d+")
LETTER = re.compile(r"[^\W\d_]")

_LONGEST_LINK = 10_000
_LINK_END = 1000  # characters that tell a link from others
LONGEST = 300
"""Characters of the longest text that may be a headline or a line of the page's frame."""
# Texts come again on other pages: the words of short ones are kept until there are so many.
_LONGEST_KEPT, _MOST_KEPT = 100, 5000
_kept_sets: dict[str, frozenset[str]] = {}


def words(text: str, *, mask: bool = True) -> list[str]:
    """Words of `text` in lower case, digits masked; pairs of characters in Chinese and Japanese.

    Letters are composed: of two spellings of one text the words are the same.

    >>> words("On 21 May 2031")
    ['on', '0', 'may', '0']
    >>> words("On 21 May 2031", mask=False)
    ['on', '21', 'may', '2031']
    >>> words("新闻网 news")
    ['新闻', '闻网', 'news']
    """
    return _split(_masked(text) if mask else text.lower())


def word_counts(texts: list[str], *wanted: Set[str], longest: int = LONGEST) -> NDArray[np.int64]:
    """How many different words each text has, and how many of them are in each set of `wanted`.

    (1 + sets, texts). Texts of more than `longest` characters are not read: they have none.

    >>> word_counts(["The flood of the year", "Home"], {"the", "flood"}, {"home"}).tolist()
    [[4, 1], [2, 0], [0, 1]]
    """
    if kernels.texts is not None:
        found: NDArray[np.int64] = kernels.texts.word_counts(texts, wanted, longest)
        rest = np.flatnonzero(found[0] < 0).tolist()
    else:
        found = np.zeros((1 + len(wanted), len(texts)), dtype=np.int64)
        rest = [number for number, text in enumerate(texts) if len(text) <= longest]
    if rest:
        sets = _word_sets([texts[number] for number in rest])
        found[:, rest] = [
            [*map(len, sets)],
            *([len(own & words) for own in sets] for words in wanted),
        ]
    return found


def page_words(page: Page) -> NDArray[np.int64]:
    """`word_counts` of the page's text blocks: those in its title, and in its description if any.

    Long texts are read where there is a description. Found once, then kept with the page.
    """
    if page.words is None:
        described = frozenset(words(page.description))
        wanted = [frozenset(words(page.title)), *([described] if described else [])]
        longest = sys.maxsize if described else LONGEST
        page.words = word_counts(page.table.texts, *wanted, longest=longest)
    return page.words


def _word_sets(texts: list[str]) -> list[frozenset[str]]:
    """The different words of each text."""
    sets = [_kept_sets.get(text) for text in texts]
    unknown = list(dict.fromkeys(t for t, own in zip(texts, sets, strict=True) if own is None))
    made = dict(zip(unknown, map(frozenset, map(_split, masked(unknown))), strict=True))
    kept = [text for text in unknown if len(text) <= _LONGEST_KEPT]
    if len(_kept_sets) + len(kept) > _MOST_KEPT:
        _kept_sets.clear()
    _kept_sets.update((text, made[text]) for text in kept)
    return [made[t] if own is None else own for t, own in zip(texts, sets, strict=True)]


def masked(texts: Sequence[str]) -> list[str]:
    """Texts without line breaks in lower case, digits masked.

    >>> masked(["Page 12", "ÄÖ"])
    ['page 0', 'äö']
    """
    return _masked("\n".join(texts)).split("\n")[: len(texts)]


def block_features(block: TextBlock, *, published: bool = False) -> Counter[str]:
    """How often each feature occurs in the block: words, `src:` images, `href:` link targets.

    With `published` numbers are words as others are, and addresses are not shortened.
    """
    shown = _address if published else target
    features = Counter(words(block.text, mask=not published))
    features.update("src:" + shown(source) for source in block.images)
    features.update("href:" + shown(link) for link in block.links)
    return features


def target(link: str) -> str:
    """A link or source without scheme, query and fragment."""
    if len(link) > _LONGEST_LINK:  # it may stand in every block of the page
        return link[:100]
    if len(link) > LONGEST_ADDRESS and has_overlong_host(link):
        return link[:100]
    try:
        parts = urlsplit(link.strip())
    except ValueError:
        return link[:100]
    return (parts.netloc + parts.path)[-100:]


def _address(link: str) -> str:
    return link[-_LONGEST_LINK:].strip()[-_LINK_END:]


def mask_digits(text: str) -> str:
    """Each number as 0."""
    return _DIGITS.sub("0", text)


def _masked(text: str) -> str:
    return mask_digits(text.lower())


def _split(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text)
    found: list[str] = _WORD.findall(normalize("NFC", text))
    if not _IS_HAN_KANA.search(text):
        return found
    return [part for word in found for part in _pairs(word)]


def _pairs(word: str) -> list[str]:
    if len(word) > 1 and _IS_HAN_KANA.match(word):
        return [word[i : i + 2] for i in range(len(word) - 1)]
    return [word]
