"""`refresh`: a feed of an earlier crawl gets the texts that the database has now."""

from __future__ import annotations

import argparse
from pathlib import Path

from noiseclean_scrapy.clusters.final_values import FINAL_VALUES, FinalValues
from noiseclean_scrapy.commands.base import Call, Subcommand, add_database_option
from noiseclean_scrapy.commands.files import FileError
from noiseclean_scrapy.commands.output import tell
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.output.feeds import FORMATS, FeedOptions, Fields, rewrite_feed
from noiseclean_scrapy.page.characters import counted
from noiseclean_scrapy.page.urls import item_address


class Refresh(Subcommand):
    name = "refresh"
    syntax = "FEED [options]"
    summary = "Give the items of a feed the texts that the database has now"
    details = (
        "Items are early: their texts are those of the moment, and later pages teach more of a "
        "site. This writes a local feed once more, item by item by its address, with the final "
        "titles and texts. A value that cannot have come from the page's own text blocks stays, "
        "and so do all other fields and items. The fields are those of NOISECLEAN_FIELDS and of "
        "PageItem."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "feed", metavar="FEED", type=Path, help="a file that a crawl has written"
        )
        parser.add_argument("--format", choices=FORMATS, help="default: by the name of FEED")
        parser.add_argument(
            "--encoding", metavar="NAME", type=_encoding, help="that of the feed, default utf-8"
        )
        parser.add_argument("--indent", metavar="N", type=int, help="that of a JSON feed")
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        opts = call.opts
        form = opts.format or opts.feed.suffix.lower().removeprefix(".")
        if form not in FORMATS:
            raise ConfigurationError(
                f"the name of {str(opts.feed)!r} tells no format: give --format, one of "
                f"{', '.join(FORMATS)}; what is compressed has to be unpacked first"
            )
        if not opts.feed.is_file():
            raise FileError(f"there is no file {str(opts.feed)!r}")
        fields = {name: name for name in FINAL_VALUES} | dict(call.config.fields)
        address = call.config.address_field
        unknown = 0
        with call.open_store() as store:
            final = FinalValues(store, call.config)

            def change(item: Fields) -> Fields:
                nonlocal unknown
                record = final.record_at(item_address(item.get(address)))
                unknown += record is None
                return final.changes(record, item, fields) if record else {}

            options = FeedOptions(opts.encoding, opts.indent)
            done = rewrite_feed(opts.feed, form, change, options)
        have = "has" if unknown == 1 else "have"
        missing = f"; {counted(unknown, 'item')} {have} no stored page" if unknown else ""
        tell(f"{done.changed} of {counted(done.items, 'item')} got newer texts{missing}")
        return done.items > unknown and not final.has_unreadable_trees


def _encoding(name: str) -> str:
    try:
        "".encode(name)
    except LookupError:
        raise argparse.ArgumentTypeError(f"there is no encoding {name!r}") from None
    return name
