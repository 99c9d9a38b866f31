"""What a user types into a search box, taken apart.

Words, "phrases", -excluded words and -"phrases", OR between alternatives. Whatever else is typed is
taken for words: there is no wrong query, only an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from noiseclean_scrapy.errors import QueryError
from noiseclean_scrapy.page.decoding import without_hidden_blanks
from noiseclean_scrapy.store.search.terms import Analyzer, Phrase

# Within a word of Hebrew letters and points it tells an abbreviation, as the sign U+05F4 does.
_WITHIN = '(?<=[\u0591-\u05f2])"(?=[\u05d0-\u05f2])'
_PART = re.compile(rf'(-?)(?:"((?:[^"]|{_WITHIN})*)"?|((?:[^\s"]|{_WITHIN})+))')
_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class Alternative:
    """What a page must have all of, and what it must not have any of."""

    wanted: tuple[str, ...]
    excluded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnalyzedAlternative:
    """An alternative in terms."""

    wanted: tuple[Phrase, ...]
    excluded: tuple[Phrase, ...]


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
    for match in _PART.finditer(without_hidden_blanks(query)):  # as pages are read
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


def analyze_query(query: str, analyzer: Analyzer, language: str) -> tuple[AnalyzedAlternative, ...]:
    """The alternatives that can find something: those with a word, as a language stems it."""

    def phrases(texts: Iterable[str]) -> tuple[Phrase, ...]:
        found = (analyzer.phrase(text, language) for text in texts)
        # Signs alone say nothing: they are left out, like those in texts.
        return tuple(dict.fromkeys(phrase for phrase in found if phrase.terms))

    analyzed = (
        AnalyzedAlternative(phrases(alternative.wanted), phrases(alternative.excluded))
        for alternative in parse_query(query)
    )
    return tuple(dict.fromkeys(alternative for alternative in analyzed if alternative.wanted))


def wanted_phrases(query: str, analyzer: Analyzer, language: str) -> list[Phrase]:
    """What is to be marked in a text of a language."""
    found = analyze_query(query, analyzer, language)
    return [phrase for alternative in found for phrase in alternative.wanted]


@dataclass(frozen=True, slots=True)
class LanguageQuery:
    """What is searched for in the pages of some languages; by default in all pages."""

    alternatives: tuple[AnalyzedAlternative, ...]
    within: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def analyze_by_language(
    query: str, analyzer: Analyzer, languages: Iterable[str]
) -> list[LanguageQuery]:
    """What to search for in pages of each of `languages`: a page has its words as it stems them.

    Of the languages that write a query alike, those without a stemmer included, there is one entry;
    "" are the pages whose language is unknown.

    >>> for part in analyze_by_language("wines", Analyzer(), ["", "de", "en", "zh"]):
    ...     print([p.terms for p in part.alternatives[0].wanted], part.within, part.without)
    [('wines',)] () ('de', 'en')
    [('win',)] ('de',) ()
    [('wine',)] ('en',) ()
    """
    groups: dict[tuple[AnalyzedAlternative, ...], list[str]] = {}
    for language in sorted(languages) or [""]:
        groups.setdefault(analyze_query(query, analyzer, language), []).append(language)
    parts = []
    for alternatives, group in groups.items():
        if not alternatives:
            continue
        if len(groups) == 1:
            parts.append(LanguageQuery(alternatives))
        elif "" in group:
            others = (code for other in groups.values() if other is not group for code in other)
            parts.append(LanguageQuery(alternatives, without=tuple(others)))
        else:
            parts.append(LanguageQuery(alternatives, within=tuple(group)))
    return parts
