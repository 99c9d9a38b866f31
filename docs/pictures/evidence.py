"""What the page, its neighbours and the site say of the blocks of the article."""

from __future__ import annotations

import re
from html import escape

from noiseclean_scrapy.clean_page import Block, clean_page
from pictures.browser import framed
from pictures.scene import GREEN, GREY, RED, Scene

HEIGHT = 1500
_KINDS = {"page": "#0969da", "neighbours": "#8250df", "site": "#bf8700"}
_SCALE = 10  # pixels a unit of log-odds
_CARDS = 18
_NUMBER = re.compile(r"\[\d+\]")


def draw(scene: Scene) -> str:
    """Tinted blocks, and a card with the contributions for some that tell a story."""
    model = scene.learn("evidence").model()
    canvas = scene.canvas()
    clean = clean_page(model, canvas.page)
    sources = [block for block in canvas.page.blocks if block.text]
    shown = _instructive(clean.blocks)
    for number, block in enumerate(clean.blocks):
        colour = GREEN if block.kept else RED
        note = str(shown.index(number) + 1) if number in shown else ""
        element = canvas.page.elements[sources[number].element]
        if all(content < 0 for content in element.content):
            canvas.outline(element.index, colour, note, width=2 if note else 1)
    cards = "".join(
        _card(position, clean.blocks[number]) for position, number in enumerate(shown, 1)
    )
    caption = " ".join(
        f"<span class='key' style='background:{colour};border-color:{colour}'></span>{kind}"
        for kind, colour in _KINDS.items()
    )
    panel = (
        "<h2>Log-odds of some blocks</h2><p class='soft small'>What speaks for content goes to the "
        "right, what speaks for noise to the left. The parts and the prior add up to the log-odds."
        "</p>" + cards
    )
    content = f"{canvas.frame()}<div class='panel'>{panel}</div>"
    return framed("evidence: what speaks for a block and what against", caption, content)


def _instructive(blocks: tuple[Block, ...]) -> list[int]:
    """The first block of each kind of place, in page order, as many as fit."""
    places: dict[str, int] = {}
    for number, block in enumerate(blocks):
        places.setdefault(_NUMBER.sub("", block.xpath), number)
    return sorted(places.values())[:_CARDS]


def _card(position: int, block: Block) -> str:
    evidence = block.evidence
    colour = GREEN if block.kept else RED
    bars = ""
    left = right = 0.0
    for kind, tint in _KINDS.items():
        value = evidence[kind]
        width = abs(value) * _SCALE
        start = right if value > 0 else -left - width
        bars += (
            f"<span style='position:absolute;height:11px;top:3px;background:{tint};"
            f"left:{200 + start:.0f}px;width:{width:.0f}px'></span>"
        )
        left, right = (left + width, right) if value < 0 else (left, right + width)
    reason = next((name for name in evidence if name.startswith("site: this text")), "")
    if not reason:
        reason = max(
            (name for name in evidence if ": " in name), key=lambda name: abs(evidence[name])
        )
    text = block.text if len(block.text) < 44 else block.text[:42] + "…"
    return (
        f"<div class='card' style='border-left-color:{colour};padding:3px 10px;margin:4px 0'>"
        f"<b style='color:{colour}'>{position}</b> &nbsp;{escape(text)}"
        f"<span class='num' style='float:right'>{evidence['log_odds']:+.1f}</span>"
        f"<div style='position:relative;height:17px'>{bars}<span style='position:absolute;"
        f"left:200px;top:0;width:1px;height:17px;background:{GREY}'></span></div>"
        f"<span class='soft small'>{escape(reason)}</span></div>"
    )
