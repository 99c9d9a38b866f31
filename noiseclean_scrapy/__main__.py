"""`python -m noiseclean_scrapy`: the console command `noiseclean`."""

import sys

from noiseclean_scrapy.commands.console import main

if __name__ == "__main__":
    sys.exit(main())
