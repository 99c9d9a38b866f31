# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Loops of `evidence` over a page's E elements and B text blocks that numpy is slow at.

They take and return the same arrays as the functions in numpy that they stand for. Bounds are
checked where arrays come in.
"""

from libc.stdint cimport int8_t, int64_t, uint8_t, uint64_t

import os

import numpy as np

cdef extern from "built_for.h":
    const char* SOURCE_BLOCKS

SOURCE = SOURCE_BLOCKS.decode()  # a hash of this file as it was compiled
cdef uint64_t _secret = int.from_bytes(os.urandom(8), "little") | 1

cdef enum:
    MOST_LEVELS = 8


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
    cdef int[::1] leaf = np.zeros(blocks, dtype=np.intc)
    with nogil:
        for tree in range(features.shape[0]):
            for level in range(depth):
                feature = features[tree, level]
                asked[level] = &rows[feature, 0] if feature < own else &further[feature - own, 0]
            add_tree(
                asked, &borders[tree, 0], depth, &values[tree, 0], &leaf[0], &sums[0], blocks
            )
        for block in range(blocks):
            sums[block] += bias
    return found


cdef Py_ssize_t _number(const int64_t* keys, Py_ssize_t count, int64_t* numbers) except -1:
    """Number equal keys alike, in the order in which they come; how many there are.

    The table cannot be flooded: nobody knows how it mixes.
    """
    cdef size_t size = 16, slot
    cdef int bits = 4
    cdef Py_ssize_t index, distinct = 0
    while size < 2 * <size_t> count:
        size *= 2
        bits += 1
    cdef int64_t[::1] firsts = np.zeros(size, dtype=np.int64)  # counted from 1
    for index in range(count):
        slot = <uint64_t> keys[index] * _secret >> (64 - bits)
        while firsts[slot] and keys[firsts[slot] - 1] != keys[index]:
            slot = (slot + 1) & (size - 1)
        if firsts[slot]:
            numbers[index] = numbers[firsts[slot] - 1]
        else:
            firsts[slot] = index + 1
            numbers[index] = distinct
            distinct += 1
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


cdef int _expect_tree(const int64_t[::1] parent) except -1:
    """Refuse parents that do not come before their children; the first element is the root."""
    cdef Py_ssize_t index
    for index in range(parent.shape[0]):
        if not (0 <= parent[index] < index or index == parent[index] == 0):
            raise IndexError(f"the parent of element {index} is {parent[index]}")
    return 0


def inherit(const int64_t[::1] masks, const int64_t[::1] parent):
    """`PageArrays.inherit`."""
    cdef Py_ssize_t index
    _expect(masks.shape[0], parent.shape[0], "masks")
    _expect_tree(parent)
    inherited = np.array(masks)
    cdef int64_t[::1] found = inherited
    for index in range(1, parent.shape[0]):
        found[index] |= found[parent[index]]
    return inherited


def nearest(const uint8_t[::1] marked, const int64_t[::1] parent):
    """`PageArrays.nearest`."""
    cdef Py_ssize_t index
    _expect(marked.shape[0], parent.shape[0], "marks")
    _expect_tree(parent)
    elements = np.zeros(parent.shape[0], dtype=np.int64)
    cdef int64_t[::1] found = elements
    for index in range(1, parent.shape[0]):
        found[index] = index if marked[index] else found[parent[index]]
    return elements


def below(const double[:, ::1] values, const int64_t[::1] first, const int64_t[::1] end):
    """`PageArrays.below`."""
    cdef Py_ssize_t blocks = values.shape[1], elements = first.shape[0], row, index
    _expect(end.shape[0], elements, "ends")
    _expect_within(first, blocks + 1, "starts")
    _expect_within(end, blocks + 1, "ends")
    found = np.empty((values.shape[0], elements))
    cdef double[:, ::1] sums = found
    cdef double[::1] passed = np.zeros(blocks + 1)
    for row in range(values.shape[0]):
        for index in range(blocks):
            passed[index + 1] = passed[index] + values[row, index]
        for index in range(elements):
            sums[row, index] = passed[end[index]] - passed[first[index]]
    return found


def bit_rows(
    const int64_t[:, ::1] masks, const int64_t[::1] rows, const int64_t[::1] bits
):
    """`tree_index.bit_rows`."""
    cdef Py_ssize_t number, index
    _expect(bits.shape[0], rows.shape[0], "bits")
    _expect_within(rows, masks.shape[0], "rows")
    _expect_within(bits, 64, "bits")
    found = np.empty((rows.shape[0], masks.shape[1]), dtype=np.uint8)
    cdef uint8_t[:, ::1] answers = found
    for number in range(rows.shape[0]):
        for index in range(masks.shape[1]):
            answers[number, index] = masks[rows[number], index] >> bits[number] & 1
    return found


def path_hashes(
    const uint64_t[::1] label_hashes,
    const int64_t[::1] labels,
    const int64_t[::1] parent,
    const uint64_t[::1] factors,
):
    """`places._path_hashes`."""
    cdef Py_ssize_t index, at, level
    _expect(labels.shape[0], parent.shape[0], "labels")
    _expect_within(labels, label_hashes.shape[0], "labels")
    _expect_tree(parent)
    found = np.zeros(labels.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] hashes = found
    for index in range(labels.shape[0]):
        at = index
        for level in range(factors.shape[0]):
            hashes[index] += label_hashes[labels[at]] * factors[level]
            if not at:
                break
            at = parent[at]
    return found


def tally(
    dict texts,
    dict pages,
    dict sums,
    const uint64_t[::1] text_keys,
    const uint64_t[::1] places,
    const double[::1] means,
    double weight,
):
    """`SiteEvidence._tally`."""
    cdef Py_ssize_t index
    cdef double total
    _expect(means.shape[0], places.shape[0], "means")
    for index in range(text_keys.shape[0]):
        key = text_keys[index]
        total = <double> texts.get(key, 0.0) + weight
        if total:
            texts[key] = total
        else:
            del texts[key]
    for index in range(places.shape[0]):
        key = places[index]
        total = <double> pages.get(key, 0.0) + weight
        if total:
            pages[key] = total
            sums[key] = <double> sums.get(key, 0.0) + weight * means[index]
        else:
            del pages[key], sums[key]


def looked_up(dict values, const uint64_t[::1] keys):
    """`site_features._looked_up`."""
    cdef Py_ssize_t index
    table = np.zeros(keys.shape[0])
    cdef double[::1] found = table
    for index in range(keys.shape[0]):
        value = values.get(keys[index])
        if value is not None:
            found[index] = value
    return table


def name_sums(
    const int64_t[::1] parent,
    const int64_t[::1] labels,
    const int64_t[::1] starts,
    const uint64_t[::1] hashes,
    const int8_t[:, ::1] near,
    const int8_t[::1] around,
):
    """`PageNames.sums`, given the weights of the names at each level, and anywhere above."""
    cdef Py_ssize_t elements = parent.shape[0], count = hashes.shape[0], levels = near.shape[0]
    cdef Py_ssize_t index, name, level, here, above, first_count = 0
    _expect(near.shape[1], count, "weights")
    _expect(around.shape[0], count, "weights")
    _expect(labels.shape[0], elements, "labels")
    _expect_within(labels, starts.shape[0] - 1, "labels")
    _expect_within(starts, count + 1, "starts")
    _expect_tree(parent)
    for index in range(starts.shape[0] - 1):
        if starts[index] > starts[index + 1]:
            raise ValueError(f"label {index} ends before it starts")
    found = np.zeros((2, 2, elements))
    cdef double[:, :, ::1] sums = found
    # By label and level the weights of its names; by element where its first names are.
    cdef int64_t[:, ::1] near_of = np.zeros((levels, starts.shape[0]), dtype=np.int64)
    cdef int64_t[::1] begin = np.empty(elements + 1, dtype=np.int64)
    for index in range(starts.shape[0] - 1):
        for name in range(starts[index], starts[index + 1]):
            for level in range(levels):
                near_of[level, index] += near[level, name]
    for index in range(elements):
        here = index
        for level in range(levels):
            sums[0, 0, index] += near_of[level, labels[here]]
            sums[0, 1, index] += starts[labels[here] + 1] - starts[labels[here]]
            here = parent[here]
    if not count or not elements:
        return found
    cdef int64_t[::1] distinct = np.empty(count, dtype=np.int64)  # equal names, equal numbers
    _number(<const int64_t*> &hashes[0], count, &distinct[0])
    cdef uint8_t[::1] on_path = np.zeros(count, dtype=np.uint8)
    cdef int64_t[::1] firsts = np.empty(count, dtype=np.int64)  # of the elements on the path
    here = -1
    for index in range(elements):
        above = parent[index] if index else -1
        while here != above:
            while first_count > begin[here]:
                first_count -= 1
                on_path[firsts[first_count]] = 0
            here = parent[here] if here else -1
        begin[index] = first_count
        if above >= 0:
            sums[1, 0, index], sums[1, 1, index] = sums[1, 0, above], sums[1, 1, above]
        for name in range(starts[labels[index]], starts[labels[index] + 1]):
            if not on_path[distinct[name]]:
                on_path[distinct[name]] = 1
                firsts[first_count] = distinct[name]
                first_count += 1
                sums[1, 0, index] += around[name]
                sums[1, 1, index] += 1
        here = index
    return found


def group_sums(const double[:, ::1] values, const int64_t[::1] groups):
    """`tree_index.group_sums`."""
    cdef Py_ssize_t row, index, count = 0
    _expect(groups.shape[0], values.shape[1], "groups")
    for index in range(groups.shape[0]):
        if groups[index] < 0:
            raise ValueError(f"groups: {groups[index]} is below 0")
        count = max(count, groups[index] + 1)
    found = np.zeros((values.shape[0], count))
    cdef double[:, ::1] sums = found
    for row in range(values.shape[0]):
        for index in range(groups.shape[0]):
            sums[row, groups[index]] += values[row, index]
    return found


def window_means(const double[:, ::1] values, const double[::1] weights, reaches):
    """`tree_index.window_means`."""
    cdef Py_ssize_t blocks = values.shape[1], row, block, start, end, reach, number
    cdef double weight
    _expect(weights.shape[0], blocks, "weights")
    found = np.empty((len(reaches), values.shape[0], 2, blocks))
    cdef double[:, :, :, ::1] means = found
    cdef double[:, ::1] sums = np.zeros((values.shape[0] + 1, blocks + 1))
    for block in range(blocks):
        for row in range(values.shape[0]):
            sums[row, block + 1] = sums[row, block] + values[row, block]
        sums[values.shape[0], block + 1] = sums[values.shape[0], block] + weights[block]
    for number, reach in enumerate(reaches):
        if reach < 0:
            raise ValueError(f"a window reaches over {reach} blocks")
        for block in range(blocks):
            start = block - reach if block > reach else 0
            end = block + 1 + reach if block + 1 + reach < blocks else blocks
            weight = sums[values.shape[0], block] - sums[values.shape[0], start]
            for row in range(values.shape[0]):
                means[number, row, 0, block] = (
                    (sums[row, block] - sums[row, start]) / (weight if weight > 1 else 1.0)
                )
            weight = sums[values.shape[0], end] - sums[values.shape[0], block + 1]
            for row in range(values.shape[0]):
                means[number, row, 1, block] = (
                    (sums[row, end] - sums[row, block + 1]) / (weight if weight > 1 else 1.0)
                )
    return found
