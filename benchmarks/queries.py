"""Queries to search stored pages with, and the pages that are right: all drawn from gold texts.

Three kinds look for a known page (known-item retrieval). A `title` is the page's headline; a
`passage` is seven words in a row of its text; `keywords` are three words, drawn by their number in
the page times the logarithm of their inverse document frequency (Azzopardi, de Rijke & Balog 2007).
A `topic` looks for several pages: a word of a headline that 3 to 50 gold texts have.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import log

from benchmarks.scores import GOLD
from noiseclean_scrapy.store import Store

TITLE, PASSAGE, KEYWORDS, TOPIC = "title", "passage", "keywords", "topic"
KINDS = (TITLE, PASSAGE, KEYWORDS, TOPIC)
TITLE_WORDS = range(4, 31)
"""A headline has so many words; the first line of a gold text may be a paragraph."""
PASSAGE_WORDS = 7
KEYWORD_COUNT = 3
TOPIC_PAGES = range(3, 51)
TEMPLATE_WORDS = {
    "en": "privacy policy|all rights reserved|terms of use|newsletter|subscribe|cookies|log in"
    "|facebook|twitter",
    "el": "όροι χρήσης|επικοινωνία|διαφήμιση|εγγραφή|σχόλια",
    "pl": "polityka prywatności|wszelkie prawa zastrzeżone|regulamin|reklama|zaloguj|kontakt",
    "ru": "все права защищены|реклама|подписка|войти|контакты",
    "zh": "版权所有|联系我们|登录|注册|隐私|订阅",
}
"""What templates say, by language: a reader who looks for it wants pages that are about it."""

_UNSPACED = r"\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_TERM = re.compile(rf"[{_UNSPACED}]{{2}}|[^\W\d_{_UNSPACED}]{{4,}}")
_SEED = 0


@dataclass(frozen=True, slots=True)
class Document:
    """A page with gold text: its title, and its text in each row of the tables, gold included."""

    key: str
    corpus: str
    site: str
    language: str
    title: str
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Query:
    """A query, the page that it was drawn from, and the keys of the pages that are right."""

    kind: str
    text: str
    corpus: str
    site: str
    right: frozenset[str]


def draw_pages(documents: Sequence[Document], most: int) -> list[Document]:
    """The pages that queries are drawn from: of each corpus at most so many, with a fixed seed."""
    corpora: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        corpora[document.corpus].append(document)
    return [
        page
        for pages in corpora.values()
        for page in random.Random(_SEED).sample(pages, min(most, len(pages)))
    ]


def known_items(documents: Sequence[Document], pages: Sequence[Document]) -> Iterator[Query]:
    """A title, a passage and keywords of each of the `pages`, where it has such.

    Titles and passages stand, as runs of words, in the gold text of their page and of no other: no
    query has a word that only raw text holds, or two right answers that the gold texts tell of.
    Other pages may still be near-duplicates.
    """
    runs = _Runs(documents)
    terms = {page.key: Counter(_terms(page.texts[GOLD])) for page in documents}
    pages_with = Counter(term for counts in terms.values() for term in counts)
    for document in pages:
        draw = random.Random(f"{_SEED} {document.key}")
        lines = [line for line in document.texts[GOLD].splitlines() if line != document.title]
        drawn = {TITLE: document.title, PASSAGE: _passage(lines, draw)}
        texts = {kind: text for kind, text in drawn.items() if runs.pages(text) == [document.key]}
        if len(words(document.title)) not in TITLE_WORDS:
            texts.pop(TITLE, None)
        weights = {
            term: count * log(len(documents) / pages_with[term])
            for term, count in terms[document.key].items()
        }
        if keywords := _draw_weighted(weights, draw):
            texts[KEYWORDS] = keywords
        for kind, text in texts.items():
            right = frozenset([document.key])
            yield Query(kind, as_typed(text), document.corpus, document.site, right)


def topics(pages: Sequence[Document], gold: Store) -> Iterator[Query]:
    """A word of each title that the `gold` texts of several pages have: these are right."""
    seen = set()
    for document in pages:
        draw = random.Random(f"{_SEED} {document.key}")
        terms = [term for term in _terms(document.title) if term not in seen]
        if not terms:
            continue
        term = draw.choice(terms)
        seen.add(term)
        found = gold.search(term, limit=TOPIC_PAGES.stop)
        if found.total in TOPIC_PAGES:
            right = frozenset(hit.key for hit in found.hits)
            yield Query(TOPIC, term, document.corpus, document.site, right)


def template_words() -> Iterator[tuple[str, str]]:
    """Language and text of each query for words of templates."""
    for language, texts in TEMPLATE_WORDS.items():
        for text in texts.split("|"):
            yield language, text


def words(text: str) -> list[str]:
    """Lower-case words; one a character in Chinese and Japanese.

    >>> words("Don't panic: 東京 2020")
    ['don', 't', 'panic', '東', '京', '2020']
    """
    return _WORD.findall(text.lower())


def as_typed(text: str) -> str:
    """Lower-case words without punctuation, so that nothing in a query is an operator.

    >>> as_typed('"Not me", says O\\'Neil - OR 東京タワー')
    'not me says o neil or 東京タワー'
    """
    return " ".join(re.findall(r"\w+", text.lower()))


class _Runs:
    """Where runs of words stand in gold texts."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._texts = {}
        self._with_word: dict[str, set[str]] = defaultdict(set)
        for document in documents:
            found = words(document.texts[GOLD])
            self._texts[document.key] = _joined(found)
            for word in found:
                self._with_word[word].add(document.key)

    def pages(self, text: str) -> list[str]:
        """The keys of the pages that have the words of `text` in a row."""
        run = words(text)
        if not run:
            return []
        candidates = set.intersection(*(self._with_word.get(word, set()) for word in run))
        return [key for key in candidates if _joined(run) in self._texts[key]]


def _joined(found: Sequence[str]) -> str:
    return f" {' '.join(found)} "


def _terms(text: str) -> list[str]:
    return _TERM.findall(text.lower())


def _passage(lines: Sequence[str], draw: random.Random) -> str:
    """`PASSAGE_WORDS` words in a row of one of the lines; empty when all are shorter."""
    places = [list(_WORD.finditer(line)) for line in lines]
    long = [number for number, found in enumerate(places) if len(found) >= PASSAGE_WORDS]
    if not long:
        return ""
    number = draw.choice(long)
    first = draw.randrange(len(places[number]) - PASSAGE_WORDS + 1)
    start = places[number][first].start()
    return lines[number][start : places[number][first + PASSAGE_WORDS - 1].end()]


def _draw_weighted(weights: Mapping[str, float], draw: random.Random) -> str:
    """`KEYWORD_COUNT` different words (Efraimidis & Spirakis 2006); empty when there are fewer."""
    possible = [word for word, weight in weights.items() if weight > 0]
    if len(possible) < KEYWORD_COUNT:
        return ""
    keys = {word: draw.random() ** (1 / weights[word]) for word in possible}
    return " ".join(nlargest(KEYWORD_COUNT, possible, key=keys.__getitem__))
