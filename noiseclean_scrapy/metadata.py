"""What a page tells of itself: who wrote it, when, in which language, where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from lxml.html import Element

from noiseclean_scrapy.languages import ranking, text_language
from noiseclean_scrapy.page import Html, Page, build_page
from noiseclean_scrapy.page.characters import without_controls
from noiseclean_scrapy.page.contents import Contents
from noiseclean_scrapy.page.days import months
from noiseclean_scrapy.page.facts import language_code, page_facts
from noiseclean_scrapy.page.found_facts import META_NAMES, document_reader
from noiseclean_scrapy.page.linked_data import read_article, read_documents
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.parse import parse_html
from noiseclean_scrapy.page.publication import author_and_date, lines_beside
from noiseclean_scrapy.page.urls import quoted

if TYPE_CHECKING:
    from lxml.etree import _Element

logger = get_logger(__name__)

LIBRARIES_MISSING = (
    "the language of texts, and authors and dates that pages do not mark, need libraries that are "
    "not installed: "
    "pip install 'noiseclean-scrapy[metadata]', or set NOISECLEAN_METADATA = False"
)

_DECLARATIONS = {
    "meta": (META_NAMES, "content"),
    "link": (("rel",), "href"),
}
_IMAGES = (
    *("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"),
    *("image_src", "image"),
)
_LANGUAGE_NAMES = ("lang", "content-language", "og:locale", "dc.language", "language")


@dataclass(frozen=True, slots=True)
class Metadata:
    """Facts about a page; empty (`None` for the date) where the page does not tell.

    `author` is a name or several, with `; ` between them. `published` is aware, by the publisher's
    own clock where the page tells its offset, else in UTC; midnight where it gives a day only.
    `language` is an ISO 639-1 code (639-3 where there is none). `canonical_url` and `image` are
    absolute.
    """

    author: str = ""
    published: datetime | None = None
    language: str = ""
    canonical_url: str = ""
    image: str = ""


def extract_metadata(
    source: Html,
    *,
    url: str,
    text: str = "",
    language: Callable[[str, str], str] = text_language,
    page: Page | None = None,
) -> Metadata:
    """The facts that a page tells of itself.

    `text` is the clean text: of it `language`, which is given what is declared as well, tells the
    language, and beside its beginning day and byline may stand unmarked. `page` is that of
    `source`, where it is at hand. Never raises and never changes `source`. Without the extra
    `metadata` author and date are what JSON-LD, META and the page's own marks say, names of months
    are English ones, and the language is the declared one.

    >>> page = "<html lang=pt><link rel=canonical href=/flood><p>O rio subiu.</p>"
    >>> facts = extract_metadata(page, url="https://news.example.com/flood?page=1")
    >>> facts.language, facts.canonical_url
    ('pt', 'https://news.example.com/flood')
    """
    root = parse_html(source).root
    return read_facts(
        facts_of(root, url),
        url=url,
        text=text,
        language=language,
        lines=lambda: Contents(build_page(root) if page is None else page).lines,
    )


def read_facts(
    facts: _Element,
    *,
    url: str,
    text: str,
    language: Callable[[str, str], str],
    lines: Callable[[], Iterable[str]],
) -> Metadata:
    """What `page_facts` took from a page tells, and the `text`; see `extract_metadata`.

    `lines` gives the lines of the blocks: it is asked where no mark tells of the author or the day,
    or of the site alone, and for no more than stand before the text and at its beginning.
    """
    try:
        declared = _declared(facts)
        article = read_article(read_documents(facts.iter("script")))
        spoken = language(text, _declared_language(declared))
        beside = cache(lambda: lines_beside(text, lines() if text else ()))
        author, published = author_and_date(facts, article, declared, url, spoken, beside)
        own = (declared.get("canonical", ""), declared.get("og:url", ""))
        images = (*(declared.get(name, "") for name in _IMAGES), article.image)
        address = partial(_address, _address(url, declared.get("base", "")) or url)
        return Metadata(
            author=author,
            published=published,
            language=spoken,
            canonical_url=next(filter(None, map(address, own)), ""),
            image=next(filter(None, map(quoted, map(address, images))), ""),
        )
    except Exception as error:  # of its metadata, which cost no page
        logger.error("The metadata of %s could not be read", url, exc_info=error)
        return Metadata()


def facts_of(source: Html, url: str) -> _Element:
    """What `page_facts` takes from a page; nothing where that fails, which costs no page either."""
    try:
        return page_facts(source)
    except Exception as error:
        logger.error("The facts of %s could not be read", url, exc_info=error)
        nothing: _Element = Element("html")
        return nothing


def has_libraries() -> bool:
    """Whether the libraries are installed; they are not loaded."""
    return all(find_spec(name) for name in ("py3langid", "trafilatura"))


@cache
def load_libraries() -> bool:
    """Load libraries and language model now; it takes about a second, which no page should wait.

    Whether they are installed.
    """
    months("en")
    return ranking() is not None and document_reader() is not None


def _declared(facts: _Element) -> dict[str, str]:
    """Values by name: of META by name or property, of LINK by relation, the base, the language.

    An element may have several names, such as `rel="canonical nofollow"`.
    """
    found = {"lang": facts.get("lang", "")}
    for node in facts.iterfind("head/*"):
        names, value = _DECLARATIONS.get(node.tag, ((), ""))
        text = node.get(value, "").strip() if names else ""
        for name in " ".join(node.get(name, "") for name in names).lower().split() if text else ():
            found.setdefault(name, text)
        if node.tag == "base":
            found.setdefault("base", node.get("href", "").strip())
    return {name: value for name, value in found.items() if value}


def _declared_language(declared: Mapping[str, str]) -> str:
    codes = (language_code(declared.get(name, "")) for name in _LANGUAGE_NAMES)
    return next(filter(None, codes), "")


def _address(base: str, link: str) -> str:
    """An absolute web address, empty where `link` gives none."""
    try:
        address = without_controls(urljoin(base, link)) if link else ""
        return address if urlsplit(address).scheme in {"http", "https"} else ""
    except ValueError:
        return ""
