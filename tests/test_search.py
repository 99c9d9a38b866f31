"""Searching the store: both databases find the same pages, and never a page as it was before."""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from noiseclean_scrapy.commands.search import Search
from noiseclean_scrapy.errors import QueryError
from noiseclean_scrapy.metadata import Metadata
from noiseclean_scrapy.store import Cleaned, PageRecord, Store
from noiseclean_scrapy.store.search import snippet
from noiseclean_scrapy.store.search.ranking import MATCH_END, MATCH_START
from noiseclean_scrapy.store.search.terms import Analyzer, Phrase
from tests.support import databases, searching
from tests.support.command_line import ROOT, run_process
from tests.support.searching import FOUND, NOON, keys, page, write


def indexed(url: str) -> int:
    """How many pages are in the index, past the code under test."""
    if url.startswith("sqlite"):
        # Refuses with an error when the index does not agree with itself.
        check = "INSERT INTO noiseclean_search_terms (noiseclean_search_terms) VALUES ('{}')"
        databases.run_statement(url, check.format("integrity-check"))
        ((terms,),) = databases.read_rows(url, "SELECT count(*) FROM noiseclean_search_terms")
        ((rows,),) = databases.read_rows(url, "SELECT count(*) FROM noiseclean_search")
        assert terms == rows
    ((rows,),) = databases.read_rows(url, "SELECT count(*) FROM noiseclean_search")
    return int(rows)


def test_words_phrases_and_scripts(store: Store) -> None:
    write(store, *searching.text_pages())
    found = {query: set(keys(store.search(query, limit=20))) for query, _ in FOUND}
    assert found == dict(FOUND)


@pytest.mark.parametrize("words", [("ប្រទេស", "កម្ពុជា"), ("นายก", "รัฐมนตรี")])
def test_blanks_without_width_in_a_query_are_those_of_no_page(
    store: Store, words: tuple[str, str]
) -> None:
    write(store, page("found", "".join(words)), page("other", words[1]))
    assert keys(store.search("\u200b".join(words))) == ["found"]
    assert keys(store.search(f"{words[1]} -{chr(0x200B).join(words)}")) == ["other"]


def test_a_language_of_a_region_is_its_language(store: Store) -> None:
    write(store, page("vienna", "Der Hafen", language="de"), page("oslo", "Hafen", language="no"))
    assert keys(store.search("hafen", language="de-AT")) == ["vienna"]


def test_a_word_of_nothing_but_stretches_is_bounded(store: Store) -> None:
    write(store, page("stretched", "\u0640" * 3000 + " ferry"))
    assert keys(store.search("ferry")) == ["stretched"]
    assert keys(store.search("\u0640" * 3000)) == ["stretched"]


def test_any_text_gives_hits_or_none(store: Store) -> None:
    write(store, *searching.text_pages())
    rng = random.Random(7)
    parts = [*"\"-()*:^|&!'\\{}+%\x00\ud800½é⑴猫", "<->", "::", "$1"]
    parts += ["OR", "AND", "NOT", "NEAR(", "ferry", "title:"]
    for _ in range(200):
        query = "x" + rng.choice(["", " "]).join(rng.choices(parts, k=rng.randint(1, 12)))
        results = store.search(query)
        assert results.total == len(results.hits)
    assert store.search("ferry " * 5000).total == 3
    assert store.search("猫" * 5000).total == 0
    assert store.search("ferry OR " + " OR ".join(map(str, range(500)))).total == 4


@pytest.mark.parametrize("query", ["", " \n\t"])
def test_an_empty_query_is_an_error(store: Store, query: str) -> None:
    with pytest.raises(QueryError, match="the query is empty"):
        store.search(query)


