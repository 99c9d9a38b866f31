"""`crawl` and `replay`: pages of live sites and of archives into the database."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy.batch.addresses import address_hint, is_web_address, web_host
from noiseclean_scrapy.batch.archive import read_archive
from noiseclean_scrapy.commands.base import (
    Call,
    Subcommand,
    add_database_option,
    add_method_options,
    whole_number,
)
from noiseclean_scrapy.commands.output import tell
from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.page.characters import counted, listed
from noiseclean_scrapy.service_urls import MASK

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.statscollectors import StatsCollector

_PAGES = 200
_NO_HTML = "noiseclean/pages/not_html/"


class Crawl(Subcommand):
    name = "crawl"
    syntax = "URL... [--pages N] [options]"
    summary = "Crawl sites politely into the database"
    details = (
        "Visits the sites of the given pages, sitemaps or feeds, and stores their pages with clean "
        "texts: the pages listed in the sitemaps (named by robots.txt) and in the feeds (named by "
        "the first pages), and what is linked, breadth first. Obeys robots.txt, and asks a site "
        "for one page a second at most, unless the project says otherwise. Ctrl-C ends it, and "
        "what was fetched stays stored."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "urls",
            metavar="URL",
            nargs="+",
            type=_address,
            help="a front page, or any other, such as https://example.com/",
        )
        parser.add_argument(
            "--pages",
            metavar="N",
            type=whole_number,
            default=_PAGES,
            help=f"end after so many pages (default {_PAGES})",
        )
        parser.add_argument(
            "--delay",
            metavar="SECONDS",
            type=_seconds,
            help="between two pages of a site, at least (default the project's, else 1)",
        )
        add_method_options(parser, "NOISECLEAN_METHOD")
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        from noiseclean_scrapy.batch.site_spider import SiteSpider

        opts = call.opts
        settings = {} if opts.delay is None else {"DOWNLOAD_DELAY": opts.delay}
        # What is under way at the end would be fetched for nothing.
        settings["CONCURRENT_REQUESTS"] = len(set(map(web_host, opts.urls)))
        stats = _run(SiteSpider, call, settings, start_urls=opts.urls, pages=opts.pages)
        return _report(call, stats)


class Replay(Subcommand):
    name = "replay"
    syntax = "PATH... [options]"
    summary = "Store the pages of a folder, WARC or WACZ, as a crawl does"
    details = (
        "PATH is a folder of HTML files (with or without manifest.jsonl), an HTML file, a WARC or "
        "a WACZ file; there may be several. Their pages pass through the add-on one after the "
        "other, without any network, and are stored with their clean texts."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "sources",
            metavar="PATH",
            nargs="+",
            help="a WARC or WACZ file, a folder, or an HTML file",
        )
        add_method_options(parser, "NOISECLEAN_METHOD")
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        from noiseclean_scrapy.batch.replay import ReplaySpider

        sources = call.opts.sources
        for source in sources:
            if is_web_address(source):
                call.opts.parser.error(f"replay takes files; noiseclean crawl fetches {source}")
            read_archive(source)  # for its errors
        stats = _run(ReplaySpider, call, {}, source=sources)
        return _report(call, stats)


def _run(spider: type[Spider], call: Call, own: dict[str, Any], **arguments: Any) -> StatsCollector:
    from noiseclean_scrapy.batch.running import run_spider

    replace(call.config, frontier=()).require_libraries()  # it is not used here
    settings = call.crawl_settings()
    settings.setdict(own, priority="cmdline")
    method = {"METHOD": call.config.method, "METHOD_OPTIONS": dict(call.config.method_options)}
    settings.setdict({f"NOISECLEAN_{k}": v for k, v in method.items()}, priority="cmdline")
    settings.set("NOISECLEAN_LIVE", sys.stderr.isatty(), priority="command")
    return run_spider(spider, settings, with_addon=True, **arguments)


def _report(call: Call, stats: StatsCollector) -> bool:
    """Say what was stored, and what may come next; whether there was something."""
    from noiseclean_scrapy.batch.site_spider import ENOUGH

    get = stats.get_value
    reason = get("finish_reason", "")
    if reason == "noiseclean_store_error":
        raise StoreError("nothing was crawled; the log says what the database lacks")
    pages = min(get("item_scraped_count", 0), get("noiseclean/pages/addresses", 0))
    spooled, lost = (get(f"noiseclean/pages/{what}", 0) for what in ("spooled", "lost"))
    pages = max(pages - spooled - lost, 0)
    left_out = listed({k: get(f"noiseclean/archive/{k}", 0) for k in ("missing", "damaged")})
    tell(
        f"{counted(pages, 'page')} of {counted(get('noiseclean/clusters', 0), 'site')} stored in "
        f"{call.config.display_url}" + f" ({left_out})" * bool(left_out)
    )
    if pages:
        database = call.config.display_url
        path = database.removeprefix("sqlite:///")
        database = shlex.quote(path if Path(path).is_file() else database)
        if MASK in database:  # what it stands for is not shown
            database = "URL"
        there = f" --database {database}" if call.opts.database_url else ""
        tell(f"Try next: noiseclean sites{there}\n          noiseclean search WORDS{there}")
    if spooled or lost:
        tell(
            f"Not stored: {counted(spooled, 'page')} in the spool for the next crawl, {lost} lost; "
            "the log above says why."
        )
    elif not pages and reason != "shutdown":
        tell(f"Nothing was stored: {_why_nothing(call, stats)}.")
    if reason == "shutdown":
        raise KeyboardInterrupt
    is_whole = reason in ("finished", ENOUGH) or _is_wanted_end(reason)
    if reason and not is_whole:
        tell(f"The crawl ended early: {reason}.")
    return bool(pages) and not spooled and not lost and not left_out and is_whole


def _is_wanted_end(reason: str) -> bool:
    """Whether a bound of Scrapy's settings has ended a crawl, other than that of errors."""
    return reason.startswith("closespider_") and reason != "closespider_errorcount"


def _why_nothing(call: Call, stats: StatsCollector) -> str:
    """Why nothing is stored; what kept pages from coming is in the log."""
    pages = stats.get_value("item_scraped_count", 0)
    if pages and call.config.read_only:
        return "it only reads (NOISECLEAN_READ_ONLY)"
    if pages and not stats.get_value("noiseclean/pages/seen"):
        return f"the settings leave {counted(pages, 'page')} out"
    kinds = [
        f"{number} {stat.removeprefix(_NO_HTML)}"
        for stat, number in stats.get_stats().items()
        if stat.startswith(_NO_HTML)
    ]
    if pages and kinds:
        return f"no HTML: {', '.join(kinds)}"
    return "the log above says why"


def _address(text: str) -> str:
    if not is_web_address(text):
        raise argparse.ArgumentTypeError(
            f"expected an address such as https://example.com/news, not {text!r}"
            f"{address_hint(text)}"
        )
    return text


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds from 0 on, not {text!r}")
    return seconds
