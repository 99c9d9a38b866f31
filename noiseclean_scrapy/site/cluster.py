"""Page clusters: which pages are learned together."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from tldextract import TLDExtract

# The list that the library ships, never one from the network or from a cache on disk.
_extract = TLDExtract(suffix_list_urls=(), cache_dir=None, fallback_to_snapshot=True)


def host(url: str) -> str:
    """The host of a URL in lower case, without port; empty where there is none.

    >>> host("https://News.example.co.uk:8080/a")
    'news.example.co.uk'
    """
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def registrable_domain(url: str) -> str:
    """The registrable domain of a URL; the host where it has none (IP addresses, local names).

    >>> registrable_domain("https://news.example.co.uk/a")
    'example.co.uk'
    >>> registrable_domain("http://127.0.0.1:8000/")
    '127.0.0.1'
    """
    name = host(url)
    return _extract(name).top_domain_under_public_suffix or name


CLUSTERINGS: dict[str, Callable[[str], str]] = {"domain": registrable_domain, "host": host}
