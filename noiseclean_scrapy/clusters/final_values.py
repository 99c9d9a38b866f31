"""The values of items as the database has them in the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from noiseclean_scrapy.clusters.maintenance import StoredModel, load_stored_model
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import DamagedError, TreeDataError
from noiseclean_scrapy.page import build_page
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.markup import is_written
from noiseclean_scrapy.page.urls import stored_addresses
from noiseclean_scrapy.page.words import words
from noiseclean_scrapy.store import PageRecord, Store
from noiseclean_scrapy.store.records import EARLIER_BODY

FINAL_VALUES = ("title", "text", "html", "markdown", "tree_version")
"""Values of items that change with the cluster's tree, and that a feed can be given again."""
_MADE_AGAIN = frozenset({"html", "markdown"})

logger = get_logger(__name__)


class FinalValues:
    """Looks up what is stored of a page; each cluster's newest tree is read once."""

    def __init__(self, store: Store, config: Config) -> None:
        self.store = store
        self.config = config
        self._models: dict[str, StoredModel | None] = {}

    @property
    def has_unreadable_trees(self) -> bool:
        """Whether a tree was asked for that cannot be read; each is warned about."""
        return None in self._models.values()

    def record(self, key: str) -> PageRecord | None:
        """The page of a key, where it has a text and can be read."""
        return self._with_text(self.store.pages.find, key)

    def record_at(self, url: str) -> PageRecord | None:
        """The page last fetched from an address, where it has a text and can be read."""
        find = self.store.pages.find_url
        found = (self._with_text(find, address) for address in stored_addresses(url))
        return next(filter(None, found), None)

    def _with_text(self, find: Callable[[str], PageRecord | None], name: str) -> PageRecord | None:
        try:
            record = find(name)
        except DamagedError:
            return None
        return record if record is not None and record.cleaned is not None else None

    def changes(
        self, record: PageRecord, item: Mapping[str, Any], fields: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """What changes in an item whose values may be ours; `fields` are sources by their names.

        A value may be ours if an earlier tree could have given it: all of it is on the page.
        Nothing changes in an item that says that it has them from a later tree.
        """
        assert record.cleaned
        texts = {" ".join(block.text.split()) for block in record.cleaned.blocks}
        ours = {
            name: source
            for name, source in fields.items()
            if source in FINAL_VALUES and name in item and _may_be_ours(source, item[name], texts)
        }
        versions = [item[name] for name, source in ours.items() if source == "tree_version"]
        if len(versions) == len(ours) or any(map(partial(_is_later, record), versions)):
            return {}
        return self.newer(record, item, ours)

    def newer(
        self, record: PageRecord, item: Mapping[str, Any], ours: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """What changes in an item of which some fields are ours; `ours` are sources by names.

        What needs HTML stays without that of its text, and without a tree that can be read.
        """
        cleaned = record.cleaned
        assert cleaned
        values: dict[str, Any] = {
            "title": cleaned.title,
            "text": cleaned.text,
            "tree_version": cleaned.clean_version,
        }
        if not _MADE_AGAIN.isdisjoint(ours.values()):
            is_of_text = cleaned.clean_version != EARLIER_BODY
            html = self.store.pages.intact_html(record.key) if is_of_text else None
            model = None if html is None else self._model(record.cluster)
            if model is not None:
                page = model.judge(replace(record, html=html))
                values |= {"html": page.html, "markdown": page.markdown}
        return {
            name: values[source]
            for name, source in ours.items()
            if source in values and str(values[source]) != str(item[name])
        }

    def _model(self, name: str) -> StoredModel | None:
        if name not in self._models:
            cluster = self.store.clusters.find(name)
            assert cluster
            try:
                self._models[name] = load_stored_model(self.store, cluster, self.config)
            except TreeDataError as error:
                logger.warning("HTML and Markdown stay as they are: %s", error)
                self._models[name] = None
        return self._models[name]


def _is_later(record: PageRecord, version: Any) -> bool:
    """Whether an item has been given its text by a later tree than the page in the store."""
    assert record.cleaned
    return str(version).isdecimal() and int(version) > record.cleaned.clean_version


def _may_be_ours(source: str, value: Any, texts: Collection[str]) -> bool:
    """Whether a value is made of the texts of blocks, each of one line or of several."""
    if source == "tree_version":
        return value in (None, "") or str(value).isdecimal()
    text = "" if value is None or value == [] else value
    # Of what is no text, and of blanks, none is ours.
    if not isinstance(text, str) or (text and not text.strip()):
        return False
    if source == "html" and not is_written(text):
        return False
    if source in _MADE_AGAIN:
        own = build_page(text).text if source == "html" else text
        return set(words(own)) <= {word for block in texts for word in words(block)}
    lengths = set(map(len, texts))
    longest = max(lengths, default=0)
    begun: list[str] = []
    length = 0  # of what is begun, joined
    for line in filter(None, (" ".join(line.split()) for line in text.splitlines())):
        length += len(line) + bool(begun)
        begun.append(line)
        if length > longest:
            return False
        if length in lengths and " ".join(begun) in texts:
            begun, length = [], 0
    return not begun
