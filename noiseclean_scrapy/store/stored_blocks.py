"""The blocks of a cleaned page as they are stored: packed, and each a mapping when it is asked for.

Where the page's HTML is stored, the verdicts alone are (see `block_verdicts`), and all else is read
from it again. Elsewhere the elements stand in what is packed once, each with its parent, and the
paths of the blocks are made of them: it grows with the page alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.page.locations import place, xpath
from noiseclean_scrapy.store.block_verdicts import BlockVerdicts, are_verdicts, text_digest
from noiseclean_scrapy.store.compression import compress, decompress

if TYPE_CHECKING:
    from noiseclean_scrapy.clean_page import BlockRow
    from noiseclean_scrapy.page import PageTable

_JSON = json.JSONEncoder(separators=(",", ":"))
_TYPES: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "xpath": str,
    "place": str,
    "kept": bool,
    "score": (int, float),
    "rule": str,
    "hidden": bool,
}


class StoredBlocks(Sequence[Mapping[str, Any]]):
    """The verdicts on a page's blocks, with their texts; `packed` is all that is in memory of them.

    Each block has its `text`, the `xpath` of its element, its `place` in the layout, whether it was
    `kept`, its `score`, and the `rule` that decided or `hidden` where that is so.

    Unless it `has_texts`, these are read from what `read_html` gives, whenever the blocks are
    looked at. Where that is not the HTML that was judged, or none, the verdicts alone are there:
    texts and paths are empty.

    Raises ValueError for bytes that hold something else.
    """

    __slots__ = ("_count", "packed", "read_html")

    def __init__(self, packed: bytes) -> None:
        self.packed = bytes(packed)
        self.read_html: Callable[[], str | None] | None = None
        self._count = len(self._verdicts.kept if not self.has_texts else self._read())

    def __reduce__(self) -> tuple[type[StoredBlocks], tuple[bytes]]:
        return StoredBlocks, (self.packed,)

    @property
    def has_texts(self) -> bool:
        """Whether all of the blocks is packed, or their verdicts alone."""
        return not are_verdicts(self.packed)

    @classmethod
    def of_verdicts(cls, rows: Iterable[BlockRow]) -> StoredBlocks:
        """The blocks of a page whose HTML is stored as well, and that no rule of the user names."""
        verdicts = BlockVerdicts.of(rows)
        return cls._of_packed(verdicts.pack(), len(verdicts.kept))

    @classmethod
    def of(cls, table: PageTable, rows: Iterable[BlockRow]) -> StoredBlocks:
        """The blocks of a page that have a text."""
        found = [row for row in rows if row.text]
        texts = dict.fromkeys([*table.node_tests, *table.labels])
        names = {name: number for number, name in enumerate(texts)}
        columns = {
            "names": list(names),
            "parents": table.parents.tolist(),
            "tests": [names[test] for test in table.node_tests],
            "numbers": table.numbers.tolist(),
            "labels": [names[label] for label in table.labels],
            "owners": [row.element for row in found],
            "texts": [row.text for row in found],
            "kept": [bool(row.kept) for row in found],
            "scores": [round(row.score, 4) for row in found],
            "rules": [row.rule for row in found],
            "hidden": [bool(row.hidden) for row in found],
        }
        return cls._of_json(columns, len(found))

    @classmethod
    def of_mappings(cls, blocks: Sequence[Mapping[str, Any]]) -> StoredBlocks:
        """Blocks that are mappings already, in the form that all were stored in once."""
        return cls._of_json(list(map(dict, blocks)), len(blocks))

    @classmethod
    def _of_json(cls, value: object, count: int) -> StoredBlocks:
        return cls._of_packed(compress(_JSON.encode(value)), count)

    @classmethod
    def _of_packed(cls, packed: bytes, count: int) -> StoredBlocks:
        made = cls.__new__(cls)
        made.packed, made._count, made.read_html = packed, count, None
        return made

    @property
    def _verdicts(self) -> BlockVerdicts:
        return BlockVerdicts.read(self.packed)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._read())

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._read()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._count} blocks in {len(self.packed)} bytes>"

    def _read(self) -> list[Any]:
        if not self.has_texts:
            columns = _made_again(self._verdicts, self.read_html and self.read_html())
            return [_Block(columns, number) for number in range(len(columns.owners))]
        try:
            value = json.loads(decompress(self.packed))
        except RecursionError:
            raise ValueError("the blocks of a page are nested too deeply") from None
        if isinstance(value, dict):
            columns = _columns(value)
            return [_Block(columns, number) for number in range(len(columns.owners))]
        if not isinstance(value, list) or not all(map(_is_block, value)):
            raise ValueError("these are no blocks of a page")
        return value


@dataclass(frozen=True, slots=True)
class _Columns:
    """Elements as in `PageTable`, and the blocks' verdicts."""

    parents: Sequence[int]
    node_tests: Sequence[str]
    numbers: Sequence[int]
    labels: Sequence[str]
    owners: Sequence[int]
    texts: Sequence[str]
    kept: Sequence[bool]
    scores: Sequence[float]
    rules: Sequence[str]
    hidden: Sequence[bool]


