"""Addresses: hosts, registrable domains, and which pages are learned together."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, urldefrag, urlsplit

if TYPE_CHECKING:
    from tldextract import TLDExtract

LONGEST_ADDRESS = 2000
"""Characters of the longest address on a page that is one: it is joined with thousands of links."""

LONGEST_HOST = 253
"""Characters of the longest name of a host (RFC 1035): no index of a database has longer ones."""

LONGEST_LABEL = 63
"""Characters of the longest label in one, by the same."""

_HOSTS_KNOWN, _ADDRESSES_KNOWN = 1000, 64
_UNSEEN = str.maketrans("", "", "\t\n\r")  # what counts nowhere in an address
_AUTHORITY = re.compile(r"[\0- ]*(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?[/\\]{2}([^/?#]*)")
HOST_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*\.?")
_SAFE = "!#$&'*+,-./:;=?@_~%"
_DEFAULT_PORTS = {"http": 80, "https": 443}


@lru_cache(_ADDRESSES_KNOWN)
def host(url: str) -> str:
    """The host of a URL in lower case and ASCII, without port; empty where there can be none.

    >>> host("https://News.example.co.uk:8080/a"), host("http://bücher.example/")
    ('news.example.co.uk', 'xn--bcher-kva.example')
    """
    if has_overlong_host(url):
        return ""
    try:
        name = host_name(urlsplit(url).hostname or "")
    except ValueError:
        return ""
    return name if len(name) <= LONGEST_HOST else ""


def host_name(name: str) -> str:
    """A name of a host as Scrapy's addresses have it: in lower case and ASCII.

    >>> host_name("Bücher.example.")
    'xn--bcher-kva.example'
    """
    name = name.lower().rstrip(".")
    return name if name.isascii() or _is_overlong(name) else _ascii_name(name)


def is_port(text: str) -> bool:
    """Whether a text is the number of a port.

    >>> is_port("8080"), is_port("65536")
    (True, False)
    """
    return text.isdecimal() and len(text) <= 5 and int(text) <= 65535


@lru_cache(_HOSTS_KNOWN)
def _ascii_name(name: str) -> str:
    try:
        return name.encode("idna").decode()
    except UnicodeError:  # it is none
        return name


def has_overlong_host(url: str) -> bool:
    """Whether an address, or a link to one, has a host that is none: it is too long, and no ASCII.

    To split or to encode it would take a time that grows with the square of its length.

    >>> has_overlong_host(f"http://{'ä' * 64}.example/"), has_overlong_host(f"/{'ä' * 64}")
    (True, False)
    """
    if url.isascii():
        return False
    found = _AUTHORITY.match(url.translate(_UNSEEN))
    return found is not None and _is_overlong(found[1])


def _is_overlong(name: str) -> bool:
    """Whether a name is longer in ASCII, or one of its labels, than those of hosts may be."""
    if name.isascii() or len(name) > LONGEST_HOST:
        return not name.isascii()
    normal = unicodedata.normalize("NFKC", name)
    if len(normal) > 2 * len(name):  # of signs that stand for whole sentences
        return True
    labels = normal.replace("\u3002", ".").split(".")
    shortest = sum(len("xn--.") + len(label) for label in labels)
    return max(map(len, labels)) > LONGEST_LABEL or shortest > LONGEST_HOST


def quoted(address: str) -> str:
    """An address of ASCII without blanks and brackets; empty where it has lone surrogates.

    >>> quoted("https://fog.example/ä b.jpg?a=1&b=%20")
    'https://fog.example/%C3%A4%20b.jpg?a=1&b=%20'
    """
    try:
        return quote(address, safe=_SAFE)
    except UnicodeEncodeError:
        return ""


def asked_address(url: str) -> str:
    """An address as Scrapy asks for it: in ASCII, without its fragment.

    >>> asked_address("https://example.com/für#top")
    'https://example.com/f%C3%BCr'
    """
    from w3lib.url import safe_url_string  # loads urllib.request, which `clean` does without

    if has_overlong_host(url):
        return url
    try:
        return safe_url_string(urldefrag(url).url)
    except ValueError:
        return url


def spellings(url: str) -> list[str]:
    """The ways in which the page of an address may be stored: as it is given, as it is asked for.

    >>> spellings("https://example.com/#top")
    ['https://example.com/#top', 'https://example.com/']
    """
    return list(dict.fromkeys([url, asked_address(url)]))


def stored_addresses(url: str) -> list[str]:
    """Where the page of an address is looked up: a front page may lack its slash.

    >>> stored_addresses("https://example.com")
    ['https://example.com', 'https://example.com/']
    """
    return [address for one in spellings(url) for address in (one, f"{one}/")]


def is_below(name: str, domain: str) -> bool:
    """Whether a host is a domain, or one of its sub-domains.

    >>> is_below("news.example.com", "example.com"), is_below("myexample.com", "example.com")
    (True, False)
    """
    return f".{name}".endswith(f".{domain}")


def registrable_domain(name: str) -> str:
    """The registrable domain of a host name; empty where it has none.

    >>> registrable_domain("a.b.github.io"), registrable_domain("github.io")
    ('b.github.io', '')
    """
    return _extractor()(name).top_domain_under_public_suffix


def site_name(url: str) -> str:
    """The site of a URL: its registrable domain, else its host and port.

    Tenants of a shared host are sites of their own. Where there is no registrable domain (an IP
    address, localhost, a bare name), every port is a site; a scheme's own port is left out.

    >>> site_name("https://news.example.co.uk:8080/a")
    'example.co.uk'
    >>> site_name("https://alice.github.io/a")
    'alice.github.io'
    >>> site_name("http://127.0.0.1:8000/"), site_name("http://127.0.0.1:80/")
    ('127.0.0.1:8000', '127.0.0.1')
    """
    return registrable_domain(host(url)) or _with_port(url)


def site_host(url: str) -> str:
    """The host of a URL, with the port where `site_name` has one.

    >>> site_host("https://news.example.co.uk:8080/a"), site_host("http://localhost:8080/a")
    ('news.example.co.uk', 'localhost:8080')
    """
    name = host(url)
    return name if registrable_domain(name) else _with_port(url)


def item_address(value: object) -> str:
    """The address that an item's field holds: itself, or alone in a list as ItemLoader gives it.

    >>> item_address("http://a.example/"), item_address(["http://a.example/"]), item_address(None)
    ('http://a.example/', 'http://a.example/', '')
    """
    if isinstance(value, (list, tuple)) and len(value) == 1:
        [value] = value
    return "" if value is None else str(value)


def _with_port(url: str) -> str:
    name = host(url)
    try:
        parts = urlsplit(url)
        if parts.scheme == "file":
            return name or "localhost"  # which is what a file's empty host means (RFC 8089)
        port = parts.port
    except ValueError:
        return name
    if port is None or port == _DEFAULT_PORTS.get(parts.scheme):
        return name
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


@cache
def _extractor() -> TLDExtract:
    """Knows the list that the library ships, never one from the network or from a cache on disk.

    Its private part names the domains below which strangers have sites, such as github.io.
    """
    from tldextract import TLDExtract

    return TLDExtract(
        suffix_list_urls=(),
        cache_dir=None,
        fallback_to_snapshot=True,
        include_psl_private_domains=True,
    )


CLUSTERINGS: dict[str, Callable[[str], str]] = {"domain": site_name, "host": site_host}
