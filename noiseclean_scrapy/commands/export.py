"""`export`: stored pages for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from noiseclean_scrapy.commands.base import Call, Subcommand, add_database_option
from noiseclean_scrapy.commands.files import new_file
from noiseclean_scrapy.commands.output import json_bytes, tell, write_bytes
from noiseclean_scrapy.export import page_row, write_parquet
from noiseclean_scrapy.store import PageRecord

ENGINES = ("elasticsearch", "opensearch", "meilisearch")
FORMATS = ("jsonl", "parquet", *ENGINES)


class Export(Subcommand):
    name = "export"
    syntax = "[-o FILE] [options]"
    summary = "Write the stored texts as JSON lines, Parquet or for a search engine"
    details = (
        "Writes every page that has a text, ordered by key: as JSON lines (the default), as "
        "Parquet (default for FILE.parquet; needs the extra `parquet`), or in the format in which "
        "Elasticsearch, OpenSearch or Meilisearch take in many pages at once."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "-o", "--output", metavar="FILE", type=Path, help="where to write (default stdout)"
        )
        parser.add_argument(
            "--format", choices=FORMATS, help="form of the output (default by the name of FILE)"
        )
        parser.add_argument("--site", metavar="SITE", help="only pages of this site")
        parser.add_argument(
            "--index",
            metavar="NAME",
            default="noiseclean",
            help="index of the search engine (default noiseclean)",
        )
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        opts = call.opts
        path: Path | None = opts.output
        form = opts.format or ("parquet" if path and path.suffix == ".parquet" else "jsonl")
        if form == "parquet" and path is None:
            opts.parser.error("Parquet cannot go to stdout: give -o FILE")
        with call.open_store() as store:
            if opts.site:
                call.find_site(store, opts.site)
            pages = store.pages(opts.site)
            if path is None:
                count = _write(pages, form, opts.index, write_bytes)
            else:
                with new_file(path) as part:
                    count = _write_file(pages, form, opts.index, part)
        tell(f"{count} page{'s' * (count != 1)} exported" + (f" to {path}" if path else ""))
        return count > 0


def _write_file(pages: Iterator[PageRecord], form: str, index: str, path: Path) -> int:
    if form == "parquet":
        return write_parquet(pages, path)
    with path.open("wb") as file:
        return _write(pages, form, index, file.write)


def _write(
    pages: Iterator[PageRecord], form: str, index: str, write: Callable[[bytes], object]
) -> int:
    """Write one page after the other; their number."""
    counted = _Counted(pages)
    for line in _lines(counted, form, index):
        write(line)
    return counted.number


def _lines(pages: Iterable[PageRecord], form: str, index: str) -> Iterator[bytes]:
    if form == "jsonl":
        return (json_bytes(page_row(page)) + b"\n" for page in pages)
    from noiseclean_scrapy.index import Document
    from noiseclean_scrapy.index.bulk import elasticsearch_lines, meilisearch_lines

    documents = map(Document.of, pages)
    if form == "meilisearch":
        return meilisearch_lines(documents)
    return elasticsearch_lines(documents, index)


class _Counted:
    """Pages, and how many of them were taken."""

    def __init__(self, pages: Iterable[PageRecord]) -> None:
        self.number = 0
        self._pages = pages

    def __iter__(self) -> Iterator[PageRecord]:
        for page in self._pages:
            self.number += 1
            yield page
