"""Features of text blocks: words, image files, link targets (Yi, Liu & Li 2003, Def. 5)."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urlsplit

from noiseclean_scrapy.page.model import TextBlock

_HAN_KANA = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
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
    found = []
    for match in _WORD.findall(_DIGITS.sub("0", text.lower())):
        if len(match) > 1 and _IS_HAN_KANA.match(match):
            found += [match[i : i + 2] for i in range(len(match) - 1)]
        else:
            found.append(match)
    return found


def block_features(block: TextBlock) -> Counter[str]:
    """How often each feature occurs in the block: words, `src:` images, `href:` link targets."""
    counts = Counter(words(block.text))
    counts.update("src:" + target(source) for source in block.images)
    counts.update("href:" + target(link) for link in block.links)
    return counts


def target(link: str) -> str:
    """A link or source without scheme, query and fragment."""
    try:
        parts = urlsplit(link.strip())
    except ValueError:
        return link[:100]
    return (parts.netloc + parts.path)[-100:]
