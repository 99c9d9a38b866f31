# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Twins of the loops of `evidence` over a page's E elements and B text blocks.

They take and return the same arrays as the functions in numpy that they stand for.
"""

from libc.math cimport log1p
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

cdef extern from "built_for.h":
    const char* SOURCE_BLOCKS

SOURCE = SOURCE_BLOCKS.decode()  # a hash of this file as it was compiled

cdef enum:
    MOST_LOGS = 4096
    MOST_LEVELS = 8

cdef double[MOST_LOGS] _logs
for _count in range(MOST_LOGS):
    _logs[_count] = log1p(_count)


cdef inline double _log_of(int64_t count) noexcept nogil:
    """log(1 + count) of what is counted."""
    return _logs[count] if 0 <= count < MOST_LOGS else log1p(count)


cdef void* _zeros(size_t count, size_t size) except NULL:
    cdef void* data = calloc(count + 1, size)
    if data == NULL:
        raise MemoryError
    return data


cdef int _expect(Py_ssize_t length, Py_ssize_t expected, str what) except -1:
    """Refuse an array that is not as long as what it tells of; nothing looks at bounds below."""
    if length != expected:
        raise ValueError(f"{what}: {length} values where there must be {expected}")
    return 0


cdef int _expect_within(const int64_t[::1] values, Py_ssize_t most, str what) except -1:
    """Refuse what is no index: all values must be from 0 to `most`, without this."""
    cdef Py_ssize_t index
    for index in range(values.shape[0]):
        if not 0 <= values[index] < most:
            raise ValueError(f"{what}: {values[index]} is not from 0 to {most - 1}")
    return 0


cdef int _expect_parents(const int64_t[::1] parents) except -1:
    """Refuse parents that do not stand before their children; the root is its own."""
    cdef Py_ssize_t index
    for index in range(parents.shape[0]):
        if not 0 <= parents[index] <= index - (index > 0):
            raise ValueError(f"the parent of element {index} is {parents[index]}")
    return 0


cdef extern from *:
    """
    /* Wide registers are used where the processor has them; the sums are the same. */
    #if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
    __attribute__((target_clones("avx2", "default")))
    #endif
    static void add_tree(
        const float *const *rows, const float *borders, int depth, const float *leaves,
        int *leaf, double *sums, Py_ssize_t blocks)
    {
        for (Py_ssize_t block = 0; block < blocks; block++)
            leaf[block] = rows[0][block] > borders[0];
        for (int level = 1; level < depth; level++) {
            const float *row = rows[level];
            const float border = borders[level];
            for (Py_ssize_t block = 0; block < blocks; block++)
                leaf[block] |= (row[block] > border) << level;
        }
        for (Py_ssize_t block = 0; block < blocks; block++)
            sums[block] += leaves[leaf[block]];
    }
    """
    void add_tree(
        const float* const* rows,
        const float* borders,
        int depth,
        const float* leaves,
        int* leaf,
        double* sums,
        Py_ssize_t blocks,
    ) noexcept nogil


def score(
    const float[:, ::1] rows,
    const float[:, ::1] further,
    const int64_t[:, ::1] features,
    const float[:, ::1] borders,
    const float[:, ::1] values,
    double bias,
):
    """`BoostedTrees.score` of rows (F, B), the last of which are those of `further`."""
    cdef Py_ssize_t blocks = rows.shape[1], own = rows.shape[0], tree, block, feature
    cdef int level, depth = features.shape[1]
    cdef (const float*)[MOST_LEVELS] asked
    if further.shape[1] != blocks:
        raise ValueError(f"there are features of {blocks} and of {further.shape[1]} blocks")
    if depth > MOST_LEVELS or values.shape[1] != 1 << depth:
        raise ValueError(f"trees of depth {depth} have {1 << depth} leaves, and no more than 256")
    _expect(borders.shape[0], features.shape[0], "borders")
    _expect(borders.shape[1], depth, "borders of a tree")
    _expect(values.shape[0], features.shape[0], "leaves")
    for tree in range(features.shape[0]):
        for level in range(depth):
            if not 0 <= features[tree, level] < own + further.shape[0]:
                raise IndexError(f"a tree asks for feature {features[tree, level]}")
    found = np.zeros(blocks)
    cdef double[::1] sums = found
    if not blocks or not depth:
        return found + bias
    cdef int* leaf = <int*> _zeros(blocks, sizeof(int))
    with nogil:
        for tree in range(features.shape[0]):
            for level in range(depth):
                feature = features[tree, level]
                asked[level] = &rows[feature, 0] if feature < own else &further[feature - own, 0]
            add_tree(
                asked, &borders[tree, 0], depth, &values[tree, 0], leaf, &sums[0], blocks
            )
        for block in range(blocks):
            sums[block] += bias
    free(leaf)
    return found


cdef Py_ssize_t _number(const int64_t* keys, Py_ssize_t count, int64_t* numbers) except -1:
    """Number equal keys alike, in the order in which they come; how many there are."""
    cdef size_t size = 16, slot
    cdef Py_ssize_t index, distinct = 0
    while size < 2 * <size_t> count:
        size *= 2
    cdef int64_t* firsts = <int64_t*> _zeros(size, sizeof(int64_t))  # counted from 1
    for index in range(count):
        slot = (<uint64_t> keys[index] * <uint64_t> 0x9E3779B97F4A7C15 >> 20) & (size - 1)
        while firsts[slot] and keys[firsts[slot] - 1] != keys[index]:
            slot = (slot + 1) & (size - 1)
        if firsts[slot]:
            numbers[index] = numbers[firsts[slot] - 1]
        else:
            firsts[slot] = index + 1
            numbers[index] = distinct
            distinct += 1
    free(firsts)
    return distinct


def index_page(const int[::1] parents, list label_of, list tag_of, const int[::1] owners):
    """What `PageArrays` consists of, in the order of its attributes.

    Numbers of places and groups are given in the order in which these come.
    """
    cdef Py_ssize_t elements = parents.shape[0], blocks = owners.shape[0]
    cdef Py_ssize_t index, labels_count, groups_count
    cdef dict number = {}
    cdef list names = [], tags = []
    found = np.zeros((10, elements), dtype=np.int64)
    cdef int64_t[:, ::1] rows = found
    cdef int64_t[::1] labels = rows[0], parent = rows[1], depth = rows[2], first = rows[3]
    cdef int64_t[::1] end = rows[4], places = rows[5], groups = rows[6], sizes = rows[7]
    cdef int64_t[::1] before = rows[8], keys = rows[9]
    element_of = np.empty(blocks, dtype=np.int64)
    cdef int64_t[::1] element = element_of
    _expect(len(label_of), elements, "labels")
    _expect(len(tag_of), elements, "tags")
    for index in range(elements):
        if not (0 <= parents[index] < index or index == 0):
            raise IndexError(f"the parent of element {index} is {parents[index]}")
    for index in range(blocks):
        if not 0 <= owners[index] < elements:
            raise IndexError(f"text block {index} is in element {owners[index]}")
    for index in range(elements):
        label = label_of[index]
        known = number.setdefault(label, len(names))
        labels[index] = known
        if <Py_ssize_t> known == len(names):
            names.append(label)
            tags.append(tag_of[index])
        else:
            tags[known] = tag_of[index]
    labels_count = len(names)
    for index in range(1, elements):
        parent[index] = parents[index]
        depth[index] = depth[parents[index]] + 1
    # Blocks in each element and below; the first of them is the first from the element's start on.
    for index in range(elements):
        first[index] = blocks
    for index in range(blocks - 1, -1, -1):
        element[index] = owners[index]
        first[owners[index]] = index
        end[owners[index]] += 1
    for index in range(elements - 1, 0, -1):
        end[parent[index]] += end[index]
        first[index - 1] = min(first[index - 1], first[index])
    for index in range(elements):
        first[index] = first[index] if end[index] else 0
        end[index] += first[index]
        keys[index] = labels[parent[index]] * labels_count + labels[index]
    if elements:
        _number(&keys[0], elements, &places[0])
        for index in range(elements):
            keys[index] = parent[index] * (labels_count + 1) + labels[index] + (index > 0)
        groups_count = _number(&keys[0], elements, &groups[0])
        for index in range(groups_count):
            keys[index] = 0
        for index in range(elements):
            before[index] = keys[groups[index]]
            keys[groups[index]] += 1
        for index in range(elements):
            sizes[index] = keys[groups[index]]
    return (names, tags), (found[0], found[1], element_of, *found[2:9])


cdef class _Rows:
    """Rows (F, B) of features that are filled from the first to the last.

    `arrays` are a page's `PageArrays`. Here and in the methods ValueError says which array does not
    fit the page.
    """

    cdef float[:, ::1] rows
    cdef Py_ssize_t at, blocks, elements
    cdef const int64_t[::1] element, parent, first, end, places, groups
    cdef double[::1] work, more_work

    def __init__(self, float[:, ::1] rows, arrays):
        self.rows = rows
        self.at = 0
        self.blocks = rows.shape[1]
        self.element, self.parent = arrays.element, arrays.parent
        self.first, self.end = arrays.first, arrays.end
        self.places, self.groups = arrays.places, arrays.groups
        self.elements = self.parent.shape[0]
        if not self.elements:
            raise ValueError("there is no element")
        _expect(self.element.shape[0], self.blocks, "elements of the blocks")
        _expect(self.first.shape[0], self.elements, "first blocks")
        _expect(self.end.shape[0], self.elements, "ends of the elements")
        _expect(self.places.shape[0], self.elements, "places")
        _expect(self.groups.shape[0], self.elements, "groups")
        _expect_within(self.element, self.elements, "elements of the blocks")
        _expect_parents(self.parent)
        _expect_within(self.first, self.blocks + 1, "first blocks")
        _expect_within(self.end, self.blocks + 1, "ends of the elements")
        _expect_within(self.places, self.elements, "places")
        _expect_within(self.groups, self.elements, "groups")
        self.work = np.empty(max(self.blocks, self.elements) + 1)
        self.more_work = np.empty(max(self.blocks, self.elements) + 1)

    cdef int expect_items(self, const int64_t[:, ::1] items) except -1:
        """Refuse what are no `PageArrays.repeated_items` (2, B)."""
        _expect(items.shape[0], 2, "repeated items")
        _expect(items.shape[1], self.blocks, "repeated items")
        _expect_within(items[0], self.elements, "repeated items")
        _expect_within(items[1], self.elements, "repeated items")
        return 0

    @property
    def matrix(self):
        """`Columns.matrix`."""
        assert self.at == self.rows.shape[0]
        return np.asarray(self.rows).T

    cdef inline float* next(self) except NULL:
        if self.at == self.rows.shape[0]:
            raise IndexError(f"there are no more than {self.at} rows")
        self.at += 1
        return &self.rows[self.at - 1, 0]

    cdef int copy(self, const double* values) except -1:
        cdef float* row = self.next()
        cdef Py_ssize_t block
        for block in range(self.blocks):
            row[block] = <float> values[block]
        return 0

    cdef int fill(self, double value) except -1:
        cdef float* row = self.next()
        cdef Py_ssize_t block
        for block in range(self.blocks):
            row[block] = <float> value
        return 0


cdef inline double _at_least(double value, double least) noexcept nogil:
    return value if value > least else least


cdef inline double _within(double value, double least, double most) noexcept nogil:
    return least if value < least else most if value > most else value


cdef int _below(
    const double* values,
    const int64_t[::1] first,
    const int64_t[::1] end,
    double* sums,
    Py_ssize_t blocks,
    double* out,
) except -1:
    """Sums of block values over each element and all below it; `sums` has room for B + 1."""
    cdef Py_ssize_t index
    sums[0] = 0.0
    for index in range(blocks):
        sums[index + 1] = sums[index] + values[index]
    for index in range(first.shape[0]):
        out[index] = sums[end[index]] - sums[first[index]]
    return 0


cdef int _add_means(
    _Rows rows, const double* values, const double* weights, double* sums, double* weighed, int reach
) except -1:
    """Means of a value over up to `reach` blocks before, and over those after; weighed or alike."""
    cdef float* before = rows.next()
    cdef float* after = rows.next()
    cdef Py_ssize_t blocks = rows.blocks, block, start, end
    if reach < 0:
        raise ValueError(f"a window reaches over {reach} blocks")
    sums[0] = weighed[0] = 0.0
    for block in range(blocks):
        sums[block + 1] = sums[block] + values[block]
        weighed[block + 1] = weighed[block] + (weights[block] if weights != NULL else 1.0)
    for block in range(blocks):
        start = block - reach if block > reach else 0
        end = block + 1 + reach if block + 1 + reach < blocks else blocks
        before[block] = <float> (
            (sums[block] - sums[start]) / _at_least(weighed[block] - weighed[start], 1.0)
        )
        after[block] = <float> (
            (sums[end] - sums[block + 1]) / _at_least(weighed[end] - weighed[block + 1], 1.0)
        )
    return 0


cdef class PageRows(_Rows):
    """`evidence.page_rows.PageRows`."""

    cdef const int64_t[::1] depth, sizes, before
    cdef const double[:, ::1] text_rows
    cdef readonly object link_share, long, near, own, above
    cdef const double[::1] lengths
    cdef double[::1] shares, linked, longs
    cdef double[:, ::1] sums  # of each element: text, links, long text, sentences, log of the text
    cdef int64_t[::1] own_bits, near_bits, above_bits
    cdef double total, all_long
    cdef Py_ssize_t sentences

    def __init__(self, float[:, ::1] rows, arrays, texts):
        super().__init__(rows, arrays)
        self.depth, self.sizes = arrays.depth, arrays.group_sizes
        self.before = arrays.group_numbers
        self.text_rows, self.lengths = texts.features, texts.lengths
        _expect(self.depth.shape[0], self.elements, "depths")
        _expect(self.sizes.shape[0], self.elements, "sizes of the groups")
        _expect(self.before.shape[0], self.elements, "numbers in the groups")
        _expect(self.text_rows.shape[1], self.blocks, "features of the texts")
        _expect(self.lengths.shape[0], self.blocks, "lengths of the texts")
        if self.text_rows.shape[0] < 3:
            raise ValueError(f"there are no more than {self.text_rows.shape[0]} rows of the texts")
        # All are there from the first, so that no method reads what another has not yet made.
        self.link_share, self.long = np.zeros(self.blocks), np.zeros(self.blocks)
        self.own, self.near, self.above = np.zeros((3, self.blocks), dtype=np.int64)
        self.shares, self.longs = self.link_share, self.long
        self.own_bits, self.near_bits, self.above_bits = self.own, self.near, self.above
        self.linked = np.zeros(self.blocks)
        self.sums = np.zeros((5, self.elements))
        self.total = self.all_long = 1.0

    def add_text(
        self,
        const double[::1] characters,
        const int[::1] link_characters,
        const double[:, ::1] counts,
        double long_from,
        double links_from,
    ):
        """Of the text alone: `counts` are links, images and what is known of the words."""
        cdef Py_ssize_t block, row
        _expect(characters.shape[0], self.blocks, "characters")
        _expect(link_characters.shape[0], self.blocks, "characters of links")
        _expect(counts.shape[1], self.blocks, "counts")
        if not counts.shape[0]:
            raise ValueError("nothing is counted")
        self.total = self.all_long = 0.0
        for block in range(self.blocks):
            self.shares[block] = link_characters[block] / _at_least(characters[block], 1.0)
            self.linked[block] = self.lengths[block] * self.shares[block]
            self.longs[block] = 0.0
            if self.lengths[block] >= long_from and self.shares[block] < links_from:
                self.longs[block] = self.lengths[block]
            self.total += self.lengths[block]
            self.all_long += self.longs[block]
        self.total, self.all_long = _at_least(self.total, 1.0), _at_least(self.all_long, 1.0)
        for row in range(3):
            self.copy(&self.text_rows[row, 0])
        self.copy(&counts[0, 0])
        self.copy(&self.shares[0])
        for row in range(3, self.text_rows.shape[0]):
            self.copy(&self.text_rows[row, 0])
        for row in range(1, counts.shape[0]):
            self.copy(&counts[row, 0])

    def add_places(
        self,
        const int64_t[::1] bits,
        const int64_t[::1] masks,
        const int64_t[::1] numbers,
        double whole_from,
    ):
        """Of tags and class names, as the `bits` (E) of each element say."""
        cdef Py_ssize_t index, block, row
        cdef int64_t[::1] inherited = np.empty(self.elements, dtype=np.int64)
        cdef int64_t[::1] local = np.empty(self.elements, dtype=np.int64)
        cdef const int64_t* mask
        cdef int64_t number, here, above
        cdef float* out
        _expect(bits.shape[0], self.elements, "bits")
        _expect(numbers.shape[0], masks.shape[0], "numbers of the bits")
        _expect_within(masks, 3, "masks")
        _expect_within(numbers, 64, "numbers of the bits")
        for index in range(self.elements):
            local[index] = bits[index]
            if self.end[index] - self.first[index] >= whole_from:
                local[index] = 0
            inherited[index] = local[index] | (inherited[self.parent[index]] if index else 0)
        for block in range(self.blocks):
            here = self.element[block]
            above = self.parent[here]
            self.own_bits[block] = bits[here]
            self.near_bits[block] = bits[here] | local[above] | local[self.parent[above]]
            self.above_bits[block] = inherited[here]
        for row in range(masks.shape[0]):
            out, number = self.next(), numbers[row]
            mask = &self.own_bits[0]
            if masks[row]:
                mask = &self.near_bits[0] if masks[row] == 1 else &self.above_bits[0]
            for block in range(self.blocks):
                out[block] = mask[block] >> number & 1
        out = self.next()
        for block in range(self.blocks):
            out[block] = self.depth[self.element[block]]

    def add_ancestors(self, Py_ssize_t levels, Py_ssize_t sentences):
        """Of all text below a block's element, its parent and so on; `sentences` is a text's row."""
        cdef Py_ssize_t index, block, level, row
        cdef double count, text
        cdef float[:, ::1] columns = np.empty((7, self.elements), dtype=np.float32)
        cdef int64_t[::1] at = np.array(self.element)
        cdef float* out
        if not 0 <= sentences < self.text_rows.shape[0]:
            raise ValueError(f"the texts have no row {sentences}")
        self.sentences = sentences
        self._below(&self.lengths[0], 0)
        self._below(&self.linked[0], 1)
        self._below(&self.longs[0], 2)
        self._below(&self.text_rows[self.sentences, 0], 3)
        for index in range(self.elements):
            text = self.sums[0, index]
            count = _at_least(self.end[index] - self.first[index], 1.0)
            self.sums[4, index] = log1p(text)
            columns[0, index] = <float> self.sums[4, index]
            columns[1, index] = <float> (text / self.total)
            columns[2, index] = <float> (self.sums[2, index] / self.all_long)
            columns[3, index] = <float> (self.sums[1, index] / _at_least(text, 1.0))
            columns[4, index] = <float> (text / count)
            columns[5, index] = <float> (self.sums[3, index] / count)
            columns[6, index] = <float> _log_of(self.sizes[index])
        for level in range(levels + 1):
            for row in range(7):
                out = self.next()
                for block in range(self.blocks):
                    out[block] = columns[row, at[block]]
            for block in range(self.blocks):
                at[block] = self.parent[at[block]]

    cdef int _below(self, const double* values, Py_ssize_t row) except -1:
        return _below(
            values, self.first, self.end, &self.work[0], self.blocks, &self.sums[row, 0]
        )

    def add_repeated(self, const int64_t[:, ::1] items):
        """Of repeated siblings, as `PageArrays.repeated_items` (2, B) gives them."""
        cdef Py_ssize_t index, block, item
        cdef double[:, ::1] groups = np.zeros((4, self.elements))
        cdef float[:, ::1] columns = np.empty((6, self.elements), dtype=np.float32)
        cdef int64_t group, at
        cdef double text, size
        self.expect_items(items)
        for index in range(self.elements):
            group = self.groups[index]
            groups[0, group] += 1.0
            groups[1, group] += self.sums[0, index]
            groups[2, group] += self.sums[1, index]
            groups[3, group] += self.sums[3, index]
        for index in range(self.elements):
            size, text = groups[0, index], groups[1, index]
            if not size:
                break
            columns[0, index] = <float> _log_of(<int64_t> size)
            columns[1, index] = <float> log1p(text / size)
            columns[2, index] = <float> (groups[2, index] / _at_least(text, 1.0))
            columns[3, index] = <float> (groups[3, index] / size)
            columns[4, index] = <float> (text / self.total)
        cdef float* out[7]
        for item in range(2):
            for index in range(7):
                out[index] = self.next()
            for block in range(self.blocks):
                at = items[item, block]
                group = self.groups[at]
                out[0][block] = columns[0, group] if at > 0 else 0.0
                out[1][block] = <float> self.sums[4, at]
                out[2][block] = columns[1, group]
                out[3][block] = columns[2, group]
                out[4][block] = columns[3, group]
                out[5][block] = columns[4, group]
                out[6][block] = <float> _log_of(self.before[at])

    def add_same_place(self):
        """Of blocks whose element and parent are labelled alike."""
        cdef Py_ssize_t index, block
        cdef double[:, ::1] places = np.zeros((3, self.elements))
        cdef float* out[4]
        cdef int64_t place
        for block in range(self.blocks):
            place = self.places[self.element[block]]
            places[0, place] += 1.0
            places[1, place] += self.lengths[block]
            places[2, place] += self.linked[block]
        for index in range(4):
            out[index] = self.next()
        for block in range(self.blocks):
            place = self.places[self.element[block]]
            out[0][block] = <float> _log_of(<int64_t> places[0, place])
            out[1][block] = <float> log1p(places[1, place] / _at_least(places[0, place], 1.0))
            out[2][block] = <float> (places[2, place] / _at_least(places[1, place], 1.0))
            out[3][block] = <float> (places[1, place] / self.total)

    def add_main(self, double share):
        """Of the deepest element with more than this share of its parent's long text."""
        cdef Py_ssize_t index, block, main = 0, first, end
        cdef double count = self.blocks
        cdef float* out[4]
        for index in range(1, self.elements):
            if self.parent[index] == main:
                if self.sums[2, index] > share * self.sums[2, main]:
                    main = index
        for index in range(4):
            out[index] = self.next()
        first, end = self.first[main], self.end[main]
        for block in range(self.blocks):
            index = self.element[block]
            out[0][block] = first <= block < end
            out[1][block] = (self.parent[index] == main) + 2 * (index == main)
            out[2][block] = <float> ((first - block if first > block else 0) / count)
            out[3][block] = <float> ((block - end + 1 if block + 1 > end else 0) / count)
        self.fill(self.sums[0, main] / self.total)
        self.fill(self.sums[1, main] / _at_least(self.sums[0, main], 1.0))

    def add_neighbours(self, tuple steps, Py_ssize_t told, tuple windows):
        """Of the blocks before and after; of the first `told` of these more is told."""
        cdef Py_ssize_t block, at, number
        cdef int step, reach
        cdef float* out[4]
        for number, step in enumerate(steps):
            for index in range(4 if number < told else 2):
                out[index] = self.next()
            for block in range(self.blocks):
                at = block + step
                if not 0 <= at < self.blocks:
                    out[0][block] = out[1][block] = -1.0
                    if number < told:
                        out[2][block] = -1.0
                        out[3][block] = 0.0
                    continue
                out[0][block] = <float> self.text_rows[0, at]
                out[1][block] = <float> self.shares[at]
                if number < told:
                    out[2][block] = <float> self.text_rows[self.sentences, at]
                    out[3][block] = (
                        self.places[self.element[at]] == self.places[self.element[block]]
                    )
        cdef double[::1] logs = np.empty(self.blocks)
        for block in range(self.blocks):
            logs[block] = log1p(self.longs[block])
        for reach in windows:
            self._means(&self.text_rows[0, 0], reach)
            self._means(&self.shares[0], reach)
            self._means(&logs[0], reach)

    cdef int _means(self, const double* values, int reach) except -1:
        return _add_means(self, values, NULL, &self.work[0], &self.more_work[0], reach)

    def add_positions(
        self,
        const double[::1] in_title,
        int64_t h1,
        double titled_from,
        double more_than,
        tuple distances,
    ):
        """Of where on the page a block stands; `h1` is the bit of main headings."""
        cdef Py_ssize_t block, first_h1 = -1, headline = -1
        cdef double titled, most = titled_from, text = 0.0, long = 0.0, before, headings = 0.0
        cdef double least, farthest, without
        cdef float* out[9]
        least, farthest, without = distances
        _expect(in_title.shape[0], self.blocks, "shares in the title")
        for block in range(9):
            out[block] = self.next()
        for block in range(self.blocks):
            if first_h1 < 0 and self.own_bits[block] & h1:
                first_h1 = block
            titled = in_title[block] if self.lengths[block] > more_than else 0.0
            if titled > most or (titled == most and headline < 0):
                most, headline = titled, block
        for block in range(self.blocks):
            before, text = long, text + self.lengths[block]
            long += self.longs[block]
            headings += (self.own_bits[block] & h1) != 0
            out[0][block] = <float> (block / <double> self.blocks)
            out[1][block] = <float> (text / self.total)
            out[2][block] = <float> _log_of(block)
            out[3][block] = <float> _log_of(self.blocks - 1 - block)
            out[4][block] = <float> ((long - self.longs[block]) / self.all_long)
            out[5][block] = <float> (1 - long / self.all_long)
            out[6][block] = out[7][block] = <float> without
            if first_h1 >= 0:
                out[6][block] = <float> _within(block - first_h1, least, farthest)
            if headline >= 0:
                out[7][block] = <float> _within(block - headline, least, farthest)
            out[8][block] = <float> headings

    def add_sections(self, int64_t heading, Py_ssize_t farthest, double without):
        """Of what stands below the same heading, whose bit is given."""
        cdef Py_ssize_t block, last = -1, start = 0
        cdef double text = 0.0, linked = 0.0
        cdef float* out[3]
        for block in range(3):
            out[block] = self.next()
        for block in range(self.blocks + 1):
            if block == self.blocks or self.own_bits[block] & heading:
                while start < block:
                    out[1][start] = <float> log1p(text)
                    out[2][start] = <float> (linked / _at_least(text, 1.0))
                    start += 1
                text, linked, last = 0.0, 0.0, block
            if block < self.blocks:
                text += self.lengths[block]
                linked += self.linked[block]
                out[0][block] = <float> without
                if last >= 0:
                    out[0][block] = min(block - last, farthest)

    def add_announced(self, const int64_t[::1] said, int kinds, int far):
        """Of how many blocks ago a line announced each of so many kinds of text."""
        cdef Py_ssize_t block, last
        cdef int kind
        cdef float* out
        _expect(said.shape[0], self.blocks, "announcements")
        for kind in range(1, kinds + 1):
            out, last = self.next(), -far
            for block in range(self.blocks):
                if said[block] == kind:
                    last = block
                out[block] = min(block - last, far)

    def add_page(self, const double[::1] characters, tuple bits, const unsigned char[::1] cells, list kinds):
        """Of the whole page; `bits` are those of P, headings, H1 and LI, `cells` (E) tells TDs."""
        cdef Py_ssize_t block
        cdef double long = 0.0, linked = 0.0, read = 0.0, paragraphs = 0.0, text = 0.0
        cdef int64_t p, heading, h1, li
        cdef int64_t solid = 0, headings = 0, mains = 0, items = 0, found = 0
        p, heading, h1, li = bits
        _expect(characters.shape[0], self.blocks, "characters")
        _expect(cells.shape[0], self.elements, "cells")
        for block in range(self.blocks):
            text += self.lengths[block]
            long += self.longs[block]
            solid += self.longs[block] > 0
            linked += self.linked[block]
            read += characters[block]
            paragraphs += self.lengths[block] if self.own_bits[block] & p else 0.0
            headings += (self.own_bits[block] & heading) != 0
            mains += (self.own_bits[block] & h1) != 0
            items += (self.own_bits[block] & li) != 0
            found += cells[self.element[block]]
        self.fill(log1p(self.blocks))
        self.fill(log1p(self.total))
        self.fill(linked / self.total)
        self.fill(long / self.total)
        self.fill(log1p(solid))
        self.fill(log1p(long / _at_least(solid, 1.0)))
        self.fill(paragraphs / self.total)
        self.fill(log1p(headings))
        self.fill(mains)
        self.fill(log1p(items))
        self.fill(log1p(found))
        self.fill(text / _at_least(read, 1.0))
        for kind in kinds:
            self.fill(kind)


