# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""`page.reader` over libxml2's nodes themselves: the same table, without an object for each node.

The structs are those of lxml's public C interface; nothing of libxml2 is called.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset, strcmp, strlen, strncmp
from lxml.includes.etreepublic cimport (
    _Element,
    attributeValue,
    elementFactory,
    import_lxml__etree,
)
from lxml.includes.tree cimport (
    XML_CDATA_SECTION_NODE,
    XML_ELEMENT_NODE,
    XML_TEXT_NODE,
    xmlAttr,
    xmlNode,
)

from array import array

from noiseclean_scrapy.page import attributes, characters, facts, inline, reader, sentences, tags
from noiseclean_scrapy.page.code_language import CODE_LANGUAGES, code_language
from noiseclean_scrapy.page.controls import named_by_controls
from noiseclean_scrapy.page.hidden import (
    FOLDED,
    HIDDEN,
    LONGEST_SIGN,
    is_sign,
    is_unseen,
    numbers_line,
    style_hides,
)
from noiseclean_scrapy.page.page import PageTable
from noiseclean_scrapy.page.pictures import HIDING_PICTURES, fallback_source, hides_picture
from noiseclean_scrapy.page.tags import (
    IS_BLOCK,
    IS_LINE,
    IS_LINK,
    IS_LOOSE,
    IS_MARKED,
    IS_SKIPPED,
    IS_VERBATIM,
    tags_of,
)

cdef extern from "lxml-version.h":
    const char* LXML_VERSION_STRING

cdef extern from "libxml/xmlversion.h":
    const char* LIBXML_DOTTED_VERSION

cdef extern from "built_for.h":
    const char* SOURCE_NODES

SOURCE = SOURCE_NODES.decode()  # a hash of this file as it was compiled
BUILT_FOR = LXML_VERSION_STRING.decode(), LIBXML_DOTTED_VERSION.decode()  # lxml, libxml2

import_lxml__etree()

cdef enum:
    MOST_TAGS = 100
    SLOTS = 256
    MOST_LEVELS = 5000
    NOWHERE = 1 << 30
    BYTES = 256
    MOST_NAMES = 16

cdef int BLOCK = IS_BLOCK, SKIPPED = IS_SKIPPED, LINK = IS_LINK
cdef int MARKED = IS_MARKED, VERBATIM = IS_VERBATIM, LOOSE = IS_LOOSE, LINE = IS_LINE
cdef int ANCHOR = tags.ANCHOR, IMAGE = tags.IMAGE
cdef int LINE_BREAK = tags.LINE_BREAK, KEEPS_SPACE = tags.VERBATIM, CODE = tags.CODE
cdef bytes FORMULA = reader.FORMULA.encode()
cdef Py_ssize_t MOST_MARKS = reader.MOST_MARKS
cdef bytes BEGIN = inline.BEGIN.encode(), NAMED = inline.NAMED.encode()
cdef bytes END = inline.END.encode(), BREAK = inline.BREAK.encode()
cdef unsigned char FIRST_MARK = min(BEGIN + NAMED + END + BREAK)
cdef unsigned char LAST_MARK = max(BEGIN + NAMED + END + BREAK)
cdef int MOST_STYLINGS = reader.MOST_STYLINGS
cdef int DEEPEST = reader.DEEPEST
cdef int MOST_AROUND = sentences.MOST_AROUND
cdef int MOST_COMMENTS = sentences.MOST_COMMENTS
cdef Py_ssize_t LONGEST_VALUE = attributes.LONGEST_VALUE
cdef size_t LONGEST_KEPT = reader.LONGEST_KEPT
cdef size_t MOST_SIGN_BYTES = 4 * LONGEST_SIGN
cdef frozenset NEVER_HIDDEN = tags.NEVER_HIDDEN
cdef dict STARTS = {tag: name.encode() for tag, name in attributes.STARTS.items()}
cdef frozenset SPANNING = attributes.SPANNING, STYLED = attributes.STYLED
cdef bytes COLUMNS = attributes.SPANS[0].encode(), ROWS = attributes.SPANS[1].encode()
cdef tuple IMAGE_SOURCES = tuple([name.encode() for name in attributes.IMAGE_SOURCES])
cdef tuple LANGUAGES = tuple([name.encode() for name in CODE_LANGUAGES])
cdef tuple HIDING = tuple([name.encode() for name in HIDING_PICTURES])
cdef tuple ZERO_WIDTH = tuple([character.encode() for character in characters.ZERO_WIDTH])
# Whether what has no width begins with a byte: few others need a look.
cdef bint[BYTES] _begins_zero_width
for _name in ZERO_WIDTH:
    _begins_zero_width[<unsigned char> _name[0]] = True
cdef int TELLS = facts.TELLS, LEADS_AWAY = facts.LEADS_AWAY
cdef dict _mark_bits = {}  # of short marks, on pages of any site
cdef dict _stylings = {}  # of elements whose attributes are short, on pages of any site


cdef struct Names:
    unsigned long long firsts  # a bit for each first letter, by its last six bits
    size_t count
    (const char*)[MOST_NAMES] names


cdef list _kept_names = []  # what the pointers in them lead to


