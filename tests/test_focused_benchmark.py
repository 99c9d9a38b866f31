"""The benchmark of focused crawls: its newspapers, its peers, its figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import focused
from benchmarks.focused_crawls import STRATEGIES, SharkPotential, harvest
from benchmarks.focused_freshness import LISTED, LiveNewspaper
from benchmarks.focused_sites import SHARES, newspapers
from benchmarks.focused_topics import TOPICS
from benchmarks.measuring import in_new_process

pytest.importorskip("matplotlib", reason="drawing needs the extra bench")


pytestmark = pytest.mark.extras


def test_newspapers_mix_their_topics() -> None:
    papers = newspapers(120, seed=3)
    for number, paper in enumerate(papers):
        for place, topic in enumerate(TOPICS):
            paths = paper.relevant(topic)
            share = SHARES[(number + place) % len(SHARES)]
            assert abs(len(paths) / 120 - share) < 0.09
            pages = [paper.pages[path] for path in paths]
            assert all(page.kind == "article" for page in pages)
        # The dossiers of all topics stand on every page.
        assert all(
            topic.dossier in page.html.replace("&middot;", "·")
            for page in paper.pages.values()
            for topic in TOPICS
        )
    sections = {path.split("/")[1] for paper in papers for path in paper.topics}
    assert len(sections) == 6


def test_newspapers_are_the_same_each_time() -> None:
    first, second = (newspapers(20, seed=5)[2] for _ in range(2))
    assert {path: page.html for path, page in first.pages.items()} == {
        path: page.html for path, page in second.pages.items()
    }


def test_a_live_newspaper_shows_what_is_out() -> None:
    paper = LiveNewspaper(seed=4, articles=60, seconds=3_600.0)
    old = {path for path, seconds in paper.published.items() if seconds <= 0}
    assert 20 <= len(old) <= 30
    new = max(paper.published, key=lambda path: paper.published[path])
    paper.start()
    pages: Any = paper.pages
    assert pages.get(new) is None
    assert new not in pages.get("/").html
    paper.started -= 3_600
    assert pages.get(new).kind == "article"
    front = pages.get("/").html
    assert new in front
    assert front.count('class="teaser ') == LISTED
    assert paper.ages(3_600.0).keys() == paper.published.keys() - old - {
        path for path, seconds in paper.published.items() if seconds >= 3_600
    }


def test_shark_search_by_hand() -> None:
    values: Any = {"page": 0.4, "before": 0.1, "context": 0.3, "terms": 5, "importance": 0.0}
    with_anchor = SharkPotential(**values, anchor=0.5)
    assert with_anchor.priority == round(1000 * (0.5 * 0.2 + 0.5 * (0.8 * 0.5 + 0.2 * 1.0)))
    without = SharkPotential(**values, anchor=0.0)
    assert without.priority == round(1000 * (0.5 * 0.2 + 0.5 * 0.2 * 0.3))


@pytest.mark.slow
def test_a_harvest_is_that_of_a_real_crawl(tmp_path: Path) -> None:
    runs = [
        in_new_process(harvest, strategy, 4, 60, 30)
        for strategy in ("breadth first", "focus on clean text")
    ]
    assert [len(run["hits"]) for run in runs] == [30, 30]
    assert all(run["errors"] == 0 for run in runs)
    assert all(sum(run["hits"]) <= run["relevant"] for run in runs)
    assert sum(runs[0]["hits"]) < sum(runs[1]["hits"])
    found = focused.summarise_harvest(
        [{**run, "strategy": name} for run in runs[:1] for name in STRATEGIES]
    )
    curve = found["strategies"]["depth first"]
    assert list(curve) == ["10", "20", "30"]
    assert curve["30"] == [round(sum(runs[0]["hits"]) / 30, 4)] * 3
    [table] = focused.tables({"harvest": json.loads(json.dumps(found))})
    assert [row[0] for row in table.rows] == list(STRATEGIES)
    focused.draw(found, tmp_path / "focused.png")
    assert (tmp_path / "focused.png").read_bytes().startswith(b"\x89PNG")


def test_an_interval_holds_its_mean() -> None:
    centre, low, high = focused.interval([1.0, 2.0, 3.0, 6.0])
    assert centre == 3.0
    assert 1.0 < low < centre < high < 6.0
