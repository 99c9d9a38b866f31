"""`reclean`: clean stored pages again, with the newest tree or with one learned again."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from noiseclean_scrapy.clusters.maintenance import (
    StoredModel,
    clean_again,
    load_stored_model,
    relearn,
)
from noiseclean_scrapy.commands.base import (
    Call,
    Subcommand,
    add_database_option,
    add_method_options,
)
from noiseclean_scrapy.commands.output import tell
from noiseclean_scrapy.commands.terminal import new_progress
from noiseclean_scrapy.errors import NotStoredError, TreeDataError

if TYPE_CHECKING:
    from noiseclean_scrapy.store import ClusterRecord, Store


class Reclean(Subcommand):
    name = "reclean"
    syntax = "[SITE] [options]"
    summary = "Clean the stored pages again"
    details = (
        "Cleans the stored pages of a site (or of all sites) with its newest tree and the "
        "overrides that hold now, and reads their metadata again. With --method the site is first "
        "learned again from its stored HTML, and its new tree is saved. Only pages whose HTML is "
        "stored can be cleaned again. "
        "Ctrl-C is safe: a page has either its old text or its new one."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "site", metavar="SITE", nargs="?", help="as `noiseclean sites` names it (default all)"
        )
        add_method_options(parser, "the site's own, not learned again")
        add_database_option(parser)

    def run(self, call: Call) -> bool:
        if call.opts.option and not call.opts.method:
            call.opts.parser.error("--option needs --method: the site is learned again with it")
        one = call.opts.site
        with call.open_store(write=True) as store:
            names = [site.name for site in store.clusters.all()] if one is None else [one]
            sites = [call.find_site(store, name) for name in names]
            if not sites:
                tell(call.nothing_stored("site"))
            done = [_reclean(store, site, call) for site in sites]
        return any(done) and None not in done


def _reclean(store: Store, site: ClusterRecord, call: Call) -> int | None:
    """Clean a site's pages again; their number, None where the tree or a page cannot be read."""
    damaged = store.damaged
    pages = store.pages.count(site.name).with_text
    try:
        model = (
            _learn(store, site, call)
            if call.opts.method
            else load_stored_model(store, site, call.config)
        )
    except (NotStoredError, TreeDataError) as error:
        if call.opts.site is not None:
            raise
        tell(f"{site.name}: left as it is, {error}.")
        return None if isinstance(error, TreeDataError) else 0
    done = 0
    try:
        with new_progress() as progress:
            task = progress.add_task(f"Cleaning {site.name}", total=pages)
            for done in clean_again(store, model):
                progress.update(task, completed=done)
    except KeyboardInterrupt:
        all_pages = max(done, pages)  # a crawl may have added some
        tell(f"{site.name}: {done} of {all_pages} pages cleaned again before the interruption.")
        raise
    damaged = store.damaged - damaged
    tell(_report(model, done, pages, damaged))
    return None if damaged else done


def _learn(store: Store, site: ClusterRecord, call: Call) -> StoredModel:
    with new_progress() as progress:
        task = progress.add_task(f"Learning {site.name}", total=store.pages.count(site.name).pages)
        return relearn(store, site, call.config, lambda: progress.advance(task))


def _report(model: StoredModel, done: int, pages: int, damaged: int) -> str:
    tree = f"tree version {model.version} ({model.method})" if model.version else "no tree yet"
    without = max(pages - done - damaged, 0)
    rest = f"; {without} have no HTML of their text" * bool(without)
    rest += f"; {damaged} cannot be read, see `noiseclean check`" * bool(damaged)
    return f"{model.cluster}: {done} of {max(done, pages)} pages cleaned again, {tree}{rest}."
