"""Template detection by definition, on the DOM, all pages kept: slow, for tests only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from lxml import html as lxml_html

from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.words import words


def hashed(shingle: str) -> int:
    return int(blake2b(shingle.encode(), digest_size=8).hexdigest(), 16)


def slow_pagelets(source: str, page: Page, k: int) -> list[tuple[str, set[int]]]:
    """Words and blocks of each pagelet, from the top of the document down."""
    root: Any = lxml_html.fromstring(source).getroottree()

    def links(element: int) -> int:
        steps = [e.step for e in page.path(element)]
        (node,) = root.xpath("".join(reversed(steps)))
        return len(node.xpath("descendant-or-self::a[@href]"))

    found = []
    queue = [0]
    while queue:
        content = queue.pop(0)
        children = page.elements[content].content if content >= 0 else []
        if any(child >= 0 and links(child) >= k for child in children):
            queue.extend(children)
            continue
        below = [
            block
            for block in page.blocks
            if content == ~block.index or content in [e.index for e in page.path(block.element)]
        ]
        text = " ".join(word for block in below for word in words(block.text))
        found.append((text, {block.index for block in below}))
    return [(text, blocks) for text, blocks in found if text]


def slow_fingerprint(text: str) -> int:
    sequence = text.split()
    if len(sequence) < 4:
        return hashed(text)
    return min(hashed(" ".join(sequence[i : i + 4])) for i in range(len(sequence) - 3))


def slow_kept(sources: Sequence[str], source: str, k: int) -> list[bool]:
    """Which blocks of a page are in no pagelet that two of the pages show."""
    pages_with: Counter[int] = Counter()
    for other in sources:
        found = slow_pagelets(other, build_page(other), k)
        pages_with.update({slow_fingerprint(text) for text, _ in found})
    page = build_page(source)
    template: set[int] = set()
    for text, blocks in slow_pagelets(source, page, k):
        if pages_with[slow_fingerprint(text)] >= 2:
            template |= blocks
    return [block.index not in template for block in page.blocks]
