"""Serves the demo newspaper until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import threading

from example_project.demo.server import DemoServer
from example_project.demo.site import DemoSite

PORT = 8000


def main(arguments: list[str]) -> int:
    """Serve at a port of the loopback interface, 0 being any that is free."""
    parser = argparse.ArgumentParser(prog="python -m example_project.demo", description=__doc__)
    parser.add_argument("port", type=int, nargs="?", default=PORT, help=f"default {PORT}; 0: any")
    port = parser.parse_args(arguments).port
    try:
        with DemoServer(DemoSite(), port=port) as server:
            print(f"{len(server.site.pages)} pages at {server.url}/ until Ctrl-C", flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    except (OSError, OverflowError) as error:
        print(f"The newspaper cannot be served at port {port}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
