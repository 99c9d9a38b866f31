"""JSON of somebody else: read where the values that it makes fit into memory.

An empty list takes 60 bytes, and two in the text, of which compression leaves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

Bound = tuple[int, int]
"""So many at least, and so many for each compressed byte."""


def most(bound: Bound, packed: int) -> int:
    """The bound for so many compressed bytes."""
    least, each = bound
    return max(least, each * packed)


def is_bounded(text: bytes, packed: int, signs: Mapping[bytes, Bound]) -> bool:
    """Whether a text, unpacked from so many bytes, has no more of some signs than it may.

    >>> is_bounded(b"[[],[]]", 4, {b"[{": (3, 0), b",": (0, 1)})
    True
    """
    return all(
        sum(text.count(sign) for sign in map(bytes, zip(some))) <= most(bound, packed)
        for some, bound in signs.items()
    )
