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


def options_of(method: type) -> dict[str, inspect.Parameter]:
    """The options of a method by name; what `**options` takes is not known."""
    found = inspect.signature(method, eval_str=True).parameters
    return {name: option for name, option in found.items() if option.kind not in _ANY_NUMBER}


def check_options(name: str, method: type, options: Mapping[str, Any]) -> None:
    """Raise ConfigurationError for an option that the method has not, or that cannot be so."""
    known = options_of(method)
    takes_others = inspect.getfullargspec(method).varkw is not None
    for option, value in options.items():
        if option not in known:
            if takes_others:
                continue
            raise ConfigurationError(
                f"the method {name!r} has no option {option!r}; "
                f"its options are: {', '.join(known) or 'none'}"
            )
        annotation = known[option].annotation
        if not _fits(value, annotation):
            raise ConfigurationError(
                f"the option {option!r} of the method {name!r} must be "
                f"{_expected(annotation)}, not {value!r}"
            )


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    if origin is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if choices := _choices(hint):
        return any(_fits(value, choice) for choice in choices)
    kind, limits = get_args(hint) if origin is Annotated else (origin or hint, None)
    if kind in (int, float):  # True is an int, and no number here
        is_number = type(value) in (int, kind)
        return is_number and (limits is None or _is_within(value, limits))
    # Of `list[str]` the list is checked, and nothing of what has no type.
    is_any = kind in (Any, inspect.Parameter.empty) or not isinstance(kind, type)
    return is_any or isinstance(value, kind)


def _is_within(value: float, limits: Range) -> bool:
    return limits.least <= value <= limits.most and abs(value) <= _LARGEST


def _expected(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(repr, get_args(hint)))}"
    if get_origin(hint) is Annotated:
        kind, limits = get_args(hint)
        number = "a whole number" if kind is int else "a number"
        if limits.most == math.inf:
            return f"{number} of at least {limits.least}"
        return f"{number} from {limits.least} to {limits.most}"
    if choices := _choices(hint):
        return " or ".join(map(_expected, choices))
    return _NAMES.get(hint) or inspect.formatannotation(hint)


def _choices(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else ()


_LARGEST = 2.0**80
"""Beyond it a number is a slip, and larger ones have no floating-point value."""
_NAMES = {bool: "True or False", type(None): "None"}
_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
