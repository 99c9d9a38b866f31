"""`clean`: the pages of a folder, an archive or a list of addresses, as JSON lines."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from noiseclean_scrapy.batch import archived_page
from noiseclean_scrapy.batch.two_pass import (
    FORMATS,
    Learning,
    SiteCleaners,
    SourcePage,
    archive_pages,
    clean_source_page,
    page_row,
)
from noiseclean_scrapy.commands.base import Call, Subcommand, add_method_options
from noiseclean_scrapy.commands.lines import LinesFile, StandardOutput
from noiseclean_scrapy.commands.output import counted, json_bytes, new_progress, tell
from noiseclean_scrapy.store import Store

if TYPE_CHECKING:
    from noiseclean_scrapy.batch.fetching import FetchedPages

_LIST_HEAD = 4096


class Clean(Subcommand):
    name = "clean"
    syntax = "SOURCE [-o FILE] [options]"
    summary = "Clean a folder, WARC, WACZ, HTML file or list of addresses"
    details = (
        "SOURCE is a folder of HTML files (with or without manifest.jsonl), a WARC or WACZ file, "
        "one HTML file, a text file of addresses (one a line), or one address. Every site is first "
        "learned from its pages; then each page is cleaned and written as one line of JSON, in "
        "the order of SOURCE. With -o an interrupted run goes on where it stopped when it is "
        "started again. Listed pages are fetched slowly, as robots.txt allows, and kept in "
        "FILE.pages.db, so that no page is fetched twice."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("source", metavar="SOURCE")
        parser.add_argument(
            "-o", "--output", metavar="FILE", type=Path, help="where to write (default stdout)"
        )
        parser.add_argument(
            "--format",
            choices=FORMATS,
            default="text",
            help="what to write of the content (default text)",
        )
        add_method_options(parser, "NOISECLEAN_METHOD")
        parser.add_argument(
            "--cluster-by",
            metavar="WHAT",
            help="learn together what has the same domain, host or template, or the same result of "
            "a callable, given by its path (default NOISECLEAN_CLUSTER_BY)",
        )

    def run(self, call: Call) -> bool:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            read_pages = _source(call, folder, stack)
            if read_pages is None:
                return False
            cleaners = SiteCleaners(call.config, folder)
            pages = _learn(read_pages, cleaners)
            output = _output(call, cleaners)
            stack.callback(output.close)
            with _without_warnings():
                _clean(read_pages(), pages, output)
        tell(_summary(pages, len(cleaners), call.opts.output))
        return pages > 0


def _learn(read_pages: Callable[[], Iterable[SourcePage]], cleaners: SiteCleaners) -> int:
    learning = Learning(cleaners)
    count = 0
    with new_progress() as progress:
        task = progress.add_task("Learning the sites", total=None)
        for _ in learning.learn(read_pages()):
            count += 1
            progress.update(task, completed=count)
    if learning.needs_samples:
        with _without_warnings():
            learning.learn_samples(read_pages())
    return count


def _output(call: Call, cleaners: SiteCleaners) -> LinesFile | StandardOutput:
    path: Path | None = call.opts.output

    def line(source: SourcePage) -> bytes:
        cleaned = clean_source_page(source, cleaners[source.site].model(), call.config)
        return json_bytes(page_row(cleaned, call.opts.format)) + b"\n"

    return LinesFile(path, line) if path else StandardOutput(line)


def _clean(pages: Iterable[SourcePage], total: int, output: LinesFile | StandardOutput) -> None:
    with new_progress() as progress:
        task = progress.add_task("Cleaning the pages", total=total)
        for source in pages:
            output.add(source)
            progress.advance(task)
        output.end()


def _source(
    call: Call, folder: Path, stack: ExitStack
) -> Callable[[], Iterator[SourcePage]] | None:
    """What gives the pages, each time from the first on; None after Ctrl-C."""
    source: str = call.opts.source
    urls = _listed_urls(source)
    if urls is None:
        return lambda: archive_pages(source, call.config)
    output: Path | None = call.opts.output
    database = Path(f"{output}.pages.db") if output else folder / "pages.db"
    store = stack.enter_context(Store(f"sqlite:///{database}", store_html=True))
    pages = _fetch(urls, store, call)
    return None if pages is None else pages.__iter__


def _listed_urls(source: str) -> list[str] | None:
    """The addresses that the source is or lists; None where it is an archive."""
    from noiseclean_scrapy.batch.fetching import is_web_address, read_url_list

    if is_web_address(source):
        return [source]
    path = Path(source)
    if not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(_LIST_HEAD).decode("utf-8-sig", "replace")
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return read_url_list(path) if is_web_address(first) else None


def _fetch(urls: list[str], store: Store, call: Call) -> FetchedPages | None:
    from noiseclean_scrapy.batch.fetching import FetchedPages, fetch

    pages = FetchedPages(urls, store, call.config)
    output: Path | None = call.opts.output
    # Once lines are written, a page that comes late would stand in the wrong place.
    retry = not (output and output.is_file() and output.stat().st_size)
    missing = pages.missing(retry=retry)
    if not missing:
        return pages
    with new_progress() as progress:
        task = progress.add_task("Fetching the pages", total=len(missing))
        is_finished = fetch(missing, pages, call.settings, lambda: progress.advance(task))
    if not is_finished:
        tell("Interrupted while fetching." + (" Run it again to go on." if output else ""))
        return None
    return pages


def _summary(pages: int, sites: int, output: Path | None) -> str:
    where = f", written to {output}" if output else ""
    return f"{counted(pages, 'page')} of {counted(sites, 'site')} cleaned{where}"


@contextmanager
def _without_warnings() -> Iterator[None]:
    """The first pass over an archive has told of its damage already."""
    logger = archived_page.logger
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = False
