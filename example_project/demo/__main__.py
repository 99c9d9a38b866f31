"""Serves the demo newspaper until Ctrl-C: python -m example_project.demo [PORT]"""

from __future__ import annotations

import sys
import threading

from example_project.demo.server import DemoServer
from example_project.demo.site import DemoSite

PORT = 8000


def main(arguments: list[str]) -> int:
    """Serve at a port of the loopback interface, 0 being any that is free."""
    port = arguments[0] if arguments else PORT
    try:
        with DemoServer(DemoSite(), port=int(port)) as server:
            print(f"{len(server.site.pages)} pages at {server.url}/ until Ctrl-C", flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    except (OSError, OverflowError, ValueError) as error:
        print(f"The newspaper cannot be served at port {port}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
