# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Twins of what is done with each character: text features, words, near-duplicates."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int8_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from hashlib import blake2b

import numpy as np

cdef extern from "built_for.h":
    const char* SOURCE_TEXTS

SOURCE = SOURCE_TEXTS.decode()  # a hash of this file as it was compiled
_LENIENT = ("utf-8", "surrogatepass")

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    Py_UCS4 PyUnicode_READ(int kind, void* data, Py_ssize_t index)

cdef enum:
    MOST_CHARACTERS = 1000  # of a text whose words are compared here
    MOST_WANTED = 500
    MOST_SETS = 32
    SLOTS = 1024
    LONGEST_WORD = 64
    MOST_KINDS = 15  # of characters; the bit of upper case comes on top
    ROW = 12  # values of a text


cdef class TextMeasure:
    """`evidence_model.text_features._measure`, given what that knows of characters and patterns.

    `kinds` are `_character_kinds()`, `names` their names, lowest bit first, `closes` are
    `_character_closes()`.
    """

    cdef const uint16_t[::1] kinds
    cdef const uint8_t[::1] closes
    cdef Py_ssize_t known
    cdef int stop, whole_stop, digit, separator, han, upper
    cdef double han_weight
    cdef object mask_digits

    def __init__(self, kinds, closes, list names, double han_weight, mask_digits):
        if len(kinds) != len(closes) or not len(kinds) or len(names) > MOST_KINDS:
            raise ValueError(
                f"{len(names)} kinds of {len(kinds)} characters, {len(closes)} of which may close"
            )
        self.kinds, self.closes, self.known = kinds, closes, len(kinds)
        self.stop, self.whole_stop = names.index("stop"), names.index("whole stop")
        self.digit, self.separator = names.index("digit"), names.index("separator")
        self.han, self.upper = names.index("han"), len(names)
        self.han_weight, self.mask_digits = han_weight, mask_digits

    def measure(self, list texts, Py_ssize_t width):
        """The rows (B, width) of B texts; of the first two values the logarithm is not yet taken."""
        if width != ROW:
            raise ValueError(f"a row has {ROW} values, not {width}")
        table = np.empty((len(texts), width))
        cdef double[:, ::1] rows = table
        cdef uint64_t[:, ::1] keys = table.view(np.uint64)
        cdef Py_ssize_t index
        for index in range(len(texts)):
            self._measure(<str> texts[index], &rows[index, 0], &keys[index, width - 1])
        return table

    cdef inline Py_ssize_t _known(self, Py_UCS4 character) noexcept:
        return character if character < self.known else self.known - 1

    cdef int _measure(self, str text, double* row, uint64_t* key) except -1:
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        cdef Py_ssize_t size = len(text), at, behind
        cdef Py_ssize_t[MOST_KINDS + 1] count
        cdef Py_ssize_t sentences = 0, initials = 0, parts = 1 if size else 0
        cdef unsigned int bits, below
        cdef int number
        cdef Py_UCS4 character, before = c" "
        cdef double characters = size, length, words, divisor
        cdef bint ends = False
        for number in range(MOST_KINDS + 1):
            count[number] = 0
        for at in range(size):
            character = PyUnicode_READ(kind, data, at)
            parts += character == c" "
            bits = self.kinds[self._known(character)]
            if bits:
                number, below = 0, bits & ((1 << self.upper) - 1)
                while below:
                    count[number] += below & 1
                    number += 1
                    below >>= 1
                if bits >> self.upper & 1 and before == c" ":
                    initials += 1
                if bits >> self.stop & 1:
                    behind = at + 1
                    while behind < size and self._closes(PyUnicode_READ(kind, data, behind)) & 1:
                        behind += 1
                    sentences += behind == size or PyUnicode_READ(kind, data, behind) == c" "
            before = character
        if count[self.stop] or count[self.whole_stop]:
            at = size
            while at and self._closes(PyUnicode_READ(kind, data, at - 1)) & 2:
                at -= 1
            bits = self.kinds[self._known(PyUnicode_READ(kind, data, at - 1))] if at else 0
            ends = bits >> self.stop & 1 or bits >> self.whole_stop & 1
        lowered = text.lower()
        length = characters + self.han_weight * count[self.han]
        divisor = max(length, 1.0)
        words = max(<double> parts, count[self.han] / 2.0)
        row[0] = length
        row[1] = words
        row[2] = divisor / max(words, 1.0)
        row[3] = sentences + count[self.whole_stop]
        row[4] = ends
        row[5] = initials / max(<double> parts, 1.0)
        row[6] = count[self.separator]
        row[7] = length
        row[8] = characters
        row[9] = count[self.digit]
        key[0] = _hash64(self._masked(lowered) if count[self.digit] else lowered.encode(*_LENIENT))
        return 0

    cdef bytes _masked(self, str lowered):
        """`mask_digits`, as UTF-8."""
        if not lowered.isascii():
            return self.mask_digits(lowered).encode(*_LENIENT)
        cdef bytes masked = PyBytes_FromStringAndSize(NULL, len(lowered))
        cdef char* out = masked
        return masked[: _masked(lowered, out)]

    cdef inline int _closes(self, Py_UCS4 character) noexcept:
        return self.closes[self._known(character)]


