"""Files that a page of the documentation tells its readers to write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
_FILE = re.compile(
    r"^<!-- (?P<kind>file|append): (?P<path>\S+) -->\n+```\w+\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


def write_files(page: str, folder: Path, replaced: Mapping[str, str]) -> None:
    """Write the files that a page tells of into `folder`, or what is added to them.

    `replaced` are texts of the page and what stands for them in a test: addresses, paths.
    """
    document = (DOCS / page).read_text("utf-8")
    for text, other in replaced.items():
        assert text in document, f"{page} does not speak of {text}"
        document = document.replace(text, other)
    found = list(_FILE.finditer(document))
    assert found, f"{page} tells of no file"
    for file in found:
        with (folder / file["path"]).open("a" if file["kind"] == "append" else "w") as target:
            target.write(file["body"])