cdef Names _names(list encoded) except *:
    """Names, which must be kept as long as these."""
    cdef Names found
    cdef size_t index
    found.count, found.firsts = len(encoded), 0
    if found.count > MOST_NAMES:
        raise ValueError(f"{encoded} are too many names")
    for index in range(found.count):
        found.names[index] = <bytes> encoded[index]
        found.firsts |= <unsigned long long> 1 << (found.names[index][0] & 63)
    return found


cdef Names _lasting(names) except *:
    _kept_names.append([(<str> name).encode() for name in names])
    return _names(_kept_names[len(_kept_names) - 1])


cdef Names STYLING = _lasting(reader.STYLING)
cdef Names TELLING_TAGS = _lasting(facts.TELLING_TAGS)
cdef Names ELSEWHERE_TAGS = _lasting(facts.ELSEWHERE_TAGS)
cdef Names LEADING_MARKS = _lasting(facts.LEADING_MARKS)
cdef Names OTHER_MARKS = _lasting(set(facts.TELLING_MARKS) - set(facts.LEADING_MARKS))


cdef struct TagInfo:
    char kind
    char test  # a number of the node test
    char is_star
    char may_hide
    char role  # one of tags.ROLES, or 0


cdef struct Frame:
    xmlNode* node
    int kind
    int count  # of all its children so far


cdef struct Text:
    char* data
    size_t size
    size_t room


cdef struct Numbers:
    int* data
    size_t size
    size_t room


