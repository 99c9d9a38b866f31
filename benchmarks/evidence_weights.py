"""The weights of the method `evidence`, as they are made of fitted trees and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseclean_scrapy.methods.evidence_model.model import EvidenceModel


def level_means(
    values: NDArray[np.float32], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float32], ...]:
    """`BoostedTrees.means` from the leaves (T, 2^D) and the weight of training data in each."""
    count, leaves = values.shape
    depth = leaves.bit_length() - 1
    means: list[NDArray[np.float32]] = []
    for level in range(depth):
        shape = (count, leaves >> level, 1 << level)
        weight = weights.reshape(shape).sum(axis=1)
        total = (values * weights).reshape(shape).sum(axis=1)
        plain = values.reshape(shape).mean(axis=1)
        mean = np.where(weight > 0, total / np.where(weight > 0, weight, 1), plain)
        means.append(mean.astype(np.float32))
    return tuple(means)


def save_model(model: EvidenceModel, path: Path, provenance: dict[str, Any]) -> None:
    """Write the weights, and beside them where they come from, as JSON."""
    wording, naming = model.wording, model.naming
    arrays: dict[str, Any] = {
        "wording_weights": wording.weights,
        "wording_scale_and_bias": np.array((wording.scale, wording.bias)),
        "naming_near": naming.near,
        "naming_around": naming.around,
        "naming_scales": np.array((naming.near_scale, naming.around_scale)),
    }
    for stage, trees in (("alone", model.alone), ("together", model.together)):
        arrays[f"{stage}_names"] = np.array(trees.names)
        arrays[f"{stage}_features"] = trees.features.astype(np.uint16)
        arrays[f"{stage}_borders"] = trees.borders
        arrays[f"{stage}_values"] = trees.values
        arrays[f"{stage}_bias"] = np.array(trees.bias)
        for level, means in enumerate(trees.means):
            arrays[f"{stage}_means{level}"] = means
    np.savez_compressed(path, **arrays)
    text = json.dumps(provenance, indent=1) + "\n"
    path.with_suffix(".json").write_text(text, encoding="utf-8")
