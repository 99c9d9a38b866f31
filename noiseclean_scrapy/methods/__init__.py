"""The cleaning methods, one file a published system, all with one face."""

from __future__ import annotations

from typing import Any

from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.methods.base import Method, Model, PageVerdict, Verdict
from noiseclean_scrapy.methods.style_tree import StyleTreeMethod

__all__ = ["METHODS", "Method", "Model", "PageVerdict", "Verdict", "create_method"]

METHODS: dict[str, type[Method]] = {method.name: method for method in (StyleTreeMethod,)}


def create_method(name: str, **options: Any) -> Method:
    """A new, untaught method by its name; raises ConfigurationError for an unknown one."""
    try:
        return METHODS[name](**options)
    except KeyError:
        known = ", ".join(sorted(METHODS))
        raise ConfigurationError(f"there is no method {name!r}; the methods are: {known}") from None
