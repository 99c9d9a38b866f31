"""What a topic is: words, texts, or example pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from noiseclean_scrapy.clean_page import clean_page
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.methods import create_method
from noiseclean_scrapy.page import Html, build_page
from noiseclean_scrapy.page.characters import shortened
from noiseclean_scrapy.page.words import words

_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_PAGE_FILE = re.compile(r".*\.x?html?", re.IGNORECASE)
_LONGEST_SHOWN = 200  # characters of a wrong value


@dataclass(frozen=True, slots=True)
class Example:
    """A text of the topic; `language` is that of the page it comes from, empty if unknown."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Topic:
    """Texts of a topic, and addresses of example pages that are still to be fetched."""

    examples: tuple[Example, ...]
    addresses: tuple[str, ...] = ()

    @classmethod
    def read(cls, value: Any) -> Topic:
        """A topic from a setting; raises ConfigurationError that says what is wrong.

        One entry or a list of them. An entry is the address of a page (`https://...`), an HTML file
        (a path, or a string that ends in `.html`, or a `file:` address), else words or a text.
        """
        entries = [value] if isinstance(value, (str, PathLike)) else value
        if not isinstance(entries, (list, tuple, set, frozenset)):
            raise _error(value, "words, a text, or pages: a string, a path, or a list of them")
        examples: list[Example] = []
        addresses: list[str] = []
        for entry in entries:
            if isinstance(entry, str) and _ADDRESS.fullmatch(entry.strip()):
                addresses.append(entry.strip())
            else:
                examples.append(_example(entry))
        if not examples and not addresses:
            raise _error(value, "words, a text, or pages")
        return cls(tuple(examples), tuple(addresses))


def page_example(html: Html, *, url: str = "") -> Example:
    """The clean text of an example page, as the page alone shows it."""
    page = build_page(html, url=url)
    return Example(clean_page(create_method("evidence").model(), page).text, page.language)


def _example(entry: Any) -> Example:
    if isinstance(entry, PathLike):
        return _file_example(Path(fspath(entry)))
    if not isinstance(entry, str):
        raise _error(entry, "made of strings and paths")
    text = entry.strip()
    if text.lower().startswith("file:"):
        from urllib.request import url2pathname

        return _file_example(Path(url2pathname(urlsplit(text).path)))
    if _PAGE_FILE.fullmatch(text) and "\n" not in text:
        return _file_example(Path(text))
    return Example(_with_words(text, entry))


def _file_example(path: Path) -> Example:
    try:
        html = path.read_bytes()
    except (OSError, ValueError) as error:
        raise _error(str(path), f"pages that can be read ({error})") from None
    example = page_example(html)
    return Example(_with_words(example.text, str(path)), example.language)


def _with_words(text: str, entry: Any) -> str:
    if not any(word != "0" for word in words(text)):
        raise _error(entry, "made of words, or of pages with text")
    return text


def _error(value: Any, expected: str) -> ConfigurationError:
    shown = shortened(repr(value), _LONGEST_SHOWN)
    return ConfigurationError(f"NOISECLEAN_TOPIC must be {expected}, not {shown}")
