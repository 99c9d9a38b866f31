"""What must hold of any pages of a site: they are learned, cleaned, written and read back."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence

import numpy as np

from noiseclean_scrapy import CleanPage, SiteCleaner, kernels
from noiseclean_scrapy.errors import TreeDataError
from noiseclean_scrapy.metadata import extract_metadata
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.methods.evidence_model.model import load_model
from noiseclean_scrapy.page import Page, build_page
from noiseclean_scrapy.page.characters import without_controls
from noiseclean_scrapy.report.inert import inert_document
from noiseclean_scrapy.store.column_types import storable_text
from noiseclean_scrapy.store.search.query import parse_query, wanted_phrases
from noiseclean_scrapy.store.search.snippet import make_snippet
from noiseclean_scrapy.store.search.terms import Analyzer

BETWEEN_PAGES = b"\x1e"
"""The byte that parts the pages of one input (ASCII record separator)."""
MOST_PAGES = 4
URL = "https://site.example/path/page"

_MAGIC = b"noiseclean 1\n"
_NAMES = tuple(METHODS)
_LANGUAGES = ("", "en", "de", "th", "zh", "ar")


def check(data: bytes) -> None:
    """Check all properties on the site that `data` describes.

    The first byte chooses the method, the second the way in, the third where a saved tree is
    damaged; the rest are up to four pages.
    """
    if len(data) < 3:
        return
    method, way, damage = _NAMES[data[0] % len(_NAMES)], data[1], data[2]
    bodies = data[3:].split(BETWEEN_PAGES, MOST_PAGES - 1)
    pages = [_build(body, way) for body in bodies]
    for body, page in zip(bodies, pages, strict=True):
        check_page(page)
        check_twin(_build(body, way), body, way)
    cleaner = SiteCleaner(method, templates=bool(way & 4))
    for page in pages:
        cleaner.observe_page(page)
    state = check_state(cleaner, bodies, templates=bool(way & 4))
    check_damaged(state, damage)
    for body, page in zip(bodies, pages, strict=True):
        source = _source(body, way)
        clean = cleaner.clean(source, url=URL)
        check_clean(clean, page)
        language = _LANGUAGES[data[2] % len(_LANGUAGES)]
        check_use(clean, source if isinstance(source, str) else page.text, language)


def check_page(page: Page) -> None:
    """Check that the references of a page fit together."""
    assert page.elements[0].parent == -1
    contents = [content for element in page.elements for content in element.content]
    assert sorted(contents) == sorted(
        [*range(1, len(page.elements)), *(~block.index for block in page.blocks)]
    )
    for block in page.blocks:
        assert block.text or block.images
        assert block.text == " ".join(without_controls(block.text).split())
        assert 0 <= block.link_characters <= len(block.text)


def check_twin(page: Page, body: bytes, way: int) -> None:
    """Check that what is compiled reads a page as Python and numpy do, and finds the same in it."""
    model = load_model()
    found = model.read(page).scores if page.table.texts else None
    with kernels.in_python():
        again = _build(body, way)
        assert again == page
        if found is not None:
            assert np.array_equal(model.read(again).scores, found)


def check_state(cleaner: SiteCleaner, bodies: Sequence[bytes], *, templates: bool) -> bytes:
    """Check that what was learned survives being written and read; what was written."""
    state = cleaner.to_bytes()
    again = SiteCleaner.from_bytes(state)
    assert again.to_bytes() == state
    assert again.pages == cleaner.pages
    for body in bodies[:1]:
        assert again.clean(body).text == cleaner.clean(body).text
    again.merge(cleaner)
    again.decay(0.5)
    again.to_bytes()
    return state


def check_damaged(state: bytes, damage: int) -> None:
    """Check that a damaged tree is refused, or is one that can be used."""
    head = len(_MAGIC) + 16
    text = bytearray(zlib.decompress(state[head:]))
    text[(damage * 7919) % len(text)] = 32 + damage % 95
    payload = zlib.compress(bytes(text), 1)
    digest = hashlib.blake2b(payload, digest_size=16).digest()
    for blob in (state[: damage % len(state)], _MAGIC + digest + payload):
        try:
            cleaner = SiteCleaner.from_bytes(blob)
        except TreeDataError:
            continue
        cleaner.clean("<p>The river rose by a metre in one night.</p>")


def check_clean(clean: CleanPage, page: Page) -> None:
    """Check that a clean page holds texts of its page, in their order, and nothing else."""
    texts = [block.text for block in page.blocks if block.text]
    assert [block.text for block in clean.blocks] == texts
    assert all(0 <= block.score <= 1 for block in clean.blocks)
    kept = [block for block in clean.blocks if block.kept]
    kept.sort(key=lambda block: block is not clean.headline)
    # Line breaks, blanks between elements that are told apart, pictures of formulas ($x$) and the
    # brackets of ruby stand in the text alone.
    text, pieces = squeezed(clean.text), "".join(squeezed(block.text) for block in kept)
    assert text == pieces or (set("$(") & set(text) and is_within(pieces, text))
    assert 0 <= clean.fit <= 1
    assert clean.kept_characters + clean.dropped_characters == clean.visible_characters


def is_within(pieces: str, text: str) -> bool:
    """Whether all characters of `pieces` stand in `text`, in their order."""
    rest = iter(text)
    return all(character in rest for character in pieces)


def squeezed(text: str) -> str:
    """A text without white space."""
    return "".join(text.split())


def check_use(clean: CleanPage, html: str, language: str) -> None:
    """Check what else is made of a clean page: markup, metadata, terms, snippets, reports."""
    assert " on" not in "".join(part.partition(">")[0] for part in clean.html.split("<")[1:])
    clean.markdown.encode("utf-8", "surrogatepass")
    facts = extract_metadata(html, url=URL, text=clean.text)
    storable_text(f"{facts.author}{facts.canonical_url}{facts.image}").encode()
    text = storable_text(clean.text)
    assert "\0" not in text
    text.encode()
    analyzer = Analyzer()
    tokens = list(analyzer.tokens(text, language))
    assert tuple(token.term for token in tokens) == analyzer.terms(text, language)
    assert all(token.term and 0 <= token.start < token.end <= len(text) for token in tokens)
    if query := text[:50].strip():
        parse_query(query)
        phrases = wanted_phrases(query, analyzer, language)
        assert len(make_snippet(text, language, phrases, analyzer)) < 1000
    json.dumps([block.evidence for block in clean.blocks], default=dict)
    inert_document(html, clean.blocks)


def _source(body: bytes, way: int) -> bytes | str:
    return body.decode("utf-8", "surrogateescape") if way & 1 else body


def _build(body: bytes, way: int) -> Page:
    return build_page(_source(body, way), url=URL)
