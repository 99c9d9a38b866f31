r"""The text of a block with marks for what stands in it: emphasis, links, images, line breaks.

A mark begins an inline element, with its tag and the number of its details (see `PageTable`), ends
the innermost one, or breaks the line. All other characters are text as the page has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import urljoin, urlsplit

import numpy as np

from noiseclean_scrapy.page.apart import begins_line, is_initial, stand_apart
from noiseclean_scrapy.page.attributes import is_formula
from noiseclean_scrapy.page.characters import JOINERS, with_blanks, without_controls
from noiseclean_scrapy.page.inline_tokens import Token, plain_text, text_within
from noiseclean_scrapy.page.urls import LONGEST_ADDRESS, has_overlong_host, host_name, quoted

BEGIN, NAMED, END, BREAK = "\x01", "\x02", "\x03", "\x04"
MARKS = re.compile(f"[{BEGIN}-{BREAK}]")

_TOKEN = re.compile(f"{BEGIN}([a-z]+)([0-9]*){NAMED}|({END})|({BREAK})|([^{BEGIN}-{BREAK}]+)")
CODE = frozenset({"code", "kbd", "samp"})
"""Inline elements that are code in Markdown."""
_NUMBER = re.compile(f"{BEGIN}a([0-9]+){NAMED}[0-9]{{1,3}}{END}")
"""A link of digits."""
_ALTERS = re.compile(f"{BREAK}|{BEGIN}(?:img|rt|q|sup|time|cite)|{_NUMBER.pattern}|{END}{BEGIN}")
"""What may make the text another one than that of the block."""
_BEHIND_WORD = re.compile(rf"[^\s\[({BEGIN}-{BREAK}]{END}*(?:{BEGIN}(?!sup)[a-z]+[0-9]*{NAMED})*$")
_LONGEST_NAME = 100
_NAMES_NOTE = re.compile(
    r"#(?:user-content-|easy-)?_?(?:fn|ftn|edn|foot-?note|end-?note|note|cite_?note|mfn|ref(?:erence)?)"
    r"s?(?:[-_:.][-_:.a-z0-9]{0,40})?[0-9]{1,4}$",
    re.IGNORECASE | re.ASCII,
)
"""The place on a page that a note's number leads to."""
_RAISED = str.maketrans("0123456789+-\u2212\u2013=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿ")
_RAISES = re.compile("[0-9+\\-\u2212\u2013=()n, ]+")
"""What is raised by characters of its own: 10⁶ and the numbers of notes, but not 20th."""
_POWER = re.compile("[+\\-\u2212\u2013]?[0-9]+[./][0-9]+")
"""What would be a part of the number before, and has no such characters: 10^6.5, but not 499.00."""
_QUOTES = frozenset("\"'“”„‘’‚«»‹›「『")
_ODD_SPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")
"""White space that is a control character or breaks lines, but not in HTML."""
_DELIMITERS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))
_UNDELIMITED = re.compile(r"(?:\\[^()\[\]]|[^\\$])+")
"""TeX without any of these; what is behind a backslash is no sign of its own."""


@dataclass(frozen=True, slots=True)
class MarkupOptions:
    """What HTML and Markdown hold besides the text; the names are those of trafilatura."""

    include_links: bool = False
    include_images: bool = False
    include_formatting: bool = True

    def __post_init__(self) -> None:
        for part in fields(self):
            object.__setattr__(self, part.name, flag(getattr(self, part.name)))


