"""What a page is called, and which of its text blocks is the headline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import compress, count, islice
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.page.characters import JOINERS
from noiseclean_scrapy.page.outline import HEADINGS
from noiseclean_scrapy.page.page import Page, PageTable
from noiseclean_scrapy.page.urls import host
from noiseclean_scrapy.page.words import LONGEST, page_words, word_counts, words

_COVERAGE = 0.8
_LIKE = 0.4  # Dice coefficient with a title, of an H1 with other words as well
_NEARLY = 0.8  # the same with a title's first part, which may be a word
_H1_BONUS, _HEADING_BONUS = 0.3, 0.1  # on top of that coefficient
_FIRST_LINES = 3
_MOST_H1 = 50  # that are compared
_SEPARATOR = r"\s[|–—·•»«:/-]+\s|\s*[|｜：]\s*"
_BETWEEN = re.compile(_SEPARATOR)
# Chinese, Japanese and Korean titles have no blanks there either.
_BESIDE_NAME = re.compile(rf"({_SEPARATOR}|(?<=[\u3000-\u9fff\uac00-\ud7a3\uff01-\uffee])[_-]+)")
_DAY = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W_]+")
_DOTS = re.compile(r"\s*(?:…|\.\.+)$")
_LABEL = re.compile(r"[^\W\d_]+:\s")
_NO_TITLE = re.compile(r"undefined|null|none|.*\{\{.*\}\}.*", re.IGNORECASE | re.DOTALL)
_MOST_OWN_PARTS = 10  # of a title
_MOST_PARTS = 4  # of a title that belong to the site: its name, a day
_LONGEST_REST = 5  # words
_SHORTEST_NAME, _LONGEST_NAME = 5, 100  # characters


def find_headline(page: Page, common: Sequence[bool] = ()) -> int | None:
    """The number of the block that shows the title, None where none is visible.

    It is the one that is most like a title of the page (see `_Titles`), headings first, of the
    blocks whose words stand in TITLE, or in another title of the page, and make up most of it, and
    of the H1; without such a block the page's only H1. The site's name and what is `common`, by the
    number of the block, are no headlines.
    """
    table = page.table
    site = SiteNames(page.declared.site_names, page.url)

    def may_show(number: int) -> bool:
        text = table.texts[number]
        if not site.allows(text):
            return False
        # Texts are counted with their digits masked: "Part 3" may be the headline of its page.
        return not common or not common[number] or _DIGIT.search(text) is not None

    tags = map(table.tags.__getitem__, table.owners)
    h1 = [number for number, tag in enumerate(tags) if tag == "h1" and may_show(number)]

    def nearest(title: str, counts: NDArray[np.int64], headings: Sequence[int] = ()) -> int | None:
        showing = [*filter(may_show, title_blocks(page, title, counts))]
        if len({*showing, *headings}) == len(showing) < 2:
            return next(iter(showing), None)
        return _Titles(page, site).nearest(showing, headings)

    found = nearest(page.title, page_words(page), h1[:_MOST_H1])
    declared = iter(page.declared.titles)
    while found is None and (title := next(declared, "")):
        found = nearest(title, word_counts(table.texts, frozenset(words(title))))
    return h1[0] if found is None and len(h1) == 1 else found


def headline_again(page: Page, headline: int, kept: Sequence[bool]) -> list[int]:
    """The blocks that say the headline once more among the first lines that are `kept` below it.

    It is the end of a breadcrumb, or stands there for another screen. What a rule keeps stays, and
    so does the head of a table.
    """
    table = page.table
    texts, rules = table.texts, table.rules
    shown = (n for n in compress(count(), kept) if n != headline and texts[n].strip(JOINERS))
    own = _plain(texts[headline])
    lines = islice(shown, _FIRST_LINES)
    found = [n for n in lines if rules[n] is None and _plain(texts[n]) == own != ""]
    return [n for n in found if not _is_head(table, table.owners[n])]


def _is_head(table: PageTable, element: int) -> bool:
    """Whether an element heads a table, or is right in what does."""
    above = table.parents[element]
    return table.tags[element] == "th" or (above >= 0 and table.tags[above] == "th")


def choose_title(page: Page, headline: str) -> str:
    """What the page is called; `headline` is the text of its headline, empty where none is visible.

    The title that META gives its readers elsewhere, without the site's name; else that of JSON-LD,
    the headline, that of TITLE. Where it only adds to the headline or to that of JSON-LD, which do
    not contradict each other, or where both agree and it repeats TITLE, they are right.

    >>> from noiseclean_scrapy.page import build_page
    >>> head = "<title>Fog | Sport | Courier</title><meta property=og:title content='{}'>"
    >>> choose_title(build_page(head.format("Fog closes port - courier")), "Fog closes port")
    'Fog closes port'
    >>> choose_title(build_page(head.format("Courier"), url="http://courier.example/"), "")
    'Fog | Sport'
    """
    site = SiteNames(page.declared.site_names, page.url)
    headline = _without_label(headline, page.title)
    # An attribute ends at a quotation mark that is not escaped.
    cut = [found.partition('"')[0].strip() for found in (headline, page.title) if '"' in found]
    article = page.declared.titles
    told = () if _is_apart(article, page.title, headline) else article
    declared = [
        title
        for title in (*told, page.declared.wrapped_title)
        if title.strip() not in cut
        and not _NO_TITLE.fullmatch(title.strip())
        and not _is_cut(title.strip(), headline or page.title)
    ]
    titles = [*map(site.without, declared), headline]
    titles = [title for title in titles if title and not site.is_name(title)]
    if not titles:
        return site.without(page.title)
    first, *others = titles
    for other in others:
        rest = first.removeprefix(other)
        between = _BESIDE_NAME.match(first, len(first) - len(rest))
        if rest != first and between and len(words(rest)) <= _LONGEST_REST:
            return other
    if len({_plain(other) for other in others}) == 1:
        if len(others) == 1:
            return others[0] if _is_part(others[0], first) else first
        own, meta = _plain(others[0]), _plain(first)
        if own in meta or meta == _plain(site.without(page.title)):
            return others[0]
    return first


def _without_label(headline: str, title: str) -> str:
    """A headline without a word and a colon before it, where TITLE begins without them.

    >>> _without_label("Thread: Best oil", "Best oil - Old Boats")
    'Best oil'
    """
    label = _LABEL.match(headline)
    rest = headline[label.end() :] if label else headline
    return rest if title.startswith(rest) and _BETWEEN.match(title, len(rest)) else headline


def _is_apart(declared: Sequence[str], title: str, headline: str) -> bool:
    """Whether the only declared title shares no word with TITLE, which begins with the headline.

    It is a description, as in articles of Wikipedia, or the site's own.

    >>> _is_apart(["Country in Oceania"], "New Zealand - Wikipedia", "New Zealand")
    True
    """
    is_shown = headline != "" and _plain(title).startswith(_plain(headline))
    return is_shown and len(declared) == 1 and set(words(*declared)).isdisjoint(words(title))


def _is_cut(title: str, whole: str) -> bool:
    """Whether a title is the beginning of another one, cut off in a word or with dots."""
    begin = _DOTS.sub("", title)
    if not begin or begin == whole or not whole.startswith(begin):
        return False
    return begin != title or (begin[-1].isalnum() and whole[len(begin)].isalnum())


def _plain(title: str) -> str:
    """A title by its words, without case and punctuation; unlike in `words`, digits count."""
    return " ".join(_WORD.findall(_folded(title)))


def _is_part(title: str, longer: str) -> bool:
    """Whether a title stands in a longer one, told from the rest by more than blanks."""
    own = r"[\W_]+".join(map(re.escape, _plain(title).split()))
    return bool(own and re.search(rf"(?<![^\W_])(?<![^\W_]\s){own}(?!\s*[^\W_])", _folded(longer)))


def title_blocks(page: Page, title: str, counts: NDArray[np.int64]) -> Iterator[int]:
    """The blocks that show a title; `counts` are the words of each block, and those in the title.

    Its words are most of the block's, and three of the title's or its whole first part.
    """
    least = max(1, min(3, len(set(words(title)))))
    first = squashed(_BETWEEN.split(title)[0])
    fitting = (counts[1] > 0) & (counts[1] >= _COVERAGE * counts[0])
    for number in np.flatnonzero(fitting).tolist():
        if counts[1, number] >= least or squashed(page.table.texts[number]) == first != "":
            yield number


def last_part(title: str) -> str:
    """What ends a title of several parts, mostly the site's name, as `squashed`; else empty."""
    *before, last = _BETWEEN.split(title)
    return squashed(last) if before else ""


