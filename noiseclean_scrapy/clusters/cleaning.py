"""Pages of the store, cleaned again, and what the store keeps of a cleaned page."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from noiseclean_scrapy.clean_page import CleanPage, clean_page
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.metadata import extract_metadata
from noiseclean_scrapy.methods import Model
from noiseclean_scrapy.page import DEFAULT_BUDGET, Page, build_page
from noiseclean_scrapy.store import Cleaned, PageRecord, StoredBlocks


def stored_page(record: PageRecord, config: Config) -> Page:
    """The page of a record that has its HTML, with the overrides of `config`."""
    rules = config.overrides.rules_for(record.url)
    budget = config.page_budget
    return build_page(record.html or "", url=record.url, rules=rules, budget=budget)


def judge_record(record: PageRecord, model: Model, config: Config) -> CleanPage:
    """The verdict on a page that has its HTML."""
    read_metadata = partial(extract_metadata, record.html or "", url=record.url)
    page = stored_page(record, config)
    return clean_page(model, page, markup=config.markup, read_metadata=read_metadata)


def clean_record(record: PageRecord, model: Model, version: int, config: Config) -> Cleaned:
    """What the store is to keep of a page that has its HTML, cleaned by the tree of `version`."""
    return to_record(judge_record(record, model, config), version, config)


def to_record(
    page: CleanPage, version: int, config: Config, stored: Cleaned | None = None
) -> Cleaned:
    """What the store keeps of a cleaned page; of one with the text of `stored` its blocks stay."""
    text, has_texts = page.text, _needs_texts(page, config)
    if (
        stored
        and (stored.title, stored.text) == (page.title, text)
        and isinstance(stored.blocks, StoredBlocks)
        and stored.blocks.has_texts == has_texts
    ):
        return replace(stored, clean_version=version, fit=page.fit)
    return Cleaned(
        title=page.title,
        text=text,
        blocks=StoredBlocks.of(page) if has_texts else StoredBlocks.of_verdicts(page),
        clean_version=version,
        visible_characters=page.visible_characters,
        kept_characters=page.kept_characters,
        fit=page.fit,
    )


def _needs_texts(page: CleanPage, config: Config) -> bool:
    """Whether the store could not read the blocks again from the HTML that it has of the page."""
    return not config.store_html or config.page_budget != DEFAULT_BUDGET or any(page.table.rules)
