"""The fuzzer: libFuzzer's options, then folders of inputs.

python -m fuzz.seeds build/fuzz-corpus
python -m fuzz.clean -max_total_time=600 build/fuzz-corpus
"""

from __future__ import annotations

import logging
import sys

import atheris

with atheris.instrument_imports(include=["noiseclean_scrapy"]):
    from fuzz.property import check


def main() -> None:
    """Fuzz until told to stop; the input that fails is written to a file, as libFuzzer does."""
    logging.disable(logging.CRITICAL)
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
