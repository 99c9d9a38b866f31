"""The cleaning methods, one file a published system, all with one face; and those of others."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.methods.base import Method, Model, PageVerdict, Verdict
from noiseclean_scrapy.methods.options import check_options, options_of

__all__ = [
    "METHODS",
    "Method",
    "Model",
    "PageVerdict",
    "Verdict",
    "create_method",
    "find_method",
    "load_method",
    "method_parameters",
]


class _Methods(Mapping[str, type[Method]]):
    """The methods by name, each imported when it is asked for, since few need more than one.

    A class of yours counts once it is imported: its name is its path, `my_package.MyMethod`.
    """

    _PATHS: ClassVar[dict[str, str]] = {
        "evidence": "evidence.EvidenceMethod",
        "style-tree": "style_tree.StyleTreeMethod",
        "feature-weighting": "feature_weighting.FeatureWeightingMethod",
        "block-entropy": "block_entropy.BlockEntropyMethod",
        "satisfiable-subtree": "satisfiable_subtree.SatisfiableSubtreeMethod",
        "shingle-template": "shingle_template.ShingleTemplateMethod",
    }

    def __getitem__(self, name: str) -> type[Method]:
        path = self._PATHS.get(name)
        if path:
            return load_method(f"{__name__}.{path}")
        found = self._imported(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._PATHS)

    def __len__(self) -> int:
        return len(self._PATHS)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._PATHS or self._imported(name) is not None)

    @staticmethod
    def _imported(path: str) -> type[Method] | None:
        module, _, name = path.rpartition(".")
        found = getattr(sys.modules.get(module), name, None)
        return found if isinstance(found, type) and issubclass(found, Method) else None


METHODS = _Methods()


def load_method(path: str) -> type[Method]:
    """The class of a path such as `my_package.MyMethod`, which is imported: never one from a page.

    Raises ConfigurationError where there is none.
    """
    module, _, name = path.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (AttributeError, ImportError, TypeError, ValueError) as error:
        raise ConfigurationError(f"the method {path!r} cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Method)):
        raise ConfigurationError(f"{path!r} is no class that derives from {Method.__name__}")
    return found


def create_method(name: str, **options: Any) -> Method:
    """A new, untaught method by its name or its path.

    Raises ConfigurationError for an unknown one, and for options that it cannot have.
    """
    method = find_method(name)
    check_options(name, method, options)
    return method(**options)


def method_parameters(name: str) -> tuple[str, ...]:
    """Names of the options of a method; raises ConfigurationError for an unknown one."""
    return tuple(options_of(find_method(name)))


def find_method(name: str) -> type[Method]:
    """The class of a method by its name or its path; raises ConfigurationError without one."""
    if not isinstance(name, str) or (name not in METHODS and "." not in name):
        known = ", ".join(sorted(METHODS))
        raise ConfigurationError(
            f"there is no method {name!r}; the methods are: {known}, or the path of a class"
        )
    found = METHODS[name] if name in METHODS else load_method(name)
    if inspect.isabstract(found):
        lacking = ", ".join(sorted(found.__abstractmethods__))
        raise ConfigurationError(f"the method {name!r} lacks: {lacking}")
    return found
