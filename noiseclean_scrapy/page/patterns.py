"""Regular expressions of the user, searched in addresses that pages choose."""

from __future__ import annotations

import re

import regex  # type: ignore[import-untyped]

from noiseclean_scrapy.page.logs import get_logger

logger = get_logger(__name__)

SECONDS = 0.1
"""After so long a pattern counts as not found: a few letters in an address can cost it years."""
_LETTERS = {"a": re.ASCII, "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


class Pattern:
    """A regular expression, as Python has it; raises `re.error` or TypeError where it is none."""

    def __init__(self, source: str | re.Pattern[str]) -> None:
        compiled = re.compile(source)
        if not isinstance(compiled.pattern, str):
            raise TypeError("it is of bytes, not of str")
        self.pattern = compiled.pattern
        flags = "".join(letter for letter, flag in _LETTERS.items() if compiled.flags & flag)
        try:
            self._compiled = regex.compile(f"(?{flags})" * bool(flags) + self.pattern)
        except regex.error as error:
            raise re.error(str(error)) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"Pattern({self._compiled.pattern!r})"

    def is_found(self, url: str) -> bool:
        """Whether the expression is found in an address within `SECONDS`."""
        try:
            return self._compiled.search(url, timeout=SECONDS) is not None
        except TimeoutError:
            logger.warning("The expression %r takes too long on %s", self.pattern, url[:200])
            return False
