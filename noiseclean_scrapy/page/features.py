"""Features of text blocks: words, image files, link targets (Yi, Liu & Li 2003, Def. 5)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

from noiseclean_scrapy.page.model import Page, TextBlock

_HAN_KANA = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_ASCII_WORD = re.compile("[a-z0-9]+")  # the same for ASCII in lower case, at three times the speed
_WORD = re.compile(rf"[{_HAN_KANA}]+|[^\W_{_HAN_KANA}]+")
_IS_HAN_KANA = re.compile(rf"[{_HAN_KANA}]")
_DIGITS = re.compile(r"\d+")


def words(text: str) -> list[str]:
    """Words of `text` in lower case, digits masked; pairs of characters in Chinese and Japanese.

    >>> words("On 21 May 2031")
    ['on', '0', 'may', '0']
    >>> words("新闻网 news")
    ['新闻', '闻网', 'news']
    """
    return _split(_masked(text))


def block_words(page: Page) -> list[list[str]]:
    """The words of each text block; found once, then kept with the page."""
    if page.words is None:
        page.words = [_split(text) for text in masked_texts(page)]
    return page.words


def masked_texts(page: Page) -> list[str]:
    """The text of each block in lower case, digits masked."""
    return masked([block.text for block in page.blocks])


def masked(texts: Sequence[str]) -> list[str]:
    """Texts without line breaks in lower case, digits masked.

    >>> masked(["Page 12", "ÄÖ"])
    ['page 0', 'äö']
    """
    return _masked("\n".join(texts)).split("\n")[: len(texts)]


def block_features(block: TextBlock) -> Counter[str]:
    """How often each feature occurs in the block: words, `src:` images, `href:` link targets."""
    return Counter([*words(block.text), *targets(block)])


def targets(block: TextBlock) -> list[str]:
    """The block's features that are no words: `src:` images, `href:` link targets."""
    sources = ["src:" + target(source) for source in block.images]
    return sources + ["href:" + target(link) for link in block.links]


def target(link: str) -> str:
    """A link or source without scheme, query and fragment."""
    try:
        parts = urlsplit(link.strip())
    except ValueError:
        return link[:100]
    return (parts.netloc + parts.path)[-100:]


def _masked(text: str) -> str:
    return _DIGITS.sub("0", text.lower())


def _split(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text)
    found: list[str] = _WORD.findall(text)
    if not _IS_HAN_KANA.search(text):
        return found
    return [part for word in found for part in _pairs(word)]


def _pairs(word: str) -> list[str]:
    if len(word) > 1 and _IS_HAN_KANA.match(word):
        return [word[i : i + 2] for i in range(len(word) - 1)]
    return [word]
