"""`show`: one stored page, as text or in another form."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from rich.text import Text

from noiseclean_scrapy.commands.base import Call, Subcommand, add_database_option, add_json_option
from noiseclean_scrapy.commands.judging import judge, stored_html
from noiseclean_scrapy.commands.output import print_json, print_text, tell
from noiseclean_scrapy.commands.terminal import stdout_console
from noiseclean_scrapy.output.rows import page_row

_FACTS = ("site", "author", "published", "language", "canonical_url", "image", "fetched_at")


class Show(Subcommand):
    name = "show"
    syntax = "URL [options]"
    summary = "Print a stored page: its text and what is known of it"
    details = (
        "Prints the stored text below what is known of the page. --html and --markdown print the "
        "content as the site's newest tree cleans it, --raw the HTML as it was fetched."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("url", metavar="URL", help="the address of a stored page")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--html", action="store_true", help="the content as plain HTML")
        form.add_argument("--markdown", action="store_true", help="the content as Markdown")
        form.add_argument("--raw", action="store_true", help="the page's HTML as it was fetched")
        add_json_option(form)
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        opts = call.opts
        with call.open_store() as store:
            record = call.find_page(store, opts.url)
            if opts.raw:
                print_text(stored_html(store, record))
            elif opts.html or opts.markdown:
                page = judge(store, record, call).page
                print_text(page.html if opts.html else page.markdown)
            elif record.cleaned is None:
                tell(f"{record.url} has no text: no item of it passed the pipelines.")
                return False
            elif opts.json:
                print_json(page_row(record))
            else:
                _print_page(page_row(record))
        return True


def _print_page(row: dict[str, Any]) -> None:
    console = stdout_console()
    console.print(Text(row["title"], style="bold"), soft_wrap=True)
    console.print(Text(row["url"], style="cyan"), soft_wrap=True)
    for name in _FACTS:
        if value := row[name]:
            label = Text(f"{name.replace('_', ' ')}: ", style="dim")
            console.print(label.append(_in_words(value), style="not dim"), soft_wrap=True)
    console.print()
    console.print(Text(row["text"]), soft_wrap=True)


def _in_words(value: str | datetime) -> str:
    return f"{value:%Y-%m-%d %H:%M} UTC" if isinstance(value, datetime) else value
