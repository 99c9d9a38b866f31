"""`inspect`: a site or a page as an HTML report to look at."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path

from noiseclean_scrapy.batch.addresses import slug
from noiseclean_scrapy.commands.base import (
    Call,
    Subcommand,
    add_database_option,
    add_output_option,
)
from noiseclean_scrapy.commands.files import is_replaced, write_file
from noiseclean_scrapy.commands.judging import judge
from noiseclean_scrapy.commands.output import tolerate_encoding
from noiseclean_scrapy.report import page_report, site_report


class Inspect(Subcommand):
    name = "inspect"
    syntax = "SITE|URL [-o FILE] [options]"
    summary = "Write a report of a site or a page and open it in the browser"
    details = (
        "Writes one HTML file that needs nothing else, prints its name and opens it in the "
        "browser: for a site its pages, its tree and how it changed; for a page every block."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("subject", metavar="SITE|URL")
        add_output_option(parser, "noiseclean-SITE.html")
        parser.add_argument("--no-open", action="store_true", help="do not open the browser")
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        subject = call.opts.subject
        with call.open_store() as store:
            if "://" in subject:
                judgement = judge(store, call.find_page(store, subject), call)
                report = page_report(judgement.page, judgement.html)
            else:
                subject = call.find_site(store, subject).name
                report = site_report(store, subject, config=call.config)
        path: Path = call.opts.output or Path(f"noiseclean-{slug(subject)}.html")
        write_file(path, report.encode("utf-8", "replace"))
        if not is_replaced(path):
            return True
        tolerate_encoding(sys.stdout)
        print(path)
        if not call.opts.no_open:
            webbrowser.open(path.resolve().as_uri())
        return True