def repeated_items(const int64_t[::1] parent, const int64_t[::1] sizes, const int64_t[::1] element):
    """`PageArrays.repeated_items`."""
    cdef Py_ssize_t index, block
    _expect(sizes.shape[0], parent.shape[0], "sizes of the groups")
    _expect_parents(parent)
    _expect_within(element, parent.shape[0], "elements of the blocks")
    cdef int64_t[::1] nearest = np.zeros(parent.shape[0], dtype=np.int64)
    found = np.empty((2, element.shape[0]), dtype=np.int64)
    cdef int64_t[:, ::1] items = found
    for index in range(1, parent.shape[0]):
        nearest[index] = index if sizes[index] > 1 else nearest[parent[index]]
    for block in range(element.shape[0]):
        items[0, block] = nearest[element[block]]
        items[1, block] = nearest[parent[items[0, block]]]
    return found


cdef Py_ssize_t _nearest(
    const int64_t[::1] parent, const int64_t[::1] levels, Py_ssize_t element
) noexcept:
    """The nearest element, itself or above, that has a level."""
    while levels[element] < 0:
        element = parent[element]
    return element


cdef class ContextRows(_Rows):
    """`evidence.context.ContextRows`."""

    cdef const double[::1] p
    cdef double[::1] lengths, mass, below_mass, below_text
    cdef double total, all_mass

    def __init__(self, float[:, ::1] rows, arrays, const double[::1] lengths, const double[::1] p):
        cdef Py_ssize_t block, index
        super().__init__(rows, arrays)
        _expect(lengths.shape[0], self.blocks, "lengths of the texts")
        _expect(p.shape[0], self.blocks, "probabilities")
        self.p = p
        self.lengths, self.mass = np.empty(self.blocks), np.empty(self.blocks)
        self.below_mass, self.below_text = np.empty(self.elements), np.empty(self.elements)
        self.total = self.all_mass = 0.0
        for block in range(self.blocks):
            self.lengths[block] = _at_least(lengths[block], 1.0)
            self.mass[block] = p[block] * self.lengths[block]
            self.total += self.lengths[block]
            self.all_mass += self.mass[block]
        self.all_mass = _at_least(self.all_mass, 1.0)
        _below(&self.mass[0], self.first, self.end, &self.work[0], self.blocks, &self.below_mass[0])
        _below(&self.lengths[0], self.first, self.end, &self.work[0], self.blocks, &self.below_text[0])
        for index in range(self.elements):
            self.below_text[index] = _at_least(self.below_text[index], 1.0)

    def add_neighbours(self, const double[::1] score, Py_ssize_t steps, tuple windows, double nothing):
        """The first judgement, and the probabilities of the blocks before and after."""
        cdef Py_ssize_t block, step
        cdef int reach
        cdef float* before
        cdef float* after
        _expect(score.shape[0], self.blocks, "scores")
        self.copy(&score[0])
        for step in range(1, steps + 1):
            before, after = self.next(), self.next()
            for block in range(self.blocks):
                before[block] = <float> (self.p[block - step] if block >= step else nothing)
                after[block] = <float> (
                    self.p[block + step] if block + step < self.blocks else nothing
                )
        for reach in windows:
            _add_means(
                self, &self.mass[0], &self.lengths[0], &self.work[0], &self.more_work[0], reach
            )

    def add_containers(self, Py_ssize_t levels, const int64_t[:, ::1] items, double nothing):
        """The ancestors, like siblings, and the same place elsewhere on the page."""
        cdef Py_ssize_t block, index, level, item
        cdef int64_t[::1] at = np.array(self.element)
        cdef double[:, ::1] sums = np.zeros((2, self.elements))
        cdef double others
        cdef float* out[3]
        self.expect_items(items)
        for level in range(levels + 1):
            out[0], out[1] = self.next(), self.next()
            for block in range(self.blocks):
                index = at[block]
                others = self.below_text[index] - self.lengths[block]
                out[0][block] = <float> nothing
                if others > 0:
                    out[0][block] = <float> (
                        (self.below_mass[index] - self.mass[block]) / _at_least(others, 1.0)
                    )
                out[1][block] = <float> (self.below_mass[index] / self.all_mass)
                at[block] = self.parent[index]
        for index in range(self.elements):
            sums[0, self.groups[index]] += self.below_mass[index]
            sums[1, self.groups[index]] += self.below_text[index]
        for item in range(3):
            for index in range(3):
                out[index] = self.next()
            for block in range(self.blocks):
                index = items[item - 1, block] if item else self.element[block]
                out[0][block] = <float> (
                    sums[0, self.groups[index]] / sums[1, self.groups[index]]
                )
                out[1][block] = <float> (sums[0, self.groups[index]] / self.all_mass)
                out[2][block] = <float> (self.below_mass[index] / self.below_text[index])
        sums = np.zeros((2, self.elements))
        for block in range(self.blocks):
            index = self.places[self.element[block]]
            sums[0, index] += self.mass[block]
            sums[1, index] += self.lengths[block]
        out[0] = self.next()
        for block in range(self.blocks):
            index = self.places[self.element[block]]
            out[0][block] = <float> (sums[0, index] / sums[1, index])

    def add_extent(self, double share, const int64_t[::1] above, int64_t comments):
        """The element of the content, comments (by their bits), and what is before and after."""
        cdef Py_ssize_t block, index, main = 0, here, level
        cdef double passed = 0.0, said = 0.0, rest = 0.0
        cdef int64_t[::1] levels = np.full(self.elements, -1, dtype=np.int64)
        cdef float* out[4]
        _expect(above.shape[0], self.blocks, "bits of what is above")
        for index in range(self.elements):
            if self.below_mass[index] >= share * self.below_mass[0]:
                main = index
        here, level = main, 0
        while levels[here] < 0:
            levels[here] = level
            here, level = self.parent[here], level + 1
        out[0] = self.next()
        self.fill(self.below_mass[main] / self.below_text[main])
        self.fill(self.below_text[main] / self.total)
        out[1] = self.next()
        for block in range(self.blocks):
            if above[block] & comments:
                said += self.mass[block]
            else:
                rest += self.mass[block]
        self.fill(said / self.all_mass)
        self.fill(log1p(rest))
        out[2], out[3] = self.next(), self.next()
        for block in range(self.blocks):
            passed += self.mass[block]
            out[0][block] = self.first[main] <= block < self.end[main]
            out[1][block] = levels[_nearest(self.parent, levels, self.element[block])]
            out[2][block] = <float> ((passed - self.mass[block]) / self.all_mass)
            out[3][block] = <float> (1 - passed / self.all_mass)

    def add_runs(self, double good_from, double solid_from):
        """How far the next content is, and how many solid blocks of it are on either side."""
        cdef Py_ssize_t block, found = 0, all_found = 0
        cdef double[::1] noise = self.work
        cdef double passed = 0.0, last = 0.0
        cdef float* out[4]
        for block in range(4):
            out[block] = self.next()
        for block in range(self.blocks):
            passed += 0.0 if self.p[block] >= good_from else self.lengths[block]
            noise[block] = passed
            all_found += self.p[block] >= good_from and self.lengths[block] >= solid_from
        for block in range(self.blocks):
            if self.p[block] >= good_from:
                last = noise[block]
            out[0][block] = <float> log1p(noise[block] - last)
            out[2][block] = <float> _log_of(found)
            found += self.p[block] >= good_from and self.lengths[block] >= solid_from
            out[3][block] = <float> _log_of(all_found - found)
        last = 0.0
        for block in range(self.blocks - 1, -1, -1):
            if self.p[block] >= good_from:
                last = passed - noise[block]
            out[1][block] = <float> log1p(passed - noise[block] - last)

    def add_page(self, const double[::1] link_share, double good_from):
        """How much content there is on the page, and how sure that is."""
        cdef Py_ssize_t block, found = 0, starts = 0
        cdef double text = 0.0, linked = 0.0, doubt = 0.0
        _expect(link_share.shape[0], self.blocks, "shares of links")
        for block in range(self.blocks):
            doubt += self.lengths[block] * self.p[block] * (1 - self.p[block])
            if self.p[block] >= good_from:
                found += 1
                text += self.lengths[block]
                linked += self.lengths[block] * link_share[block]
                starts += block > 0 and self.p[block - 1] < good_from
        self.fill(log1p(self.all_mass))
        self.fill(self.all_mass / self.total)
        self.fill(doubt / self.total)
        self.fill(log1p(text / _at_least(found, 1.0)))
        self.fill(linked / _at_least(text, 1.0))
        self.fill(log1p(starts))


