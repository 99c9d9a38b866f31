"""`check`: what in the database cannot be read, and to forget it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.clusters.training import repair_tree
from noiseclean_scrapy.commands.base import Call, Subcommand, add_database_option, add_json_option
from noiseclean_scrapy.commands.output import print_json, print_text, tell
from noiseclean_scrapy.errors import TreeDataError, UnknownMethodError
from noiseclean_scrapy.page.characters import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from noiseclean_scrapy.store import Store


class Check(Subcommand):
    name = "check"
    syntax = "[--repair] [options]"
    summary = "Find what in the database cannot be read, or forget it with --repair"
    details = (
        "Reads all that is stored and lists what is damaged, one line each: pages (or their HTML "
        "alone), sites, trees. With --repair damaged pages are forgotten, so that the next crawl "
        "fetches them again, sites are rebuilt from their pages, and trees of older trees and the "
        "stored HTML. The exit code is 1 while something is damaged."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="forget what cannot be read")
        add_json_option(parser)
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        repairs = call.opts.repair
        with call.open_store(write=repairs) as store:
            found: list[dict[str, str]] = []
            for site in store.clusters.damaged():
                found.append({"kind": "site", "name": site, "reason": "its row is damaged"})
                if repairs:
                    store.clusters.mend(site)
            pages = list(store.pages.damaged())
            found += [{"kind": "page", "name": p.key, "reason": p.reason} for p in pages]
            if repairs:
                store.pages.forget_damaged([page.key for page in pages])
            for site, reason in damaged_trees(store):
                found.append({"kind": "tree", "name": site, "reason": reason})
                if repairs:
                    repair_tree(store, site, call.config)
            count = store.pages.count().pages
        if call.opts.json:
            print_json(found)
        elif found:
            print_text("".join(f"{one['kind']} {one['name']}: {one['reason']}\n" for one in found))
        done = "repaired" if repairs else "damaged"
        tell(f"{counted(count, 'page')} stored, {counted(len(found), 'thing')} {done}.")
        return repairs or not found


def damaged_trees(store: Store) -> Iterator[tuple[str, str]]:
    """The sites whose newest tree cannot be read, and why."""
    for site in store.clusters.all():
        newest = store.clusters.trees(site.name)[:1]
        reason = damage_of(newest[0][1]) if newest else ""
        if reason:
            yield site.name, reason


def damage_of(tree: bytes) -> str:
    """Why a tree cannot be read, empty where it can, or where its method is not here."""
    try:
        SiteCleaner.from_bytes(tree)
    except UnknownMethodError:
        return ""
    except TreeDataError as error:
        return str(error)
    return ""