cdef class NodeReader:
    """See `page.reader.NodeReader`; raises NotCompiled where that one is needed."""

    cdef _Element _body
    cdef object _tags
    cdef Py_ssize_t _most
    cdef bint _reads_hidden, _mended
    cdef dict _special  # by the address of the node
    cdef dict _tests
    cdef frozenset _controlled  # ids, once they are asked for
    cdef list _anchors, _images, _links, _marks
    cdef bint _has_pieces, _breaks, _is_marked
    cdef int _verbatim, _empty_lines
    cdef Text _pieces, _linked, _marked, _scratch
    # of the tags
    cdef const unsigned char* _names[SLOTS]
    cdef char _slots[SLOTS]
    cdef TagInfo _infos[MOST_TAGS]
    cdef list _tag_names, _node_tests, _begins
    # of the open elements
    cdef Frame* _frames
    cdef int* _counts  # of each frame, by node test
    cdef int _levels
    cdef Numbers _open
    # the table
    cdef Numbers _parents, _numbers, _owners, _link_characters, _opened
    cdef Text _hidden
    cdef list _element_tags, _labels, _tests_of, _texts, _block_images, _block_links, _details
    cdef dict _sources, _starts, _spans, _languages, _roles

    def __cinit__(self):
        memset(self._names, 0, sizeof(self._names))

    def __init__(self, _Element body not None, skipped, budget):
        self._body = body
        self._tags = tags_of(skipped)
        self._most = budget.elements
        self._reads_hidden = budget.hidden
        self._mended = budget.mended
        self._special, self._tests = {}, {}
        self._anchors, self._images, self._links, self._marks = [], [], [], []
        self._tag_names, self._node_tests, self._begins = [], [], []
        self._element_tags, self._labels, self._tests_of = [], [], []
        self._texts, self._block_images, self._block_links = [], [], []
        self._sources, self._details = {}, []
        self._starts, self._spans, self._languages, self._roles = {}, {}, {}, {}

    def __dealloc__(self):
        free(self._frames)
        free(self._counts)
        free(self._pieces.data)
        free(self._linked.data)
        free(self._marked.data)
        free(self._scratch.data)
        free(self._hidden.data)
        free(self._open.data)
        free(self._parents.data)
        free(self._numbers.data)
        free(self._owners.data)
        free(self._link_characters.data)
        free(self._opened.data)

    @property
    def table(self):
        """What has been read."""
        return PageTable(
            _array(&self._parents),
            self._element_tags,
            self._labels,
            self._tests_of,
            _array(&self._numbers),
            bytearray(self._hidden.data[: self._hidden.size]),
            _array(&self._owners),
            self._texts,
            _array(&self._link_characters),
            self._block_images,
            self._block_links,
            [None] * len(self._texts),
            _array(&self._opened),
            self._sources,
            self._details,
            self._starts,
            self._spans,
            self._languages,
            self._roles,
        )

    def walk(self, _Element top not None, str top_test, int top_number):
        """Read an element, whose node test in an XPath and number are given."""
        self._walk(top._c_node, top_test, top_number)

    def add(self, text):
        """Read text that stands in no element that is read."""
        if text:
            data = text.encode("utf-8", "replace")
            self._add(<const unsigned char*> <const char*> data)

    cpdef flush(self):
        """End the current run of inline content."""
        cdef str text
        if self._has_pieces or self._images:
            text = self._collapse(&self._pieces, NULL)
            if text or self._images:
                self._add_block(text)
                self._images.clear()
            self._has_pieces = False
            self._pieces.size = self._linked.size = 0
        self._links = self._open_anchor()
        self._unmark()
        self._is_marked = self._marked.size > 0
        self._breaks = False

    cdef int _unmark(self) except -1:
        """Leave but the marks of the open elements."""
        self._marked.size = 0
        for mark in self._marks[:MOST_MARKS]:
            _append_text(&self._marked, <bytes> mark)
        return 0

    cdef list _open_anchor(self):
        """The target of the innermost open anchor: it may span several runs."""
        return [self._anchors[len(self._anchors) - 1]] if self._anchors else []

    cdef int _walk(self, xmlNode* top, str top_test, int top_number) except -1:
        cdef xmlNode* node = top
        cdef xmlNode* child
        cdef TagInfo* info
        cdef int* counts
        cdef int tag, kind, number, depth = 0, inline_from = NOWHERE
        cdef bint has_children, is_loose, is_inline
        while True:
            if node.type == XML_ELEMENT_NODE:
                tag = self._tag(node)
                info = &self._infos[tag]
                kind = info.kind
                child = node.children
                while child != NULL and _is_text(child):
                    child = child.next
                has_children = child != NULL
                if kind != BLOCK:
                    if node == self._body._c_node:
                        kind = BLOCK
                    elif self._special and <size_t> node in self._special:
                        kind = self._special[<size_t> node]
                    else:
                        is_loose = kind & LOOSE
                        if is_loose:
                            is_inline = depth >= inline_from or _stands_in_sentence(
                                node, self._mended
                            )
                            kind = 0 if is_inline else BLOCK
                        if has_children and not kind and depth < inline_from:
                            if self._holds_block(node, is_loose):
                                kind = BLOCK
                            else:
                                inline_from = depth
                    if not kind and info.may_hide and (
                        self._is_hidden(node)
                        or (info.role == ANCHOR and not has_children and _is_sign(node))
                        or (self._verbatim and not has_children and _numbers_line(node))
                    ):
                        kind = SKIPPED
                        if inline_from == depth:
                            inline_from = NOWHERE  # it is not gone into
                number = 1
                if depth:
                    self._frames[depth - 1].count += 1
                    counts = self._counts + MOST_TAGS * (depth - 1)
                    counts[info.test] += 1
                    number = self._frames[depth - 1].count if info.is_star else counts[info.test]
                if not kind & SKIPPED:
                    if kind & BLOCK:
                        if depth:
                            self._open_element(node, tag, self._node_tests[info.test], number)
                        else:
                            self._open_element(node, tag, top_test, top_number)
                    if info.role:
                        kind |= self._read_role(node, tag, info.role)
                    if has_children:
                        self._push(node, kind, depth)
                        depth += 1
                        node = node.children
                        continue
                    child = node.children
                    while child != NULL:
                        self._read_text(child)
                        child = child.next
                    if kind:
                        self._close(node, kind)
            elif depth and _is_text(node):
                self._read_text(node)
            while True:
                if not depth:
                    return 0
                if node.next != NULL:
                    node = node.next
                    break
                depth -= 1
                if depth == inline_from:
                    inline_from = NOWHERE
                node = self._frames[depth].node
                if self._frames[depth].kind:
                    self._close(node, self._frames[depth].kind)

    cdef int _push(self, xmlNode* node, int kind, int depth) except -1:
        cdef int levels
        if depth >= self._levels:
            if depth >= MOST_LEVELS:
                raise reader.NotCompiled
            levels = 2 * self._levels + 32
            self._frames = <Frame*> _grown(self._frames, levels * sizeof(Frame))
            self._counts = <int*> _grown(self._counts, levels * MOST_TAGS * sizeof(int))
            self._levels = levels
        self._frames[depth] = Frame(node, kind, 0)
        memset(self._counts + MOST_TAGS * depth, 0, MOST_TAGS * sizeof(int))
        return 0

    cdef int _tag(self, xmlNode* node) except -1:
        """The number of the node's tag."""
        cdef size_t slot = (<size_t> node.name >> 3) % SLOTS
        while self._names[slot] != NULL:
            if self._names[slot] == node.name:
                if node.ns != NULL:
                    raise reader.NotCompiled
                return self._slots[slot]
            slot = (slot + 1) % SLOTS
        cdef int number = len(self._tag_names)
        if node.ns != NULL or number == MOST_TAGS or strcmp(<const char*> node.name, FORMULA) == 0:
            raise reader.NotCompiled
        name, test, kind = self._tags[_decoded(node.name, strlen(<const char*> node.name))]
        self._names[slot] = node.name
        self._slots[slot] = number
        self._tag_names.append(name)
        self._begins.append(BEGIN + (<str> name).encode())
        if test not in self._tests:
            self._tests[test] = len(self._node_tests)
            self._node_tests.append(test)
        self._infos[number] = TagInfo(
            kind, self._tests[test], test == "*", name not in NEVER_HIDDEN, tags.ROLES.get(name, 0)
        )
        return number

    cdef bint _is_hidden(self, xmlNode* node) except -1:
        if self._reads_hidden:
            return False
        style = _attribute(node, b"style")
        if style and style_hides(style[:LONGEST_VALUE]):
            return True
        name = _attribute(node, b"class")
        if name and is_unseen(name[:LONGEST_VALUE]):
            return True
        return _find(node, b"hidden") != NULL

    cdef bint _holds_block(self, xmlNode* top, bint is_loose) except -1:
        cdef xmlNode* node = top.children
        cdef dict in_sentence = {}
        while True:
            if node.type == XML_ELEMENT_NODE:
                if self._is_block(node, is_loose):
                    while node != top:
                        self._special.setdefault(
                            <size_t> node, self._infos[self._tag(node)].kind | BLOCK
                        )
                        node = node.parent
                    return True
                if node.children != NULL and not (
                    self._infos[self._tag(node)].kind & SKIPPED
                    and self._is_drawing(node, top, in_sentence)
                ):
                    node = node.children
                    continue
            while node.next == NULL:
                node = node.parent
                if node == top:
                    return False
            node = node.next

    cdef bint _is_drawing(
        self, xmlNode* node, xmlNode* outermost, dict in_sentence
    ) except -1:
        """See `page.sentences.is_drawing`."""
        cdef int count
        if not self._mended:
            return False
        for count in range(MOST_AROUND):
            node = node.parent
            if <size_t> node not in in_sentence:
                in_sentence[<size_t> node] = _stands_in_sentence(node, True)
            if in_sentence[<size_t> node]:
                return True
            if node == outermost:
                break
        return False

    cdef bint _is_block(self, xmlNode* node, bint is_loose) except -1:
        cdef int kind = self._infos[self._tag(node)].kind
        if node == self._body._c_node:
            return True
        if kind & BLOCK and not (kind & LOOSE and (is_loose or _stands_in_sentence(node, self._mended))):
            return True
        return bool(self._special) and <size_t> node in self._special

    cdef int _open_element(self, xmlNode* node, int tag, str test, int number) except -1:
        cdef unsigned char hidden = 0
        cdef int parent = -1
        if self._has_pieces or self._images or self._links or self._breaks:
            self.flush()
        if self._open.size:
            parent = self._open.data[self._open.size - 1]
            if self._open.size >= <size_t> DEEPEST:
                return _append(&self._open, parent)
        if len(self._labels) >= self._most:
            raise reader.BudgetSpent
        label = name = <str> self._tag_names[tag]
        if node.properties != NULL:
            styled = self._styling(node, name)
            if styled is not None:
                label, hidden = <tuple> styled
                if hidden == HIDDEN and not self._reads_hidden and self._is_controlled(node):
                    hidden = FOLDED
                if node == self._body._c_node:
                    label = name
            self._read_counts(node, name)
            self._read_element_role(node, name)
        _append(&self._open, len(self._labels))
        _append(&self._parents, parent)
        _append(&self._numbers, number)
        _append_byte(&self._hidden, hidden)
        self._element_tags.append(name)
        self._labels.append(label)
        self._tests_of.append(test)
        return 0

    cdef bint _is_controlled(self, xmlNode* node) except -1:
        name = _attribute(node, b"id")
        if name and self._controlled is None:
            self._controlled = named_by_controls(self._body)
        return bool(name) and name in self._controlled

    cdef int _read_counts(self, xmlNode* node, str name) except -1:
        start = STARTS.get(name)
        if start is not None:
            number = attributes.count(_attribute(node, <bytes> start))
            if name == "ol" and _find(node, b"reversed") != NULL:
                number = attributes.list_start(number, _items(node))
            if number is not None:
                self._starts[len(self._labels)] = number
        elif name in SPANNING:
            columns, rows = _attribute(node, COLUMNS), _attribute(node, ROWS)
            if columns or rows:
                self._spans[len(self._labels)] = attributes.span(columns, rows)
        return 0

    cdef int _read_element_role(self, xmlNode* node, str name) except -1:
        cdef str role = _attribute(node, b"role")
        cdef str style = _attribute(node, b"style") if name in STYLED else None
        if role or style:
            found = attributes.role_of(name, role, _attribute(node, b"aria-level"), style)
            if found:
                self._roles[len(self._labels)] = found
        return 0

    cdef object _styling(self, xmlNode* node, str name):
        """Label and whether the element is hidden; None where no attribute tells."""
        cdef xmlAttr* attribute = node.properties
        cdef Text* key = &self._scratch
        cdef const char* value = NULL
        cdef const char* value_name
        cdef size_t size
        cdef bint is_short = True
        key.size = 0
        while attribute != NULL:
            if attribute.ns == NULL and _is_among(<const char*> attribute.name, &STYLING):
                size = 0
                if attribute.children != NULL:
                    if not _is_plain(attribute):
                        is_short = False
                        break
                    value = <const char*> attribute.children.content
                    size = strlen(value) if value != NULL else 0
                if key.size + size > LONGEST_KEPT:
                    is_short = False
                    break
                # The name with its end, and the size before the value: no two keys are alike.
                value_name = <const char*> attribute.name
                _append_bytes(key, value_name, strlen(value_name) + 1)
                _append_bytes(key, <const char*> &size, sizeof(size))
                if size:
                    _append_bytes(key, value, size)
            attribute = attribute.next
        if is_short:
            if not key.size:
                return None
            value = <const char*> node.name
            _append_bytes(key, value, strlen(value))
            kept = PyBytes_FromStringAndSize(key.data, key.size)
            found = _stylings.get(kept)
            if found is not None:
                return found
        pairs = []
        attribute = node.properties
        while attribute != NULL:
            if attribute.ns == NULL and _is_among(<const char*> attribute.name, &STYLING):
                pairs.append(
                    ((<const char*> attribute.name).decode(), _value(node, attribute)[:LONGEST_VALUE])
                )
            attribute = attribute.next
        found = reader.styling(name, tuple(pairs))
        if is_short:
            if len(_stylings) >= MOST_STYLINGS:
                _stylings.clear()
            _stylings[kept] = found
        return found

    cdef int _read_role(self, xmlNode* node, int tag, int role) except -1:
        """Read an element that is more than its text, and tell what is to be done at its end."""
        cdef bytes mark = b""
        cdef object href = None
        cdef int kind = MARKED
        self._verbatim += role == KEEPS_SPACE
        if (role == KEEPS_SPACE or role == CODE) and self._verbatim and self._open.size:
            names = [_attribute(node, <bytes> name) for name in LANGUAGES]
            language = code_language(_attribute(node, b"class"), *names)
            if language:
                self._languages.setdefault(self._open.data[self._open.size - 1], language)
        if role == KEEPS_SPACE:
            return VERBATIM
        if role == LINE_BREAK:
            return self._read_break()
        if role == IMAGE:
            values = [_attribute(node, <bytes> name) for name in IMAGE_SOURCES]
            source = shown = values[0]
            if any(values[1:]):
                source, shown = attributes.image_sources(*values)
            if source:
                if attributes.is_placeholder(shown):
                    shown = attributes.later_source(_attributes(node))
                    if not shown:
                        image = elementFactory(self._body._doc, node)
                        shown = fallback_source(image, self._tags.skipped)
                if not self._reads_hidden and not attributes.is_formula(shown):
                    if hides_picture(*[_attribute(node, <bytes> name) for name in HIDING]):
                        shown = ""
                self._images.append(source)
                self._details.extend((shown, _attribute(node, b"alt") or ""))
                self._mark(self._begin(tag, len(self._details) - 2))
            return 0
        is_span = strcmp(<const char*> node.name, b"span") == 0
        if is_span and node.children == NULL and sentences.is_break(_class(node)):
            self._mark(BREAK)
            return 0
        if self._verbatim:
            if is_span and _ends_line(node):
                kind |= LINE
        elif _has_lines(node):
            kind |= LINE
            self._mark(BREAK)
        if role == ANCHOR:
            href = _attribute(node, b"href")
        if href:
            kind |= LINK
            self._anchors.append(href)
            self._links.append(href)
        if len(self._marks) < MOST_MARKS:
            if href:
                self._details.append(href)
            mark = self._begin(tag, len(self._details) - 1 if href else -1)
            self._mark(mark)
        self._marks.append(mark)
        return kind

    cdef int _read_break(self) except -1:
        if self._breaks and not self._verbatim:
            self.flush()
        else:
            _append_bytes(&self._pieces, b" ", 1)
            self._mark(BREAK)
            self._has_pieces = self._breaks = True
        return 0

    cdef bytes _begin(self, int tag, Py_ssize_t detail):
        cdef Text* mark = &self._scratch
        cdef char[20] digits
        cdef int at = sizeof(digits)
        mark.size = 0
        _append_text(mark, <bytes> self._begins[tag])
        while detail >= 0:
            at -= 1
            digits[at] = c"0" + detail % 10
            detail = detail // 10 or -1
        _append_bytes(mark, digits + at, sizeof(digits) - at)
        _append_text(mark, NAMED)
        return PyBytes_FromStringAndSize(mark.data, mark.size)

    cdef int _mark(self, bytes mark) except -1:
        _append_text(&self._marked, mark)
        self._is_marked = True
        return 0

    cdef int _close(self, xmlNode* node, int kind) except -1:
        if kind & MARKED and self._marks.pop():
            _append_text(&self._marked, END)
        if kind & LINE and not (self._verbatim and self._ends_in_break()):
            self._mark(BREAK)
        if kind & BLOCK:
            if self._has_pieces or self._images or self._links or self._breaks:
                self.flush()
            if self._verbatim and not kind & VERBATIM:
                self._read_empty_line(node)
            if node != self._body._c_node:  # what the parser put after BODY still belongs to it
                self._open.size -= self._open.size > 0
        if kind & VERBATIM:
            self._verbatim -= 1
            self._empty_lines = 0
        if kind & LINK:
            self._anchors.pop()
            if kind & BLOCK:
                self._links = self._open_anchor()
        return 0

    cdef bint _ends_in_break(self) noexcept:
        cdef size_t size = self._pieces.size
        return size > 0 and self._pieces.data[size - 1] == c"\n"

    cdef int _read_empty_line(self, xmlNode* node) except -1:
        """See `page.reader.NodeReader._read_empty_line`."""
        cdef int element = self._open.data[self._open.size - 1]
        if <size_t> element + 1 != <size_t> len(self._labels):
            return 0
        if self._owners.size and self._owners.data[self._owners.size - 1] == element:
            return 0
        if node.children != NULL or sentences.is_line(_class(node)):
            self._empty_lines += 1
            self._unmark()
        return 0

    cdef int _read_text(self, xmlNode* text) except -1:
        if text.type == XML_CDATA_SECTION_NODE or (
            text.next != NULL and text.next.type == XML_TEXT_NODE
        ):
            raise reader.NotCompiled  # in Python it is one text with those beside it
        return self._add(text.content)

    cdef int _add(self, const unsigned char* text) except -1:
        cdef size_t size
        cdef bint is_blank
        if text == NULL or not text[0]:
            return 0
        is_blank = _is_blank(text)
        size = strlen(<const char*> text)
        if is_blank and not self._has_pieces:
            return _append_unmarked(&self._marked, text, size) if self._verbatim else 0
        _append_bytes(&self._pieces, <const char*> text, size)
        _append_unmarked(&self._marked, text, size)
        self._has_pieces = True
        if self._anchors:
            _append_bytes(&self._linked, <const char*> text, size)
        if not is_blank:
            self._breaks = False
        return 0

    cdef str _collapse(self, Text* text, Py_ssize_t* characters):
        """The text as `page.document.collapse` has it; with `characters` only how many there are."""
        cdef const unsigned char* data = <const unsigned char*> text.data
        cdef size_t at = 0, size = text.size
        cdef size_t width
        cdef Py_ssize_t count = 0
        cdef unsigned char* out
        cdef unsigned char* end
        cdef bint blank = False
        if self._scratch.room < size + 1:
            _make_room(&self._scratch, size + 1)
        out = end = <unsigned char*> self._scratch.data
        while at < size:
            if not 0x20 < data[at] < 0x7F:  # most are neither blanks nor controls
                width = _blank_width(data + at, True)
                if width:
                    blank = True
                    at += width
                    continue
                width = _control_width(data + at)
                if width:
                    at += width
                    continue
            if blank and end != out:
                end[0] = c" "
                end += 1
                count += 1
            blank = False
            end[0] = data[at]
            count += (data[at] & 0xC0) != 0x80
            end += 1
            at += 1
        if characters != NULL:
            characters[0] = count
            return None
        return PyUnicode_DecodeUTF8(<const char*> out, end - out, "replace")

    cdef int _add_block(self, str text) except -1:
        cdef Py_ssize_t linked = 0
        if not self._open.size:
            raise IndexError("there is text before the first block-level element")
        if len(self._texts) >= self._most:
            raise reader.BudgetSpent
        if self._linked.size:
            self._collapse(&self._linked, &linked)
        _append(&self._owners, self._open.data[self._open.size - 1])
        _append(&self._link_characters, min(linked, len(text)))
        _append(&self._opened, len(self._labels))
        if self._is_marked or self._verbatim:
            lines, self._empty_lines = self._empty_lines, 0
            self._sources[len(self._texts)] = inline.BREAK * lines + _decoded(
                <const unsigned char*> self._marked.data, self._marked.size
            )
        self._texts.append(text)
        self._block_images.append(tuple(self._images))
        self._block_links.append(tuple(self._links))
        return 0