def test_random_queries_find_what_a_slow_search_finds(store: Store) -> None:
    rng = random.Random(3)
    texts = {f"{n:02}": rng.choices("abcde", k=rng.randint(1, 6)) for n in range(60)}
    write(store, *(page(key, " ".join(words)) for key, words in texts.items()))
    for _ in range(60):
        alternatives = [
            [(rng.random() < 0.3, rng.choices("abcde", k=rng.randint(1, 2))) for _ in range(2)]
            for _ in range(rng.randint(1, 2))
        ]
        query = " OR ".join(
            " ".join(f'{"-" * minus}"{" ".join(words)}"' for minus, words in parts)
            for parts in alternatives
        )
        right = {
            key
            for key, words in texts.items()
            for parts in alternatives
            if not all(minus for minus, _ in parts)
            and all((f" {' '.join(p)} " in f" {' '.join(words)} ") != minus for minus, p in parts)
        }
        assert set(keys(store.search(query, limit=100))) == right, query


def test_a_page_has_a_word_as_its_own_language_stems_it(store: Store) -> None:
    write(
        store,
        page("en", "They win the match.", language="en"),
        page("bottle", "A glass of wine.", language="en"),
        page("de", "Die Wine-Bar am Hafen, und jeder darf win sagen.", language="de"),
        page("untold", "wines", language=None),
    )
    assert keys(store.search("wine")) == ["bottle", "de"]
    assert keys(store.search("win")) == ["de", "en"]
    assert keys(store.search("wines")) == ["bottle", "de", "untold"]
    marked = {hit.key: hit.marked("[", "]") for hit in store.search("wines").hits}
    assert marked["bottle"] == "A glass of [wine]."
    assert marked["de"] == "Die [Wine]-Bar am Hafen, und jeder darf [win] sagen."


def test_random_queries_in_many_languages_find_what_a_slow_search_finds(store: Store) -> None:
    rng = random.Random(5)
    pages = searching.mixed_pages(rng)
    write(store, *(page(key, text, language=code) for key, (text, code) in pages.items()))
    for query, right in searching.mixed_queries(rng, pages):
        assert keys(store.search(query, limit=100)) == right, query
        assert keys(store.search(query, limit=100, language="de")) == [
            key for key in right if pages[key][1] == "de"
        ]


def test_an_alternative_counts_once(store: Store) -> None:
    write(store, page("a", "ferry ferry"), page("b", "ferry boat"), page("c", "boat"))
    once, twice = (store.search(query).hits for query in ("ferry", "ferry OR ferry OR Ferry"))
    assert [(hit.key, hit.score) for hit in once] == [(hit.key, hit.score) for hit in twice]


def test_sqlite_scores_only_what_fulfils_all_conditions(tmp_path: Path) -> None:
    """Scores take longest: none is worked out to count, nor for pages of other languages."""
    scored: list[int] = []
    plans: list[str] = []

    def explain(_: Any, cursor: Any, statement: str, given: Any, *__: Any) -> None:
        if "MATCH" in statement:
            scored.append(statement.count("bm25"))
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}", given)
            plans.extend(row[3] for row in cursor.fetchall())

    with Store(f"sqlite:///{tmp_path}/pages.db") as store:
        languages = ["en", *["de"] * 50]
        write(store, *(page(f"{n}", "wines", language=x) for n, x in enumerate(languages)))
        event.listen(store._database._engine, "before_cursor_execute", explain)
        assert store.search("wines").total == 51
        assert store.search("wines", language="en", site="a.example").total == 1
    assert scored == [0, 2, 0, 1]
    order = [plan.split()[1] for plan in plans if "noiseclean_search" in plan]
    assert order == ["noiseclean_search_terms", "noiseclean_search"] * 6
    pages = [plan for plan in plans if "noiseclean_page" in plan.split()]
    assert {plan.split(" (")[-1] for plan in pages} == {"key=?)"}


def test_languages_of_the_pages(store: Store) -> None:
    assert store.languages() == []
    write(store, page("1", "x", language=None), page("2", "x", language=""))
    assert store.languages() == []
    write(store, *(page(code, "x", language=code) for code in ("sv", "de", "sv-FI")))
    assert store.languages() == ["de", "sv", "sv-FI"]


