"""What every method promises: one face, any order, exact merging, bytes, and no exception."""

from __future__ import annotations

import inspect
import math
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.corpora import read_corpus
from example_project.demo import DemoSite
from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.errors import ConfigurationError, TreeDataError
from noiseclean_scrapy.methods import METHODS, method_parameters
from noiseclean_scrapy.methods.block_entropy import LEAST_GAIN
from noiseclean_scrapy.methods.evidence_model.threshold import LEANS
from noiseclean_scrapy.page import Page, build_page
from tests.support.corpora import CORPORA, needs_corpora

every_method = pytest.mark.parametrize("method", sorted(METHODS))


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return [build_page(page.html) for page in DemoSite(articles=16, seed=4).pages.values()]


def learn(method: str, pages: list[Page]) -> SiteCleaner:
    cleaner = SiteCleaner(method)
    for page in pages:
        cleaner.observe_page(page)
    return cleaner


WRONG_THRESHOLD = {"threshold": [7, -0.1, "high", True, float("nan")]}
WRONG_SWITCH = {"published": [None, 1, "yes"]}
WRONG_OPTIONS: dict[str, dict[str, list[Any]]] = {
    "evidence": {
        "lean": ["sideways", ["recall"], None],
        "include_comments": ["keep", 1, None],
        "include_tables": ["no"],
        "drop_captions": [0],
        "drop_link_lists": ["keep"],
        "include_repeats": ["once", 0],
        "max_tree_nodes": ["many", 0, -1, 2.0, True, 10**400],
    },
    "style-tree": {**WRONG_THRESHOLD, **WRONG_SWITCH, "max_tree_nodes": ["many", 0, None]},
    "feature-weighting": {**WRONG_THRESHOLD, **WRONG_SWITCH, "max_tree_nodes": ["many", 0]},
    "block-entropy": {
        **WRONG_THRESHOLD,
        **WRONG_SWITCH,
        "blocks": ["bogus", 1],
        "least_gain": [2, "none"],
    },
    "satisfiable-subtree": {
        **WRONG_SWITCH,
        "generations": [0, 1.5, "two"],
        "alpha": [-1, "long", 10**400, float("inf")],
        "beta": [-1, True],
        "gamma": [1.5, "some"],
    },
    "shingle-template": {
        **WRONG_SWITCH,
        "links": [0, "three", 2.5],
        "max_fingerprints": [0, None],
    },
}
EXPECTED = re.compile(
    r"True or False|(one of '.*'|a (whole )?number (of at least \d|from \d to \d))( or None)?"
)


@every_method
def test_wrong_options_are_named_with_what_was_expected(method: str) -> None:
    assert WRONG_OPTIONS[method].keys() == set(method_parameters(method))
    for option, values in WRONG_OPTIONS[method].items():
        for value in values:
            with pytest.raises(ConfigurationError) as caught:
                SiteCleaner(method, **{option: value})
            start = f"the option {option!r} of the method {method!r} must be "
            message = str(caught.value)
            assert message.startswith(start)
            assert message.endswith(f", not {value!r}")
            expected = message.removeprefix(start).removesuffix(f", not {value!r}")
            assert EXPECTED.fullmatch(expected), expected


@every_method
def test_defaults_are_right_options(method: str) -> None:
    parameters = inspect.signature(METHODS[method]).parameters.values()
    defaults = {parameter.name: parameter.default for parameter in parameters}
    page = build_page("<p>Fog closes the port</p>")
    given, not_given = SiteCleaner(method, **defaults), SiteCleaner(method)
    assert given.model().judge(page) == not_given.model().judge(page)


def test_leans_and_kinds_of_blocks_are_all_accepted() -> None:
    for lean in LEANS:
        assert SiteCleaner(lean=lean).clean("<p>hello").text == "hello"
    for blocks in LEAST_GAIN:
        SiteCleaner("block-entropy", blocks=blocks, threshold=1, least_gain=0.5)


@pytest.mark.slow
@every_method
def test_order_and_halves_do_not_matter(method: str, pages: list[Page]) -> None:
    shuffled = random.Random(2).sample(pages, len(pages))
    whole, half = learn(method, pages), learn(method, shuffled[::2])
    half.merge(learn(method, shuffled[1::2]))
    assert learn(method, shuffled).to_bytes() == whole.to_bytes() == half.to_bytes()
    assert whole.pages == len(pages)
    for page in pages[:20]:
        assert half.model().judge(page) == whole.model().judge(page)


@every_method
@pytest.mark.parametrize("is_by_template", [False, True])
def test_a_page_without_text_teaches_nothing(method: str, is_by_template: bool) -> None:
    cleaner = SiteCleaner(method, templates=is_by_template)
    before = cleaner.clean("<p>Fog closes the port</p>")
    cleaner.observe("<title>Loading</title><body><script>start()</script></body>")
    after = cleaner.clean("<p>Fog closes the port</p>")
    assert (cleaner.pages, after.fit, after.text) == (0, before.fit, before.text)


