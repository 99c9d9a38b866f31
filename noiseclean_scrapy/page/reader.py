"""The nodes of a document to the columns of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from noiseclean_scrapy.page.attributes import (
    IMAGE_SOURCES,
    LONGEST_VALUE,
    SPANNING,
    SPANS,
    STARTS,
    STYLED,
    count,
    image_sources,
    is_formula,
    is_placeholder,
    later_source,
    list_start,
    role_of,
    span,
)
from noiseclean_scrapy.page.budget import PageBudget
from noiseclean_scrapy.page.code_language import CODE_LANGUAGES, code_language
from noiseclean_scrapy.page.controls import named_by_controls
from noiseclean_scrapy.page.document import collapse
from noiseclean_scrapy.page.formula import symbols, tex
from noiseclean_scrapy.page.hidden import (
    FOLDED,
    HIDDEN,
    is_sign,
    is_unseen,
    numbers_line,
    style_hides,
)
from noiseclean_scrapy.page.inline import BEGIN, BREAK, END, MARKS, NAMED
from noiseclean_scrapy.page.labels import PUBLISHED_ATTRIBUTES, styling
from noiseclean_scrapy.page.page import PageTable, Rule
from noiseclean_scrapy.page.pictures import HIDING_PICTURES, fallback_source, hides_picture
from noiseclean_scrapy.page.sentences import (
    class_of,
    ends_line,
    has_lines,
    is_break,
    is_drawing,
    is_line,
    stands_in_sentence,
    texts_beside,
)
from noiseclean_scrapy.page.tags import (
    ANCHOR,
    CODE,
    IMAGE,
    IS_BLOCK,
    IS_LINE,
    IS_LINK,
    IS_LOOSE,
    IS_MARKED,
    IS_SKIPPED,
    IS_VERBATIM,
    LINE_BREAK,
    NEVER_HIDDEN,
    ROLES,
    VERBATIM,
    tags_of,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

FORMULA = "math"
FORMULA_PICTURE = "katex-html"
"""The class of what KaTeX draws beside the MathML of the same formula."""
MOST_MARKS = 8
"""Inline elements in each other whose marks are kept: an element that is open marks every run."""
MOST_STYLINGS = 20_000
STYLING = frozenset("id class role bgcolor width align itemprop style hidden aria-hidden".split())
_NOWHERE = 1 << 62
DEEPEST = 100
LONGEST_KEPT = 1000  # characters of the attributes of an element that is remembered


class BudgetSpent(Exception):  # noqa: N818
    """The page has more elements or blocks than are read of one."""


class NotCompiled(Exception):  # noqa: N818
    """The document has what the compiled reader leaves to the one here.

    That is formulas, namespaces, more than a hundred different tags, or thousands of levels.
    """


class NodeReader:
    """Reads elements of one document, one after the other, into one table.

    `body` is the element that the others belong to. `skipped` are the tags that are never read,
    `ruled` the elements with a rule of the user.
    """

    def __init__(
        self,
        body: _Element,
        skipped: frozenset[str],
        ruled: Mapping[_Element, Rule],
        budget: PageBudget,
    ) -> None:
        self.body = body
        self.table = PageTable()
        self._most = budget.elements
        self._reads_hidden = budget.hidden
        self._mended = budget.mended
        self._display = budget.display
        self._names = STYLING | PUBLISHED_ATTRIBUTES if budget.display else STYLING
        self._tags = tags_of(skipped)
        self._ruled = ruled
        # What those nodes are of which the tag does not tell.
        self._special = {body: IS_BLOCK}
        for node, rule in ruled.items():
            kind = self._tags[node.tag][2] & ~IS_LOOSE
            self._special[node] = kind | IS_BLOCK if rule == "drop" else IS_BLOCK
            if rule == "drop" and self._is_mere_part(node, kind):
                self._special[node] = IS_SKIPPED
        self._open: list[int] = []  # the block-level elements around
        self._rules: list[Rule | None] = []  # of each block-level element
        self._anchors: list[str] = []  # targets of the open anchors
        self._pieces: list[str] = []
        self._linked: list[str] = []  # those of the pieces that are anchor text
        self._images: list[str] = []
        self._links: list[str] = []
        self._breaks = False
        self._marked: list[str] = []  # the pieces with the marks of inline elements
        self._marks: list[str] = []  # of the open ones
        self._is_marked = False
        self._verbatim = 0  # how many open elements keep their white space
        self._empty_lines = 0  # before the next block of one
        self._has_formula = False

    def walk(self, top: _Element, top_test: str, top_number: int) -> None:
        """Read an element, whose node test in an XPath and number are given.

        What a node costs here is most of what a page costs. Raises BudgetSpent.
        """
        tags, special, pieces = self._tags, self._special, self._pieces
        stack: list[tuple[_Element, int, Iterator[_Element], dict[str, int], int]] = []
        children = iter((top,))
        numbers: dict[str, int] = {}  # how many children of each name the open element had so far
        count = 0  # of all its children
        inline = _NOWHERE  # from this depth on nothing holds a block-level element
        while True:
            for node in children:
                name, test, kind = tags[node.tag]
                has_children = len(node) > 0
                if kind != IS_BLOCK:
                    if node in special:
                        kind = special[node]
                    else:
                        is_loose = kind & IS_LOOSE
                        if is_loose:
                            is_inline = len(stack) >= inline or stands_in_sentence(
                                node, mended=self._mended
                            )
                            kind = 0 if is_inline else IS_BLOCK
                        if has_children and not kind and len(stack) < inline:
                            if self._holds_block(node, is_loose):
                                kind = IS_BLOCK
                            else:
                                inline = len(stack)
                if not kind and name not in NEVER_HIDDEN and self._is_hidden(node):
                    kind = IS_SKIPPED
                if inline == len(stack) and (kind or name == FORMULA):
                    inline = _NOWHERE  # it is not gone into
                if test:
                    count += 1
                    number = numbers[test] = numbers.get(test, 0) + 1
                    if name == FORMULA and not kind:
                        self._read_formula(node)
                    elif not kind & IS_SKIPPED:
                        if kind & IS_BLOCK:
                            if not stack:
                                test, number = top_test, top_number
                            elif test == "*":
                                number = count
                            self._open_element(node, name, test, number)
                        if name in ROLES:
                            kind |= self._read_role(node, name, ROLES[name])
                        text = node.text
                        if text and (pieces or self._verbatim or not text.isspace()):
                            self.add(text)
                        if has_children:
                            stack.append((node, kind, children, numbers, count))
                            children, numbers, count = iter(node), {}, 0
                            break
                        if kind:
                            self._close(node, kind)
                if stack:
                    text = node.tail
                    if text and (pieces or self._verbatim or not text.isspace()):
                        self.add(text)
            else:
                if not stack:
                    return
                node, kind, children, numbers, count = stack.pop()
                if len(stack) == inline:
                    inline = _NOWHERE
                if kind:
                    self._close(node, kind)
                if stack:
                    self.add(node.tail)

    def _is_hidden(self, node: _Element) -> bool:
        """Whether inline content is a sign, or hidden by its style or class and not asked for."""
        if self._has_formula and node.get("class") == FORMULA_PICTURE:
            return True  # what it shows has been read
        if not len(node):
            text = node.text or ""
            if self._verbatim and numbers_line(text, node.get("class") or ""):
                return True
            if node.tag == "a" and is_sign(text, node.get("href") or ""):
                return True
        if self._reads_hidden:
            return False
        style, name = node.get("style"), node.get("class")
        if (style and style_hides(style[:LONGEST_VALUE])) or (
            name and is_unseen(name[:LONGEST_VALUE])
        ):
            return True
        return node.get("hidden") is not None

    def _hides_picture(self, node: _Element) -> bool:
        if self._reads_hidden or (self._ruled and self._rules[self._open[-1]] == "keep"):
            return False
        return hides_picture(*map(node.get, HIDING_PICTURES))

    def _holds_block(self, node: _Element, is_loose: int) -> bool:
        """Whether an inline element holds a block-level one, and so is one; notes what else is.

        What has an unknown name is inline in one that has.

        In the elements before the one that is found there is none, so that no element is looked at
        more than twice.
        """
        tags, special = self._tags, self._special
        in_sentence: dict[_Element, bool] = {}
        descendants = node.iterdescendants()
        for below in descendants:
            kind = special.get(below, tags[below.tag][2])
            is_hollow = kind & IS_SKIPPED and len(below) and self._mended
            if is_hollow and is_drawing(below, node, in_sentence):
                inside = sum(1 for _ in below.iterdescendants())
                next(islice(descendants, inside, inside), None)
                continue
            if kind & IS_LOOSE and (is_loose or stands_in_sentence(below, mended=self._mended)):
                kind = 0
            if kind & IS_BLOCK:
                around: Any = below
                while around is not node:
                    special.setdefault(around, tags[around.tag][2] & ~IS_LOOSE | IS_BLOCK)
                    around = around.getparent()
                return True
        return False

    def _open_element(self, node: _Element, name: str, test: str, number: int) -> None:
        if self._pieces or self._images or self._links or self._breaks:
            self.flush()
        if len(self._open) >= DEEPEST:
            self._open.append(self._open[-1])
            return
        table = self.table
        index = len(table.tags)
        if index >= self._most:
            raise BudgetSpent
        parent = self._open[-1] if self._open else -1
        items = cast("list[tuple[str, str]]", node.items())
        names = self._names
        attributes = tuple([(key, value[:LONGEST_VALUE]) for key, value in items if key in names])
        is_short = sum([len(value) for _, value in attributes]) <= LONGEST_KEPT
        read_styling = _kept_styling if is_short else styling
        styled = read_styling(name, attributes, self._display) if attributes else (name, 0)
        label, hidden = styled
        if hidden == HIDDEN and not self._reads_hidden and self._is_controlled(node):
            hidden = FOLDED
        label = label if node is not self.body or self._display else name
        table.add_element(parent, name, label, test, number, hidden)
        if items and name in STARTS:
            start = count(node.get(STARTS[name]))
            if name == "ol" and node.get("reversed") is not None:
                start = list_start(start, sum(1 for _ in node.iterchildren("li")))
            if start is not None:
                table.starts[index] = start
        elif items and name in SPANNING and any(map(node.get, SPANS)):
            table.spans[index] = span(*map(node.get, SPANS))
        role, style = node.get("role"), node.get("style") if name in STYLED else None
        if role or style:
            role = role_of(name, role, node.get("aria-level"), style)
            if role:
                table.roles[index] = role
        if self._ruled:
            self._rules.append(self._rule(node, parent))
        self._open.append(index)

    def _is_controlled(self, node: _Element) -> bool:
        name = node.get("id")
        return bool(name) and name in self._controlled

    @cached_property
    def _controlled(self) -> frozenset[str]:
        return named_by_controls(self.body)

    def _is_mere_part(self, node: _Element, kind: int) -> bool:
        """Whether an element that is to be dropped is a part of a sentence, which stays one."""
        parent = node.getparent()
        if kind or parent is None:
            return False
        is_inside = not self._tags[parent.tag][2] or bool("".join(texts_beside(node)).strip())
        return is_inside and not any(
            self._tags[part.tag][2] & IS_BLOCK or part in self._ruled
            for part in node.iterdescendants()
        )

    def _rule(self, node: _Element, parent: int) -> Rule | None:
        if parent >= 0:
            return self._ruled.get(node, self._rules[parent])
        around = (node, *node.iterancestors())
        return next((self._ruled[part] for part in around if part in self._ruled), None)

    def _read_role(self, node: _Element, name: str, role: int) -> int:
        """Read an element that is more than its text, and tell what is to be done at its end."""
        self._verbatim += role == VERBATIM
        is_code = self._verbatim and role in (VERBATIM, CODE)
        if is_code:
            names = map(node.get, CODE_LANGUAGES)
            if language := code_language(node.get("class"), *names):
                self.table.languages.setdefault(self._open[-1], language)
        if role == VERBATIM:
            return IS_VERBATIM
        if role == LINE_BREAK:
            self._read_break()
            return 0
        if role == IMAGE:
            source, shown = image_sources(*map(node.get, IMAGE_SOURCES))
            if source:
                if is_placeholder(shown):
                    shown = later_source(cast("list[tuple[str, str]]", node.items()))
                    shown = shown or fallback_source(node, self._tags.skipped)
                if not is_formula(shown) and self._hides_picture(node):
                    shown = ""
                self._images.append(source)
                number = self._detail(shown, node.get("alt") or "")
                self._mark(f"{BEGIN}{name}{number}{NAMED}")
            return 0
        if name == "span" and not node.text and not len(node) and is_break(class_of(node)):
            self._mark(BREAK)
            return 0
        kind = IS_MARKED
        if self._verbatim:
            if name == "span" and ends_line(node):
                kind |= IS_LINE
        elif has_lines(node):
            kind |= IS_LINE
            self._mark(BREAK)
        href = node.get("href") if role == ANCHOR else None
        if href:
            kind |= IS_LINK
            self._anchors.append(href)
            self._links.append(href)
        mark = ""
        if len(self._marks) < MOST_MARKS:
            mark = f"{BEGIN}{name}{self._detail(href) if href else ''}{NAMED}"
            self._mark(mark)
        self._marks.append(mark)
        return kind

    def _read_formula(self, node: _Element) -> None:
        self._has_formula = True
        if formula := tex(node):
            self.add("$")
            self._mark(f"{BEGIN}code{NAMED}")
            self.add(formula)
            self._mark(END)
            self.add("$")
        else:
            self.add(symbols(node))

    def _read_break(self) -> None:
        if self._breaks and not self._verbatim:
            self.flush()
        else:
            self._pieces.append(" ")
            self._mark(BREAK)
            self._breaks = True

    def _ends_in_break(self) -> bool:
        return bool(self._pieces) and self._pieces[-1].endswith("\n")

    def _read_empty_line(self, node: _Element) -> None:
        """Remember an element without text, for it is a line of what keeps its white space."""
        element = self._open[-1]
        has_block = bool(self.table.owners) and self.table.owners[-1] == element
        is_innermost = element == len(self.table.tags) - 1
        if is_innermost and not has_block and (node.text or len(node) or is_line(class_of(node))):
            self._empty_lines += 1
            self._marked = self._marks[:MOST_MARKS]

    def _detail(self, *values: str) -> int:
        """The number under which the page knows an address, and what belongs to it."""
        details = self.table.details
        details.extend(values)
        return len(details) - len(values)

    def _mark(self, mark: str) -> None:
        self._marked.append(mark)
        self._is_marked = True

    def _close(self, node: _Element, kind: int) -> None:
        if kind & IS_MARKED and self._marks.pop():
            self._marked.append(END)
        if kind & IS_LINE and not (self._verbatim and self._ends_in_break()):
            self._mark(BREAK)
        if kind & IS_BLOCK:
            if self._pieces or self._images or self._links or self._breaks:
                self.flush()
            if self._verbatim and not kind & IS_VERBATIM:
                self._read_empty_line(node)
            if node is not self.body:  # what the parser put after BODY still belongs to it
                self._open.pop()
        if kind & IS_VERBATIM:
            self._verbatim -= 1
            self._empty_lines = 0
        if kind & IS_LINK:
            self._anchors.pop()
            if kind & IS_BLOCK:
                self._links = self._anchors[-1:]

    def add(self, text: str | None) -> None:
        is_blank = not text or text.isspace()
        if text and (not is_blank or self._pieces or self._verbatim):
            self._marked.append(MARKS.sub("", text))
        if text and (self._pieces or not is_blank):
            self._pieces.append(text)
            if self._anchors:
                self._linked.append(text)
            if self._breaks and not is_blank:
                self._breaks = False

    def flush(self) -> None:
        """End the current run of inline content."""
        if self._pieces or self._images:
            text = collapse(self._pieces)
            if text or self._images:
                self._add_block(text)
                self._images.clear()
            self._pieces.clear()
            self._linked.clear()
        self._links = self._anchors[-1:]  # an anchor may span several runs
        self._marked = self._marks[:MOST_MARKS]
        self._is_marked = bool(self._marked)
        self._breaks = False

    def _add_block(self, text: str) -> None:
        table = self.table
        if len(table.texts) >= self._most:
            raise BudgetSpent
        element = self._open[-1]
        linked = min(len(collapse(self._linked)), len(text)) if self._linked else 0
        rule = self._rules[element] if self._ruled else None
        if self._is_marked or self._verbatim:
            lines, self._empty_lines = self._empty_lines, 0
            table.sources[len(table.texts)] = BREAK * lines + "".join(self._marked)
        table.add_block(element, text, linked, tuple(self._images), tuple(self._links), rule)


_kept_styling = lru_cache(maxsize=MOST_STYLINGS)(styling)
