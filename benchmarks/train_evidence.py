"""Fits the model of the method `evidence` and writes its weights.

    python benchmarks/train_evidence.py                   # cross-validation, then the weights
    python benchmarks/train_evidence.py --validate-only   # no weights
    python benchmarks/train_evidence.py --no-validation   # the weights alone
    python benchmarks/train_evidence.py --left-out texts  # and texts of left-out sites
    python benchmarks/train_evidence.py --also recipes-train --out other.npz

Only openly licensed corpora are used (see `CORPORA` and `FURTHER`); folds are made of whole sites,
the sites of a publisher in one. Needs `pip install "noiseclean-scrapy[train]"`. The weights depend
on nothing but the corpora, the code and the versions that are written beside them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.corpora import LEFT_OUT, SHARED, CorpusPage, environment, load_scorer, read_corpus
from benchmarks.evidence_weights import level_means, save_model
from benchmarks.extraction import NO_CLEANING
from benchmarks.grafts import content_element, graft, join, split, wrap
from benchmarks.title_block import find_title_block
from noiseclean_scrapy.clean_page import clean_page
from noiseclean_scrapy.methods.evidence import EvidenceMethod, SiteModel
from noiseclean_scrapy.methods.evidence_model import naming as naming_module
from noiseclean_scrapy.methods.evidence_model import threshold
from noiseclean_scrapy.methods.evidence_model import wording as wording_module
from noiseclean_scrapy.methods.evidence_model.boosted_trees import BoostedTrees
from noiseclean_scrapy.methods.evidence_model.context_features import CONTEXT, context_features
from noiseclean_scrapy.methods.evidence_model.model import WEIGHTS, EvidenceModel
from noiseclean_scrapy.methods.evidence_model.naming import Naming, PageNames
from noiseclean_scrapy.methods.evidence_model.page_features import PAGE, PageFeatures
from noiseclean_scrapy.methods.evidence_model.tree_index import PageArrays
from noiseclean_scrapy.methods.evidence_model.wording import Wording, gram_counts, grams
from noiseclean_scrapy.page import PageBudget, build_page

Floats: TypeAlias = NDArray[np.float64]
Hashed: TypeAlias = tuple[Wording, Naming]

CORPORA = {
    "wcxb-train": "CC-BY-4.0",
    "wcxb-dev": "CC-BY-4.0",
    "scrapinghub-dev": "MIT",
    "zh-cold-dev": "MIT",
    "readability-pages": "Apache-2.0",
    "segments-train": "Apache-2.0",
    "fundus-dev": "MIT",
    "recipes-dev": "MIT",
}
"""The corpora that the weights are fitted on, and their licences."""
FURTHER = {"recipes-train": "MIT"}
"""Those that they may be fitted on as well, with `--also` (see docs/decisions.md)."""

LINEAR: dict[str, Any] = {
    "loss": "log_loss",
    "alpha": 3e-5,
    "max_iter": 8,
    "tol": None,
    "random_state": 0,
}
"""scikit-learn's parameters of the wording and the naming."""
ROWS = 300_000
"""Blocks that a training of trees sees. They are drawn by what they weigh."""
PUBLISHERS = {
    "Caxton": ("citizen.co.za", "durbanlocal.co.za", "eyethunews.co.za"),
    "DMG": ("dailymail.co.uk", "metro.co.uk"),
    "Funke": ("abendblatt.de", "morgenpost.de"),
    "Ippen": ("fr.de", "merkur.de"),
    "Nine": ("9news.com.au", "nine.com.au"),
    "Postmedia": (
        *("financialpost.com", "nationalpost.com", "o.canada.com", "ottawacitizen.com"),
        "theprovince.com",
    ),
    "Reach": ("dailystar.co.uk", "express.co.uk", "mirror.co.uk"),
    "Tamedia": ("20min.ch", "tagesanzeiger.ch"),
    "Yomiuri": ("japannews.yomiuri.co.jp", "yomiuri.co.jp"),
}
"""Sites whose templates are of one publisher: they stand in one fold."""
_PUBLISHER = {site: publisher for publisher, sites in PUBLISHERS.items() for site in sites}
PAGE_WEIGHTS = {"recipes-dev": 0.25, "recipes-train": 0.25}
"""What a page weighs where it is not 1: of recipes only parts are known, all of them content."""
LEANS = {
    "evidence": "balanced",
    "evidence-precision": "precision",
    "evidence-recall": "recall",
}
"""Rows of the left-out texts: how the model leans."""
GRAFTED = (("forum",), ("listing", "collection"), ("article",))
"""Kinds of pages whose content is grafted behind articles, as noise."""
FAMILIES = {feature.name: feature.family for feature in (*PAGE.features, *CONTEXT.features)}
"""Families of features, by their names, for the ablation."""
FOLDS = 5
LENGTH_POWER = 0.7
LEAST_F1 = 0.7
"""A page of less counts as one of this F1: `leaning` moves log-odds by 0.62 at most."""
PARAMETERS: dict[str, Any] = {
    "loss_function": "CrossEntropy",
    "iterations": 300,
    "depth": 6,
    "learning_rate": 0.08,
    "l2_leaf_reg": 8,
    "rsm": 0.3,
    "border_count": 64,
    "bootstrap_type": "Bernoulli",
    "subsample": 0.8,
    "allow_writing_files": False,
    "verbose": False,
}
"""CatBoost's parameters for both stages."""
SEEDS = {"alone": (0, 1), "together": (0, 1)}
"""Seeds of the trainings of each stage, whose scores are averaged."""