class _Titles:
    """What the titles of a page say without the site's name, to compare blocks with.

    They are those of META and JSON-LD, TITLE, and its first part where that is not the site's; for
    H1 also parts with more words than the first, which may name a section. The last part mostly
    names the site: a block that shows no more comes after others, unless it is such a part and the
    page's only H1, and no other heading shows a title.
    """

    def __init__(self, page: Page, site: SiteNames) -> None:
        self._table = page.table
        titles = map(site.without, (page.title, *page.declared.titles))
        self._titles = list(filter(None, {frozenset(words(title)) for title in titles}))
        first, *further = _BETWEEN.split(page.title)[:_MOST_OWN_PARTS]
        has_first = bool(further) and not site.is_part(first)
        self._first = frozenset(words(first)) if has_first else frozenset()
        length = len(words(first))
        self._longer = [
            frozenset(own)
            for part in further
            if len(own := words(part)) > length and not site.is_part(part)
        ]
        self._last = last_part(page.title)

    def nearest(self, showing: Sequence[int], headings: Sequence[int]) -> int | None:
        """The best of the blocks that show a title and of the H1 that are like one."""
        texts = self._table.texts
        fits = {number: self._fit(number) for number in showing}
        near = {number: self._fit(number) for number in headings if number not in fits}
        fits |= {number: fit for number, fit in near.items() if fit >= _LIKE}

        full = {n for n, fit in fits.items() if fit == 1 and self._tag(n) in HEADINGS}
        h1 = headings[0] if len(headings) == 1 and full <= {*headings} else -1

        def rank(number: int) -> tuple[bool, float, int]:
            is_last = self._last != "" and squashed(texts[number]) == self._last
            is_story = number == h1 and frozenset(words(texts[number])) in self._longer
            return not is_last or is_story, fits[number] + self._bonus(number), -number

        return max(fits, key=rank, default=None)

    def _fit(self, number: int) -> float:
        """The largest Dice coefficient of the words of a block and of a title, in [0, 1]."""
        own = frozenset(words(self._table.texts[number]))
        fits = [_dice(own, title) for title in self._titles]
        parts = [self._first, *(self._longer if self._tag(number) == "h1" else ())]
        near = (fit for part in parts if (fit := _dice(own, part)) >= _NEARLY)
        return max([*fits, *near], default=0.0)

    def _tag(self, number: int) -> str:
        return self._table.tags[self._table.owners[number]]

    def _bonus(self, number: int) -> float:
        tag = self._tag(number)
        return _H1_BONUS if tag == "h1" else _HEADING_BONUS if tag in HEADINGS else 0.0