def named(_Element root not None, names, bint by_attributes=False):
    """See `page.document.named_elements`; or the elements that have an attribute of these names."""
    cdef list encoded = [(<str> name).encode() for name in names]
    cdef Names wanted = _names(encoded)
    cdef list found = []
    cdef xmlNode* node = root._c_node
    while True:
        if node.type == XML_ELEMENT_NODE:
            if (
                _has_attribute(node, &wanted) if by_attributes
                else _is_among(<const char*> node.name, &wanted)
            ):
                found.append(elementFactory(root._doc, node))
            if node.children != NULL:
                node = node.children
                continue
        while True:
            if node == root._c_node:
                return found
            if node.next != NULL:
                break
            node = node.parent
        node = node.next


def text_size(_Element root not None, str name):
    """Bytes of all text in the elements of a name, of that in nested ones once."""
    cdef bytes encoded = name.encode()
    cdef const char* wanted = encoded
    cdef xmlNode* node = root._c_node
    cdef xmlNode* inside = NULL
    cdef Py_ssize_t size = 0
    while True:
        if node.type == XML_ELEMENT_NODE:
            if inside == NULL and node.ns == NULL and not strcmp(<const char*> node.name, wanted):
                inside = node
            if node.children != NULL:
                node = node.children
                continue
        elif inside != NULL and node.content != NULL:
            size += strlen(<const char*> node.content)
        while True:
            inside = NULL if node == inside else inside
            if node == root._c_node:
                return size
            if node.next != NULL:
                break
            node = node.parent
        node = node.next


