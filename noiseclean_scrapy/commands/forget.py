"""`forget`: delete a site with its pages and trees."""

from __future__ import annotations

import argparse
import sys

from noiseclean_scrapy.commands.base import Call, Subcommand, add_database_option
from noiseclean_scrapy.commands.output import tell
from noiseclean_scrapy.page.characters import counted


class Forget(Subcommand):
    name = "forget"
    syntax = "SITE [--yes] [options]"
    summary = "Delete a site: its pages, texts and trees"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("site", metavar="SITE", help="as `noiseclean sites` names it")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        with call.open_store(write=True) as store:
            site = call.find_site(store, call.opts.site)
            name = site.name
            pages = store.pages.count(name).pages
            question = f"Delete {name}: {counted(pages, 'page')}, tree version {site.version}?"
            if not call.opts.yes and not _confirm(question):
                tell("Nothing was deleted.")
                return False
            deleted = store.clusters.delete(name)
        tell(f"{name} is deleted, with {counted(deleted, 'page')}.")
        return True


def _confirm(question: str) -> bool:
    if sys.stdin is None:  # it was closed by who has started this
        tell(f"{question} Nobody can answer: --yes does not ask.")
        return False
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip().lower()
    return answer in ("y", "yes")
