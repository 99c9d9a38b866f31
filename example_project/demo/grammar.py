"""A small text grammar: templates with slots, filled from pools of words."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

Pools = Mapping[str, Sequence[str]]

_FIRST_LETTER = re.compile(r"^[“„]?\w")
_SLOT = re.compile(r"\{(\w+)\}")
_POOL_START = re.compile(r"^(\w+): ")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeioAEIO](?!ne\b)|un(?!i)|8|11\b|18\b)")

# Slots that are filled with a number: smallest value, largest value, step.
_NUMBERS = {
    "few": (3, 19, 1),
    "dozens": (20, 95, 1),
    "hundreds": (110, 980, 10),
    "thousands": (1200, 48000, 100),
    "percent": (4, 68, 1),
    "millions": (2, 90, 1),
    "years": (3, 40, 1),
    "year": (2009, 2029, 1),
    "day": (1, 28, 1),
}


def read_pools(text: str) -> dict[str, tuple[str, ...]]:
    """Read ``name: one | two | three`` entries; a line without a name continues the one above.

    >>> read_pools("fruit: apple | pear |\\n  plum\\ncolour: red")
    {'fruit': ('apple', 'pear', 'plum'), 'colour': ('red',)}
    """
    joined: dict[str, str] = {}
    name = ""
    for line in text.strip().splitlines():
        start = _POOL_START.match(line)
        if start:
            name = start.group(1)
            joined[name] = line[start.end() :]
        else:
            joined[name] += " " + line
    return {
        key: tuple(" ".join(term.split()) for term in value.split("|"))
        for key, value in joined.items()
    }


def read_lines(text: str) -> tuple[str, ...]:
    """Read entries that begin with a dash; indented lines continue the entry above.

    >>> read_lines("- One and\\n  the same.\\n- Two.")
    ('One and the same.', 'Two.')
    """
    return tuple(" ".join(entry.split()) for entry in ("\n" + text.strip()).split("\n- ")[1:])


def expand(template: str, pools: Pools, rng: random.Random, thousands: str = ",") -> str:
    """Fill the slots of a template, also those that come in with a filling.

    No word is used twice in one text while its pool has another one.
    """
    text = template
    spent: set[str] = set()
    while True:
        slot = _SLOT.search(text)
        if slot is None:
            break
        filling = _filling(slot.group(1), pools, rng, thousands, spent)
        text = text[: slot.start()] + filling + text[slot.end() :]
    return _FIRST_LETTER.sub(lambda letter: letter.group().upper(), text)


def correct_english_articles(text: str) -> str:
    """Write "an" before a vowel.

    >>> correct_english_articles("a old mill, a uneven road, a one-way street")
    'an old mill, an uneven road, a one-way street'
    """
    return _ARTICLE.sub(r"\1n ", text)


def narrow(pools: Pools, sizes: Mapping[str, int], rng: random.Random) -> dict[str, list[str]]:
    """Leave each pool only so many words: a story keeps to its own part of the vocabulary."""
    return {
        name: rng.sample(list(pools[name]), min(size, len(pools[name])))
        for name, size in sizes.items()
    }


def _filling(name: str, pools: Pools, rng: random.Random, thousands: str, spent: set[str]) -> str:
    if name in pools:
        word = rng.choice([word for word in pools[name] if word not in spent] or pools[name])
        spent.add(word)
        return word
    if name not in _NUMBERS:
        raise KeyError(f"Template slot {{{name}}} is neither a pool nor a number")
    low, high, step = _NUMBERS[name]
    number = rng.randrange(low, high + 1, step)
    return str(number) if name == "year" else f"{number:,}".replace(",", thousands)