@dataclass(frozen=True)
class Example:
    """A page with its features and, for each block, the share of it that is content.

    `labels` are -1 where nothing is known (segments that the corpus does not speak of, headlines,
    which are kept by a rule of their own). `tokens` counts the scorer's tokens of each block,
    `reached` is the F1 that is to be expected of the page, see `leaning`.
    """

    corpus: str
    id: str
    site: str
    kind: str
    features: PageFeatures
    labels: Floats
    tokens: Floats
    gold_tokens: int | None
    reached: float = 1.0

    @property
    def fold(self) -> int:
        """Which fold holds the page's site."""
        return fold_of(self.site)

    @property
    def weights(self) -> Floats:
        """Weights of the blocks; those of a page sum to what it weighs: 1, but for PAGE_WEIGHTS."""
        weights = np.where(self.labels >= 0, np.maximum(self.tokens, 0.5) ** LENGTH_POWER, 0.0)
        return weights * (PAGE_WEIGHTS.get(self.corpus, 1.0) / max(float(weights.sum()), 1e-9))


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--left-out", type=Path, help="folder for the texts of left-out sites")
    parser.add_argument(
        "--also", action="append", default=[], choices=FURTHER, help="a corpus more"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--no-validation", action="store_true", help="fit the weights only")
    what.add_argument("--validate-only", action="store_true", help="write no weights")
    args = parser.parse_args(argv)
    if not (args.shared / "corpora").is_dir():
        parser.error(f"no corpora in {args.shared}: name the folder with --shared")
    start = time.monotonic()
    corpora = CORPORA | {name: FURTHER[name] for name in args.also}
    examples = training_examples(args.shared, corpora)
    console = Console()
    console.print(f"{len(examples)} pages, {time.monotonic() - start:.0f} s")
    rows = HashedRows.of(examples)
    hashed = cross_hashed(examples, rows)
    alone = [e.features.matrix for e in examples]
    names = PAGE.names
    models = cross_fit(examples, alone, names, SEEDS["alone"])
    first_scores = cross_scores(examples, alone, models)
    together = with_context(examples, first_scores)
    leant = with_reached(examples, first_scores)
    report: dict[str, Any] = {}
    if not args.no_validation:
        report["first stage"] = quality(examples, first_scores)
        report["first stage, shuffled"] = ablation(examples, alone, models)
        second = cross_fit(leant, together, names + CONTEXT.names, SEEDS["together"])
        scores = cross_scores(examples, together, second)
        report["both stages"] = quality(examples, scores)
        report["both stages, shuffled"] = ablation(examples, together, second)
        if args.left_out:
            left_out = (*LEFT_OUT, *args.also)
            parts = zip(hashed, models, second, strict=True)
            stages = [EvidenceModel(*of, first, last) for of, first, last in parts]
            write_left_out(args.shared, args.left_out, stages, left_out)
        report["calibration"] = calibration(examples, scores)
        print_report(console, report)
    if args.validate_only:
        return 0
    model = EvidenceModel(
        *rows.fit(),
        fit(examples, alone, names, SEEDS["alone"]),
        fit(leant, together, names + CONTEXT.names, SEEDS["together"]),
    )
    save_model(model, args.out, provenance(report, corpora))
    console.print(
        f"{args.out}: {args.out.stat().st_size:,} bytes, {time.monotonic() - start:.0f} s"
    )
    return 0


def fold_of(site: str) -> int:
    """Which fold holds a site, and the others of its publisher."""
    return zlib.crc32(_PUBLISHER.get(site, site).encode()) % FOLDS


def training_examples(shared: Path, corpora: Iterable[str]) -> list[Example]:
    """The pages of the corpora, and those that are made of them."""
    examples = load_examples(shared, corpora)
    return examples + make_grafts(examples) + make_wrapped(examples) + make_recut(examples)


def load_examples(shared: Path, corpora: Iterable[str]) -> list[Example]:
    """All pages of the corpora that have labels."""
    examples: list[Example] = []
    with ProcessPoolExecutor() as pool:
        for corpus in corpora:
            pages = read_corpus(shared / "corpora" / corpus)
            made = pool.map(partial(make_example, corpus, shared), pages, chunksize=8)
            examples += [example for example in made if example is not None]
    return examples


def make_example(corpus: str, shared: Path, source: CorpusPage) -> Example | None:
    """The page with its labels; None without any.

    With its hidden text, from which there is as much to learn, and with characters as they are
    decoded, none of them mended: the weights were fitted before there was any mending.
    """
    scorer = load_scorer(shared)
    page = build_page(source.html, url=source.url, budget=PageBudget(hidden=True, mended=False))
    tokens = [scorer.tokens(block.text) for block in page.blocks]
    gold = None if source.gold is None else scorer.tokens(source.gold)
    if gold is not None:
        labels = aligned_shares(tokens, gold)
    else:
        labels = snippet_labels(tokens, source.row, scorer)
    title = find_title_block(page)
    if title is not None:
        labels[title] = -1
    if not page.blocks or labels.max() < 0:
        return None
    return Example(
        corpus=corpus,
        id=source.id,
        site=source.site,
        kind=str(source.row.get("label") or "article"),
        features=PageFeatures(page),
        labels=labels,
        tokens=np.array([len(t) for t in tokens], dtype=np.float64),
        gold_tokens=None if gold is None else len(gold),
    )


def make_grafts(examples: Sequence[Example]) -> list[Example]:
    """Every fourth article with a forum's posts, another article or a list behind its content.

    Both pages are of one fold.
    """
    chance = random.Random(0)
    rooted = [(e, content_element(e.features.page, e.labels.tolist())) for e in examples]
    rooted = [(example, root) for example, root in rooted if example.gold_tokens and root]
    made = []
    for example, trunk in rooted:
        if example.kind != "article" or chance.random() < 3 / 4:
            continue
        kinds = chance.choice(GRAFTED)
        others = [(e, r) for e, r in rooted if e.kind in kinds and e.fold == example.fold]
        if not others:
            continue
        other, scion = chance.choice(others)
        page, origins = graft(
            example.features.page, trunk, other.features.page, scion, chance.randrange(1 << 30)
        )
        tokens = [(other if of.is_grafted else example).tokens[of.index] for [of] in origins]
        labels = [0.0 if of.is_grafted else example.labels[of.index] for [of] in origins]
        made.append(
            replace(
                example,
                corpus="grafts",
                kind=kinds[0],
                features=PageFeatures(page),
                labels=np.array(labels),
                tokens=np.array(tokens),
            )
        )
    return made


def make_wrapped(examples: Sequence[Example]) -> list[Example]:
    """Every fourth page with its content in boxes of several blocks each."""
    chance = random.Random(1)
    made = []
    for example in examples:
        trunk = content_element(example.features.page, example.labels.tolist())
        if example.gold_tokens and trunk and chance.random() < 1 / 4:
            page, _ = wrap(example.features.page, trunk, chance.randrange(1 << 30))
            made.append(replace(example, corpus="wrapped", features=PageFeatures(page)))
    return made


def make_recut(examples: Sequence[Example]) -> list[Example]:
    """Every fourth page with its content in larger blocks, or in one block a sentence."""
    chance = random.Random(2)
    made = []
    for example in examples:
        old, labels = example.features.page, example.labels
        trunk = content_element(old, labels.tolist())
        if not (example.gold_tokens and trunk and chance.random() < 1 / 4):
            continue
        seed = chance.randrange(1 << 30)
        page, origins = join(old, trunk, seed) if seed % 2 else split(old, trunk)
        if len(page.blocks) == len(old.blocks):
            continue
        lengths = np.array([max(len(block.text), 1) for block in old.blocks])
        tokens = np.maximum(example.tokens, 0.5)
        shares, counts = [], []
        for block, origin in zip(page.blocks, origins, strict=True):
            of = np.array([source.index for source in origin])
            known = bool((labels[of] >= 0).all())
            shares.append(np.average(labels[of], weights=tokens[of]) if known else -1.0)
            counts.append(example.tokens[of].sum() * len(block.text) / lengths[of].sum())
        made.append(
            replace(
                example,
                corpus="recut",
                features=PageFeatures(page),
                labels=np.array(shares),
                tokens=np.array(counts),
            )
        )
    return made


def aligned_shares(blocks: Sequence[Sequence[str]], gold: Sequence[str]) -> Floats:
    """For each block the share of its tokens on a longest common subsequence with the gold."""
    from rapidfuzz.distance import LCSseq

    owners = [index for index, block in enumerate(blocks) for _ in block]
    hits = [0] * len(blocks)
    for step in LCSseq.opcodes([token for block in blocks for token in block], list(gold)):
        if step.tag == "equal":
            for place in range(step.src_start, step.src_end):
                hits[owners[place]] += 1
    return np.array([n / max(len(b), 1) for n, b in zip(hits, blocks, strict=True)])


def snippet_labels(
    blocks: Sequence[Sequence[str]], row: dict[str, Any], scorer: ModuleType
) -> Floats:
    """1 for blocks with a snippet of the content, 0 for those with one of the noise, else -1."""
    wanted, unwanted = (
        [" ".join(scorer.tokens(snippet)) for snippet in row.get(key) or ()]
        for key in ("with", "without")
    )
    labels = []
    for block in blocks:
        text = f" {' '.join(block)} "
        noise = any(snippet and f" {snippet} " in text for snippet in unwanted)
        content = any(snippet and f" {snippet} " in text for snippet in wanted)
        labels.append(1.0 if content else 0.0 if noise else -1.0)
    return np.array(labels)


def cross_hashed(examples: Sequence[Example], rows: HashedRows) -> list[Hashed]:
    """For each fold a wording and a naming that have not seen its sites, fitted on `rows` of all.

    Each page's features are from those of its own fold.
    """
    fold = np.repeat([e.fold for e in examples], [len(e.labels) for e in examples])
    columns = [PAGE.names.index(name) for name in ("wording", "named_near", "named_around")]
    found = []
    for number in range(FOLDS):
        wording, naming = rows.fit(fold != number)
        for example in examples:
            if example.fold == number:
                page = example.features
                worded = wording.score(page.page.table.texts)
                named = naming.score(page.arrays, page.lengths)
                page.matrix[:, columns] = np.vstack((worded, named)).T
        found.append((wording, naming))
    return found


@dataclass(frozen=True)
class HashedRows:
    """What the wording and the naming are fitted on: a row for each block, in buckets."""

    wording: Any
    near: Any
    around: Any
    labels: Floats
    weights: Floats

    @classmethod
    def of(cls, examples: Sequence[Example]) -> HashedRows:
        """Rows of all blocks."""
        from scipy.sparse import csr_matrix, vstack

        texts = [text for e in examples for text in e.features.page.table.texts]
        pairs, text_of, buckets = grams(texts)
        values = (1 / np.sqrt(gram_counts(pairs)))[text_of].astype(np.float32)
        wording = csr_matrix((values, (text_of, buckets)), (len(texts), wording_module.BUCKETS))
        named = [_named_rows(e.features.arrays) for e in examples]
        near, around = (vstack(rows, format="csr") for rows in zip(*named, strict=True))
        labels = np.concatenate([e.labels for e in examples])
        return cls(wording, near, around, labels, np.concatenate([e.weights for e in examples]))

    def fit(self, wanted: NDArray[np.bool_] | None = None) -> Hashed:
        """Log-odds of content from letters, and from names: linear models, in bytes."""
        from sklearn.linear_model import SGDClassifier

        known = self.labels >= 0 if wanted is None else wanted & (self.labels >= 0)
        weights = self.weights[known] / self.weights[known].mean()
        fitted = []
        for matrix in (self.wording, self.near, self.around):
            model = SGDClassifier(**LINEAR)
            model.fit(matrix[known], self.labels[known] > 1 / 2, sample_weight=weights)
            scale = float(np.abs(model.coef_).max()) / 127
            found = np.round(model.coef_[0] / scale).astype(np.int8)
            fitted.append((found, scale, float(model.intercept_[0])))
        worded, (near, near_scale, _), (around, around_scale, _) = fitted
        return Wording(*worded), Naming(near, around, near_scale, around_scale)


def _named_rows(arrays: PageArrays) -> tuple[Any, Any]:
    """How often the blocks of a page have names near and around them, by bucket, as `Naming` does.

    Divided by the square root of the names' number.
    """
    from scipy.sparse import csr_matrix

    names, ancestors = PageNames(arrays), arrays.ancestors(naming_module.LEVELS - 1)
    ones = np.ones(len(names.around), dtype=np.float32)
    label_of = np.arange(len(arrays.label_names)).repeat(np.diff(names.starts))
    shape = len(arrays.label_names), wording_module.BUCKETS
    near = sum(
        csr_matrix((ones, (label_of, buckets)), shape)[arrays.labels[elements]]
        for elements, buckets in zip(ancestors, names.near, strict=True)
    )
    blocks, elements = np.arange(len(arrays.element)), arrays.element
    above = [(blocks, elements)]
    while (elements > 0).any():
        blocks, elements = blocks[elements > 0], arrays.parent[elements[elements > 0]]
        above.append((blocks, elements))
    path = tuple(np.concatenate(parts) for parts in zip(*above, strict=True))
    elements_first, names_first = names.first
    first = elements_first, names.around[names_first]
    elements_of, names_of = (
        csr_matrix((np.ones(len(pairs[0]), dtype=np.float32), pairs), (rows, columns))
        for pairs, rows, columns in (
            (path, len(arrays.element), len(arrays.parent)),
            (first, len(arrays.parent), wording_module.BUCKETS),
        )
    )
    return _by_root(near), _by_root(elements_of @ names_of)


def _by_root(matrix: Any) -> Any:
    from scipy.sparse import diags

    return diags(1 / np.sqrt(np.asarray(matrix.sum(axis=1)).ravel()), dtype=np.float32) @ matrix


def cross_fit(
    examples: Sequence[Example],
    matrices: Sequence[NDArray[Any]],
    names: tuple[str, ...],
    seeds: Sequence[int],
) -> list[BoostedTrees]:
    """For each fold a model that has not seen its sites."""
    models = []
    for fold in range(FOLDS):
        outside = [i for i, example in enumerate(examples) if example.fold != fold]
        seen = [examples[i] for i in outside]
        models.append(fit(seen, [matrices[i] for i in outside], names, seeds))
    return models


def cross_scores(
    examples: Sequence[Example],
    matrices: Sequence[NDArray[Any]],
    models: Sequence[BoostedTrees],
) -> list[Floats]:
    """Log-odds of each page's blocks from the model that has not seen the page's site."""
    return [models[e.fold].score(m) for e, m in zip(examples, matrices, strict=True)]


def ablation(
    examples: Sequence[Example],
    matrices: Sequence[NDArray[Any]],
    models: Sequence[BoostedTrees],
) -> dict[str, float]:
    """Mean bag F1 lost on left-out sites when a family of features is shuffled over all blocks."""
    real = [i for i, e in enumerate(examples) if e.corpus in CORPORA | FURTHER and e.gold_tokens]
    chosen = [examples[i] for i in real]
    ends = np.cumsum([len(matrices[i]) for i in real])[:-1]
    matrix = np.concatenate([matrices[i] for i in real])
    order = np.random.default_rng(0).permutation(len(matrix))

    def f1(values: NDArray[Any]) -> float:
        scores = cross_scores(chosen, np.split(values, ends), models)
        return float(np.mean(kept_f1(chosen, scores)))

    whole = f1(matrix)
    lost = {}
    families = [FAMILIES[name] for name in models[0].names]
    for family in dict.fromkeys(families):
        columns = [column for column, of in enumerate(families) if of == family]
        shuffled = matrix.copy()
        shuffled[:, columns] = matrix[order][:, columns]
        lost[family] = whole - f1(shuffled)
    return lost


def with_context(examples: Sequence[Example], scores: Sequence[Floats]) -> list[NDArray[Any]]:
    """The matrices of the second stage: page features and what the first stage says around."""
    return [
        np.hstack([e.features.matrix, context_features(e.features, score)])
        for e, score in zip(examples, scores, strict=True)
    ]


def fit(
    examples: Sequence[Example],
    matrices: Sequence[NDArray[Any]],
    names: tuple[str, ...],
    seeds: Sequence[int],
) -> BoostedTrees:
    """Boosted trees for the labels of the examples, `leaning`: the mean of one training a seed."""
    from catboost import CatBoostClassifier, Pool

    labels, weights = map(np.concatenate, zip(*map(leaning, examples), strict=True))
    drawn, weights = drawn_rows(weights, ROWS)
    matrix = np.concatenate(matrices)[drawn]
    pool = Pool(matrix, labels[drawn], weight=weights / weights.mean())
    models = []
    for seed in seeds:
        model = CatBoostClassifier(**PARAMETERS, random_seed=seed)
        model.fit(pool)
        models.append(_export(model, names))
    return mean_model(models)


def with_reached(examples: Sequence[Example], scores: Sequence[Floats]) -> list[Example]:
    """The examples with the F1 that these scores reach; what has no gold text stays as it is."""
    reached = zip(examples, kept_f1(examples, scores), strict=True)
    return [replace(e, reached=f1) if e.gold_tokens else e for e, f1 in reached]


def leaning(example: Example) -> tuple[Floats, Floats]:
    """Labels and weights of a page's blocks with which log-odds above 0 are to be kept for F1.

    F1 is highest where each block is kept whose share of content is above half of the F1 that can
    be reached (Lipton, Elkan & Naryanaswamy, ECML 2014): lists, forums and products, on which
    little is sure, keep more that is doubtful than articles do. So content weighs 2 - F1, noise F1
    (Parambath, Usunier & Grandvalet, NIPS 2014); a block of both is both, by its share.
    """
    f1 = max(example.reached, LEAST_F1)
    content, noise = example.labels * (2 - f1), (1 - example.labels) * f1
    known, both = example.labels >= 0, content + noise
    labels = np.where(known, content / np.where(known, both, 1), example.labels)
    return labels, np.where(known, example.weights * both, 0.0)


def drawn_rows(weights: Floats, count: int) -> tuple[NDArray[np.int64], Floats]:
    """About so many rows of those that weigh anything, and what they weigh now.

    A row is drawn with a chance proportional to its weight, at most 1, and weighs as many times
    more as it is rarer: the thousands of menu items that hardly count are thinned out, and count
    as much together.
    """
    factor = 1 / float(weights.max())
    for _ in range(50):  # until the chances sum to the count
        factor *= count / float(np.minimum(weights * factor, 1).sum())
        if (weights[weights > 0] * factor).min() >= 1:
            break
    chances = np.minimum(weights * factor, 1)
    drawn = np.flatnonzero(np.random.default_rng(0).random(len(weights)) < chances)
    return drawn, weights[drawn] / chances[drawn]


def mean_model(models: Sequence[BoostedTrees]) -> BoostedTrees:
    """One model whose scores are the means of theirs: all their trees, with lighter leaves."""
    share = np.float32(1 / len(models))
    return BoostedTrees(
        models[0].names,
        np.concatenate([model.features for model in models]),
        np.concatenate([model.borders for model in models]),
        np.concatenate([model.values for model in models]) * share,
        tuple(
            np.concatenate(means) * share
            for means in zip(*(model.means for model in models), strict=True)
        ),
        float(np.mean([model.bias for model in models])),
    )


def _export(model: Any, names: tuple[str, ...]) -> BoostedTrees:
    scale, bias = model.get_scale_and_bias()
    borders = model.get_borders()
    depth = PARAMETERS["depth"]
    split_features, split_borders, values, weights = [], [], [], []
    for tree in _trees(model):
        splits = [(s["float_feature_index"], s["border"]) for s in tree["splits"] or ()]
        # A tree that found fewer questions asks one that is always answered with no.
        splits += [(0, float("inf"))] * (depth - len(splits))
        repeat = (1 << depth) // len(tree["leaf_values"])
        split_features.append([feature for feature, _ in splits])
        split_borders.append([border for _, border in splits])
        values.append(np.tile(np.array(tree["leaf_values"]) * scale, repeat))
        leaf_weights = np.zeros(1 << depth)
        leaf_weights[: len(tree["leaf_weights"])] = tree["leaf_weights"]
        weights.append(leaf_weights)
    assert len(borders) <= len(names)
    leaves = np.array(values, dtype=np.float32)
    return BoostedTrees(
        names,
        np.array(split_features, dtype=np.int64),
        np.array(split_borders, dtype=np.float32),
        leaves,
        level_means(leaves, np.array(weights)),
        float(bias),
    )


def _trees(model: Any) -> list[dict[str, Any]]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save_model(str(path), format="json")
        trees: list[dict[str, Any]] = json.loads(path.read_text())["oblivious_trees"]
        return trees


def quality(examples: Sequence[Example], scores: Sequence[Floats]) -> dict[str, dict[str, float]]:
    """Mean bag F1 by corpus and page type, with all blocks above log-odds 0 kept."""
    groups: dict[str, list[float]] = {}
    for example, f1 in zip(examples, kept_f1(examples, scores), strict=True):
        if example.gold_tokens:
            for name in (example.corpus, f"{example.corpus}: {example.kind}"):
                groups.setdefault(name, []).append(f1)
    return {name: {"pages": len(f), "f1": float(np.mean(f))} for name, f in sorted(groups.items())}


def kept_f1(examples: Sequence[Example], scores: Sequence[Floats]) -> list[float]:
    """Bag F1 of each page with all blocks above log-odds 0 kept."""
    return [bag_f1(e, score > 0) for e, score in zip(examples, scores, strict=True)]


def bag_f1(example: Example, kept: NDArray[np.bool_]) -> float:
    """F1 of the kept blocks' aligned tokens against the gold, the headline left aside."""
    kept = kept & (example.labels >= 0)
    common = float((example.labels * example.tokens)[kept].sum())
    return 2 * common / max(float(example.tokens[kept].sum()) + (example.gold_tokens or 0), 1.0)


def calibration(examples: Sequence[Example], scores: Sequence[Floats]) -> list[dict[str, float]]:
    """Ten classes of predicted probability: mean prediction, share of content, share of text."""
    p = np.concatenate([1 / (1 + np.exp(-s)) for s in scores])
    labels = np.concatenate([e.labels for e in examples])
    weights = np.concatenate([e.weights for e in examples])
    rows = []
    for decile in range(10):
        inside = (labels >= 0) & (p >= decile / 10) & (p < (decile + 1) / 10 + (decile == 9))
        total = float(weights[inside].sum())
        rows.append(
            {
                "predicted": float((p * weights)[inside].sum()) / max(total, 1e-9),
                "content": float((labels * weights)[inside].sum()) / max(total, 1e-9),
                "share": total / float(weights.sum()),
            }
        )
    return rows


def write_left_out(
    shared: Path,
    folder: Path,
    models: Sequence[EvidenceModel],
    corpora: Iterable[str],
) -> None:
    """Texts of all pages, visible and cleaned by the fold that has not seen the page's site."""
    for corpus in corpora:
        with ProcessPoolExecutor() as pool:
            pages = read_corpus(shared / "corpora" / corpus)
            texts = list(pool.map(partial(left_out_texts, models), pages, chunksize=64))
        for row in texts[0]:
            path = folder / corpus / f"{row}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8") as lines:
                for page, found in zip(pages, texts, strict=True):
                    lines.write(json.dumps({"id": page.id, "text": found[row]}) + "\n")


