"""Options of methods: what each may be is told by the annotation of its parameter, checked here."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from noiseclean_scrapy.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from `least` to `most`, both of them included."""

    least: float
    most: float = math.inf


Count: TypeAlias = Annotated[int, Range(1)]
Amount: TypeAlias = Annotated[float, Range(0)]
Share: TypeAlias = Annotated[float, Range(0, 1)]


_RENAMED = {"comments": "include_comments", "tables": "include_tables"}
_REVERSED = {"images": "drop_captions", "links": "drop_link_lists"}
"""Options of `evidence` by the names that they had; the latter say the opposite now."""


def renamed_options(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of an earlier version by their present names, for what it has stored."""
    if method != "evidence":
        return dict(options)
    return {
        _RENAMED.get(name) or _REVERSED.get(name, name): not value if name in _REVERSED else value
        for name, value in options.items()
    }


def check_options(name: str, method: type, options: Mapping[str, Any]) -> None:
    """Raise ConfigurationError for an option that the method has not, or that cannot be so."""
    known = inspect.signature(method, eval_str=True).parameters
    for option, value in options.items():
        if option not in known:
            new = (_RENAMED | _REVERSED).get(option, "") if name == "evidence" else ""
            hint = f"it is {new!r} now" if new else f"its options are: {', '.join(known) or 'none'}"
            hint += ", and says the opposite" if option in _REVERSED and new else ""
            raise ConfigurationError(f"the method {name!r} has no option {option!r}; {hint}")
        annotation = known[option].annotation
        if not _fits(value, annotation):
            raise ConfigurationError(
                f"the option {option!r} of the method {name!r} must be "
                f"{_expected(annotation)}, not {value!r}"
            )


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if get_origin(hint) is not Annotated:
        choices = _choices(hint)
        return any(_fits(value, choice) for choice in choices) if choices else type(value) is hint
    kind, limits = get_args(hint)
    # True is an int, and no number here.
    is_number = type(value) is int or (kind is float and type(value) is float)
    return is_number and limits.least <= value <= limits.most and abs(value) <= _LARGEST


def _expected(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(repr, get_args(hint)))}"
    if get_origin(hint) is Annotated:
        kind, limits = get_args(hint)
        number = "a whole number" if kind is int else "a number"
        if limits.most == math.inf:
            return f"{number} of at least {limits.least}"
        return f"{number} from {limits.least} to {limits.most}"
    return " or ".join(map(_expected, _choices(hint))) or _NAMES.get(hint, str(hint))


def _choices(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else ()


_LARGEST = 2.0**80
"""Beyond it a number is a slip, and larger ones have no floating-point value."""
_NAMES = {bool: "True or False", type(None): "None"}
