"""All subcommands: how a parser gets them, and how one is run."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy import __version__
from noiseclean_scrapy.commands.base import Call, Subcommand
from noiseclean_scrapy.commands.output import tell
from noiseclean_scrapy.errors import ConfigurationError, NoiseCleanError, QueryError

if TYPE_CHECKING:
    from scrapy.settings import Settings

SUMMARY = "Clean pages; search, explain, export what crawls have stored"
DESCRIPTION = (
    f"{SUMMARY}. Inside a project the settings say which database is meant; --database names "
    "another one."
)
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
SUBCOMMANDS = {
    "clean": "clean:Clean",
    "crawl": "crawling:Crawl",
    "replay": "crawling:Replay",
    "search": "search:Search",
    "index": "index:Index",
    "sites": "sites:Sites",
    "show": "show:Show",
    "explain": "explain:Explain",
    "inspect": "inspect:Inspect",
    "serve": "serve:Serve",
    "reclean": "reclean:Reclean",
    "refresh": "refresh:Refresh",
    "export": "export:Export",
    "export-tree": "trees:ExportTree",
    "import-tree": "trees:ImportTree",
    "partition": "partition:Partition",
    "check": "check:Check",
    "forget": "forget:Forget",
}
"""The subcommands in the order in which help lists them: module and class."""


class _Parser(argparse.ArgumentParser):
    """The parser of a subcommand, which may `prepare` its arguments."""

    prepare: Callable[[Sequence[str]], Sequence[str]]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, unknown = super().parse_known_args(self.prepare(args), namespace)
        if unknown:
            self.error(self._refusal(unknown))
        return found, unknown

    def _refusal(self, unknown: Sequence[str]) -> str:
        option = unknown[0].partition("=")[0]
        if not option.startswith("-"):
            return f"nothing more is expected here: {' '.join(unknown)}"
        return (
            f"there is no option {option}: {_hint(option, self._option_string_actions, self.prog)}"
        )


class _Commands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The subcommands; of a wrong one it tells the nearest."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        name = values[0]
        if name not in SUBCOMMANDS:
            parser.error(
                f"there is no command {name!r}: {_hint(name, SUBCOMMANDS, self._prog_prefix)}"
            )
        super().__call__(parser, namespace, values, option_string)


def _hint(word: str, known: Iterable[str], prog: str) -> str:
    from difflib import get_close_matches  # is needed here alone

    near = get_close_matches(word, list(known), 1)
    return f"did you mean {near[0]}?" if near else f"{prog} --help lists all"


def add_subcommands(
    parser: argparse.ArgumentParser,
    prog: str,
    add_common: Callable[[argparse.ArgumentParser], object],
    names: Iterable[str] = SUBCOMMANDS,
) -> None:
    """Give a parser `--version` and the subcommands.

    `add_common` adds the options that all of them have.
    """
    parser.add_argument("--version", action="version", version=f"noiseclean {__version__}")
    parser.set_defaults(subcommand=None)
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", prog=prog, parser_class=_Parser, action=_Commands
    )
    subparsers.choices = None  # type: ignore[assignment]  # of a wrong one argparse would tell all
    for subcommand in map(_load, names):
        below = subparsers.add_parser(
            subcommand.name,
            help=subcommand.summary,
            description=subcommand.details or f"{subcommand.summary}.",
            usage=f"{prog} {subcommand.name} {subcommand.syntax}",
            formatter_class=parser.formatter_class,
            conflict_handler="resolve",
        )
        add_common(below)
        subcommand.add_options(below)
        below.prepare = subcommand.prepare
        below.set_defaults(subcommand=subcommand, parser=below)


def run_subcommand(
    prog: str, opts: argparse.Namespace, settings: Callable[[], Settings | dict[str, Any]]
) -> int:
    """Run the subcommand of the options, tell in one sentence what goes wrong; the exit code.

    `settings` gives the settings, or raises an error of this package as well.

    0 when it did what was asked, 1 when nothing was found or something is wrong with the data, 2
    when the command line or a setting is wrong.
    """
    if sys.stdout is None:  # it was closed by who has started this; see `need_stdout`
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:  # what is told would go among the results
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        done = opts.subcommand.run(Call.of(opts, settings()))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe has seen enough; Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (NoiseCleanError, OSError) as error:
        logging.getLogger(__name__).debug("", exc_info=error)
        tell(f"{prog} {opts.subcommand.name}: {error}")
        return 2 if isinstance(error, (ConfigurationError, QueryError)) else 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    return 0 if done else 1


def _load(name: str) -> Subcommand:
    module, _, class_name = SUBCOMMANDS[name].partition(":")
    found: Subcommand = getattr(import_module(f"{__package__}.{module}"), class_name)()
    return found
