"""Files for the bulk interfaces of Elasticsearch, OpenSearch and Meilisearch.

An index of this kind is a folder. Each commit adds files to it, numbered in the order in which they
are to be sent; a file is complete or not there. Sending a file twice does no harm.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from noiseclean_scrapy.output.documents import Document
from noiseclean_scrapy.replaced import replace_file

_FILE_BYTES = 10_000_000


def elasticsearch_lines(documents: Iterable[Document], index: str) -> Iterator[bytes]:
    """Actions of the `_bulk` interface that put documents into an index, each with its source.

    `_id` is the page's key, so a document replaces its predecessor.
    """
    for document in documents:
        action = {"index": {"_index": index, "_id": document.key}}
        yield _line(action) + _line(asdict(document))


def elasticsearch_deletions(keys: Iterable[str], index: str) -> Iterator[bytes]:
    """Actions of the `_bulk` interface that delete documents."""
    for key in keys:
        yield _line({"delete": {"_index": index, "_id": key}})


def meilisearch_lines(documents: Iterable[Document]) -> Iterator[bytes]:
    """Documents for Meilisearch, one a line; their primary key is `key`.

    Meilisearch compares numbers only, so `time` is that of the document in seconds since 1970.
    """
    for document in documents:
        yield _line({**asdict(document), "time": int(document.time.timestamp())})


class _Folder:
    """Numbered files that appear all at once, one after the other, at a commit."""

    def __init__(self, folder: Path | str, max_bytes: int) -> None:
        self._path = Path(folder)
        self._max_bytes = max_bytes
        self._waiting: list[tuple[str, bytearray]] = []

    def _write(self, kind: str, records: Iterable[bytes]) -> None:
        """Add records, none of which is divided, to the end of the uncommitted ones."""
        for record in records:
            if not self._goes_on(kind, len(record)):
                self._waiting.append((kind, bytearray()))
            self._waiting[-1][1].extend(record)

    def _goes_on(self, kind: str, more: int) -> bool:
        if not self._waiting:
            return False
        last, content = self._waiting[-1]
        return last == kind and len(content) + more <= self._max_bytes

    def commit(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        names = (path.name.partition(".")[0] for path in self._path.iterdir())
        last = max((int(name) for name in names if name.isdecimal()), default=0)
        for number, (kind, content) in enumerate(self._waiting, last + 1):
            replace_file(self._path / f"{number:06}.{kind}", bytes(content))
        self._waiting.clear()


class ElasticsearchFiles(_Folder):
    """Files for the `_bulk` interface of Elasticsearch and OpenSearch: `000001.bulk.ndjson`, ...

    `max_bytes` bounds their size, unless a single document is larger.
    """

    def __init__(self, folder: Path | str, index: str, *, max_bytes: int = _FILE_BYTES) -> None:
        super().__init__(folder, max_bytes)
        self._index = index

    def add(self, documents: Sequence[Document]) -> None:
        self._write("bulk.ndjson", elasticsearch_lines(documents, self._index))

    def delete(self, keys: Sequence[str]) -> None:
        self._write("bulk.ndjson", elasticsearch_deletions(keys, self._index))


class MeilisearchFiles(_Folder):
    """Files for Meilisearch: `000001.documents.ndjson` and `000002.deletions.json`, ...

    The first kind is for the route `documents`, the second for `documents/delete-batch`.
    """

    def __init__(self, folder: Path | str, *, max_bytes: int = _FILE_BYTES) -> None:
        super().__init__(folder, max_bytes)

    def add(self, documents: Sequence[Document]) -> None:
        self._write("documents.ndjson", meilisearch_lines(documents))

    def delete(self, keys: Sequence[str]) -> None:
        if keys:
            # A file holds one list.
            self._waiting.append(("deletions.json", bytearray(_line(list(keys)))))


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, default=datetime.isoformat).encode() + b"\n"
