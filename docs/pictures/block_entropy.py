"""The article's blocks with their entropies, and how the threshold was found."""

from __future__ import annotations

import math

from noiseclean_scrapy.methods.block_entropy import (
    STEP,
    BlockEntropyMethod,
    BlockEntropyModel,
    content_blocks,
)
from pictures.browser import framed
from pictures.scene import GREEN, GREY, RED, Scene, bar

HEIGHT = 1500


def draw(scene: Scene) -> str:
    """Outlined blocks on the left; on the right the steps of the threshold, and the blocks."""
    method = scene.learn("block-entropy")
    assert isinstance(method, BlockEntropyMethod)
    model = method.model()
    canvas = scene.canvas()
    page = canvas.page
    entries = []
    for block in content_blocks(page, tables_only=False):
        element = page.blocks[block.members[0]].element
        if not block.terms:
            if element and any(page.blocks[index].text for index in block.members):
                canvas.outline(element, GREY)
            continue
        entropy = model.block_entropy(block.terms)
        colour = GREEN if entropy <= model.threshold else RED
        if element:  # BODY holds the skip link only
            canvas.outline(element, colour, f"{entropy:.2f}")
            entries.append((entropy, page.elements[element].tag))
    caption = (
        f"H(CB) of each block. <span class='key' style='border-color:{GREEN}'></span>at most "
        f"{model.threshold:.1f}: informative <span class='key' style='border-color:{RED}'></span>"
        f"above: redundant <span class='key' style='border-color:{GREY}'></span>stop words only: "
        "kept"
    )
    panel = (
        "<h2>1. The blocks of this page on one scale</h2>"
        f"{_strip(entries, model.threshold)}"
        "<p class='soft small'>Each stroke is a block. 0: its terms are on one page only. "
        "1: they are spread evenly over all pages.</p>"
        "<h2 style='margin-top:22px'>2. How the threshold was found</h2>"
        f"{_steps(method, model)}"
        "<p class='soft small' style='margin-top:8px'>The threshold rises in steps of 0.1 over "
        "the site's distinct blocks. The first step that adds next to nothing ends it: there lies "
        "the boundary between informative and redundant blocks.</p>"
        "<h2 style='margin-top:22px'>3. The entropies of a few terms</h2>"
        f"{_terms(method)}"
        "<p class='soft small' style='margin-top:8px'>H(CB) is the mean over a block's different "
        "terms, so single words in a list item weigh a lot.</p>"
    )
    content = f"{canvas.frame()}<div class='panel'>{panel}</div>"
    return framed("block-entropy: the mean entropy of a block's terms", caption, content)


def _strip(entries: list[tuple[float, str]], threshold: float) -> str:
    width, left = 420, 12
    strokes = "".join(
        f"<line x1='{left + h * width:.1f}' x2='{left + h * width:.1f}' y1='16' y2='50' "
        f"stroke='{GREEN if h <= threshold else RED}' stroke-opacity='.75' stroke-width='2'/>"
        for h, _ in entries
    )
    at = left + threshold * width
    labels = "".join(
        f"<text x='{left + n / 5 * width:.0f}' y='72' text-anchor='middle' font-size='12.5' "
        f"fill='#59636e'>{n / 5:.1f}</text>"
        for n in range(6)
    )
    return (
        f"<svg width='464' height='80'><rect x='{left}' y='16' width='{width}' height='34' "
        f"fill='#f6f8fa'/>{strokes}<line x1='{at:.1f}' x2='{at:.1f}' y1='6' y2='58' "
        f"stroke='#1f2328' stroke-width='2'/>{labels}<text x='{at - 6:.0f}' y='12' "
        f"text-anchor='end' font-size='12.5'>threshold {threshold:.1f}</text></svg>"
    )


def _steps(method: BlockEntropyMethod, model: BlockEntropyModel) -> str:
    steps: list[set[str]] = [set() for _ in range(11)]
    for terms in method.sample.blocks():
        number = math.ceil(round(model.block_entropy(terms) / STEP, 9))
        steps[max(1, number)].update(terms)
    largest = max(len(terms) for terms in steps)
    rows, included = "", set[str]()
    for number in range(1, 11):
        added = steps[number] - included
        included |= steps[number]
        gain = len(added) / len(included) if included else 0.0
        kept = number * STEP <= model.threshold + 1e-9
        stop = "← under 3 %: stop" if math.isclose((number - 1) * STEP, model.threshold) else ""
        rows += (
            f"<tr><td class='num'>{number * STEP:.1f}<td>"
            f"{bar(len(added) / largest, GREEN if kept else RED, 150)}"
            f"<td class='r num'>+{len(added):,}<td class='r num'>{gain:.1%}"
            f"<td class='small'>{stop}</tr>"
        )
    return (
        f"<table><tr><th>step<th>new terms<th class='r'><th class='r'>gain<th></tr>{rows}</table>"
    )


def _terms(method: BlockEntropyMethod) -> str:
    rows = ""
    for term in ("cooki", "cultur", "selwyn", "poet", "lindqvist", "workshop"):
        entropy = method.counts.entropy(term, method.pages)
        rows += (
            f"<tr><td style='width:90px'><code>{term}</code><td>{bar(entropy, GREY, 300)}"
            f"<td class='num'>{entropy:.2f}</tr>"
        )
    return f"<table>{rows}</table>"
