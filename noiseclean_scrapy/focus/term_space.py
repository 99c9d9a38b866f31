"""Terms, their weights in a space of tf-idf, and the cosine of two texts in it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from noiseclean_scrapy.methods.trees.counts import more_frequent_half
from noiseclean_scrapy.page.facts import language_code
from noiseclean_scrapy.page.stemming import Stemming
from noiseclean_scrapy.topic import Example

Vector = Mapping[str, float]

_MOST_TERMS = 200_000
_MOST_LANGUAGES = 64
_TOPIC_TERMS = 100
_GROWTH = 1.1


class Stemmer:
    """Words to terms, language by language: stems without stop words, pairs of Chinese characters.

    Numbers are no terms.
    """

    def __init__(self) -> None:
        self._stemmings: dict[str, Stemming] = {}
        self._terms: dict[tuple[str, str], str] = {}

    def count(self, text: str, language: str) -> Counter[str]:
        """How often each term occurs in a text."""
        counted = Counter(self._stemming(language).terms(text))
        del counted["0"]
        return counted

    def weigh(self, weights: Mapping[str, float], language: str) -> dict[str, float]:
        """The weight of each term, from those of the words (`src:` and `href:` are no words)."""
        code = language_code(language)
        summed: dict[str, float] = defaultdict(float)
        for word, weight in weights.items():
            term = self._terms.get((code, word))
            if term is None:
                term = self._term(word, code)
            if term:
                summed[term] += weight
        return summed

    def _term(self, word: str, code: str) -> str:
        term = "" if ":" in word else next(iter(self._stemming(code).terms(word)), "")
        if len(self._terms) >= _MOST_TERMS:
            self._terms.clear()
            self._stemmings.clear()  # they remember their stems too
        self._terms[code, word] = term = "" if term == "0" else term
        return term

    def _stemming(self, language: str) -> Stemming:
        code = language_code(language)
        if code not in self._stemmings:
            if len(self._stemmings) >= _MOST_LANGUAGES:
                self._stemmings.clear()
            self._stemmings[code] = Stemming(code)
        return self._stemmings[code]


class TermSpace:
    """How many pages of the crawl have each term; the rarer half goes above `most_terms`.

    A term that occurs with weight w weighs ln(1 + w) (ln((1 + N) / (1 + n)) + 1), where n of N
    pages have it (tf-idf, smoothed as if one more page had every term).

    >>> space = TermSpace()
    >>> space.add(["tide", "port"]); space.add(["port"]); space.add(["bread"])
    >>> round(space.idf("port"), 4), round(space.idf("tide"), 4), round(space.idf("eel"), 4)
    (1.2877, 1.6931, 2.3863)
    """

    def __init__(self, most_terms: int = _MOST_TERMS) -> None:
        self.most_terms = most_terms
        self.pages = 0
        self.frequencies: Counter[str] = Counter()

    def add(self, terms: Iterable[str]) -> None:
        """Count the distinct terms of one page."""
        self.pages += 1
        self.frequencies.update(terms)
        if len(self.frequencies) > self.most_terms:
            self.frequencies = Counter(more_frequent_half(self.frequencies, self.most_terms))

    def idf(self, term: str) -> float:
        """ln((1 + N) / (1 + n)) + 1."""
        return math.log((1 + self.pages) / (1 + self.frequencies[term])) + 1

    def vector(self, weights: Mapping[str, float]) -> dict[str, float]:
        """The weighted terms as a vector of length 1; empty where nothing weighs anything."""
        found = {
            term: math.log1p(weight) * self.idf(term)
            for term, weight in weights.items()
            if weight > 0
        }
        return _unit(found)


def cosine(first: Vector, second: Vector) -> float:
    """The cosine of two vectors of length 1, in [0, 1]; 0 where one is empty."""
    if len(second) < len(first):
        first, second = second, first
    product = math.fsum(weight * second.get(term, 0.0) for term, weight in first.items())
    return min(1.0, product)


class TopicVectors:
    """The topic as a vector, once a language: its texts stemmed as that language has it.

    Each example gives a vector of length 1; their sum is cut to its 100 heaviest terms (Rocchio's
    centroid). Rebuilt when the crawl has a tenth more pages, since idf changes with them.
    """

    def __init__(self, examples: Sequence[Example], space: TermSpace, stemmer: Stemmer) -> None:
        self.examples = tuple(examples)
        self.space = space
        self.stemmer = stemmer
        self._built: dict[str, tuple[int, Vector]] = {}

    def add(self, example: Example) -> None:
        """Let one more text belong to the topic."""
        self.examples = (*self.examples, example)
        self._built.clear()

    def vector(self, language: str) -> Vector:
        """The topic's vector for texts of a language."""
        code = language_code(language)
        pages, vector = self._built.get(code, (-1, {}))
        if pages < 0 or self.space.pages >= max(pages + 1, _GROWTH * pages):
            if len(self._built) >= _MOST_LANGUAGES:
                self._built.clear()
            vector = self._build(code)
            self._built[code] = self.space.pages, vector
        return vector

    def _build(self, code: str) -> Vector:
        total: dict[str, float] = defaultdict(float)
        for example in self.examples:
            counted = self.stemmer.count(example.text, language_code(example.language) or code)
            for term, weight in self.space.vector(counted).items():
                total[term] += weight
        heaviest = sorted(total, key=lambda term: (-total[term], term))[:_TOPIC_TERMS]
        return _unit({term: total[term] for term in heaviest})


def _unit(vector: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(math.fsum(weight * weight for weight in vector.values()))
    return {term: weight / length for term, weight in vector.items()} if length else {}
