"""The benchmarks: figures of a corpus that are known by hand, learning curves, reports, bounds."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from lxml import html

from benchmarks import extraction, left_out, quality, robustness
from benchmarks.corpora import SHARED, read_manifest
from benchmarks.measuring import in_new_process
from benchmarks.scores import (
    behind,
    count_segments,
    repeated_characters,
    repetition_report,
    segment_report,
)
from benchmarks.worst_pages import BadPage, dropped_lines, write_worst_pages
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.methods.tree_method import TreeMethod
from tests.support.corpora import needs_scorer, write_corpus

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/status").is_file(), reason="peak memory is measured on Linux only"
)

SITES = {"a.example": ("en", 4), "b.example": ("de-AT", 12)}
"""Language, and words of the menu; an article has six words, a site ten pages."""
PAGES = 10
LETTERS = "abcdefghij"
WORDS = re.compile(r"\w+").findall


def write_sites(folder: Path, *, gold: bool = True, segments: bool = False) -> Path:
    """A corpus of two sites, each page a menu and an article."""
    rows = []
    for site, (language, words) in SITES.items():
        menu = "".join(f"<li>menu{number}</li>" for number in range(words))
        for number in range(PAGES):
            # Letters alone: digits are masked where texts are compared.
            article = " ".join(LETTERS[number] * 3 + LETTERS[word] * 3 for word in range(6))
            page = f"<html><body><ul>{menu}</ul><div><p>{article}</p></div></body></html>"
            row: dict[str, Any] = {
                "id": f"{site}-{number}",
                "site": site,
                "url": f"http://{site}/{number}",
                "lang": language,
                "label": "article",
                "html": page,
                "gold": article if gold else None,
            }
            if segments:
                row |= {"with": [article[:20], "not there"], "without": ["menu0", "menu5"]}
            rows.append(row)
    return write_corpus(folder, rows)


@pytest.fixture(name="shared")
def shared_folder(tmp_path: Path) -> Path:
    """A folder with the real scorer and peers, and a corpus of our own."""
    shared = tmp_path / "shared"
    write_sites(shared / "corpora/tiny")
    (shared / "bench").symlink_to(SHARED / "bench")
    return shared


def run(shared: Path, *options: str) -> dict[str, Any]:
    out = shared / "report.json"
    arguments = ["--shared", str(shared), "--corpus", "tiny", "--out", str(out), *options]
    assert quality.main(arguments) == 0
    report: dict[str, Any] = json.loads(out.read_text())
    return report


def test_pages_of_which_another_tool_is_better_are_counted() -> None:
    def pages(*f1: float) -> list[SimpleNamespace]:
        scores = enumerate({"bag": SimpleNamespace(f1=value)} for value in f1)
        return [SimpleNamespace(id=str(number), scores=found) for number, found in scores]

    scored = {"evidence": pages(1, 0.9, 0.5), "style-tree": pages(1, 1, 1)}
    scored |= {"no cleaning": pages(1, 1, 1), "one": pages(0.9, 0.96, 0.4)}
    scored |= {"other": pages(0.9, 0.9, 0.56)}
    assert behind(scored, "evidence", ("evidence", "style-tree")) == 0.6667


@needs_scorer
def test_left_out_texts_are_scored_by_kind(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, out = shared / "texts", shared / "left_out.json"
    corpus = shared / "corpora/tiny"
    rows = read_manifest(corpus)
    (texts / "tiny").mkdir(parents=True)
    golds = {row["id"]: (corpus / row["gold"]).read_text() for row in rows}
    for row, factor in {"no cleaning": 4, **dict.fromkeys(left_out.LEANS, 1)}.items():
        lines = [json.dumps({"id": i, "text": " ".join([g] * factor)}) for i, g in golds.items()]
        (texts / f"tiny/{row}.jsonl").write_text("\n".join(lines))
    options = ["--shared", str(shared), "--texts", str(texts), "--out", str(out)]
    assert left_out.main([*options, "--corpus", "tiny", "--peer", "lxml-text"]) == 0
    kinds = json.loads(out.read_text())["results"]["tiny"]["kinds"]
    assert kinds["all"] == kinds["article"]
    part = kinds["article"]
    assert (part["pages"], part["best_peer"]) == (20, "lxml-text")
    # Four times the article: a quarter of the words is right, F1 is 2 / (1 + 4).
    assert part["texts"]["no cleaning"]["bag"]["f1"] == 0.4
    assert part["texts"]["evidence-recall"]["lcs"]["f1"] == 1
    # The peer keeps 10 or 18 words for 6.
    assert part["differences"]["evidence"]["bag"]["f1_difference"] == 0.375
    assert part["behind"] == dict.fromkeys(left_out.LEANS, 0.0)
    printed = capsys.readouterr().out
    assert "tiny, left-out sites" in printed


@pytest.mark.slow
@needs_scorer
def test_figures_are_those_known_by_hand(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    worst, markdown, texts = shared / "worst", shared / "tables.md", shared / "texts"
    options = ["--method", "style-tree", "--peer", "lxml-text", "--texts", str(texts)]
    options += ["--worst", "2", "--worst-out", str(worst), "--markdown", str(markdown)]
    report = run(shared, *options)
    tiny = report["results"]["tiny"]
    assert list(tiny["parts"]) == ["all", "many"]
    part = tiny["parts"]["many"]
    assert (part["pages"], part["sites"]) == (20, 2)
    # Bag: 6 of 10 words and 6 of 18 are content; 4-grams: 3 of 7 and 3 of 15.
    visible = part["texts"]["no cleaning"]
    assert visible["bag"] == {"f1": 0.625, "low": 0.5, "high": 0.75, "p": 0.4667, "r": 1.0}
    assert visible["gram4"]["f1"] == pytest.approx((0.6 + 1 / 3) / 2, abs=1e-4)
    assert visible["lcs"]["f1"] == 0.625
    assert part["texts"]["style-tree"]["bag"] == dict.fromkeys(("f1", "low", "high", "p", "r"), 1)
    assert part["texts"]["lxml-text"] == visible
    assert part["best_peer"] == "lxml-text"
    difference = part["differences"]["style-tree"]["bag"]
    assert difference == {"f1_difference": 0.375, "low": 0.25, "high": 0.5}
    assert tiny["pages_without_text"] == {"no cleaning": 0, "style-tree": 0, "lxml-text": 0}

    # An article has 41 characters in its line; a menu's lines are on all pages: 5 characters
    # each, and "menu0" when digits are masked.
    repetition = tiny["repetition"]
    assert (repetition["pages"], repetition["sites"]) == (20, 2)
    assert repetition["texts"]["gold"] == {"share": 0, "low": 0, "high": 0}
    assert repetition["texts"]["style-tree"]["share"] == 0
    assert repetition["texts"]["no cleaning"] == {
        "share": round(80 / (80 + 82), 4),
        "low": round(20 / (20 + 41), 4),
        "high": round(60 / (60 + 41), 4),
    }
    assert repetition["texts"]["lxml-text"] == repetition["texts"]["no cleaning"]

    groups = tiny["groups"]
    assert {name: group["pages"] for name, group in groups["languages"].items()} == {
        "en": 10,
        "de": 10,
    }
    assert groups["languages"]["de"]["texts"]["no cleaning"]["bag"] == 0.5
    assert groups["sites"]["a.example"]["texts"]["no cleaning"]["bag"] == 0.75
    assert groups["labels"]["article"]["texts"]["style-tree"]["lcs"] == 1

    tables = markdown.read_text()
    assert "| no cleaning | 0.625 / 0.467 / 0.625<br>[0.500, 0.750] |" in tables
    assert "| no cleaning | 49.4<br>[32.8, 59.4] |" in tables
    printed = capsys.readouterr().out
    assert "0.625 / 0.467 / 0.625" in printed
    assert "0.500  tiny  no cleaning  b.example-0" in printed
    assert [path.name for path in texts.rglob("*.jsonl")] == ["lxml-text.jsonl"]

    index = html.parse(worst / "index.html")
    links = index.xpath("//table//a/@href")
    assert len(links) == 6
    assert all((worst / link).is_file() for link in links)
    noisy = html.parse(worst / "tiny/no-cleaning/1.html")
    marked = noisy.xpath("//section[@id='kept']//mark[@class='noise']/text()")
    assert marked == [f"menu{number}" for number in range(12)]
    clean = html.parse(worst / "tiny/style-tree/1.html")
    assert not clean.xpath("//section//mark")
    assert len(clean.xpath("//section[@id='dropped']/p")) == 4
    article = clean.xpath("//section[@id='gold']/p/text()")
    assert article == clean.xpath("//section[@id='kept']/p/text()") != []


@pytest.mark.slow
@needs_scorer
def test_kept_texts_of_peers_are_used_again_and_missing_peers_left_out(
    shared: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality, "is_installed", lambda name: name != "newspaper4k")
    kept = shared / "texts/tiny/lxml-text.jsonl"
    kept.parent.mkdir(parents=True)
    gold = (shared / "corpora/tiny/a.example-0.txt").read_text()
    kept.write_text(json.dumps({"id": "a.example-0", "text": gold}))
    options = ["--method", "shingle-template", "--texts", str(shared / "texts")]
    options += ["--peer", "newspaper4k-title", "--peer", "lxml-text"]
    tiny = run(shared, *options)["results"]["tiny"]
    assert list(tiny["parts"]["all"]["texts"]) == ["no cleaning", "shingle-template", "lxml-text"]
    message = "peer newspaper4k-title is left out: newspaper4k is not installed\n"
    assert message in capsys.readouterr().err
    assert tiny["parts"]["all"]["texts"]["lxml-text"]["bag"]["f1"] == 1 / 20
    assert tiny["pages_without_text"]["lxml-text"] == 19


@pytest.mark.extras
@needs_scorer
def test_learning_curve_rises_with_the_pages_seen(shared: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = shared / "learning.png"
    options = ["--method", "style-tree", "--method", "satisfiable-subtree", "--curve"]
    report = run(shared, *options, "--curve-pages", "3", "--picture", str(picture))
    (curve,) = report["curves"]
    assert (curve["sites"], curve["pages"], curve["counts"]) == (2, 6, [1, 2, 3, 5, 10])
    points = curve["methods"]["style-tree"]
    assert points["f1"]["1"]["bag"] == [0.625, 0.5, 0.75]
    assert points["f1"]["10"]["bag"] == [1, 1, 1]
    assert points["gain"]["bag"] == [0.375, 0.25, 0.5]
    # A method for single pages learns nothing.
    assert curve["methods"]["satisfiable-subtree"]["gain"]["lcs"] == [0, 0, 0]
    first = report["first pages"]
    assert first["gain"]["tiny"]["10"] == points["gain"]["bag"]
    assert first["sites"]["10"] == {"sites": 2, "worse": 0, "better": 2}
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@needs_scorer
def test_a_corpus_without_gold_is_scored_by_its_segments(tmp_path: Path) -> None:
    write_sites(tmp_path / "corpora/tiny", gold=False, segments=True)
    (tmp_path / "bench").symlink_to(SHARED / "bench")
    markdown = tmp_path / "tables.md"
    options = ["--method", "style-tree", "--peer", "lxml-text", "--markdown", str(markdown)]
    tiny = run(tmp_path, *options, "--worst", "1")["results"]["tiny"]
    assert tiny.keys() == {"segments", "pages_without_text"}
    assert tiny["pages_without_text"] == {"no cleaning": 0, "style-tree": 0, "lxml-text": 0}
    segments = tiny["segments"]
    assert (segments["pages"], segments["sites"]) == (20, 2)
    assert (segments["with"], segments["without"]) == (40, 40)
    # a.example has a menu0, b.example a menu5 as well.
    visible = segments["texts"]["no cleaning"]
    assert [visible[count] for count in ("tp", "fp", "fn", "tn")] == [20, 30, 20, 10]
    assert (visible["p"], visible["r"], visible["accuracy"]) == (0.4, 0.5, 0.375)
    # Of a draw of one site alone: 20 of 20 + 10 + 10, and 20 of 20 + 20 + 10.
    assert [visible[figure] for figure in ("f1", "low", "high")] == [0.4444, 0.4, 0.5]
    assert segments["texts"]["lxml-text"] == visible
    clean = segments["texts"]["style-tree"]
    assert [clean[count] for count in ("tp", "fp", "fn", "tn")] == [20, 0, 20, 40]
    assert [clean[figure] for figure in ("f1", "low", "high")] == [0.6667] * 3
    assert segments["best_peer"] == "lxml-text"
    difference = segments["differences"]["style-tree"]
    assert difference == {"f1_difference": 0.2222, "low": 0.1667, "high": 0.2667}
    tables = markdown.read_text()
    assert "## tiny: 20 pages, 2 sites, 40 segments to keep, 40 to drop" in tables
    assert "| no cleaning | 0.444<br>[0.400, 0.500] | 0.400 | 0.500 | 0.375 |  |" in tables


RECIPES = {
    "a.example": {
        "ingredients": ["200 g of flour, sifted twice", "4 æg"],
        "instructions": ["Stir the flour into one bowl"],
    },
    "b.example": {"ingredients": ["Salt", "Black pepper"], "instructions": ["Serve."]},
}
KEPT = {
    "a.example": "200 FLOUR sifted twice\nStir the flour into one",
    "b.example": "Saltwater, Pepper\nServe",
}


@needs_scorer
def test_recipes_are_scored_by_their_ingredients_and_steps(tmp_path: Path) -> None:
    corpus, texts = tmp_path / "corpora/tiny", tmp_path / "texts/tiny"
    corpus.mkdir(parents=True)
    texts.mkdir(parents=True)
    rows = [
        {"id": site, "site": site, "html": "", "with": ["it"], **lines}
        for site, lines in RECIPES.items()
    ]
    (corpus / "manifest.jsonl").write_text("\n".join(map(json.dumps, rows)))
    everything = {
        site: "\n".join(line for part in lines.values() for line in part)
        for site, lines in RECIPES.items()
    }
    for row in ("no cleaning", *left_out.LEANS):
        found = everything if row == "no cleaning" else KEPT
        lines = [json.dumps({"id": site, "text": text}) for site, text in found.items()]
        (texts / f"{row}.jsonl").write_text("\n".join(lines))
    (texts / "justext.jsonl").write_text("")
    (tmp_path / "bench").symlink_to(SHARED / "bench")
    out, markdown = tmp_path / "left_out.json", tmp_path / "tables.md"
    options = ["--shared", str(tmp_path), "--texts", str(texts.parent), "--corpus", "tiny"]
    options += ["--peer", "justext", "--out", str(out), "--markdown", str(markdown)]
    assert left_out.main(options) == 0
    recipes = json.loads(out.read_text())["results"]["tiny"]["recipes"]
    counts = {kind: recipes[kind] for kind in ("pages", "sites", "ingredients", "steps")}
    assert counts == {"pages": 2, "sites": 2, "ingredients": 4, "steps": 2}
    visible, kept, nothing = (
        recipes["texts"][row] for row in ("no cleaning", "evidence", "justext")
    )
    assert visible["ingredients"] == visible["steps"] == {"share": 1, "low": 1, "high": 1}
    # Missing are "salt", "black", and all of "4 æg", which has no long word.
    assert kept["ingredients"] == {"share": 0.25, "low": 0, "high": 0.5}
    # Four of five words are not enough; of one word all.
    assert kept["steps"] == {"share": 0.5, "low": 0, "high": 1}
    assert kept["characters"] == round(sum(map(len, KEPT.values())) / 2)
    assert (nothing["steps"]["share"], nothing["characters"]) == (0, 0)
    tables = markdown.read_text()
    assert "## tiny: 2 pages, 2 sites, 4 ingredients, 2 steps" in tables
    assert "| evidence | 0.250<br>[0.000, 0.500] | 0.500<br>[0.000, 1.000] | 34 |" in tables


@needs_scorer
def test_a_corpus_without_gold_and_segments_is_refused(tmp_path: Path, capsys: Any) -> None:
    write_sites(tmp_path / "corpora/tiny", gold=False)
    (tmp_path / "bench").symlink_to(SHARED / "bench")
    with pytest.raises(SystemExit):
        quality.main(["--shared", str(tmp_path), "--corpus", "tiny"])
    assert "corpus tiny has no gold text and no segments" in capsys.readouterr().err


@needs_scorer
def test_an_unknown_peer_is_refused(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert extraction.is_installed("lxml")
    assert not extraction.is_installed("no-such-distribution")
    with pytest.raises(SystemExit):
        run(shared, "--peer", "no-such-peer")
    assert "there is no peer no-such-peer; the peers are lxml-parse," in capsys.readouterr().err


def test_segments_are_found_whatever_the_white_space_but_with_their_case() -> None:
    row = {"with": ["The  council\nmet", "ON MONDAY", "voted"], "without": ["Menu", "Sport"]}
    text = "Menu\nThe council\u00a0met on Monday\nand outvoted"
    assert count_segments(row, text) == (2, 1, 1, 1)
    assert count_segments(row, "") == (0, 0, 3, 2)
    assert count_segments({"with": None, "without": ["a"]}, "a") == (0, 1, 0, 0)


def test_segment_scores_of_a_text_that_keeps_nothing() -> None:
    rows = [{"id": 1, "site": "a", "with": ["a", "b"], "without": ["c"]}]
    report = segment_report(rows, {"no cleaning": {"1": "a b"}, "style-tree": {}}, ["style-tree"])
    assert report["texts"]["no cleaning"]["f1"] == 1
    nothing = report["texts"]["style-tree"]
    assert [nothing[figure] for figure in ("p", "r", "f1", "accuracy")] == [0, 0, 0, 0.3333]
    assert "best_peer" not in report


def test_repeated_characters_are_those_of_whole_lines_on_three_pages_of_ten() -> None:
    teaser = ["Read  more (12)\nRead more (7)", "Read more (345)", "Read more"]
    # Masked, "Read more (0)" has 13 characters; a line twice on one page is on one page.
    assert repeated_characters([*teaser, *[""] * 6, "Read more (1)"]) == (4 * 13, 4 * 13 + 9)
    assert repeated_characters([*teaser, *[""] * 7]) == (0, 3 * 13 + 9)
    assert repeated_characters(["twice\ntwice", "", "", "", "once"]) == (0, 14)
    assert repeated_characters([""] * 5) == (0, 0)


@needs_scorer
def test_repetition_is_that_of_large_sites(shared: Path) -> None:
    corpus = shared / "corpora/tiny"
    manifest = (corpus / "manifest.jsonl").read_text().splitlines()
    small = "\n".join(manifest[6:14])
    (corpus / "manifest.jsonl").write_text(small)
    assert repetition_report(corpus, {}) is None
    (corpus / "manifest.jsonl").write_text(f"{manifest[5]}\n{small}")
    report = repetition_report(corpus, {"peer": {"a.example-5": "same", "a.example-6": "same"}})
    assert report
    assert (report["pages"], report["sites"]) == (5, 1)
    assert report["texts"]["gold"]["share"] == 0
    assert report["texts"]["peer"] == {"share": 1, "low": 1, "high": 1}


class Scores(NamedTuple):
    p: float
    r: float
    f1: float


class ScoredPage(NamedTuple):
    id: str
    site: str
    scores: dict[str, Scores]


def test_lost_and_noisy_words_are_marked_and_everything_is_escaped(tmp_path: Path) -> None:
    scored = ScoredPage("<b>1</b>", "x.example", {"bag": Scores(0.5, 0.25, 1 / 3)})
    lost = "Dieser Satz ging leider ganz verloren"
    gold = f"The council met on Monday & voted\n{lost}\n记者今日报道"
    kept = "The council met on Monday & voted. Read more here <script>alert(1)</script>\nSport"
    visible = f"Menu\n{lost}\n记者今日报道\n{kept}"
    page = BadPage(scored, "javascript:alert(1)", gold, kept, visible)
    index = write_worst_pages(tmp_path, WORDS, {"tiny": {"peer": [page, page]}})

    assert html.parse(index).xpath("//table//a/@title") == ["<b>1</b>", "<b>1</b>"]
    document = html.parse(tmp_path / "tiny/peer/1.html")
    assert not document.xpath("//script | //a[starts-with(@href, 'javascript')]")
    assert document.xpath("//h1/text()") == ["<b>1</b>"]
    assert document.xpath("//nav/a/text()") == ["All worst pages", "next"]

    def marks(section: str) -> list[str]:
        return [str(text) for text in document.xpath(f"//section[@id='{section}']//mark/text()")]

    assert marks("gold") == [lost, "记者今日报道"]
    assert marks("kept") == ["Read more here <script>alert(1)</script>", "Sport"]
    assert marks("dropped") == [lost, "记者今日报道"]
    paragraphs = document.xpath("//section[@id='dropped']/p")
    assert [p.text_content() for p in paragraphs] == ["Menu", lost, "记者今日报道"]


def test_dropped_lines_count_repetitions_and_look_into_longer_lines() -> None:
    visible = "News\na long line of many words\nNews\nMore"
    kept = "News\nbefore a long line of many words after"
    assert dropped_lines(WORDS, visible, kept) == ["News", "More"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_cleans_every_page_of_a_corpus_of_odd_pages(
    method: str, tmp_path: Path
) -> None:
    corpus = write_sites(tmp_path / "odd")
    odd = [b"", b"\x00\xff\xfe", b"%PDF-1.7 \x80", b"<div>" * 3000, b"plain text", b"<html></html>"]
    for number, source in enumerate(odd):
        (corpus / f"a.example-{number}.html.gz").write_bytes(gzip.compress(source))
    report = robustness.clean_corpus(corpus, [method])
    assert (report["pages"], report["sites"]) == (20, 2)
    assert report["methods"][method]["exceptions"] == []


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("method", METHODS)
def test_pages_of_one_site_stay_within_the_bound(method: str) -> None:
    bound = 1_000
    has_tree = issubclass(METHODS[method], TreeMethod)
    figures = robustness.learn_pages(method, 200, **({"max_tree_nodes": bound} if has_tree else {}))
    assert figures["pages"] == 200
    assert figures["start_mib"] <= figures["half_mib"] <= figures["peak_mib"]
    assert not has_tree or 0 < figures["most_nodes"] <= bound


@needs_proc
def test_each_method_is_measured_in_a_process_of_its_own() -> None:
    figures = in_new_process(robustness.learn_pages, "satisfiable-subtree", 20)
    assert figures["pages"] == 20
    assert 0 < figures["start_mib"] <= figures["peak_mib"]
