"""The console command `noiseclean`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy.commands.base import (
    DEFAULT_SETTINGS,
    HelpFormatter,
    add_setting_option,
    put_in,
    with_log,
)
from noiseclean_scrapy.commands.registry import (
    DESCRIPTION,
    SUBCOMMANDS,
    add_subcommands,
    run_subcommand,
)

if TYPE_CHECKING:
    from scrapy.settings import Settings

_PROG = "noiseclean"
_ALONE = frozenset({"-h", "--help", "--version"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code, see `run_subcommand`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog=_PROG,
        description=DESCRIPTION,
        epilog=f"{_PROG} COMMAND --help tells more.",
        formatter_class=HelpFormatter,
    )
    first = arguments[0] if arguments else ""
    if first.startswith("-") and first not in _ALONE:
        parser.error(f"options stand behind COMMAND, as in {_PROG} sites --database news.db")
    # What other commands import would take longer than most pages.
    names = [first] if first in SUBCOMMANDS else SUBCOMMANDS
    add_subcommands(parser, _PROG, _add_options, names)
    opts = parser.parse_args(arguments)
    if opts.subcommand is None:
        parser.print_help()
        return 2
    return run_subcommand(_PROG, opts, partial(_settings, opts))


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_setting_option(parser)
    parser.add_argument(
        "-L",
        "--loglevel",
        metavar="LEVEL",
        help=f"log level (default the project's, else {DEFAULT_SETTINGS['LOG_LEVEL']})",
    )


def _settings(opts: argparse.Namespace) -> Settings | dict[str, Any]:
    """The settings of the project around, with all of Scrapy's; else those of the options alone."""
    given = dict(opts.set)
    if opts.loglevel:
        given["LOG_LEVEL"] = opts.loglevel
    if not _is_in_project() and "LOG_LEVEL" not in given:
        return given
    from scrapy.utils.project import get_project_settings

    settings = get_project_settings()
    settings.setdict(DEFAULT_SETTINGS, priority="command")
    put_in(settings, given)
    return with_log(settings)


def _is_in_project() -> bool:
    if os.environ.get("SCRAPY_SETTINGS_MODULE"):
        return True
    here = Path.cwd()
    return any((folder / "scrapy.cfg").is_file() for folder in (here, *here.parents))
