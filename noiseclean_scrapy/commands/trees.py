"""`export-tree`, `import-tree`: what a site's pages have taught, as a file and back."""

from __future__ import annotations

import argparse
import re
from contextlib import suppress
from pathlib import Path

from noiseclean_scrapy.batch.addresses import is_web_address
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.clusters.maintenance import import_cleaner, reading_tree
from noiseclean_scrapy.commands.base import (
    Call,
    Subcommand,
    add_database_option,
    add_output_option,
    crawled_name,
)
from noiseclean_scrapy.commands.files import STDIO, read_file, write_file
from noiseclean_scrapy.commands.output import tell
from noiseclean_scrapy.errors import NotStoredError, UnknownMethodError
from noiseclean_scrapy.page.characters import rounded

_UNUSABLE = re.compile(r"[^\w.-]+")
"""What the names of sites may have and the names of files should not."""


class ExportTree(Subcommand):
    name = "export-tree"
    syntax = "SITE [-o FILE] [options]"
    summary = "Write a site's newest tree to a file"
    details = (
        "Writes the bytes of the site's newest tree, which SiteCleaner.from_bytes reads, and "
        "`import-tree` puts into another database."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("site", metavar="SITE", help="as `noiseclean sites` names it")
        add_output_option(parser, "SITE.noiseclean")
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        with call.open_store() as store:
            site = call.find_site(store, call.opts.site)
        name = site.name
        if site.tree is None:
            raise NotStoredError(f"{name} has no tree yet: its crawl has not built one")
        with suppress(UnknownMethodError), reading_tree(name):
            SiteCleaner.from_bytes(site.tree)
        path = call.opts.output or Path(f"{_UNUSABLE.sub('-', name)}.noiseclean")
        write_file(path, site.tree)
        place = "stdout" if path == STDIO else path
        tell(f"Tree version {site.version} of {name} ({site.method}) is in {place}.")
        return True


class ImportTree(Subcommand):
    name = "import-tree"
    syntax = "SITE FILE [options]"
    summary = "Put a tree from a file into the database"
    details = (
        "Checks the file, and saves what is in it as the site's newest tree version; `reclean` "
        "cleans its pages with it. Where the site has a tree already, --replace takes "
        "the file's instead, --merge adds both up (they must come from different pages). A "
        "database that is not there is made."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("site", metavar="SITE", help="as `noiseclean sites` names it")
        parser.add_argument(
            "file", metavar="FILE", type=Path, help="what `noiseclean export-tree` has written"
        )
        way = parser.add_mutually_exclusive_group()
        way.add_argument("--replace", action="store_true", help="in place of the site's tree")
        way.add_argument("--merge", action="store_true", help="added to the site's tree")
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        opts = call.opts
        if not opts.site.strip(". "):
            opts.parser.error("the name of the site is empty")
        cleaner = SiteCleaner.from_bytes(read_file(opts.file))
        with call.create_store() as store:
            site = call.known_site(store, opts.site)
            # Names without a dot are those of a NOISECLEAN_CLUSTER_BY of the project.
            is_host = "." in opts.site or is_web_address(opts.site)
            name = crawled_name(opts.site) if is_host else opts.site
            name = site.name if site else name
            if site and site.tree:
                if not (opts.replace or opts.merge):
                    opts.parser.error(f"{name} has a tree: give --replace or --merge")
                if opts.merge:
                    with reading_tree(name):
                        own = SiteCleaner.from_bytes(site.tree)
                    own.merge(cleaner)
                    cleaner = own
            saved = import_cleaner(store, name, cleaner, call.config)
        tell(
            f"{name} has tree version {saved.version} ({saved.method}), "
            f"learned from {rounded(cleaner.pages):,} pages."
        )
        return True
