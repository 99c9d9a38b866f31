"""CleanPage and Block: what is left of a page, and the verdict on every part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from noiseclean_scrapy.methods.base import Model
from noiseclean_scrapy.page import Page
from noiseclean_scrapy.page.headline import find_headline

_HTML_TAGS = frozenset("h1 h2 h3 h4 h5 h6 p li blockquote pre td th dt dd figcaption".split())


@dataclass(frozen=True, slots=True)
class Block:
    """One text block of a page, kept or not.

    `score` is the importance in [0, 1] that the method gives it; `evidence` is what led to the
    verdict, by name. `xpath` locates the element that holds the text.
    """

    text: str
    xpath: str
    tag: str
    kept: bool
    score: float
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CleanPage:
    """A page without its noise.

    `blocks` are all text blocks in document order, the dropped ones too. `weights` is the page's
    feature vector (words, `src:` images, `href:` links). `fit` is the share of the page's
    characters at places that the cleaner knows, in [0, 1].
    """

    url: str
    title: str
    blocks: tuple[Block, ...]
    headline: Block | None
    weights: Mapping[str, float]
    fit: float
    characters_lost: int

    @property
    def text(self) -> str:
        """The kept text: the headline, then one line a block, in document order."""
        return "\n".join(block.text for block in self._kept())

    @property
    def html(self) -> str:
        """The kept text as plain HTML: headings, paragraphs and list items without attributes."""
        lines = []
        for block in self._kept():
            tag = block.tag if block.tag in _HTML_TAGS else "p"
            lines.append(f"<{tag}>{escape(block.text, quote=False)}</{tag}>")
        return "\n".join(lines)

    @property
    def visible_characters(self) -> int:
        """Characters of text on the page."""
        return sum(len(block.text) for block in self.blocks)

    @property
    def kept_characters(self) -> int:
        """Characters of text that were kept."""
        return sum(len(block.text) for block in self._kept())

    def _kept(self) -> list[Block]:
        kept = [block for block in self.blocks if block.kept and block is not self.headline]
        return kept if self.headline is None else [self.headline, *kept]


def clean_page(model: Model, page: Page, *, headline: bool = True) -> CleanPage:
    """Judge a page's blocks with a model; a visible headline is kept unless `headline` is False."""
    verdict = model.judge(page)
    title_block = find_headline(page)
    blocks: list[Block] = []
    heading: Block | None = None
    for source, judged in zip(page.blocks, verdict.verdicts, strict=True):
        if not source.text:
            continue
        is_headline = source is title_block
        block = Block(
            source.text,
            page.xpath(source),
            page.elements[source.element].tag,
            headline if is_headline else judged.kept,
            judged.score,
            judged.evidence,
        )
        blocks.append(block)
        if is_headline and headline:
            heading = block
    return CleanPage(
        url=page.url,
        title=title_block.text if title_block else page.title,
        blocks=tuple(blocks),
        headline=heading,
        weights=verdict.weights,
        fit=verdict.fit,
        characters_lost=page.characters_lost,
    )
