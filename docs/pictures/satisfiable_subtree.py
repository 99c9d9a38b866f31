"""The article's sub-trees measured against the three conditions."""

from __future__ import annotations

from noiseclean_scrapy.methods.satisfiable_subtree import (
    ALPHABETIC,
    SubTree,
    deciding_subtrees,
)
from pictures.browser import framed
from pictures.scene import GREEN, RED, Canvas, Scene, bar, short_label

HEIGHT = 1500


def draw(scene: Scene) -> str:
    """Outlined sub-trees, and a card for each with its lengths against the constants."""
    canvas = scene.canvas()
    found = _roots(canvas)
    cards = ""
    for number, (element, subtree) in enumerate(found, 1):
        colour = GREEN if subtree.satisfiable else RED
        if element:
            canvas.outline(element, colour, str(number), width=5 if subtree.satisfiable else 2)
        label = "body" if element == 0 else canvas.page.elements[element].label
        cards += _card(number, label, subtree, colour)
    share = f"{ALPHABETIC.gamma:.0%}"
    caption = (
        f"<span class='key' style='border-color:{GREEN};margin-left:0'></span>satisfiable "
        f"<span class='key' style='border-color:{RED}'></span>not satisfiable"
    )
    note = (
        "<p class='soft small'>Satisfiable: a text of at least "
        f"α = {ALPHABETIC.alpha} characters at most G = {ALPHABETIC.generations} generations "
        f"below, at least β = {ALPHABETIC.beta} characters in all, at most γ = {share} of them in "
        "links. A block goes by the largest satisfiable sub-tree around it, else by "
        "the one that comes nearest. The black mark is the constant. The headline is kept apart "
        "from the rules.</p>"
    )
    panel = f"<h2>The sub-trees that decide on this page</h2>{note}{cards}"
    content = f"{canvas.frame()}<div class='panel'>{panel}</div>"
    return framed("satisfiable-subtree: three conditions on one page", caption, content)


def _roots(canvas: Canvas) -> list[tuple[int, SubTree]]:
    """The sub-trees that decide on a block, each with the element at its root."""
    page = canvas.page
    deciding = deciding_subtrees(page, ALPHABETIC)
    used = {id(deciding[block.element]) for block in page.blocks}
    roots = []
    for element, subtree in zip(page.elements, deciding, strict=True):
        above = deciding[element.parent] if element.index else None
        if subtree is not None and subtree is not above and id(subtree) in used:
            roots.append((element.index, subtree))
    return roots


def _card(number: int, label: str, subtree: SubTree, colour: str) -> str:
    share = subtree.anchor / subtree.text
    rows = "".join(
        f"<td style='width:33%'><span class='soft small'>{name}</span><br>{drawn} "
        f"<span class='num small' style='color:{GREEN if met else RED}'>"
        f"{'✓' if met else '✗'} {text}</span>"
        for name, met, text, drawn in (
            (
                "longest text",
                subtree.longest >= ALPHABETIC.alpha,
                f"{subtree.longest}",
                _scale(subtree.longest, ALPHABETIC.alpha),
            ),
            (
                "all text",
                subtree.text >= ALPHABETIC.beta,
                f"{subtree.text}",
                _scale(subtree.text, ALPHABETIC.beta),
            ),
            (
                "in links",
                share <= ALPHABETIC.gamma,
                f"{share:.0%}",
                bar(share, "#8b949e", 66, ALPHABETIC.gamma),
            ),
        )
    )
    return (
        f"<div class='card' style='border-left-color:{colour}'>"
        f"<b style='color:{colour}'>{number}</b> &nbsp;<code>{short_label(label, 44)}</code>"
        f"<table style='margin-top:4px'><tr>{rows}</tr></table></div>"
    )


def _scale(value: float, least: float) -> str:
    """A bar on which the condition's constant stands in the middle."""
    return bar(value / least / 2, "#8b949e", 66, 0.5)
