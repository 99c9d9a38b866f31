"""`check`: what in the database cannot be read, and to mend or forget it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.clusters.training import repair_tree
from noiseclean_scrapy.commands.base import Call, Subcommand, add_database_option, add_json_option
from noiseclean_scrapy.commands.output import print_json, print_text, tell
from noiseclean_scrapy.errors import StoreError, TreeDataError, UnknownMethodError
from noiseclean_scrapy.page.characters import counted

if TYPE_CHECKING:
    from noiseclean_scrapy.config import Config
    from noiseclean_scrapy.store import Store


class Check(Subcommand):
    name = "check"
    syntax = "[--repair] [options]"
    summary = "Find what in the database cannot be read; mend or forget it with --repair"
    details = (
        "Reads all that is stored and lists what is damaged, one line each: what SQLite finds "
        "wrong in its file, the full-text index, pages (or their HTML alone), sites, trees. With "
        "--repair indexes are made anew, damaged pages are forgotten, so that the next crawl "
        "fetches them again, sites are rebuilt from their pages, and trees of older trees and the "
        "stored HTML. The exit code is 1 while something is damaged."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--repair", action="store_true", help="mend what can be, forget what cannot be read"
        )
        add_json_option(parser)
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        repairs = call.opts.repair
        with call.open_store(write=repairs) as store:
            done = _Inspection(store, call.config, repairs=repairs)
            done.run()
            count = store.pages.count().pages
        if call.opts.json:
            print_json(done.found)
        elif done.found:
            print_text("".join(f"{x['kind']} {x['name']}: {x['reason']}\n" for x in done.found))
        for reason in done.left:
            tell(reason)
        what = counted(len(done.found), "thing")
        state = ("damaged, not all repaired" if done.left else "repaired") if repairs else "damaged"
        tell(f"{counted(count, 'page')} stored, {what} {state}.")
        return not (done.left if repairs else done.found)


class _Inspection:
    """Looks at all that is stored: what it has `found`, and why some of it is `left` as it is."""

    def __init__(self, store: Store, config: Config, *, repairs: bool) -> None:
        self.found: list[dict[str, str]] = []
        self.left: list[str] = []
        self._store = store
        self._config = config
        self._repairs = repairs

    def run(self) -> None:
        """Each part is mended before the next one is read: what is behind it may need it."""
        is_searched = self._look_at_search()  # of whose damage newer SQLites tell with the file's
        self._look_at_indexes()
        self._look_at_sites()
        self._look_at_pages()
        self._look_at_trees()
        if self._repairs and not is_searched:
            for _ in self._store.index_missing():
                pass

    def _note(self, kind: str, name: str, reason: str) -> None:
        self.found.append({"kind": kind, "name": name, "reason": reason})

    def _look_at_indexes(self) -> None:
        structure, name = self._store.structure, self._config.display_url
        reasons = structure.damaged()
        for reason in reasons:
            self._note("file", name, reason)
        if reasons and self._repairs:
            try:
                structure.mend()
            except StoreError as error:
                self.left.append(str(error))
            if still := structure.damaged():
                advice = "restore it, or try SQLite's .recover"
                self.left.append(f"{name} is still damaged ({still[0]}): {advice}")

    def _look_at_search(self) -> bool:
        """Whether the full-text index is sound; a damaged one is emptied."""
        try:
            reason = self._store.structure.damaged_search()
        except StoreError as error:
            if self._repairs:
                raise
            tell(f"The full-text index is not checked: {error}")
            return True
        if not reason:
            return True
        self._note("index", "search", reason)
        if self._repairs:
            self._store.structure.clear_search()
        return False

    def _look_at_sites(self) -> None:
        clusters = self._store.clusters
        for site in clusters.damaged():
            self._note("site", site, "its row is damaged")
            if self._repairs:
                clusters.mend(site)

    def _look_at_pages(self) -> None:
        pages = list(self._store.pages.damaged())
        for page in pages:
            self._note("page", page.key, page.reason)
        if self._repairs:
            self._store.pages.forget_damaged([page.key for page in pages])

    def _look_at_trees(self) -> None:
        for site, reason in damaged_trees(self._store):
            self._note("tree", site, reason)
            if self._repairs:
                try:
                    repair_tree(self._store, site, self._config)
                except UnknownMethodError as error:
                    self.left.append(f"{site} is left as it is: {error}")


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
