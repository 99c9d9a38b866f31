"""What is compiled gives the same, to the bit, as Python and numpy do, on any page."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from array import array
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from benchmarks.hostile_pages import HOSTILE
from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner, kernels
from noiseclean_scrapy.methods.evidence_model.context_features import context_features
from noiseclean_scrapy.methods.evidence_model.fingerprints import PageKeys
from noiseclean_scrapy.methods.evidence_model.model import load_model
from noiseclean_scrapy.methods.evidence_model.near_duplicates import (
    LEAST_CONTENT,
    content_signature,
)
from noiseclean_scrapy.methods.evidence_model.site_features import SiteEvidence
from noiseclean_scrapy.methods.evidence_model.text_features import TextTable, _kept
from noiseclean_scrapy.methods.evidence_model.tree_index import (
    PageArrays,
    group_sums,
    window_means,
)
from noiseclean_scrapy.page import Page, PageBudget, build_page
from noiseclean_scrapy.page.document import named_elements
from noiseclean_scrapy.page.facts import around_content, telling_elements
from noiseclean_scrapy.page.parse import parse_html
from noiseclean_scrapy.page.reader import NodeReader, NotCompiled
from noiseclean_scrapy.page.tags import SKIPPED
from noiseclean_scrapy.page.words import word_counts, words

FOLDER = Path(kernels.__file__).parent
BUILT = [path for suffix in EXTENSION_SUFFIXES for path in FOLDER.glob(f"*{suffix}")]
IN_PYTHON = bool(os.environ.get("NOISECLEAN_PURE_PYTHON"))

pytestmark = pytest.mark.skipif(
    IN_PYTHON or not BUILT,
    reason="nothing is compiled here: there was no C compiler, or NOISECLEAN_PURE_PYTHON is set",
)

STORY = (
    "<html lang=en><title>A flood in Porto</title><meta name=description content='The flood rose'>"
    "<body class='page post-17'><nav><ul><li><a href=/>Home</a><li><a href=/sport>Sport</a></ul>"
    "</nav><main id=story><h1>A flood in Porto</h1><p>The river rose by 1.5 m (“in a night”). "
    "Prices: €5, USD 7; call @porto.</p><p>Second<br><br>part, as of 21 May 2031:</p>"
    "<div hidden>More</div><span style='display:none'>Not seen</span><span>a<div>b</div>c</span>"
    "<table><tr><td>1</td><td>2</td></tr></table><a href=/x>one <img src=i.png><p>two</p></a>"
    "<p>新闻网 · 河水上涨。</p><p>© 2031 All rights reserved</p></main>"
    "<ul class=comments><li>Good<li>Good<li>Bad</ul></body>tail<p>after</p></html>"
)
TEXTS = st.text(
    st.one_of(
        st.sampled_from('aB ßäÜ×²µ·’ı.!?,;:"”)»0123456789-@/|$€©{}新ひ한…。'),
        st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cc"]),
    ),
    max_size=80,
).map(lambda text: " ".join(text.split()))
MARKUP = st.lists(
    st.one_of(
        st.sampled_from(
            "<p>|</p>|<div class='a1 story'>|</div>|<span>|</span>|<br>|<b style='display:none'>"
            "|<b style='display:block'>|<a style='display: flex' href=/c>"
            "|</b>|<a href='/a&amp;b'>|</a>|<a>|<a href='#x'>|¶|#|<img src=x>|<img data-src=y>"
            "|<ul><li>|</ul>|<td>"
            "|<table>|<!-- note -->|<script>x<y</script>|<noscript>|</noscript>|&nbsp;|\n |<x-y>"
            "|</x-y>|<x-y hidden>|<button>|</button>|<ol start=3>|<li value=7>|<td colspan=2>"
            "|<td rowspan=x>|<img src=data:x srcset='b 2x, c'>|<o:p>|</body>|</html>|<svg><g>"
            "|<h1 id=top>|<em hidden>|<body>|<html>|<head>|\x1b[2J|\x07|\x7f|\x9b|&#7; ".split("|")
        ),
        TEXTS.map(lambda text: text.replace("<", "&lt;")),
    ),
    max_size=40,
).map("".join)


def in_python(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives without what is compiled."""
    with kernels.in_python():
        return function(*arguments)


