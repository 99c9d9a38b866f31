"""Draws the pictures of the README, of the methods page and of the architecture page.

python docs/make_picture.py               # all of them; needs Chromium on the PATH
python docs/make_picture.py style-tree    # some of them
"""

from __future__ import annotations

import sys
from pathlib import Path

from pictures import (
    architecture,
    block_entropy,
    browser,
    evidence,
    feature_weighting,
    satisfiable_subtree,
    shingle_template,
    style_tree,
    verdicts,
)
from pictures.scene import Scene

from example_project.demo import DemoServer, DemoSite

FOLDER = Path(__file__).parent / "images"
PICTURES = {
    "verdicts": verdicts,
    "evidence": evidence,
    "style-tree": style_tree,
    "feature-weighting": feature_weighting,
    "block-entropy": block_entropy,
    "satisfiable-subtree": satisfiable_subtree,
    "shingle-template": shingle_template,
}


def main(names: list[str]) -> int:
    """Draw the pictures of these names, all without any."""
    unknown = sorted(set(names) - PICTURES.keys() - architecture.DRAWINGS.keys())
    if unknown:
        print(f"No such picture: {', '.join(unknown)}", file=sys.stderr)
        return 2
    for name, draw in architecture.DRAWINGS.items():
        if not names or name in names:
            target = FOLDER / f"{name}.svg"
            target.write_text(draw(), encoding="utf-8")
            print(target)
    names = [name for name in names or PICTURES if name in PICTURES]
    return _photograph(names) if names else 0


def _photograph(names: list[str]) -> int:
    chromium = browser.find_browser()
    if chromium is None:
        print("Chromium is not on the PATH", file=sys.stderr)
        return 1
    site = DemoSite()
    with DemoServer(site) as server:
        scene = Scene(site, server.url)
        for name in names:
            picture = PICTURES[name]
            target = FOLDER / f"{name}.png"
            browser.photograph(chromium, picture.draw(scene), picture.HEIGHT, target)
            print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
