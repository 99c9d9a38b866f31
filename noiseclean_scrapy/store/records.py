"""The records that go into the store and come out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from math import isfinite
from sys import getsizeof
from types import UnionType
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.page.block import Block
from noiseclean_scrapy.page.characters import share_left_out
from noiseclean_scrapy.store.stored_blocks import StoredBlocks

MOST = 1 << 30
"""No count, position or version is higher, so that PostgreSQL's columns can count on from there."""
EARLIER_BODY = -1
"""The `clean_version` of a text whose page has had another body since, of which no item came: it
is not of the HTML that is stored, and stays as it is until there is one."""
_RECORD_BYTES = 1000  # of the objects themselves


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What cleaning gave for one page.

    ``blocks`` are the text blocks with their verdicts, in document order; their evidence is not
    stored. ``clean_version`` is the version of the tree that cleaned the page, 0 before any tree,
    -1 where the page has had another body since (and no item).
    ``visible_characters`` and ``kept_characters`` count the characters of text on the page and in
    the clean text. ``fit`` is the share of the page's characters at places that the tree knows, in
    [0, 1].

    ``title`` and ``text`` are stored with U+FFFD in the place of NUL and lone surrogates.
    """

    title: str
    text: str
    blocks: Sequence[Block]
    clean_version: int
    visible_characters: int
    kept_characters: int
    fit: float = 1.0


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One page, to write or as read.

    ``key`` is the request's fingerprint in hexadecimal and identifies the page. ``fetched_at`` must
    be aware; it is read back in UTC. ``position`` is the 1-based number of the page among those
    that its cluster learns, None when it is not to be learned. In what is written it is a wish: the
    store gives the cluster's next positions in the order of the wishes, one to each page, for good.
    ``learned_version`` is the tree version that covers the page, None while none does; it is read
    only, and ignored in what is written. ``metadata`` is what the page says of itself, None while
    that is unknown.

    A page is *provisional* while it has a position and no ``learned_version``.
    """

    key: str
    cluster: str
    url: str
    body_hash: str
    fetched_at: datetime
    position: int | None = None
    html: str | None = None
    cleaned: Cleaned | None = None
    learned_version: int | None = None
    metadata: Metadata | None = None

    @property
    def size(self) -> int:
        """Bytes that the page takes in memory, about."""
        values: list[object] = [self.key, self.url, self.html]
        if self.cleaned is not None:
            blocks = self.cleaned.blocks
            values += [self.cleaned.title, self.cleaned.text]
            values.append(blocks.packed if isinstance(blocks, StoredBlocks) else repr(blocks))
        if self.metadata is not None:
            values += [getattr(self.metadata, part.name) for part in fields(self.metadata)]
        return _RECORD_BYTES + sum(map(getsizeof, values))

    def check(self) -> None:
        """Raise ValueError where a value is none that a page can have."""
        _check(self)
        if self.fetched_at.tzinfo is None:
            raise ValueError("fetched_at has no time zone")
        if self.cleaned is not None:
            _check(self.cleaned)
        if self.metadata is not None:
            _check(self.metadata)


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    """One page cluster and its newest tree.

    ``version`` is the newest tree's, 0 when there is none; ``learned`` is the highest position
    given to a page of the cluster, ``covered`` how many of them the newest tree covers; ``tree`` is
    None in listings and at version 0.
    """

    name: str
    method: str
    version: int
    learned: int
    tree: bytes | None = None
    covered: int = 0

    def check(self) -> None:
        """Raise ValueError where a value is none that a cluster can have."""
        _check(self)
        if not self.method:
            raise ValueError("it has no method")
        if self.covered > self.learned:
            raise ValueError(f"{self.covered} pages of {self.learned} are covered")


@dataclass(frozen=True, slots=True)
class Written:
    """What a write has done.

    ``learned`` pages were given a position; ``clusters`` are those written to, since; ``stale`` are
    the keys of pages whose text was not taken, because a newer tree covers the page.
    """

    learned: int
    clusters: tuple[ClusterRecord, ...]
    stale: frozenset[str] = frozenset()

    def __add__(self, later: Written) -> Written:
        """What this write and a later one have done; clusters in the order of their states."""
        clusters = self.clusters + later.clusters
        return Written(self.learned + later.learned, clusters, self.stale | later.stale)