def telling(_Element root not None, read_mark, set around not None):
    """See `page.facts.telling_elements`; what `read_mark` makes of a short mark is remembered.

    The elements `around` lead nowhere.
    """
    cdef xmlNode* node = root._c_node
    cdef xmlNode* body = NULL
    cdef list found = []
    cdef int bits
    while True:
        if node.type == XML_ELEMENT_NODE:
            if body == NULL and node.ns == NULL and not strcmp(<const char*> node.name, b"body"):
                body = node
            bits = _read_marks(node, read_mark)
            if bits & LEADS_AWAY and elementFactory(root._doc, node) in around:
                bits &= ~LEADS_AWAY
            if body != NULL and bits & TELLS:
                found.append(elementFactory(root._doc, node))
            if node.children != NULL and not bits & LEADS_AWAY:
                node = node.children
                continue
        while True:
            if node == body:
                body = NULL
            if node == root._c_node:
                return found
            if node.next != NULL:
                break
            node = node.parent
        node = node.next


cdef int _read_marks(xmlNode* node, read_mark) except -1:
    """Whether an element tells of author or date, and whether what is in it is of other things."""
    cdef xmlAttr* attribute = node.properties
    cdef const char* name = <const char*> node.name
    cdef const char* value
    cdef int bits = 0, wanted = TELLS
    cdef bint leads
    cdef object found
    if node.ns == NULL and _is_among(name, &TELLING_TAGS):
        bits = TELLS
    if _is_among(name, &ELSEWHERE_TAGS):
        bits |= LEADS_AWAY
    elif strcmp(name, b"body"):
        wanted |= LEADS_AWAY
    while attribute != NULL:
        name = <const char*> attribute.name
        leads = attribute.ns == NULL and _is_among(name, &LEADING_MARKS)
        if leads or (attribute.ns == NULL and _is_among(name, &OTHER_MARKS)):
            value = NULL
            if attribute.children != NULL and _is_plain(attribute):
                value = <const char*> attribute.children.content
            if value == NULL or strlen(value) > LONGEST_KEPT:
                found = read_mark(_value(node, attribute))
            else:
                found = _mark_bits.get(<bytes> value)
                if found is None:
                    if len(_mark_bits) >= MOST_STYLINGS:
                        _mark_bits.clear()
                    found = _mark_bits[<bytes> value] = read_mark(_value(node, attribute))
            bits |= <int> found & (wanted if leads else TELLS)
        attribute = attribute.next
    return bits


