"""A site style tree as JSON values, and back: flat lists, so that depth does not matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noiseclean_scrapy.site.style_tree import ElementNode, SiteStyleTree


def tree_state(tree: SiteStyleTree) -> dict[str, Any]:
    """The tree's counts. Equal trees give equal values, in whatever order they were learned."""
    words: dict[str, int] = {}

    def number(text: str) -> int:
        return words.setdefault(text, len(words))

    nodes: list[list[Any]] = []
    waiting = [tree.root]
    for node in waiting:  # grows while it is read: breadth first
        styles = []
        for labels in sorted(node.styles):
            style = node.styles[labels]
            styles.append([style.pages, len(waiting), len(labels)])
            waiting.extend(style.elements)
        totals = node.leaf_features.totals
        nodes.append(
            [
                number(node.label),
                node.pages,
                node.leaf_pages,
                node.leaf_features.dropped,
                [[number(f), *totals[f]] for f in sorted(totals)],
                [[number(f), n] for f, n in sorted(node.document_frequency.items())],
                node.dropped_styles,
                styles,
            ]
        )
    return {"words": list(words), "nodes": nodes}


def read_tree(state: Mapping[str, Any], *, max_nodes: int) -> SiteStyleTree:
    """The tree of a `tree_state`; raises KeyError, TypeError or ValueError on anything else."""
    words: list[str] = state["words"]
    rows: list[list[Any]] = state["nodes"]
    if not rows:
        raise ValueError("a tree needs a root")
    nodes = [ElementNode(str(words[row[0]])) for row in rows]
    for place, (node, row) in enumerate(zip(nodes, rows, strict=True)):
        _, pages, leaf_pages, dropped, features, frequency, dropped_styles, styles = row
        node.pages = float(pages)
        node.leaf_pages = float(leaf_pages)
        node.leaf_features.dropped = float(dropped)
        node.leaf_features.totals = {words[f]: [float(c), float(t)] for f, c, t in features}
        node.document_frequency = {words[f]: float(n) for f, n in frequency}
        node.dropped_styles = [float(value) for value in dropped_styles]
        for style_pages, first, length in styles:
            if not place < first <= first + length <= len(nodes):
                raise ValueError("a style node points outside the tree")
            below = nodes[first : first + length]
            style = node.style(tuple(element.label for element in below))
            style.pages = float(style_pages)
            style.elements = below
    tree = SiteStyleTree(max_nodes=max_nodes)
    tree.root = nodes[0]
    tree.nodes = len(nodes)
    return tree
