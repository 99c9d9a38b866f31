"""`noiseclean`: clean pages without a project, look at and look after what crawls stored.

Scrapy finds it as `scrapy noiseclean`; outside of projects it runs without Scrapy where it can.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noiseclean_scrapy.commands.scrapy_command import Command as Command


def __getattr__(name: str) -> Any:
    """The command for Scrapy, imported when Scrapy asks for it."""
    if name != "Command":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.scrapy_command").Command