cdef inline uint64_t _mixed(uint64_t hashed, uint64_t first, uint64_t second) noexcept:
    hashed = (hashed ^ hashed >> 30) * first
    hashed = (hashed ^ hashed >> 27) * second
    return hashed ^ hashed >> 31


def page_places(
    const uint64_t[::1] labels,
    const int64_t[::1] parent,
    const int64_t[::1] element,
    const uint64_t[::1] factors,
    const uint64_t[::1] marks,
):
    """What `evidence.places.PagePlaces` consists of, from the label hashes (E).

    `factors` are those of the levels, `marks` what the two kinds of places are combined with.
    """
    cdef Py_ssize_t index, level, kind, blocks = element.shape[0], count = 0
    cdef int64_t at
    cdef uint64_t hashed
    cdef uint64_t[::1] path = np.empty(parent.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] hashes = np.empty(blocks, dtype=np.uint64)
    numbers = np.empty((2, blocks), dtype=np.int64)
    cdef int64_t[:, ::1] number = numbers
    cdef list keys = []
    _expect(labels.shape[0], parent.shape[0], "label hashes")
    _expect_parents(parent)
    _expect_within(element, parent.shape[0], "elements of the blocks")
    _expect(marks.shape[0], 2, "marks")
    if factors.shape[0] < 3:
        raise ValueError(f"{factors.shape[0]} factors are too few")
    for index in range(parent.shape[0]):
        at, hashed = index, 0
        for level in range(factors.shape[0]):
            hashed += labels[at] * factors[level]
            if not at:
                break
            at = parent[at]
        path[index] = hashed
    for kind in range(2):
        for index in range(blocks):
            at = parent[element[index]] if kind else element[index]
            hashes[index] = _mixed(path[at] ^ marks[kind], factors[1], factors[2])
        _number(<int64_t*> &hashes[0], blocks, &number[kind, 0])
        count = len(keys)
        for index in range(blocks):
            number[kind, index] += count
            if number[kind, index] == len(keys):
                keys.append(hashes[index])
    return keys, numbers[0], numbers[1]


