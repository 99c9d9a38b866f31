"""What a template knows while it renders one page."""

from __future__ import annotations

import hashlib
import html
import random
from dataclasses import dataclass

from example_project.demo.model import Author, Edition, Story

_NAMED_ENTITIES = str.maketrans(
    {
        "“": "&ldquo;",
        "”": "&rdquo;",
        "„": "&bdquo;",
        "ä": "&auml;",
        "ö": "&ouml;",
        "ü": "&uuml;",
        "ß": "&szlig;",
        "é": "&eacute;",
        "©": "&copy;",
        "·": "&middot;",
    }
)


@dataclass(frozen=True, slots=True)
class Archive:
    """All stories of an edition, newest first, and the addresses of its other pages."""

    edition: Edition
    stories: tuple[Story, ...]
    authors: tuple[Author, ...]
    topic_paths: dict[str, str]
    other_front: str

    def section_path(self, slug: str) -> str:
        """Address of a section's first page."""
        return f"{self.edition.prefix}{slug}/"


@dataclass(frozen=True, slots=True)
class PageContext:
    """One page being rendered: its place in the archive, its chances and its known content.

    ``listed`` holds the headlines that belong to the page's gold: no box repeats them.
    """

    archive: Archive
    path: str
    title: str
    description: str
    rng: random.Random
    build: int
    listed: frozenset[str]

    @property
    def edition(self) -> Edition:
        """The language edition of the page."""
        return self.archive.edition

    def label(self, name: str, **values: object) -> str:
        """A label of the edition, escaped."""
        return self.text(self.edition.labels[name].format(**values))

    def text(self, text: str) -> str:
        """Escape a text; one build of the site writes named entities."""
        escaped = html.escape(text, quote=False)
        return escaped.translate(_NAMED_ENTITIES) if self.build == 1 else escaped

    def style_class(self, component: str) -> str:
        """A class name as a style compiler makes it: the same within one build of the site.

        The hash stands for a component, so it repeats over pages, but not over builds.
        """
        digest = hashlib.blake2s(f"{component}/{self.build}".encode(), digest_size=4).hexdigest()
        return f"css-{digest}"

    def other_stories(self, count: int, section: str | None = None) -> list[Story]:
        """Choose stories the page does not show itself, from the newest thirty."""
        candidates = [
            story
            for story in self.archive.stories
            if story.headline not in self.listed and section in (None, story.section.slug)
        ][:30]
        return self.rng.sample(candidates, min(count, len(candidates)))

    def link(self, story: Story) -> str:
        """A link to a story, named by its headline."""
        return f'<a href="{story.path}">{self.text(story.headline)}</a>'
