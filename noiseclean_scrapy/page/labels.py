"""What makes two elements of different pages the same place: tag and stable display attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from noiseclean_scrapy.page.hidden import hides
from noiseclean_scrapy.page.words import mask_digits

_NAME = re.compile(r"[\w-]{1,40}$")
_HASH = re.compile(
    r"^(?:css|sc|jss|jsx|svelte|emotion|styles?)-?[-_]?[a-z]*\d[0-9a-z]*$"  # css-1x2y3z, jsx-123
    r"|^(?=[0-9a-z]{6,}$)[a-z]*\d+[a-z]+\d"  # a1b2c3d4
    r"|^[0-9a-f]{8,}$",
    re.IGNORECASE,
)
# Within a token: a UUID, or hexadecimal digits that go from digits to letters (org8a096bc).
_HEX = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[a-f]*\d+[a-f])[0-9a-f]{6,}", re.IGNORECASE
)
_MODULE_SUFFIX = re.compile(r"(?<=[a-zA-Z])(?:__|--|_)(?=[\w-]*[\dA-Z])[\w-]{4,8}$")
# State of one page or one item, or facts about its content, not its style.
_TRANSIENT = re.compile(
    r"^(?:active|current|selected|open|opened|closed|collapsed|expanded|visible|hidden|first|last|odd|even|"
    r"(?:is|has|js|no)-.*|(?:post|page|entry|node|item|article|comment|attachment|term|category|cat|tag|author|"
    r"format|status|type|section|parent|single|archive|lang|menu-item|nav|depth|row|col|i|n|p)s?[-_]?(?:id)?[-_]?\d+.*|"
    r"(?:category|tag|author|postid|pageid|term|taxonomy|hashtag|topic)-.+)$",
    re.IGNORECASE,
)
_IDENTITY = re.compile(r"#[\w-]+")
_MOST_TOKENS = 100
_LONGEST_VALUE = 100
LONGEST_LABEL = 1000
_INLINE_STYLE = "{"
_DISPLAY_ATTRIBUTES = ("role", "bgcolor", "width", "align", "itemprop")
PUBLISHED_ATTRIBUTES = frozenset(
    "align background bgcolor border bordercolor cellpadding cellspacing clear color face frame "
    "height hspace noshade nowrap rules size text valign vspace width".split()
)
"""What HTML 4 lays out and paints with: bgcolor, width, height, ... in the papers' figures."""


def element_label(tag: str, attributes: Mapping[str, str]) -> str:
    """`tag#id.class[role]` with what changes from page to page left out; at most 1,000 characters.

    >>> element_label("div", {"class": "story css-1x2y3z post-4711 active", "id": "post-4711"})
    'div.story'
    >>> element_label("td", {"width": "468", "bgcolor": "#FFF"})
    'td[bgcolor=#fff][width=468]'
    """
    parts = [tag]
    if identity := stable_tokens(attributes.get("id", "")):
        parts += ["#" + token for token in identity[:1]]
    parts += ["." + token for token in stable_tokens(attributes.get("class", ""))]
    parts += [
        f"[{name}={mask_digits(value) if name == 'itemprop' else value.strip().lower()}]"
        for name in sorted(_DISPLAY_ATTRIBUTES)
        if (value := attributes.get(name, "")[:_LONGEST_VALUE])
    ]
    return "".join(parts)[:LONGEST_LABEL]


def without_identity(label: str) -> str:
    """An `element_label` without the id: what it has in common with other parts of its kind.

    >>> without_identity("section#day-0.day[role=tabpanel]"), without_identity("td[bgcolor=#fff]")
    ('section.day[role=tabpanel]', 'td[bgcolor=#fff]')
    """
    return _IDENTITY.sub("", label, count=1) if "#" in label.partition("[")[0] else label


def published_label(tag: str, attributes: Mapping[str, str]) -> str:
    """`tag[display attributes]{inline style}` as the papers tell elements apart.

    >>> published_label("td", {"width": "468", "BGCOLOR": "#FFF", "class": "story", "height": "9"})
    'td[height=9][width=468]'
    >>> published_label("p", {"align": "left", "style": "Color: RED; margin : 0 auto;"})
    'p[align=left]{color:red;margin:0 auto}'
    >>> without_inline_style(published_label("p", {"align": "{", "style": "color: red"}))
    'p[align=(]'
    """
    shown = [
        f"[{name}={value[:_LONGEST_VALUE].strip().lower()}]"
        for name, value in sorted(attributes.items())
        if name in PUBLISHED_ATTRIBUTES
    ]
    declarations = [part.partition(":") for part in attributes.get("style", "").lower().split(";")]
    style = sorted(
        f"{name.strip()}:{' '.join(value.split())}" for name, _, value in declarations if value
    )
    label = tag + "".join(shown).replace(_INLINE_STYLE, "(")
    return (label + f"{_INLINE_STYLE}{';'.join(style)}}}" * bool(style))[:LONGEST_LABEL]


def styling(
    name: str, attributes: tuple[tuple[str, str], ...], display: bool = False
) -> tuple[str, int]:
    """The label of an element, and whether its own attributes hide it (see `hides`).

    With `display` the label is that of the papers.
    """
    values = dict(attributes)
    label = published_label(name, values) if display else element_label(name, values)
    return label, hides(values)


def without_inline_style(label: str) -> str:
    """A `published_label` without what a `style` attribute says."""
    return label.partition(_INLINE_STYLE)[0]


def stable_tokens(value: str) -> list[str]:
    """Tokens of a class or id attribute that tell the style: sorted, digits masked, no hashes.

    >>> stable_tokens("grid-12 Header_title__3xYz1 post-4711 a1b2c3d4e5")
    ['Header_title', 'grid-0']
    >>> stable_tokens("text-org8a096bc grid2 box-550e8400-e29b-41d4-a716-446655440000")
    ['box-0', 'grid0', 'text-org0']
    """
    tokens = set()
    for token in value.split(None, _MOST_TOKENS)[:_MOST_TOKENS]:
        if not _NAME.match(token) or _TRANSIENT.match(token) or _HASH.match(token):
            continue
        token = _MODULE_SUFFIX.sub("", token)
        tokens.add(mask_digits(_HEX.sub("0", token)))
    return sorted(tokens)
