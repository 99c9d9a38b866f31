"""`partition`: the tables of an empty PostgreSQL database, those of pages in parts."""

from __future__ import annotations

import argparse

from noiseclean_scrapy.commands.base import (
    Call,
    Subcommand,
    add_database_option,
    name_and_value,
    whole_number,
)
from noiseclean_scrapy.commands.output import tell
from noiseclean_scrapy.page.characters import counted

_PARTS = 16


class Partition(Subcommand):
    name = "partition"
    syntax = "[--parts N] [options]"
    summary = "Create the tables of an empty PostgreSQL database in parts"
    details = (
        "The tables of pages, of their HTML and of the search index are parted by the hash of a "
        "page's key, so that vacuum, indexes and backups have smaller pieces. For a database that "
        "has no tables of ours yet; crawls and commands then work as with tables in one piece."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--parts", type=whole_number, default=_PARTS, metavar="N", help=f"default {_PARTS}"
        )
        parser.add_argument(
            "--storage",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            type=name_and_value,
            help="storage parameter of the pages' parts, such as fillfactor=70 (may be repeated)",
        )
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        from noiseclean_scrapy.store.partitioning import create_parts

        create_parts(call.config.database_url, call.opts.parts, dict(call.opts.storage))
        tell(f"{call.config.display_url} has its tables in {counted(call.opts.parts, 'part')}.")
        return True