def test_what_is_compiled_is_that_of_its_source() -> None:
    """A compiled file of an older source fails here; `pip install -e .` compiles it again."""
    assert {path.name.partition(".")[0] for path in BUILT} == {"blocks", "nodes", "texts"}
    for name in ("blocks", "nodes", "texts"):
        module = import_module(f"noiseclean_scrapy.kernels.{name}")
        assert kernels.staleness(module) == ""
        assert getattr(kernels, name) is module, "it cannot be used: see the log"


def test_what_is_stale_is_not_used(tmp_path: Path) -> None:
    """With one line in the log; and nothing is compiled for another lxml."""
    package = shutil.copytree(FOLDER.parent, tmp_path / "noiseclean_scrapy")
    with (package / "kernels" / "blocks.pyx").open("a") as source:
        source.write("# changed\n")
    program = (
        "from noiseclean_scrapy import kernels as c; print(c.__file__, c.blocks, bool(c.nodes))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, encoding="utf-8"
    )
    assert done.stdout == f"{package / 'kernels' / '__init__.py'} None True\n"
    assert done.stderr == (
        "Python does what is compiled in blocks: blocks.pyx has changed since; "
        "`pip install -e .` compiles it again\n"
    )


def test_a_version_of_lxml_that_it_was_not_built_for_is_left_to_python() -> None:
    lxml, libxml2 = kernels.installed_lxml()
    assert (lxml, libxml2) == kernels.nodes.BUILT_FOR
    assert kernels.misfit(lxml, libxml2) == ""
    for other in ((f"{lxml}.1", libxml2), (lxml, "2.9.14")):
        reason = kernels.misfit(*other)
        assert f"built for lxml {other[0]} with libxml2 {other[1]}, but lxml {lxml} " in reason