class _Block(Mapping[str, Any]):
    """One of the blocks of a page."""

    __slots__ = ("_columns", "_number")

    def __init__(self, columns: _Columns, number: int) -> None:
        self._columns = columns
        self._number = number

    def __getitem__(self, name: str) -> Any:
        columns, number = self._columns, self._number
        match name:
            case "text":
                return columns.texts[number]
            case "xpath":
                return xpath(columns, columns.owners[number])
            case "place":
                return place(columns, columns.owners[number])
            case "kept":
                return columns.kept[number]
            case "score":
                return columns.scores[number]
            case "rule" if columns.rules[number]:
                return columns.rules[number]
            case "hidden" if columns.hidden[number]:
                return True
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        yield from ("text", "xpath", "place", "kept", "score")
        if self._columns.rules[self._number]:
            yield "rule"
        if self._columns.hidden[self._number]:
            yield "hidden"

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return repr(dict(self))


def _made_again(verdicts: BlockVerdicts, html: str | None) -> _Columns:
    """The blocks of a page as they were when they were judged, as far as the HTML tells."""
    count = len(verdicts.kept)
    decided = (verdicts.kept, verdicts.scores, [""] * count, verdicts.hidden)
    table = build_page(html or "").table
    found = [number for number, text in enumerate(table.texts) if text]
    texts = [table.texts[number] for number in found]
    if len(texts) != count or text_digest(texts) != verdicts.digest:
        return _Columns((), (), (), (), [-1] * count, [""] * count, *decided)
    owners = [table.owners[number] for number in found]
    return _Columns(
        table.parents, table.node_tests, table.numbers, table.labels, owners, texts, *decided
    )


def _is_block(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value[name], kind) for name, kind in _TYPES.items() if name in value
    )


def _columns(value: dict[str, Any]) -> _Columns:
    """The columns of a JSON object; raises ValueError where they are none, or do not fit."""

    def column(name: str, *kinds: type) -> list[Any]:
        found = value.get(name)
        if not isinstance(found, list) or not all(isinstance(entry, kinds) for entry in found):
            raise ValueError(f"the blocks of a page have wrong {name}")
        return found

    names = column("names", str)
    parents, tests, numbers, labels = elements = [
        column(name, int) for name in ("parents", "tests", "numbers", "labels")
    ]
    owners, *verdicts = blocks = [
        column("owners", int),
        column("texts", str),
        column("kept", bool),
        column("scores", int, float),
        column("rules", str),
        column("hidden", bool),
    ]
    if (
        {len(found) for found in elements} != {len(parents)}
        or {len(found) for found in blocks} != {len(owners)}
        or not all(0 <= name < len(names) for name in (*tests, *labels))
        or not all(-1 <= parent < number for number, parent in enumerate(parents))
        or not all(0 <= owner < len(parents) for owner in owners)
    ):
        raise ValueError("the blocks of a page do not fit each other")
    node_tests, marks = ([names[name] for name in found] for found in (tests, labels))
    return _Columns(parents, node_tests, numbers, marks, owners, *verdicts)