Holds: TypeAlias = "Callable[[PageRecord], bool]"
"""Whether somebody has taken a page in hand, whose HTML need not be read."""


@dataclass(frozen=True, slots=True)
class NewTree:
    """A tree to save, and what cleans a page with it; without its HTML where that `holds` it."""

    method: str
    tree: bytes
    clean: Callable[[PageRecord], Cleaned | None]
    holds: Holds = lambda page: False


@dataclass(frozen=True, slots=True)
class TreeUpdate:
    """A cluster after `add_tree`, and the keys of the pages that the new tree has cleaned again."""

    cluster: ClusterRecord
    cleaned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TreeVersionRecord:
    """One saved tree, for listings.

    ``pages`` is the number of positions the tree covers, ``size`` its length in bytes when it was
    saved (older versions lose their bytes, never their row).
    """

    cluster: str
    version: int
    method: str
    pages: int
    created_at: datetime
    size: int

    def check(self) -> None:
        """Raise ValueError where a value is none that a tree can have."""
        _check(self)


@dataclass(frozen=True, slots=True)
class PageCounts:
    """How many pages are stored, how many of them have a text, how many are provisional."""

    pages: int
    with_text: int
    provisional: int


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """One page cluster in numbers.

    ``method``, ``version`` and ``learned`` are those of its ``ClusterRecord``; ``pages``,
    ``with_text`` and ``provisional`` count pages; ``visible_characters`` and ``kept_characters``
    are sums over the pages with a text. ``fit`` is the mean fit of the newest pages, None without
    any; of ``empty`` pages no character was kept. The times are those of the first and the last
    fetch, None without pages.
    """

    name: str
    method: str
    version: int
    learned: int
    pages: int
    with_text: int
    provisional: int
    visible_characters: int
    kept_characters: int
    fit: float | None
    empty: int
    first_fetch: datetime | None
    last_fetch: datetime | None

    @property
    def noise(self) -> float | None:
        """Share of the visible characters that cleaning left out."""
        visible = self.visible_characters
        return share_left_out(self.kept_characters, visible) if visible else None

    @property
    def drift(self) -> float | None:
        """Share of the newest pages' text at places that the tree does not know."""
        return None if self.fit is None or not self.version else 1 - self.fit


@dataclass(frozen=True, slots=True)
class PageLine:
    """One page with a text in a listing: what is known of it without reading the text."""

    key: str
    cluster: str
    url: str
    title: str
    fetched_at: datetime
    visible_characters: int
    kept_characters: int
    fit: float

    def check(self) -> None:
        """Raise ValueError where a value is none that a page can have."""
        _check(self)

    @property
    def noise(self) -> float:
        """Share of the page's text that was left out."""
        return share_left_out(self.kept_characters, self.visible_characters)


@dataclass(frozen=True, slots=True)
class Change:
    """A page that an external index must be told of: as it now is, None when it has been deleted.

    ``sequence`` grows from change to change of all pages.
    """

    sequence: int
    key: str
    page: PageRecord | None


def _check(record: Any) -> None:
    for name, kinds in _types(type(record)).items():  # type: ignore[arg-type]
        value = getattr(record, name)
        if not isinstance(value, kinds):
            raise ValueError(f"{name} is of the type {type(value).__name__}")
        if isinstance(value, float) and not isfinite(value):
            raise ValueError(f"{name} is {value}")
        least = EARLIER_BODY if name == "clean_version" else 0
        if isinstance(value, int) and not least <= value <= MOST:
            raise ValueError(f"{name} is {value}")


@cache
def _types(record: type) -> dict[str, tuple[type, ...]]:
    """The types that each value of a record may have, as its annotations say; integers as floats.

    >>> _types(PageLine)["fit"], _types(PageRecord)["position"]
    ((<class 'float'>, <class 'int'>), (<class 'int'>, <class 'NoneType'>))
    """
    found = {}
    for name, hint in get_type_hints(record).items():
        kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
        plain = tuple(get_origin(kind) or kind for kind in kinds)
        found[name] = (*plain, int) if float in plain else plain
    return found
