"""`clean`: the text of pages, from an address, a file, a folder, an archive or standard input."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from noiseclean_scrapy.batch import archived_page
from noiseclean_scrapy.batch.addresses import FolderHosts, is_web_address
from noiseclean_scrapy.batch.archive import is_html_name, read_archive
from noiseclean_scrapy.batch.two_pass import (
    WRITTEN,
    Learning,
    SiteCleaners,
    SourcePage,
    archive_pages,
    clean_source_page,
    cleaned_columns,
    cleaned_row,
)
from noiseclean_scrapy.commands.base import (
    Call,
    Subcommand,
    add_method_options,
    add_output_option,
)
from noiseclean_scrapy.commands.files import STDIO, FileError, is_replaced, new_file, read_stdin
from noiseclean_scrapy.commands.forms import document_bytes, form_of, row_bytes
from noiseclean_scrapy.commands.lines import continue_lines
from noiseclean_scrapy.commands.output import for_stdout, json_bytes, tell
from noiseclean_scrapy.errors import NoiseCleanError
from noiseclean_scrapy.page.characters import counted, listed
from noiseclean_scrapy.page.decoding import decode
from noiseclean_scrapy.service_urls import sqlite_url

if TYPE_CHECKING:
    from noiseclean_scrapy.batch.fetching import FetchedPages
    from noiseclean_scrapy.config import Config

FORMATS = (*WRITTEN, "json", "jsonl", "csv")
_LIST_HEAD = 4096

ReadPages: TypeAlias = Callable[[], Iterable[SourcePage]]


class Clean(Subcommand):
    name = "clean"
    syntax = "SOURCE... [-o FILE] [options]"
    summary = "Print the clean text of a page, a folder, an archive, a list of addresses"
    details = (
        "SOURCE is a web address, an HTML file, - (a page on standard input), a folder of HTML "
        "files (with or without manifest.jsonl), a WARC or WACZ file, or a text file of addresses, "
        "one a line. There may be several of them: files and folders, or addresses. Every site is "
        "first learned from its pages; then each page is cleaned and written, in the order of the "
        "sources. With -o FILE.jsonl an interrupted run goes on where it stopped when it is "
        "started again. Listed pages are fetched slowly, as robots.txt allows, and with -o kept in "
        "FILE.pages.db, so that no page is fetched twice."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "sources",
            metavar="SOURCE",
            nargs="+",
            help="an address, an HTML file, a folder, an archive, or a list of addresses",
        )
        add_output_option(parser)
        parser.add_argument(
            "--format",
            choices=FORMATS,
            metavar="FORM",
            help=f"{', '.join(FORMATS)} (default by the name of FILE, else text)",
        )
        parser.add_argument(
            "--content",
            choices=WRITTEN,
            help="what json, jsonl and csv hold of the content (default text)",
        )
        add_method_options(parser, "NOISECLEAN_METHOD")
        parser.add_argument(
            "--cluster-by",
            metavar="WHAT",
            help="learn together what has the same domain, host or template, or the same result of "
            "a callable, given by its path (default NOISECLEAN_CLUSTER_BY)",
        )

    def run(self, call: Call) -> bool:
        opts = call.opts
        form = form_of(opts.format, opts.output, FORMATS, "text")
        is_document = form in WRITTEN
        if opts.content and is_document:
            opts.parser.error("--content is for --format json, jsonl and csv")
        content = form if is_document else opts.content or "text"
        # Documents say nothing of author, date and the like.
        config = replace(call.config, metadata=False) if is_document else call.config
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            problems: Counter[str] = Counter()
            read_pages, one = _source(call, form, folder, stack, problems)
            cleaners = SiteCleaners(config, folder)
            count, left_out = _learn(read_pages, cleaners, problems, one=one)
            without_text: Counter[str] = Counter()

            def row(page: SourcePage) -> dict[str, Any]:
                cleaned = clean_source_page(page, cleaners[page.site].model(), config)
                found = cleaned_row(cleaned, content)
                if not found[content].strip():
                    without_text[cleaned.page.other] += 1
                return found

            if count or opts.output in (None, STDIO):  # else what FILE holds stays
                with _without_warnings():
                    pages = read_pages()
                    if not one:
                        pages = _with_progress(pages, "Cleaning the pages", count)
                    _write(pages, row, form, content, opts.output, one=one)
        if opts.output or not one or not count or without_text:
            tell(_summary(count, len(cleaners), opts.output, without_text, left_out))
        return count > without_text.total() and not left_out


def _write(
    pages: Iterable[SourcePage],
    row: Callable[[SourcePage], dict[str, Any]],
    form: str,
    content: str,
    path: Path | None,
    *,
    one: bool,
) -> None:
    if form == "jsonl" and path and is_replaced(path):
        continue_lines(path, pages, lambda page: json_bytes(row(page)) + b"\n", content)
        return
    rows = map(row, pages)
    if form in WRITTEN:
        pieces = document_bytes(rows, content, one=one)
    else:
        pieces = row_bytes(rows, form, cleaned_columns(content))
    with new_file(path or STDIO) as file:
        file.writelines(pieces if path else for_stdout(pieces))


def _learn(
    read_pages: ReadPages, cleaners: SiteCleaners, problems: Counter[str], *, one: bool
) -> tuple[int, Counter[str]]:
    """Let the sites learn their pages; the number of these, and of those that were left out.

    Each pass over an archive adds to the `problems`.
    """
    count = 0
    if one:
        for page in read_pages():
            cleaners.observe(page)
            count += 1
        return count, Counter()
    learning = Learning(cleaners)
    for _ in learning.learn(_with_progress(read_pages(), "Learning the sites")):
        count += 1
    left_out = Counter(problems)
    if learning.needs_samples:
        with _without_warnings():
            learning.learn_samples(read_pages())
    return count, left_out


def _source(
    call: Call, form: str, folder: Path, stack: ExitStack, problems: Counter[str]
) -> tuple[ReadPages, bool]:
    """What gives the pages, each time from the first on, and whether it can be one only.

    What is missing or damaged is counted in `problems`.
    """
    sources: list[str] = call.opts.sources
    lists = list(map(_urls, sources))
    is_alone = len(sources) == 1
    if lists == [None] and _is_lone_page(sources[0]):
        pages = list(_lone_page(Path(sources[0]), call.config, with_site=form not in WRITTEN))
        return (lambda: pages), True
    if None not in lists:
        urls = list(dict.fromkeys(url for found in lists for url in found or ()))
        is_one = is_alone and is_web_address(sources[0])
        return _fetch(urls, form, call, folder, stack).__iter__, is_one
    if any(lists) or (not is_alone and str(STDIO) in sources):
        call.opts.parser.error("several sources are files and folders, or addresses, not both")

    def count(kind: str) -> None:
        problems[kind] += 1

    read = partial(archive_pages, config=call.config, hosts=FolderHosts(), on_problem=count)
    return lambda: chain.from_iterable(map(read, sources)), False


def _is_lone_page(source: str) -> bool:
    path = Path(source)
    return path == STDIO or (is_html_name(source) and not path.is_dir())


def _lone_page(path: Path, config: Config, *, with_site: bool) -> Iterator[SourcePage]:
    """The page of an HTML file or of standard input, where it is one that the settings want."""
    budget = config.page_budget
    if path == STDIO:
        body = read_stdin(budget.markup + 1)
        if not body.strip():
            raise FileError("there is nothing on standard input")
        yield SourcePage(str(path), "", "", decode(budget.cut_bytes(body)))
        return
    for page in read_archive(path, budget=budget):
        if config.wants(page.url):
            site = _site(page.url, config) if with_site else ""
            yield SourcePage(page.id, page.url, site, decode(budget.cut_bytes(page.body)))


def _site(url: str, config: Config) -> str:
    from scrapy.http import HtmlResponse

    return config.cluster_by(HtmlResponse(url)) or ""


def _urls(source: str) -> list[str] | None:
    """The address that a source is, or those that it lists; None where it is no such file."""
    if is_web_address(source):
        return [source]
    path = Path(source)
    if not path.is_file() or is_html_name(source):
        return None
    with path.open("rb") as file:
        head = file.read(_LIST_HEAD).decode("utf-8-sig", "replace")
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if not is_web_address(first) and path.suffix.lower() != ".txt":
        return None
    from noiseclean_scrapy.batch.fetching import read_url_list

    return read_url_list(path)


def _fetch(urls: list[str], form: str, call: Call, folder: Path, stack: ExitStack) -> FetchedPages:
    """The pages at some addresses, fetched; raises KeyboardInterrupt after Ctrl-C."""
    from noiseclean_scrapy.batch.fetching import FetchedPages, fetch
    from noiseclean_scrapy.commands.terminal import new_progress
    from noiseclean_scrapy.store import Store

    output: Path | None = call.opts.output
    kept = output is not None and is_replaced(output)
    database = Path(f"{output}.pages.db") if kept else folder / "pages.db"
    store = stack.enter_context(Store(sqlite_url(database), store_html=True))
    pages = FetchedPages(urls, store, call.config)
    # Once lines are written, a page that comes late would stand in the wrong place.
    has_lines = form == "jsonl" and output and output.is_file() and output.stat().st_size
    missing = pages.missing(retry=not has_lines)
    if has_lines and (passed_over := len(pages.missing(retry=True)) - len(missing)):
        tell(
            f"Not asked again: {counted(passed_over, 'address')} that gave no page before. What "
            f"comes late would stand in the wrong place; without {output} all are asked."
        )
    if not missing:
        return pages
    with new_progress() as progress:
        task = progress.add_task("Fetching the pages", total=len(missing))
        settings = call.crawl_settings()
        reason = fetch(missing, pages, settings, lambda: progress.advance(task))
    if reason == "shutdown":
        if kept:
            tell("Run it again to go on with fetching.")
        raise KeyboardInterrupt
    if reason != "finished":
        early = f"Fetching ended early ({reason})" + "; run it again to go on" * kept
        if kept and form == "jsonl":  # see above: no lines yet
            raise NoiseCleanError(early)
        tell(f"{early}.")
    return pages


def _with_progress(
    pages: Iterable[SourcePage], description: str, total: int | None = None
) -> Iterator[SourcePage]:
    from noiseclean_scrapy.commands.terminal import new_progress

    with new_progress() as progress:
        task = progress.add_task(description, total=total)
        for page in pages:
            yield page
            progress.advance(task)


def _summary(
    pages: int,
    sites: int,
    output: Path | None,
    without_text: Counter[str],
    left_out: Counter[str],
) -> str:
    where = f", {'written' if pages else 'nothing is written'} to {output}"
    empty = without_text[""]
    kinds = listed({kind: number for kind, number in without_text.most_common() if kind})
    return (
        f"{counted(pages, 'page')} of {counted(sites, 'site')} cleaned"
        + where * (output not in (None, STDIO))
        + f" ({listed(left_out)})" * bool(left_out)
        + f"; {counted(empty, 'page')} without text" * bool(empty)
        + f"; no HTML: {kinds}" * bool(kinds)
    )


@contextmanager
def _without_warnings() -> Iterator[None]:
    """The first pass over an archive has told of its damage already."""
    logger = archived_page.logger
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = False
