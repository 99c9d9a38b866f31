"""A site to crawl in tests: a web server of the test's own, its stories, and spiders for them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import scrapy
from scrapy.http import Response

from noiseclean_scrapy.page.urls import site_name
from tests.support.servers import Request, serving


@dataclass(frozen=True)
class Answer:
    """What the server answers with."""

    body: bytes | str = b""
    status: int = 200
    type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


Pages: TypeAlias = "Mapping[str, Answer | str | Callable[[int], Answer | str]]"


@dataclass
class PageServer:
    """A running server; `requests` counts what was asked for, by path."""

    url: str
    requests: Counter[str]

    @property
    def site(self) -> str:
        """What its pages are learned as."""
        return site_name(self.url)


@contextmanager
def serve(pages: Pages) -> Iterator[PageServer]:
    """Serve pages by path; a callable page is given the number of requests so far, from 1 on."""
    requests: Counter[str] = Counter()

    def respond(request: Request) -> None:
        requests[request.path] += 1
        page = pages.get(request.path, Answer("<h1>Nothing here</h1>", 404))
        found = page(requests[request.path]) if callable(page) else page
        found = found if isinstance(found, Answer) else Answer(found)
        request.answer(found.body, found.type, status=found.status, headers=found.headers)

    with serving(respond) as port:
        yield PageServer(f"http://127.0.0.1:{port}", requests)


NOISE = "Latest news, weather and sport"
RIGHTS = "All rights reserved by the Courier."


def story(number: int, noise: str = NOISE) -> str:
    """A page of a small newspaper: `noise` above and rights below a text of its own."""
    title, *paragraphs = story_text(number).splitlines()
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f"<html><head><title>{title}</title></head><body>"
        f"<ul><li><a href='/'>Home</a></li><li>{noise}</li></ul>"
        f"<div><h1>{title}</h1>{text}</div><footer><p>{RIGHTS}</p></footer></body></html>"
    )


def write_pages(folder: Path, pages: Iterable[str]) -> Path:
    """A folder of HTML files, `00.html` and so on."""
    folder.mkdir()
    for number, page in enumerate(pages):
        (folder / f"{number:02}.html").write_text(page, encoding="utf-8")
    return folder


def story_text(number: int) -> str:
    """What is left of a story once its noise is known."""
    rng = random.Random(number)
    words = ["".join(rng.choices("abcdefghijklmnop", k=8)) for _ in range(30)]
    lines = [" ".join(words[start : start + 10]).capitalize() + "." for start in (0, 10, 20)]
    return "\n".join([f"Story {number}", *lines])


class PagesSpider(scrapy.Spider):
    """Visits the given pages, several at once, with an item for each."""

    name = "pages"
    url: str
    paths: Sequence[str]

    async def start(self) -> AsyncIterator[Any]:
        for path in self.paths:
            yield scrapy.Request(self.url + path)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"path": response.url.removeprefix(self.url)}


class ChainSpider(scrapy.Spider):
    """Visits the given pages one after the other, with an item for each."""

    name = "chain"
    url: str
    paths: list[str]

    async def start(self) -> AsyncIterator[Any]:
        yield self._request(0)

    def parse(self, response: Response, number: int) -> Iterator[Any]:
        yield {"path": self.paths[number]}
        if number + 1 < len(self.paths):
            yield self._request(number + 1)

    def _request(self, number: int) -> scrapy.Request:
        return scrapy.Request(self.url + self.paths[number], cb_kwargs={"number": number})
