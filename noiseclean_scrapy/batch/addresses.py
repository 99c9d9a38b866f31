"""Addresses of archived pages: every site of an archive under a registrable domain of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

from noiseclean_scrapy.page.urls import (
    LONGEST_ADDRESS,
    LONGEST_HOST,
    LONGEST_LABEL,
    has_overlong_host,
    is_below,
    registrable_domain,
    site_name,
)

_PRIVATE = frozenset(
    "corp home internal intranet lan local localdomain localdomain6 localhost svc test".split()
)
_TRANSLATED = tuple(
    map(IPv6Network, ("::/96", "::ffff:0:0/96", "64:ff9b::/32", "2001::/32", "2002::/16"))
)
"""Numbers of IPv6 that stand for numbers of IPv4, of whatever net."""
_PLAIN = re.compile(r"https?://[\w.-]+(?::\d+)?(?:[/?#]|$)", re.ASCII)
"""The beginning of addresses of ASCII that need no closer look."""


@dataclass(frozen=True, slots=True)
class SiteAddress:
    """Where the pages of one site live: under its real host, or under a made-up one."""

    site: str
    host: str
    is_real: bool

    def page_url(self, page_id: str, url: str | None) -> str:
        """`url` where it is one of a real site's own, else a made-up one from the page's id."""
        if self.is_real and url is not None and _own_site(self.site, url):
            return url
        return made_up_url(self.host, quote(page_id, safe="", errors="replace"))


def site_addresses(pages: Iterable[tuple[str, str | None]]) -> dict[str, SiteAddress]:
    """The address of each site, from (site, URL or None) of all pages.

    A site keeps its real URLs when a crawl would take all of them for one site (`site_name`) and no
    other site of the archive has such; every other site gets ``SLUG.invalid`` (RFC 2606).
    """
    own: dict[str, set[str]] = {}
    for site, url in pages:
        own.setdefault(site, set()).update(filter(None, [_own_site(site, url)]))
    names = {site: next(iter(found)) for site, found in own.items() if len(found) == 1}
    claims = Counter(names.values())
    labels = _Labels()
    return {
        site: SiteAddress(site, site.lower(), True)
        if site in names and claims[names[site]] == 1
        else SiteAddress(site, f"{labels.take(site)}.invalid", False)
        for site in sorted(own)
    }


def _own_site(site: str, url: str | None) -> str:
    """What a crawl calls the site of `url`, if its host is `site` or lies under it; else empty.

    >>> _own_site("news.bbc.co.uk", "http://news.bbc.co.uk/"), _own_site("co.uk", "http://a.co.uk/")
    ('bbc.co.uk', '')
    >>> _own_site("localhost", "http://localhost:81/"), _own_site("forbes-2005", "http://forbes.com/")
    ('localhost:81', '')
    """
    host = web_host(url)
    if not url or not host:
        return ""
    site, name = site.lower(), site_name(url)
    if domain := registrable_domain(host):
        is_own = is_below(host, site) and registrable_domain(site) == domain
    else:
        is_own = site in {host, name}
    return name if is_own else ""


def web_host(url: str | None) -> str:
    """The host of an http or https URL that Scrapy would ask for, else an empty string.

    >>> web_host("https://example.org/a"), web_host("urn:x"), web_host("http://=][::1?.")
    ('example.org', '', '')
    """
    if not url or has_overlong_host(url):
        return ""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  (read for its ValueError)
        # Its name in ASCII is not asked for: there may be tens of thousands of addresses.
        name = parts.hostname or ""
        is_web = parts.scheme in ("http", "https") and 0 < len(name.rstrip(".")) <= LONGEST_HOST
        if is_web and not (url.isascii() and _PLAIN.match(url)):
            from w3lib.url import safe_url_string  # loads urllib.request

            safe_url_string(url)  # as Scrapy does: it may refuse what can be split
    except ValueError:
        return ""
    return name if is_web else ""


def is_web_address(text: str) -> bool:
    """Whether the text is one complete http or https address."""
    return bool(web_host(text)) and not any(map(str.isspace, text))


def address_hint(text: str) -> str:
    """What to say beside an error where somebody may have meant a web address by a text.

    >>> address_hint("example.com/news")
    '; if it is an address, give https://example.com/news'
    >>> address_hint("127.0.0.1:8000/"), address_hint("pages.html")
    ('; if it is an address, give http://127.0.0.1:8000/', '')
    """
    if "://" in text:
        return "; an address begins with http:// or https://"
    name = text.partition("/")[0].partition(":")[0]
    if name == "localhost" or _number(name):
        return f"; if it is an address, give http://{text}"
    is_host = registrable_domain(name) != "" and not text.endswith(".zip")
    return f"; if it is an address, give https://{text}" if is_host else ""


def _number(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_public(host: str) -> bool:
    """Whether a host may be one of the public net, by its name or its number alone.

    >>> is_public("example.com"), is_public("93.184.215.14"), is_public("169.254.169.254")
    (True, True, False)
    >>> is_public("localhost"), is_public("printer.local"), is_public("127.1"), is_public("::1")
    (False, False, False, False)
    >>> is_public("2606:2800:220:1::c"), is_public("64:ff9b::7f00:1"), is_public("127.0.0.⑩")
    (True, False, False)
    """
    number = _number(host)
    if number is not None:
        return number.is_global and not any(number in net for net in _TRANSLATED)
    name = host.lower().rstrip(".")
    before, _, last = name.rpartition(".")
    if before == "" or last in _PRIVATE or is_below(name, "home.arpa"):
        return False
    # A name that ends with a number is one of the other ways to write a number. Others than of
    # ASCII become one when they are asked for.
    return host.isascii() and not last[:1].isdigit()


def joined(base: str, url: str) -> str:
    """The web address that `url` is on the page at `base`, else an empty string.

    >>> joined("https://example.org/a", "/b"), joined("https://example.org/a", "http://[")
    ('https://example.org/b', '')
    """
    if len(url) > LONGEST_ADDRESS or has_overlong_host(url):
        return ""
    try:
        url = urljoin(base, url)
    except ValueError:
        return ""
    return url if is_web_address(url) else ""


def made_up_host(name: str) -> str:
    """The host of what is called `name`, which is none of the net (RFC 2606).

    >>> made_up_host("Blogs.warc.gz")
    'blogs-warc-gz.invalid'
    """
    return f"{slug(name)}.invalid"


def made_up_url(host: str, path: str) -> str:
    """The URL of an already quoted, relative path."""
    return f"http://{host}/{path}"


def slug(name: str) -> str:
    """`name` as one label of a host name; where letters are lost, no other name has it.

    >>> slug("forbes-2005"), slug("Blogs_WSJ.com"), slug("bücher")
    ('forbes-2005', 'blogs-wsj-com', 'b-cher-958ec9bf53')
    """
    label = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    has_others = any(letter.isalnum() and not letter.isascii() for letter in name)
    if not label or len(label) > LONGEST_LABEL or has_others:
        return _with_digest(label or "site", name)
    return label


@dataclass(slots=True)
class _Labels:
    """Gives every name a label that no other name has."""

    taken: set[str] = field(default_factory=set)

    def take(self, name: str) -> str:
        label, text = slug(name), name
        while label in self.taken:
            label, text = _with_digest(slug(name), text), f"{text}+"
        self.taken.add(label)
        return label


@dataclass(slots=True)
class FolderHosts:
    """The made-up host of each folder, and of each archive in it, which no other one has."""

    _hosts: dict[tuple[Path, str], str] = field(default_factory=dict)
    _labels: _Labels = field(default_factory=_Labels)

    def __getitem__(self, folder: Path) -> str:
        return self.of(folder.resolve(), folder.name)

    def of(self, path: Path, name: str) -> str:
        """The host of what is called `name` at a resolved path."""
        key = path, name
        if key not in self._hosts:
            self._hosts[key] = f"{self._labels.take(name)}.invalid"
        return self._hosts[key]


def _with_digest(label: str, text: str) -> str:
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{label[: LONGEST_LABEL - 11].rstrip('-')}-{digest}"
