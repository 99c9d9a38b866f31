"""URLs of services and archives: read with a reason where that fails, shown without secrets."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from sqlalchemy import URL

_PASSWORD = re.compile(r"([^:/@]*):(?!//).*@", re.DOTALL)
_PARAMETER = re.compile(r"([?&;])([^=&;#]*)=([^&;#]*)")
_SECRET = re.compile(r"pass|pwd|secret|token|key|auth|credential|signature|odbc", re.IGNORECASE)

MASK = "***"
"""What stands for a secret."""
_WILDCARD = re.compile(r"[*?[]")


def shown_url(url: str) -> str:
    """A URL, or what should be one, as a message may show it: what is secret in it is masked.

    >>> shown_url("postgresql://anna:secret@db.example/pages?sslpassword=secret&sslmode=require")
    'postgresql://anna:***@db.example/pages?sslpassword=***&sslmode=require'
    >>> shown_url("sqlite:///f%C3%B6g.db")
    'sqlite:///fög.db'
    """
    if url.startswith("sqlite:///") and "?" not in url:
        return unquote(url)
    return _PARAMETER.sub(_masked, _PASSWORD.sub(rf"\1:{MASK}@", url))


def _masked(parameter: re.Match[str]) -> str:
    before, name, value = parameter.groups()
    return f"{before}{name}={MASK if _SECRET.search(unquote(name)) else value}"


def host_in_url(host: str) -> str:
    """A host as it stands in a URL: addresses of IPv6 in brackets.

    >>> host_in_url("::1"), host_in_url("news.example")
    ('[::1]', 'news.example')
    """
    return f"[{host}]" if ":" in host else host


def database_url(text: str | URL) -> URL:
    """A database URL in its parts; raises ValueError that says what is wrong, and repeats nothing.

    >>> database_url("postgresql://anna@db.example:number/pages")
    Traceback (most recent call last):
    ValueError: its port is no number
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text)
    except (ArgumentError, TypeError):
        raise ValueError("it is no URL") from None
    except ValueError:
        raise ValueError("its port is no number") from None
    if isinstance(text, str) and url.database and _leaves_names():
        url = url.set(database=unquote(url.database))
    if url.host and url.get_backend_name() == "sqlite":
        raise ValueError("a path has three slashes before it, sqlite:///noiseclean.db")
    # One before a slash would end the password, whose rest would be shown.
    if url.get_backend_name() != "sqlite" and str(text).partition("?")[0].count("@") > 1:
        raise ValueError("an @ in a name or a password is written %40")
    return url


def database_text(url: URL) -> str:
    """A database URL as one text, with its password, as `database_url` reads it."""
    if url.database and _leaves_names():
        url = url.set(database=quote(url.database, safe=" +/"))
    return url.render_as_string(hide_password=False)


def sqlite_url(path: str | Path) -> str:
    """The URL of an SQLite file.

    >>> sqlite_url("a?b.db")
    'sqlite:///a%3Fb.db'
    """
    from sqlalchemy import URL

    return database_text(URL.create("sqlite", database=str(path)))


@cache
def _leaves_names() -> bool:
    """Whether the name of a database is read and written as it is, as SQLAlchemy 2.0 does."""
    from sqlalchemy import make_url

    return make_url("sqlite:///%20").database == "%20"


def object_store_url(url: str) -> str:
    """The URL of a folder in an object store; raises ValueError that says what is wrong.

    >>> object_store_url("s3://bucket/*")
    Traceback (most recent call last):
    ValueError: fsspec would take * ? [ for wildcards
    """
    if not isinstance(url, str) or "://" not in url:
        raise ValueError("it is no URL")
    if _WILDCARD.search(url):
        raise ValueError("fsspec would take * ? [ for wildcards")
    try:
        from fsspec import get_filesystem_class

        get_filesystem_class(url.partition("://")[0])
    except ImportError as error:
        extra = "pip install 'noiseclean-scrapy[object-store]'"
        raise ValueError(f"{error}; {extra}, and for s3:// s3fs") from None
    return url
