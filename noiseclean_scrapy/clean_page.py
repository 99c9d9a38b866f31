"""CleanPage and Block: what is left of a page, and the verdict on every part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from noiseclean_scrapy.markup import to_html, to_markdown
from noiseclean_scrapy.methods.base import Model
from noiseclean_scrapy.page import Page, TextBlock
from noiseclean_scrapy.page.headline import find_headline


@dataclass(frozen=True, slots=True)
class Block:
    """One text block of a page, kept or not.

    `score` is the importance in [0, 1] that the method gives it; `evidence` is what led to the
    verdict, by name. `xpath` locates the element that holds the text, `place` is where that stands
    in the layout: the labels from BODY down, such as `body/div.main/article/p`. `rule` is the
    user's override that decided (`keep`, `drop`, `title`), empty where the method did.
    """

    text: str
    xpath: str
    tag: str
    kept: bool
    score: float
    evidence: Mapping[str, float]
    place: str = ""
    rule: str = ""


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
        """The kept text as plain HTML: headings, paragraphs, lists, quotes, code, tables.

        Nothing in it is active: it has no attributes, and the text is escaped.
        """
        return to_html(self._kept())

    @property
    def markdown(self) -> str:
        """The kept text as Markdown (CommonMark, with tables as GitHub writes them)."""
        return to_markdown(self._kept())

    @property
    def visible_characters(self) -> int:
        """Characters of text on the page: those that were kept and those that were dropped."""
        return sum(len(block.text) for block in self.blocks)

    @property
    def kept_characters(self) -> int:
        """Characters of text that were kept."""
        return sum(len(block.text) for block in self._kept())

    @property
    def dropped_characters(self) -> int:
        """Characters of text that were left out."""
        return sum(len(block.text) for block in self.blocks if not block.kept)

    def _repr_html_(self) -> str:
        from noiseclean_scrapy.report import page_fragment

        return page_fragment(self)

    def _kept(self) -> list[Block]:
        kept = [block for block in self.blocks if block.kept and block is not self.headline]
        return kept if self.headline is None else [self.headline, *kept]


def clean_page(model: Model, page: Page, *, headline: bool = True) -> CleanPage:
    """Judge a page's blocks with a model; rules of the user on elements of the page decide first.

    A visible headline is kept unless `headline` is False.
    """
    verdict = model.judge(page)
    title_block = _headline(page)
    blocks: list[Block] = []
    heading: Block | None = None
    for source, judged in zip(page.blocks, verdict.verdicts, strict=True):
        if not source.text:
            continue
        is_headline = source is title_block
        kept = headline if is_headline else judged.kept
        if source.rule and not is_headline:
            kept = source.rule != "drop"
        block = Block(
            text=source.text,
            xpath=page.xpath(source),
            tag=page.elements[source.element].tag,
            kept=kept,
            score=judged.score,
            evidence=judged.evidence,
            place=_place(page, source),
            rule=source.rule or "",
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


def _headline(page: Page) -> TextBlock | None:
    """The block that the user calls the title, else the one that looks like it."""
    ruled = next((block for block in page.blocks if block.rule == "title" and block.text), None)
    found = ruled or find_headline(page)
    return None if found and found.rule == "drop" else found


def _place(page: Page, block: TextBlock) -> str:
    return "/".join(reversed([element.label for element in page.path(block.element)]))