def left_out_texts(models: Sequence[EvidenceModel], source: CorpusPage) -> dict[str, str]:
    """The page's visible text, and its clean text by lean, as a crawl of this one page has it."""
    page = build_page(source.html, url=source.url)
    model = models[fold_of(source.site)]
    texts = {NO_CLEANING: page.text}
    for row, lean in LEANS.items():
        texts[row] = clean_page(LeftOutModel(model, lean), page).text
    return texts


class LeftOutModel(SiteModel):
    """The default cleaner on a site's first page, with another page model."""

    def __init__(self, model: EvidenceModel, lean: str) -> None:
        method = EvidenceMethod()
        super().__init__(method.site, threshold.LEANS[lean], method.left_out)
        self._page_model = model

    @property
    def page_model(self) -> EvidenceModel:
        return self._page_model


def print_report(console: Console, report: dict[str, Any]) -> None:
    """The cross-validated figures."""
    stages = ["first stage", "both stages"]
    table = Table("group", "pages", *stages, title="Bag F1, left-out sites")
    for group, row in report[stages[0]].items():
        figures = (f"{report[stage][group]['f1']:.4f}" for stage in stages)
        table.add_row(group, str(row["pages"]), *figures)
    console.print(table)
    shuffled = [report[f"{stage}, shuffled"] for stage in stages]
    table = Table("shuffled features", *stages, title="Bag F1 lost, left-out sites")
    for family in dict.fromkeys(FAMILIES.values()):
        figures = (f"{lost[family]:.4f}" if family in lost else "" for lost in shuffled)
        table.add_row(family, *figures)
    console.print(table)
    table = Table("predicted", "content", "share of text", title="Calibration")
    for row in report["calibration"]:
        table.add_row(*(f"{row[key]:.3f}" for key in ("predicted", "content", "share")))
    console.print(table)


def provenance(report: dict[str, Any], corpora: Mapping[str, str]) -> dict[str, Any]:
    """What stands beside the weights."""
    return {
        "corpora": dict(corpora),
        "page weights": PAGE_WEIGHTS,
        "linear models": LINEAR,
        "rows": ROWS,
        "least F1": LEAST_F1,
        "parameters": PARAMETERS,
        "seeds": SEEDS,
        **environment(["catboost", "numpy", "lxml", "rapidfuzz", "scikit-learn"]),
        "validation": report,
    }


if __name__ == "__main__":
    sys.exit(main())