def known_rows(list texts, dict kept, Py_ssize_t width):
    """`text_features._known_rows`."""
    table = np.empty((len(texts), width))
    cdef double[:, ::1] rows = table
    cdef list unknown = []
    cdef Py_ssize_t index
    for index in range(len(texts)):
        row = kept.get(texts[index])
        if row is None:
            unknown.append(index)
        elif len(<bytes?> row) != width * <Py_ssize_t> sizeof(double):
            raise ValueError(f"a row of {width} values has not {len(row)} bytes")
        else:
            memcpy(&rows[index, 0], <const char*> <bytes> row, len(<bytes> row))
    return table, unknown


cdef uint64_t _hash64(bytes text) except? 0:
    """`page.hashes.hash64`."""
    cdef bytes digest = blake2b(text, digest_size=8).digest()
    cdef uint64_t found = 0
    for byte in digest:
        found = found << 8 | <uint8_t> byte
    return found


cdef struct Word:
    uint64_t hash
    Py_ssize_t start
    Py_ssize_t size
    uint64_t text  # the number of the text that it was last seen in
    unsigned int sets  # bits of the wanted sets that it is in

cdef Word[SLOTS] _seen
cdef Word[SLOTS] _asked
cdef char[MOST_CHARACTERS + 1] _buffer
cdef uint64_t _text = 0  # of the text that is read; none has a number twice


def word_counts(list texts, tuple wanted, Py_ssize_t longest):
    """`page.words.word_counts` for most texts in western languages; -1 for what is left to that."""
    global _text
    if len(wanted) > MOST_SETS:
        raise ValueError(f"{len(wanted)} sets of words are more than {MOST_SETS}")
    found = np.zeros((1 + len(wanted), len(texts)), dtype=np.int64)
    cdef int64_t[:, ::1] counts = found
    cdef list known = [
        b" ".join([word.encode("latin-1") for word in words if PyUnicode_KIND(word) == 1])
        for words in wanted
    ]
    cdef bytes joined = b" ".join(known)
    cdef bint are_few = joined.count(b" ") < MOST_WANTED
    cdef uint64_t asked
    cdef size_t slots
    cdef Py_ssize_t index, size, start = 0
    cdef int number
    cdef str text
    _text += 1
    asked = _text
    if are_few:
        for number in range(len(known)):
            size = len(<bytes> known[number])
            _note(joined, start, start + size, asked, 1 << number)
            start += size + 1
    for index in range(len(texts)):
        text = texts[index]
        if len(text) > longest:
            continue
        size = _masked(text, _buffer) if are_few and len(text) <= MOST_CHARACTERS else -1
        if size < 0:
            counts[:, index] = -1
            continue
        _text += 1
        # Most texts are short; a table no larger than they need stays in the processor's cache.
        slots = SLOTS if size > SLOTS // 4 else SLOTS // 4
        _count(_buffer, size, slots, _text, joined, asked, &counts[0, index], counts.shape)
    return found


