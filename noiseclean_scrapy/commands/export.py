"""`export`: stored pages for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from noiseclean_scrapy.commands.base import (
    Call,
    Subcommand,
    add_database_option,
    add_output_option,
)
from noiseclean_scrapy.commands.files import STDIO, new_file
from noiseclean_scrapy.commands.forms import form_of, row_bytes
from noiseclean_scrapy.commands.output import for_stdout, tell
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.output.rows import COLUMNS, page_row, write_parquet
from noiseclean_scrapy.page.characters import counted
from noiseclean_scrapy.store import PageRecord, Store

INDEXED = ("elasticsearch", "opensearch")
ENGINES = (*INDEXED, "meilisearch")
FORMATS = ("jsonl", "json", "csv", "parquet", *ENGINES)


class Export(Subcommand):
    name = "export"
    syntax = "[-o FILE] [options]"
    summary = "Write the stored texts as JSON, CSV, Parquet or for a search engine"
    details = (
        "Writes every page that has a text, ordered by key: in the form that the name of FILE "
        "tells (.jsonl, .json, .csv, .parquet; the latter needs the extra `parquet`), else as JSON "
        "lines, or in the form in which Elasticsearch, OpenSearch or Meilisearch take in many "
        "pages at once."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        add_output_option(parser)
        parser.add_argument(
            "--format",
            choices=FORMATS,
            metavar="FORM",
            help=f"{', '.join(FORMATS)} (default by the name of FILE, else jsonl)",
        )
        parser.add_argument("--site", metavar="SITE", help="only pages of this site")
        parser.add_argument(
            "--index",
            metavar="NAME",
            help="index of elasticsearch and opensearch (default noiseclean)",
        )
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        opts = call.opts
        path: Path | None = opts.output
        form = form_of(opts.format, path, FORMATS, "jsonl")
        if form == "parquet" and path is None:
            opts.parser.error("Parquet cannot go to stdout: give -o FILE")
        if opts.index and form not in INDEXED:
            opts.parser.error(f"--index is for --format {' and '.join(INDEXED)}")
        with call.open_store() as store:
            site = None if opts.site is None else call.find_site(store, opts.site).name
            expected = 0 if site else _texts(store)
            found = iter(store.pages.with_text(site))
            first = [*islice(found, 1)]
            if path and not first:  # what FILE holds stays
                tell(f"0 pages exported, nothing is written to {path}")
                return False
            pages = _Counted(chain(first, found))
            with new_file(path or STDIO) as file:
                if form == "parquet":
                    write_parquet(pages, file)
                else:
                    pieces = _pieces(pages, form, opts.index or "noiseclean")
                    file.writelines(pieces if path else for_stdout(pieces))
            missing = expected - pages.number - store.damaged
            if missing > 0:  # or others have deleted pages meanwhile
                missing = min(expected, _texts(store)) - pages.number - store.damaged
        if missing > 0:
            tell(
                f"{pages.number} of {counted(pages.number + missing, 'page')} exported: the "
                f"database is damaged, see `noiseclean check`"
            )
            return False
        where = f" to {path}" if path and path != STDIO else ""
        damaged = f"; {store.damaged} cannot be read, see `noiseclean check`" * bool(store.damaged)
        tell(f"{counted(pages.number, 'page')} exported{where}{damaged}")
        return pages.number > 0 and not damaged


def _texts(store: Store) -> int:
    """Number of pages that have a text; 0 where the database is too damaged to count them."""
    try:
        return store.pages.count().with_text
    except StoreError:
        return 0


def _pieces(pages: Iterable[PageRecord], form: str, index: str) -> Iterator[bytes]:
    if form not in ENGINES:
        return row_bytes(map(page_row, pages), form, COLUMNS)
    from noiseclean_scrapy.output import Document
    from noiseclean_scrapy.output.bulk import elasticsearch_lines, meilisearch_lines

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
