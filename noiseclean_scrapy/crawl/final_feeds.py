"""Local feeds get the final texts when they are closed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.extensions.feedexport import FileFeedStorage
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.misc import load_object

from noiseclean_scrapy.clusters.final_values import FINAL_VALUES, FinalValues
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import NoiseCleanError
from noiseclean_scrapy.items import held
from noiseclean_scrapy.output.feeds import FORMATS, FeedOptions, Fields, Rewritten, rewrite_feed
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.urls import item_address
from noiseclean_scrapy.store import Store

if TYPE_CHECKING:
    from scrapy.extensions.feedexport import FeedSlot
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

    from noiseclean_scrapy.crawl.visits import Visit

logger = get_logger(__name__)


class _Feed(NamedTuple):
    """A closed feed: its file, its format, and the item's field behind each of its names."""

    path: Path
    form: str
    options: FeedOptions
    fields: Mapping[str, str]


class _Page(NamedTuple):
    """A page as an item had it: at its next visit it may say something else."""

    key: str
    body_hash: str


class _Given(NamedTuple):
    """Where a value that an item was given comes from: what it is, its page, the tree's version."""

    source: str
    page: _Page | None  # where that cannot be told
    version: int


class FinalFeeds:
    """Remembers which values of items are ours, and brings them up to date in the feeds.

    A value is found by the item's address and by what it was when the item was given it: what the
    spider or another pipeline has put there stays. The page that it comes from is remembered with
    it, since one address may have several (those of forms), one after the other as well.
    """

    def __init__(
        self,
        config: Config,
        stats: StatsCollector,
        settings: BaseSettings,
        store_options: Mapping[str, Any],
    ) -> None:
        self.config = config
        self.stats = stats
        self.settings = settings
        self._store_options = store_options
        self._given: dict[int, _Given] = {}
        self._feeds: dict[Path, _Feed] = {}
        self._address = config.address_field
        self._items_have_addresses = False

    def note(self, item: Fields, sources: Mapping[str, str], visit: Visit) -> None:
        """Remember the values that an item has been given, by its fields, and its page."""
        page = _Page(visit.record.key, visit.record.body_hash)
        url = item_address(held(item, self._address))
        self._items_have_addresses |= bool(url)
        for name, source in sources.items():
            if source in FINAL_VALUES:
                value = _value_key(url, name, item.get(name))
                given = _Given(source, page, visit.version)
                if self._given.setdefault(value, given).page != page:
                    self._given[value] = given._replace(page=None)

    def feed_slot_closed(self, slot: FeedSlot) -> None:
        """A feed, or a batch of one, is complete."""
        if type(slot.storage) is not FileFeedStorage:
            logger.warning(
                "The feed %s keeps the texts of the moment: NOISECLEAN_FINAL_FEEDS is for local "
                "files; the database has the final ones",
                slot.uri,
            )
            return
        own = load_object(self.settings["FEED_EXPORTERS_BASE"].get(slot.format, "builtins.object"))
        form = slot.format if type(slot.exporter) is own or slot.exporter is None else ""
        given = slot.feed_options
        names = given["fields"] or ()
        renamed = dict(names) if isinstance(names, Mapping) else {}
        if given.get("postprocessing"):
            form = ""
        options = FeedOptions(
            given["encoding"],
            given["indent"],
            [*renamed.values()] or [*names],
            given["item_export_kwargs"],
        )
        path = Path(slot.storage.path)
        fields = {feed: field for field, feed in renamed.items()}
        self._feeds[path] = _Feed(path, form, options, fields)

    async def refresh(self) -> None:
        """All feeds are complete, and so is the database."""
        if self._given and self._feeds:
            await run_in_thread(self._refresh)

    def _refresh(self) -> None:
        try:
            config = self.config
            with Store(config.database_url, read_only=True, **self._store_options) as store:
                final = FinalValues(store, config)
                for feed in self._feeds.values():
                    if feed.path.is_file():
                        self._refresh_feed(feed, final)
        except NoiseCleanError as error:
            logger.error("Feeds keep the texts of the moment: %s", error)

    def _refresh_feed(self, feed: _Feed, final: FinalValues) -> None:
        has_addresses = False

        def change(item: Fields) -> Fields:
            nonlocal has_addresses
            named = {feed.fields.get(name, name): name for name in item}
            url = item_address(item.get(named.get(self._address, "")))
            has_addresses |= bool(url)
            given = {
                name: known
                for field, name in named.items()
                if (known := self._given.get(_value_key(url, field, item[name])))
            }
            changed: dict[str, Any] = {}
            for page in {known.page for known in given.values() if known.page is not None}:
                record = final.record(page.key)
                if record is not None and record.body_hash == page.body_hash:
                    assert record.cleaned
                    version = record.cleaned.clean_version
                    ours = {
                        name: known.source
                        for name, known in given.items()
                        if known.page == page and known.version <= version
                    }
                    changed |= final.newer(record, item, ours)
            return changed

        if not feed.form:
            logger.warning(
                "The feed %s keeps the texts of the moment: only %s, uncompressed, can be written "
                "once more; the database has the final ones",
                feed.path,
                ", ".join(FORMATS),
            )
            return
        try:
            done = rewrite_feed(feed.path, feed.form, change, feed.options)
        except NoiseCleanError as error:
            logger.error("A feed keeps the texts of the moment: %s", error)
            return
        if done.items and self._items_have_addresses and not has_addresses:
            logger.warning(
                "The feed %s keeps the texts of the moment: it leaves out the field %r, by which "
                "its items are told apart; the database has the final ones",
                feed.path,
                self._address,
            )
        self._tell(feed.path, done)

    def _tell(self, path: Path, done: Rewritten) -> None:
        self.stats.inc_value("noiseclean/items/refreshed", done.changed)
        logger.info(
            "%d of %d items in %s have got their final texts", done.changed, done.items, path
        )


def _value_key(url: str, field: str, value: Any) -> int:
    return hash((url, field, str(value)))
