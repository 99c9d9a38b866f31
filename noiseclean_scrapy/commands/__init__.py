"""`scrapy noiseclean`: clean pages without a project, look at and look after what crawls stored."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.utils.log import configure_logging, get_scrapy_root_handler

from noiseclean_scrapy.errors import ConfigurationError, NoiseCleanError

if TYPE_CHECKING:
    import argparse

    from noiseclean_scrapy.commands.base import Subcommand

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class Command(ScrapyCommand):
    """The entry point; finds the subcommand and turns what goes wrong into one sentence.

    Exit codes: 0 when it did what was asked, 1 when nothing was found or something is wrong with
    the data, 2 when the command line or a setting is wrong.
    """

    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING"}

    def syntax(self) -> str:
        return "COMMAND [options]"

    def short_desc(self) -> str:
        return "Clean pages; search, explain, export what crawls have stored"

    def long_desc(self) -> str:
        return (
            f"{self.short_desc()}. Inside a project the settings say which database is meant; "
            "--database names another one. `scrapy noiseclean COMMAND --help` tells more."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.set_defaults(subcommand=None)
        subparsers = parser.add_subparsers(
            title="commands", metavar="COMMAND", prog="scrapy noiseclean"
        )
        for subcommand in _subcommands():
            below = subparsers.add_parser(
                subcommand.name,
                help=subcommand.summary,
                description=subcommand.details or f"{subcommand.summary}.",
                usage=f"scrapy noiseclean {subcommand.name} {subcommand.syntax}",
                formatter_class=parser.formatter_class,
                conflict_handler="resolve",
            )
            super().add_options(below)
            subcommand.add_options(below)
            below.set_defaults(subcommand=subcommand, parser=below)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.subcommand is None:
            raise UsageError
        if args:
            opts.parser.error(f"unrecognized arguments: {' '.join(args)}")
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from noiseclean_scrapy.commands.base import Call

        assert self.settings is not None
        configure_logging(self.settings)
        _keep_log_inert()
        try:
            done = opts.subcommand.run(Call.of(opts, self.settings))
            sys.stdout.flush()
            self.exitcode = 0 if done else 1
        except BrokenPipeError:
            # The reader of the pipe has seen enough; Python would complain when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except NoiseCleanError as error:
            from noiseclean_scrapy.commands.output import tell

            logging.getLogger(__name__).debug("", exc_info=error)
            tell(f"scrapy noiseclean {opts.subcommand.name}: {error}")
            self.exitcode = 2 if isinstance(error, ConfigurationError) else 1
        except KeyboardInterrupt:
            print("Interrupted.", file=sys.stderr)
            self.exitcode = INTERRUPTED


def _keep_log_inert() -> None:
    """Let nothing in a line of the log, such as the name of an archive's page, steer a terminal."""
    from noiseclean_scrapy.terminal import inert

    handler = get_scrapy_root_handler()
    if handler is not None:
        formatter = handler.formatter or logging.Formatter()
        handler.format = lambda record: inert(formatter.format(record))  # type: ignore[method-assign]


def _subcommands() -> list[Subcommand]:
    # Every command of Scrapy loads this file; only ours need the rest.
    from noiseclean_scrapy.commands import (
        clean,
        explain,
        export,
        forget,
        inspect,
        reclean,
        search,
        show,
        sites,
        trees,
    )

    return [
        clean.Clean(),
        search.Search(),
        sites.Sites(),
        show.Show(),
        explain.Explain(),
        inspect.Inspect(),
        reclean.Reclean(),
        export.Export(),
        trees.ExportTree(),
        trees.ImportTree(),
        forget.Forget(),
    ]
