"""The console command: as `noiseclean`, and as `python -m noiseclean_scrapy`."""

import sys


def main() -> int:
    """Run the console command; its exit code, 130 after Ctrl-C."""
    try:
        # Takes most of a second, within which Ctrl-C would show a traceback.
        from noiseclean_scrapy.commands import console

        return console.main()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
