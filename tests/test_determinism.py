"""Same pages, same output, byte for byte: in any process, whatever the seed of its hashes.

One of the processes does in Python what the others have compiled.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from noiseclean_scrapy.methods import METHODS

PROGRAM = """
import hashlib, random, sys
from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.methods import METHODS

site = DemoSite(articles=6, seed=3)
pages = [page.html for page in site.pages.values() if page.kind == "article"]
# Near-copies: the same articles with another advertisement and another word.
pages += [html.replace("</body>", "<p>Advertisement</p></body>") for html in pages[:4]]
order = random.Random(int(sys.argv[1])).sample(pages, len(pages))
for method in sorted(METHODS):
    for templates in (False, True):
        half = len(order) // 2
        cleaner, other = (SiteCleaner(method, templates=templates) for _ in range(2))
        for html in order[:half]:
            cleaner.observe(html)
        for html in order[half:]:
            other.observe(html)
        cleaner.merge(other)
        output = hashlib.sha256(cleaner.to_bytes())
        cleaner = SiteCleaner.from_bytes(cleaner.to_bytes())
        for html in pages:
            page = cleaner.clean(html)
            weights = sorted(page.weights.items())
            evidence = [sorted(block.evidence.items()) for block in page.blocks]
            verdicts = [(block.kept, block.score) for block in page.blocks]
            parts = page.text, page.html, page.markdown, page.title, page.fit
            output.update(repr((*parts, weights, evidence, verdicts)).encode())
        print(method, templates, output.hexdigest())
"""


@pytest.fixture(scope="module")
def outputs() -> list[dict[str, str]]:
    """Digests by method, of processes with other hash seeds and other orders of the pages."""
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(order)],
            env={**os.environ, "PYTHONHASHSEED": seed, "NOISECLEAN_PURE_PYTHON": pure},
            stdout=subprocess.PIPE,
            text=True,
        )
        for order, (seed, pure) in enumerate([("0", ""), ("1", ""), ("4294967295", "1")])
    ]
    lines = [run.communicate(timeout=300)[0].splitlines() for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    return [dict(line.rsplit(" ", 1) for line in found) for found in lines]


@pytest.mark.slow
@pytest.mark.parametrize("templates", [False, True])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_output_depends_on_the_pages_alone(
    method: str, templates: bool, outputs: list[dict[str, str]]
) -> None:
    first, *others = (digests[f"{method} {templates}"] for digests in outputs)
    assert others == [first, first]