def test_lists_reach_what_is_compiled_from_python() -> None:
    """What is changed in Python's lists is changed for what is compiled as well."""
    program = """
import importlib, os
from noiseclean_scrapy import kernels
from noiseclean_scrapy.methods.evidence_model import text_features
from noiseclean_scrapy.page import attributes, build_page, characters, reader

reader.IMAGE_SOURCES = attributes.IMAGE_SOURCES = (*attributes.IMAGE_SOURCES, "data-late")
reader.STYLING -= {"hidden"}
reader.ROLES["amp-img"] = reader.IMAGE
characters.ZERO_WIDTH += ("\u2060",)
text_features._CLOSING += "~"
text_features._CLOSE += "~"
del os.environ["NOISECLEAN_PURE_PYTHON"]
page = "<body><p hidden>a\u2060b~<img data-late=x.png></p><amp-img src=y.png></amp-img>"

def told():
    table = build_page(page).table
    measured = text_features._measure(["a.~ b.~"]).tolist()
    return table.texts, table.images, sum(table.hidden), measured

before = told()
importlib.reload(kernels)
assert None not in (kernels.nodes, kernels.texts)
assert told() == before, (told(), before)
print(before[:3])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NOISECLEAN_PURE_PYTHON": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(['a b~', ''], [('x.png',), ('y.png',)], 0)\n"


def test_white_space_is_the_same_for_both() -> None:
    characters = [chr(code) for code in range(0x20, 0x30FF) if code != ord("<")]
    page = "x".join(characters).replace("&", "")
    here, there = both(build_page, f"<p>{page}<p>\ufeff{page[::-1]}")
    assert here.table.texts == there.table.texts
    assert len(here.table.texts[0].split()) > 20


def both(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Any]:
    return function(*arguments), in_python(function, *arguments)


def assert_same_arrays(first: Any, second: Any) -> None:
    assert first.dtype == second.dtype
    assert first.shape == second.shape
    assert np.array_equal(first, second)


def assert_same_numbering(first: Any, second: Any) -> None:
    """Whether two arrays tell apart the same elements, whatever numbers they give them."""
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    assert len(pairs) == len(set(first.tolist())) == len(set(second.tolist()))


def assert_same_page(source: str | bytes) -> None:
    budget = PageBudget(markup=200_000, elements=1000)
    here, there = both(partial(build_page, source, budget=budget))
    assert here == there
    if here.table.texts:
        assert_same_evidence(here, there)


def assert_same_evidence(here: Page, there: Page) -> None:
    arrays, in_numpy = PageArrays(here), in_python(PageArrays, there)
    assert (arrays.label_names, arrays.label_tags) == (in_numpy.label_names, in_numpy.label_tags)
    names = "labels parent element depth first end group_sizes group_numbers".split()
    for name in names:
        assert_same_arrays(getattr(arrays, name), getattr(in_numpy, name))
    assert_same_numbering(arrays.places, in_numpy.places)
    assert_same_numbering(arrays.groups, in_numpy.groups)
    model = load_model()
    features, slow = model.features(here), in_python(model.features, there)
    assert_same_arrays(features.matrix, slow.matrix)
    first, slow_first = both(model.alone.score, features.matrix)
    assert_same_arrays(first, slow_first)
    context, slow_context = both(context_features, features, first)
    assert_same_arrays(context, slow_context)
    assert_same_arrays(model.read(here).scores, in_python(model.read, there).scores)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages(name: str) -> None:
    for size in (15, 2000):
        assert_same_page(HOSTILE[name](size))


@pytest.mark.parametrize(
    "name", [name for name in HOSTILE if "nested" in name or "million" in name]
)
def test_large_hostile_pages(name: str) -> None:
    assert_same_page(HOSTILE[name](4000))


@pytest.mark.parametrize("source", [STORY, "", "text", "<p>x</p>", STORY.replace("<p>", "<p>x")])
def test_pages(source: str) -> None:
    assert_same_page(source)


@settings(max_examples=150)
@given(source=MARKUP)
def test_any_markup(source: str) -> None:
    assert_same_page(source)


@settings(max_examples=150)
@given(texts=st.lists(TEXTS, max_size=8))
def test_any_texts(texts: list[str]) -> None:
    def table() -> TextTable:
        _kept.clear()
        return TextTable(texts)

    here, there = both(table)
    for name in ("features", "lengths", "characters", "announced", "keys"):
        assert_same_arrays(getattr(here, name), getattr(there, name))
    wanted = [frozenset(words(" ".join(texts[start::2]))) for start in (0, 1)]
    for longest in (20, 10_000):
        counts, slow = both(partial(word_counts, longest=longest), texts, *wanted)
        assert_same_arrays(counts, slow)
        for text, *found in zip(texts, *counts.tolist(), strict=True):
            own = set(words(text)) if len(text) <= longest else set()
            assert found == [len(own), *(len(own & among) for among in wanted)]
    scores = np.ones(len(texts))
    assert content_signature(texts, scores) == in_python(content_signature, texts, scores)


def test_words_of_long_texts_and_many_wanted_words() -> None:
    texts = [" ".join(f"word{chr(97 + n % 26)}{'x' * (n % 50)}" for n in range(900)), "wordax " * 3]
    for wanted in (frozenset(words(texts[0])), frozenset({"wordax"}), frozenset()):
        here, there = both(partial(word_counts, longest=10**6), texts, wanted, {"wordax"})
        assert_same_arrays(here, there)
    if kernels.texts is not None:
        with pytest.raises(ValueError, match="33 sets"):
            kernels.texts.word_counts(texts, (wanted,) * 33, 10)


def test_signatures_of_long_content() -> None:
    texts = [f"Sentence {n} tells of a river that rose." * 3 for n in range(2 * LEAST_CONTENT)]
    scores = np.where(np.arange(len(texts)) % 3 > 0, 2.0, -2.0)
    here, there = both(content_signature, texts, scores)
    assert here == there != ""


def test_keys_and_sums_of_a_site() -> None:
    pages = [page.html for page in DemoSite(articles=8, seed=5).pages.values()]

    def learned() -> list[Any]:
        site, model, found = SiteEvidence(50_000), load_model(), []
        built = [build_page(html) for html in pages]
        for page in built[1:]:
            site.observe(page, model.read(page).scores)
        for page in built:  # the first is not among those that vote
            scores = model.read(page).scores
            keys, terms = PageKeys(page, scores), site.terms(page, scores)
            columns = (terms.place, terms.repetition, terms.place_pages, terms.text_pages)
            found.append([keys.signature, keys.layout, sorted(keys.places), sorted(keys.texts)])
            found.append([column.tolist() for column in (*columns, terms.known)])
        return [*found, site.state()]

    here, there = both(learned)
    assert here == there


def test_a_document_with_many_tags_or_namespaces_is_left_to_python() -> None:
    for source in ("".join(f"<t{n}>x</t{n}>" for n in range(300)), STORY):
        root = parse_html(source).root
        reader = kernels.nodes.NodeReader(root, SKIPPED, PageBudget())
        if source is STORY:
            reader.walk(root, "/html", 1)
        else:
            with pytest.raises(NotCompiled):
                reader.walk(root, "/html", 1)
            assert build_page(source).text.count("x") == 300
    xml = etree.fromstring(
        "<html xmlns='http://www.w3.org/1999/xhtml'><body><p>x</p></body></html>"
    )
    with pytest.raises(NotCompiled):
        kernels.nodes.NodeReader(xml, SKIPPED, PageBudget()).walk(xml, "/html", 1)
    assert build_page(xml).text == "x"


def telling(root: Any) -> list[Any]:
    return list(telling_elements(root, around_content(root)))


def test_elements_that_tell_of_author_and_date() -> None:
    sources = [
        *(page.html for page in DemoSite(articles=5, seed=7).pages.values()),
        "<p class=date>1<body><p class='by' id=date>x<body class=author><time>2</time><i rel=date>",
        f"<!-- a --><h2 id='{'date' * 2000}'>x<b class='{'x' * 999} date'>y<b rel='a&gt;date'",
        "<nav class=date>1<b id=date>2</b></nav><p class='related date'>3<i id=date>4<p id=date>5",
        "<body class=footer><p class=date>x<div itemprop=comment><p class=date>y",
        "<p class>x<p class=''>y<svg class=date><title>z</svg><script class=date></script>",
        "<form><div class=sidebar><p class=related><b id=date>x</b></p><h1>y</h1><i class=date>z",
        "<p>x</p></body></html><h1>y",
        "",
    ]
    roots = [parse_html(source).root for source in sources]
    roots += [
        etree.fromstring("<html xmlns='a'><body><time/></body></html>"),
        etree.fromstring("<html xmlns:a='a'><body><a:time a:class='date'/><?date?></body></html>"),
        *roots[1].iter("p"),
    ]
    for root in roots:
        here, there = both(telling, root)
        assert here == there
        names = ("body", "p", "title", "time")
        here, there = both(lambda root: list(named_elements(root, names)), root)  # noqa: B023
        assert here == there
    assert [len(telling(root)) for root in roots[-5:-2]] != [0, 0, 0]
    with pytest.raises(ValueError, match="too many"):
        kernels.nodes.named(roots[0], list("abcdefghijklmnopq"))


def test_attributes_that_look_alike_are_told_apart() -> None:
    """What is remembered of an element's attributes is not taken for that of others."""
    sources = [
        "<p class='a\x02id\x01b'>x",
        "<p class='a' id='b'>x",
        "<p class='a id' itemprop='b'>x",
        "<p class='ab'>x",
        "<p id='a' class='b'>x",
        f"<p class='{'long ' * 1000}'>x",
        f"<p class='{'long ' * 1000}' style='display:none'>x",
        f"<p class='{'word ' * 300}' id='{'i' * 39}' style='{'color:red;' * 100}'>x",
        "<p class>x",
        "<p style='display:none'>x",
    ]
    for source in sources * 2:
        here, there = both(build_page, source)
        assert here == there