def flag(value: Any) -> bool:
    """The value, which has to be one of Python's or numpy's, else a TypeError."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{value!r} is neither true nor false")
    return bool(value)


PLAIN = MarkupOptions()


@dataclass(frozen=True, slots=True)
class References:
    """What the marks of a page refer to: its details, and the address of the page itself.

    `has_links` is False where links are left out, for they would be too long together.
    """

    details: Sequence[str] = ()
    base: str = ""
    has_links: bool = True

    def address(self, number: int) -> str:
        """A detail as an absolute web address, empty where it is none, or a place on the page."""
        try:
            detail = self.details[number]
            if not detail or detail.startswith("#") or len(detail) > LONGEST_ADDRESS:
                return ""
            link = without_controls(detail).strip()
            if has_overlong_host(link):
                return ""
            joined = urljoin(self.base, link)
            parts = urlsplit(joined)
            if not parts.netloc.isascii():
                user, at, rest = parts.netloc.rpartition("@")
                name, colon, port = rest.partition(":")
                netloc = f"{user}{at}{host_name(name)}{colon}{port}"
                joined = parts._replace(netloc=netloc).geturl()
            is_web = parts.scheme in {"http", "https"} and bool(parts.netloc)
            return quoted(joined) if is_web and len(joined) <= LONGEST_ADDRESS else ""
        except (IndexError, ValueError):
            return ""

    def image(self, number: int) -> tuple[str, str]:
        """Source and alternative text of an image, as the page has them."""
        source, alternative = self.details[number : number + 2]
        return source, " ".join(without_controls(alternative).split())


@dataclass(frozen=True, slots=True)
class Inline:
    """The content of one text block. `source` is its text with marks, where it has any."""

    text: str
    source: str | None = None
    is_preformatted: bool = False
    references: References = field(default_factory=References)
    is_heading: bool = False

    @property
    def is_verbatim(self) -> bool:
        """Whether all white space counts: within PRE, and where CODE of several lines is all."""
        if self.source is None or self.is_preformatted:
            return self.is_preformatted
        return _is_code(self.source)

    @property
    def bold(self) -> Inline:
        """The same, in bold type."""
        source = f"{BEGIN}b{NAMED}{self.text if self.source is None else self.source}{END}"
        return replace(self, source=source)

    @property
    def plain(self) -> str:
        """The text with its line breaks."""
        if self.source is None:
            return self.text
        if self.is_verbatim:
            return _verbatim(self.source)
        if not (self.is_heading or _ALTERS.search(self.source)):
            return self.text
        return "".join(map(plain_text, self.tokens(PLAIN)))

    @property
    def lines(self) -> str:
        """The same, of what keeps its white space with the empty lines before it."""
        source = self.source or ""
        empty = len(source) - len(source.lstrip(BREAK)) if self.is_verbatim else 0
        return "\n" * empty + self.plain

    def shows(self, options: MarkupOptions) -> bool:
        """Whether anything is left of it: a picture may have no address, a text be of joiners."""
        return any(t.kind != "text" or t.value.strip(JOINERS) for t in self.tokens(options))

    def tokens(self, options: MarkupOptions) -> Iterable[Token]:
        """The content in order, with characters for what Q and SUP say."""
        return _without_elements(self.content(options))

    def content(self, options: MarkupOptions) -> list[Token]:
        """The content in order, as its elements have it."""
        source = _NUMBER.sub(self._raised, self.source) if self.source else self.text
        return _tokens(source, self.references, options, is_heading=self.is_heading)

    def _raised(self, link: re.Match[str]) -> str:
        """The number of a note behind a word as SUP has it; that of anything else as it is."""
        number = int(link[1])
        href = "".join(self.references.details[number : number + 1])
        if not _NAMES_NOTE.search(href[-_LONGEST_NAME:]):
            return link[0]
        before = link.string[max(0, link.start() - _LONGEST_NAME) : link.start()]
        is_bracketed = max(map(before.rfind, "[(")) > max(map(before.rfind, "])"))
        if is_bracketed or not _BEHIND_WORD.search(before):
            return link[0]
        return f"{BEGIN}sup{NAMED}{link[0]}{END}"


def _is_code(source: str) -> bool:
    """Whether all text stands in CODE, on several lines."""
    if f"{BEGIN}code" not in source:
        return False
    open_tags: list[str] = []
    pieces: list[str] = []
    for name, _, end, line_break, text in _TOKEN.findall(source):
        if name and name != "img":
            open_tags.append(name)
        elif end and open_tags:
            open_tags.pop()
        elif text and not text.isspace() and "code" not in open_tags:
            return False
        pieces.append("\n" if line_break else text)
    return "\n" in "".join(pieces).strip()


def _verbatim(source: str) -> str:
    text = "".join(
        "\n" if line_break else text for _, _, _, line_break, text in _TOKEN.findall(source)
    )
    text = with_blanks(without_controls(text.replace("\r\n", "\n").replace("\r", "\n")))
    text = _ODD_SPACE.sub(" ", text)
    return "\n".join([line.rstrip() for line in text.split("\n")]).strip("\n")


def _tokens(
    source: str, references: References, options: MarkupOptions, *, is_heading: bool
) -> list[Token]:
    """The content in order: white space collapsed, all that begins ends, nothing is empty.

    Blanks and breaks stand outside of elements wherever they can.
    """
    found: list[Token] = []
    open_tags: list[str] = []
    is_bracketed = False  # whether brackets are put around the open reading of a character
    opening, closed = _bracket("("), -1  # behind the last bracket that was put there
    before = ""  # the last text
    gap, at = "", 0  # what stands between the last text and the next one, and where
    for name, detail, end, line_break, text in _TOKEN.findall(source):
        content = None
        if name == "img":
            content = _image(int(detail), references, options) if detail else None
        elif name:
            if name == "rt" and len(found) == closed:  # one reading in several elements
                del found[-len(opening) :]
                at = len(found)
            elif name == "rt":
                is_bracketed = found[-1:] != [Token("end", "rp")]
                found += opening if is_bracketed else ()
            found.append(Token("begin", name, int(detail) if detail else -1))
            open_tags.append(name)
        elif end and open_tags:
            ended = open_tags.pop()
            at = _end(found, ended, at)
            if is_bracketed and found[-1:] == [Token("end", "rt")]:
                found += _bracket(")")
                at = closed = len(found)
            elif is_bracketed and ended == "rt":  # an empty one
                del found[-len(opening) :]
        elif line_break:
            gap = "\n"
        elif text:
            text = with_blanks(without_controls(text))
            if words := text.split():
                content = Token("text", " ".join(words))
            gap = gap or (" " if text[:1].isspace() else "")
            around = open_tags[: len(open_tags) + at - len(found)]  # both texts
            if content and not gap and at and CODE.isdisjoint(around):
                beside = before, found[at - 1 :], text
                is_apart = stand_apart(*beside) or (is_heading and begins_line(*beside))
                is_apart = is_apart and not is_initial(before, found, at, text)
                gap = " " if is_apart else ""
        if content:
            if gap and at:
                found.insert(at, Token("break") if gap == "\n" else Token("text", gap))
            found.append(content)
            glued = before[-1:] if at and not gap else ""
            before = glued + content.value if content.kind == "text" else ""
            gap, at = " " if text[-1:].isspace() else "", len(found)
    while open_tags:
        at = _end(found, open_tags.pop(), at)
    return found


def _without_elements(content: Sequence[Token]) -> Iterator[Token]:
    """The content with characters for what Q and SUP say: quotation marks, raised digits."""
    open_tags: list[str] = []
    last = ""  # character of the text so far
    for index, token in enumerate(content):
        if token.kind == "begin":
            is_quoted = token.value == "q" and content[index + 1].value[:1] not in _QUOTES
            raised = text_within(content, index) if token.value == "sup" else ""
            is_raised = _RAISES.fullmatch(raised)
            change = "quoted" if is_quoted else "raised" if is_raised else token.value
            open_tags.append(change)
            yield token
            if is_quoted:
                yield Token("text", "“")
            elif (last.isalnum() or last == ")") and _POWER.fullmatch(raised):
                is_fraction = last.isdigit() and "/" in raised  # five and a half
                yield Token("text", " " if is_fraction else "^")
        elif token.kind == "end":
            if open_tags.pop() == "quoted":
                yield Token("text", "”")
            yield token
        elif token.kind == "text" and "raised" in open_tags:
            yield token._replace(value=token.value.translate(_RAISED))
        else:
            last = token.value[-1:] if token.kind == "text" else ""
            yield token


def _bracket(text: str) -> tuple[Token, ...]:
    """A bracket for readers that do not know readings of characters (RUBY)."""
    return Token("begin", "rp"), Token("text", text), Token("end", "rp")


def _image(detail: int, references: References, options: MarkupOptions) -> Token | None:
    """What is to stand for an image: a formula, itself, or nothing."""
    address, alternative = references.image(detail)
    if alternative and is_formula(address):
        return Token("formula", _undelimited(alternative))
    is_wanted = options.include_images and bool(references.address(detail))
    return Token("image", alternative, detail) if is_wanted else None


def _undelimited(tex: str) -> str:
    r"""A formula without the delimiters around all of it.

    >>> _undelimited("$a_1$"), _undelimited(r"\[ a \]"), _undelimited("$a$ and $b$")
    ('a_1', 'a', '$a$ and $b$')
    """
    for begin, end in _DELIMITERS:
        inside = tex[len(begin) : -len(end)]
        if tex == begin + inside + end and _UNDELIMITED.fullmatch(inside):
            return inside.strip() or tex
    return tex


def _end(found: list[Token], name: str, at: int) -> int:
    """End an element; gives the place of a gap that was at `at`."""
    if found[-1].kind == "begin":
        found.pop()
        return at
    found.append(Token("end", name))
    return len(found) if at == len(found) - 1 else at
