"""What a crawl has done, as its log says at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noiseclean_scrapy.crawl.starting import keeps_stats
from noiseclean_scrapy.page.characters import counted, share_left_out

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector


def crawl_summary(stats: StatsCollector, database: str | None) -> str:
    """One line, of the crawl's stats; `database` is None where nothing is stored."""
    done = f"{_what_was_done(stats)}; " if keeps_stats(stats) else ""
    return f"noiseclean: {done}{_where_stored(stats, database)}"


def _what_was_done(stats: StatsCollector) -> str:
    get = stats.get_value
    visible = get("noiseclean/characters/visible", 0)
    share = share_left_out(get("noiseclean/characters/kept", 0), visible)
    return (
        f"{counted(get('noiseclean/pages/seen', 0), 'page')} seen "
        f"in {counted(get('noiseclean/clusters', 0), 'cluster')}, "
        f"{get('noiseclean/pages/learned', 0)} newly learned, "
        f"{counted(get('noiseclean/trees/built', 0), 'tree')} built, "
        f"{counted(get('noiseclean/items/cleaned', 0), 'item')} cleaned"
        + f", {share:.0%} of their pages' characters removed"
        * bool(visible)
    )


def _where_stored(stats: StatsCollector, database: str | None) -> str:
    if database is None:
        return "nothing stored, as it only reads"
    get = stats.get_value
    spooled, lost = get("noiseclean/pages/spooled", 0), get("noiseclean/pages/lost", 0)
    exceptions = f", but {spooled} in the spool" * bool(spooled) + f", {lost} lost" * bool(lost)
    unlearned = get("noiseclean/pages/provisional", 0)
    exceptions += f", {unlearned} not learned yet" * bool(unlearned)
    return f"stored in {database}{exceptions}"