def test_trees_made_by_hand_are_read_alike() -> None:
    """Text in several nodes, comments, entities and processing instructions between it."""
    root = etree.HTML("<body><p>one</p></body>")
    paragraph = next(root.iter("p"))
    for child in (etree.Comment("no"), etree.Entity("amp"), etree.ProcessingInstruction("x")):
        child.tail = "  tail "
        paragraph.append(child)
    etree.SubElement(paragraph, "b").text = "bold\u200b\u00a0text"
    here, there = both(build_page, root)
    assert here == there
    assert here.text == "one tail tail tail bold text"


def test_a_reader_needs_elements() -> None:
    for wrong in (None, "html", 7):
        with pytest.raises(TypeError):
            kernels.nodes.NodeReader(wrong, SKIPPED, PageBudget())
    reader = kernels.nodes.NodeReader(etree.HTML("<p>x"), SKIPPED, PageBudget())
    with pytest.raises(TypeError):
        reader.walk(None, "/html", 1)
    assert reader.table == NodeReader(etree.HTML("<p>x"), SKIPPED, {}, PageBudget()).table


def test_what_does_not_fit_together_is_refused() -> None:
    blocks = kernels.blocks
    with pytest.raises(IndexError, match="parent of element 1 is 1"):
        blocks.index_page(array("i", [-1, 1]), ["a", "b"], ["a", "b"], array("i", [0]))
    with pytest.raises(IndexError, match="text block 0 is in element 2"):
        blocks.index_page(array("i", [-1, 0]), ["a", "b"], ["a", "b"], array("i", [2]))
    rows, features = np.zeros((3, 2), np.float32), np.zeros((1, 2), np.int64)
    borders, leaves = np.zeros((1, 2), np.float32), np.zeros((1, 4), np.float32)
    assert blocks.score(rows, rows[:0], features, borders, leaves, 1.5).tolist() == [1.5, 1.5]
    with pytest.raises(ValueError, match="of 2 and of 1 blocks"):
        blocks.score(rows, rows[:, :1].copy(), features, borders, leaves, 0.0)
    with pytest.raises(IndexError, match="feature 3"):
        blocks.score(rows, rows[:0], features + 3, borders, leaves, 0.0)
    with pytest.raises(ValueError, match="depth 2"):
        blocks.score(rows, rows[:0], features, borders, leaves[:, :3].copy(), 0.0)
    for wrong in ((borders[:0], leaves), (borders[:, :1].copy(), leaves), (borders, leaves[:0])):
        with pytest.raises(ValueError, match="values where there must be"):
            blocks.score(rows, rows[:0], features, *wrong, 0.0)
    with pytest.raises(ValueError, match="one shingle"):
        kernels.texts.min_hashes(b"abc", 32, 3, 5, (7, 9))
    paragraph = etree.HTML("<body><b>x</b>").find(".//b")
    reader = kernels.nodes.NodeReader(etree.HTML("<p>y"), SKIPPED, PageBudget())
    reader.walk(paragraph, "/html/body/b", 1)
    with pytest.raises(IndexError, match="before the first"):
        reader.flush()


