"""Tables of the figures, for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rich.table

from benchmarks.learning import CLEARLY
from benchmarks.scores import GOLD, MEASURES, RECIPE_LINES, REPEATED_SHARE


@dataclass(frozen=True, slots=True)
class Table:
    """A title, a header, and rows of cells; a cell may have several lines."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def to_rich(self) -> rich.table.Table:
        """For a terminal."""
        table = rich.table.Table(*self.header, title=self.title)
        for row in self.rows:
            table.add_row(*row)
        return table

    def to_markdown(self) -> str:
        """As a section of a document."""
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        cells = ["| " + " | ".join(line).replace("\n", "<br>") + " |" for line in lines]
        return "\n".join([f"## {self.title}", "", *cells, ""])


def quality_tables(results: Mapping[str, Any]) -> Iterator[Table]:
    """The tables of all corpora, from their reports."""
    with_gold = {corpus: report for corpus, report in results.items() if "parts" in report}
    if with_gold:
        yield from _gold_tables(with_gold)
    for corpus, report in results.items():
        if "segments" in report:
            yield _segment_table(corpus, report["segments"])
        if "recipes" in report:
            yield _recipe_table(corpus, report["recipes"])


def _gold_tables(results: Mapping[str, Any]) -> Iterator[Table]:
    columns = list(_columns(results))
    rows = list(next(iter(columns))[1]["texts"])
    names = ["text", *(name for name, _ in columns)]
    yield Table(
        "F1: bag / 4-gram / LCS, and the interval of bag",
        names,
        [[row, *(measures(part["texts"][row]) for _, part in columns)] for row in rows],
    )
    methods = list(columns[0][1].get("differences", ()))
    if methods:
        best = [part["best_peer"] for _, part in columns]
        yield Table(
            "Bag F1 minus that of the best peer",
            names,
            [["best peer", *best]]
            + [[m, *(difference(part["differences"][m]) for _, part in columns)] for m in methods],
        )
        yield Table(
            "Pages in a hundred of which another tool's text is better by 0.05 or more",
            names,
            [[m, *(hundredths(part, m) for _, part in columns)] for m in methods],
        )
    yield Table(
        "Bag precision / recall",
        names,
        [[row, *(precision_recall(part["texts"][row]) for _, part in columns)] for row in rows],
    )
    repetition = {corpus: r["repetition"] for corpus, r in results.items() if r["repetition"]}
    if repetition:
        yield _repetition_table(repetition, [GOLD, *rows])
    for kind, title in (("languages", "By language"), ("labels", "By type of page")):
        groups = [
            (f"{corpus}\n{name} ({group['pages']})", group["texts"])
            for corpus, report in results.items()
            for name, group in report["groups"].get(kind, {}).items()
        ]
        if groups:
            yield Table(
                f"{title}: bag F1",
                ["text", *(name for name, _ in groups)],
                [[row, *(f"{texts[row]['bag']:.3f}" for _, texts in groups)] for row in rows],
            )
    for corpus, report in results.items():
        sites = report["groups"].get("sites")
        if sites:
            yield Table(
                f"{corpus} by site: bag F1",
                ["site", "pages", *rows],
                [
                    [site, str(g["pages"]), *(f"{g['texts'][row]['bag']:.3f}" for row in rows)]
                    for site, g in sites.items()
                ],
            )


def _repetition_table(repetition: Mapping[str, Any], rows: Sequence[str]) -> Table:
    return Table(
        f"Repetition: % of characters in lines on {REPEATED_SHARE:.0%} or more of a site's pages",
        ["text", *(_title(corpus, report) for corpus, report in repetition.items())],
        [
            [row, *(_percent(report["texts"][row]) for report in repetition.values())]
            for row in rows
        ],
    )


def _segment_table(corpus: str, report: Mapping[str, Any]) -> Table:
    header = ["text", "F1", "precision", "recall", "accuracy"]
    rows = [
        [row, interval([t["f1"], t["low"], t["high"]])]
        + [f"{t[measure]:.3f}" for measure in ("p", "r", "accuracy")]
        for row, t in report["texts"].items()
    ]
    if "best_peer" in report:
        header.append(f"F1 minus that of {report['best_peer']}")
        for cells in rows:
            gap = report["differences"].get(cells[0])
            cells.append(signed(list(gap.values())) if gap else "")
    counts = f"{report['with']} segments to keep, {report['without']} to drop"
    return Table(f"{_title(corpus, report)}, {counts}".replace("\n", ": "), header, rows)