@every_method
def test_bytes_hold_all_that_was_learned(method: str, pages: list[Page]) -> None:
    cleaner = learn(method, pages)
    copy = SiteCleaner.from_bytes(cleaner.to_bytes())
    assert (copy.method, copy.pages) == (method, cleaner.pages)
    assert copy.to_bytes() == cleaner.to_bytes()
    assert copy.model().judge(pages[0]) == cleaner.model().judge(pages[0])


@pytest.mark.parametrize("method", ["block-entropy", "feature-weighting"])
def test_bytes_hold_the_threshold_that_was_given(method: str) -> None:
    cleaner = SiteCleaner(method, threshold=0.5)
    menu = "<ul><li>News<li>Home</ul>"
    for story in ("Fog closes the port", "A bakery wins gold", "Trams run late"):
        cleaner.observe(f"{menu}<div><p>{story}</p></div>")
    copy = SiteCleaner.from_bytes(cleaner.to_bytes())
    page = copy.clean(f"{menu}<div><p>Rain in Porto</p></div>")
    assert page.text == "Rain in Porto"
    assert page.weights["rain"] == 1


@every_method
def test_a_damaged_state_is_a_tree_data_error(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(METHODS[method], "state", lambda self: {"pages": "many"})
    with pytest.raises(TreeDataError):
        SiteCleaner.from_bytes(SiteCleaner(method).to_bytes())


@every_method
def test_a_model_does_not_change_while_learning_goes_on(method: str, pages: list[Page]) -> None:
    cleaner = learn(method, pages[:10])
    model = cleaner.model()
    before = [model.judge(page) for page in pages[:5]]
    for page in pages[10:]:
        cleaner.observe_page(page)
    assert [model.judge(page) for page in pages[:5]] == before


@every_method
def test_verdicts_scores_weights_and_fit_keep_their_ranges(method: str, pages: list[Page]) -> None:
    model = learn(method, pages).model()
    for page in pages:
        judged = model.judge(page)
        assert len(judged.verdicts) == len(page.blocks)
        assert all(0 <= verdict.score <= 1 for verdict in judged.verdicts)
        assert all(weight >= 0 for weight in judged.weights.values())
        assert 0 <= judged.fit <= 1


@every_method
def test_forgetting_all_but_a_share(method: str, pages: list[Page]) -> None:
    cleaner = learn(method, pages[:8])
    cleaner.decay(0.5)
    assert cleaner.pages == 4
    assert cleaner.clean("<p>hello</p>").visible_characters == 5


@every_method
@pytest.mark.parametrize("factor", [0, -0.5, 1.0001, math.inf, math.nan])
def test_decay_refuses_other_factors(method: str, factor: float) -> None:
    cleaner = learn(method, [build_page("<p>a</p><p>b</p>")])
    before = cleaner.to_bytes()
    with pytest.raises(ValueError, match="decay needs a factor above 0 and at most 1"):
        cleaner.decay(factor)
    assert cleaner.to_bytes() == before


@every_method
def test_methods_do_not_read_each_others_state(method: str, pages: list[Page]) -> None:
    other = next(name for name in sorted(METHODS) if name != method)
    with pytest.raises(TreeDataError):
        learn(method, pages[:2]).merge(SiteCleaner(other))


@every_method
@settings(max_examples=25)
@given(source=st.one_of(st.binary(max_size=300), st.text(max_size=300)))
def test_no_input_raises(method: str, source: bytes | str) -> None:
    cleaner = SiteCleaner(method)
    for _ in range(2):
        cleaner.observe(source)
    assert isinstance(cleaner.clean(source).text, str)


@every_method
@pytest.mark.parametrize("tag", ["<div>", "<a href=x>", "<table><tr><td>", "<p>"])
def test_endless_nesting_is_no_trouble(method: str, tag: str) -> None:
    cleaner = SiteCleaner(method)
    cleaner.observe(tag * 3000 + "text")
    assert isinstance(cleaner.clean(tag * 3000 + "text").text, str)


@pytest.mark.slow
@needs_corpora
@pytest.mark.parametrize(
    ("method", "step"), [("satisfiable-subtree", 80), ("shingle-template", 40)]
)
def test_real_pages_are_cleaned(method: str, step: int) -> None:
    """A sample: all of them take minutes."""
    for corpus in sorted(path.name for path in CORPORA.iterdir() if path.is_dir()):
        sample = [page.html for page in read_corpus(CORPORA / corpus)[::step]]
        cleaner = SiteCleaner(method)
        for source in sample:
            cleaner.observe(source)
        for source in sample:
            page = cleaner.clean(source)
            assert page.kept_characters <= page.visible_characters
