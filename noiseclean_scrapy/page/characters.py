"""Characters that are no text: a page may hold them, its text does not."""

from __future__ import annotations

import re

# All of Unicode's class Cc but white space, which becomes blanks.
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")


def without_controls(text: str) -> str:
    """The text without what steers terminals: escape sequences lose their beginning.

    Marks that direct bidirectional text stay: Arabic and Hebrew are written with them.

    >>> without_controls("Fog\\x1b]0;closes\\x07 the\\x9bport\\n")
    'Fog]0;closes theport\\n'
    """
    return _CONTROLS.sub("", text)