def _recipe_table(corpus: str, report: Mapping[str, Any]) -> Table:
    rows = [
        [
            row,
            *(interval(list(text[kind].values())) for kind in RECIPE_LINES),
            f"{text['characters']:,}",
        ]
        for row, text in report["texts"].items()
    ]
    title = _title(corpus, report).replace("\n", ": ")
    counts = ", ".join(f"{report[kind]:,} {kind}" for kind in RECIPE_LINES)
    header = ["text", *(f"{kind} kept" for kind in RECIPE_LINES), "characters a page"]
    return Table(f"{title}, {counts}", header, rows)


def curve_tables(report: Mapping[str, Any]) -> Iterator[Table]:
    """One table for each set of sites of a learning curve, and one of what the first pages add."""
    for curve in report["curves"]:
        counts = [str(count) for count in curve["counts"]]
        yield Table(
            f"Bag F1 by pages seen: {curve['sites']} sites of {curve['least_pages']} pages "
            f"or more, {curve['pages']} pages scored",
            ["method", *counts, f"{counts[-1]} minus {counts[0]}"],
            [
                [
                    method,
                    *(interval(points["f1"][count]["bag"]) for count in counts),
                    signed(points["gain"]["bag"]),
                ]
                for method, points in curve["methods"].items()
            ],
        )
    first = report.get("first pages")
    if first:
        changes = first["sites"]
        yield Table(
            f"Bag F1 of {first['method']} by pages seen, minus that of one page alone",
            ["corpus", *changes],
            [
                *(
                    [corpus, *(signed(gain[count]) if count in gain else "" for count in changes)]
                    for corpus, gain in first["gain"].items()
                ),
                ["sites", *(str(change["sites"]) for change in changes.values())],
                [f"worse by {CLEARLY}", *(str(change["worse"]) for change in changes.values())],
                [f"better by {CLEARLY}", *(str(change["better"]) for change in changes.values())],
            ],
        )


def hundredths(part: Mapping[str, Any], method: str) -> str:
    """The pages in a hundred of which another tool's text is clearly better."""
    share = part.get("behind", {}).get(method)
    return "" if share is None else f"{100 * share:.1f}"


def _columns(results: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The parts of the corpora; all pages only where sites of few pages are among them."""
    for corpus, report in results.items():
        parts = report["parts"]
        whole, many = parts["all"], parts.get("many")
        if many:
            yield _title(corpus, many), many
        if not many or many["pages"] < whole["pages"]:
            yield _title(f"{corpus}, sites of any size" if many else corpus, whole), whole


def _title(name: str, part: Mapping[str, Any]) -> str:
    return f"{name}\n{part['pages']} pages, {part['sites']} sites"


def measures(scores: Mapping[str, Mapping[str, float]]) -> str:
    bag = scores["bag"]
    values = " / ".join(f"{scores[measure]['f1']:.3f}" for measure in MEASURES)
    return f"{values}\n[{bag['low']:.3f}, {bag['high']:.3f}]"


def difference(scores: Mapping[str, Mapping[str, float]]) -> str:
    bag = scores["bag"]
    return signed([bag["f1_difference"], bag["low"], bag["high"]])


def precision_recall(scores: Mapping[str, Mapping[str, float]]) -> str:
    return f"{scores['bag']['p']:.3f} / {scores['bag']['r']:.3f}"


def interval(values: Sequence[float], decimals: int = 3) -> str:
    """A value and the bounds of its interval, as a cell of two lines."""
    value, low, high = (f"{value:.{decimals}f}" for value in values)
    return f"{value}\n[{low}, {high}]"


def _percent(figures: Mapping[str, float]) -> str:
    return interval([100 * figure for figure in figures.values()], 1)


def signed(values: Sequence[float]) -> str:
    """A difference and the bounds of its interval, as a cell of two lines."""
    return f"{values[0]:+.3f}\n[{values[1]:+.3f}, {values[2]:+.3f}]"
