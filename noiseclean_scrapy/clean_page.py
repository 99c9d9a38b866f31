"""CleanPage: what is left of a page, and the verdict on every part of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import compress, count
from typing import Any

from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.methods.base import LEFT_OUT, Late, Model, PageVerdict
from noiseclean_scrapy.notebook import page_card
from noiseclean_scrapy.page import Page, PageTable
from noiseclean_scrapy.page.block import Block, LocatedBlock
from noiseclean_scrapy.page.characters import JOINERS, one_line
from noiseclean_scrapy.page.contents import Contents
from noiseclean_scrapy.page.headline import choose_title, find_headline, headline_again
from noiseclean_scrapy.page.hidden import hidden_blocks
from noiseclean_scrapy.page.inline import PLAIN, MarkupOptions
from noiseclean_scrapy.page.markup import Source, to_html, to_markdown
from noiseclean_scrapy.page.sources import ADDRESS

CONTENTS = ("text", "html", "markdown", "blocks", "weights")
"""What `CleanPage.to_dict` gives of the content."""
LONGEST_TITLE = 1000
"""Characters of a title; pages have titles of megabytes, and lists show many of them."""
_SAID_AGAIN = f"{LEFT_OUT}: it says the headline again"


@dataclass(frozen=True)
class CleanPage:
    """A page without its noise.

    `title` is what the page is called: see `choose_title`; mostly that is the text of its
    headline. `characters_lost` tells how much text the HTML parser lost, `truncated` that the page
    was longer than its budget. What the page tells of itself is read when it is first asked for,
    see `Metadata`.

    `kept`, `hidden` and `scores` tell of each text block of `table`, those without text as well,
    what `Block` has under that name.
    """

    url: str
    title: str
    characters_lost: int
    truncated: bool
    _page: Page
    _verdict: PageVerdict
    kept: Sequence[bool]
    hidden: Sequence[bool]
    _headline: int  # the index of its text block, -1 where it is left out
    _headline_again: Collection[int] = ()
    # given the clean text
    _read_metadata: Callable[..., Metadata] | None = field(default=None, compare=False)
    _markup: MarkupOptions = PLAIN
    __hash__ = None  # type: ignore[assignment]  # compared by its page, which has none

    def __repr__(self) -> str:
        return (
            f"CleanPage(url={self.url!r}, title={self.title!r}, characters={self.kept_characters})"
        )

    def __getstate__(self) -> dict[str, Any]:
        """The fields and the metadata; what else these give is made again where it is asked for.

        The source is left behind: a selector cannot be copied.
        """
        own = {part.name: getattr(self, part.name) for part in fields(self)}
        return own | {"_read_metadata": None, "metadata": self.metadata}

    @property
    def other(self) -> str:
        """What was given where that is not HTML: `PDF`, `JSON`, `RSS feed` and the like."""
        return self._page.other

    @property
    def problem(self) -> str:
        """What is wrong with the page as it was given, or cleaned; empty where nothing is.

        That is `not HTML: PDF` and the like, or that it is an address instead of a page, that it
        has no text, or lost some, or that all of its text was taken for noise.
        """
        if self.other:
            hint = "; give the page's bytes, or a Path" * (self.other == ADDRESS)
            return f"not HTML: {self.other}{hint}"
        if not any(self.table.texts):
            return "no text"
        if self.truncated:
            return "longer than the budget for one page: its end is left out"
        if self.characters_lost:
            return f"broken HTML: about {self.characters_lost} characters were lost"
        if not self.text:
            return "nothing kept: all of its text was taken for noise"
        return ""

    @cached_property
    def metadata(self) -> Metadata:
        """Author, date, language, addresses; all empty where the source was not at hand."""
        if self._read_metadata is None or self.other:
            return Metadata()
        return self._read_metadata(text=self.text, page=self._page)

    @property
    def author(self) -> str:
        """One name or several, empty where the page does not tell."""
        return self.metadata.author

    @property
    def published(self) -> datetime | None:
        """When the page was published, in the time zone that it tells."""
        return self.metadata.published

    @property
    def language(self) -> str:
        """Code of the language of the text, such as `en`."""
        return self.metadata.language

    @property
    def canonical_url(self) -> str:
        """The address that the page gives itself, absolute."""
        return self.metadata.canonical_url

    @property
    def image(self) -> str:
        """The address of the page's picture, absolute."""
        return self.metadata.image

    def to_dict(self, *contents: str) -> dict[str, Any]:
        """The page as plain values: address, title, metadata, and the text.

        `contents` are what is wanted instead of the text, of `CONTENTS`: with "markdown" and
        "blocks" it is these two.
        """
        unknown = set(contents) - set(CONTENTS)
        if unknown:
            raise ValueError(f"{sorted(unknown)[0]!r} is none of {', '.join(CONTENTS)}")
        named = {"url": self.url, "title": self.title, **asdict(self.metadata)}
        return named | {name: self._plain(name) for name in contents or CONTENTS[:1]}

    def to_json(self, *contents: str) -> str:
        """What `to_dict` gives as JSON, the date in the form of ISO 8601."""
        values = self.to_dict(*contents)
        return json.dumps(values, ensure_ascii=False, default=datetime.isoformat)

    def _plain(self, content: str) -> Any:
        if content == "blocks":
            return [block.to_dict() for block in self.blocks]
        if content == "weights":
            return [{"feature": name, "weight": found} for name, found in self.weights.items()]
        return getattr(self, content)

    @property
    def weights(self) -> Mapping[str, float]:
        """The page's feature vector: words, `src:` images, `href:` links."""
        return self._verdict.weights

    @property
    def fit(self) -> float:
        """Share of the page's characters at places that the cleaner knows, in [0, 1]."""
        return self._verdict.fit

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All text blocks in document order, the dropped ones too."""
        return tuple(block for block in self._blocks if block.text)

    def shown_text(self, block: Block) -> str:
        """The text of one of `blocks` on one line, as it stands in `text`.

        Elements side by side are told apart there (`<b>Jane</b><time>28 March`), which
        `Block.text`, what the methods read, does not.
        """
        return self._shown.get(id(block), block.text)

    @cached_property
    def _shown(self) -> dict[int, str]:
        return {
            id(block): " ".join(self._contents[number].plain.split())
            for number, block in enumerate(self._blocks)
            if block.text
        }

    @property
    def headline(self) -> Block | None:
        """The block that the text begins with, None where no headline is visible or kept."""
        return self._blocks[self._headline] if self._headline >= 0 else None

    @cached_property
    def text(self) -> str:
        """The kept text: the headline, then each block on lines of its own, in document order.

        A block has one line, but for line breaks (BR) and for what is written line by line (PRE).
        """
        texts = map(self._contents.plain, self._kept_indices())
        return "\n".join(filter(None, texts))

    @property
    def html(self) -> str:
        """The kept text as plain HTML: headings, paragraphs, lists, quotes, code, tables.

        It begins with the headline as a heading. Nothing in it is active: it has no attributes but
        the numbers that lists begin with, and the addresses of links and pictures where they are
        asked for (see `to_html`). Text is escaped.
        """
        return self.to_html()

    @property
    def markdown(self) -> str:
        """The kept text as Markdown (CommonMark, with tables and `~~` as GitHub writes them).

        It begins with the headline as a heading.
        """
        return self.to_markdown()

    def to_html(self, **options: bool) -> str:
        """The kept text as plain HTML; the options are those of `MarkupOptions`.

        What is not said here is as the cleaner was told. Links and pictures have absolute web
        addresses; bold, italics, code and the like are formatting.
        """
        markup = replace(self._markup, **options)
        return to_html(self._sources(markup), self.table, markup)

    def to_markdown(self, **options: bool) -> str:
        """The kept text as Markdown, with the options of `to_html`."""
        markup = replace(self._markup, **options)
        return to_markdown(self._sources(markup), self.table, markup)

    @property
    def visible_characters(self) -> int:
        """Characters of text on the page: those that were kept and those that were dropped."""
        return sum(map(len, self._page.table.texts))

    @property
    def kept_characters(self) -> int:
        """Characters of text that were kept."""
        texts = self._page.table.texts
        return sum(len(texts[index]) for index in self._kept_indices())

    @property
    def dropped_characters(self) -> int:
        """Characters of text that were left out."""
        return self.visible_characters - self.kept_characters

    def _repr_html_(self) -> str:
        return page_card(self)

    @cached_property
    def _blocks(self) -> list[Block]:
        """One for each block of the page, those without text as well."""
        table = self._page.table
        return [
            LocatedBlock(
                table,
                element,
                text=table.texts[number],
                tag=table.tags[element],
                kept=self.kept[number],
                score=self.scores[number],
                evidence=Late(partial(self._evidence, number)),
                rule=table.rules[number] or "",
                hidden=self.hidden[number],
            )
            for number, element in enumerate(table.owners)
        ]

    def _evidence(self, number: int) -> Mapping[str, float]:
        found = self._verdict.explain(number)
        return {**found, _SAID_AGAIN: 1.0} if number in self._headline_again else found

    @property
    def table(self) -> PageTable:
        """The elements and text blocks of the page."""
        return self._page.table

    @property
    def scores(self) -> Sequence[float]:
        """How important the method finds each text block of `table`, in [0, 1]."""
        return self._verdict.scores

    def _kept_indices(self) -> Iterator[int]:
        """The kept blocks that show a text, the headline first, and formulas between them."""
        if formulas := self._contents.formulas:
            found = self._kept_with_pictures()
            yield from (index for index in found if self._shows(index) or index in formulas)
            return
        yield from self._beginning
        for index in compress(count(), self.kept):
            if index != self._headline and self._shows(index):
                yield index

    def _kept_with_pictures(self) -> Iterator[int]:
        """The same, and pictures alone: as ruled, else where texts around are kept.

        Hidden pictures are left out. Captions that are not kept do not count as texts around.
        """
        yield from self._beginning
        pictures: list[int] = []
        follows_kept = False
        for index, rule in enumerate(self.table.rules):
            if self._shows(index) or rule in ("keep", "title"):
                if not self.kept[index] and self._contents.tells_of_picture(index):
                    continue
                follows_kept = self.kept[index]
                if follows_kept:
                    yield from pictures
                    if index != self._headline:
                        yield index
                pictures.clear()
            elif follows_kept and rule is None and not self.hidden[index]:
                pictures.append(index)

    @property
    def _beginning(self) -> tuple[int, ...]:
        """The headline, if it shows a text."""
        return (self._headline,) if self._headline >= 0 and self._shows(self._headline) else ()

    def _shows(self, index: int) -> bool:
        return bool(self.table.texts[index].strip(JOINERS))

    @cached_property
    def _contents(self) -> Contents:
        return Contents(self._page)

    def _sources(self, markup: MarkupOptions) -> Iterator[Source]:
        """The kept blocks for HTML and Markdown, with pictures between them if they are wanted."""
        found = self._kept_with_pictures() if markup.include_images else self._kept_indices()
        for index in found:
            content = self._contents[index]
            if self._shows(index) or content.shows(markup):
                yield Source(content, index, self.table.owners[index], index == self._headline)


def clean_page(
    model: Model,
    page: Page,
    *,
    headline: bool = True,
    markup: MarkupOptions = PLAIN,
    read_metadata: Callable[..., Metadata] | None = None,
) -> CleanPage:
    """Judge a page's blocks with a model; rules of the user on elements of the page decide first.

    `markup` is what HTML and Markdown are to hold, `read_metadata` gives the page's metadata where
    they are asked for. A visible headline is kept unless `headline` is False, and not kept again
    (see `headline_again`). What the page's markup hides is left out (see `hidden_blocks`).
    """
    verdict = model.judge(page)
    table = page.table
    title_block = _headline(page, verdict)
    hidden = hidden_blocks(page)
    choices = zip(verdict.kept, hidden, strict=True)
    kept = [by_itself and not out_of_sight for by_itself, out_of_sight in choices]
    for number, rule in enumerate(table.rules):
        if rule is not None:
            hidden[number], kept[number] = False, rule != "drop"
    again: list[int] = []
    if title_block is not None:
        again = headline_again(page, title_block, kept)
        for number in again:
            kept[number] = False
        kept[title_block] = headline or table.rules[title_block] == "keep"
        hidden[title_block] = False
    return CleanPage(
        url=page.url,
        title=_title(page, title_block),
        characters_lost=page.characters_lost,
        truncated=page.truncated,
        _page=page,
        _verdict=verdict,
        kept=kept,
        hidden=hidden,
        _headline=-1 if title_block is None or not headline else title_block,
        _headline_again=again,
        _read_metadata=read_metadata,
        _markup=markup,
    )


def _title(page: Page, headline: int | None) -> str:
    """What the user calls the title, else what the page says."""
    # With blanks between what stands apart, as a kicker does.
    text = "" if headline is None else " ".join(Contents(page)[headline].plain.split())
    is_ruled = headline is not None and page.table.rules[headline] == "title"
    title = text if is_ruled else choose_title(page, text)
    return one_line(title)[:LONGEST_TITLE]


def _headline(page: Page, verdict: PageVerdict) -> int | None:
    """The number of the block that the user calls the title, else of what looks like it."""
    rules, texts = page.table.rules, page.table.texts
    ruled = (number for number, rule in enumerate(rules) if rule == "title" and texts[number])
    found = next(ruled, None)
    if found is None:
        found = find_headline(page, verdict.common)
    return None if found is not None and rules[found] == "drop" else found
