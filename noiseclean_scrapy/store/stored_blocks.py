"""The blocks of a cleaned page as they are stored: packed, and each a `Block` when asked for.

Where the page's HTML is stored, the verdicts alone are (see `block_verdicts`), and all else is read
from it again. Elsewhere the elements stand in what is packed once, each with its parent, and the
paths of the blocks are made of them: it grows with the page alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, overload

from noiseclean_scrapy.page import DEFAULT_BUDGET, PageBudget, build_page
from noiseclean_scrapy.page.block import Block, LocatedBlock
from noiseclean_scrapy.page.bounded_json import is_bounded
from noiseclean_scrapy.page.labels import LONGEST_LABEL
from noiseclean_scrapy.page.locations import place_of_xpath
from noiseclean_scrapy.page.reader import DEEPEST
from noiseclean_scrapy.page.tags import LONGEST_NAME
from noiseclean_scrapy.store.block_verdicts import BlockVerdicts, are_verdicts, text_digest
from noiseclean_scrapy.store.compression import compress, unpack

if TYPE_CHECKING:
    from noiseclean_scrapy.clean_page import CleanPage

_JSON = json.JSONEncoder(separators=(",", ":"))
_DEFAULTS = {
    "text": "",
    "xpath": "",
    "tag": "",
    "kept": False,
    "score": 0.0,
    "place": "",
    "rule": "",
    "hidden": False,
}
_KINDS = {name: type(default) for name, default in _DEFAULTS.items()} | {"score": Real}
_MOST_SIGNS = {b"[{": (1 << 23, 1), b'"': (3 << 22, 2), b",": (3 << 22, 3)}
"""Lists and objects, quotes, and values: a text of 5 MB may consist of any of the signs."""
_LARGEST_NUMBER = (1 << 31) - 1


class StoredBlocks(Sequence[Block]):
    """The verdicts on a page's blocks, with their texts; `packed` is all that is in memory of them.

    Unless it `has_texts`, these are read from what `read_html` gives, whenever the blocks are
    looked at. Where that is not the HTML that was judged, or none, the verdicts alone are there:
    texts and paths are empty.

    Raises ValueError for bytes that hold something else.
    """

    __slots__ = ("_count", "packed", "read_html")

    def __init__(self, packed: bytes) -> None:
        if not isinstance(packed, bytes):  # SQLite may hold values of any type
            raise ValueError("these are no blocks of a page")
        self.packed = packed
        self.read_html: Callable[[], str | None] | None = None
        self._count = len(self._verdicts.kept if not self.has_texts else self._read())

    def __reduce__(self) -> tuple[type[StoredBlocks], tuple[bytes]]:
        return StoredBlocks, (self.packed,)

    @property
    def has_texts(self) -> bool:
        """Whether all of the blocks is packed, or their verdicts alone."""
        return not are_verdicts(self.packed)

    @classmethod
    def of_verdicts(cls, page: CleanPage) -> StoredBlocks:
        """The blocks of a page whose HTML is stored as well, and that no rule of the user names."""
        verdicts = BlockVerdicts.of(page)
        return cls._of_packed(verdicts.pack(), len(verdicts.kept))

    @classmethod
    def of(cls, page: CleanPage) -> StoredBlocks:
        """The blocks of a page that have a text."""
        table = page.table
        found = [number for number, text in enumerate(table.texts) if text]
        texts = dict.fromkeys([*table.node_tests, *table.labels])
        names = {name: number for number, name in enumerate(texts)}
        columns = {
            "names": list(names),
            "parents": table.parents.tolist(),
            "tests": [names[test] for test in table.node_tests],
            "numbers": table.numbers.tolist(),
            "labels": [names[label] for label in table.labels],
            "owners": [table.owners[number] for number in found],
            "texts": [table.texts[number] for number in found],
            "kept": [bool(page.kept[number]) for number in found],
            "scores": [round(page.scores[number], 4) for number in found],
            "rules": [table.rules[number] or "" for number in found],
            "hidden": [bool(page.hidden[number]) for number in found],
        }
        return cls._of_json(columns, len(found))

    @classmethod
    def of_blocks(cls, blocks: Sequence[Block]) -> StoredBlocks:
        """Blocks as they are stored; those without their page, in the form that all had once."""
        if isinstance(blocks, cls):
            return blocks
        return cls._of_json([block.to_dict() for block in blocks], len(blocks))

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

    def __iter__(self) -> Iterator[Block]:
        return iter(self._read())

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Block]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._read()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._count} blocks in {len(self.packed)} bytes>"

    def _read(self) -> list[Block]:
        if not self.has_texts:
            return _made_again(self._verdicts, self.read_html and self.read_html()).blocks()
        try:
            text = unpack(self.packed)
            if not is_bounded(text, len(self.packed), _MOST_SIGNS):
                raise ValueError("these are more blocks than a page has")
            value = json.loads(text)
        except RecursionError:
            raise ValueError("the blocks of a page are nested too deeply") from None
        if isinstance(value, dict):
            return _columns(value).blocks()
        if not isinstance(value, list):
            raise ValueError("these are no blocks of a page")
        return list(map(_block, value))


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

    def blocks(self) -> list[Block]:
        """The blocks, whose tags are the node tests of their elements."""
        verdicts = zip(
            self.owners, self.texts, self.kept, self.scores, self.rules, self.hidden, strict=True
        )
        return [
            LocatedBlock(
                self,
                owner,
                text=text,
                tag=self.node_tests[owner] if owner >= 0 else "",
                kept=kept,
                score=score,
                evidence={},
                rule=rule,
                hidden=hidden,
            )
            for owner, text, kept, score, rule, hidden in verdicts
        ]


def _made_again(verdicts: BlockVerdicts, html: str | None) -> _Columns:
    """The blocks of a page as they were when they were judged, as far as the HTML tells."""
    count = len(verdicts.kept)
    decided = (verdicts.kept, verdicts.scores, [""] * count, verdicts.hidden)
    for budget in (DEFAULT_BUDGET, PageBudget(mended=False)):  # as earlier versions read it
        table = build_page(html or "", budget=budget).table
        found = [number for number, text in enumerate(table.texts) if text]
        texts = [table.texts[number] for number in found]
        if len(texts) == count and text_digest(texts) == verdicts.digest:
            owners = [table.owners[number] for number in found]
            place = (table.parents, table.node_tests, table.numbers, table.labels, owners)
            return _Columns(*place, texts, *decided)
    return _Columns((), (), (), (), [-1] * count, [""] * count, *decided)


def _block(value: object) -> Block:
    """A block of the form that all were stored in once; raises ValueError for anything else."""
    if not isinstance(value, dict):
        raise ValueError("these are no blocks of a page")
    values = {name: value.get(name, default) for name, default in _DEFAULTS.items()}
    if not (
        all(isinstance(values[name], kind) for name, kind in _KINDS.items())
        and 0 <= values["score"] <= 1
    ):
        raise ValueError("these are no blocks of a page")
    values["place"] = values["place"] or place_of_xpath(values["xpath"])
    return Block(evidence={}, **values)


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
        or not all(0 <= score <= 1 for score in verdicts[2])
    ):
        raise ValueError("the blocks of a page do not fit each other")
    if not (
        all(len(name) <= LONGEST_LABEL for name in names)
        and all(len(names[test]) <= LONGEST_NAME for test in tests)
        and all(0 <= number <= _LARGEST_NUMBER for number in numbers)
        and max(_depths(parents), default=0) <= DEEPEST
    ):
        raise ValueError("the blocks of a page stand where no page has any")
    node_tests, marks = ([names[name] for name in found] for found in (tests, labels))
    return _Columns(parents, node_tests, numbers, marks, owners, *verdicts)


def _depths(parents: Sequence[int]) -> list[int]:
    """How many elements are around each, with itself; parents stand before their children."""
    depths: list[int] = []
    for parent in parents:
        depths.append(1 + (depths[parent] if parent >= 0 else 0))
    return depths
