"""What stands within a sentence: an element between words is no box, whatever it is called.

And what does not, whatever its tag: an inline element whose own style makes it a box.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from noiseclean_scrapy.page.attributes import LONGEST_VALUE

if TYPE_CHECKING:
    from lxml.etree import _Element

SENTENCES = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6"})
"""Elements that hold a sentence, not boxes."""
MOST_COMMENTS, MOST_AROUND = 4, 4
"""Comments beside an element that are looked past, and inline elements around a drawing."""
_LETTER = re.compile(r"[^\W_]")
_OF_SENTENCE = re.compile(r"[^\W_]|[.,;:!?()\[\]«»“”…]")
_STOP = re.compile(r"\s*[.,;:!?)。，、；：！？）]")
_BOX = re.compile(
    r"(?:^|[;\s])display\s*:\s*(?:block|flex|grid|table|list-item|flow-root)(?![\w-])",
    re.IGNORECASE,
)


def texts_beside(node: _Element) -> tuple[str, str]:
    """The text right before an element, and right after it."""
    before, above = node.getprevious(), node.getparent()
    text = before.tail if before is not None else above.text if above is not None else None
    return text or "", node.tail or ""


def texts_around(node: _Element) -> tuple[str, str]:
    """The same, with a few comments between them: frameworks write such between two texts."""
    before, after = texts_beside(node)
    for sibling in islice(node.itersiblings(preceding=True), MOST_COMMENTS):
        if isinstance(sibling.tag, str):
            break
        before = texts_beside(sibling)[0] + before
    for sibling in islice(node.itersiblings(), MOST_COMMENTS):
        if isinstance(sibling.tag, str):
            break
        after += sibling.tail or ""
    return before, after


def stands_in_sentence(node: _Element, *, mended: bool) -> bool:
    """Whether `are_of_sentence` holds for an element and the texts beside it."""
    above = node.getparent()
    texts = texts_around if mended else texts_beside
    return above is not None and are_of_sentence(node.tag, above.tag, *texts(node), mended=mended)


def is_drawing(node: _Element, outermost: _Element, in_sentence: dict[_Element, bool]) -> bool:
    """Whether what is not read of an element stands in a sentence, as an icon in a link does.

    The inline elements around it are looked at, up to the outermost, each once: `in_sentence` is
    what was found.
    """
    for around in islice(node.iterancestors(), MOST_AROUND):
        if around not in in_sentence:
            in_sentence[around] = stands_in_sentence(around, mended=True)
        if in_sentence[around]:
            return True
        if around is outermost:
            break
    return False


def are_of_sentence(
    tag: object, above: object, before: str, after: str, *, mended: bool = True
) -> bool:
    """Whether an element is within a sentence, by its tag, its parent's and the texts beside it.

    There are words in one of them, and words or punctuation in the other. In a paragraph or a
    heading words in one are enough, but for a BUTTON: it says "Read more" there. If `mended`,
    a stop right behind will do as well, and a comma before: "<button>b</button>, <a>c</a>."

    >>> are_of_sentence("button", "div", "said ", ", the mayor")
    True
    >>> are_of_sentence("button", "div", "Share: ", " | ")
    False
    >>> are_of_sentence("a", "li", "", "."), are_of_sentence("button", "div", ", ", "")
    (True, True)
    """
    if _LETTER.search(before) or _LETTER.search(after):
        is_between = _OF_SENTENCE.search(before) and _OF_SENTENCE.search(after)
        return bool(is_between) or (above in SENTENCES and tag != "button")
    return mended and (bool(_STOP.match(after)) or before.strip() == ",")


def is_line(name: str) -> bool:
    """Whether a class attribute says that an element is a line of code, as of Shiki's."""
    return "line" in name.split()


def is_break(name: str) -> bool:
    """Whether a class attribute says that an element without content is a line break."""
    return "br" in name.split()


@lru_cache(maxsize=10_000)
def has_own_lines(style: str) -> bool:
    """Whether a style attribute has an inline element begin and end a line.

    >>> has_own_lines("color: red; display: block"), has_own_lines("display:inline-block")
    (True, False)
    """
    return bool(_BOX.search(style))


def has_lines(node: _Element) -> bool:
    """Whether `has_own_lines` holds for an element."""
    return has_own_lines(node.get("style", "")[:LONGEST_VALUE])


def class_of(node: _Element) -> str:
    return (node.get("class") or "")[:LONGEST_VALUE]


def ends_line(node: _Element) -> bool:
    """Whether a SPAN of code is a line, right beside the next one."""
    after = node.getnext()
    if node.tail or after is None or after.tag != "span":
        return False
    return has_lines(node) or (is_line(class_of(node)) and is_line(class_of(after)))
