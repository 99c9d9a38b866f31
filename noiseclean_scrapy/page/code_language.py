"""The language that code is written in, as class names say it to scripts that colour it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noiseclean_scrapy.page.page import PageTable

_NAME = r"([a-z][\w+#-]{0,29})(?![\w+#-])"
_COLOURED = (
    "bash|c|cpp|csharp|css|dart|diff|dockerfile|elixir|go|graphql|groovy|haskell|html|http|ini|java|javascript|js"
    "|json|julia|kotlin|lua|makefile|markdown|matlab|nginx|objectivec|perl|php|powershell|protobuf|python|r|ruby"
    "|rust|scala|scss|shell|sql|swift|toml|typescript|ts|vbnet|xml|yaml"
)
_ITSELF = re.compile(
    # HTML's own convention, those of Org and Pandoc, SyntaxHighlighter, Crayon and highlight.js.
    rf"(?:^|\s)(?:(?:lang(?:uage)?-|src\s+src-|sourceCode\s+|brush:\s*|lang:){_NAME}"
    rf"|hljs\s+({_COLOURED})(?!\S)|({_COLOURED})\s+hljs(?!\S))",
    re.IGNORECASE | re.ASCII,
)
_AROUND = re.compile(
    # Of boxes around code those of GitHub, Sphinx, MediaWiki, Rouge, Material and VitePress: others
    # have a language of people.
    rf"\.highlight-source-{_NAME}|\.highlight-{_NAME}\.notranslate"
    rf"|\.mw-highlight-lang-{_NAME}|\.(?:highlighter-rouge|highlight|extra-class)\.language-{_NAME}"
    rf"|\.language-{_NAME}(?=[^\[]*\.(?:vp-|line-numbers-mode))",
    re.IGNORECASE | re.ASCII,
)
CODE_LANGUAGES = ("data-lang", "data-language", "data-enlighter-language")
_VALUE = re.compile(rf"\A{_NAME}\Z", re.IGNORECASE | re.ASCII)
_SAYS_NOTHING = frozenset(
    "auto default none nohighlight plain plaintext sourcecode text txt".split()
)
_BOXES = 2
_LONGEST = 1000


def code_language(classes: str | None, *names: str | None) -> str:
    """The language that the class names of PRE or CODE give, in lower case; empty if none.

    `names` are what their attributes of `CODE_LANGUAGES` say.

    >>> code_language("hljs language-C++"), code_language("src src-sh"), code_language("lang-auto")
    ('c++', 'sh', '')
    """
    found = _named(_ITSELF, classes[:_LONGEST]) if classes else ""
    told = (_named(_VALUE, name) for name in names if name)
    return found or next(filter(None, told), "")


def language_of(table: PageTable, element: int) -> str:
    """The language of the code in an element: PRE's or CODE's own, or that of boxes around PRE."""
    boxes = 0
    while element >= 0 and boxes <= _BOXES:
        found = table.languages.get(element, "")
        # Labels have 0 for each number.
        found = found or _named(_AROUND, table.labels[element]).rstrip("0")
        if found:
            return found
        boxes += bool(boxes) or table.tags[element] == "pre"
        element = table.parents[element]
    return ""


def _named(pattern: re.Pattern[str], classes: str) -> str:
    found = pattern.search(classes)
    name = next(filter(None, found.groups()), "").lower() if found else ""
    return "" if name in _SAYS_NOTHING else name
