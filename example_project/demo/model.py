"""What the newspaper is made of: editions, sections, authors, stories and pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class DemoPage:
    """One page of the demo newspaper with its known content.

    ``gold`` has one line a block, starts with the headline and leaves out captions, bylines,
    dates, readers' comments and everything that belongs to the site rather than to the page.
    """

    path: str
    language: str
    template: str
    kind: str
    title: str
    html: str
    gold: str


@dataclass(frozen=True, slots=True)
class Section:
    """A section of an edition with its vocabulary and the templates its stories use in turn."""

    slug: str
    name: str
    headline: str
    templates: tuple[str, ...]
    pools: Mapping[str, tuple[str, ...]]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaticPage:
    """A page that belongs to the newspaper itself: about, contact, imprint, privacy."""

    kind: str
    slug: str
    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edition:
    """All words of one language edition: grammar, labels, sections and house texts.

    ``lines`` maps a kind of line ("general", "quote", "lead", "comment", ...) to its templates.
    """

    code: str
    prefix: str
    name: str
    claim: str
    front_headline: str
    thousands: str
    months: tuple[str, ...]
    date_format: str
    pools: Mapping[str, tuple[str, ...]]
    lines: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, str]
    sections: tuple[Section, ...]
    adverts: tuple[str, ...]
    newsletters: tuple[str, ...]
    legal: tuple[str, ...]
    static_pages: tuple[StaticPage, ...]

    def format_date(self, day: date) -> str:
        """Write a date the way this edition does."""
        month = self.months[day.month - 1]
        return self.date_format.format(day=day.day, month=month, year=day.year)


@dataclass(frozen=True, slots=True)
class Author:
    """A journalist with a page of their own."""

    name: str
    path: str
    section: Section
    biography: str


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a story's body; ``label`` (a time of day) is shown but is not content."""

    kind: str
    cells: tuple[str, ...]
    label: str = ""

    @property
    def text(self) -> str:
        """The block as one line of text."""
        return " ".join(self.cells)


@dataclass(frozen=True, slots=True)
class Comment:
    """A reader's comment."""

    name: str
    text: str
    votes: int


@dataclass(frozen=True, slots=True)
class Story:
    """An article before any template is applied to it."""

    number: int
    path: str
    edition: Edition
    section: Section
    template: str
    author: Author
    published: date
    place: str
    headline: str
    lead: str
    blocks: tuple[Block, ...]
    captions: tuple[str, ...]
    comments: tuple[Comment, ...]

    @property
    def gold_lines(self) -> list[str]:
        """Headline, lead and body, one line a block."""
        return [self.headline, self.lead, *(block.text for block in self.blocks)]
