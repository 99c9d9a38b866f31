"""`finish`: learn and clean the pages that killed crawls have left."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from noiseclean_scrapy.commands.base import Call, Subcommand, add_database_option
from noiseclean_scrapy.commands.output import counted, tell
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.sites import Site, config_of, grow_site

if TYPE_CHECKING:
    from noiseclean_scrapy.store import ClusterRecord, Store


class Finish(Subcommand):
    name = "finish"
    syntax = "[SITE] [options]"
    summary = "Learn and clean what a killed crawl has left"
    details = (
        "Pages that no tree has learned yet become part of the site's next tree and are cleaned "
        "with it, as at the end of a crawl; of one site, or of all. Crawls may run meanwhile."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("site", metavar="SITE", nargs="?")
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        with call.open_store(write=True) as store:
            names = [call.opts.site] if call.opts.site else store.unfinished()
            for name in names:
                tell(_finish(store, call.find_site(store, name), call.config))
        if not names:
            tell("Nothing is left to learn.")
        return True


def _finish(store: Store, record: ClusterRecord, config: Config) -> str:
    """Learn all of a site's pages; what was done."""
    site, before = Site(record.name, config_of(record.method, config), record), record.covered
    while site.learned > site.covered:
        covered = site.covered
        grow_site(store, site)
        if site.covered == covered:
            break
    pages = counted(site.covered - before, "page")
    return f"{site.name}: {pages} learned, tree version {site.version} ({record.method})."
