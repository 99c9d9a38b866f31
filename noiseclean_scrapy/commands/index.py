"""`index`: put pages into the full-text index that are not there."""

from __future__ import annotations

import argparse

from noiseclean_scrapy.commands.base import Call, Subcommand, add_database_option
from noiseclean_scrapy.commands.output import tell
from noiseclean_scrapy.page.characters import counted


class Index(Subcommand):
    name = "index"
    summary = "Index stored pages for the search that are not indexed yet"
    details = (
        "Pages that crawls with NOISECLEAN_SEARCH = False have written are found by no search "
        "until they are indexed. May be stopped at any time: the pages that are done are done."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        done = 0
        with call.open_store(write=True) as store:
            for done in store.index_missing():  # noqa: B007
                pass
        tell(f"{counted(done, 'page')} indexed.")
        return True