cdef inline bint _is_among(const char* name, const Names* names) noexcept:
    cdef size_t index
    if not names.firsts >> (name[0] & 63) & 1:
        return False
    for index in range(names.count):
        if names.names[index][0] == name[0] and strcmp(names.names[index], name) == 0:
            return True
    return False


cdef bint _has_attribute(xmlNode* node, const Names* names) noexcept:
    cdef xmlAttr* attribute = node.properties
    while attribute != NULL:
        if attribute.ns == NULL and _is_among(<const char*> attribute.name, names):
            return True
        attribute = attribute.next
    return False


cdef inline bint _is_text(xmlNode* node) noexcept:
    return node.type == XML_TEXT_NODE or node.type == XML_CDATA_SECTION_NODE


cdef bint _stands_in_sentence(xmlNode* node, bint mended) except -1:
    """See `page.sentences.stands_in_sentence`."""
    cdef int comments = MOST_COMMENTS if mended else 0  # that are looked past on each side
    before = _text_beside(node.prev, True, comments)
    after = _text_beside(node.next, False, comments)
    if not before and not after:
        return False
    return sentences.are_of_sentence(
        _tag_name(node), _tag_name(node.parent), before, after, mended=mended
    )


cdef bint _has_lines(xmlNode* node) except -1:
    style = _attribute(node, b"style")
    return bool(style) and sentences.has_own_lines(style[:LONGEST_VALUE])


