"""HTML of pages in an object store, by fsspec: rows then hold the name of an object instead."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine

from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.service_urls import shown_url
from noiseclean_scrapy.store.compression import compress, decompress
from noiseclean_scrapy.store.records import PageRecord

if TYPE_CHECKING:
    from typing_extensions import Self

_OBJECTS = "noiseclean_html_objects"
_LONGEST_FOLDER = 100
_NAME = re.compile(rb"site=[A-Za-z0-9_.~%%-]{0,%d}/[0-9a-f]{32}\.zst" % _LONGEST_FOLDER)


class ObjectName(str):
    """The name of the object that holds a page's HTML, where the HTML would stand."""

    __slots__ = ()

    @classmethod
    def read(cls, name: bytes) -> Self:
        """A name as it is stored; raises ValueError for any that is none of ours."""
        if not _NAME.fullmatch(name):
            raise ValueError("it names no object that holds HTML")
        return cls(name.decode())


class HtmlObjects:
    """The objects below one URL, each a page's HTML, compressed as in rows.

    An object's name is made of its site, its page and its content, so that writing it twice, by
    whomever, changes nothing. Objects are never deleted. Methods raise StoreError when the object
    store refuses or does not answer; so does the constructor where fsspec cannot use it.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        with self._refusals():
            from fsspec.core import url_to_fs

            files, root = url_to_fs(url)
        self._files: Any = files
        self._root: str = root.rstrip("/")

    def check(self) -> None:
        """Raise StoreError where the bucket, or the folder of a file system, is not there."""
        with self._refusals():
            top = self._root.split("/")[0] if self._files.async_impl else self._root
            if not self._files.exists(top):
                raise FileNotFoundError(f"there is no {top}, or it does not answer")

    def put(self, pages: Sequence[PageRecord]) -> list[PageRecord]:
        """The pages, with the names of objects in the place of their HTML once all are written."""
        named, objects = [], {}
        for page in pages:
            if page.html is not None:
                name = _name(page, page.html)
                objects[self._path(name)] = compress(page.html)
                page = replace(page, html=name)
            named.append(page)
        with self._refusals():
            if self._files.async_impl:
                self._files.pipe(objects)
            else:
                for path, data in objects.items():
                    self._put_file(path, data)
        return named

    def get(self, names: Sequence[ObjectName]) -> Iterator[str | ValueError]:
        """The HTML of each; of an object that is missing or damaged a ValueError that says so.

        It is unpacked when it is asked for.
        """
        if not names:
            return
        with self._refusals():
            found = self._files.cat([self._path(name) for name in names], on_error="return")
            for name in names:
                yield self._read(name, found[self._path(name)])

    def _read(self, name: str, data: object) -> str | ValueError:
        if isinstance(data, FileNotFoundError):
            self._files.invalidate_cache()
            folder = name.partition("/")[0]
            if not self._files.exists(self._path(folder)):
                # Of a wrong address all would be missing, and their names forgotten.
                raise FileNotFoundError(
                    f"nothing of {folder} is there: NOISECLEAN_HTML_STORE names another place, or "
                    f"`noiseclean forget` is to forget that site"
                )
            return ValueError(f"its object {name} is missing")
        if isinstance(data, Exception):
            raise data
        try:
            return decompress(data)  # type: ignore[arg-type]
        except ValueError as error:
            return ValueError(f"its object {name} is damaged: {error}")

    def _put_file(self, path: str, data: bytes) -> None:
        """Write a file under another name first: unlike an object it may end up half written."""
        part = f"{path}.{token_hex(4)}.part"
        with suppress(FileExistsError):
            self._files.mkdir(self._files._parent(path), create_parents=False)
        try:
            self._files.pipe_file(part, data)
            self._files.mv(part, path)
        except OSError:
            if self._files.exists(part):
                self._files.rm(part)
            raise

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # each kind of object store has errors of its own
            reason = str(error) or type(error).__name__
            raise StoreError(f"the object store {shown_url(self.url)} refused: {reason}") from error


def with_objects(engine: Engine, objects: HtmlObjects | None) -> Engine:
    """The same engine, its connections knowing the object store."""
    return engine.execution_options(**{_OBJECTS: objects})


def read_objects(connection: Connection, names: Sequence[ObjectName]) -> Iterator[str | ValueError]:
    """What `HtmlObjects.get` gives; raises StoreError as well where no object store is known."""
    objects: HtmlObjects | None = connection.get_execution_options().get(_OBJECTS)
    if objects is None:
        raise StoreError(
            "the HTML of stored pages is in an object store: NOISECLEAN_HTML_STORE is to say where"
        )
    return objects.get(names)


def _name(page: PageRecord, html: str) -> ObjectName:
    # With "=" no name of a site is "." or "..".
    folder = f"site={quote(page.cluster, safe='', errors='replace')[:_LONGEST_FOLDER]}"
    digest = hashlib.blake2b(digest_size=16)
    for part in (page.key, html):
        digest.update(hashlib.blake2b(part.encode("utf-8", "surrogatepass")).digest())
    return ObjectName(f"{folder}/{digest.hexdigest()}.zst")