def _dice(one: Set[str], other: Set[str]) -> float:
    """What two sets have in common, of what they have on the average."""
    return 2 * len(one & other) / max(len(one) + len(other), 1)


class SiteNames:
    """What the site of a page is called: as the page has `told`, and by its address."""

    def __init__(self, told: Iterable[str], url: str) -> None:
        name = host(url)
        short = name.removeprefix("www.")
        # Nearly always that of the registrable domain, whose list takes long to load.
        label = max(short.split(".")[:-1], key=len, default="")
        names = (*told, name, short, label)
        self._names = set(filter(None, map(squashed, names)))

    def is_name(self, text: str) -> bool:
        """Whether a text is the site's name, as its banner may show it."""
        return len(text) <= _LONGEST_NAME and squashed(text) in self._names

    def allows(self, text: str) -> bool:
        """Whether a text may be a headline: there is one, not a long one, not the site's name."""
        return 0 < len(text) <= LONGEST and not self.is_name(text)

    def without(self, title: str) -> str:
        """A title without the site's name, and what stands beyond it, at its end; or before it."""
        for _ in range(_MOST_PARTS):
            parts = _BESIDE_NAME.split(title)
            if len(parts) < 3:
                break
            if self.is_part(parts[-1]):
                title = "".join(parts[:-2])
            elif self.is_part(parts[0], is_first=True):
                title = "".join(parts[2:])
            else:
                break
        return title.strip()

    def is_part(self, part: str, *, is_first: bool = False) -> bool:
        """Whether a part of a title is the site's: its name, with a word more or less, or a day.

        A headline may begin with the name.
        """
        own, name = words(part), squashed(part)
        if name in self._names or _DAY.fullmatch(part.strip()):
            return True
        if not is_first and own and own[0] in self._names and len(own) <= _LONGEST_REST:
            return True
        return len(name) >= _SHORTEST_NAME and any(
            known.endswith(name) or (name.endswith(known) and len(name) < 2 * len(known))
            for known in self._names
            if len(known) >= _SHORTEST_NAME
        )


def squashed(text: str) -> str:
    """The letters and digits of a short text, to be compared with others; empty if it is long."""
    return "".join(_WORD.findall(_folded(text))) if len(text) <= _LONGEST_NAME else ""


def _folded(text: str) -> str:
    """A text without case, its letters composed."""
    return text.casefold() if text.isascii() else normalize("NFC", text.casefold())