cdef str _class(xmlNode* node):
    return (_attribute(node, b"class") or "")[:LONGEST_VALUE]


cdef bint _ends_line(xmlNode* node) except -1:
    """See `page.sentences.ends_line`."""
    cdef xmlNode* after = node.next
    if after == NULL or after.type != XML_ELEMENT_NODE:
        return False
    if strcmp(<const char*> after.name, b"span") != 0:
        return False
    return _has_lines(node) or (
        sentences.is_line(_class(node)) and sentences.is_line(_class(after))
    )


cdef int _items(xmlNode* top) noexcept:
    """How many items a list has."""
    cdef xmlNode* node = top.children
    cdef int count = 0
    while node != NULL:
        count += node.type == XML_ELEMENT_NODE and strcmp(<const char*> node.name, b"li") == 0
        node = node.next
    return count


cdef str _tag_name(xmlNode* node):
    return _decoded(node.name, strlen(<const char*> node.name))


cdef str _text_beside(xmlNode* text, bint is_before, int comments):
    """The text that ends, or begins, with a node; empty where it is blank."""
    cdef str found = ""
    while text != NULL and (_is_text(text) or (comments > 0 and text.type != XML_ELEMENT_NODE)):
        if not _is_text(text):
            comments -= 1
        elif text.content != NULL and not _is_blank(text.content):
            part = _decoded(text.content, strlen(<const char*> text.content))
            found = part + found if is_before else found + part
        text = text.prev if is_before else text.next
    return found


cdef inline bint _is_plain(xmlAttr* attribute) noexcept:
    """Whether the value is one text."""
    cdef xmlNode* value = attribute.children
    return value.next == NULL and value.type == XML_TEXT_NODE


cdef xmlAttr* _find(xmlNode* node, const char* name) noexcept:
    cdef xmlAttr* attribute = node.properties
    while attribute != NULL:
        if attribute.ns == NULL and strcmp(<const char*> attribute.name, name) == 0:
            return attribute
        attribute = attribute.next
    return NULL


cdef bint _is_sign(xmlNode* node) except -1:
    """Whether an anchor without elements in it is a sign; few are so short."""
    shown = _short_text(node)
    return bool(shown) and is_sign(shown, _attribute(node, b"href") or "")


