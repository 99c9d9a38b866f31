"""The benchmark of speed runs, and its report is whole; no time is judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import growth, speed
from benchmarks.corpora import SHARED, CorpusPage, read_corpus
from noiseclean_scrapy.cleaner import SiteCleaner

CORPUS = "big9-dev"


@pytest.mark.extras
def test_a_small_run_measures_all_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="drawing needs the extra bench")
    if not (SHARED / "corpora" / CORPUS).is_dir():
        pytest.skip(f"the corpus {CORPUS} is not there")
    pages = read_corpus(SHARED / "corpora" / CORPUS)[:3]
    monkeypatch.setattr(speed, "read_corpus", lambda corpus: pages)
    monkeypatch.setattr(speed, "PARAGRAPHS", (2, 4))
    monkeypatch.setattr(speed, "LEARNED", (2, 4))
    out = tmp_path / "speed.json"
    arguments = ["--pages", "2", "--rounds", "2", "--method", "evidence", "--out", str(out)]
    arguments += ["--picture", str(tmp_path / "growth.png")]
    assert speed.main([*arguments, "--peer", speed.FLOOR, "--markdown"]) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["pages"] == report["rounds"] == 2
    assert set(report["cost"]) == {
        speed.FLOOR,
        "evidence",
        "evidence, in Python",
        "evidence, parsed",
        "evidence, learning",
    }
    for row in report["cost"].values():
        assert 0 < row["p50_ms"] <= row["p95_ms"] <= row["p99_ms"] <= row["worst_ms"]
    assert report["cost"][speed.FLOOR]["times_floor"] == 1
    assert set(report["trees"]["evidence"]) == {"merge_ms", "to_bytes_ms", "from_bytes_ms", "bytes"}
    assert report["parts"].keys() == {speed.FLOOR, *speed.PARTS}
    assert set(report["growth"]["evidence"]) == {"page_size", "clean", "learn"}
    for curve in report["growth"]["evidence"].values():
        assert curve["amounts"] == [2, 4]
        assert curve["slope"] == pytest.approx(growth.slope([2, 4], curve["ms"]), abs=0.01)
    assert (tmp_path / "growth.png").stat().st_size > 10_000
    for row in report["memory"].values():
        assert 0 < row["start_mib"] <= row["peak_mib"]
    printed = capsys.readouterr().out
    assert printed.count("## ") == 5
    assert "| evidence, learning |" in printed


def test_pages_are_taken_of_all_sites_alike() -> None:
    sites = [["a1", "a2", "a3"], ["b1"], ["c1", "c2"]]
    assert list(speed._alike(sites, 5)) == ["a1", "b1", "c1", "a2", "c2"]  # type: ignore[arg-type, comparison-overlap]
    assert len(list(speed._alike(sites, 9))) == 6  # type: ignore[arg-type]


def test_slopes_are_those_of_the_logarithms() -> None:
    assert growth.slope((1, 10, 100), (5, 50, 500)) == pytest.approx(1)
    assert growth.slope((1, 10, 100), (3, 3, 3)) == pytest.approx(0)


def test_a_learner_never_shows_a_page_twice_to_a_cleaner() -> None:
    pages = [CorpusPage(name, "s", "", b"<p>" + name.encode(), None, {}) for name in "ab"]
    learner = speed._Learner("evidence")
    cleaners: list[SiteCleaner] = []
    for page in [*pages, *pages]:
        ready = learner.prepare(page)
        speed._observe(ready)
        cleaners.append(ready[0])
    assert cleaners[0] is cleaners[1]
    assert cleaners[2] is cleaners[3] is not cleaners[0]
    assert [cleaner.pages for cleaner in cleaners] == [2, 2, 2, 2]
