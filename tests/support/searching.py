"""Pages for the tests of searching."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from itertools import product
from typing import Any

from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.page.stemming import STEMMERS
from noiseclean_scrapy.store import Cleaned, PageRecord, SearchResults, Store
from noiseclean_scrapy.store.search.terms import Analyzer

NOON = datetime(2025, 3, 1, 12, tzinfo=timezone.utc)

TEXTS = {
    "ferry": ("en", "Ferries return", "Ten ferries sailed to the northern isles. The café opened."),
    "harbour": ("en", "Harbour news", "A ferry was repaired; harbours in the north stay closed."),
    "hafen": ("de", "Häfen geschlossen", "Die Straßenbahn fährt zum Hafen."),
    "presse": ("fr", "L'Élysée", "Les élections ont été annulées à Paris."),
    "news": ("zh", "新闻", "中国新闻网记者北京报道，黑猫。"),
    "tower": ("ja", "東京の猫", "黒猫が東京タワーへ行った。白い猫"),
    "seoul": ("ko", "회의 소식", "서울에서 열린 회의는 끝났다."),
    "khao": ("th", "รายงาน", "สำนักข่าวไทยรายงานจากกรุงเทพ"),
    "izmir": ("tr", "İZMİR", "Irak'tan IŞIK geldi."),
    "hindi": ("hi", "समाचार", "हिन्दी समाचार यहाँ हैं।"),
    "measure": ("en", "Measures", "A ½ measure at 10² degrees, 1½ m² of CO₂."),
    "coeur": ("fr", "Œuvres", "Le cœur de la sœur désœuvrée."),
    "anaemic": ("en", "Cæsar", "Was he anæmic?"),
    "nukta": ("hi", "", "ज़्यादा पढ़ना"),
    "plain": ("", "Untold", "Nobody says which language the ferry speaks."),
    "unseen": ("", "", "A Donau\u00addampf\u00adschiff is co\u2060operative. می\u200cخواهم"),
    "army": ("he", 'צה"ל', "דו״ח מבקר המדינה: שָׁלוֹם"),
    "tehran": ("fa", "سال ۱۴۰۴", "خانهٔ ما"),
    "lahore": ("ur", "اُردو", "پاكستاني"),
    "delhi": ("hi", "", "२५० 360"),
    "kyiv": ("uk", "", "компʼютер"),
    "yerevan": ("hy", "", "Երևան"),
    "flood": ("th", "", "เกิดนํ้าท่วม"),
    "vientiane": ("lo", "", "ເກີດນໍ້າຖ້ວມ"),
    "station": ("ja", "", "東(とう)京(きょう)の駅と食（た）べる"),
}


def stems() -> list[str]:
    """The terms of all TEXTS, each in the language of every stemmer."""
    analyzer = Analyzer()
    texts = " ".join(f"{title} {text}" for _, title, text in TEXTS.values())
    return [term for language in STEMMERS for term in analyzer.terms(texts, language)]


def page(
    key: str,
    text: str,
    *,
    title: str = "",
    language: str | None = "",
    cluster: str = "a.example",
    published: datetime | None = None,
    position: int | None = None,
    html: str | None = None,
) -> PageRecord:
    """A page with a text; without metadata if `language` is None."""
    cleaned = Cleaned(title, text, (), 0, len(text), len(text))
    facts = None if language is None else Metadata(language=language, published=published)
    url = f"http://{cluster}/{key}"
    return PageRecord(key, cluster, url, "0", NOON, position, html, cleaned, metadata=facts)


def write(store: Store, *pages: PageRecord) -> None:
    """Write pages as a crawl does."""
    store.pages.write(pages, method="evidence")


def text_pages() -> list[PageRecord]:
    """The pages of TEXTS."""
    return [
        page(key, text, title=title, language=language)
        for key, (language, title, text) in TEXTS.items()
    ]


def keys(results: SearchResults) -> list[str]:
    """Keys of the hits, sorted."""
    return sorted(hit.key for hit in results.hits)


FOUND: Sequence[tuple[str, set[str]]] = [
    ("ferry", {"ferry", "harbour", "plain"}),
    ("FERRIES", {"ferry", "harbour"}),
    ("sailing ferry", {"ferry"}),
    ("hafen", {"hafen"}),
    ("häfen", {"hafen"}),
    ("STRASSENBAHN", {"hafen"}),
    ("straßenbahn", {"hafen"}),
    ("cafe", {"ferry"}),
    ("elections", {"presse"}),
    ("élection élysée", {"presse"}),
    ("l'Élysée", {"presse"}),
    ("izmir", {"izmir"}),
    ("ışık", {"izmir"}),
    ("समाचार", {"hindi"}),
    ("हिन्दी", {"hindi"}),
    ("新闻", {"news"}),
    ("中国新闻网", {"news"}),
    ("网中国", set()),
    ("猫", {"news", "tower"}),
    ("黒猫", {"tower"}),
    ("東京 タワー", {"tower"}),
    ("ﾀﾜｰ", {"tower"}),
    ('"タワーへ"', {"tower"}),
    ("서울", {"seoul"}),
    ("ข่าว", {"khao"}),
    ("กรุงเทพ", {"khao"}),
    ('"northern isles"', {"ferry"}),
    ('"isles northern"', set()),
    ('"the northern isles', {"ferry"}),
    ("ferry -isles", {"harbour", "plain"}),
    ('ferry -"northern isles" -language', {"harbour"}),
    ("-isles ferry", {"harbour", "plain"}),
    ("isles OR 猫", {"ferry", "news", "tower"}),
    ("isles harbour OR hafen", {"hafen"}),
    ("isles or harbour", set()),
    ("-ferry", set()),
    ("isles OR -猫", {"ferry"}),
    ("ferry NOT AND NEAR", set()),
    ("ferry ) * ^ : ( & | ! '", {"ferry", "harbour", "plain"}),
    ("!?", set()),
    ("return news", set()),
    ("½", {"measure"}),
    ("1/2", {"measure"}),
    ("1½", {"measure"}),
    ("12", set()),
    ("10²", {"measure"}),
    ("10^2", {"measure"}),
    ("102", set()),
    ("m2 CO2", {"measure"}),
    ("oeuvre coeur soeurs désoeuvrée", {"coeur"}),
    ("ŒUVRE cœur", {"coeur"}),
    ("caesar anaemic", {"anaemic"}),
    ("ज्यादा", {"nukta"}),
    ("ज़्यादा पढना", {"nukta"}),
    ("Donaudampfschiff", {"unseen"}),
    ("dampf", set()),
    ("Donau\u00addampfschiff coopera\u00adtive", {"unseen"}),
    ("میخواهم", {"unseen"}),
    ('צה"ל', {"army"}),
    ('צה"ל דו"ח', {"army"}),
    ('"דו"ח מבקר" המדינה', {"army"}),
    ('צה"ל -דו"ח', set()),
    ('"ח ל"', set()),
    ("שלום", {"army"}),
    ("1404 خانه", {"tehran"}),
    ("خانۀ", {"tehran"}),
    ("اردو پاکستانی", {"lahore"}),
    ("250 ३६०", {"delhi"}),
    ("комп'ютер", {"kyiv"}),
    ("комп’ютер", {"kyiv"}),
    ("ԵՐԵՎԱՆ", {"yerevan"}),
    ("Երեւան", {"yerevan"}),
    ("น้ำท่วม", {"flood"}),
    ("น้ํา", {"flood"}),
    ("ນ້ຳ", {"vientiane"}),
    ("東京", {"tower", "station"}),
    ('"東京の駅" 食べる', {"station"}),
    ("東(とう)京(きょう)", {"tower", "station"}),
    ("きょう とう", {"station"}),
]
"""Queries, and the pages of TEXTS that are right, found by reading."""

_MIXED_LANGUAGES = (None, "", "en", "de", "fr", "nb", "zh", "nl")
"""With stemmers and without; two share none, None is no metadata at all."""
_MIXED_WORDS = (
    "wine",
    "wines",
    "win",
    "winning",
    "élection",
    "elections",
    "ferry",
    "ferries",
    "猫",
)


def mixed_pages(rng: random.Random) -> dict[str, tuple[str, str | None]]:
    """Short texts and their languages, by key; in some languages two words have one stem."""
    return {
        f"{number:02}": (" ".join(rng.choices(_MIXED_WORDS, k=2)), rng.choice(_MIXED_LANGUAGES))
        for number in range(80)
    }


def mixed_queries(
    rng: random.Random, pages: Mapping[str, tuple[str, str | None]]
) -> Iterator[tuple[str, list[str]]]:
    """Queries, and the keys of the pages that are right, found by going through all of them."""
    analyzer = Analyzer()
    for _ in range(60):
        *wanted, excluded = rng.choices(_MIXED_WORDS, k=rng.randint(2, 3))
        yield (
            f"{' '.join(wanted)} -{excluded}",
            [
                key
                for key, (text, language) in pages.items()
                for terms in [set(analyzer.terms(text, language or ""))]
                if all(terms.issuperset(analyzer.terms(word, language or "")) for word in wanted)
                and not terms.issuperset(analyzer.terms(excluded, language or ""))
            ],
        )


WRONG: Sequence[tuple[str, Any]] = [
    *product(("limit", "offset"), (-1, 2**63, 10**30, 1.5, "10", None)),
    *product(
        ("since", "until"),
        (
            datetime(2025, 1, 1),
            datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))),
            "2025",
        ),
    ),
]
"""Arguments of a search, by name, with values that they cannot have."""