cdef bint _numbers_line(xmlNode* node) except -1:
    shown = _short_text(node)
    return bool(shown) and numbers_line(shown, _attribute(node, b"class") or "")


cdef str _short_text(xmlNode* node):
    """The text of an element without elements in it, if it may be a sign; else none."""
    cdef xmlNode* child = node.children
    cdef size_t size = 0
    cdef bytes text = b""
    while child != NULL:
        if child.content != NULL:
            size += strlen(<const char*> child.content)
            if size > MOST_SIGN_BYTES:
                return ""
            text += <bytes> <const char*> child.content
        child = child.next
    return _decoded(<const unsigned char*> <const char*> text, size)


cdef str _attribute(xmlNode* node, const char* name):
    cdef xmlAttr* found = _find(node, name)
    return _value(node, found) if found != NULL else None


cdef list _attributes(xmlNode* node):
    """Names and values of all attributes."""
    cdef xmlAttr* attribute = node.properties
    cdef list found = []
    while attribute != NULL:
        if attribute.ns == NULL:
            name = _decoded(attribute.name, strlen(<const char*> attribute.name))
            found.append((name, _value(node, attribute)))
        attribute = attribute.next
    return found


cdef str _value(xmlNode* node, xmlAttr* attribute):
    if attribute.children == NULL:
        return ""
    if not _is_plain(attribute):
        return attributeValue(node, attribute)
    cdef const unsigned char* value = attribute.children.content
    return _decoded(value, strlen(<const char*> value)) if value != NULL else ""


cdef inline str _decoded(const unsigned char* data, size_t size):
    return PyUnicode_DecodeUTF8(<const char*> data, size, "replace")


cdef bint _is_blank(const unsigned char* text) except -1:
    """`str.isspace` of a text that is not empty."""
    cdef size_t width
    while text[0]:
        width = _blank_width(text, False)
        if not width:
            return False
        text += width
    return True


cdef inline size_t _blank_width(const unsigned char* text, bint with_zero_width) except? 100:
    """Bytes of the white space that begins here, as `str.split` knows it; 0 for any other."""
    cdef unsigned char first = text[0], second
    cdef size_t size
    if first < 0x80:
        return first == 0x20 or 9 <= first <= 13 or 28 <= first <= 31
    if first == 0xC2 and (text[1] == 0x85 or text[1] == 0xA0):
        return 2
    if first == 0xE2:
        if text[1] == 0x80:
            second = text[2]
            if 0x80 <= second <= 0x8A or second == 0xA8 or second == 0xA9 or second == 0xAF:
                return 3
        elif text[1] == 0x81 and text[2] == 0x9F:
            return 3
    if first == 0xE1 and text[1] == 0x9A and text[2] == 0x80:
        return 3
    if first == 0xE3 and text[1] == 0x80 and text[2] == 0x80:
        return 3
    if with_zero_width and _begins_zero_width[first]:
        for character in ZERO_WIDTH:
            size = len(<bytes> character)
            if strncmp(<const char*> text, <bytes> character, size) == 0:
                return size
    return 0


cdef inline size_t _control_width(const unsigned char* text) noexcept:
    """Bytes of the control character that stands here, which is no white space; 0 for any other."""
    if text[0] < 0x20 or text[0] == 0x7F:
        return 1
    return 2 if text[0] == 0xC2 and 0x80 <= text[1] < 0xA0 else 0


cdef void* _grown(void* data, size_t size) except NULL:
    cdef void* grown = realloc(data, size)
    if grown == NULL:
        raise MemoryError
    return grown


cdef int _make_room(Text* text, size_t size) except -1:
    text.data = <char*> _grown(text.data, 2 * size + 256)
    text.room = 2 * size + 256
    return 0


cdef int _append_bytes(Text* text, const char* data, size_t size) except -1:
    # One byte more, so that what follows the last character may be looked at.
    if text.size + size + 1 > text.room:
        _make_room(text, text.size + size + 1)
    memcpy(text.data + text.size, data, size)
    text.size += size
    text.data[text.size] = 0
    return 0


cdef int _append_text(Text* text, bytes data) except -1:
    return _append_bytes(text, <const char*> data, len(data))


cdef int _append_unmarked(Text* text, const unsigned char* data, size_t size) except -1:
    """Append what a page holds, without characters that would be taken for marks."""
    cdef size_t at, start = 0
    for at in range(size):
        if FIRST_MARK <= data[at] <= LAST_MARK:
            _append_bytes(text, <const char*> data + start, at - start)
            start = at + 1
    return _append_bytes(text, <const char*> data + start, size - start)


cdef int _append_byte(Text* text, char value) except -1:
    return _append_bytes(text, &value, 1)


cdef int _append(Numbers* numbers, int value) except -1:
    if numbers.size == numbers.room:
        numbers.data = <int*> _grown(numbers.data, (2 * numbers.room + 64) * sizeof(int))
        numbers.room = 2 * numbers.room + 64
    numbers.data[numbers.size] = value
    numbers.size += 1
    return 0


cdef object _array(Numbers* numbers):
    found = array("i")
    found.frombytes(PyBytes_FromStringAndSize(<char*> numbers.data, numbers.size * sizeof(int)))
    return found
