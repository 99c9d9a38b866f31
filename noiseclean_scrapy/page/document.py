"""The parts of a document around its body: title, language, and where the text of the page is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from lxml import etree

from noiseclean_scrapy import kernels
from noiseclean_scrapy.page.characters import with_blanks, without_controls
from noiseclean_scrapy.page.parse import inner_text
from noiseclean_scrapy.page.tags import local_name, node_test
from noiseclean_scrapy.page.urls import LONGEST_ADDRESS

if TYPE_CHECKING:
    from lxml.etree import _Element

LANGUAGE_ATTRIBUTES = ("lang", "xml:lang", "{http://www.w3.org/XML/1998/namespace}lang")
_PARTS = ("base", "body", "title", "noscript", "meta", "script")


@dataclass(slots=True)
class DocumentParts:
    """What tells of the page as a whole, in document order. `body` is the root where there is none.

    `has_fallbacks` tells whether there are NOSCRIPT elements, `data` are META and SCRIPT elements,
    `base` is what addresses are relative to, empty where the page does not tell.
    """

    body: _Element
    titles: list[_Element] = field(default_factory=list)
    has_fallbacks: bool = False
    data: list[_Element] = field(default_factory=list)
    base: str = ""


def find_parts(root: _Element) -> DocumentParts:
    """The parts of a document, found in one pass."""
    found = DocumentParts(root)
    is_found = False
    for node in named_elements(root, _PARTS):
        tag = node.tag
        name = local_name(tag)
        if name == "meta" or name == "script":
            found.data.append(node)
        elif name == "body":
            found.body = found.body if is_found else node
            is_found = True
        elif name == "base":
            found.base = found.base or node.get("href", "").strip()
        elif name == "title":
            if node is not root:
                found.titles.append(node)
        elif tag == name:
            found.has_fallbacks = True
    return found


def named_elements(root: _Element, names: Sequence[str]) -> Iterable[_Element]:
    """An element, and those in it, that have one of these names, in any namespace, in order."""
    if kernels.nodes is not None:
        found: list[_Element] = kernels.nodes.named(root, names)
        return found
    return root.iter(*[f"{{*}}{name}" for name in names])


def base_address(parts: DocumentParts, url: str) -> str:
    """What the addresses on a page are relative to; a BASE of thousands of characters is none."""
    try:
        return urljoin(url, parts.base if len(parts.base) <= LONGEST_ADDRESS else "")
    except ValueError:
        return url


def has_content_in_head(root: _Element, skipped: frozenset[str]) -> bool:
    """Whether HEAD holds text of the page.

    Where HEAD and BODY have no tags of their own, libxml2 leaves NAV, ARTICLE and other elements
    that it does not know in HEAD.
    """
    parts = (part for part in root.iterfind("{*}head/*") if local_name(part.tag) not in skipped)
    return any(inner_text(part).strip() for part in parts)


def has_more_in_fallbacks(root: _Element, characters: int) -> bool:
    """Whether NOSCRIPT holds more text than so much, that of nested ones counted once."""
    # Most often it holds fewer bytes, which are counted without an object for each element.
    if kernels.nodes is not None and kernels.nodes.text_size(root, "noscript") <= characters:
        return False
    found = 0
    walk = etree.iterwalk(root, events=("start",), tag="noscript")
    for _, node in walk:
        found += len(collapse([inner_text(node)]))
        walk.skip_subtree()
    return found > characters


def after_body(body: _Element, root: _Element) -> Iterator[tuple[_Element, str, int]]:
    """What the parser put behind BODY, and behind HTML on pages with end tags in excess.

    With each node come its node test in an XPath seen from BODY, and its number, 0 for a comment.
    """
    climb = ""
    node = body
    while True:
        if node is root and node.getparent() is not None:  # the middle of a document
            return
        number = 0
        for sibling in node.itersiblings():
            if isinstance(sibling.tag, str):
                number += 1
                yield sibling, f"{climb}following-sibling::*", number
            else:
                yield sibling, "", 0
        parent = node.getparent()
        if node is root or parent is None:
            return
        climb += "../"
        node = parent


def path(node: _Element) -> tuple[str, int]:
    """Absolute XPath of an element: without the first slash and the last number, and that."""
    steps: list[str] = []
    for element in (node, *node.iterancestors()):
        test = node_test(element.tag)
        siblings = element.itersiblings(etree.Element if test == "*" else test, preceding=True)
        number = 1 + sum(1 for _ in siblings)
        if not steps:
            found = number
        steps.append(f"{test}[{number}]" if steps else test)
    return "/".join(reversed(steps)), found


def collapse(pieces: Iterable[str]) -> str:
    """The pieces joined without control characters, each run of white space one blank."""
    return " ".join(with_blanks(without_controls("".join(pieces))).split())


def title(parts: DocumentParts) -> str:
    """The text of TITLE."""
    in_head = (node for node in parts.titles if _is_head(node.getparent()))
    # Else that of a page without HEAD; in SVG, where there is no other.
    node = next(in_head, next(iter(parts.titles), None))
    return collapse([inner_text(node)]) if node is not None else ""


def _is_head(node: _Element | None) -> bool:
    return node is not None and local_name(node.tag) == "head"


def language(root: _Element, body: _Element) -> str:
    """The language that HTML or BODY declare, as they spell it."""
    values = (node.get(name, "").strip() for node in (root, body) for name in LANGUAGE_ATTRIBUTES)
    return next(filter(None, values), "")