cdef Py_ssize_t _find(const uint64_t[::1] ascending, uint64_t wanted) noexcept:
    """Where a number stands; -1 where it does not."""
    cdef Py_ssize_t low = 0, high = ascending.shape[0], middle
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < ascending.shape[0] and ascending[low] == wanted else -1


def site_sums(
    dict places,
    dict texts,
    list place_keys,
    list text_keys,
    const int64_t[::1] own,
    const int64_t[::1] around,
    const double[::1] scores,
    double weight,
    const uint64_t[::1] own_places,
    const double[::1] own_means,
    const uint64_t[::1] own_texts,
    double clip,
    double place_weight,
    double support,
):
    """`SiteEvidence._sums`, given the page's own votes in ascending order.

    The pull of the places, on how many other pages each block's place is, on how many its text, and
    whether any page has its place.
    """
    cdef Py_ssize_t place, block, own_vote, count = len(place_keys), blocks = scores.shape[0]
    cdef double total, score
    cdef double[::1] pages = np.empty(count), means = np.empty(count), pull = np.empty(count)
    cdef uint8_t[::1] is_known = np.empty(count, dtype=np.uint8)
    _expect(len(text_keys), blocks, "keys of the texts")
    _expect(own.shape[0], blocks, "places")
    _expect(around.shape[0], blocks, "places around")
    _expect_within(own, count, "places")
    _expect_within(around, count, "places around")
    _expect(own_means.shape[0], own_places.shape[0], "means of the page's places")
    moved, there, shown = np.empty(blocks), np.empty(blocks), np.empty(blocks)
    known = np.empty(blocks, dtype=np.bool_)
    cdef double[::1] moved_out = moved, there_out = there, shown_out = shown
    cdef uint8_t[::1] known_out = known.view(np.uint8)
    for place in range(count):
        key = place_keys[place]
        pages[place] = total = 0.0
        votes = places.get(key)
        if votes is not None:
            pages[place], total = <tuple> votes
        is_known[place] = pages[place] > 0
        own_vote = _find(own_places, key)
        if own_vote >= 0:
            pages[place] -= weight
            total -= weight * own_means[own_vote]
        means[place] = _within(total / (pages[place] if pages[place] > 0 else 1.0), -clip, clip)
        pull[place] = place_weight * (
            pages[place] * pages[place] / (pages[place] * pages[place] + support * support)
        )
    for block in range(blocks):
        score = _within(scores[block], -clip, clip)
        moved_out[block] = pull[own[block]] * (means[own[block]] - score)
        moved_out[block] += pull[around[block]] * (means[around[block]] - score)
        there_out[block] = pages[own[block]]
        known_out[block] = is_known[own[block]]
        text = text_keys[block]
        on_pages = texts.get(text)
        shown_out[block] = 0.0 if on_pages is None else <double> on_pages
        if _find(own_texts, text) >= 0:
            shown_out[block] -= weight
    return moved, there, shown, known


def counts(list links, list images, list texts):
    """Rows (3, B): how many links and images each block has, and how often its text is there."""
    cdef Py_ssize_t block
    cdef dict first = {}
    found = np.zeros((3, len(texts)))
    cdef double[:, ::1] rows = found
    _expect(len(links), len(texts), "links")
    _expect(len(images), len(texts), "images")
    cdef int64_t[::1] same = np.empty(len(texts), dtype=np.int64)
    for block in range(len(texts)):
        rows[0, block] = len(<tuple> links[block])
        rows[1, block] = len(<tuple> images[block])
        same[block] = first.setdefault(texts[block], block)
    cdef double[::1] times = np.zeros(len(texts))
    for block in range(len(texts)):
        times[same[block]] += 1
    for block in range(len(texts)):
        rows[2, block] = times[same[block]]
    return found
