"""The fuzzer's properties on its seeds and on any bytes, and the fuzzer itself for a while."""

from __future__ import annotations

import importlib.util
import os
import platform
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fuzz import stored
from fuzz.property import check
from fuzz.seeds import seeds
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.page.overrides import Overrides
from noiseclean_scrapy.store.packing import unpack_page

SEEDS = dict(seeds())
HAS_ATHERIS = importlib.util.find_spec("atheris") is not None
HAS_WHEEL = (sys.platform, platform.machine()) == ("linux", "x86_64") and (
    (3, 11) <= sys.version_info[:2] <= (3, 13)
)


@pytest.mark.parametrize("name", SEEDS)
def test_seeds(name: str) -> None:
    check(SEEDS[name])


@settings(max_examples=60)
@given(st.binary(max_size=400))
@example(b"\x00\x00\x03<p>a<b>b</b>\x03</p>c\x04")  # control characters, which lxml will not write
@example(b"\x00\x02\x00<x\x01y class=byline>A. Author</x>")
@example(b"\x00\x02\x00<p>&#" + b"9" * 5000 + b";")
def test_any_bytes(data: bytes) -> None:
    check(data)


@pytest.mark.night
@pytest.mark.slow
def test_the_fuzzer_finds_nothing(tmp_path: Path) -> None:
    if not HAS_ATHERIS:
        if os.environ.get("NOISECLEAN_TEST_ALL") and HAS_WHEEL:
            pytest.fail("atheris is not installed: pip install 'noiseclean-scrapy[fuzz]'")
        pytest.skip("atheris is not installed (it has wheels for CPython 3.11 to 3.13 on Linux)")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in list(SEEDS)[::5]:
        (corpus / name).write_bytes(SEEDS[name])
    command = [sys.executable, "-m", "fuzz.clean", "-runs=250", "-max_total_time=20", "-seed=1"]
    run = subprocess.run(
        [*command, "-rss_limit_mb=4000", str(corpus)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert "Done " in run.stderr


def test_seeds_of_stored_bytes_are_right() -> None:
    for seed in stored.seeds("spooled"):
        page = unpack_page(stored.sealed(stored.SPOOLED, seed))
        assert page.cleaned
        assert page.metadata
        assert [block.text for block in page.cleaned.blocks][-1] == "Fog closes the port."
    for seed in stored.seeds("states"):
        assert SiteCleaner.from_bytes(stored.sealed(stored.STATE, seed)).pages == 2
    for seed in stored.seeds("overrides"):
        assert Overrides.parse(seed.decode()).rules_for(stored.URL)


@pytest.mark.parametrize("name", stored.CHECKS)
def test_stored_bytes(name: str) -> None:
    rng = random.Random(1)
    check = stored.CHECKS[name]
    for seed in stored.seeds(name):
        check(seed)
        for _ in range(10):
            damaged = bytearray(seed)
            damaged[rng.randrange(len(seed))] = rng.randrange(256)
            check(bytes(damaged))
