"""Column types: what a crawl brings along, in a form that both databases can hold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, DateTime, Dialect, LargeBinary, Text
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from noiseclean_scrapy.page.block import Block
from noiseclean_scrapy.page.characters import paired
from noiseclean_scrapy.store.compression import compress, decompress
from noiseclean_scrapy.store.html_objects import ObjectName
from noiseclean_scrapy.store.stored_blocks import StoredBlocks


def storable_text(text: str) -> str:
    """Text with U+FFFD for NUL, which PostgreSQL refuses, and for lone surrogates.

    >>> storable_text("a\\x00b\\ud800c")
    'a\ufffdb\ufffdc'
    """
    return paired(text).replace("\x00", "\ufffd")


class StorableText(TypeDecorator[str]):
    """Text made storable on its way in, in values and in conditions alike."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        # What SQLite had in a damaged row is not always a text.
        return storable_text(value) if isinstance(value, str) else value


class DamagedText(str):
    """What SQLite has for a text where its bytes are no UTF-8, or hold NUL as none of ours does."""

    __slots__ = ("raw",)
    raw: bytes

    @classmethod
    def read(cls, raw: bytes) -> str:
        """The text that bytes are, damaged or not."""
        try:
            text = raw.decode()
            if "\0" not in text:
                return text
        except UnicodeDecodeError:
            text = raw.decode("utf-8", "replace")
        found = cls(text)
        found.raw = raw
        return found


class _Exact(FunctionElement[str]):
    """A value that SQLite takes for a text where it is given as bytes."""

    inherit_cache = True
    type = Text()


@compiles(_Exact)
def _compile_exact(element: _Exact, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(_Exact, "sqlite")
def _compile_exact_sqlite(element: _Exact, compiler: SQLCompiler, **options: Any) -> str:
    # In parentheses, for an empty list is a query.
    return f"CAST(({compiler.process(element.clauses, **options)}) AS TEXT)"


class KeyText(StorableText):
    """A page's key, which finds its row again even where that is damaged."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        if isinstance(value, DamagedText):
            return value.raw
        return super().process_bind_param(value, dialect)

    def bind_expression(self, bindparam: BindParameter[str]) -> ColumnElement[str]:
        return _Exact(bindparam)


class _SQLiteTime(sqlite.DATETIME):
    """A time of SQLite, which has no type for them: what is none counts as NULL."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        process: Any = super().result_processor(dialect, coltype)

        def read(value: object) -> datetime | None:
            try:
                found: datetime | None = process(value)
            except (TypeError, ValueError):
                return None
            return found

        return read


class UTCDateTime(TypeDecorator[datetime]):
    """An aware time, in UTC on both databases; SQLite itself knows no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(_SQLiteTime())  # type: ignore[no-untyped-call]
        return dialect.type_descriptor(self.impl_instance)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"time without a time zone: {value!r}; expected datetime.now(UTC)")
        return value.astimezone(timezone.utc)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        # A driver may have other values for what is no time of ours.
        if not isinstance(value, datetime):
            return None
        if value.tzinfo is None:
            return value.replace(tzinfo=timezone.utc)
        try:
            return value.astimezone(timezone.utc)
        except OverflowError:  # in the first or the last hours that there are
            return None


_OBJECT = b"object:"


class CompressedText(TypeDecorator[str]):
    """Text as compressed bytes: every string comes back exactly, NUL and surrogates too.

    The name of an object, which holds the text instead, comes back as such.
    """

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        if isinstance(value, ObjectName):
            return _OBJECT + value.encode()
        return None if value is None else compress(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        if isinstance(value, bytes) and value.startswith(_OBJECT):
            return ObjectName.read(value.removeprefix(_OBJECT))
        return None if value is None else decompress(value)


class PackedBlocks(TypeDecorator[Sequence[Block]]):
    """The blocks of a page, see `StoredBlocks`; others become such."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Sequence[Block] | None, dialect: Dialect) -> bytes | None:
        if value is None:
            return None
        return StoredBlocks.of_blocks(value).packed

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> StoredBlocks | None:
        return None if value is None else StoredBlocks(value)