def test_sums_and_means_of_arrays_that_do_not_fit_are_refused() -> None:
    blocks, values, ones = kernels.blocks, np.ones((2, 3)), np.ones(3)
    with pytest.raises(ValueError, match="groups: 2 values where there must be 3"):
        blocks.group_sums(values, np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="groups: -1 is below 0"):
        blocks.group_sums(values, np.array([0, 0, -1]))
    with pytest.raises(ValueError, match="weights: 2 values where there must be 3"):
        blocks.window_means(values, ones[:2], (5,))
    with pytest.raises(ValueError, match="over -1 blocks"):
        blocks.window_means(values, ones, (5, -1))
    here, marked = np.zeros(2, np.int64), np.ones(2, np.uint8)
    with pytest.raises(IndexError, match="parent of element 1 is 2"):
        blocks.inherit(here, np.array([0, 2]))
    with pytest.raises(IndexError, match="parent of element 0 is 1"):
        blocks.nearest(marked, here + 1)
    with pytest.raises(ValueError, match="masks: 1 values where there must be 2"):
        blocks.inherit(here[:1], here)
    with pytest.raises(ValueError, match="ends: 4 is not from 0 to 3"):
        blocks.below(values, here, here + 4)
    with pytest.raises(ValueError, match="bits: 64 is not from 0 to 63"):
        blocks.bit_rows(here[None], here, here + 64)
    hashes = np.ones(2, np.uint64)
    with pytest.raises(ValueError, match="labels: 2 is not from 0 to 1"):
        blocks.path_hashes(hashes, here + 2, here, hashes)
    with pytest.raises(ValueError, match="a row of 2 values has not 3 bytes"):
        kernels.texts.known_rows(["a"], {"a": b"abc"}, 2)


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.floats(0, 9), st.integers(0, 4)), min_size=1),
    st.lists(st.integers(0, 7), max_size=3),
)
def test_sums_and_means(rows: list[tuple[float, float, int]], reaches: list[int]) -> None:
    values = np.array([(one, other) for one, other, _ in rows]).T.copy()
    groups = np.array([group for _, _, group in rows])
    assert_same_arrays(*both(group_sums, values, groups))
    assert_same_arrays(*both(window_means, values, values[1], reaches))


def test_it_can_be_switched_off() -> None:
    program = (
        "from noiseclean_scrapy import SiteCleaner, kernels\n"
        "print(kernels.nodes, kernels.texts, kernels.blocks)\n"
        f"print(SiteCleaner().clean({STORY!r}).text)"
    )
    environment = {**os.environ, "NOISECLEAN_PURE_PYTHON": "1", "PYTHONUTF8": "1"}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    first, *text = run.stdout.splitlines()
    assert first == "None None None"
    assert text == SiteCleaner().clean(STORY).text.splitlines()
