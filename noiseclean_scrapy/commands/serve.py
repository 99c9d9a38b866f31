"""`serve`: the workbench, in the browser."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from threading import Thread
from typing import Any

from noiseclean_scrapy.commands.base import (
    Call,
    Subcommand,
    add_database_option,
    database_address,
)
from noiseclean_scrapy.commands.output import tell
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.page.urls import is_port

_PORT = 8765


class Serve(Subcommand):
    name = "serve"
    syntax = "[DATABASE] [options]"
    summary = "Open the workbench: see, search and teach what is stored, in the browser"
    details = (
        "Serves the database on 127.0.0.1, while a crawl writes to it as well, until Ctrl-C. Rules "
        "that are taken there are written into the overrides file, and their sites are cleaned "
        "again. The address that is printed has a token, which everything that changes something "
        "needs. Needs the extra web."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        add_database_option(parser, _OneDatabase)
        parser.add_argument(
            "database_url",
            metavar="DATABASE",
            action=_OneDatabase,
            nargs="?",
            default=argparse.SUPPRESS,
            type=_database,
            help="URL or SQLite file, as with --database",
        )
        parser.add_argument("--port", type=_port, default=_PORT, help=f"default {_PORT}; 0: any")
        parser.add_argument(
            "--host",
            default="127.0.0.1",
            metavar="ADDRESS",
            help="address to listen on (default 127.0.0.1: this machine alone)",
        )
        parser.add_argument(
            "--name",
            action="append",
            default=[],
            help="host name that browsers reach the server by (may be repeated)",
        )
        parser.add_argument(
            "--overrides",
            type=Path,
            metavar="FILE",
            help="where rules are written (default NOISECLEAN_OVERRIDES)",
        )
        parser.add_argument(
            "--metrics",
            action="append",
            default=[],
            metavar="URL",
            help="the metrics of a running crawl, to show it, such as the HOST:PORT of its "
            "NOISECLEAN_METRICS (may be repeated)",
        )
        parser.add_argument("--read-only", action="store_true", help="change nothing")
        parser.add_argument("--no-open", action="store_true", help="do not open the browser")

    def run(self, call: Call) -> bool:
        try:
            from noiseclean_scrapy.web.crawl_watch import CrawlWatch
            from noiseclean_scrapy.web.serving import serve
            from noiseclean_scrapy.web.workbench import Workbench
        except ImportError as error:
            raise ConfigurationError(
                f"the workbench needs {error.name}: pip install 'noiseclean-scrapy[web]'"
            ) from error
        opts = call.opts
        crawls = [CrawlWatch(url) for url in opts.metrics]
        if opts.overrides and not opts.overrides.parent.is_dir():
            folder = opts.overrides.parent
            raise ConfigurationError(f"--overrides {opts.overrides}: there is no folder {folder}")
        with call.open_store() as store:
            bench = Workbench(
                store,
                call.config,
                rules_file=opts.overrides or call.config.overrides.path,
                open_writer=None if opts.read_only else lambda: call.open_store(write=True),
                crawls=crawls,
            )
            bench.settings()

            def on_start(url: str) -> None:
                tell(f"{call.config.display_url} is served until Ctrl-C at {url}")
                if not opts.no_open:
                    # A browser in a terminal is waited for.
                    Thread(target=webbrowser.open, args=(url,), daemon=True).start()

            serve(bench, host=opts.host, port=opts.port, names=opts.name, on_start=on_start)
        return True


class _OneDatabase(argparse.Action):
    """Refuses two different databases, one as DATABASE and one as --database."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        if getattr(namespace, self.dest, None) not in (None, values):
            parser.error("two databases are given: serve takes one")
        setattr(namespace, self.dest, values)


def _database(text: str) -> str:
    # What suppresses a default is converted as if it had been given, and has to stay as it is.
    return text if text is argparse.SUPPRESS else database_address(text)


def _port(text: str) -> int:
    if not is_port(text):
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, not {text!r}")
    return int(text)
