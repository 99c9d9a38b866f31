"""The marked site style tree along the article, beside the article that it was mapped onto."""

from __future__ import annotations

from noiseclean_scrapy.methods.style_tree import StyleTreeModel
from noiseclean_scrapy.methods.trees.importance import MeasuredElement
from noiseclean_scrapy.page.presentation import Layout
from pictures.browser import framed
from pictures.scene import GREEN, GREY, RED, Scene, bar, short_label

HEIGHT = 1500


def draw(scene: Scene) -> str:
    """Rows of the tree down to its noisy and meaningful elements, and the tinted article."""
    model = scene.learn("style-tree").model()
    assert isinstance(model, StyleTreeModel)
    canvas = scene.canvas()
    layout = Layout(canvas.page)
    rows: list[str] = []

    def visit(element: MeasuredElement, contents: tuple[int, ...], depth: int) -> None:
        rows.append(_element_row(element, depth, model.threshold))
        if element.noisy or element.meaningful:
            for content in contents:
                if content >= 0:
                    canvas.outline(content, _colour(element))
            return
        slots = layout.slots(contents[0])
        labels = tuple(slot.label for slot in slots)
        pages, below = element.styles[labels]
        rows.append(_style_row(element, pages, depth))
        for child, slot in zip(below, slots, strict=True):
            visit(child, slot.members, depth + 1)

    visit(model.root, (0,), 0)
    key = "<span class='key' style='border-color:{0};background:{0}33'></span>{1}"
    caption = "".join(
        key.format(colour, text)
        for colour, text in (
            (GREEN, "maximal meaningful: kept"),
            (RED, "maximal noisy: left out"),
            (GREY, "mixed: the page goes on through the style node that it shows"),
        )
    )
    panel = (
        f"<h2>The styles that this article shows, of {model.root.pages:.0f} pages</h2>"
        "<table class='num'><tr><th>element node<th class='r'>pages"
        "<th class='r'>importance<th></tr>"
        f"{''.join(rows)}</table>"
        "<p class='soft small' style='margin-top:14px'>Importance is CompImp as far as the pages "
        f"support it. The black mark is the threshold {model.threshold:.3f}, chosen from the "
        "leaves. Noisy: the element and all below it are under the mark. Meaningful: nothing "
        "noisy is in it.</p>"
    )
    content = f"{canvas.frame()}<div class='panel'>{panel}</div>"
    return framed("style-tree: the marked site style tree", caption, content)


def _colour(element: MeasuredElement) -> str:
    return RED if element.noisy else GREEN if element.meaningful else GREY


def _element_row(element: MeasuredElement, depth: int, threshold: float) -> str:
    colour = _colour(element)
    value = element.supported_importance
    chip = f"border-left:4px solid {colour};padding:1px 6px;background:{colour}1f"
    return (
        f"<tr><td style='padding-left:{depth * 16}px'>"
        f"<code style='{chip}'>{short_label(element.label or 'body', 24)}</code>"
        f"<td class='r'>{element.pages:.0f}<td class='r'>{value:.2f}"
        f"<td>{bar(value, colour, 70, threshold)}</tr>"
    )


def _style_row(element: MeasuredElement, pages: float, depth: int) -> str:
    others = len(element.styles) - 1
    rest = f", {others} other style{'s' * (others > 1)}" if others else ", the only style"
    return (
        f"<tr><td colspan='4' class='soft small' style='padding-left:{depth * 16 + 8}px'>"
        f"└ style node: {pages:.0f} of {element.pages:.0f} pages{rest}</tr>"
    )
