"""The worst pages of every text row as HTML: gold, kept and dropped text side by side.

A word of one text counts as found in another where four words in a row around it stand there as
well, or where its whole line does. Kept words not found in the gold text are noise; gold words not
found in the kept text are lost; dropped words that are found in the gold text are marked as lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

Tokens: TypeAlias = "Callable[[str], list[str]]"

SHINGLE = 4
# Runs of letters and digits; kana, Han and everything else one by one.
_PIECE = re.compile(r"\s+|[^\W_\u3005-\u30ff\u3400-\u9fff]+|.")
_STYLE = Path(__file__).with_suffix(".css")


@dataclass(frozen=True, slots=True)
class BadPage:
    """A scored page (the scorer's `Page`) with its texts; `visible` is all text of the page."""

    scored: Any
    url: str
    gold: str
    kept: str
    visible: str


def worst(pages: Iterable[Any], count: int) -> list[Any]:
    """The scored pages with the lowest bag F1, the worst first."""
    return sorted(pages, key=lambda page: (page.scores["bag"].f1, page.id))[:count]


def write_worst_pages(
    folder: Path, tokens: Tokens, pages: Mapping[str, Mapping[str, Sequence[BadPage]]]
) -> Path:
    """Write the pages of each corpus and text row, and an index of them; the index's path."""
    lines = ["<h1>Worst pages</h1>", "<p class=soft>Bag F1 of each text's worst pages.</p>"]
    for corpus, rows in pages.items():
        lines += [f"<h2>{escape(corpus)}</h2>", "<table>"]
        for row, group in rows.items():
            paths = [f"{corpus}/{row.replace(' ', '-')}/{n}.html" for n in range(1, len(group) + 1)]
            cells = []
            for number, (page, path) in enumerate(zip(group, paths, strict=True)):
                beside = {"previous": number - 1, "next": number + 1}
                links = [
                    f'<a href="{escape(Path(paths[n]).name)}">{name}</a>'
                    for name, n in beside.items()
                    if 0 <= n < len(paths)
                ]
                body = _page(tokens, f"{corpus}, {row}", page, links)
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                _write(target, page.scored.id, body)
                score, title = page.scored.scores["bag"].f1, escape(page.scored.id)
                cells.append(f'<td><a href="{escape(path)}" title="{title}">{score:.3f}</a></td>')
            lines.append(f"<tr><td>{escape(row)}</td>{''.join(cells)}</tr>")
        lines.append("</table>")
    index = folder / "index.html"
    folder.mkdir(parents=True, exist_ok=True)
    _write(index, "Worst pages", "\n".join(lines))
    return index


def dropped_lines(tokens: Tokens, visible: str, kept: str) -> list[str]:
    """The visible lines that are not kept: neither as a line, nor as part of a longer one."""
    lines = Counter(tuple(tokens(line)) for line in kept.splitlines())
    everything = f" {' '.join(tokens(kept))} "
    dropped = []
    for line in visible.splitlines():
        words = tuple(tokens(line))
        if lines[words]:
            lines[words] -= 1
        elif words and (len(words) <= SHINGLE or f" {' '.join(words)} " not in everything):
            dropped.append(line)
    return dropped


def _page(tokens: Tokens, title: str, page: BadPage, links: Sequence[str]) -> str:
    gold, kept = page.gold.splitlines(), page.kept.splitlines()
    dropped = dropped_lines(tokens, page.visible, page.kept)
    in_gold, in_kept = _Words(tokens, gold), _Words(tokens, kept)
    columns = (
        ("gold", "Gold", in_kept.marked(gold, "lost", found=False)),
        ("kept", "Kept", in_gold.marked(kept, "noise", found=False)),
        ("dropped", "Dropped", in_gold.marked(dropped, "lost", found=True)),
    )
    address = escape(page.url)
    if page.url.startswith(("http://", "https://")):
        address = f'<a href="{address}">{address}</a>'
    return "\n".join(
        [
            f'<nav><a href="../../index.html">All worst pages</a>{"".join(links)}</nav>',
            f"<h1>{escape(page.scored.id)}</h1>",
            f"<div class=soft>{escape(title)}, site {escape(page.scored.site)} {address}</div>",
            _score_table(page.scored),
            "<p><mark class=noise>kept, not in the gold text</mark> &nbsp; "
            "<mark class=lost>in the gold text, not kept</mark></p>",
            "<div class=columns>",
            *(
                f'<section id="{name}"><h2>{heading}</h2>\n{lines}</section>'
                for name, heading, lines in columns
            ),
            "</div>",
        ]
    )


def _score_table(scored: Any) -> str:
    rows = [
        f"<tr><td>{measure}</td>" + "".join(f"<td>{v:.3f}</td>" for v in (s.f1, s.p, s.r)) + "</tr>"
        for measure, s in scored.scores.items()
    ]
    header = "<tr><th>measure</th><th>F1</th><th>precision</th><th>recall</th></tr>"
    return f"<table>{header}{''.join(rows)}</table>"


def _write(path: Path, title: str, body: str) -> None:
    style = _STYLE.read_text(encoding="utf-8")
    document = (
        f"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{escape(title)}</title>\n"
        f"<style>\n{style}</style></head>\n<body>\n{body}\n</body></html>\n"
    )
    path.write_text(document, encoding="utf-8", errors="replace")


class _Words:
    """The words of a text, to find those of another text in."""

    def __init__(self, tokens: Tokens, lines: Sequence[str]) -> None:
        self._tokens = tokens
        split = [self._line_words(_pieces(line)) for line in lines]
        self._lines = set(map(tuple, split))
        self._shingles = set(_shingles([word for line in split for word in line]))

    def marked(self, lines: Sequence[str], mark: str, *, found: bool) -> str:
        """The lines as paragraphs; words that are found here (or are not) are marked."""
        split = [pieces for line in lines if (pieces := _pieces(line))]
        words: list[str] = []
        covered: list[bool] = []
        for pieces in split:
            line = self._line_words(pieces)
            words += line
            covered += [tuple(line) in self._lines] * len(line)
        for start, shingle in enumerate(_shingles(words)):
            if shingle in self._shingles:
                covered[start : start + SHINGLE] = [True] * SHINGLE
        verdicts = iter(covered)
        return "\n".join(
            f"<p dir=auto>{self._marked_line(pieces, verdicts, mark, found)}</p>"
            for pieces in split
        )

    def _marked_line(
        self, pieces: Sequence[str], verdicts: Iterator[bool], mark: str, found: bool
    ) -> str:
        """Spaces and punctuation take the mark of the word before them."""
        marks = []
        last = False
        for piece in pieces:
            own = [next(verdicts) for _ in self._tokens(piece)]
            if own:
                last = all(own) == found
            marks.append((last, piece))
        parts = []
        for is_marked, group in groupby(marks, key=lambda entry: entry[0]):
            text = "".join(piece for _, piece in group)
            inner = text.rstrip()
            wrapped = f"<mark class={mark}>{escape(inner)}</mark>" if is_marked else escape(inner)
            parts.append(wrapped + text[len(inner) :])
        return "".join(parts)

    def _line_words(self, pieces: Sequence[str]) -> list[str]:
        return [word for piece in pieces for word in self._tokens(piece)]


def _shingles(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[n : n + SHINGLE]) for n in range(len(words) - SHINGLE + 1)]


def _pieces(line: str) -> list[str]:
    return _PIECE.findall(unicodedata.normalize("NFC", line).strip())
