"""The search benchmark: measures and draws known by hand, and runs over pages made here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import ranking, search
from benchmarks.extraction import NO_CLEANING
from benchmarks.indexes import build_index
from benchmarks.queries import (
    KEYWORDS,
    PASSAGE,
    PASSAGE_WORDS,
    TITLE,
    TOPIC,
    Document,
    Query,
    draw_pages,
    known_items,
    topics,
    words,
)
from benchmarks.scores import GOLD
from noiseclean_scrapy.store import Store
from tests.support.corpora import write_corpus
from tests.support.databases import read_rows

ROOT = Path(__file__).parents[1]

STORIES = {
    "harbour": ("The new bridge is up", "Divers inspect the damaged pillars"),
    "museum": ("Is our bridge so bad", "Lawyers welcomed the late decision"),
    "harvest": ("Why the bridge had to go", "Drought has emptied every reservoir"),
    "library": ("Library opens its doors at midnight", "Students asked for longer hours"),
    "railway": ("Railway workers vote for a strike", "Commuters prepare for quiet platforms"),
    "orchard": ("Orchard thieves take tonnes of pears", "Police found a lorry in a ditch"),
}
"""Title and lead by name; a topic is drawn from a title's words of four letters or more."""

PARAGRAPH = (
    "People in the town had talked about little else since the {} story broke, and most of those "
    "who came to the meeting on Tuesday evening said that they wanted a clear answer soon."
)


def document(key: str, title: str, gold: str, raw: str = "", site: str = "tiny/a") -> Document:
    return Document(key, "tiny", site, "en", title, {NO_CLEANING: raw or gold, GOLD: gold})


def with_related_boxes() -> list[Document]:
    """Every page shows the menu and the titles of all others; its own story comes first."""
    menu = "Privacy policy All rights reserved"
    return [
        document(
            name,
            title,
            f"{title}\n{lead} for the {name} news",
            "\n".join([title, f"{lead} for the {name} news", menu, *_titles_of_others(name)]),
            site=f"tiny/{number % 2}",
        )
        for number, (name, (title, lead)) in enumerate(STORIES.items())
    ]


def _titles_of_others(name: str) -> list[str]:
    return [title for other, (title, _) in STORIES.items() if other != name]


def test_reciprocal_rank_counts_the_first_right_page_among_ten() -> None:
    ranked = [f"page{place}" for place in range(1, 13)]
    assert ranking.reciprocal_rank(ranked, {"page4", "page9"}) == 0.25
    assert ranking.reciprocal_rank(ranked, {"page10"}) == 0.1
    assert ranking.reciprocal_rank(ranked, {"page11"}) == 0
    assert ranking.reciprocal_rank([], {"page1"}) == 0


def test_ndcg_by_hand() -> None:
    # Right at places 1 and 3; in the best order at 1 and 2.
    assert ranking.ndcg(["a", "x", "b"], {"a", "b"}) == pytest.approx(1.5 / (1 + 1 / log2(3)))
    # Ten places are all that fifteen right pages could have.
    assert ranking.ndcg([str(n) for n in range(10)], {str(n) for n in range(15)}) == 1
    assert ranking.ndcg(["x"] * 10 + ["a"], {"a"}) == 0
    assert ranking.ndcg([], {"a"}) == 0


def test_precision_is_the_share_of_what_is_shown() -> None:
    assert ranking.precision(["a", "x", "b"], {"a", "b"}) == pytest.approx(2 / 3)
    assert ranking.precision(["x"] * 10 + ["a"], {"a"}) == 0
    assert ranking.precision([], {"a"}) == 0


def test_means_are_over_queries_and_differences_are_paired() -> None:
    sites = ["s", "s", "t"]
    queries = [Query(TITLE, "q", "tiny", site, frozenset("a")) for site in sites]
    queries.append(Query(TOPIC, "q", "tiny", "s", frozenset("a")))
    raw = np.array([[0.5, 0.5, 0, 4], [0, 0, 0, 5], [1, 1, 0, 3], [9, 9, 9, 9]])
    clean = np.array([[1, 1, 0, 1], [0.5, 0.5, 0, 1], [1, 1, 0, 1], [0, 0, 0, 0]])
    groups = ranking.summarise(queries, {NO_CLEANING: raw, "clean": clean}, TITLE)
    assert groups["all"] == groups["tiny"]
    assert (groups["all"]["queries"], groups["all"]["sites"]) == (3, 2)
    ranks = {row: text["reciprocal_rank"] for row, text in groups["all"]["texts"].items()}
    # A draw of two sites out of two: only s, only t, or both.
    assert ranks[NO_CLEANING] == {"mean": 0.5, "low": 0.25, "high": 1}
    assert ranks["clean"] == {"mean": 0.8333, "low": 0.75, "high": 1}
    gap = groups["all"]["differences"]["clean"]["reciprocal_rank"]
    assert gap == {"mean": 0.3333, "low": 0, "high": 0.5}
    assert groups["all"]["texts"][NO_CLEANING]["pages"]["mean"] == 4


