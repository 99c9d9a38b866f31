"""SiteCleaner: the whole idea without Scrapy. Observe the pages of a site, clean any of them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy.clean_page import CleanPage, clean_page
from noiseclean_scrapy.errors import ConfigurationError, TreeDataError, UnknownMethodError
from noiseclean_scrapy.metadata import extract_metadata
from noiseclean_scrapy.methods import METHODS, Method, Model, create_method
from noiseclean_scrapy.methods.templates import TemplateMethod
from noiseclean_scrapy.methods.trees.counts import check_factor
from noiseclean_scrapy.notebook import cleaner_card
from noiseclean_scrapy.page import DEFAULT_BUDGET, Html, Page, PageBudget, build_page
from noiseclean_scrapy.page.bounded_json import is_bounded, most
from noiseclean_scrapy.page.characters import rounded
from noiseclean_scrapy.page.hashes import DIGEST_SIZE, digest
from noiseclean_scrapy.page.inline import MarkupOptions, flag
from noiseclean_scrapy.page.overrides import NO_OVERRIDES, Overrides
from noiseclean_scrapy.page.sources import address, load

if TYPE_CHECKING:
    from typing_extensions import Self

_MAGIC = b"noiseclean 1\n"
_LARGEST = 1 << 28, 16
_MOST_SIGNS = {b"[{": (1 << 22, 1), b'"': (3 << 22, 2), b",": (3 << 22, 3)}
"""Bytes of a state, its lists and objects, quotes, and values: so many at least, and so many for
each compressed byte. A style tree at its default bound has up to 2.8, 0.1 and 11 million signs, a
block-entropy tree 0.2, 9 and 5. Trees of real sites have 8 bytes, 0.7, 0.7 and 1.5 for each."""
_JSON = json.JSONEncoder(separators=(",", ":"))
_PIECE = 100


class SiteCleaner:
    """Learns the template of one site from its pages and gives their clean text.

    `method` is a name of `noiseclean_scrapy.methods.METHODS`, or a class of yours that derives from
    `noiseclean_scrapy.methods.Method`, or its path; `options` are the method's, for example
    `include_comments` or `lean` of `evidence`. With `templates` pages made from different templates
    are told apart and learned apart. `headline=False` leaves the headline out of the text.
    `include_links`, `include_images` and `include_formatting` (bold, italics, code) say what HTML
    and Markdown hold beside the text. `budget` bounds how much of one page is read; whoever builds
    pages for a method with `published=True` takes that of the cleaner.

    >>> cleaner = SiteCleaner("style-tree")
    >>> for story in ("Fog closes the port", "A bakery wins gold", "Trams run late"):
    ...     cleaner.observe(f"<body><ul><li>News</li></ul><p>{story}</p></body>")
    >>> cleaner.clean("<body><ul><li>News</li></ul><p>Rain in Porto</p></body>").text
    'Rain in Porto'
    """

    def __init__(
        self,
        method: str | type[Method] = "evidence",
        *,
        templates: bool = False,
        headline: bool = True,
        include_links: bool = False,
        include_images: bool = False,
        include_formatting: bool = True,
        budget: PageBudget = DEFAULT_BUDGET,
        **options: Any,
    ) -> None:
        if isinstance(method, type):
            method = f"{method.__module__}.{method.__qualname__}"
        elif not isinstance(method, str):
            raise TypeError(f"a method is a name or a class of its own, not {method!r}")
        self.method = method
        if not isinstance(budget, PageBudget):
            raise TypeError(f"a budget is a PageBudget, not {budget!r}")
        self.budget = replace(budget, display=bool(options.get("published")))
        self.templates = flag(templates)
        self.headline = flag(headline)
        self.markup = MarkupOptions(include_links, include_images, include_formatting)
        self._options = options
        create = partial(create_method, method, **options)
        self._method = TemplateMethod(create) if templates else create()
        self._model: Model | None = None

    @property
    def pages(self) -> float:
        """Number of pages learned (a fraction after `decay`)."""
        return self._method.pages

    def observe(self, html: Html, *, url: str = "") -> None:
        """Learn one page; what is not HTML, or shows nothing, teaches nothing.

        See `clean` for what it may be.
        """
        page = build_page(html, url=_checked(url) or address(html), budget=self.budget)
        if not page.other:
            self.observe_page(page)

    def observe_page(self, page: Page) -> None:
        """Learn one page that is built already; one without text or pictures teaches nothing."""
        if page.table.texts:
            self._method.observe(page)
            self._model = None

    def clean(self, html: Html, *, url: str = "", overrides: Overrides = NO_OVERRIDES) -> CleanPage:
        """Clean a page with all that has been learned. Whatever the page holds, it raises nothing.

        `html` is bytes, str, a Path, an open file, a Scrapy response (whose URL is known), a parsel
        Selector or an lxml element; all else is a TypeError, and a file that cannot be read an
        OSError. `CleanPage.problem` tells why there is no text. `overrides` that hold on `url`
        decide before what was learned.
        """
        if not isinstance(overrides, Overrides):
            raise TypeError(f"overrides are what Overrides.read(path) gives, not {overrides!r}")
        url = _checked(url) or address(html)
        source = load(html, self.budget.markup)
        rules = overrides.rules_for(url)
        page = build_page(source, url=url, rules=rules, budget=self.budget)
        read_metadata = partial(extract_metadata, source, url=url)
        return clean_page(
            self.model(),
            page,
            headline=self.headline,
            markup=self.markup,
            read_metadata=read_metadata,
        )

    def __repr__(self) -> str:
        return f"SiteCleaner(method={self.method!r}, pages={rounded(self.pages)})"

    def _repr_html_(self) -> str:
        return cleaner_card(self)

    def model(self) -> Model:
        """What has been learned so far, as an immutable model; rebuilt after new pages."""
        if self._model is None:
            self._model = self._method.model()
        return self._model

    def merge(self, other: SiteCleaner) -> None:
        """Add what another cleaner of the same method learned from other pages of the site."""
        if not isinstance(other, SiteCleaner):
            raise TypeError(f"a cleaner merges with another SiteCleaner, not with {other!r}")
        if (other.method, other.templates) != (self.method, self.templates):
            raise TreeDataError(
                f"a cleaner with method={self.method!r}, templates={self.templates} cannot take "
                f"over from one with method={other.method!r}, templates={other.templates}"
            )
        if self.budget.display != other.budget.display:
            raise TreeDataError("a tree as published and one that is not know other places")
        if (own := self._learned_with()) != (given := other._learned_with()):
            raise TreeDataError(f"a cleaner with {own} cannot take over from one with {given}")
        try:
            self._method.merge(other._method)
        except ValueError as error:
            raise TreeDataError(str(error)) from error
        self._model = None

    def decay(self, factor: float) -> None:
        """Forget smoothly: every page so far counts `factor` (0 < factor <= 1) of a page.

        Raises ValueError for other factors, with nothing changed.
        """
        check_factor(factor)
        self._method.decay(factor)
        self._model = None

    def note_redesign(self) -> None:
        """Let the method forget what it has to when a site's pages look different from now on."""
        self._method.note_redesign()
        self._model = None

    def _learned_with(self) -> str:
        return _learned_with(create_method(self.method, **self._options))

    def to_bytes(self) -> bytes:
        """All that was learned, compressed. Equal options and knowledge give equal bytes."""
        state = {
            "method": self.method,
            "templates": self.templates,
            "headline": self.headline,
            "markup": asdict(self.markup),
            "options": dict(sorted(self._options.items())),
            "state": self._method.state(),
        }
        payload = zlib.compress("".join(_json_pieces(state)).encode(), 6)
        return _MAGIC + digest(payload) + payload

    @classmethod
    def from_bytes(cls, data: bytes, **options: Any) -> Self:
        """The cleaner that `to_bytes` wrote; raises TreeDataError for anything else.

        `options` replace those it was made with; its budget is not in the data. Nothing in these
        is ever run: they are JSON, checked while they are read.
        """
        state = _read_state(data)
        if state.get("method") not in METHODS:
            raise UnknownMethodError(
                f"the method {state.get('method')!r} is unknown here; where it is a class of "
                f"yours, import it first, or name it in NOISECLEAN_METHOD"
            )
        try:
            stored = state["options"]
            if not isinstance(stored, dict):
                raise TypeError(f"{stored!r} is no object")
            learned_with = _learned_with(create_method(state["method"], **stored))
        except (ConfigurationError, KeyError, TypeError, ValueError) as error:
            raise TreeDataError(f"the learned tree has options that cannot be: {error}") from error
        try:
            switches = {name: state[name] for name in ("templates", "headline")}
            switches |= asdict(MarkupOptions(**state.get("markup", {})))  # older trees have none
            kept = {name: flag(value) for name, value in switches.items()}
        except (KeyError, TypeError) as error:
            raise TreeDataError(f"the learned tree is damaged: {error!r}") from error
        learned = {
            "method": state["method"],
            "published": bool(stored.get("published")),
            "templates": kept["templates"],
        }
        for name, value in learned.items():
            if options.get(name, value) != value:
                raise TreeDataError(f"the tree was learned with {name}={value}: learn it again")
        options.pop("method", None)
        cleaner = cls(state["method"], **{**kept, **stored, **options})
        if cleaner._learned_with() != learned_with:
            raise TreeDataError(f"the tree was learned with {learned_with}: learn it again")
        try:
            cleaner._method.restore(state["state"])
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise TreeDataError(f"the learned tree is damaged: {error!r}") from error
        return cleaner


