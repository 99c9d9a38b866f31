"""The report at the end of a crawl: figures, scores, one page before and after."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from rich import box
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from example_project.outcome import Outcome, ScoredPage, visible_lines
from example_project.scoring import Score, mean_score
from example_project.settings import NOISECLEAN_DATABASE_URL
from noiseclean_scrapy.store import Cleaned, PageRecord

_SAMPLE_LINES = 12


def print_report(
    console: Console, outcome: Outcome, trees: int, clusters: int, database: str
) -> None:
    """Print what a crawl came to; `database` is the URL to show."""
    if isinstance(console.file, io.TextIOWrapper):
        # A letter that the output's encoding lacks must not cost the whole report.
        console.file.reconfigure(errors="replace")
    console.print()
    if not outcome.pages:
        console.print("No page has a clean text; the log tells why, with -L DEBUG in detail.")
        return
    console.print(_crawl_table(outcome, trees, clusters))
    if outcome.scored:
        console.print(_score_table(outcome.scored))
    if outcome.sample and outcome.sample.cleaned:
        _print_sample(console, outcome.sample, outcome.sample.cleaned)
    _print_hints(console, outcome, database)


def _crawl_table(outcome: Outcome, trees: int, clusters: int) -> Table:
    table = Table("The crawl", "", box=box.SIMPLE_HEAD)
    table.columns[0].min_width = 33
    table.columns[1].justify = "right"
    table.columns[1].min_width = 9
    table.add_row("Pages with clean text", str(outcome.pages))
    table.add_row("Page clusters", str(clusters))
    table.add_row("Tree versions", str(trees))
    table.add_row("Characters removed", f"{outcome.removed:.1%}")
    return table


def _score_table(scored: list[ScoredPage]) -> Table:
    table = Table("Compared with the known content", box=box.SIMPLE_HEAD)
    table.columns[0].min_width = 33
    table.add_column("Precision", justify="right")
    table.add_column("Recall", justify="right")
    articles = [page for page in scored if page.page.kind == "article"]
    for name, pages in (("pages", scored), ("articles", articles)):
        if pages:
            visible = mean_score([page.visible for page in pages])
            cleaned = mean_score([page.cleaned for page in pages])
            count = f"{len(pages)} {name}"
            table.add_row(f"{count}, all visible text", *_percentages(visible), style="dim")
            table.add_row(f"{count}, cleaned", *_percentages(cleaned), style="bold")
    return table


def _percentages(score: Score) -> tuple[str, str]:
    return f"{score.precision:.1%}", f"{score.recall:.1%}"


def _print_sample(console: Console, page: PageRecord, cleaned: Cleaned) -> None:
    before = [
        Text(f"  {line}") if kept else Text(f"- {line}", style="dim")
        for line, kept in visible_lines(cleaned)
    ]
    removed = sum(line.plain.startswith("-") for line in before)
    after = [Text(f"  {line}") for line in cleaned.text.splitlines()]
    console.print(Text(page.url, style="bold"), soft_wrap=True)
    _print_lines(console, f"Before: {len(before)} lines, {removed} of them (-) noise", before)
    _print_lines(console, f"After: {len(after)} lines", after)


def _print_lines(console: Console, title: str, lines: list[Text]) -> None:
    console.print(Rule(Text(title), align="left", style="dim"))
    for line in lines[:_SAMPLE_LINES]:
        console.print(line, no_wrap=True, overflow="ellipsis")
    if len(lines) > _SAMPLE_LINES:
        console.print(Text("  ...", style="dim"))
    console.print()


def _print_hints(console: Console, outcome: Outcome, database: str) -> None:
    # The way it was called is the way to call it again; `python -m scrapy` shows a file.
    called = Path(sys.argv[0])
    program = "noiseclean" if called.suffix == ".py" else called.with_name("noiseclean")
    there = "" if database == NOISECLEAN_DATABASE_URL else f" --database {database}"
    commands = ["sites", "search harbour" if outcome.scored else "search WORDS"]
    if outcome.sample:
        commands.append(f"explain {outcome.sample.url}")
    commands += ["serve", "crawl https://..."]
    lines = [Text(f"Stored in  {database}")]
    for number, command in enumerate(commands):
        line = Text(" " * 11 if number else "Try next   ")
        lines.append(line.append(f"{program} {command}{there}", style="cyan"))
    for line in lines:
        # To be copied: a line that is broken is none.
        console.print(line, soft_wrap=True)
