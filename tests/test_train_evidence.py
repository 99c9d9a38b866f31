"""Training of the method `evidence`: labels, grafts and folds by hand, and the exported trees."""

from __future__ import annotations

import json
import random
import zlib
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("catboost")
pytest.importorskip("rapidfuzz")
pytest.importorskip("sklearn")

from benchmarks import fewest_features
from benchmarks import train_evidence as train
from benchmarks.corpora import load_scorer
from benchmarks.grafts import WRAPPERS, Origin, content_element, graft, join, split, wrap
from noiseclean_scrapy.methods.evidence_model import naming
from noiseclean_scrapy.methods.evidence_model.boosted_trees import BoostedTrees
from noiseclean_scrapy.methods.evidence_model.context_features import CONTEXT, context_features
from noiseclean_scrapy.methods.evidence_model.model import EvidenceModel
from noiseclean_scrapy.methods.evidence_model.page_features import PAGE
from noiseclean_scrapy.methods.evidence_model.wording import BUCKETS
from noiseclean_scrapy.page import Page
from tests.support.corpora import write_corpus
from tests.support.small_pages import page_of

pytestmark = pytest.mark.extras
SCORER = '''"""A scorer."""

import re


def tokens(text):
    return re.findall(r"[^\\W_]+", text.casefold())
'''
WORDS = "harbour master pier ships fog rain wind bakery tram council winter stone rope gull".split()
MENU = "<nav class=menu><ul><li><a href=/>Home</a><li><a href=/w>Weather</a></ul></nav>"
FOOTER = "<footer class=footer>Copyright Harbour Times</footer>"


def paragraphs(chance: random.Random, count: int, letters: str = "") -> list[str]:
    return [
        " ".join(chance.choices(WORDS, k=25)).capitalize() + f" {letters}{n}." for n in range(count)
    ]


def site_of_fold(kind: str, fold: int) -> str:
    names = (f"{kind}{n}.example" for n in range(100))
    return next(name for name in names if zlib.crc32(name.encode()) % train.FOLDS == fold)


