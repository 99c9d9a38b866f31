"""The stories of the demo newspaper: who writes them, what they say, how readers reply."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from example_project.demo.grammar import correct_english_articles, expand, narrow
from example_project.demo.model import Author, Block, Comment, Edition, Section, Story

_FIRST_DAY = date(2031, 1, 6)
_ATTEMPTS = 40

# How many words of a pool one story uses: stories differ, and each repeats its own words.
_STORY_VOCABULARY = {
    "things": 5,
    "groups": 4,
    "problem": 3,
    "measure": 3,
    "venue": 3,
    "adj": 9,
    "district": 2,
    "opener": 9,
    "tail": 5,
    "reason": 4,
}

_SLUG_WORDS = 9
_TRANSLITERATION = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "é": "e"})


def slug(text: str) -> str:
    """Make a part of an address from a text.

    >>> slug("Über Möwenrade: 1.200 Briefe")
    'ueber-moewenrade-1-200-briefe'
    """
    plain = text.lower().translate(_TRANSLITERATION)
    return "-".join(re.findall(r"[a-z0-9]+", plain)[:_SLUG_WORDS])


class Writer:
    """Writes the lines of one story; no two stories of a site share a sentence.

    ``published`` holds all sentences of the site with their digits masked.
    """

    def __init__(
        self, edition: Edition, section: Section, rng: random.Random, published: set[str]
    ) -> None:
        self.edition = edition
        self._rng = rng
        self._published = published
        self._lines = {**edition.lines, "section": section.sentences}
        self._decks: dict[str, list[str]] = {}
        pools = {**edition.pools, **section.pools}
        cast = {name: (word,) for name, word in _cast(pools, rng).items()}
        self.pools = {**pools, **narrow(pools, _STORY_VOCABULARY, rng), **cast}

    def line(self, kind: str, accept: Callable[[str], bool] = lambda text: True) -> str:
        """Write a line of a kind that the site has not seen yet."""
        for _ in range(_ATTEMPTS):
            text = self._draft(kind)
            key = re.sub(r"\d", "0", text)
            if key not in self._published and accept(text):
                break
        self._published.add(key)
        return text

    def word(self, pool: str) -> str:
        """Choose a word; unlike lines, words come again."""
        return expand(f"{{{pool}}}", self.pools, self._rng, self.edition.thousands)

    def paragraph(self, kinds: tuple[str, ...]) -> str:
        """Write a paragraph with one sentence of each kind."""
        return " ".join(self.line(kind) for kind in kinds)

    def prose(self, count: int, first: str | None = None) -> list[str]:
        """Write ``count`` paragraphs of one to four sentences."""
        rhythm = ("section", "general", "quote", "general") * 2
        paragraphs = []
        beat = self._rng.randrange(len(rhythm))
        for number in range(count):
            size = self._rng.choice((1, 2, 2, 3, 3, 4))
            kinds = [rhythm[(beat + step) % len(rhythm)] for step in range(size)]
            beat += size
            if number == 0 and first:
                kinds.insert(0, first)
            paragraphs.append(self.paragraph(tuple(kinds)))
        return paragraphs

    def _draft(self, kind: str) -> str:
        deck = self._decks.setdefault(kind, [])
        if not deck:
            deck.extend(self._lines[kind])
            self._rng.shuffle(deck)
        text = expand(deck.pop(), self.pools, self._rng, self.edition.thousands)
        return correct_english_articles(text) if self.edition.code == "en" else text


def _cast(pools: Mapping[str, tuple[str, ...]], rng: random.Random) -> dict[str, str]:
    """Choose the people, the place and the bodies one story is about."""
    surname, surname2 = rng.sample(pools["last"], 2)
    cast = {"surname": surname, "surname2": surname2}
    for person, role, last in (("person", "role", surname), ("person2", "role2", surname2)):
        gender = rng.choice("fm")
        cast[person] = f"{rng.choice(pools['first_' + gender])} {last}"
        cast[role] = rng.choice(pools.get(role) or pools[f"{role}_{gender}"])
    for name in ("place", "org", "org2", "project", "work"):
        if name in pools:
            cast[name] = rng.choice(pools[name])
    return cast


def hire_authors(edition: Edition, seed: int) -> list[Author]:
    """Two journalists a section, each with a biography."""
    rng = random.Random(f"{seed}/{edition.code}/authors")
    last_names = rng.sample(edition.pools["last"], 2 * len(edition.sections))
    authors = []
    for index, last in enumerate(last_names):
        section = edition.sections[index // 2]
        name = f"{rng.choice(edition.pools['first_' + 'fm'[index % 2]])} {last}"
        beat = section.name.lower() if edition.code == "en" else section.name
        pools = {**edition.pools, **section.pools, "name": (name,), "beat": (beat,)}
        template = edition.lines["biography"][index % len(edition.lines["biography"])]
        biography = expand(template, pools, rng, edition.thousands)
        path = f"{edition.prefix}{'author' if edition.code == 'en' else 'autor'}/{slug(name)}/"
        authors.append(Author(name, path, section, biography))
    return authors


@dataclass(slots=True)
class Newsroom:
    """Turns assignments into stories; remembers what the site has printed."""

    seed: int
    published: set[str]
    paths: set[str]

    def write(self, number: int, edition: Edition, index: int, authors: list[Author]) -> Story:
        """Write the ``index``-th story of an edition; ``number`` is its id on the site."""
        rng = random.Random(f"{self.seed}/{edition.code}/{number}")
        section = edition.sections[index % len(edition.sections)]
        turn = index // len(edition.sections)
        template = section.templates[turn % len(section.templates)]
        own = [author for author in authors if author.section is section]
        writer = Writer(edition, section, rng, self.published)
        headline = writer.line(f"headline-{template}", lambda text: len(text) < 110)
        lead = writer.line("lead")
        day = _FIRST_DAY + timedelta(days=index + rng.randrange(2))
        return Story(
            number=number,
            path=self._path(edition, section, day, headline, number),
            edition=edition,
            section=section,
            template=template,
            author=own[turn % len(own)],
            published=day,
            place=writer.pools["place"][0],
            headline=headline,
            lead=lead,
            blocks=tuple(_BODIES[template](writer, rng, section)),
            captions=tuple(writer.line("caption") for _ in range(3)),
            comments=_comments(writer, rng),
        )

    def _path(
        self, edition: Edition, section: Section, day: date, headline: str, number: int
    ) -> str:
        path = f"{edition.prefix}{section.slug}/{day.year}/{slug(headline)}"
        if path in self.paths:
            path += f"-{number}"
        self.paths.add(path)
        return path + ".html"


def _comments(writer: Writer, rng: random.Random) -> tuple[Comment, ...]:
    if rng.random() < 0.55:
        return ()
    return tuple(
        Comment(writer.word("reader"), writer.line("comment"), rng.randrange(0, 60))
        for _ in range(rng.randrange(2, 6))
    )


def _standard_body(writer: Writer, rng: random.Random, section: Section) -> list[Block]:
    count = rng.randrange(6, 14)
    blocks = [Block("paragraph", (text,)) for text in writer.prose(count, first="first")]
    if count > 8:
        blocks.insert(count // 2, Block("heading", (writer.line("heading"),)))
    return blocks


def _feature_body(writer: Writer, rng: random.Random, section: Section) -> list[Block]:
    blocks: list[Block] = []
    for chapter in range(rng.randrange(3, 5)):
        if chapter:
            blocks.append(Block("heading", (writer.line("heading"),)))
        first = "first" if chapter == 0 else None
        blocks += [Block("paragraph", (text,)) for text in writer.prose(rng.randrange(4, 7), first)]
        if rng.random() < 0.6:
            blocks.insert(len(blocks) - 1, Block("quote", (writer.line("quote"),)))
    return blocks


def _live_body(writer: Writer, rng: random.Random, section: Section) -> list[Block]:
    blocks = [Block("key_point", (writer.line("general"),)) for _ in range(rng.randrange(3, 5))]
    minutes = 20 * 60 + rng.randrange(60)
    for _ in range(rng.randrange(6, 11)):
        time = f"{minutes // 60:02d}:{minutes % 60:02d}"
        blocks.append(Block("entry", (writer.line("entry"),), label=time))
        blocks += [Block("paragraph", (text,)) for text in writer.prose(rng.choice((1, 1, 2)))]
        minutes -= rng.randrange(9, 70)
    return blocks


def _review_body(writer: Writer, rng: random.Random, section: Section) -> list[Block]:
    paragraphs = []
    for _ in range(rng.randrange(5, 9)):
        kinds = rng.sample(("review", "section", "general", "quote"), rng.choice((2, 3, 3, 4)))
        paragraphs.append(Block("paragraph", (writer.paragraph(tuple(kinds)),)))
    edition = writer.edition
    rows = []
    for criterion in rng.sample(section.pools["criteria"], 4):
        score = edition.labels["score"].format(score=rng.randrange(1, 6))
        rows.append(Block("row", (criterion, score, writer.line("remark"))))
    return [*paragraphs, *rows, Block("verdict", (writer.line("verdict"),))]


_BODIES: Mapping[str, Callable[[Writer, random.Random, Section], list[Block]]] = {
    "standard": _standard_body,
    "feature": _feature_body,
    "live": _live_body,
    "review": _review_body,
}