cdef Py_ssize_t _masked(str text, char* out) noexcept:
    """Write a text in lower case, each number as 0; how long it is then, -1 where it cannot be.

    It can be where all but punctuation is of Latin-1, which is written: a byte is a character, and
    one above 127 a letter.
    """
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t at, size = 0
    cdef Py_UCS4 character
    cdef bint in_number = False
    for at in range(len(text)):
        character = PyUnicode_READ(kind, data, at)
        if c"0" <= character <= c"9":
            if in_number:
                continue
            in_number = True
            out[size] = c"0"
        else:
            in_number = False
            if character < 0x80:
                out[size] = <char> (<int> character | (0x20 if c"A" <= character <= c"Z" else 0))
            elif 0xC0 <= character <= 0xFF and character != 0xD7 and character != 0xF7:
                out[size] = <char> (<int> character | (0x20 if character < 0xDF else 0))
            elif _is_mark(character):
                out[size] = c" "
            else:
                return -1
        size += 1
    return size


cdef inline bint _is_mark(Py_UCS4 character) noexcept:
    """Punctuation beyond ASCII; of Latin-1 some are no marks: superscripts, fractions, ª, µ, º."""
    if character <= 0xFF:
        return character not in (0xAA, 0xB2, 0xB3, 0xB5, 0xB9, 0xBA, 0xBC, 0xBD, 0xBE)
    return 0x2010 <= character <= 0x2027 or character in (0x2039, 0x203A, 0x20AC)


cdef int _note(
    const char* data, Py_ssize_t at, Py_ssize_t end, uint64_t asked, unsigned int bit
) noexcept:
    """Note the words of a set that are wanted."""
    cdef Py_ssize_t start = at
    cdef Word* word
    cdef bint is_new
    while _next_word(data, &at, end, &start):
        word = _noted(_asked, SLOTS, asked, data, start, at - start, &is_new)
        word.sets |= bit
    return 0


cdef int _count(
    const char* data,
    Py_ssize_t size,
    size_t slots,
    uint64_t text,
    const char* wanted,
    uint64_t asked,
    int64_t* counts,
    const Py_ssize_t* shape,
) noexcept:
    """Count the different words of a text, and how many are in each set, below each other."""
    cdef Py_ssize_t at = 0, start = 0, number
    cdef Word* word
    cdef bint is_new
    while _next_word(data, &at, size, &start):
        word = _noted(_seen, slots, text, data, start, at - start, &is_new)
        if not is_new:
            continue
        counts[0] += 1
        word = &_asked[_find(_asked, SLOTS, asked, wanted, word.hash, data + start, at - start)]
        if word.text == asked:
            for number in range(1, shape[0]):
                counts[number * shape[1]] += word.sets >> (number - 1) & 1
    return 0


cdef inline bint _next_word(
    const char* data, Py_ssize_t* at, Py_ssize_t end, Py_ssize_t* start
) noexcept:
    """Whether there is one more word: from `start` to `at`, which is where to look on."""
    start[0] = at[0]
    while start[0] < end and not _is_letter(data[start[0]]):
        start[0] += 1
    at[0] = start[0]
    while at[0] < end and at[0] - start[0] < LONGEST_WORD and _is_letter(data[at[0]]):
        at[0] += 1
    return at[0] > start[0]


cdef inline Word* _noted(
    Word* words,
    size_t slots,
    uint64_t text,
    const char* data,
    Py_ssize_t start,
    Py_ssize_t size,
    bint* is_new,
) noexcept:
    """A word of a text where it is noted, and whether it was not before."""
    cdef uint64_t hashed = 0xCBF29CE484222325
    cdef Py_ssize_t at
    for at in range(start, start + size):
        hashed = (hashed ^ <uint8_t> data[at]) * <uint64_t> 0x100000001B3
    cdef Word* word = &words[_find(words, slots, text, data, hashed, data + start, size)]
    is_new[0] = word.text != text
    if is_new[0]:
        word[0] = Word(hashed, start, size, text, 0)
    return word


