"""`explain`: every block of a page, kept or dropped, and why."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from noiseclean_scrapy.commands.base import (
    Call,
    Subcommand,
    add_database_option,
    add_json_option,
)
from noiseclean_scrapy.commands.judging import Judgement, judge, judge_file
from noiseclean_scrapy.commands.output import print_json, tell
from noiseclean_scrapy.commands.terminal import stdout_console
from noiseclean_scrapy.page.characters import counted
from noiseclean_scrapy.report.reasons import (
    MOST_BLOCKS,
    block_row,
    is_kept,
    parts,
    plain_reasons,
    reasons,
    verdict_in_words,
)

if TYPE_CHECKING:
    from noiseclean_scrapy.clean_page import CleanPage
    from noiseclean_scrapy.page.block import Block

_INDENT = 10
_REASONS = 4


class Explain(Subcommand):
    name = "explain"
    syntax = "URL|FILE [options]"
    summary = "Say of every block of a page why it was kept or dropped"
    details = (
        "Judges a stored page again with its site's newest tree, or an HTML file by itself (with "
        "--site: by a stored site's tree). Each block comes with the three reasons that decided; "
        "--all adds its score in [0, 1] and all that spoke for it (+) and against it (-), as "
        "numbers. The last line accounts for every visible character."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "page", metavar="URL|FILE", help="the address of a stored page, or an HTML file"
        )
        parser.add_argument("--site", metavar="SITE", help="judge FILE by the tree of this site")
        parser.add_argument("--full", action="store_true", help="do not shorten texts")
        parser.add_argument("--all", action="store_true", help="each block by itself, all numbers")
        add_json_option(parser)
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        opts = call.opts
        if "://" in opts.page:
            if opts.site:
                opts.parser.error("--site is for a FILE: a stored page has its site")
            with call.open_store() as store:
                judgement = judge(store, call.find_page(store, opts.page), call)
        else:
            judgement = judge_file(Path(opts.page), call, opts.site)
        page = judgement.page
        if opts.json:
            print_json(_page_row(judgement))
        elif page.blocks:
            _print_page(stdout_console(), judgement, full=opts.full, numbers=opts.all)
        if len(page.blocks) > MOST_BLOCKS:
            left_out = counted(len(page.blocks) - MOST_BLOCKS, "further block")
            tell(f"{opts.page}: {left_out} not shown: of a page the first {MOST_BLOCKS} are")
        if page.problem:
            tell(f"{opts.page}: {page.problem}")
        return bool(page.blocks)


def account(page: CleanPage) -> str:
    """Where every visible character of the page went.

    >>> from noiseclean_scrapy import SiteCleaner
    >>> account(SiteCleaner("style-tree").clean("<h1>News</h1><p>Fog closes the port"))
    '23 characters kept (2 blocks) + 0 dropped (0 blocks) = 23 visible characters'
    """
    kept = [len(block.text) for block in page.blocks if is_kept(page, block)]
    dropped = [len(block.text) for block in page.blocks if not is_kept(page, block)]
    line = (
        f"{sum(kept)} characters kept ({len(kept)} blocks) + {sum(dropped)} dropped "
        f"({len(dropped)} blocks) = {page.visible_characters} visible characters"
    )
    lost = page.characters_lost
    return line + f"; the parser lost about {lost} more" * (lost > 0)


def _print_page(console: Console, judgement: Judgement, *, full: bool, numbers: bool) -> None:
    page = judgement.page
    console.print(Text(page.title, style="bold"), soft_wrap=True)
    if page.url:
        console.print(Text(page.url, style="cyan"), soft_wrap=True)
    console.print(Text(_judge_in_words(judgement), style="dim"), soft_wrap=True)
    console.print()
    if numbers:
        for block in page.blocks[:MOST_BLOCKS]:
            sentence = verdict_in_words(block, headline=page.headline is block)
            lines = [sentence, *_sums(block)]
            _print_blocks(console, page, [block], f"  {block.score:.2f} ", lines, full=full)
    else:
        # What follows one another and was left out for the same reasons stands on one line.
        for _, run in groupby(page.blocks[:MOST_BLOCKS], key=partial(_reasons_to_leave_out, page)):
            blocks = list(run)
            sentence = verdict_in_words(blocks[0], headline=page.headline is blocks[0])
            why = sentence.partition(": ")[2].removesuffix(".")
            _print_blocks(console, page, blocks, "  ", [why], full=full)
    console.print(Text(account(page), style="bold"), soft_wrap=True)


def _judge_in_words(judgement: Judgement) -> str:
    if not judgement.site:
        return f"judged by {judgement.method}, by the page alone"
    tree = f"tree version {judgement.version}" if judgement.version else "the pages so far, no tree"
    return f"judged by {judgement.method}, {tree} of {judgement.site}"


def _reasons_to_leave_out(page: CleanPage, block: Block) -> object:
    """What blocks on one line have in common; of a kept block its own place."""
    if is_kept(page, block):
        return id(block)
    words = verdict_in_words(block, headline=False)
    return block.rule, frozenset(plain_reasons(block)) or words


def _print_blocks(
    console: Console,
    page: CleanPage,
    blocks: Sequence[Block],
    score: str,
    lines: Sequence[str],
    *,
    full: bool,
) -> None:
    kept = is_kept(page, blocks[0])
    head = Text.assemble(
        ("kept   " if kept else "dropped", "green" if kept else "red"),
        (score, "bold"),
    )
    more = f" ({len(blocks)} blocks)" if len(blocks) > 1 else ""
    text = Text(" · ".join(map(page.shown_text, blocks)), style="" if kept else "dim")
    if not full:
        room = console.width - len(head) - 1 if console.is_terminal else 100
        text.truncate(max(room - len(more), 20), overflow="ellipsis")
    console.print(head.append_text(Text(" ")).append_text(text).append(more), soft_wrap=True)
    for line in lines:
        console.print(Padding(Text(line, style="dim"), (0, 0, 0, _INDENT), expand=False))


def _sums(block: Block) -> list[str]:
    """The kinds of evidence and what they add, then the strongest reasons."""
    lines = []
    if kinds := parts(block.evidence):
        needed = block.evidence["threshold"]
        total = f"log-odds {block.evidence['log_odds']:+.1f}, {needed:.1f} needed: "
        lines.append(total + ", ".join(f"{kind} {value:+.1f}" for kind, value in kinds))
    named = [
        f"{reason.value:+.1f} {reason.words}"
        if reason.signed
        else f"{reason.words} {reason.value:.3g}"
        for reason in reasons(block.evidence)
    ]
    return lines + ["; ".join(named[:_REASONS])] * bool(named)


def _page_row(judgement: Judgement) -> dict[str, Any]:
    page = judgement.page
    return {
        "url": page.url,
        "title": page.title,
        "site": judgement.site,
        "method": judgement.method,
        "tree_version": judgement.version,
        "visible_characters": page.visible_characters,
        "kept_characters": page.kept_characters,
        "blocks": [block_row(page, block) for block in page.blocks[:MOST_BLOCKS]],
    }
