"""A crawled page as a document that looks like itself, and in which nothing runs or loads.

Three walls, each enough alone: nh3 lets only harmless tags and attributes through; the document's
own Content Security Policy allows inline styles and nothing else; the frame that shows it is
sandboxed without scripts.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

import nh3
from lxml import etree

from noiseclean_scrapy.page.block import Block
from noiseclean_scrapy.page.characters import without_controls, writable
from noiseclean_scrapy.page.element_paths import ElementPaths
from noiseclean_scrapy.page.parse import document_roots, inner_text, parse_html
from noiseclean_scrapy.report.formatting import bound_formatting
from noiseclean_scrapy.report.reasons import MOST_BLOCKS
from noiseclean_scrapy.report.templating import render

if TYPE_CHECKING:
    from lxml.etree import _Element

NUMBER, VERDICT = "data-block", "data-verdict"
"""Attributes of the inert document: a block's number in `CleanPage.blocks`, and its verdict."""

_TAGS = frozenset(
    "a abbr acronym address article aside b bdi bdo big blockquote br button caption center cite "
    "code col colgroup data dd del details dfn dir div dl dt em fieldset figcaption figure font "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr i img input ins kbd label legend li main map "
    "mark menu meter nav nobr ol output p picture pre progress q rb rp rt rtc ruby s samp search "
    "section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u "
    "ul var wbr".split()
)
_DROPPED_WITH_CONTENT = frozenset(
    "script style template noscript iframe noembed noframes object applet embed svg math canvas "
    "audio video select textarea datalist title xmp plaintext dialog".split()
)
_EVERYWHERE = frozenset(
    "class id style lang dir role width height align valign bgcolor color colspan rowspan border "
    "cellpadding cellspacing size face hidden open".split()
)
_ATTRIBUTES = {
    "*": {*_EVERYWHERE, NUMBER, VERDICT},
    "img": {"src", "alt"},
    "input": {"type", "value", "placeholder", "checked", "disabled"},
    "ol": {"start", "type", "reversed"},
    "font": {"size", "face"},
}
_LOADS = re.compile(
    r"""@import\s*(?:url\([^)]*\)?|"[^"]*"|'[^']*')?[^;}]*;?|@font-face\s*\{[^}]*\}?""",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"""\burl\(\s*(?!['"]?data:)[^)]*\)?""", re.IGNORECASE)
_ZERO_WIDTH = str.maketrans("", "", "\u200b\ufeff")
_SEVERAL = -1


def inert_document(html: str, blocks: Sequence[Block]) -> str:
    """The page, its first `MOST_BLOCKS` marked by number and verdict; `html` is its source."""
    root = parse_html(html).root
    body = next(root.iter("{*}body"), root)
    styles = [inner_text(style) for style in root.iter("style", "{*}style")]
    mark(root, blocks[:MOST_BLOCKS])
    bound_formatting(root)
    markup = "".join(
        etree.tostring(part, encoding="unicode", method="html") for part in document_roots(root)
    )
    clean = nh3.Cleaner(
        tags=set(_TAGS),
        clean_content_tags=set(_DROPPED_WITH_CONTENT),
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes={"data"},
        link_rel=None,
    ).clean(markup)
    return render(
        "frame.html.jinja",
        body=clean,
        page_style="\n".join(map(_style_sheet, styles)),
        html_attributes=_attributes(root),
        body_attributes=_attributes(body),
    )


def verdict_of(block: Block) -> str:
    """`kept` or `dropped`, and `override` after it where one decided."""
    verdict = "kept" if block.kept else "dropped"
    return f"{verdict} override" if block.rule else verdict


def mark(root: _Element, blocks: Sequence[Block]) -> None:
    """Put number and verdict on what shows each block: whole elements as far as possible.

    Texts beside other blocks in one element are wrapped into SPANs.
    """
    for element in root.iter(etree.Element):
        for name in (NUMBER, VERDICT):
            element.attrib.pop(name, "")
    homes = _homes(root, blocks)
    texts = _texts_of_blocks(root, homes, blocks)
    inside = _blocks_inside(texts)
    known: dict[_Element, _Element] = {}
    for owner, is_tail, number in texts:
        element = _marked_element(owner, is_tail, homes, inside, known)
        element.set(NUMBER, str(number))
        element.set(VERDICT, verdict_of(blocks[number]))
    for element in inside:
        if element.tag not in _TAGS and element.tag not in ("html", "body"):
            element.tag = "div" if element in homes or inside[element] == _SEVERAL else "span"


