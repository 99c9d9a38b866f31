"""The compiled twins of the slowest parts; without a compiler the package works without them."""

import sys

import lxml
from setuptools import Extension, setup

# The same sums as numpy's: nothing is contracted or reordered.
FLAGS = [] if sys.platform == "win32" else ["-O3", "-ffp-contract=off"]

setup(
    # An editable installation puts the clone itself on the path, so that the benchmarks, the fuzzer
    # and the example are found as well. (A `package-dir` of "." does too, but loses data files.)
    options={"editable_wheel": {"mode": "compat"}},
    ext_modules=[
        Extension(
            f"noiseclean_scrapy.compiled.{name}",
            [f"noiseclean_scrapy/compiled/{name}.pyx"],
            include_dirs=lxml.get_include(),
            extra_compile_args=FLAGS,
            optional=True,
        )
        for name in ("nodes", "texts", "blocks")
    ],
)