def test_known_items_stand_in_the_gold_text_of_their_page_alone() -> None:
    same = "Nine words that two pages have in one line"
    documents = [
        document("one", "Bridge closed after storm", f"Bridge closed after storm\n{same}"),
        document("two", "Mayor opens the bridge", f"Mayor opens the bridge\n{same}"),
        document("three", "Not to be found in it", "Seven whole words stand in this line"),
        document("four", "Bridge", "Bridge\nshort line"),
        document("five", "News of the day", "News of the day\nalpha beta gamma delta"),
        document("six", "News of the day", "News of the day\nalpha beta gamma zeta"),
    ]
    drawn = {(query.kind, *query.right): query.text for query in known_items(documents, documents)}
    assert {key: text for (kind, key), text in drawn.items() if kind == TITLE} == {
        "one": "bridge closed after storm",
        "two": "mayor opens the bridge",
    }
    assert {key: text for (kind, key), text in drawn.items() if kind == PASSAGE} == {
        "three": "seven whole words stand in this line"
    }
    keywords = {key: text.split() for (kind, key), text in drawn.items() if kind == KEYWORDS}
    assert keywords.keys() == {document.key for document in documents}
    for page in documents:
        assert len(set(keywords[page.key])) == 3
        assert set(keywords[page.key]) <= set(words(page.texts[GOLD]))
    assert drawn == {(q.kind, *q.right): q.text for q in known_items(documents, documents)}


def test_a_passage_is_a_run_of_one_line_and_no_query_has_a_word_of_raw_text_alone() -> None:
    documents = with_related_boxes()
    for query in known_items(documents, documents):
        story = next(page for page in documents if page.key in query.right)
        gold = words(story.texts[GOLD])
        assert set(words(query.text)) <= set(gold)
        if query.kind == PASSAGE:
            run = words(query.text)
            assert len(run) == PASSAGE_WORDS
            title = len(words(story.title))
            assert any(gold[n : n + PASSAGE_WORDS] == run for n in range(title, len(gold)))


def test_unspaced_text_is_drawn_by_its_characters() -> None:
    page = document("zh", "北京今日大雪纷飞", "北京今日大雪纷飞\n全市中小学停课一天,公交照常运行。")
    other = document("en", "Snow falls on the town", "Snow falls on the town\nSchools are closed")
    drawn = {query.kind: query.text for query in known_items([page, other], [page])}
    assert drawn[TITLE] == "北京今日大雪纷飞"
    assert len(words(drawn[PASSAGE])) == PASSAGE_WORDS
    assert drawn[PASSAGE].replace(" ", "") in page.texts[GOLD].replace(",", "")


def test_topics_are_words_of_titles_that_several_gold_texts_have(tmp_path: Path) -> None:
    documents = [document(str(n), f"flood {word}", f"flood {word}") for n, word in enumerate("xyz")]
    documents.append(document("3", "once", "once upon flood"))
    url = f"sqlite:///{tmp_path}/search.db"
    build_index(url, documents, GOLD)
    with Store(url, read_only=True) as store:
        found = list(topics(documents, store))
    assert [(query.kind, query.text, sorted(query.right)) for query in found] == [
        (TOPIC, "flood", ["0", "1", "2", "3"])
    ]


def test_queries_are_drawn_from_so_many_pages_of_each_corpus() -> None:
    documents = [
        Document(f"{corpus}/{n}", corpus, f"{corpus}/site", "en", "", {})
        for corpus, pages in (("large", 9), ("small", 2))
        for n in range(pages)
    ]
    drawn = draw_pages(documents, 4)
    assert [page.corpus for page in drawn] == ["large"] * 4 + ["small"] * 2
    assert len({page.key for page in drawn}) == 6
    assert drawn == draw_pages(documents, 4)


def test_related_boxes_and_menus_cost_raw_text_its_precision_in_sqlite() -> None:
    check_figures(search.measure(with_related_boxes()))


