"""Stored pages as rows for other programs, and rows as Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from typing import IO, Any

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store import PageRecord

COLUMNS: dict[str, type] = {
    "key": str,
    "url": str,
    "site": str,
    "title": str,
    "author": str,
    "published": datetime,
    "language": str,
    "canonical_url": str,
    "image": str,
    "fetched_at": datetime,
    "tree_version": int,
    "visible_characters": int,
    "kept_characters": int,
    "text": str,
}
"""Names and types of a row's values; a time may be None, and is aware."""

_ROWS_IN_GROUP = 1000
_CHARACTERS_IN_GROUP = 1 << 24
"""Of texts: a group is in memory, several times."""


def page_row(record: PageRecord) -> dict[str, Any]:
    """What is stored of a page with a text, by the names of `COLUMNS`: no blocks, no HTML."""
    cleaned = record.cleaned
    assert cleaned is not None
    return {
        "key": record.key,
        "url": record.url,
        "site": record.cluster,
        "title": cleaned.title,
        **asdict(record.metadata or Metadata()),
        "fetched_at": record.fetched_at,
        "tree_version": cleaned.clean_version,
        "visible_characters": cleaned.visible_characters,
        "kept_characters": cleaned.kept_characters,
        "text": cleaned.text,
    }


def write_parquet(records: Iterable[PageRecord], file: IO[bytes]) -> None:
    """Write the rows of the pages, a thousand a row group, or fewer where texts are long.

    Times are microseconds in UTC. Raises ConfigurationError without pyarrow.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigurationError(
            "writing Parquet needs pyarrow: pip install 'noiseclean-scrapy[parquet]'"
        ) from error
    kinds = {str: pyarrow.string(), int: pyarrow.int64(), datetime: pyarrow.timestamp("us", "UTC")}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _groups(map(page_row, records)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    characters = 0
    for row in rows:
        group.append(row)
        characters += len(row["text"])
        if len(group) == _ROWS_IN_GROUP or characters >= _CHARACTERS_IN_GROUP:
            yield group
            group, characters = [], 0
    if group:
        yield group
