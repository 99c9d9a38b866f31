"""Newspapers for focused crawls: topics run through their sections, boxes and navigation mix them.

Each newspaper is the demo newspaper in English with a name, sections and shares of topics of its
own. A topic's stories appear in any section. "Related" boxes show other stories of the section, and
every other time one of the topic; "most read" boxes show anything. Each page of a newspaper names
the dossiers of all topics in its header, its advertisements and its footer, and links to pages of
the house that speak of a topic and tell nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.focused_topics import TOPICS, NewsTopic
from example_project.demo import DemoSite
from example_project.demo.articles import Newsroom
from example_project.demo.context import Archive, PageContext
from example_project.demo.edition_en import EDITION as ENGLISH
from example_project.demo.grammar import read_lines
from example_project.demo.model import Author, Edition, StaticPage, Story

NAMES = ("The Estuary Courier", "Harbour Herald", "Larkham Post", "The Ashcombe Observer")
SHARES = (0.03, 0.08, 0.15, 0.05)
"""Share of a newspaper's stories on a topic; each topic is at home at another newspaper."""

_HOUSE_LINES = read_lines(
    """
- The prizes are paid for by our partners, the questions were written over a long lunch.
- Employees of the publishing house cannot take part. The judges' decision is final.
- Order at the counter or by telephone; we deliver with the Saturday edition.
"""
)


class Newspaper(DemoSite):
    """The newspaper with the number `number`; `topics` maps paths of stories to their topics."""

    def __init__(self, number: int, articles: int, seed: int) -> None:
        self.seed = seed
        self.pages = {}
        self.topics: dict[str, NewsTopic] = {}
        self._rng = random.Random(f"{seed}/{number}/topics")
        self._shares = [SHARES[(number + i) % len(SHARES)] for i in range(len(TOPICS))]
        newsroom = Newsroom(seed * 100 + number, published=set(), paths=set())
        edition = _edition(NAMES[number], random.Random(f"{seed}/{number}/edition"))
        self._add_edition(newsroom, edition, articles, 0, edition.prefix)

    def relevant(self, topic: NewsTopic) -> set[str]:
        """Paths of the stories on a topic."""
        return {path for path, other in self.topics.items() if other is topic}

    def _write(
        self, newsroom: Newsroom, number: int, edition: Edition, index: int, authors: list[Author]
    ) -> Story:
        topic = self._draw()
        if topic is None:
            return super()._write(newsroom, number, edition, index, authors)
        place = index % len(edition.sections)
        section = edition.sections[place]
        pools = {**section.pools, **topic.pools}
        about = replace(section, pools=pools, sentences=topic.sentences, templates=_TEMPLATES)
        sections = (*edition.sections[:place], about, *edition.sections[place + 1 :])
        hired = {
            replace(author, section=about).path: author
            for author in authors
            if author.section is section
        }
        staff = [replace(author, section=about) for author in hired.values()]
        written = newsroom.write(number, replace(edition, sections=sections), index, staff)
        self.topics[written.path] = topic
        return replace(written, section=section, edition=edition, author=hired[written.author.path])

    def _draw(self) -> NewsTopic | None:
        dice = self._rng.random()
        for topic, share in zip(TOPICS, self._shares, strict=True):
            if dice < share:
                return topic
            dice -= share
        return None

    def _context(self, archive: Archive, path: str, gold: list[str], build: int) -> PageContext:
        context = super()._context(archive, path, gold, build)
        fields = {name: getattr(context, name) for name in context.__slots__}
        return _TopicContext(**fields, topics=self.topics)


@dataclass(frozen=True, slots=True)
class _TopicContext(PageContext):
    topics: dict[str, NewsTopic]

    def other_stories(self, count: int, section: str | None = None) -> list[Story]:
        """Every other "related" box of a story on a topic has another story of it."""
        stories = PageContext.other_stories(self, count, section)
        topic = self.topics.get(self.path)
        if section is None or topic is None or self.rng.random() < 0.5:
            return stories
        same = [
            story
            for story in self.archive.stories
            if self.topics.get(story.path) is topic
            and story.path != self.path
            and story not in stories
        ]
        return [*self.rng.sample(same, min(1, len(same))), *stories[1:]]


_TEMPLATES = ("standard", "feature", "standard", "live")


def _edition(name: str, rng: random.Random) -> Edition:
    dossiers = [topic.dossier for topic in TOPICS]
    rng.shuffle(dossiers)
    house = [(topic.name, title) for topic in TOPICS for title in topic.house]
    pages = [
        StaticPage("house", f"house-{topic}-{n}", title, (f"{title}.", *_HOUSE_LINES))
        for n, (topic, title) in enumerate(rng.sample(house, 6))
    ]
    sections = list(ENGLISH.sections)
    rng.shuffle(sections)
    return replace(
        ENGLISH,
        name=name,
        claim=" · ".join(dossiers),
        sections=tuple(sections),
        adverts=(*ENGLISH.adverts, *(f"{title}." for _, title in house)),
        newsletters=(*ENGLISH.newsletters, *(f"{line} in your inbox." for line in dossiers)),
        static_pages=(*ENGLISH.static_pages, *pages),
    )


def newspapers(articles: int, seed: int) -> Sequence[Newspaper]:
    """All newspapers with so many stories each."""
    return [Newspaper(number, articles, seed) for number in range(len(NAMES))]
