"""Freshness: a newspaper publishes while it is crawled; how old are new stories when they come?

Each section publishes at a rate of its own. The front page, the lists of sections, places and
authors always show what has been published so far.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scrapy.crawler import CrawlerProcess

from benchmarks.focused_crawls import COMMON, FOCUS_SETTINGS, FollowingSpider
from benchmarks.focused_sites import Newspaper
from benchmarks.focused_topics import TOPICS
from example_project.demo import DemoPage, DemoServer
from example_project.demo.articles import Newsroom
from example_project.demo.context import Archive, PageContext
from example_project.demo.model import Author, Edition, Section, Story
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.focus.focus import Focus
from noiseclean_scrapy.focus.hubs import Hub, Hubs
from noiseclean_scrapy.focus.middleware import FocusMiddleware

RATES = (32, 16, 8, 4, 2, 1)
"""How often the sections publish, relative to each other."""
LISTED = 12
"""Teasers on a list."""
DELAY, INTERVAL = 0.1, 1.0
"""Seconds between two requests, and least seconds between two visits of a list."""
OLD = 0.4
"""Share of the stories that are there when the crawl begins."""
POLICIES: Mapping[str, Mapping[str, Any]] = {
    "uniform": {
        "DOWNLOADER_MIDDLEWARES": {
            "noiseclean_scrapy.focus.middleware.FocusMiddleware": None,
            "benchmarks.focused_freshness.UniformMiddleware": 540,
        }
    },
    "by expected new links": {},
}


class UniformHubs(Hubs):
    """Every hub as often as every other: the one first that was not seen for longest."""

    def is_due(self, hub: Hub, now: float) -> bool:
        return now - hub.visited >= self.interval

    def urgency(self, hub: Hub, now: float) -> float:
        return now - hub.visited


class UniformFocus(Focus):
    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.hubs = UniformHubs(config.revisit_seconds)


class UniformMiddleware(FocusMiddleware):
    focus_class = UniformFocus


class LiveNewspaper(Newspaper):
    """A newspaper whose stories appear over `seconds`, each section at its own rate.

    Its clock begins with `start`; `published` and `served` are times of stories in seconds.
    """

    def __init__(self, seed: int, articles: int, seconds: float) -> None:
        self.articles = articles
        self.seconds = seconds
        self.published: dict[str, float] = {}
        self.served: dict[str, float] = {}
        self.lists: dict[str, Callable[[float], None]] = {}
        self.started = time.monotonic()
        self._sections = random.Random(f"{seed}/sections")
        super().__init__(seed % 4, articles, seed)
        self.pages = _LivePages(self)

    def start(self) -> None:
        """Let time run from now on."""
        self.started = time.monotonic()

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def ages(self, end: float) -> dict[str, float]:
        """How old each new story was when it was fetched; at the end, if it never was."""
        return {
            path: self.served.get(path, end) - published
            for path, published in self.published.items()
            if 0 < published < end
        }

    def _write(
        self, newsroom: Newsroom, number: int, edition: Edition, index: int, authors: list[Author]
    ) -> Story:
        count = len(edition.sections)
        [section] = self._sections.choices(range(count), RATES)
        turn = count * (index // count)
        story = super()._write(newsroom, number, edition, turn + section, authors)
        share = (index / self.articles - OLD) / (1 - OLD)
        self.published[story.path] = share * self.seconds
        return story

    def _context(self, archive: Archive, path: str, gold: list[str], build: int) -> PageContext:
        """What a story's boxes link to was there before it."""
        at = self.published.get(path)
        return super()._context(archive if at is None else self._at(archive, at), path, gold, build)

    def _at(self, archive: Archive, seconds: float) -> Archive:
        stories = (story for story in archive.stories if self.published[story.path] <= seconds)
        return replace(archive, stories=tuple(stories))

    def _add_list(
        self, archive: Archive, path: str, kind: str, headline: str, shows: Callable[[Story], bool]
    ) -> None:
        def render(seconds: float) -> None:
            then = self._at(archive, seconds)
            stories = [story for story in then.stories if shows(story)][:LISTED]
            self._add_listing(then, path, kind, headline, stories)

        self.lists[path] = render
        render(0.0)

    def _add_front(self, archive: Archive) -> None:
        edition = archive.edition
        self._add_list(archive, edition.prefix, "front", edition.front_headline, lambda story: True)

    def _add_section(self, archive: Archive, section: Section) -> None:
        path = archive.section_path(section.slug)
        self._add_list(
            archive, path, "section", section.headline, lambda story: story.section is section
        )

    def _add_topic(self, archive: Archive, place: str, path: str) -> None:
        headline = archive.edition.labels["topic_headline"].format(place=place)
        self._add_list(archive, path, "topic", headline, lambda story: story.place == place)

    def _add_author(self, archive: Archive, author: Author) -> None:
        self._add_list(
            archive, author.path, "author", author.name, lambda story: story.author is author
        )


class _LivePages(dict[str, DemoPage]):
    """Pages by path: a list is made for every request, a story answers once it is out."""

    def __init__(self, paper: LiveNewspaper) -> None:
        super().__init__(paper.pages)
        self.paper = paper

    def get(self, path: str, default: Any = None) -> Any:
        now = self.paper.now
        if self.paper.published.get(path, 0.0) > now:
            return default
        if path in self.paper.lists:
            self.paper.lists[path](now)
        elif path in self.paper.published:
            self.paper.served.setdefault(path, now)
        return super().get(path, default)


def freshness(policy: str, seed: int, articles: int, seconds: float) -> dict[str, Any]:
    """The ages of new stories, all and those on the topic, with a policy of revisiting."""
    topic = TOPICS[seed % len(TOPICS)]
    paper = LiveNewspaper(seed, articles, seconds)
    with DemoServer(paper) as server, tempfile.TemporaryDirectory() as folder:
        process = CrawlerProcess(
            {
                **COMMON,
                **FOCUS_SETTINGS,
                **POLICIES[policy],
                "CONCURRENT_REQUESTS": 1,
                "DOWNLOAD_DELAY": DELAY,
                "RANDOMIZE_DOWNLOAD_DELAY": False,
                "CLOSESPIDER_TIMEOUT": seconds,
                "NOISECLEAN_TOPIC": topic.query,
                "NOISECLEAN_REVISITS": 100_000,
                "NOISECLEAN_REVISIT_SECONDS": INTERVAL,
                "NOISECLEAN_DATABASE_URL": f"sqlite:///{Path(folder) / 'pages.db'}",
            }
        )
        crawler = process.create_crawler(FollowingSpider)
        process.crawl(crawler, fronts=[f"{server.url}/"], fetched=[])
        paper.start()
        process.start()
        ages = paper.ages(min(paper.now, seconds))
        relevant = paper.relevant(topic)
        assert crawler.stats
        return {
            "policy": policy,
            "seed": seed,
            "all": list(ages.values()),
            "relevant": [age for path, age in ages.items() if path in relevant],
            "found": sum(path in paper.served for path in ages) / len(ages),
            "fetched": crawler.stats.get_value("response_received_count", 0),
            "revisits": crawler.stats.get_value("noiseclean/focus/revisits", 0),
        }