cdef inline size_t _find(
    const Word* words,
    size_t slots,
    uint64_t text,
    const char* data,
    uint64_t hashed,
    const char* word,
    Py_ssize_t size,
) noexcept:
    """Where a word is noted for a text, or the free place for it."""
    cdef size_t slot = (hashed ^ hashed >> 32) & (slots - 1)
    while words[slot].text == text and not (
        words[slot].hash == hashed
        and words[slot].size == size
        and memcmp(data + words[slot].start, word, size) == 0
    ):
        slot = (slot + 1) & (slots - 1)
    return slot


cdef inline bint _is_letter(char character) noexcept:
    return c"a" <= character <= c"z" or c"0" <= character <= c"9" or <unsigned char> character > 127


def min_hashes(
    const uint8_t[::1] data, Py_ssize_t shingle, uint64_t base, uint64_t inverse, tuple mixers
):
    """`evidence_model.near_duplicates._min_hashes` of at least one shingle."""
    cdef uint64_t hashed = 0, power = 1, mixed
    cdef uint64_t[2] mixer = [mixers[0], mixers[1]]
    cdef uint64_t[2] least = [<uint64_t> -1, <uint64_t> -1]
    cdef Py_ssize_t at
    cdef int number
    if data.shape[0] < shingle:
        raise ValueError(f"{data.shape[0]} bytes are less than one shingle")
    for at in range(shingle):
        hashed += data[at] * power
        power *= base
    for at in range(data.shape[0] - shingle + 1):
        if at:
            # One byte leaves at the front, all powers fall by one, and one byte comes at the end.
            hashed = (hashed - data[at - 1] + data[at + shingle - 1] * power) * inverse
        for number in range(2):
            mixed = (hashed ^ hashed >> 31) * mixer[number]
            mixed = (mixed ^ mixed >> 32) * base
            if mixed < least[number]:
                least[number] = mixed
    return [least[0], least[1]]


def gram_sums(
    list texts,
    const uint32_t[::1] letters,
    const int8_t[::1] weights,
    Py_ssize_t longest,
    uint64_t mixer,
):
    """`evidence_model.wording._gram_sums`, given its tables and constants."""
    cdef Py_ssize_t buckets = weights.shape[0], index, at, size, pairs
    cdef int shift = 64, kind
    cdef void* data
    cdef str text
    cdef Py_UCS4 character
    cdef uint32_t letter, before
    cdef uint64_t pair, one_back, two_back
    cdef int64_t total
    while shift and <uint64_t> 1 << 64 - shift < <uint64_t> buckets:
        shift -= 1
    if buckets < 2 or 1 << 64 - shift != buckets or not letters.shape[0]:
        raise ValueError(f"{buckets} weights are no power of 2, or {letters.shape[0]} no letters")
    found = np.zeros((2, len(texts)), dtype=np.int64)
    cdef int64_t[:, ::1] sums = found
    for index in range(len(texts)):
        text = <str?> texts[index]
        kind, data, size = PyUnicode_KIND(text), PyUnicode_DATA(text), len(text)
        size = min(size, longest)
        before, pair, one_back, total, pairs = c" ", 0, 0, 0, 0
        for at in range(size + 1):  # with a blank at the end
            letter = c" "
            if at < size:
                character = PyUnicode_READ(kind, data, at)
                letter = letters[min(<Py_ssize_t> character, letters.shape[0] - 1)]
            if letter == c" " and before == c" ":
                continue
            two_back, one_back, pair = one_back, pair, <uint64_t> before << 32 | letter
            total += weights[pair * mixer >> shift]
            if pairs > 1:
                two_back *= mixer
                total += weights[((two_back ^ two_back >> 29) + pair) * mixer >> shift]
            pairs += 1
            before = letter
        sums[0, index], sums[1, index] = total, pairs
    return found
