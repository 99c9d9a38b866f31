"""`sites`: what is stored, one line a site."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from noiseclean_scrapy.commands.base import Call, Subcommand, add_database_option, add_json_option
from noiseclean_scrapy.commands.output import print_json, tell
from noiseclean_scrapy.commands.terminal import natural_width, new_table, stdout_console

if TYPE_CHECKING:
    from noiseclean_scrapy.store import SiteSummary

_LEAST = ("method", "provisional", "texts", "last page", "tree", "drift", "noise")
"""Columns that a narrow terminal has where there is room, the last of these first."""
_NUMBERS = frozenset({"pages", "texts", "provisional", "tree", "noise", "drift"})


class Sites(Subcommand):
    name = "sites"
    summary = "List the stored sites: pages, trees, noise, drift"
    details = (
        "Lists the page clusters in the database. `texts` are pages with a text, `provisional` "
        "those that the newest tree has not learned yet; `noise` is the share of characters left "
        "out; `drift` is the share of text on the newest pages at places that the tree does not "
        "know: it rises when a site changes."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        add_json_option(parser)
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        with call.open_store() as store:
            sites = store.clusters.summaries()
        if call.opts.json:
            print_json([{**asdict(s), "noise": s.noise, "drift": s.drift} for s in sites])
        elif sites:
            _print_sites(sites)
        else:
            tell(call.nothing_stored("site"))
        return bool(sites)


def _print_sites(sites: list[SiteSummary]) -> None:
    """A table, without the columns for which a terminal has no room; the names stay whole."""
    rows = [_texts(site) for site in sites]
    console = stdout_console()
    columns = [name for name in rows[0] if name not in _LEAST]
    for name in reversed(_LEAST):
        more = [column for column in rows[0] if column in (*columns, name)]
        if natural_width(_table(rows, more)) <= console.width:
            columns = more
    console.print(_table(rows, columns))
    if left_out := [name for name in rows[0] if name not in columns]:
        tell(f"No room for {', '.join(left_out)}: widen the terminal, or use --json.")


def _table(rows: list[dict[str, str]], columns: list[str]) -> Table:
    table = new_table(*columns, right=_NUMBERS)
    table.columns[0].overflow = "fold"
    for row in rows:
        table.add_row(*(Text(row[name]) for name in columns))
    return table


def _texts(site: SiteSummary) -> dict[str, str]:
    return {
        "site": site.name,
        "method": site.method,
        "pages": str(site.pages),
        "texts": str(site.with_text),
        "provisional": str(site.provisional),
        "tree": str(site.version) if site.version else "none yet",
        "noise": _percent(site.noise),
        "drift": _percent(site.drift),
        "last page": f"{site.last_fetch:%Y-%m-%d %H:%M}" if site.last_fetch else "",
    }


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"
