"""What the nodes of a document are to the page, by their tags."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

MATHML = frozenset(
    "math mi mn mo ms mtext mspace mrow mfrac msqrt mroot mstyle merror mpadded mphantom mfenced "
    "menclose msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd "
    "mlabeledtr maction semantics annotation annotation-xml".split()
)
INLINE = MATHML | frozenset(
    "a abbr acronym b bdi bdo big blink br cite code data del dfn em font i img ins kbd label "
    "mark nobr picture q rb rp rt rtc ruby s samp small source span strike strong sub sup time tt "
    "u var wbr input embed".split()
)
SKIPPED = frozenset(
    "script style template noscript iframe noembed noframes object applet svg canvas audio "
    "video select textarea datalist head title meta link base param map area dialog".split()
)
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dir div dl dt fieldset "
    "figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li "
    "listing main menu nav ol optgroup option p plaintext pre search section summary table tbody "
    "td tfoot th thead tr ul xmp".split()
)
"""What begins a line of its own in every browser. What is neither here nor above does elsewhere
than within a sentence: pages name boxes and words as they like."""
VERBATIM_TAGS = frozenset({"pre", "textarea"})
"""What keeps line breaks and blanks."""
NEVER_HIDDEN = INLINE - set("span font b i em strong small a sup".split())
"""Inline elements whose style is not read."""
ANCHOR, IMAGE, LINE_BREAK, VERBATIM, MARKED, CODE = 1, 2, 3, 4, 5, 6
ROLES = {
    **dict.fromkeys(INLINE - MATHML - {"wbr", "input", "embed", "picture", "source"}, MARKED),
    "a": ANCHOR,
    "img": IMAGE,
    "br": LINE_BREAK,
    "code": CODE,
    **dict.fromkeys(VERBATIM_TAGS, VERBATIM),
}
"""What an element is besides its text."""
_XPATH_NAME = re.compile(r"[a-z_][\w-]{0,60}", re.IGNORECASE | re.ASCII)
LONGEST_NAME, _MOST_KEPT = 64, 1000
# What a node is to the page, as bits; 0 is inline content.
IS_BLOCK, IS_SKIPPED, IS_LINK, IS_MARKED, IS_VERBATIM, IS_LOOSE, IS_LINE = 1, 2, 4, 8, 16, 32, 64


class Tags(dict[Any, tuple[str, str, int]]):
    """By the tag of a node: its name, its node test in an XPath, and what it is to the page."""

    def __init__(self, skipped: frozenset[str]) -> None:
        self.skipped = skipped

    def __missing__(self, tag: Any) -> tuple[str, str, int]:
        if not isinstance(tag, str):  # a comment, a processing instruction, an entity
            return self.setdefault(tag, ("", "", IS_SKIPPED))
        return self.setdefault(tag, _tag(tag[:LONGEST_NAME], self.skipped))


_kept: dict[frozenset[str], Tags] = {}


def tags_of(skipped: frozenset[str]) -> Tags:
    """Those that were used before where these were skipped: most pages have the same tags."""
    found = _kept.get(skipped)
    if found is None or len(found) >= _MOST_KEPT:
        found = _kept[skipped] = Tags(skipped)
    return found


@lru_cache(maxsize=1000)
def _tag(tag: str, skipped: frozenset[str]) -> tuple[str, str, int]:
    name = local_name(tag)
    kind = 0 if name in INLINE else IS_SKIPPED if name in skipped else IS_BLOCK
    if kind == IS_BLOCK and name not in BLOCKS:
        kind |= IS_LOOSE  # inline content within a sentence
    return name, node_test(tag), kind


def node_test(tag: str) -> str:
    """The tag, or `*` where it cannot stand in an XPath: namespaces, `<o:p>`, odd or long names."""
    return tag if _XPATH_NAME.fullmatch(tag) else "*"


def local_name(tag: str) -> str:
    """The tag without its namespace."""
    return tag.rpartition("}")[2]