def test_filters(store: Store) -> None:
    day = timedelta(days=1)
    write(
        store,
        page("old", "ferry", language="en", published=NOON - 2 * day),
        page("new", "ferry", language="de", published=NOON + 2 * day),
        page("undated", "ferry", language="en", cluster="b.example"),
        page("untold", "ferry", language=None, cluster="b.example"),
    )
    assert keys(store.search("ferry", site="a.example")) == ["new", "old"]
    assert keys(store.search("ferry", language="en")) == ["old", "undated"]
    assert keys(store.search("ferry", since=NOON)) == ["new", "undated", "untold"]
    assert keys(store.search("ferry", until=NOON)) == ["old", "undated", "untold"]
    assert keys(store.search("ferry", since=NOON - 2 * day, until=NOON - 2 * day)) == ["old"]
    assert keys(store.search("ferry", site="b.example", language="en", since=NOON)) == ["undated"]
    assert store.search("ferry", site="none").total == 0
    write(store, page("silent", "ferry", language="", cluster="b.example"))
    assert keys(store.search("ferry", language="")) == ["silent", "untold"]


def test_hits_tell_what_is_stored_and_come_in_parts(store: Store) -> None:
    write(
        store,
        *(page(f"{n}", "isles " * 5 + "ferry " * (n % 3), language="en") for n in range(1, 9)),
    )
    write(store, page("title", "isles " * 5, title="The ferry", language="en", published=NOON))
    whole = store.search("ferry", limit=20)
    assert whole.total == 7
    assert whole.hits[0].key == "title"
    assert [hit.score for hit in whole.hits] == sorted((h.score for h in whole.hits), reverse=True)
    first = whole.hits[0]
    assert (first.url, first.title) == ("http://a.example/title", "The ferry")
    assert (first.cluster, first.language, first.published) == ("a.example", "en", NOON)
    parts = [store.search("ferry", limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [part.total for part in parts] == [7, 7, 7, 7]
    assert tuple(hit for part in parts for hit in part.hits) == whole.hits


def test_a_snippet_is_where_most_different_words_are(store: Store) -> None:
    many, both = "fog " * 40, "no ferry left in the fog"
    write(store, page("1", f"{many}{'word ' * 100}{both}{' word' * 100}"))
    (hit,) = store.search("fog ferry").hits
    assert f"{MATCH_START}ferry{MATCH_END}" in hit.snippet


def test_words_behind_a_thousand_characters_of_a_query_do_not_count(store: Store) -> None:
    write(store, page("1", "fog"))
    assert store.search(f"fog{' ' * 996}ferry").total == 0
    assert store.search(f"fog{' ' * 997}ferry").total == 1


def test_turkish_words_are_found_in_capitals_and_without(store: Store) -> None:
    text = "BAŞKANI AÇIKLADI. HASTANIN YARALANDI, kapının önünde."
    write(store, page("tr", text, title="ARABANIN", language="tr"))
    for word in ("başkanı", "hastanın", "yaralandı", "arabanın", "KAPININ", "kapının"):
        for language in (None, "tr"):
            found = store.search(word, language=language)
            assert [hit.key for hit in found.hits] == ["tr"], word


def test_a_snippet_uses_the_room_that_is_before_the_last_words(store: Store) -> None:
    write(store, page("end", "word " * 300 + "ferry."), page("short", "one two, " * 5 + "ferry."))
    hits = {hit.key: hit.snippet for hit in store.search("ferry").hits}
    assert len(hits["end"]) > 200
    assert hits["end"].endswith(f"{MATCH_START}ferry{MATCH_END}.")
    assert hits["short"].startswith("one two")


def test_a_phrase_longer_than_a_snippet_is_marked(store: Store) -> None:
    sentence = " ".join(f"word{number}" for number in range(80))
    write(store, page("long", f"Before it. {sentence}. After it."))
    (hit,) = store.search(f'"{sentence}"').hits
    assert f"{MATCH_START}word0 word1" in hit.snippet
    assert hit.snippet.count(MATCH_START) == hit.snippet.count(MATCH_END) == 1


def test_a_sign_that_is_a_blank_and_a_mark_is_one_term() -> None:
    for sign in "\ufe70\ufe7a\ufc5e":
        (token,) = Analyzer().tokens(sign, "ar")
        assert token.term.split() == [token.term]


def test_signs_that_stand_for_digits_are_marked_alone(store: Store) -> None:
    write(store, page("1", "A ½ measure at 10² degrees, 12 or 1/2."))
    for query, marked in {
        "½": "A [½] measure at 10² degrees, 12 or [1/2].",
        "10²": "A ½ measure at [10²] degrees, 12 or 1/2.",
        "12": "A ½ measure at 10² degrees, [12] or 1/2.",
    }.items():
        (hit,) = store.search(query).hits
        assert hit.marked("[", "]") == marked


@pytest.mark.parametrize(
    ("language", "text", "query", "marked"),
    [
        ("my", "ဥ\u102eး" + "လမ်း" * 3 + "မန္တလေး" + "များ", "မန္တလေး", "[မန္တလေး]"),
        ("ja", "ﾊﾞｯﾃﾘｰを作る", "バッテリー", "[ﾊﾞｯﾃﾘｰ]を"),
        ("ja", "それか\u3099東京", "が", "それ[か\u3099]東"),
        ("ja", "この東(とう)京(きょう)の駅", "東京", "この[東(とう)京](きょう)の駅"),
        (
            "ko",
            "\u1109\u1165\u110b\u116e\u11af에서",
            "서울",
            "[\u1109\u1165\u110b\u116e\u11af]에서",
        ),
        ("th", "เกิดนํ้าท่วม", "น้ำ", "เกิด[นํ้า]ท่วม"),
    ],
)
def test_a_match_is_marked_alone_however_it_is_spelled(
    language: str, text: str, query: str, marked: str
) -> None:
    analyzer = Analyzer()
    shown = snippet.make_snippet(text, language, [analyzer.phrase(query, language)], analyzer)
    assert marked in shown.replace(MATCH_START, "[").replace(MATCH_END, "]")


@pytest.mark.parametrize(
    ("language", "letters"),
    [
        ("th", ["น้ำ", "ท่", "ว", "ม", "กี่", "ปี่"]),
        ("km", ["ស្រុ", "ក្រ", "ខ្មែ", "រ"]),
        ("my", ["မ", "န္တ", "လေး", "များ"]),
        ("ja", ["ハ\u3099", "ﾊﾞ", "ﾘ"]),
    ],
)
def test_a_snippet_begins_and_ends_between_letters(language: str, letters: list[str]) -> None:
    analyzer = Analyzer()
    rng = random.Random(2)
    for _ in range(30):
        before, after = (rng.choices(letters, k=300) for _ in range(2))
        text = f"{''.join(before)}7{''.join(after)}"
        shown = snippet.make_snippet(text, language, [analyzer.phrase("7", language)], analyzer)
        first, _, last = shown.strip("…").partition(f"{MATCH_START}7{MATCH_END}")
        assert first in {"".join(before[place:]) for place in range(300)}
        assert last in {"".join(after[:place]) for place in range(300)}


@pytest.mark.parametrize("run", ["ก" + "\u0e4d" * 300_000, "ﾊﾞ" * 150_000, "東(とう)" * 60_000])
def test_marks_and_brackets_without_end_take_no_long_time(run: str) -> None:
    analyzer = Analyzer()
    started = time.process_time()
    phrases = [analyzer.phrase(character, "th") for character in run[:2] if character != "("]
    assert len(snippet.make_snippet(run, "th", phrases, analyzer)) > 200
    assert time.process_time() - started < 10


def test_snippets_show_the_original_text(store: Store) -> None:
    filler = "Nothing of interest happens here today. " * 20
    write(
        store,
        page("far", f"{filler}\nTen FERRIES sailed\nto the isles. {filler}", language="en"),
        page("both", f"One ferry. {filler} A ferry and the isles. {filler}", language="en"),
        page("zh", "今天" * 300 + "中国新闻网记者" + "明天" * 300, language="zh"),
        page("private", f"a {MATCH_START}b{MATCH_END} quay"),
    )
    hits = {hit.key: hit for hit in store.search("ferry isles").hits}
    assert "[FERRIES] sailed to the [isles]." in hits["far"].marked("[", "]")
    assert "A [ferry] and the [isles]." in hits["both"].marked("[", "]")
    for hit in hits.values():
        assert hit.marked("", "").startswith("…")
        assert len(hit.marked("", "")) <= 242
    (chinese,) = store.search("新闻 记者").hits
    assert "天中国<b>新闻</b>网<b>记者</b>明天" in chinese.marked("<b>", "</b>")
    (private,) = store.search("quay").hits
    assert private.marked("[", "]") == "a b [quay]"


class Counted(list[Any]):
    """A list that counts how many of its entries were read."""

    reads = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.reads += len(found) if isinstance(place, slice) else 1
        return found


def test_the_best_part_is_found_in_one_pass() -> None:
    phrase = Phrase(("word",), open=False)
    matches = Counted(snippet._Match(5 * n, 5 * n + 4, phrase) for n in range(2000))
    assert snippet._best(matches).start == 0
    assert matches.reads < 5 * len(matches)


def test_phrases_that_begin_alike_are_compared_so_often() -> None:
    phrases = [Phrase(("a", f"b{number}"), open=False) for number in range(100)]
    for repeats, is_found in ((10_000, True), (100_000, False)):
        text = "a " * repeats + "b7"
        shown = snippet.make_snippet(text, "en", phrases, Analyzer())
        assert (MATCH_START in shown) is is_found
        assert MATCH_START in snippet.make_snippet(text, "en", phrases[7:10], Analyzer())


def test_a_word_repeated_endlessly(store: Store) -> None:
    text = "word " * 100_001 + "ferry"
    write(store, page("1", text, language="en"), page("2", "网" * 20_000, language="zh"))
    (hit,) = store.search('word "word word" "word word word"').hits
    assert hit.snippet.count(MATCH_START) > 3
    (hit,) = store.search("ferry").hits
    assert hit.snippet.startswith("word word")
    (hit,) = store.search("网网网").hits
    assert MATCH_START in hit.snippet


def test_sqlite_keeps_ten_thousand_places_of_a_term(tmp_path: Path) -> None:
    """More are a burden to each query with the word, and say nothing else of the page."""
    url = f"sqlite:///{tmp_path}/pages.db"
    with Store(url) as store:
        write(store, page("1", "ferry harbour " + "ferry " * 20_000 + "fog ferry"))
        for query, total in (
            ("ferry", 1),
            ("fog", 1),
            ('"ferry harbour ferry"', 1),
            ('"ferry ferry"', 1),
            ('"fog ferry"', 0),
            ('"fog"', 1),
        ):
            assert store.search(query).total == total, query
    ((terms,),) = databases.read_rows(url, "SELECT text FROM noiseclean_search_terms")
    assert terms.split().count("ferry") == 10_000
    assert terms.split().index("fog") == 20_002


def test_behind_the_last_place_of_a_database_no_words_follow_each_other(store: Store) -> None:
    words = [f"word{number}" for number in range(1, 16_401)]
    write(store, page("1", " ".join(words)))
    assert keys(store.search('"word16378 word16379 word16380" word16400')) == ["1"]
    for first in range(16_378, 16_384):
        assert keys(store.search(f'"word{first} word16390"')) == [], first
        assert keys(store.search(f'"word{first} word{first + 2}"')) == [], first
    assert keys(store.search('word1 -"word16379 word16400"')) == ["1"]


def test_what_a_search_cannot_be_asked_for(store: Store) -> None:
    write(store, *searching.text_pages())
    for name, value in searching.WRONG:
        with pytest.raises(QueryError, match=name):
            store.search("ferry", **{name: value})


def test_as_many_hits_as_a_database_can_count(store: Store) -> None:
    pages = [page(str(number), "A ferry.", language="en") for number in range(1200)]
    write(store, *pages)
    assert len(store.search("ferry", limit=2**63 - 1).hits) == 1200
    assert store.search("ferry", offset=2**63 - 1).hits == ()


def test_the_index_follows_every_change(store: Store, database_url: str) -> None:
    first = page("1", "ferry", position=1, html="<p>1", language="en")
    second = page("2", "harbours", position=2, html="<p>2", language=None)
    seen = replace(page("3", ""), cleaned=None)
    write(store, first, second, seen)
    assert indexed(database_url) == 2
    write(store, replace(first, cleaned=None, url="http://b.example/1", cluster="b.example"))
    assert keys(store.search("ferry", site="b.example")) == ["1"]
    write(store, page("1", "quay", position=1, title="Isles", language=None))
    assert store.search("ferry").total == 0
    assert keys(store.search("quay isles")) == ["1"]
    # The language alone, told later, changes what is found.
    assert store.search("harbour").total == 0
    write(store, replace(second, cleaned=None, metadata=Metadata(language="en")))
    assert keys(store.search("harbour")) == ["2"]
    again = Cleaned("", "lighthouse", (), 1, 1, 1)
    store.clusters.save_tree(
        "a.example", method="evidence", version=1, tree=b"", learned=3, clean=lambda _: again
    )
    assert store.search("harbour").total == 0
    assert keys(store.search("lighthouses")) == ["1", "2"]
    assert store.pages.delete(["1", "none"]) == 1
    assert keys(store.search("lighthouse")) == ["2"]
    assert indexed(database_url) == 1
    assert store.clusters.delete("a.example") == 2
    assert store.search("lighthouse").total == indexed(database_url) == 0


def test_what_is_rolled_back_is_not_found(store: Store, database_url: str) -> None:
    pages = [page(str(n), "ferry", position=n, html="<p>") for n in (1, 2)]
    write(store, *pages)

    def clean(record: PageRecord) -> Cleaned:
        if record.key == "2":
            raise ZeroDivisionError
        return Cleaned("", "harbour", (), 1, 1, 1)

    with pytest.raises(ZeroDivisionError):
        store.clusters.save_tree(
            "a.example", method="x", version=1, tree=b"", learned=2, clean=clean
        )
    assert (store.search("ferry").total, store.search("harbour").total) == (2, 0)
    assert indexed(database_url) == 2


@pytest.mark.slow
def test_a_text_of_megabytes_is_stored_and_found(store: Store) -> None:
    words = " ".join(f"word{n}" for n in range(150_000))
    write(store, page("1", words, title="Ferry " + "x" * 10_000))
    for query in ("ferry", "word7 word16000", '"word70 word71"'):
        (hit,) = store.search(query).hits
        assert len(hit.snippet) < 400


def test_stems_are_the_same_in_c_and_in_python() -> None:
    """`snowballstemmer` takes PyStemmer where that is installed; an index serves both."""
    pytest.importorskip("Stemmer", reason="PyStemmer has no wheel for this Python")
    program = (
        "import sys; sys.modules['Stemmer'] = None\n"
        "from tests.support import searching\n"
        "print(searching.stems())"
    )
    run = run_process(ROOT, sys.executable, "-c", program)
    assert run.stdout == f"{searching.stems()}\n"
    assert "elect" in run.stdout


def test_a_store_without_search_leaves_no_old_text_in_the_index(database_url: str) -> None:
    with Store(database_url) as store:
        write(store, page("1", "ferry sails"), page("2", "harbour closed"))
    with Store(database_url, search=False) as store:
        write(
            store, page("1", "turbine turns"), *(page(f"{n}", "more wind") for n in range(3, 500))
        )
        assert indexed(database_url) == 1
        assert keys(store.search("harbour")) == ["2"]
        assert keys(store.search("ferry")) == keys(store.search("turbine")) == []
        assert not store.is_indexed
        assert list(store.index_missing()) == [200, 400, 498]
        assert store.is_indexed
        assert keys(store.search("turbine")) == ["1"]
        assert store.search("wind").total == 497
        assert list(store.index_missing()) == []


@pytest.mark.parametrize(
    ("argument", "is_option"),
    [
        *((word, False) for word in ("-x", "-海", "-U.S.", "-C++", '-"joint pass"', "-3.5")),
        *((option, True) for option in ("-h", "-L", "-LDEBUG", "-s", "-sA=1", "--json")),
    ],
)
def test_a_word_that_is_not_to_be_there_is_no_option(argument: str, is_option: bool) -> None:
    (prepared,) = Search().prepare([argument])
    assert prepared == (argument if is_option else f" {argument}")
