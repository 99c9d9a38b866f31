"""A site style tree as JSON values, and back: flat lists, so that depth does not matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noiseclean_scrapy.methods.trees.counts import count_pages, read_number, read_sum
from noiseclean_scrapy.methods.trees.site_style_tree import ElementNode, SiteStyleTree


def tree_state(tree: SiteStyleTree) -> dict[str, Any]:
    """The tree's counts. Equal trees give equal values, in whatever order they were learned."""
    words = _words(tree)
    number = {word: place for place, word in enumerate(words)}
    nodes: list[list[Any]] = []
    waiting = [tree.root]
    for node in waiting:  # grows while it is read: breadth first
        styles = []
        for labels in sorted(node.styles):
            style = node.styles[labels]
            styles.append([style.pages, len(waiting), len(labels)])
            waiting.extend(style.elements)
        nodes.append(
            [
                number[node.label],
                node.pages,
                node.leaf_pages,
                node.leaf_features.dropped,
                sorted((number[f], *total) for f, total in node.leaf_features.totals.items()),
                sorted((number[f], n) for f, n in node.document_frequency.items()),
                list(node.dropped_styles),
                styles,
                *([node.page_logs, node.leaf_logs] if node.page_logs or node.leaf_logs else ()),
            ]
        )
    return {"words": words, "nodes": nodes}


def _words(tree: SiteStyleTree) -> list[str]:
    words: set[str] = set()
    for node in tree.root.walk():
        words.add(node.label)
        words.update(node.leaf_features.totals, node.document_frequency)
    return sorted(words)


def read_tree(state: Mapping[str, Any], *, max_nodes: int) -> SiteStyleTree:
    """The tree of a `tree_state`; raises KeyError, TypeError or ValueError on anything else."""
    words = state["words"]
    rows = state["nodes"]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise TypeError("the words of a tree are a list of strings")
    if not isinstance(rows, list) or not rows:
        raise ValueError("a tree needs a root")
    nodes = [ElementNode(words[_index(row[0], len(words))]) for row in rows]
    following = 1  # every node but the root stands in exactly one style, breadth first
    for node, row in zip(nodes, rows, strict=True):
        _read_counts(node, row, words)
        for pages, first, length in row[7]:
            if first != following or _index(length, len(nodes) - first + 1) < 1:
                raise ValueError("a style node points outside the tree")
            following += length
            below = nodes[first:following]
            style = node.style(tuple(element.label for element in below))
            if style.pages:
                raise ValueError("a style node stands twice in one element node")
            style.pages = read_number(pages)
            if not style.pages:
                raise ValueError("a style node stands on no page")
            style.elements = below
    if following != len(nodes):
        raise ValueError("the tree has element nodes in no style")
    tree = SiteStyleTree(max_nodes=max_nodes)
    tree.root = nodes[0]
    tree.bound()
    return tree


def _read_counts(node: ElementNode, row: list[Any], words: list[str]) -> None:
    _, pages, leaf_pages, dropped, features, frequency, dropped_styles, _, *logs = row
    node.page_logs, node.leaf_logs = map(read_sum, logs or (0, 0))
    node.pages = read_number(pages)
    node.leaf_pages = read_number(leaf_pages)
    node.leaf_features.dropped = read_number(dropped)
    for feature, count, weighted in features:
        word = words[_index(feature, len(words))]
        node.leaf_features.add(word, read_number(count), read_sum(weighted))
    for feature, count in frequency:
        word = words[_index(feature, len(words))]
        count_pages(node.document_frequency, (word,), read_number(count))
    styles, style_pages, weighted = dropped_styles
    node.dropped_styles = (read_number(styles), read_number(style_pages), read_sum(weighted))


def _index(value: Any, length: int) -> int:
    if type(value) is not int or not 0 <= value < length:
        raise ValueError(f"{value!r} is not an index below {length}")
    return value