def gold_rows() -> list[dict[str, Any]]:
    chance = random.Random(1)
    rows = []
    for number in range(18):
        kind = ("article", "forum", "listing")[number // 3 % 3]
        story = paragraphs(chance, 5)
        tag = {"article": "p", "forum": "div class=post", "listing": "li"}[kind]
        body = "".join(f"<{tag}>{text}</{tag.split()[0]}>" for text in story)
        aside = "".join(f"<div><a href=/{n}>{n} more</a></div>" for n in chance.sample(WORDS, 4))
        rows.append(
            {
                "id": f"{kind}-{number}",
                "site": site_of_fold(kind, number % 3),
                "label": kind,
                "html": f"<html><head><title>Page of {number}</title></head><body>{MENU}"
                f"<h1>Page of {number}</h1><div class=story>{body}</div><aside>{aside}</aside>"
                f"{FOOTER}",
                "gold": "\n".join(story),
            }
        )
    return rows


SNIPPETS = [
    {
        "id": "cut-1",
        "site": "cut.example",
        "html": f"<body>{MENU}<p>Fog closes the old port.</p><p>Not known.</p>{FOOTER}",
        "with": ["fog closes THE"],
        "without": ["Weather", "Copyright"],
    },
    {"id": "cut-2", "site": "cut.example", "html": "<p>Nothing known.", "with": ["Rain"]},
    {"id": "cut-3", "site": "cut.example", "html": "", "with": ["Rain"]},
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shared")
    (folder / "bench").mkdir()
    (folder / "bench/score.py").write_text(SCORER, encoding="utf-8")
    write_corpus(folder / "corpora/wcxb-train", gold_rows())
    write_corpus(folder / "corpora/segments-train", SNIPPETS)
    return folder


@pytest.fixture(scope="module")
def examples(shared: Path) -> list[train.Example]:
    return train.load_examples(shared, corpora=["wcxb-train", "segments-train"])


@pytest.fixture
def scorer(shared: Path) -> ModuleType:
    return load_scorer(shared)


# Labels.


@pytest.mark.parametrize(
    ("blocks", "gold", "expected"),
    [
        (["home", "fog in port", "fog"], "fog in port", [0, 1, 0]),
        (["a x", "b"], "a b", [0.5, 1]),
        (["b", "a"], "a b a", [1, 1]),
        (["a b c d"], "d a b", [0.5]),  # order counts: d is no part of it
        (["", "a"], "a", [0, 1]),
        (["a"], "", [0]),
        (["a a", "a"], "a a a a", [1, 1]),
        ([], "a", []),
    ],
)
def test_aligned_shares(blocks: list[str], gold: str, expected: list[float]) -> None:
    shares = train.aligned_shares([block.split() for block in blocks], gold.split())
    assert shares.tolist() == expected


def test_snippet_labels(scorer: ModuleType) -> None:
    blocks = [text.split() for text in ("fog in port", "home news", "other", "", "in news port")]
    row: dict[str, Any] = {"with": ["Fog, in", "port"], "without": ["News!"]}
    assert train.snippet_labels(blocks, row, scorer).tolist() == [1, 0, -1, -1, 1]
    empty: list[dict[str, Any]] = [{}, {"with": None, "without": []}, {"with": ["", "..."]}]
    for nothing in empty:
        assert train.snippet_labels(blocks, nothing, scorer).tolist() == [-1] * 5


def test_examples_have_labels_of_their_blocks(examples: list[train.Example]) -> None:
    assert [e.id for e in examples] == [row["id"] for row in gold_rows()] + ["cut-1"]
    for example in examples[:-1]:
        texts = [block.text for block in example.features.page.blocks]
        labels = dict(zip(texts, example.labels.tolist(), strict=True))
        assert labels["Home"] == labels["Copyright Harbour Times"] == 0
        assert labels[texts[2]] == -1  # the headline
        assert [label for text, label in labels.items() if text.endswith(".")] == [1] * 5
        assert example.gold_tokens == 5 * 26
        assert example.tokens.tolist() == [len(text.split()) for text in texts]
        assert example.kind == example.id.split("-")[0]
    cut = examples[-1]
    assert cut.labels.tolist() == [-1, 0, 1, -1, 0]
    assert (cut.gold_tokens, cut.kind) == (None, "article")


def test_weights_and_folds(examples: list[train.Example]) -> None:
    for example in examples:
        assert example.weights.sum() == pytest.approx(1)
        assert (example.weights[example.labels < 0] == 0).all()
        assert 0 <= example.fold < train.FOLDS
    assert {e.fold for e in examples} >= {0, 1, 2}  # as their sites were chosen
    by_site = {(e.site, e.fold) for e in examples}
    assert len(by_site) == len({site for site, _ in by_site})
    first = examples[0]
    words = np.where(first.labels >= 0, first.tokens**train.LENGTH_POWER, 0)
    assert first.weights.tolist() == pytest.approx((words / words.sum()).tolist())


def test_pages_of_which_only_parts_are_known_weigh_less(examples: list[train.Example]) -> None:
    recipe = replace(examples[0], corpus="recipes-dev")
    assert recipe.weights.tolist() == pytest.approx((examples[0].weights / 4).tolist())


def test_sites_of_a_publisher_stand_in_one_fold() -> None:
    for sites in train.PUBLISHERS.values():
        assert len(sites) > 1
        assert len({train.fold_of(site) for site in sites}) == 1
    assert train.fold_of("cut.example") == zlib.crc32(b"cut.example") % train.FOLDS


def test_scores_of_kept_blocks(examples: list[train.Example]) -> None:
    example = examples[0]
    story = example.labels == 1
    assert train.bag_f1(example, story) == 1
    assert train.bag_f1(example, np.zeros(len(story), dtype=bool)) == 0
    noise = float(example.tokens[example.labels == 0].sum())
    everything = np.ones(len(story), dtype=bool)
    assert train.bag_f1(example, everything) == pytest.approx(2 * 130 / (130 + noise + 130))
    figures = train.quality(examples, [np.where(e.labels == 1, 1.0, -1.0) for e in examples])
    assert figures["wcxb-train"] == {"pages": 18, "f1": 1}
    assert figures["wcxb-train: forum"]["pages"] == 6
    assert "segments-train" not in figures


def test_calibration(examples: list[train.Example]) -> None:
    sure = train.calibration(examples, [np.where(e.labels == 1, 30.0, -30.0) for e in examples])
    assert len(sure) == 10
    assert sum(row["share"] for row in sure) == pytest.approx(1)
    assert [sure[0]["content"], sure[9]["content"]] == pytest.approx([0, 1])
    assert sure[9]["predicted"] == pytest.approx(1)
    assert sure[5] == {"predicted": 0, "content": 0, "share": 0}


# Grafts.

TRUNK = page_of("<div class=story><p>A1</p>A2<p>A3</p></div><footer>F</footer>")
SCION = page_of("<nav>N</nav><div class=posts><p>X</p><section>Y<p>Z</p></section></div>")


def test_graft_by_hand() -> None:
    made, origins = graft(TRUNK, 1, SCION, 2, seed=0)
    assert [block.text for block in made.blocks] == ["A1", "A2", "A3", "X", "Y", "Z", "F"]
    assert origins == [
        *((Origin(number),) for number in range(3)),
        *((Origin(number, is_grafted=True),) for number in range(1, 4)),
        (Origin(3),),
    ]
    assert [(e.label, e.parent) for e in made.elements] == [
        *(("body", -1), ("div.story", 0), ("p", 1), ("p", 1)),
        *(("div.posts", 0), ("p", 4), ("section", 4), ("p", 6), ("footer", 0)),
    ]
    assert [e.content for e in made.elements] == [
        *([1, 4, 8], [2, ~1, 3], [~0], [~2]),
        *([5, 6], [~3], [~4, 7], [~5], [~6]),
    ]


def test_graft_leaves_its_pages_alone() -> None:
    before = repr(TRUNK), repr(SCION)
    graft(TRUNK, 1, SCION, 2, seed=3)
    assert (repr(TRUNK), repr(SCION)) == before


def test_grafts_stand_behind_the_content_or_what_is_around_it() -> None:
    article = page_of("<main><article><div><div><p>A</p></div></div></article><i>B</i></main><p>C")
    trunk = article.blocks[0].element
    places = set()
    for seed in range(30):
        made, origins = graft(article, trunk, SCION, 2, seed)
        assert graft(article, trunk, SCION, 2, seed) == (made, origins)
        _check_tree(made)
        texts = [block.text for block in made.blocks]
        assert texts == ["A", "X", "Y", "Z", "B", "C"]
        root = next(e for e in made.elements if e.label == "div.posts")
        places.add(made.elements[root.parent].tag)
        content = made.elements[root.parent].content
        behind = made.elements[content[content.index(root.index) - 1]]
        assert 0 in {b.index for b in made.blocks if behind in made.path(b.element)}
    assert places == {"div", "article"}


def test_content_element_by_hand() -> None:
    page = page_of(
        f"<div><section><p>{'a' * 400}</p><p>{'b' * 300}</p></section><p>{'c' * 150}</p></div>"
        f"<p>{'d' * 900}</p>"
    )
    section = page.elements[page.blocks[0].element].parent
    assert page.elements[section].tag == "section"
    assert content_element(page, [1, 1, 0, 0]) == section
    assert content_element(page, [1, 1, 1, 0]) == section  # 700 of 850
    assert content_element(page, [1, 0.5, 1, -1]) == section - 1  # 550 of 700 are no 80 %
    assert content_element(page, [0, 0, 0, 1]) == page.blocks[3].element
    assert content_element(page, [1, 1, 1, 1]) == 0  # 900 of 1750 are not most of it
    assert content_element(page, [0, 1, 0, 0]) == 0  # not much
    assert content_element(page_of(""), []) == 0


def test_grafts_are_noise(examples: list[train.Example]) -> None:
    made = train.make_grafts(examples)
    again = train.make_grafts(examples)
    assert made
    assert [e.features.page for e in made] == [e.features.page for e in again]
    by_id = {example.id: example for example in examples}
    for example in made:
        source = by_id[example.id]
        blocks = example.features.page.blocks
        assert source.kind == "article"
        assert example.corpus == "grafts"
        assert example.kind in {kinds[0] for kinds in train.GRAFTED}
        assert (example.fold, example.gold_tokens) == (source.fold, source.gold_tokens)
        assert len(example.labels) == len(example.tokens) == len(blocks)
        assert len(blocks) > len(source.labels)
        texts = {block.text for block in source.features.page.blocks}
        assert (example.labels == 1).sum() == (source.labels == 1).sum()
        for block, label, tokens in zip(blocks, example.labels, example.tokens, strict=True):
            assert label == 0 or block.text in texts
            assert tokens == len(block.text.split())


# Wording.


def test_hashed_features_are_of_models_of_other_folds(shared: Path) -> None:
    examples = train.load_examples(shared, corpora=["wcxb-train"])
    columns = [PAGE.names.index(name) for name in ("wording", "named_near", "named_around")]
    hashed = train.cross_hashed(examples, train.HashedRows.of(examples))
    assert len(hashed) == train.FOLDS
    for example in examples:
        features = example.features
        wording, naming = hashed[example.fold]
        texts = [block.text for block in features.page.blocks]
        expected = [wording.score(texts), *naming.score(features.arrays, features.lengths)]
        found = features.matrix[:, columns].T
        assert np.allclose(found, expected)
        for row in (found[0], found[1], found[2]):  # menus are told from stories of other sites
            assert row[example.labels == 1].min() > row[example.labels == 0].max()


def test_hashed_models_are_of_the_same_bits_and_do_not_see_their_fold(shared: Path) -> None:
    examples = train.load_examples(shared, corpora=["wcxb-train"])
    rows = train.HashedRows.of(examples)
    (wording, naming), (again, named_again) = rows.fit(), train.HashedRows.of(examples).fit()
    assert np.array_equal(wording.weights, again.weights)
    assert (wording.scale, wording.bias) == (again.scale, again.bias)
    assert np.array_equal(naming.around, named_again.around)
    first, first_naming = train.cross_hashed(examples, rows)[0]
    others = train.HashedRows.of([example for example in examples if example.fold])
    without, naming_without = others.fit()
    assert np.array_equal(first.weights, without.weights)
    assert np.array_equal(first_naming.near, naming_without.near)


def test_namings_are_fitted_on_what_they_score(examples: list[train.Example]) -> None:
    rows = train.HashedRows.of(examples)
    near, around = np.random.default_rng(0).integers(-9, 9, (2, BUCKETS)).astype(np.int8)
    start = 0
    for example in examples:
        features = example.features
        end = start + len(example.labels)
        sums = [rows.near[start:end] @ near, rows.around[start:end] @ around]
        named = naming.Naming(near, around, 1.0, 1.0).score(features.arrays, features.lengths)
        assert np.allclose(naming.relative(np.array(sums), features.lengths), named, atol=1e-4)
        start = end


def test_rows_are_drawn_by_what_they_weigh() -> None:
    weights = np.concatenate((np.full(10, 5.0), np.full(90_000, 0.01), np.zeros(100)))
    drawn, weigh = train.drawn_rows(weights, 1000)
    assert len(drawn) == pytest.approx(1000, rel=0.1)
    assert drawn.tolist()[:10] == list(range(10))
    assert weigh[:10].tolist() == [5.0] * 10
    assert weigh.sum() == pytest.approx(weights.sum(), rel=0.1)
    assert drawn.max() < 90_010
    every, same = train.drawn_rows(weights, 200_000)
    assert every.tolist() == list(range(90_010))
    assert same.tolist() == weights[:90_010].tolist()


# Trees.


def test_content_weighs_more_the_less_is_reached(examples: list[train.Example]) -> None:
    shares = np.array([1.0, 0.0, 0.5, -1.0])
    example = replace(examples[0], labels=shares, tokens=np.array([8.0, 8.0, 8.0, 8.0]))
    assert example.weights.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    labels, weights = train.leaning(replace(example, reached=0.8))
    assert labels.tolist() == pytest.approx([1, 0, 0.6, -1])
    assert weights.tolist() == pytest.approx([1.2 / 3, 0.8 / 3, 1 / 3, 0])
    labels, weights = train.leaning(replace(example, reached=0.2))  # as of 0.7
    assert labels.tolist() == pytest.approx([1, 0, 0.65, -1])
    assert weights.tolist() == pytest.approx([1.3 / 3, 0.7 / 3, 1 / 3, 0])
    labels, weights = train.leaning(replace(example, reached=1.0))
    assert labels.tolist() == shares.tolist()
    assert weights.tolist() == example.weights.tolist()


def test_what_leans_to_content_is_the_choice_of_the_highest_f1(
    examples: list[train.Example],
) -> None:
    chance = np.random.default_rng(0)
    choices = [np.array(kept) for kept in product((False, True), repeat=10)]
    for _ in range(20):
        hundredths = np.sqrt(chance.integers(2_000, 10_000, 10)).round()
        labels, tokens = hundredths / 100, 100.0 * chance.integers(1, 50, 10).astype(np.float64)
        expected = int(hundredths @ tokens / 100)
        example = replace(examples[0], labels=labels, tokens=tokens, gold_tokens=expected)
        best = max(choices, key=lambda kept: train.bag_f1(example, kept))
        reached = train.bag_f1(example, best)
        assert reached > train.LEAST_F1
        leant, _ = train.leaning(replace(example, reached=reached))
        assert (leant > 0.5).tolist() == best.tolist()


def test_the_second_stage_leans_to_content_where_little_is_reached(
    examples: list[train.Example],
) -> None:
    matrices = [example.features.matrix for example in examples]
    sure, doubtful = (
        train.fit([replace(e, reached=reached) for e in examples], matrices, PAGE.names, (0,))
        for reached in (1.0, train.LEAST_F1)
    )
    plain = train.fit(examples, matrices, PAGE.names, (0,))
    rows = np.concatenate(matrices)
    assert np.array_equal(plain.score(rows), sure.score(rows))
    assert doubtful.score(rows).mean() > sure.score(rows).mean()


def test_the_f1_that_is_reached(examples: list[train.Example]) -> None:
    scores = [np.where(e.labels == 1, 1.0, -1.0) for e in examples]
    scores[0] = np.ones(len(scores[0]))
    reached = [example.reached for example in train.with_reached(examples, scores)]
    noise = float(examples[0].tokens[examples[0].labels == 0].sum())
    assert reached[0] == pytest.approx(2 * 130 / (130 + noise + 130))
    assert reached[1:] == [1.0] * (len(examples) - 1)  # the last is of segments, without gold


def test_fit_is_reproducible_and_exported_exactly(examples: list[train.Example]) -> None:
    import catboost

    matrices = [example.features.matrix for example in examples]
    names = PAGE.names
    seeds = train.SEEDS["together"]
    one, two = (train.fit(examples, matrices, names, seeds) for _ in range(2))
    for name in ("features", "borders", "values"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert all(map(np.array_equal, one.means, two.means))
    assert (one.bias, one.names) == (two.bias, names)
    labels = np.concatenate([e.labels for e in examples])
    weights = np.concatenate([e.weights for e in examples])[labels >= 0]
    matrix = np.concatenate(matrices)[labels >= 0]
    pool = catboost.Pool(matrix, labels[labels >= 0], weight=weights / weights.mean())
    models = []
    for seed in seeds:
        models.append(catboost.CatBoostClassifier(**train.PARAMETERS, random_seed=seed))
        models[-1].fit(pool)
    other = np.random.default_rng(0).permuted(matrix, axis=0)  # rows of no page
    for rows in (matrix, other):
        raw = [model.predict(rows, prediction_type="RawFormulaVal") for model in models]
        assert np.abs(one.score(rows) - np.mean(raw, axis=0)).max() < 1e-4
        assert np.abs(raw[0] - raw[1]).max() > 1e-3  # the seeds differ
    scores = one.score(matrix)
    assert ((scores > 0) == (labels[labels >= 0] > 0.5)).all()
    base, [changes] = one.base, one.changes(matrix[:1])
    assert base + changes.sum() == pytest.approx(scores[0], abs=1e-3)
    # The base is the mean score of the training data, weighed as they were.
    assert base == pytest.approx(np.average(scores, weights=weights), abs=0.05)


def test_left_out_texts_are_those_of_other_folds(shared: Path, tmp_path: Path) -> None:
    examples = train.load_examples(shared, corpora=["wcxb-train"])
    names = PAGE.names

    def always(names: tuple[str, ...], score: float) -> BoostedTrees:
        zeros = np.zeros((1, 1))
        return BoostedTrees(
            names,
            zeros.astype(np.int64),
            zeros.astype(np.float32),
            np.zeros((1, 2), np.float32),
            (zeros.astype(np.float32),),
            score,
        )

    # Fold 0 keeps all it judges, fold 1 keeps what is doubtful to it only where it leans to recall.
    odds = [9.0, -0.5, -9.0, -9.0, -9.0]
    hashed, alone = train.HashedRows.of(examples).fit(), always(names, 0.0)
    models = [EvidenceModel(*hashed, alone, always(names + CONTEXT.names, score)) for score in odds]
    train.write_left_out(shared, tmp_path, models, ["wcxb-train"])
    texts = {
        row: dict(
            json.loads(line).values()
            for line in (tmp_path / "wcxb-train" / f"{row}.jsonl").read_text().splitlines()
        )
        for row in ("no cleaning", *train.LEANS)
    }
    folds = {example.id: example.fold for example in examples}
    for example in examples:
        visible = texts["no cleaning"][example.id]
        assert visible == example.features.page.text
        if folds[example.id] == 0:
            assert sorted(texts["evidence"][example.id]) == sorted(visible)
        if folds[example.id] == 1:
            assert sorted(texts["evidence-recall"][example.id]) == sorted(visible)


def test_the_second_stage_reads_the_context(examples: list[train.Example]) -> None:
    scores = [np.linspace(-2, 2, len(e.labels)) for e in examples]
    matrices = train.with_context(examples, scores)
    for example, matrix, score in zip(examples, matrices, scores, strict=True):
        assert matrix.shape == (len(score), len(PAGE.names) + len(CONTEXT.names))
        context = context_features(example.features, score)
        assert np.array_equal(matrix[:, len(PAGE.names) :], context)
        assert np.array_equal(matrix[:, : len(PAGE.names)], example.features.matrix)


def test_weights_come_from_open_corpora_alone() -> None:
    assert all(
        licence.startswith(("CC-BY-4", "CC0", "MIT", "Apache", "BSD"))
        for licence in (train.CORPORA | train.FURTHER).values()
    )
    origin = train.provenance({"both stages": {}}, train.CORPORA)
    assert origin["corpora"] == train.CORPORA
    assert origin["versions"].keys() >= {"catboost", "numpy", "lxml", "rapidfuzz", "scikit-learn"}
    json.dumps(origin)


def test_without_corpora_the_command_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        train.main(["--shared", str(tmp_path)])
    assert "--shared" in capsys.readouterr().err


def test_wrapping_keeps_blocks_and_their_order() -> None:
    page = page_of("<nav>n</nav><div id=story>t1<p>p1</p><p>p2</p>t2<ul><li>l1<li>l2</ul></div>")
    trunk = next(e.index for e in page.elements if "#story" in e.label)
    for seed in range(8):
        made, origins = wrap(page, trunk, seed)
        assert [b.text for b in made.blocks] == [b.text for b in page.blocks]
        assert origins == [(Origin(number),) for number in range(len(page.blocks))]
        _check_tree(made)
        boxes = made.elements[made.elements[trunk].content[0]]
        assert boxes.label in {labels[0] for labels in WRAPPERS}


UNCUT = page_of(
    "<nav>n</nav><div id=story>t1<p>A one. B two!<p>C 3.5 is<p><a href=x>L one. L two.</a>"
    "<ul><li>l1<li>l2</ul></div><footer>F. G.</footer>"
)
STORY = next(e.index for e in UNCUT.elements if "#story" in e.label)


def test_joining_by_hand() -> None:
    found = set()
    for seed in range(12):
        made, origins = join(UNCUT, STORY, seed)
        assert join(UNCUT, STORY, seed) == (made, origins)
        _check_tree(made)
        texts = [block.text for block in made.blocks]
        found.add((*texts[2:-3], *(tuple(of.index for of in made_of) for made_of in origins[2:-3])))
        assert texts[:2] + texts[-3:] == ["n", "t1", "l1", "l2", "F. G."]
        joined = made.blocks[2]
        assert joined.element == made.blocks[1].element
        assert made.elements[joined.element].label == UNCUT.elements[STORY].label
        links = sum(block.link_characters for block in made.blocks)
        assert (links, sum(len(block.links) for block in made.blocks)) == (13, 1)
    assert found == {
        ("A one. B two! C 3.5 is", "L one. L two.", (2, 3), (4,)),
        ("A one. B two! C 3.5 is L one. L two.", (2, 3, 4)),
    }


def test_splitting_by_hand() -> None:
    made, origins = split(UNCUT, STORY)
    _check_tree(made)
    assert [block.text for block in made.blocks] == [
        *("n", "t1", "A one.", "B two!", "C 3.5 is", "L one. L two.", "l1", "l2", "F. G."),
    ]
    assert origins == [(Origin(number),) for number in (0, 1, 2, 2, 3, 4, 5, 6, 7)]
    assert [made.elements[block.element].tag for block in made.blocks[2:6]] == ["p"] * 4
    chinese = page_of(f"<div><p>{'一' * 300}。{'二' * 300}！</p></div>")
    assert [len(block.text) for block in split(chinese, 1)[0].blocks] == [301, 301]


def test_what_is_cut_anew_keeps_its_labels(examples: list[train.Example]) -> None:
    made = train.make_recut(examples)
    assert made
    by_id = {example.id: example for example in examples}
    for example in made:
        source = by_id[example.id]
        assert len(example.labels) == len(example.tokens) == len(example.features.page.blocks)
        assert (example.corpus, example.fold) == ("recut", source.fold)
        content, of = (float((e.labels * e.tokens)[e.labels > 0].sum()) for e in (example, source))
        assert content == pytest.approx(of, rel=0.02)


def _check_tree(page: Page) -> None:
    """Elements and blocks are numbered in order, and stand once in what holds them."""
    assert [e.index for e in page.elements] == list(range(len(page.elements)))
    assert [b.index for b in page.blocks] == list(range(len(page.blocks)))
    for element in page.elements[1:]:
        assert element.parent < element.index
        assert page.elements[element.parent].content.count(element.index) == 1
    for block in page.blocks:
        assert page.elements[block.element].content.count(~block.index) == 1


LONG_TEXTS = BoostedTrees(
    PAGE.names,
    np.array([[PAGE.names.index("length")]]),
    np.array([[np.log1p(60)]], dtype=np.float32),
    np.array([[-1, 1]], dtype=np.float32),
    (np.zeros((1, 1), dtype=np.float32),),
    0.0,
)
"""A model that asks for the length alone."""


def test_shuffling_what_a_model_reads_costs_and_nothing_else_does(
    examples: list[train.Example],
) -> None:
    matrices = [example.features.matrix for example in examples]
    lost = train.ablation(examples, matrices, [LONG_TEXTS] * train.FOLDS)
    assert lost.pop("text") > 0
    assert set(lost.values()) == {0}


# Fewer features.


def test_the_features_that_say_most_are_kept(examples: list[train.Example]) -> None:
    everything, nine = fewest_features.search(examples, [9], [])
    assert everything["features"] == len(PAGE.names) + len(CONTEXT.names)
    assert nine["features"] == 9
    assert set(nine["ranked"]) == set(everything["ranked"][:9])
    assert nine["f1"].keys() == everything["f1"].keys() != set()
    assert all(0.9 < f1 <= 1 for f1 in nine["f1"].values())  # these sites are easy
    [five] = fewest_features.search(examples, [9, 5], [everything, nine])  # goes on
    assert set(five["ranked"]) == set(nine["ranked"][:5])


def test_what_moves_no_score_has_no_influence(examples: list[train.Example]) -> None:
    matrices = [example.features.matrix for example in examples]
    said = fewest_features.influence(examples, matrices, [LONG_TEXTS] * train.FOLDS)
    assert said == dict.fromkeys(PAGE.names, 0.0) | {"length": 1.0}


def test_the_fewest_features_hold_each_corpus() -> None:
    steps = [
        {"features": size, "f1": {"news": news, "shops": shops}}
        for size, news, shops in ((9, 0.9, 0.8), (7, 0.8991, 0.9), (5, 0.95, 0.7989), (3, 0, 0))
    ]
    assert fewest_features.fewest(steps) == 7
