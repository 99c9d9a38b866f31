"""A made-up web that never ends and is not kind: redesigns, errors, hostile pages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import parse_qs, urlsplit
from zlib import crc32

from benchmarks.loopback import Answer
from benchmarks.web import large_pages
from example_project.demo import DemoSite

ARTICLES = 60
REDESIGN_ROUNDS = 3
"""A site has its new design after so many rounds through its pages."""
_TROUBLE = 40
_ROUNDS_IN_MEMORY = 64

_TEXT = "The ferry left the harbour at seven, and the fog came in behind it. "
HOSTILE: Mapping[str, Answer] = {
    "deep": Answer(b"<div>" * 20_000 + _TEXT.encode() + b"</div>" * 20_000),
    "wide": Answer(b"<p>" + b"<b>a</b> " * 30_000),
    "attributes": Answer(f"<p {' '.join(f'a{n}=b' for n in range(30_000))}>{_TEXT}".encode()),
    "long text": Answer(b"<p>" + _TEXT.encode() * 30_000),
    "unclosed": Answer(b"<table><tr><td><ul><li><a href=x><b><i>" * 500 + _TEXT.encode()),
    "nul": Answer(b"<p>\x00The\x00 ferry\x00 left " + _TEXT.encode() * 3),
    "charset": Answer(_TEXT.encode("utf-16"), type="text/html; charset=koi8-r"),
    "no charset": Answer(bytes(range(128, 256)) * 20, type="text/html"),
    "surrogates": Answer(b"<p>" + b"&#xD800;&#x10FFFF;&#0;" * 50 + _TEXT.encode()),
    "empty": Answer(b""),
}
NOT_HTML: Mapping[str, Answer] = {
    "json": Answer(b'{"article": "%s"}' % _TEXT.encode(), type="text/html"),
    "pdf": Answer(b"%PDF-1.7\n" + bytes(range(256)) * 40, type="text/html"),
}
"""They say that they are HTML, and there is no page in them."""
_HOSTILE = (*HOSTILE.values(), *NOT_HTML.values())
ERRORS = (
    Answer(b"<h1>Not found</h1>", status=404),
    Answer(b"<h1>Broken</h1>", status=500),
    Answer(b"<h1>Busy</h1>", status=503),
    Answer(_TEXT.encode() * 100, cut=True),
    Answer(b"\x89PNG\r\n\x1a\n", type="image/png"),
)


class TroubledWeb:
    """Newspapers whose page `PATH?round=N` is another story every round.

    Of the addresses with `round` one in 40 answers with an error and one in 40 with a hostile page.
    """

    def __init__(self, sites: int) -> None:
        self.hosts = [f"paper-{number}.example" for number in range(sites)]
        self.paths = sorted(DemoSite(ARTICLES).pages)

    def __call__(self, host: str, address: str) -> Answer:
        """The answer at an address."""
        parts = urlsplit(address)
        number, turn = crc32(host.encode()), int(parse_qs(parts.query)["round"][0])
        chance = crc32(f"{host}{address}".encode())
        if chance % _TROUBLE == 0:
            return ERRORS[chance // _TROUBLE % len(ERRORS)]
        if chance % _TROUBLE == 1:
            return _HOSTILE[chance // _TROUBLE % len(_HOSTILE)]
        pages = list(_pages(number, turn).values())
        html = pages[self.paths.index(parts.path) % len(pages)]
        return Answer(_redesigned(html, turn // REDESIGN_ROUNDS).encode())


@lru_cache(maxsize=_ROUNDS_IN_MEMORY)
def _pages(number: int, turn: int) -> dict[str, str]:
    return large_pages(DemoSite(ARTICLES, seed=number + turn))


def _redesigned(html: str, design: int) -> str:
    """The page with other class names in one more box."""
    name = "abcdefghij"[design % 10]
    html = html.replace('class="', f'class="{name}{name}-')
    return html.replace("<header", f"<div class={name}-page><header", 1) if design else html
