"""The plan of a large crawl: its arithmetic, and what it says breaks first."""

from __future__ import annotations

import pytest

from benchmarks.plan import RATES, late, main, plan, shuffles, site_sizes


def needs(pages: float, parts: int, **rates: float) -> dict[str, float]:
    return {need.name: need.need for need in plan(pages, parts, {**RATES, **rates})}


def test_needs_by_hand() -> None:
    found = needs(8.64e6, 1, days=1, failures=0, crawler_ms=50, stored_kib=1000, seen=2, waiting=0)
    assert found["crawlers' processor"] == pytest.approx(5)  # 100 pages a second
    assert found["database's disk"] == pytest.approx(8.64e6 * 1000 * 1024 / 1e12)
    copies = RATES["redis_copies"]
    memory = found["Redis's memory, with its copies"]
    assert memory == pytest.approx(8.64e6 * 2 * RATES["seen_bytes"] * copies / 2**30)
    # 100 pages a second with 2 dead rows each are a fifth of a million in 1000 s.
    assert needs(8.64e6, 1, days=1, updates=2, vacuum_s=50)["vacuum"] == pytest.approx(0.05)
    parted = needs(8.64e6, 4, days=1, failures=0, crawler_ms=50)
    assert parted["crawlers' processor"] == pytest.approx(5 / 4)


def test_large_sites_are_left_over_where_their_delay_is_long() -> None:
    # Three sites by ranks 0.5, 1.5 and 2.5: 600, 200 and 120 pages.
    rates = {**RATES, "pareto": 1.0, "days": 150 / 86_400}
    assert late(920, 3, rates) == pytest.approx(450 + 50)
    assert late(920, 3, {**rates, "delay": 0.1}) == 0


def test_sizes_of_sites() -> None:
    assert list(site_sizes(920, 3, 1.0)) == pytest.approx([600, 200, 120])


def test_shuffle_blocks_by_hand() -> None:
    rates = {**RATES, "html_mb": 8, "trees_tb": 2}
    # Ten map tasks by ten reduce tasks; each gives 800 kB to each.
    assert shuffles(10, 10, rates) == (1, 100, 100, 800, 2)
    # Segments of 4, 4 and 2 archives. Learned on none, one and two thirds of the trees (2 TB in
    # all), cleaned with all of them (6 TB).
    assert shuffles(10, 4, rates) == (3, 16, 16 + 16 + 4, 2000, 8)
    assert shuffles(10, 99, rates) == shuffles(10, 10, rates)


def test_a_month_by_segments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--segment-size", "9000", "--markdown"]) == 0
    whole, parted = capsys.readouterr().out.rstrip().splitlines()[-2:]
    assert "8,100,000,000" in whole  # 90,000 by 90,000
    assert "| 10 | 81,000,000 | 810,000,000 |" in parted


def test_what_breaks_first_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--parts", "1", "--markdown"]) == 1
    assert "Breaks first: Redis's memory" in capsys.readouterr().out
    assert main(["--pages", "1e6", "--set", "sites=1e4"]) == 0
    assert "Nothing breaks." in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--set", "nonsense=1"])
    assert "there is no rate 'nonsense'" in capsys.readouterr().err
