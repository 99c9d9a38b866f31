"""The demo newspaper as a whole: every page of it with its known content."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from example_project.demo import index_templates
from example_project.demo.articles import Newsroom, hire_authors, slug
from example_project.demo.context import Archive, PageContext
from example_project.demo.edition_de import EDITION as GERMAN
from example_project.demo.edition_en import EDITION as ENGLISH
from example_project.demo.layout import COURIER
from example_project.demo.model import (
    Author,
    DemoPage,
    Edition,
    Section,
    StaticPage,
    Story,
)

_ENGLISH_SHARE = 0.7
_FIRST_NUMBER = 4711
_FRONT_TEASERS = 12
_SECTION_TEASERS = 10


class DemoSite:
    """A made-up newspaper in English and German.

    ``articles`` is the number of stories of both editions; ``seed`` changes all words. The same
    arguments give the same bytes in every process. ``pages`` maps each path to its page.
    """

    def __init__(self, articles: int = 120, seed: int = 7) -> None:
        if articles < 2:
            raise ValueError(f"DemoSite needs at least 2 articles, one a language, got {articles}")
        self.seed = seed
        self.pages: dict[str, DemoPage] = {}
        newsroom = Newsroom(seed, published=set(), paths=set())
        english = max(1, round(articles * _ENGLISH_SHARE))
        english = min(english, articles - 1)
        self._add_edition(newsroom, ENGLISH, english, 0, GERMAN.prefix)
        self._add_edition(newsroom, GERMAN, articles - english, english, ENGLISH.prefix)

    def _add_edition(
        self, newsroom: Newsroom, edition: Edition, count: int, offset: int, other_front: str
    ) -> None:
        authors = hire_authors(edition, self.seed)
        stories = [
            self._write(newsroom, _FIRST_NUMBER + 7 * (offset + index), edition, index, authors)
            for index in range(count)
        ]
        topic = "topic" if edition.code == "en" else "thema"
        places = sorted({story.place for story in stories})
        archive = Archive(
            edition=edition,
            stories=tuple(reversed(stories)),
            authors=tuple(authors),
            topic_paths={place: f"{edition.prefix}{topic}/{slug(place)}/" for place in places},
            other_front=other_front,
        )
        self._add_front(archive)
        for section in edition.sections:
            self._add_section(archive, section)
        for story in archive.stories:
            self._add_story(archive, story)
        for author in archive.authors:
            self._add_author(archive, author)
        for place, path in archive.topic_paths.items():
            self._add_topic(archive, place, path)
        for page in edition.static_pages:
            self._add_house_page(archive, page)

    def _write(
        self, newsroom: Newsroom, number: int, edition: Edition, index: int, authors: list[Author]
    ) -> Story:
        return newsroom.write(number, edition, index, authors)

    def _add_front(self, archive: Archive) -> None:
        stories = archive.stories[:_FRONT_TEASERS]
        self._add_listing(
            archive, archive.edition.prefix, "front", archive.edition.front_headline, stories
        )

    def _add_section(self, archive: Archive, section: Section) -> None:
        stories = [story for story in archive.stories if story.section is section]
        first_path = archive.section_path(section.slug)
        starts = list(range(0, len(stories), _SECTION_TEASERS)) or [0]
        paths = [first_path] + [f"{first_path}page/{page}/" for page in range(2, len(starts) + 1)]
        for index, (path, start) in enumerate(zip(paths, starts, strict=True)):
            headline = section.headline
            if index:
                headline += f", {archive.edition.labels['page'].format(count=index + 1)}"
            self._add_listing(
                archive,
                path,
                "section",
                headline,
                stories[start : start + _SECTION_TEASERS],
                previous_path=paths[index - 1] if index else "",
                next_path=paths[index + 1] if index + 1 < len(paths) else "",
            )

    def _add_topic(self, archive: Archive, place: str, path: str) -> None:
        headline = archive.edition.labels["topic_headline"].format(place=place)
        stories = [story for story in archive.stories if story.place == place]
        self._add_listing(archive, path, "topic", headline, stories)

    def _add_listing(
        self,
        archive: Archive,
        path: str,
        kind: str,
        headline: str,
        stories: Sequence[Story],
        previous_path: str = "",
        next_path: str = "",
    ) -> None:
        gold = [headline, *_teaser_lines(stories)]

        def render(context: PageContext) -> str:
            return index_templates.listing(context, stories, previous_path, next_path)

        self._add_page(archive, path, kind, gold, render)

    def _add_author(self, archive: Archive, author: Author) -> None:
        stories = [story for story in archive.stories if story.author is author]
        gold = [author.name, author.biography, *_teaser_lines(stories)]

        def render(context: PageContext) -> str:
            return index_templates.author(context, author, stories)

        self._add_page(archive, author.path, "author", gold, render)

    def _add_house_page(self, archive: Archive, page: StaticPage) -> None:
        def render(context: PageContext) -> str:
            return index_templates.house_page(context, page)

        path = f"{archive.edition.prefix}{page.slug}.html"
        self._add_page(archive, path, page.kind, [page.title, *page.lines], render)

    def _add_story(self, archive: Archive, story: Story) -> None:
        age = archive.stories.index(story) / len(archive.stories)
        context = self._context(archive, story.path, story.gold_lines, build=int(age * 3))
        self.pages[story.path] = DemoPage(
            path=story.path,
            language=archive.edition.code,
            template=story.template,
            kind="article",
            title=story.headline,
            html=COURIER.article(context, story),
            gold="\n".join(story.gold_lines),
        )

    def _add_page(
        self,
        archive: Archive,
        path: str,
        kind: str,
        gold: list[str],
        render: Callable[[PageContext], str],
    ) -> None:
        """Add a page that is not an article; its template is named after its kind."""
        context = self._context(archive, path, gold, build=0)
        template = "house" if kind in ("about", "imprint", "privacy") else kind
        self.pages[path] = DemoPage(
            path=path,
            language=archive.edition.code,
            template=template,
            kind=kind,
            title=gold[0],
            html=COURIER.page(context, template, render(context)),
            gold="\n".join(gold),
        )

    def _context(self, archive: Archive, path: str, gold: list[str], build: int) -> PageContext:
        return PageContext(
            archive=archive,
            path=path,
            title=gold[0],
            description=gold[1] if len(gold) > 1 else archive.edition.claim,
            rng=random.Random(f"{self.seed}/layout{path}"),
            build=build,
            listed=frozenset(gold),
        )


def _teaser_lines(stories: Sequence[Story]) -> list[str]:
    return [line for story in stories for line in (story.headline, story.lead)]
