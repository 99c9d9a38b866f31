"""The article's pagelets and the number of pages that show their fingerprints."""

from __future__ import annotations

from html import escape

from noiseclean_scrapy.methods.shingle_template import (
    SHINGLE_WORDS,
    TEMPLATE_PAGES,
    Pagelet,
    ShingleTemplateMethod,
    fingerprint,
    pagelets,
)
from noiseclean_scrapy.page.words import words
from pictures.browser import framed
from pictures.scene import GREEN, RED, Scene, bar, short_label

HEIGHT = 1720


def draw(scene: Scene) -> str:
    """Outlined pagelets, and a card for each with its fingerprint and pages."""
    method = scene.learn("shingle-template")
    assert isinstance(method, ShingleTemplateMethod)
    counts = method.state()["counts"]
    canvas = scene.canvas()
    cards = ""
    for number, pagelet in enumerate(pagelets(canvas.page, method.links), 1):
        pages = counts.get(f"{pagelet.fingerprint:016x}", 0)
        colour = RED if pages >= TEMPLATE_PAGES else GREEN
        note = f"{number}: {pages:.0f} pages"
        label = canvas.page.elements[pagelet.element].label
        if pagelet.is_element:
            canvas.outline(pagelet.element, colour, note, width=3)
        else:
            label += " (its own text)"
        cards += (
            f"<div class='card' style='border-left-color:{colour}'><b style='color:{colour}'>"
            f"{number}</b> &nbsp;<code>{short_label(label, 44)}</code><br>"
            f"<span class='num'>{bar(pages / method.pages, colour, 180)} &nbsp;{pages:.0f} of "
            f"{method.pages:.0f} pages, {pagelet.links} hyperlinks</span><br>"
            f"<span class='soft small'>its least shingle: “{escape(_least_shingle(pagelet))}”"
            "</span></div>"
        )
    caption = (
        f"<span class='key' style='border-color:{RED};margin-left:0'></span>pagelet that "
        f"{TEMPLATE_PAGES} pages or more show: template, left out as a whole "
        f"<span class='key' style='border-color:{GREEN}'></span>pagelet of this page alone"
    )
    panel = (
        "<h2>The pagelets of this page</h2><p class='soft small'>The page is divided from the top "
        f"down, as long as a child has {method.links} hyperlinks or more. A pagelet's fingerprint "
        f"is the least hash of its {SHINGLE_WORDS}-word shingles, so one shared shingle is enough "
        "for a match if it is the least one. That is how a whole article can go.</p>" + cards
    )
    content = f"{canvas.frame()}<div class='panel'>{panel}</div>"
    return framed("shingle-template: parts of a page that recur", caption, content)


def _least_shingle(pagelet: Pagelet) -> str:
    """The shingle that the fingerprint comes from."""
    sequence = [word for block in pagelet.blocks for word in words(block.text)]
    last = max(1, len(sequence) - SHINGLE_WORDS + 1)
    shingles = [sequence[start : start + SHINGLE_WORDS] for start in range(last)]
    return " ".join(next(s for s in shingles if fingerprint(s) == pagelet.fingerprint))
