"""What stands in a block as Markdown: emphasis, code, links; all text is escaped.

It is CommonMark, with what is struck out as GitHub writes it."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple, TypeAlias

from noiseclean_scrapy.page.inline import CODE, Inline, MarkupOptions
from noiseclean_scrapy.page.inline_html import element_of
from noiseclean_scrapy.page.inline_tokens import plain_text

_LOOKS = 4  # at delimiters that others beside them have been left out of
_DELIMITERS = {"strong": "**", "em": "*", "del": "~~"}
_SPECIAL = re.compile(
    r"[\\`*\[\]<|~]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # inside a word it means nothing
    r"|&(?=#?\w+;)"
    r"|(?<!\S)#"
)
_REFERENCE = re.compile(r"&(?=#?\w+;)")
_SPECIAL_AT_LINE_START = re.compile(
    rf"^(?:[>:]|[-+=](?=[-+=:\s]|$)|\d{{1,9}}[.)](?=\s|$))|{_SPECIAL.pattern}"
)


class _Mark(NamedTuple):
    """What stands in Markdown as it is. `pair` is the number of a delimiter's pair."""

    text: str
    pair: int = -1
    code: str = ""  # the text in a code span


_Parts: TypeAlias = "list[str | _Mark]"


def inline_markdown(
    content: Inline, options: MarkupOptions, *, line_break: str = "\\\n", in_cell: bool = False
) -> str:
    """The content of a block, escaped; `in_cell` of a table, whose cells end with `|`."""
    references = content.references
    parts: _Parts = []
    open_tags: list[tuple[str, str, int]] = []
    code: list[str] | None = None

    def end_code() -> None:
        """Write the code so far: a link in it is one of code, between two spans."""
        if code:
            parts.append(_code_span("".join(code), in_cell))
            code.clear()

    for number, token in enumerate(content.tokens(options)):
        if token.kind == "begin":
            tag, address = element_of(token, references, options)
            is_plain = code is not None and tag != "a"
            if is_plain or any(tag == name for name, _, _ in open_tags):
                tag = ""
            open_tags.append((tag, address, number))
            if tag == "a":
                end_code()
                parts.append(_Mark("["))
            elif tag in CODE:
                code = []
            elif tag in _DELIMITERS:
                delimiter = _DELIMITERS[tag]
                last = parts[-1] if parts else ""
                if isinstance(last, _Mark) and last.pair >= 0 and last.text == delimiter:
                    parts.pop()  # one has just ended: the two are one
                    open_tags[-1] = (tag, address, last.pair)
                else:
                    parts.append(_Mark(delimiter, number))
        elif token.kind == "end":
            tag, address, begun = open_tags.pop()
            if tag == "a":
                end_code()
                parts.append(_Mark(f"]({_target(address)})"))
            elif tag in CODE:
                end_code()
                code = None
            elif tag in _DELIMITERS:
                parts.append(_Mark(_DELIMITERS[tag], begun))
        elif token.kind == "image":
            if address := references.address(token.detail):
                end_code()
                parts.append(_Mark(f"![{_escaped(token.value)}]({_target(address)})"))
        elif code is not None:
            code.append(plain_text(token).replace("\n", " "))
        elif token.kind == "formula":
            is_code = options.include_formatting
            parts += ["$", _code_span(token.value, in_cell) if is_code else token.value, "$"]
        else:
            parts.append(token.value or _Mark(line_break))
    _part_codes(parts)
    for _ in range(_LOOKS):
        if not _drop_invalid_pairs(parts):
            break
        _part_codes(parts)
    return _joined(parts)


def _code_span(text: str, in_cell: bool) -> str | _Mark:
    r"""Code; what cannot be code in a cell, where `\|` stands for `|`, is text."""
    if in_cell and "\\|" in text:
        return text
    fence = "`" * (1 + max([0, *map(len, re.findall("`+", text))]))
    room = " " if "`" in (text[0], text[-1]) else ""
    shown = text.replace("|", "\\|") if in_cell else text
    return _Mark(f"{fence}{room}{shown}{room}{fence}", code=text)


def code_of_cell(text: str) -> str:
    """Lines of code in a cell of a table, which can have but one."""
    code = " ".join(text.split())
    return _joined([_code_span(code, in_cell=True)]) if code else ""


def _target(address: str) -> str:
    return _REFERENCE.sub(r"\\&", address)


def _part_codes(parts: _Parts) -> None:
    """Make code that follows code directly text: two code spans would be one."""
    is_after_code = False
    for index, part in enumerate(parts):
        code = part.code if isinstance(part, _Mark) else ""
        if code and is_after_code:
            parts[index], code = code, ""
        if _shown(part):
            is_after_code = bool(code)


def _drop_invalid_pairs(parts: _Parts) -> bool:
    """Leave out delimiters that CommonMark would take for text, or put together differently.

    Whether there were some: what stood beside them has other neighbours now.
    """
    has_dropped = False
    opened: dict[int, tuple[int, str, int]] = {}
    before, count = " ", 0  # the last character so far, and how many parts are not left out
    for index, part in enumerate(parts):
        if isinstance(part, _Mark) and part.pair >= 0:
            begin, outer, count_before = opened.setdefault(part.pair, (index, before, count))
            if begin < index and not (
                _may_stand(part, outer, _first_after(parts, begin))
                and _may_stand(part, _first_after(parts, index), before)
            ):
                has_dropped = True
                parts[begin] = parts[index] = ""
                before = before if count > count_before + 1 else outer
                count -= 1
                continue
        if text := _shown(part):
            before, count = text[-1], count + 1
    return has_dropped


def _first_after(parts: _Parts, index: int) -> str:
    """The character after a part; a blank where there is none."""
    following = (parts[at] for at in range(index + 1, len(parts)))
    return next(filter(None, map(_shown, following)), " ")[0]


def _shown(part: str | _Mark) -> str:
    return part.text if isinstance(part, _Mark) else part


def _may_stand(delimiter: _Mark, outside: str, inside: str) -> bool:
    """Whether a delimiter between these two opens, or seen from the other side closes."""
    if delimiter.text[0] in (outside, inside) or inside.isspace():
        return False
    return not _is_punctuation(inside) or outside.isspace() or _is_punctuation(outside)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _joined(parts: _Parts) -> str:
    pieces: list[str] = []
    text, begins_line = "", True
    for part in (*parts, _Mark("")):
        if isinstance(part, str):
            text += part
            continue
        if text:
            is_before_link = part.text == "[" and text.endswith("!")  # together an image
            shown = _escaped(text, begins_line=begins_line)
            pieces.append(f"{shown[:-1]}\\!" if is_before_link else shown)
            text, begins_line = "", False
        if part.text:
            pieces.append(part.text)
            begins_line = part.text.endswith("\n")
    return "".join(pieces)


def _escaped(text: str, *, begins_line: bool = True) -> str:
    r"""Text that Markdown shows as it is.

    >>> print(_escaped("1. *Not* a_list & <b>"))
    1\. \*Not\* a_list & \<b>
    """
    special = _SPECIAL_AT_LINE_START if begins_line else _SPECIAL
    return special.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return f"{match[0][:-1]}\\{match[0][-1]}"
