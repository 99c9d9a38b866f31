"""What stands in a block as HTML: emphasis, code, links, images; all text is escaped."""

from __future__ import annotations

from html import escape

from noiseclean_scrapy.page.inline import Inline, MarkupOptions, References
from noiseclean_scrapy.page.inline_tokens import Token

_TAGS = {
    **{name: name for name in "code kbd samp ins sub sup q mark ruby rt rp".split()},
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("i", "em"), "em"),
    **dict.fromkeys(("s", "strike", "del"), "del"),
    "tt": "code",
}
"""The inline elements that tell how text is written, and what they are in HTML."""


def inline_html(inline: Inline, options: MarkupOptions) -> str:
    """The content of a block, escaped."""
    if inline.source is None:
        return escape(inline.text, quote=False)
    references = inline.references
    pieces: list[str] = []
    open_tags: list[str] = []
    read = inline.content if options.include_formatting else inline.tokens
    for token in read(options):
        if token.kind == "text":
            pieces.append(escape(token.value, quote=False))
        elif token.kind == "break":
            pieces.append("<br>")
        elif token.kind == "formula":
            formula = escape(token.value, quote=False)
            pieces.append(
                f"$<code>{formula}</code>$" if options.include_formatting else f"${formula}$"
            )
        elif token.kind == "image":
            pieces.append(_image(token, references))
        elif token.kind == "begin":
            tag, address = element_of(token, references, options)
            tag = "" if tag in open_tags and tag != "q" else tag  # links in links are none
            open_tags.append(tag)
            if tag:
                pieces.append(f'<{tag} href="{escape(address)}">' if address else f"<{tag}>")
        elif tag := open_tags.pop():
            pieces.append(f"</{tag}>")
    return "".join(pieces)


def _image(token: Token, references: References) -> str:
    address = references.address(token.detail)
    return f'<img src="{escape(address)}" alt="{escape(token.value)}">' if address else ""


def element_of(token: Token, references: References, options: MarkupOptions) -> tuple[str, str]:
    """The tag of an element in HTML, empty where it is left out, and where a link leads."""
    if token.value == "a":
        is_wanted = options.include_links and references.has_links and token.detail >= 0
        address = references.address(token.detail) if is_wanted else ""
        return ("a" if address else "", address)
    return _TAGS.get(token.value, "") if options.include_formatting else "", ""
