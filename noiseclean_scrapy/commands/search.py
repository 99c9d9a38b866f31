"""`search`: stored texts by their words."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from noiseclean_scrapy.commands.base import (
    Call,
    Subcommand,
    add_database_option,
    add_json_option,
    whole_number,
)
from noiseclean_scrapy.commands.output import print_json, tell
from noiseclean_scrapy.commands.terminal import stdout_console
from noiseclean_scrapy.page.characters import counted
from noiseclean_scrapy.store.search.query import parse_query
from noiseclean_scrapy.store.search.ranking import MATCH_END, MATCH_START

if TYPE_CHECKING:
    from noiseclean_scrapy.store.search.ranking import Hit, SearchResults

_MATCH = re.compile(f"{MATCH_START}(.*?){MATCH_END}", re.DOTALL)
# No option: -h, -L, -s, or one of these with its value joined to it.
_NOT_WORD = re.compile(
    r"-(?![hLs]$)(?!L(?i:debug|info|warning|error|critical)$)(?!s\w+=)[^-\s].*", re.DOTALL
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d([Tt ].*)?")


class Search(Subcommand):
    name = "search"
    syntax = "WORD... [options]"
    summary = "Search the stored texts"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "words",
            metavar="WORD",
            nargs="+",
            help="""phrases in quotation marks of their own: '"joint pass"'; """
            "-WORD for pages without it",
        )
        parser.add_argument("--site", metavar="SITE", help="only pages of this site")
        parser.add_argument("--language", metavar="CODE", help="only this language, such as en")
        parser.add_argument(
            "--since", metavar="DATE", type=_since, help="published on this day or later"
        )
        parser.add_argument(
            "--until", metavar="DATE", type=_until, help="published on this day or earlier"
        )
        parser.add_argument(
            "--limit",
            metavar="N",
            type=whole_number,
            default=10,
            help="most pages shown (default 10)",
        )
        add_json_option(parser)
        add_database_option(parser)

    def prepare(self, arguments: Sequence[str]) -> Sequence[str]:
        """With a blank before each -WORD, which is no option then."""
        return [f" {part}" if _NOT_WORD.fullmatch(part) else part for part in arguments]

    def run(self, call: Call) -> bool:
        opts = call.opts
        query = " ".join(opts.words)
        with call.open_store() as store:
            site = None if opts.site is None else call.find_site(store, opts.site).name
            results = store.search(
                query,
                site=site,
                language=opts.language,
                since=opts.since,
                until=opts.until,
                limit=opts.limit,
            )
            is_indexed = bool(results.total) or store.is_indexed
            is_empty = not results.total and not store.pages.count().pages
            languages = [] if results.total else store.languages()
        if opts.json:
            print_json({"total": results.total, "hits": [_hit_row(hit) for hit in results.hits]})
        else:
            _print_results(results)
        if not results.total and not any(part.wanted for part in parse_query(query)):
            tell("Words with - leave pages out of those that others find: name one without.")
        if opts.since and opts.until and opts.since > opts.until:
            tell("--since is later than --until.")
        if is_empty:
            tell(call.nothing_stored("page"))
        elif opts.language and not results.total and opts.language.lower() not in languages:
            known = ", ".join(languages) or "none"
            tell(f"No page is in {opts.language!r}; languages there: {known}.")
        elif not is_indexed:
            tell("Not all pages are in the index: noiseclean index")
        return results.total > 0


def _print_results(results: SearchResults) -> None:
    if not results.total:
        tell("Nothing found.")
        return
    console = stdout_console()
    for hit in results.hits:
        _print_hit(console, hit)
    shown, total = len(results.hits), results.total
    more = f", the best {shown} shown; --limit shows more" * (shown < total)
    tell(f"{counted(total, 'page')} found{more}")


def _print_hit(console: Console, hit: Hit) -> None:
    published = f"{hit.published:%Y-%m-%d}" if hit.published else ""
    facts = [hit.cluster, hit.language, published]
    console.print(Text(hit.title, style="bold"), soft_wrap=True)
    console.print(Text(hit.url, style="cyan"), soft_wrap=True)
    console.print(Text("  ".join(filter(None, facts)), style="dim"), soft_wrap=True)
    console.print(_highlighted(hit.snippet), soft_wrap=True)
    console.print()


def _highlighted(snippet: str) -> Text:
    text = Text()
    # Every second part is what the group of the pattern has matched.
    for number, part in enumerate(_MATCH.split(" ".join(snippet.split()))):
        text.append(part, style="bold yellow" if number % 2 else "")
    return text


def _hit_row(hit: Hit) -> dict[str, Any]:
    return {
        "key": hit.key,
        "url": hit.url,
        "site": hit.cluster,
        "title": hit.title,
        "language": hit.language,
        "published": hit.published,
        "score": hit.score,
        "snippet": hit.marked("<mark>", "</mark>"),
    }


def _since(text: str) -> datetime:
    """A day or a time, in UTC unless it says otherwise.

    >>> _since("2026-02-01").isoformat()
    '2026-02-01T00:00:00+00:00'
    """
    try:
        if not _TIME.fullmatch(text):
            raise ValueError(text)
        # Python 3.10 does not read the Z.
        time = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", text))
        return time.astimezone(timezone.utc) if time.tzinfo else time.replace(tzinfo=timezone.utc)
    except (OverflowError, ValueError):
        raise argparse.ArgumentTypeError(
            f"expected a day such as 2026-01-31, not {text!r}"
        ) from None


def _until(text: str) -> datetime:
    """As `_since`; a day lasts to its end.

    >>> _until("2026-02-01").isoformat()
    '2026-02-01T23:59:59.999999+00:00'
    """
    time = _since(text)
    is_day = len(text) == len("2026-02-01")
    return time + timedelta(days=1, microseconds=-1) if is_day else time
