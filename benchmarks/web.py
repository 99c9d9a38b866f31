"""A made-up web to crawl: newspapers with pages as large as real ones.

The demo newspaper's pages have 14 kB and 170 elements; news pages of the corpora 65 kB, 740
elements, 120 links and 165 blocks (medians of big9-dev). So each page gets a menu of its site,
boxes of other stories, scripts and long attributes around what it has.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from zlib import crc32

from benchmarks.loopback import Answer
from example_project.demo import DemoPage, DemoSite

MENU_SECTIONS, MENU_LINKS = 5, 7
FEWEST_BOXES, MOST_BOXES = 4, 36
SCRIPTS = 90
KINDS_OF_BOXES = 200

_NOT_FOUND = Answer(b"<!DOCTYPE html><title>Not found</title><h1>Not found</h1>", status=404)
_FOOTER = '<footer class="site-footer"'


class Newspapers:
    """`sites` newspapers with `articles` articles each; the front page has the path `/`.

    Sites whose numbers are equal modulo `editions` have the same stories. An edition is made when
    it is first asked for. `large=False` leaves the pages of the demo newspaper as they are.
    """

    def __init__(
        self, sites: int, articles: int, *, editions: int | None = None, large: bool = True
    ) -> None:
        self.hosts = [f"paper-{number}.example" for number in range(sites)]
        self.articles = articles
        self.editions = editions or sites
        self.large = large
        self._made: dict[int, dict[str, str]] = {}

    def __call__(self, host: str, path: str) -> Answer:
        """The page at an address."""
        html = self.pages(host).get(path)
        return _NOT_FOUND if html is None else Answer(html.encode())

    def pages(self, host: str) -> dict[str, str]:
        """The HTML of a newspaper's pages, by path."""
        number = int(host.removeprefix("paper-").removesuffix(".example")) % self.editions
        if number not in self._made:
            site = DemoSite(self.articles, seed=number)
            plain = {path: page.html for path, page in site.pages.items()}
            self._made[number] = large_pages(site) if self.large else plain
        return self._made[number]


def large_pages(site: DemoSite) -> dict[str, str]:
    """The HTML of a demo newspaper's pages, enlarged, by path; the same site, the same bytes."""
    rng = random.Random(f"{site.seed}/frame")
    articles = [page for page in site.pages.values() if page.kind == "article"]
    scripts, menu = _scripts(rng), _menu(rng, articles)
    boxes = [_box(rng, number, rng.choice(articles)) for number in range(KINDS_OF_BOXES)]
    return {
        path: _enlarge(page.html, path, scripts, menu, boxes) for path, page in site.pages.items()
    }


def _enlarge(html: str, path: str, scripts: str, menu: str, boxes: Sequence[str]) -> str:
    rng = random.Random(crc32(path.encode()))
    head, _, body = html.partition("</head>")
    start = body.index(">", body.index("<body")) + 1
    end = body.index(_FOOTER)
    river = "".join(rng.sample(boxes, rng.randint(FEWEST_BOXES, MOST_BOXES)))
    return (
        f"{head}{scripts}</head>{body[:start]}{menu}{body[start:end]}"
        f'<aside class="river" data-page="{path}"><h2>More stories</h2>{river}</aside>{body[end:]}'
    )


def _scripts(rng: random.Random) -> str:
    calls = (f"queue.push(['set','{rng.getrandbits(64):x}',{{}}]);\n" for _ in range(SCRIPTS))
    return f"<script>queue=[];\n{''.join(calls)}</script>"


def _menu(rng: random.Random, articles: Sequence[DemoPage]) -> str:
    sections = []
    for number in range(MENU_SECTIONS):
        links = "".join(
            f'<li class="menu-item menu-item-{number}"><a class="menu-link" href="{page.path}" '
            f'data-track="menu|{rng.getrandbits(32):x}">{page.title[:24]}</a></li>'
            for page in rng.choices(articles, k=MENU_LINKS)
        )
        sections.append(f'<li class="menu-section"><span>Section {number}</span><ul>{links}</ul>')
    return f'<nav class="menu" aria-label="All sections"><ul>{"".join(sections)}</ul></nav>'


def _box(rng: random.Random, number: int, page: DemoPage) -> str:
    lead = page.gold.split("\n")[1]
    picture = f"https://images.example/{rng.getrandbits(64):x}"
    sizes = ", ".join(f"{picture}/{width}.jpg {width}w" for width in (240, 320, 480, 640, 960))
    track = f"river|{number}|{rng.getrandbits(128):x}|position"
    return (
        f'<article class="card card-river" data-track="{track}"><div class="card-media"><div>'
        f'<a class="card-link" href="{page.path}" tabindex="-1" data-track="{track}"><picture>'
        f'<source type="image/webp" srcset="{sizes}"><img class="lazy" loading="lazy" alt="" '
        f'src="{picture}/320.jpg" srcset="{sizes}"></picture><span class="card-icon">'
        f'<svg viewBox="0 0 9 9"><g><path d="M1 1h7v7z"/><path d="M2 2h5v5z"/></g></svg></span></a>'
        f'</div></div><div class="card-body"><div class="card-text"><h3 class="card-title">'
        f'<a class="card-link" href="{page.path}" data-track="{track}"><span>{page.title}</span>'
        f'</a></h3><span class="card-lead">{lead[:70]}</span> <time>{number % 24} h</time>'
        f'<button class="card-save" type="button" aria-label="Save"><svg viewBox="0 0 9 9"><g>'
        f'<path d="M1 1h7v7z"/></g></svg></button></div></div></article>'
    )
