"""The seed corpus: small hostile sites and pages of the demo newspaper, one file each.

python -m fuzz.seeds build/fuzz-corpus
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.hostile_pages import HOSTILE
from example_project.demo import DemoSite
from fuzz.property import BETWEEN_PAGES

_SIZE = 3
_MOST = 3000


def seeds() -> Iterator[tuple[str, bytes]]:
    """Name and content of each seed."""
    for number, (name, make) in enumerate(HOSTILE.items()):
        pages = [page[:_MOST].replace(BETWEEN_PAGES, b"") for page in (make(_SIZE), make(2))]
        yield name.replace(" ", "-"), bytes([number, number // 6, 7]) + BETWEEN_PAGES.join(pages)
    site = list(DemoSite(articles=6).pages.values())
    for number in range(0, len(site) - 2, 2):
        parts = [page.html.encode()[:_MOST] for page in site[number : number + 2]]
        yield f"newspaper-{number}", bytes([number, number, number]) + BETWEEN_PAGES.join(parts)


def main() -> None:
    """Write the seeds into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in seeds():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
