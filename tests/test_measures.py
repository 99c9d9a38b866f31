"""The measures on any input: ranges, monotony, symmetry, sums, and what defines them, slowly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.methods.block_entropy import greedy_threshold
from noiseclean_scrapy.methods.evidence_model.site_features import SUPPORT, _trust
from noiseclean_scrapy.methods.evidence_model.threshold import (
    DOUBTFUL,
    HOPELESS,
    LEANS,
    LEAST_TEXT,
    MUCH_TEXT,
    threshold,
)
from noiseclean_scrapy.methods.trees.counts import (
    FeatureCounts,
    effective_pages,
    faded_log,
    more_frequent_half,
    weighted_log,
)
from noiseclean_scrapy.methods.trees.importance import MeasuredElement, mark, measure
from noiseclean_scrapy.methods.trees.noise_threshold import THRESHOLD_RANGE, choose_threshold
from tests.support.style_trees import layout_of, learn, sites

pages_of_counts = st.lists(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 500), max_size=6),
    min_size=1,
    max_size=8,
)
shares = st.floats(0, 1)


def counted(pages: list[dict[str, int]]) -> FeatureCounts:
    counts = FeatureCounts()
    for page in pages:
        counts.add_page(page.items())
    return counts


def entropy_as_defined(counts: list[int], pages: int) -> float:
    """H = - sum p log_m p over the pages (Yi, Liu & Li 2003, Def. 5)."""
    total = sum(counts)
    if pages < 2 or not total:
        return 0.0
    return -sum(c / total * math.log(c / total, pages) for c in counts if c)


@given(pages_of_counts)
def test_entropy_is_as_defined(pages: list[dict[str, int]]) -> None:
    counts = counted(pages)
    for feature in "abcdef":
        slow = entropy_as_defined([page.get(feature, 0) for page in pages], len(pages))
        assert counts.entropy(feature, len(pages)) == pytest.approx(slow, abs=1e-6)
        assert 0 <= counts.entropy(feature, len(pages)) <= 1
    mean = counts.mean_entropy(len(pages))
    each = [counts.entropy(feature, len(pages)) for feature in counts.totals]
    assert mean == pytest.approx(sum(each) / len(each) if each else 0.0)


@given(pages_of_counts, st.randoms(use_true_random=False), st.integers(0, 8))
def test_counts_are_sums(pages: list[dict[str, int]], random: Any, cut: int) -> None:
    whole = counted(pages)
    random.shuffle(pages)
    one, other = counted(pages[:cut]), counted(pages[cut:])
    before = dict(other.totals)
    one.merge(other)
    assert one.totals == whole.totals
    assert other.totals == before


@given(pages_of_counts, st.floats(0.01, 1))
def test_forgetting_changes_no_entropy(pages: list[dict[str, int]], factor: float) -> None:
    counts = counted(pages)
    before = {f: counts.entropy(f, len(pages)) for f in counts.totals}
    counts.decay(factor)
    for feature, entropy in before.items():
        assert counts.entropy(feature, len(pages)) == pytest.approx(entropy, abs=1e-6)


@given(st.integers(2, 50), st.integers(1, 1000))
def test_entropy_at_its_ends(pages: int, count: int) -> None:
    even = counted([{"a": count}] * pages)
    assert even.entropy("a", pages) == pytest.approx(1, abs=1e-6)
    alone = counted([{"a": count}])
    assert alone.entropy("a", pages) == pytest.approx(0, abs=1e-6)
    assert alone.entropy("never", pages) == 0


@given(st.integers(2, 20), st.integers(1, 100))
def test_a_feature_on_one_more_page_is_spread_further(pages: int, count: int) -> None:
    values = [counted([{"a": count}] * shown).entropy("a", pages) for shown in range(1, pages + 1)]
    assert values == sorted(values)


@given(pages_of_counts, st.integers(1, 6))
def test_the_cap_moves_the_mean_within_its_bound(pages: list[dict[str, int]], limit: int) -> None:
    counts = counted(pages)
    names, before = len(counts.totals), counts.mean_entropy(len(pages))
    counts.prune(limit)
    assert len(counts.totals) <= limit or len(counts.totals) == names <= limit
    assert len(counts.totals) + counts.dropped == names
    after = counts.mean_entropy(len(pages))
    assert abs(after - before) <= 2 * counts.dropped / max(names, 1) + 1e-9


@given(
    st.lists(
        st.tuples(st.floats(0.1, 1), st.lists(st.integers(0, 4), min_size=3, max_size=3)),
        min_size=2,
        max_size=12,
    )
)
def test_entropies_of_faded_pages_are_those_of_their_weights(
    pages: list[tuple[float, list[int]]],
) -> None:
    """Each page is followed by a decay; m is exp of the entropy of the weights that are left."""
    counts, total, logs = FeatureCounts(), 0.0, 0.0
    weights: list[float] = []
    for factor, row in pages:
        counts.add_page((name, count) for name, count in zip("abc", row, strict=True) if count)
        total, weights = total + 1, [*weights, 1.0]
        counts.decay(factor)
        total, logs = factor * total, faded_log(total, logs, factor)
        weights = [factor * weight for weight in weights]
    shares = [weight / sum(weights) for weight in weights]
    equal = math.exp(-sum(share * math.log(share) for share in shares))
    base = effective_pages([(total, logs)])
    assert base == pytest.approx(equal, rel=1e-9)
    for number, name in enumerate("abc"):
        seen = [w * row[number] for w, (_, row) in zip(weights, pages, strict=True) if row[number]]
        slow = -sum(x / sum(seen) * math.log(x / sum(seen)) for x in seen) / math.log(equal)
        if base > 1.01:
            assert counts.entropy(name, base) == pytest.approx(min(1, slow), abs=1e-5)


@pytest.mark.parametrize("method", ["style-tree", "feature-weighting", "block-entropy"])
def test_what_all_pages_lose_alike_changes_no_verdict(method: str) -> None:
    cleaner = SiteCleaner(method)
    for number in range(40):
        cleaner.observe(varying(number))
    before = [(block.kept, block.score) for block in cleaner.clean(varying(40)).blocks]
    assert [kept for kept, _ in before] == [False, True]
    cleaner.decay(0.25)
    copy = SiteCleaner.from_bytes(cleaner.to_bytes())
    for faded in (cleaner, copy):
        after = [(block.kept, block.score) for block in faded.clean(varying(40)).blocks]
        assert [kept for kept, _ in after] == [False, True]
        # Fewer pages support what a style tree says of them.
        allowed = 0.08 if method == "style-tree" else 1e-4
        assert [s for _, s in after] == pytest.approx([s for _, s in before], abs=allowed)


@pytest.mark.parametrize("method", ["style-tree", "feature-weighting", "block-entropy"])
@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("factors", [(0.3,), (0.25,) * 11])
def test_a_page_that_fades_alone_stays_one_page(
    method: str, published: bool, factors: tuple[float, ...]
) -> None:
    cleaner = SiteCleaner(method, published=published)
    cleaner.observe(varying(1))
    before = cleaner.clean(varying(1))
    for factor in factors:
        cleaner.decay(factor)
    after = cleaner.clean(varying(1))
    assert (after.text, after.weights) == (before.text, before.weights)


def varying(number: int) -> str:
    """A menu, and a story of whose words some are on several pages."""
    words = [f"{word}{'abcdefgh'[number * place % 8]}" for place, word in enumerate(WORDS, 1)]
    own = "".join("abcdefghij"[int(digit)] for digit in str(number))
    return f"<ul><li>News Sport Weather</ul><div><p>Story {own} {' '.join(words)}</div>"


WORDS = "harbour ferry council winter railway market school hospital".split()


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_weighted_log(one: float, other: float) -> None:
    assert weighted_log(one) == pytest.approx(one * math.log(one) if one else 0, abs=1e-6)
    if 1 <= one <= other:
        assert weighted_log(one) <= weighted_log(other)
    # Exact sums: the order does not matter.
    parts = [weighted_log(number % 1000) for number in (one, other, one + other)]
    assert sum(parts) == sum(reversed(parts))


@given(st.dictionaries(st.integers(0, 99), st.floats(0, 9)), st.integers(1, 50))
def test_more_frequent_half(counts: dict[int, float], limit: int) -> None:
    half = more_frequent_half(counts, limit)
    assert half.items() <= counts.items()
    if len(counts) <= limit:
        assert half == counts
    else:
        assert len(half) == max(1, limit // 2)
        left = [counts[key] for key in counts.keys() - half.keys()]
        assert min(half.values()) >= max(left)


# Thresholds


@given(st.lists(shares, max_size=30), st.randoms(use_true_random=False))
def test_threshold_of_a_tree(importances: list[float], random: Any) -> None:
    def choose() -> float:
        # Enough words stand in leaves of full importance.
        return choose_threshold({**dict.fromkeys(importances, 1.0), 1.0: 1000.0})

    chosen = choose()
    low, high = THRESHOLD_RANGE
    assert low <= chosen <= high
    random.shuffle(importances)
    assert choose() == chosen
    # Nothing is nearer to it than to the middle of any other gap.
    inside = sorted({low, high, *(value for value in importances if low < value < high)})
    widest = max(b - a for a, b in pairwise(inside))
    assert min(abs(chosen - value) for value in inside) == pytest.approx(widest / 2)


blocks = st.lists(st.tuples(shares, st.integers(0, 2000)), max_size=12)


@settings(max_examples=300)
@given(blocks, st.sampled_from(sorted(LEANS.values())) | shares)
def test_threshold_of_a_page_is_as_defined(pairs: list[tuple[float, int]], lean: float) -> None:
    chances = np.array([chance for chance, _ in pairs])
    lengths = np.array([length for _, length in pairs], dtype=np.float64)
    chosen = threshold(chances, lengths, lean)
    assert min(HOPELESS, lean) <= chosen <= lean
    sure = sum(n for p, n in pairs if p >= 0.5)
    if sure >= LEAST_TEXT and (lean != LEANS["balanced"] or sure < MUCH_TEXT):
        assert chosen == lean
    elif (
        pairs and chosen < lean and (chosen > HOPELESS if sure < LEAST_TEXT else chosen > DOUBTFUL)
    ):
        # No set of the most probable blocks has a higher expected F.
        content = sum(p * n for p, n in pairs)

        def expected(kept: list[tuple[float, int]]) -> float:
            return 2 * sum(p * n for p, n in kept) / max(sum(n for _, n in kept) + content, 1e-9)

        order = sorted(pairs, key=lambda pair: -pair[0])
        sets = [order[:count] for count in range(1, len(order) + 1)]
        best = max(map(expected, sets))
        assert expected([pair for pair in pairs if pair[0] >= chosen]) <= best + 1e-9
        following = [p for p, _ in order[1:]] + [0.0]
        ends = [
            kept
            for kept, p in zip(sets, following, strict=True)
            if (kept[-1][0] + p) / 2 == pytest.approx(chosen, abs=1e-12)
        ]
        assert max(map(expected, ends)) == pytest.approx(best)


@given(st.lists(st.tuples(shares, st.sets(st.sampled_from("abcdefgh"))), max_size=12), shares)
def test_greedy_threshold(found: list[tuple[float, set[str]]], gain: float) -> None:
    chosen = greedy_threshold(found, gain)
    assert 0.1 <= chosen <= 1
    assert round(chosen * 10) / 10 == chosen
    assert greedy_threshold(reversed(found), gain) == chosen
    # A step has to add more where more is asked for.
    assert greedy_threshold(found, 0.0) >= chosen


# What the site says


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_trust_grows_with_the_pages(pages: list[float]) -> None:
    ordered = np.array(sorted(pages))
    trust = _trust(ordered, SUPPORT)
    assert (np.diff(trust) >= 0).all()
    assert (trust >= 0).all()
    assert (trust < 1 + 1e-12).all()
    assert _trust(np.array([0.0, SUPPORT]), SUPPORT).tolist() == [0.0, 0.5]


# The style tree


def as_numbers(elements: list[MeasuredElement]) -> Counter[tuple[Any, ...]]:
    return Counter((e.label, e.pages, round(e.importance, 9)) for e in elements)


@settings(max_examples=60)
@given(sites(), st.tuples(shares, shares))
def test_noise_grows_with_the_threshold(site: Any, limits: tuple[float, float]) -> None:
    elements = measure(learn(site[0]))
    noisy: list[set[int]] = []
    for limit in sorted(limits):
        mark(elements, limit)
        noisy.append({number for number, element in enumerate(elements) if element.noisy})
        for element in elements:
            below = list(element.children())
            assert not (element.noisy and element.meaningful)
            assert not element.noisy or all(child.noisy for child in below)
            assert not element.meaningful or not any(child.noisy for child in below)
    assert noisy[0] <= noisy[1]


@settings(max_examples=60)
@given(sites())
def test_importances_keep_their_ranges(site: Any) -> None:
    for element in measure(learn(site[0])):
        for value in (element.node_importance, element.leaf_importance, element.importance):
            assert -1e-9 <= value <= 1 + 1e-9
        assert element.importance - 1e-9 <= element.supported_importance <= 1 + 1e-9
        if element.pages <= 1:
            assert element.supported_importance == 1


@settings(max_examples=40)
@given(sites(), st.randoms(use_true_random=False), st.integers(0, 10))
def test_measures_of_the_union(site: Any, random: Any, cut: int) -> None:
    layouts = list(site[0])
    whole = as_numbers(measure(learn(layouts)))
    random.shuffle(layouts)
    one, other = learn(layouts[:cut]), learn(layouts[cut:])
    one.merge(other)
    assert as_numbers(measure(one)) == whole


@pytest.mark.parametrize("make", [lambda n: f"<p>{'abcdefgh'[n]}", lambda n: "<p>same"])
def test_text_that_differs_is_more_important(make: Callable[[int], str]) -> None:
    tree = learn([layout_of(f"<div>{make(n)}</div>") for n in range(8)])
    (leaf,) = [element for element in measure(tree) if element.leaf_pages]
    assert leaf.leaf_importance == pytest.approx(0 if "same" in make(0) else 1, abs=1e-6)