def _marked_element(
    owner: _Element,
    is_tail: bool,
    homes: Container[_Element],
    inside: Mapping[_Element, int],
    known: dict[_Element, _Element],
) -> _Element:
    """The largest element around a text that shows nothing but the text's block.

    `known` remembers it by the elements passed on the way: thousands of texts may be as deep.
    """
    parent = owner.getparent()
    element = owner if parent is None or not is_tail else parent
    if inside[element] == _SEVERAL:
        return _wrap(owner, is_tail)
    passed = [element]
    while element not in homes and element not in known:
        above = element.getparent()
        if above is None or inside[above] == _SEVERAL:
            break
        element = above
        passed.append(element)
    found = known.get(element, element)
    known.update(dict.fromkeys(passed, found))
    return found


def _homes(root: _Element, blocks: Sequence[Block]) -> dict[_Element, deque[int]]:
    """The elements that hold blocks, each with their numbers in document order."""
    paths = ElementPaths(root)
    homes: dict[_Element, deque[int]] = {}
    for number, block in enumerate(blocks):
        element = paths.find(block.xpath)
        if element is not None:
            homes.setdefault(element, deque()).append(number)
    return homes


def _texts_of_blocks(
    root: _Element, homes: dict[_Element, deque[int]], blocks: Sequence[Block]
) -> list[tuple[_Element, bool, int]]:
    """The pieces of text that blocks consist of: element, whether it is its tail, block number.

    The blocks of an element are its texts in order, without white space.
    """
    waiting = {home: deque(numbers) for home, numbers in homes.items()}
    letters: dict[_Element, str] = {}  # of the block that a home waits for
    found: dict[_Element, int] = {}  # how many of them
    texts: list[tuple[_Element, bool, int]] = []
    open_homes: list[_Element] = []

    def take(owner: _Element, is_tail: bool) -> None:
        piece = _letters((owner.tail if is_tail else owner.text) or "")
        if not piece or not open_homes:
            return
        home = open_homes[-1]
        queue = waiting[home]
        if home not in letters and queue:
            letters[home], found[home] = _letters(blocks[queue[0]].text), 0
        if queue and letters[home].startswith(piece, found[home]):
            texts.append((owner, is_tail, queue[0]))
            found[home] += len(piece)
            if found[home] == len(letters[home]):
                queue.popleft()
                del letters[home]

    for part in document_roots(root):
        for event, node in etree.iterwalk(part, events=("start", "end", "comment", "pi")):
            if event == "start":
                if node in homes:
                    open_homes.append(node)
                take(node, is_tail=False)
                continue
            if event == "end" and node in homes:
                open_homes.pop()
            if node is not part:
                take(node, is_tail=True)
    return texts


def _blocks_inside(texts: list[tuple[_Element, bool, int]]) -> dict[_Element, int]:
    """For each element with text of a block the block's number, `_SEVERAL` for more than one."""
    inside: dict[_Element, int] = {}
    for owner, is_tail, number in texts:
        element: _Element | None = owner.getparent() if is_tail else owner
        while element is not None and inside.get(element) not in (number, _SEVERAL):
            inside[element] = _SEVERAL if element in inside else number
            element = element.getparent()
    return inside


def _wrap(owner: _Element, is_tail: bool) -> _Element:
    """Put a text of `owner`, or its tail, into a SPAN in the same place."""
    span = etree.Element("span")
    text = writable((owner.tail if is_tail else owner.text) or "")
    if is_tail:
        span.text, owner.tail = text, None
        owner.addnext(span)
    else:
        span.text, owner.text = text, None
        owner.insert(0, span)
    return span


def _letters(text: str) -> str:
    return "".join(without_controls(text).translate(_ZERO_WIDTH).split())


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name == "src":
        return value if value.strip().lower().startswith("data:image/") else None
    return _without_addresses(value) if name == "style" else value


def _attributes(element: _Element) -> dict[str, str]:
    """Harmless attributes of HTML or BODY, which nh3 does not hand through."""
    allowed = _ATTRIBUTES["*"]
    found = {str(name): str(value) for name, value in element.attrib.items() if name in allowed}
    if "style" in found:
        found["style"] = _without_addresses(found["style"])
    return found


def _style_sheet(text: str) -> str:
    # Nothing in a STYLE element ends it but its end tag.
    return _without_addresses(_LOADS.sub("", text)).replace("</", "<\\/")


def _without_addresses(css: str) -> str:
    """CSS that asks for nothing; what escapes hide is left to the policy, which blocks it."""
    return _ADDRESS.sub("none", css)
