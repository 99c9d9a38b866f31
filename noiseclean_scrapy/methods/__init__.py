"""The cleaning methods, one file a published system, all with one face."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.methods.base import Method, Model, PageVerdict, Verdict
from noiseclean_scrapy.methods.options import check_options

__all__ = [
    "METHODS",
    "Method",
    "Model",
    "PageVerdict",
    "Verdict",
    "create_method",
    "method_parameters",
]


class _Methods(Mapping[str, type[Method]]):
    """The methods by name; each is imported when it is asked for, since few need more than one."""

    _CLASSES: ClassVar[dict[str, str]] = {
        "evidence": "EvidenceMethod",
        "style-tree": "StyleTreeMethod",
        "feature-weighting": "FeatureWeightingMethod",
        "block-entropy": "BlockEntropyMethod",
        "satisfiable-subtree": "SatisfiableSubtreeMethod",
        "shingle-template": "ShingleTemplateMethod",
    }

    def __getitem__(self, name: str) -> type[Method]:
        class_name = self._CLASSES[name]
        module = import_module(f"{__name__}.{name.replace('-', '_')}")
        method: type[Method] = getattr(module, class_name)
        return method

    def __iter__(self) -> Iterator[str]:
        return iter(self._CLASSES)

    def __len__(self) -> int:
        return len(self._CLASSES)

    def __contains__(self, name: object) -> bool:
        return name in self._CLASSES


METHODS = _Methods()


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
