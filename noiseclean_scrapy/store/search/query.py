"""What a user types into a search box, taken apart.

Words, "phrases", -excluded words and -"phrases", OR between alternatives. Whatever else is typed is
taken for words: there is no wrong query, only an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from noiseclean_scrapy.errors import QueryError
from noiseclean_scrapy.page.stemming import stemmer_name
from noiseclean_scrapy.store.search.terms import Analyzer, Phrase

_PART = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))')
_CHARACTERS = 1000

Forms: TypeAlias = "tuple[Phrase, ...]"
"""A word or phrase as each of some languages writes it; one of them is enough."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """What a page must have all of, and what it must not have any of."""

    wanted: tuple[str, ...]
    excluded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnalyzedAlternative:
    """An alternative in terms."""

    wanted: tuple[Forms, ...]
    excluded: tuple[Forms, ...]


def parse_query(query: str) -> tuple[Alternative, ...]:
    """The alternatives of a query, of which a page must fulfil one.

    Words that begin after 1,000 characters do not count. Raises QueryError for an empty query.

    >>> ferry, harbour = parse_query('ferry -"northern isles" OR harbour')
    >>> ferry
    Alternative(wanted=('ferry',), excluded=('northern isles',))
    """
    if not query.strip():
        raise QueryError("the query is empty: give a word to search for")
    alternatives: list[tuple[list[str], list[str]]] = [([], [])]
    for match in _PART.finditer(query):
        if match.start() >= _CHARACTERS:
            break
        minus, quoted, word = match.groups(default="")
        if word == "OR" and not minus:
            alternatives.append(([], []))
        else:
            alternatives[-1][bool(minus)].append(word or quoted)
    return tuple(
        Alternative(tuple(dict.fromkeys(wanted)), tuple(dict.fromkeys(excluded)))
        for wanted, excluded in alternatives
    )


def analyze_query(
    query: str, analyzer: Analyzer, languages: Iterable[str]
) -> tuple[AnalyzedAlternative, ...]:
    """The alternatives that can find something: those with a word, as `languages` write it."""
    # One language for each way to stem is enough.
    codes = {stemmer_name(language): language for language in languages}.values()

    def forms(texts: Iterable[str]) -> tuple[Forms, ...]:
        found = (dict.fromkeys(analyzer.phrase(text, code) for code in codes) for text in texts)
        # Signs alone say nothing: they are left out, like those in texts.
        return tuple(tuple(phrases) for phrases in found if all(p.terms for p in phrases))

    analyzed = (
        AnalyzedAlternative(forms(alternative.wanted), forms(alternative.excluded))
        for alternative in parse_query(query)
    )
    return tuple(alternative for alternative in analyzed if alternative.wanted)