def test_related_boxes_and_menus_cost_raw_text_its_precision_in_postgresql(
    postgresql_url: str,
) -> None:
    schemas = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'noiseclean_search_%'"
    before = read_rows(postgresql_url, schemas)
    check_figures(search.measure(with_related_boxes(), postgresql_url))
    assert read_rows(postgresql_url, schemas) == before


@pytest.mark.night
@pytest.mark.slow
def test_the_command_crawls_searches_and_writes_figures_and_tables(tmp_path: Path) -> None:
    write_corpus(tmp_path / "shared/corpora/tiny", rows())
    out, markdown = tmp_path / "search.json", tmp_path / "tables.md"
    command = ["--shared", str(tmp_path / "shared"), "--corpus", "tiny", "--peer"]
    assert search.main([*command, "--out", str(out), "--markdown", str(markdown)]) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    assert (report["pages"], report["sites"], report["backend"]) == (len(STORIES), 1, "sqlite")
    assert list(report["index"]) == [NO_CLEANING, "evidence", GOLD]
    assert report["index"]["evidence"]["characters"] < report["index"][NO_CLEANING]["characters"]
    found = {entry["query"]: entry["texts"] for entry in report["template_words"]}
    assert found["privacy policy"][NO_CLEANING] == {"found": len(STORIES), "false": len(STORIES)}
    assert found["privacy policy"]["evidence"] == {"found": 0, "false": 0}
    gap = report["kinds"][TOPIC]["all"]["differences"]["evidence"]["precision"]
    assert gap["mean"] == 0.5
    sections = markdown.read_text(encoding="utf-8")
    assert "| en | privacy policy | 6 / 6 | 0 / 0 | 0 / 0 |" in sections
    assert sections.count("## ") == 4 + len(report["kinds"])


def rows() -> Iterator[dict[str, str]]:
    """The stories as pages of one site, each with a menu, the titles of all others and a footer."""
    for name, (title, lead) in STORIES.items():
        paragraphs = [f"{lead}. {PARAGRAPH.format(name)} Part {part}." for part in ("one", "two")]
        row = {"id": name, "site": "tiny.example", "url": f"http://tiny.example/{name}"}
        yield row | {"html": page(title, paragraphs), "gold": "\n".join([title, *paragraphs])}


def page(title: str, paragraphs: list[str]) -> str:
    others = [other for other, _ in STORIES.values() if other != title]
    related = "".join(f"<li><a href='/{other[:3]}'>{other}</a></li>" for other in others)
    article = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"""<html><head><title>{title} - Tiny News</title></head><body>
<div class="menu"><a href="/">Home</a> <a href="/sport">Sport</a> <a href="/login">Log in</a></div>
<div class="article"><h1>{title}</h1>{article}</div>
<div class="related"><h3>More stories</h3><ul>{related}</ul></div>
<div class="footer"><a href="/privacy">Privacy policy</a> All rights reserved</div>
</body></html>"""


def check_figures(figures: dict[str, Any]) -> None:
    size = {row: index["bytes"] for row, index in figures["index"].items()}
    assert size[NO_CLEANING] > 0
    assert size[GOLD] > 0
    title = figures["kinds"][TITLE]["all"]
    assert title["queries"] == len(STORIES)
    assert title["texts"][GOLD]["reciprocal_rank"]["mean"] == 1
    assert title["texts"][GOLD]["pages"]["mean"] == 1
    assert title["texts"][NO_CLEANING]["pages"]["mean"] == len(STORIES)
    topic = figures["kinds"][TOPIC]["all"]
    assert topic["queries"] == 1, "bridge"
    assert topic["texts"][GOLD]["precision"]["mean"] == 1
    assert topic["texts"][NO_CLEANING]["precision"]["mean"] == 0.5
    assert topic["texts"][NO_CLEANING]["pages"]["mean"] == len(STORIES)
    found = {entry["query"]: entry["texts"] for entry in figures["template_words"]}
    assert found["privacy policy"] == {
        NO_CLEANING: {"found": len(STORIES), "false": len(STORIES)},
        GOLD: {"found": 0, "false": 0},
    }


def test_tables_of_the_documentation_are_those_of_the_figures() -> None:
    report = json.loads((ROOT / "benchmarks/results/search.json").read_text(encoding="utf-8"))
    text = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    for table in search.search_tables(report):
        if "by corpus" not in table.title or "topic" in table.title:
            assert table.to_markdown().partition("\n\n")[2].strip() in text, table.title
