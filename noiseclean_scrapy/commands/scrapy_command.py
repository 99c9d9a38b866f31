"""`scrapy noiseclean`: the commands as Scrapy runs them, with its options."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from noiseclean_scrapy.commands.base import DEFAULT_SETTINGS, with_log
from noiseclean_scrapy.commands.registry import (
    DESCRIPTION,
    SUMMARY,
    add_subcommands,
    run_subcommand,
)

if TYPE_CHECKING:
    import argparse

_PROG = "scrapy noiseclean"


class Command(ScrapyCommand):
    """The entry point of Scrapy."""

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = DEFAULT_SETTINGS

    def syntax(self) -> str:
        return "COMMAND [options]"

    def short_desc(self) -> str:
        return SUMMARY

    def long_desc(self) -> str:
        return f"{DESCRIPTION} `{_PROG} COMMAND --help` tells more."

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        add_subcommands(parser, _PROG, super().add_options)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.subcommand is None:
            raise UsageError
        if args:
            opts.parser.error(f"unrecognized arguments: {' '.join(args)}")
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        self.exitcode = run_subcommand(_PROG, opts, partial(with_log, self.settings))
