"""The fuzzers: pages, or what is named first; then libFuzzer's options and folders of inputs.

python -m fuzz.seeds build/fuzz-corpus
python -m fuzz.clean -max_total_time=600 build/fuzz-corpus
python -m fuzz.clean states -max_total_time=600 build/fuzz-states
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["noiseclean_scrapy"]):
    from fuzz.property import check
    from fuzz.stored import CHECKS, seeds


def main() -> None:
    """Fuzz until told to stop; the input that fails is written to a file, as libFuzzer does."""
    logging.disable(logging.CRITICAL)
    target = check
    if len(sys.argv) > 1 and sys.argv[1] in CHECKS:
        name = sys.argv.pop(1)
        target = CHECKS[name]
        for folder in sys.argv[1:]:
            if not folder.startswith("-") and not Path(folder).is_file():
                Path(folder).mkdir(parents=True, exist_ok=True)
                for number, seed in enumerate(seeds(name)):
                    Path(folder, f"{name}-{number}").write_bytes(seed)
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