def _learned_with(method: Method) -> str:
    """The options that shape what a method learns, in words."""
    return ", ".join(f"{name}={getattr(method, name)}" for name in method.learned_with)


def _json_pieces(value: Any) -> Iterator[str]:
    """A value as JSON, in pieces: other threads wait for one piece, not for a whole tree."""
    if not isinstance(value, (dict, list)):
        yield _JSON.encode(value)
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield opening
    if isinstance(value, dict) and len(value) <= _PIECE:
        for number, (key, part) in enumerate(value.items()):
            yield f"{',' if number else ''}{_JSON.encode(key)}:"
            yield from _json_pieces(part)
    else:
        entries = iter(value.items() if isinstance(value, dict) else value)
        separator = ""
        while chunk := list(islice(entries, _PIECE)):
            part = dict(chunk) if isinstance(value, dict) else chunk
            yield separator + _JSON.encode(part)[1:-1]
            separator = ","
    yield closing


def _read_state(data: bytes) -> dict[str, Any]:
    head = len(_MAGIC)
    data = bytes(data) if isinstance(data, (bytes, bytearray, memoryview)) else b""
    if not data.startswith(_MAGIC):
        raise TreeDataError("these bytes are not a learned tree of this version of noiseclean")
    seal, payload = data[head : head + DIGEST_SIZE], data[head + DIGEST_SIZE :]
    if seal != digest(payload):
        raise TreeDataError("the learned tree is damaged: its checksum does not match")
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(payload, most(_LARGEST, len(payload)))
        if not unpacking.eof or not is_bounded(text, len(payload), _MOST_SIGNS):
            raise TreeDataError("the learned tree is cut off, or too large to be one")
        state = json.loads(text)
    except (zlib.error, ValueError, RecursionError) as error:
        raise TreeDataError(f"the learned tree is damaged: {error}") from error
    if not isinstance(state, dict):
        raise TreeDataError("the learned tree is damaged: it holds no object")
    return state


def _checked(url: str) -> str:
    if not isinstance(url, str):
        raise TypeError(f"url is a string, not {url!r}")
    return url
