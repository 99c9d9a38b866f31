"""The article's words shaded by their weights, beside the path importance of their places."""

from __future__ import annotations

import re

from lxml import html

from noiseclean_scrapy.methods.feature_weighting import FeatureWeightingModel
from noiseclean_scrapy.methods.tree_method import map_blocks
from noiseclean_scrapy.methods.trees.structure_tree import StructureElement, StructureLayout
from noiseclean_scrapy.page.words import words
from pictures.browser import framed
from pictures.scene import Canvas, Scene, bar, short_label

HEIGHT = 1500
HEAT = (219, 109, 0)
COLD = 0.1
BLUE = "#0969da"

_TOKEN = re.compile(r"(\w+)")
_HIDDEN = {"script", "style", "noscript"}


def draw(scene: Scene) -> str:
    """The heat map, and the tree of the places in it."""
    model = scene.learn("feature-weighting").model()
    assert isinstance(model, FeatureWeightingModel)
    canvas = scene.canvas()
    layout = StructureLayout(canvas.page)
    places = map_blocks(layout, model.root, lambda e, labels: e.styles[labels], lambda e: False)
    by_node = {
        canvas.elements[block.element]: places[block.index]
        for block in reversed(canvas.page.blocks)
    }
    _shade(canvas, by_node)
    scale = "".join(
        f"<span class='num' style='padding:2px 9px;color:#1f2328;background:{_heat(weight)}'>"
        f"{weight:.2f}</span>"
        for weight in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    caption = f"Weight of one occurrence of a word: {scale} &nbsp; The sum over the page is "
    caption += "<code>CleanPage.weights</code>."
    panel = (
        "<h2>The compressed structure tree along this article</h2><table class='num'><tr>"
        "<th>element node<th class='r'>NodeImp<th class='r'>PathImp<th></tr>"
        f"{''.join(_rows(model.root, layout))}</table>"
        "<p class='soft small' style='margin-top:14px'>PathImp only grows on the way down. A word "
        "weighs PathImp (1 − H): it is heavy where its place is diverse and where it is rare "
        "on the pages of that place. Blue elements are leaves.</p>"
    )
    content = f"{canvas.frame()}<div class='panel'>{panel}</div>"
    return framed("feature-weighting: what every word weighs", caption, content)


def _rows(root: StructureElement, layout: StructureLayout) -> list[str]:
    rows: list[str] = []

    def visit(element: StructureElement, content: int, depth: int) -> None:
        leaf = layout.is_leaf(content)
        node = element.leaf_importance if leaf else element.node_importance
        path = element.leaf_path_importance if leaf else element.path_importance
        colour = BLUE if leaf else "#8b949e"
        chip = f"border-left:3px solid {colour};padding-left:6px"
        rows.append(
            f"<tr><td style='padding-left:{depth * 12}px'>"
            f"<code style='{chip}'>{short_label(element.label or 'body', 22)}</code>"
            f"<td class='r'>{node:.2f}<td class='r'>{path:.2f}<td>{bar(path, colour, 70)}</tr>"
        )
        if leaf:
            return
        slots = layout.slots(content)
        below = element.styles[tuple(slot.label for slot in slots)]
        for child, slot in zip(below, slots, strict=True):
            visit(child, slot.members[0], depth + 1)

    visit(root, 0, 0)
    return rows


def _shade(canvas: Canvas, places: dict[html.HtmlElement, StructureElement | None]) -> None:
    """Put a background behind every word that belongs to a place."""
    body = canvas.root.find("body")
    texts = []
    for node in body.iter():
        if not isinstance(node.tag, str) or node.tag in _HIDDEN:
            if node.tail:
                texts.append((node, True, _place(node.getparent(), places)))
            continue
        if node.text:
            texts.append((node, False, _place(node, places)))
        if node.tail and node is not body:
            texts.append((node, True, _place(node.getparent(), places)))
    for node, is_tail, place in texts:
        text = node.tail if is_tail else node.text
        if place is None or not text.strip():
            continue
        lead, spans = _spans(text, place)
        parent = node.getparent() if is_tail else node
        at = parent.index(node) + 1 if is_tail else 0
        if is_tail:
            node.tail = lead
        else:
            node.text = lead
        for number, span in enumerate(spans):
            parent.insert(at + number, span)


def _place(
    node: html.HtmlElement | None, places: dict[html.HtmlElement, StructureElement | None]
) -> StructureElement | None:
    while node is not None:
        if node in places:
            return places[node]
        node = node.getparent()
    return None


def _spans(text: str, place: StructureElement) -> tuple[str, list[html.HtmlElement]]:
    """What stands before the first word, and the words with what follows each."""
    lead, *parts = _TOKEN.split(text)
    spans = []
    for word, rest in zip(parts[::2], parts[1::2], strict=True):
        # Not SPAN: the newspaper's style sheet has rules for it.
        span = html.Element("bdi")
        span.text, span.tail = word, rest
        weight = max((place.feature_weight(feature) for feature in words(word)), default=0.0)
        if weight >= COLD:
            span.set("style", f"background:{_heat(weight)};color:#1f2328")
        spans.append(span)
    return lead, spans


def _heat(weight: float) -> str:
    """From white to orange, opaque so that it looks alike on any background."""
    red, green, blue = (round(255 - weight * 0.85 * (255 - tone)) for tone in HEAT)
    return f"rgb({red},{green},{blue})"
