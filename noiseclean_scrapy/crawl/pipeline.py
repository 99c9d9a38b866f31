"""Items get the clean text of their page; pages whose items survive go to the store."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sized
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from itemadapter import ItemAdapter, is_item
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.http import Response
from scrapy.utils.asyncio import create_looping_call, run_in_thread, sleep
from scrapy.utils.defer import deferred_from_coro

from noiseclean_scrapy.clean_page import CONTENTS, CleanPage
from noiseclean_scrapy.clusters.training import new_cleaner
from noiseclean_scrapy.config import METADATA_VALUES, Config
from noiseclean_scrapy.crawl.companions import tell_what_is_missing, tell_who_comes_too_early
from noiseclean_scrapy.crawl.filling import GivenValues, with_values
from noiseclean_scrapy.crawl.final_feeds import FinalFeeds
from noiseclean_scrapy.crawl.session import Crawl
from noiseclean_scrapy.crawl.starting import (
    at_shutdown,
    config_of,
    count,
    crawl_began,
    end_before_stop,
    exit_with_error,
    is_trial,
)
from noiseclean_scrapy.crawl.summary import crawl_summary
from noiseclean_scrapy.crawl.visits import Visit
from noiseclean_scrapy.crawl.writer import ProcessWriter, Writer
from noiseclean_scrapy.errors import ConfigurationError, NoiseCleanError, StoreError
from noiseclean_scrapy.items import PageItem, held
from noiseclean_scrapy.metadata import (
    LIBRARIES_MISSING,
    Metadata,
    has_libraries,
    load_libraries,
)
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.urls import item_address, site_name
from noiseclean_scrapy.store import Patience, Store

if TYPE_CHECKING:
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall
    from twisted.python.failure import Failure
    from typing_extensions import Self

logger = get_logger(__name__)

_MOMENT_SECONDS = 0.05
_LONGEST_REASON = 200  # characters of what an item says to a value
_PAGE_ITEM_FIELDS = {field.name: field.name for field in fields(PageItem) if field.name != "url"}


class CleanPipeline:
    """Fills items before other pipelines see them, and stores their pages afterwards.

    A page's text is stored once an item of it has passed all pipelines (`item_scraped`): an item
    that is dropped leaves no text in the store, and one that is replaced does.
    """

    def __init__(self, crawler: Crawler, config: Config) -> None:
        self.crawler = crawler
        self.config = config.with_absolute_paths()  # a spider may change the working directory
        self._shown_url = config.display_url
        self.crawl: Crawl | None = None
        self.final_feeds: FinalFeeds | None = None
        self._patience = Patience()
        self._store_options = {**self.config.store_options, "patience": self._patience}
        self._leave_shutdown: Callable[[], object] = bool
        # By response, so that items which others replace or drop are forgotten with it.
        self._ties: WeakKeyDictionary[Response, dict[int, Any]] = WeakKeyDictionary()
        self._given = GivenValues()
        self._errors_logged: set[str] = set()
        self._clock: AsyncioLoopingCall | LoopingCall | None = None
        self._ticking = False
        self._closing = False
        self._closed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        config = config_of(crawler)
        if not config.enabled:
            raise NotConfigured
        if is_trial(crawler):
            config = replace(config, read_only=True)
        pipeline = cls(crawler, config)
        crawler.signals.connect(pipeline.item_scraped, signals.item_scraped)
        crawler.signals.connect(pipeline._untie, signals.item_dropped)
        crawler.signals.connect(pipeline._untie, signals.item_error)
        crawler.signals.connect(pipeline.spider_closed, signals.spider_closed)
        end_before_stop(crawler)
        if config.final_feeds and not config.read_only:
            assert crawler.stats
            feeds = pipeline.final_feeds = FinalFeeds(
                pipeline.config, crawler.stats, crawler.settings, pipeline._store_options
            )
            crawler.signals.connect(feeds.feed_slot_closed, signals.feed_slot_closed)
            crawler.signals.connect(pipeline.feed_exporter_closed, signals.feed_exporter_closed)
        return pipeline

    async def open_spider(self) -> None:
        """Open the store; without it the crawl does not start."""
        tell_what_is_missing(self.crawler, self.config)
        tell_who_comes_too_early(self.crawler, type(self))
        self._leave_shutdown = at_shutdown(self._give_up, self._abandon)
        try:
            await run_in_thread(_load, self.config)
            writer = await run_in_thread(self._open_writer)
        except (ConfigurationError, StoreError) as error:
            logger.error("%s", error)
            exit_with_error(self.crawler)
            part = "store" if isinstance(error, StoreError) else "method"
            raise CloseSpider(f"noiseclean_{part}_error") from error
        if self.final_feeds and writer.store.in_memory:
            logger.warning(
                "Feeds keep the texts of the moment: NOISECLEAN_FINAL_FEEDS is for databases that "
                "are not in memory"
            )
            self.final_feeds = None
        if self.config.metadata:
            # A process that writes loads them; here it is done when an item asks for metadata.
            load = has_libraries if writer.is_process else load_libraries
            if not await run_in_thread(load) and not is_trial(self.crawler):
                logger.warning(LIBRARIES_MISSING)
        # What is loaded by now stays: the collector need not look at it again and again.
        gc.collect()
        gc.freeze()
        assert self.crawler.stats
        others_since = await run_in_thread(crawl_began, self.crawler, self.config)
        self.crawl = Crawl(self.config, self.crawler.stats, writer, others_since=others_since)
        self._clock = create_looping_call(self._tick)
        self._clock.start(self.config.batch_seconds, now=False)

    async def close_spider(self) -> None:
        """End the crawl."""
        await self.spider_closed()

    async def spider_closed(self) -> None:
        """End the crawl, once; whoever asks again waits until it has ended.

        A pipeline that fails at its own end keeps Scrapy from asking others, or from waiting.
        """
        if self.crawl and not self._closing:
            self._closing = True
            try:
                await self._close(self.crawl)
            finally:
                self._closed = True
                self._leave_shutdown()
        while self._closing and not self._closed:
            await sleep(_MOMENT_SECONDS)

    async def _close(self, crawl: Crawl) -> None:
        """Finish trees, write the pending pages, and say in one line what was done."""
        assert self._clock
        self._clock.stop()
        while self._ticking:
            await sleep(_MOMENT_SECONDS)
        try:
            await crawl.close()
        except Exception as error:
            self.count_error("closing the crawl", error)
        gc.unfreeze()
        await run_in_thread(crawl.writer.close)
        await run_in_thread(crawl.writer.store.close)
        assert self.crawler.stats
        database = None if self.config.read_only else self._shown_url
        logger.info("%s", crawl_summary(self.crawler.stats, database))

    def _give_up(self) -> None:
        """Let no thread wait for a database that does not answer."""
        self._patience.give_up()
        if self.crawl:
            self.crawl.writer.give_up()

    def _abandon(self) -> None:
        """Keep what waits, unless the crawl has ended: the event loop has been stopped."""
        if self.crawl and not self._closed:
            self._closed = True
            self.crawl.abandon()

    async def feed_exporter_closed(self) -> None:
        """Bring the feeds up to date when they and the crawl are closed."""
        await self.spider_closed()
        if self.final_feeds:
            await self.final_feeds.refresh()

    def _tick(self) -> None:
        if not self._ticking:
            self._ticking = True
            deferred_from_coro(self._tick_once())

    async def _tick_once(self) -> None:
        try:
            if self.crawl:
                await self.crawl.tick()
        except Exception as error:
            self.count_error("looking after the crawl", error)
        finally:
            self._ticking = False

    def tie(self, item: Any, response: Response) -> None:
        """Remember that an item came out of a response's callback."""
        self._ties.setdefault(response, {})[id(item)] = item

    async def process_item(self, item: Any) -> Any:
        try:
            visit = await self._visit_of(item, self._untie(item))
            if self.crawl is None or visit is None or not is_item(item):
                count(self.crawler, "items/without_page")
            else:
                item = await self._fill(item, visit, self.crawl)
        except Exception as error:
            self.count_error("filling an item", error)
        return item

    async def item_scraped(self, item: Any, response: Response | Failure | None) -> None:
        """Store the page of an item that all pipelines let pass, as it is or as another object."""
        try:
            visit = await self._visit_of(item, response)
            if self.crawl and visit:
                await self.crawl.keep(visit)
        except Exception as error:
            self.count_error("storing a page", error)

    def count_error(self, doing: str, error: Exception) -> None:
        """Count an error and log its first occurrence; the crawl goes on."""
        count(self.crawler, "errors")
        known = f"{doing} {type(error).__name__}"
        if known not in self._errors_logged:
            self._errors_logged.add(known)
            is_told = isinstance(error, NoiseCleanError)  # in a sentence of its own
            logger.error(
                "Error while %s; the crawl goes on%s",
                doing,
                f": {error}" if is_told else "",
                exc_info=None if is_told else error,
            )

    def _open_store(self) -> Store:
        if is_trial(self.crawler):
            try:
                return Store(self.config.database_url, read_only=True, **self._store_options)
            except StoreError:
                return Store("sqlite://")  # nothing is stored yet, and nothing will be
        store = Store(
            self.config.database_url, read_only=self.config.read_only, **self._store_options
        )
        kinds = store.clusters.methods() - {self.config.tree_kind}
        foreign = {kind for kind in kinds if not self.config.knows(kind)}
        if foreign:
            logger.error(
                "Pages of sites that %s has learned by %s get no text: name it in "
                "NOISECLEAN_METHOD, or learn them again: scrapy noiseclean reclean SITE "
                "--method %s",
                self._shown_url,
                ", ".join(sorted(foreign)),
                self.config.method,
            )
        if kinds := kinds - foreign:
            logger.warning(
                "Sites that %s has learned by %s stay with it; only new ones are learned by %s. "
                "To learn a site again: scrapy noiseclean reclean SITE --method %s",
                self._shown_url,
                ", ".join(sorted(kinds)),
                self.config.tree_kind,
                self.config.method,
            )
        return store

    def _open_writer(self) -> Writer:
        config, store = self.config, self._open_store()
        if not config.writer_process or config.read_only or store.in_memory:
            return Writer(store)
        writer = ProcessWriter(store, config.database_url, **self._store_options)
        try:
            writer.need_method(config.method)
        except BaseException:
            writer.close()
            store.close()
            raise
        return writer

    def _untie(self, item: Any) -> Response | None:
        for response, items in list(self._ties.items()):
            if item is not None and items.get(id(item)) is item:
                del items[id(item)]
                return response
        return None

    async def _visit_of(self, item: Any, response: Response | Failure | None) -> Visit | None:
        """The page of an item: the one its address names, else its response's."""
        if self.crawl is None:
            return None
        fields = (self.config.address_field, "url") if is_item(item) else ()
        addresses = (item_address(held(ItemAdapter(item), field)) for field in fields)
        url = next(filter(None, addresses), "")
        # An errback's items come with a Failure.
        if not isinstance(response, Response):
            response = None
        elif response.meta.get("noiseclean") is False:
            if url in {"", response.url}:
                return None
            response = None
        return await self.crawl.visits.find(response, url)

    async def _fill(self, item: Any, visit: Visit, crawl: Crawl) -> Any:
        """The item with its values: itself, or a copy where it is frozen."""
        page = await crawl.clean(visit)
        adapter = ItemAdapter(item)
        names = None if isinstance(item, dict) else set(adapter.field_names())
        fields = dict(self.config.fields)
        if isinstance(item, PageItem):
            fields |= _PAGE_ITEM_FIELDS
        # What the spider has filled in itself stays; what an item was given that is yielded again,
        # now for another page, does not.
        key = visit.record.key, visit.record.body_hash
        empty = {
            field: source
            for field, source in fields.items()
            if (names is None or field in names)
            and (_is_empty(held(adapter, field)) or self._given.is_of_another(item, field, key))
        }
        metadata = Metadata()
        if not set(METADATA_VALUES).isdisjoint(empty.values()):
            metadata = await crawl.metadata(visit) or metadata
        values = {field: _value(source, page, visit, metadata) for field, source in empty.items()}
        item, refused = with_values(item, values)
        for field, error in refused.items():
            # It speaks of the spider's item, not of our code: where it arose says nothing.
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            doing = f"filling the field {field!r} of a {type(item).__name__}"
            self.count_error(doing, NoiseCleanError(reason[:_LONGEST_REASON]))
            del empty[field]
        self._given.note(item, key, empty)
        if not refused:
            count(self.crawler, "items/cleaned")
        if self.final_feeds:
            self.final_feeds.note(ItemAdapter(item), empty, visit)
        return item


def _load(config: Config) -> None:
    """Load what is loaded at the first page, which takes longer than any page should wait."""
    try:
        new_cleaner(None, config).clean("<p>a b</p>")
    except Exception as error:  # a method of the user may raise anything
        raise ConfigurationError(
            f"the method {config.method!r} cannot clean a page before it has learned one: {error!r}"
        ) from error
    site_name("http://news.example/")


def _is_empty(value: Any) -> bool:
    """Whether a field waits for its value: 0 and False are values, an empty string is none.

    An `ItemLoader` around an item makes a list of what each field has.
    """
    if isinstance(value, list):
        return all(map(_is_empty, value))
    return value is None or (isinstance(value, Sized) and len(value) == 0)


def _value(source: str, page: CleanPage, visit: Visit, metadata: Metadata) -> Any:
    if source in METADATA_VALUES:
        return getattr(metadata, source)
    if source == "cluster":
        return visit.record.cluster
    if source == "tree_version":
        return visit.version
    return page.to_dict(source)[source] if source in CONTENTS else getattr(page, source)
