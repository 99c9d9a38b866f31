"""Jinja templates of this package to self-contained documents."""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from functools import lru_cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def render(template: str, *, package: str = __package__, **values: Any) -> str:
    """The template filled in; all values are escaped, and JSON cannot leave its SCRIPT element.

    `package` may have templates of its own, beside those of this one.
    """
    text = _environment(package).get_template(template).render(**values)
    return text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates are in no file


def compile_templates(package: str) -> None:
    """Compile all templates that a package can render, so that nobody has to wait for it."""
    environment = _environment(package)
    for name in environment.list_templates(extensions=["jinja"]):
        environment.get_template(name)


def source(name: str, *, package: str = __package__) -> str:
    """A style sheet or script of the templates."""
    environment = _environment(package)
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


@lru_cache(maxsize=2)
def _environment(package: str) -> Environment:
    loaders = [PackageLoader(name) for name in dict.fromkeys((package, __package__))]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "percent": percent,
        "number": number,
        "day": day,
        "minute": minute,
        "step": importance_step,
    }
    environment.globals |= {"inline": _inline, "policy": _policy}
    return environment


def percent(share: float) -> str:
    """A share in words that never claim more than there is.

    >>> percent(0.412), percent(0.9996), percent(0.0004), percent(1.0)
    ('41 %', '99.9 %', '<0.1 %', '100 %')
    """
    value = 100 * share
    if 0 < value < 0.1:
        return "<0.1 %"
    if value < 10 and round(value, 1) != round(value):
        return f"{value:.1f} %"
    if 99 < value < 100:
        return f"{min(value, 99.9):.1f} %"
    return f"{value:.0f} %"


def number(value: float) -> str:
    """A count, short from ten thousand on.

    >>> number(8154), number(48_215), number(3_450_000)
    ('8,154', '48 k', '3.5 M')
    """
    if value >= 999_500:
        return f"{value / 1e6:.1f} M"
    if value >= 10_000:
        return f"{value / 1e3:.0f} k"
    return f"{value:,.0f}"


def day(time: datetime) -> str:
    """The date, in UTC as the store has it."""
    return f"{time:%Y-%m-%d}"


def minute(time: datetime) -> str:
    """Date and time, in UTC as the store has it."""
    return f"{time:%Y-%m-%d %H:%M}"


def importance_step(importance: float) -> int:
    """The colour, 0 to 10, that stands for an importance in [0, 1]."""
    return max(0, min(10, round(10 * importance)))


@lru_cache(maxsize=8)
def _inline(name: str) -> Markup:
    """A style sheet or script of this package, for a STYLE or SCRIPT element."""
    return Markup(source(name))


@lru_cache(maxsize=2)
def _policy(script: str) -> str:
    """The Content Security Policy of a document whose only script is the one of this name."""
    digest = hashlib.sha256(_inline(script).encode()).digest()
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'sha256-{base64.b64encode(digest).decode()}'",
            "style-src 'unsafe-inline'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )
