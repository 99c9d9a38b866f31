"""What the tasks of a Spark job do with their rows: plain Python over Arrow batches, no Spark.

Pass one makes of every page in its site's sample what it teaches (`learn_rows`), thins large sites
out (`sample_rows`) and merges what is left of each site to its tree (`site_rows`). Pass two sends
the pages (`page_rows`) and the trees (`tree_rows`) to the shards and cleans there (`clean_rows`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import pyarrow as pa

from noiseclean_scrapy.batch.sampling import SiteSample, page_fingerprint, sampling_key
from noiseclean_scrapy.batch.spark_input import pages_at
from noiseclean_scrapy.batch.spark_tables import PAGES, SITES, TAUGHT, cleaned_schema
from noiseclean_scrapy.batch.two_pass import (
    SourcePage,
    build_source_page,
    clean_source_page,
    cleaned_row,
    untaught_cleaner,
    wanted_pages,
)
from noiseclean_scrapy.cleaner import SiteCleaner
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ArchiveError
from noiseclean_scrapy.methods import Model, find_method, method_parameters
from noiseclean_scrapy.page.hashes import hash64, hash_name
from noiseclean_scrapy.page.logs import get_logger

if TYPE_CHECKING:
    from noiseclean_scrapy.batch.archived_page import ArchivedPage, ProblemKind

logger = get_logger(__name__)

Row: TypeAlias = dict[str, Any]
Batches: TypeAlias = Iterable[pa.RecordBatch]

_PROBE = "<!DOCTYPE html><title>Probe</title><h1>Rain</h1><p>The river rose by a metre in a night."
PARTS = 64
"""Groups in which the pages of a site are thinned out before they meet."""
_UNBOUNDED = 1 << 40
_BATCH_BYTES = 4 << 20
_BATCH_ROWS = 256

Part: TypeAlias = tuple[Literal["learn", "read", "clean"], int]
"""A part of a job: an archive in the first or second pass, or a shard."""


@dataclass(slots=True)
class Counts:
    """What became of the pages of a part; `reason` is why the first of the `failed` did."""

    pages: int = 0
    missing: int = 0
    damaged: int = 0
    failed: int = 0
    reason: str = ""

    def add(self, kind: ProblemKind) -> None:
        setattr(self, kind, getattr(self, kind) + 1)

    def fail(self, url: str, error: Exception) -> None:
        self.failed += 1
        self.reason = self.reason or f"{url[:200]}: {error!r:.300}"


class Account(Protocol):
    """Where tasks tell what they have counted; telling the same part again changes nothing."""

    @property
    def value(self) -> dict[Part, Counts]: ...

    def add(self, term: dict[Part, Counts]) -> None: ...


@dataclass(frozen=True)
class Job:
    """What all tasks know."""

    config: Config
    content: str
    shards: int
    account: Account


def check(config: Config) -> None:
    """Learn and clean a page, so that what is missing here is told before anything is read."""
    source = SourcePage("probe", "http://probe.invalid/", "probe.invalid", _PROBE)
    cleaner = untaught_cleaner(config)
    cleaner.observe_page(build_source_page(source, config))
    clean_source_page(source, SiteCleaner.from_bytes(cleaner.to_bytes()).model(), config)


def learn_rows(batches: Batches, job: Job) -> Iterator[pa.RecordBatch]:
    """Archives to `TAUGHT`: one row a page that may be in its site's sample, one row a site."""
    return _batches(_learn_rows(_rows(batches), job), TAUGHT)


def sample_rows(batches: Batches, size: int) -> Iterator[pa.RecordBatch]:
    """Sorted `TAUGHT` to `TAUGHT`: of each part of a site the `size` pages with the least keys."""
    groups = groupby(_rows(batches), itemgetter("site", "part"))
    return _batches((row for _, group in groups for row in _sampled(group, size)), TAUGHT)


def site_rows(batches: Batches, config: Config) -> Iterator[pa.RecordBatch]:
    """Sorted `TAUGHT` to `SITES`: the tree that learning the sample one by one would give.

    A row of `SITES` among those of a site is its tree of before, onto which it learns.
    """
    groups = groupby(_rows(batches), itemgetter("site"))
    return _batches((_site_row(site, group, config) for site, group in groups), SITES)


def page_rows(batches: Batches, job: Job, shares: Mapping[str, int]) -> Iterator[pa.RecordBatch]:
    """Archives to `PAGES`; the pages of a site go to `shares` shards, to one where it is absent."""
    return _batches(_page_rows(_rows(batches), job, shares), PAGES)


def tree_rows(batches: Batches, job: Job, shares: Mapping[str, int]) -> Iterator[pa.RecordBatch]:
    """`SITES` to `PAGES`: the tree of each site to every shard that has pages of it."""
    rows = (
        {
            **dict.fromkeys(PAGES.names),
            "shard": shard_of(row["site"], share, job.shards),
            "site": row["site"],
            "file": -1,
            "record": 0,
            "tree": row["tree"],
            "tree_version": row["tree_version"],
        }
        for row in _rows(batches)
        for share in range(shares.get(row["site"], 1))
    )
    return _batches(rows, PAGES)


def clean_rows(batches: Batches, job: Job) -> Iterator[pa.RecordBatch]:
    """`PAGES`, sorted by shard, site, file and record, to the output."""
    return _batches(_clean_rows(_rows(batches), job), cleaned_schema(job.content))


def shard_of(site: str, share: int, shards: int) -> int:
    """The shard of a share of a site's pages: neighbours in hash stand together."""
    return ((hash64(site) * shards >> 64) + share) % shards


def _learn_rows(archives: Iterable[Row], job: Job) -> Iterator[Row]:
    size = job.config.archive_sample
    samples: defaultdict[str, SiteSample] = defaultdict(partial(SiteSample, size))
    pages: Counter[str] = Counter()
    for archive, record, source, counts in _archive_pages(archives, job, "learn"):
        pages[source.site] += 1
        key = sampling_key(source.url)
        if samples[source.site].add(key):
            yield {
                "site": source.site,
                "part": archive["file"] % PARTS,
                "key": key,
                "file": archive["file"],
                "record": record,
                "pages": 0,
                "taught": _taught(source, job.config, counts),
            }
    for site, number in pages.items():
        yield _count_row(site, 0, number)


def _count_row(site: str, part: int, pages: int) -> Row:
    return {**dict.fromkeys(TAUGHT.names), "site": site, "part": part, "pages": pages}


def _taught(source: SourcePage, config: Config, counts: Counts) -> bytes:
    """What the page teaches, as a tree of its own; empty where it has no text or fails."""
    # The bound holds on the whole site: what one page teaches is merged as if it were observed.
    bounded = "max_tree_nodes" in method_parameters(config.method)
    cleaner = untaught_cleaner(config, **({"max_tree_nodes": _UNBOUNDED} if bounded else {}))
    try:
        page = build_source_page(source, config)
        if not page.blocks:
            return b""
        cleaner.observe_page(page)
        return cleaner.to_bytes()
    except Exception as error:
        logger.warning("Not learned: %s", source.url, exc_info=True)
        counts.fail(source.url, error)
        return b""


def _sampled(group: Iterable[Row], size: int) -> Iterator[Row]:
    """The rows of the pages in the sample, the first row of each, and the sum of the counts."""
    sample = SiteSample(size)
    pages = 0
    for row in group:
        pages += row["pages"]
        if row["key"] is not None and sample.add(row["key"]):
            yield row
    if pages:
        yield _count_row(row["site"], row["part"], pages)


def _site_row(site: str, group: Iterable[Row], config: Config) -> Row:
    find_method(config.method)  # a class of the user's is imported
    sample = SiteSample(config.archive_sample)
    learned = []
    earlier: Row | None = None
    pages = 0
    for row in group:
        if row.get("tree") is not None:
            earlier = row
            continue
        pages += row["pages"]
        if row["key"] is not None and sample.add(row["key"]):
            learned.append(row)
    if earlier and not pages:
        return {name: earlier[name] for name in SITES.names}
    cleaner = SiteCleaner.from_bytes(earlier["tree"]) if earlier else untaught_cleaner(config)
    for row in sorted(learned, key=itemgetter("file", "record")):
        if row["taught"]:
            cleaner.merge(SiteCleaner.from_bytes(row["taught"]))
    before = earlier or {"pages": 0, "new_pages": 0, "tree_version": 0}
    return {
        "site": site,
        "pages": before["pages"] + pages,
        "new_pages": before["new_pages"] + pages,
        "learned_pages": cleaner.pages,
        # One more a job, however many segments of it have pages of the site.
        "tree_version": before["tree_version"] + (not before["new_pages"]),
        "tree": cleaner.to_bytes(),
    }


def _page_rows(archives: Iterable[Row], job: Job, shares: Mapping[str, int]) -> Iterator[Row]:
    for archive, record, source, _ in _archive_pages(archives, job, "read"):
        share = sampling_key(source.url) % shares.get(source.site, 1)
        yield {
            "shard": shard_of(source.site, share, job.shards),
            "site": source.site,
            "file": archive["file"],
            "record": record,
            "source": archive["source"],
            "id": source.id,
            "url": source.url,
            "fetched_at": source.fetched_at,
            "html": source.html.encode("utf-8", "surrogatepass"),
            "tree": None,
            "tree_version": None,
        }


def _clean_rows(rows: Iterable[Row], job: Job) -> Iterator[Row]:
    for shard, in_shard in groupby(rows, itemgetter("shard")):
        counts = Counts()
        for site, of_site in groupby(in_shard, itemgetter("site")):
            model: Model | None = None
            version = 0
            for row in of_site:
                try:
                    if row["tree"] is not None:
                        find_method(job.config.method)  # a class of the user's is imported
                        model = SiteCleaner.from_bytes(row["tree"]).model()
                        version = row["tree_version"]
                        continue
                    if model is None:
                        raise ArchiveError(f"nothing of {site} was there in the first pass")
                    yield _output_row(row, model, version, job)
                except Exception as error:
                    logger.warning("Not cleaned: %s", row["url"], exc_info=True)
                    counts.fail(row["url"] or site, error)
        job.account.add({("clean", shard): counts})


def _output_row(row: Row, model: Model, version: int, job: Job) -> Row:
    html = row["html"].decode("utf-8", "surrogatepass")
    source = SourcePage(row["id"], row["url"], row["site"], html, row["fetched_at"])
    cleaned = clean_source_page(source, model, job.config)
    written = {
        **cleaned_row(cleaned, job.content),
        "key": page_fingerprint(source.url).hex(),
        "fetched_at": source.fetched_at,
        "tree_version": version,
        "visible_characters": cleaned.page.visible_characters,
        "kept_characters": cleaned.page.kept_characters,
        "fit": cleaned.page.fit,
        "source": row["source"],
        "record": row["record"],
        "site_hash": site_hash(source.site),
    }
    return {name: _storable(value) for name, value in written.items()}


def _archive_pages(
    archives: Iterable[Row], job: Job, kind: Literal["learn", "read"]
) -> Iterator[tuple[Row, int, SourcePage, Counts]]:
    """The pages of the archives in their order, the number of each, and its archive's counts."""
    for archive in sorted(archives, key=itemgetter("file")):
        counts = Counts()
        pages = pages_at(archive["source"], on_problem=counts.add, budget=job.config.page_budget)
        for record, page in enumerate(pages):
            source = _source_page(page, job.config, counts)
            if source:
                counts.pages += 1
                yield archive, record, source, counts
        job.account.add({(kind, archive["file"]): counts})


def _source_page(page: ArchivedPage, config: Config, counts: Counts) -> SourcePage | None:
    try:
        source = next(wanted_pages([page], config), None)
        if source:
            f"{source.id}{source.url}{source.site}".encode()  # Arrow's strings are UTF-8
        return source
    except Exception:
        logger.warning("Not read: %s", page.url, exc_info=True)
        counts.add("damaged")
        return None


def site_hash(site: str) -> str:
    """The folder of the output in which the pages of a site are: two hexadecimal digits."""
    return hash_name(hash64(site))[:2]


def _storable(value: Any) -> Any:
    """Text as the JSON of `clean` would have it: lone surrogates become question marks."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _rows(batches: Batches) -> Iterator[Row]:
    for batch in batches:
        yield from batch.to_pylist()


def _batches(rows: Iterable[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows in batches of bounded size."""
    waiting: list[Row] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, (bytes, str)))
        if size >= _BATCH_BYTES or len(waiting) >= _BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(waiting, schema=schema)
            waiting, size = [], 0
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, schema=schema)
