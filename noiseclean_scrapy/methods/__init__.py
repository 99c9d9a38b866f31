"""The cleaning methods, one file a published system, all with one face."""

from __future__ import annotations

import inspect
from typing import Any

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.methods.base import Method, Model, PageVerdict, Verdict
from noiseclean_scrapy.methods.block_entropy import BlockEntropyMethod
from noiseclean_scrapy.methods.evidence import EvidenceMethod
from noiseclean_scrapy.methods.feature_weighting import FeatureWeightingMethod
from noiseclean_scrapy.methods.options import check_options
from noiseclean_scrapy.methods.satisfiable_subtree import SatisfiableSubtreeMethod
from noiseclean_scrapy.methods.shingle_template import ShingleTemplateMethod
from noiseclean_scrapy.methods.style_tree import StyleTreeMethod

__all__ = [
    "METHODS",
    "Method",
    "Model",
    "PageVerdict",
    "Verdict",
    "create_method",
    "method_parameters",
]

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        EvidenceMethod,
        StyleTreeMethod,
        FeatureWeightingMethod,
        BlockEntropyMethod,
        SatisfiableSubtreeMethod,
        ShingleTemplateMethod,
    )
}


def create_method(name: str, **options: Any) -> Method:
    """A new, untaught method by its name.

    Raises ConfigurationError for an unknown one, and for options that it cannot have.
    """
    method = _method(name)
    check_options(name, method, options)
    return method(**options)


def method_parameters(name: str) -> tuple[str, ...]:
    """Names of the options of a method; raises ConfigurationError for an unknown one."""
    return tuple(inspect.signature(_method(name)).parameters)


def _method(name: str) -> type[Method]:
    if not isinstance(name, str) or name not in METHODS:
        known = ", ".join(sorted(METHODS))
        raise ConfigurationError(f"there is no method {name!r}; the methods are: {known}")
    return METHODS[name]
