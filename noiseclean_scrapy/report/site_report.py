"""The site report: one page cluster of a store, its tree, its noise and its newest pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from noiseclean_scrapy.clusters.maintenance import StoredModel, load_stored_model
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import NotStoredError
from noiseclean_scrapy.methods.base import Model
from noiseclean_scrapy.methods.block_entropy import BlockEntropyModel
from noiseclean_scrapy.methods.evidence_model.threshold import LEANS
from noiseclean_scrapy.methods.templates import TemplateModel
from noiseclean_scrapy.report import charts
from noiseclean_scrapy.report.icicle import Box, lay_out, levels
from noiseclean_scrapy.report.page_view import PageView, page_view
from noiseclean_scrapy.report.survey import GalleryPage, SiteSurvey
from noiseclean_scrapy.report.templating import render
from noiseclean_scrapy.store import Store

VIEWS = 12
"""Newest pages that can be opened in the report."""
VIEWS_SIZE = 6_000_000
"""Most characters that these may take together."""

_TEXTS = 60


@dataclass(frozen=True, slots=True)
class GalleryCard:
    """A page of the gallery, with its view where its HTML is stored and there is room."""

    page: GalleryPage
    view: PageView | None


def site_report(store: Store, cluster: str, *, config: Config | None = None) -> str:
    """An HTML document of its own about one cluster.

    `config` has the method and options that the site was crawled with; without it they are those of
    the stored tree. Raises NotStoredError for a cluster that is not stored.
    """
    record = store.clusters.find(cluster)
    if record is None:
        raise NotStoredError.site(cluster, known=[row.name for row in store.clusters.all()])
    survey = SiteSurvey()
    for page in store.pages.with_text(cluster):
        survey.add(page)
    stored = load_stored_model(store, record, config or Config())
    model = stored.model
    versions = store.clusters.tree_versions(cluster)
    moments = survey.moments()
    boxes = lay_out(survey.tree)
    return render(
        "site.html.jinja",
        record=record,
        counts=store.pages.count(cluster),
        sites=store.clusters.summaries(),
        templates=len(model.templates) if isinstance(model, TemplateModel) else 0,
        versions=versions,
        survey=survey,
        moments=moments,
        boxes=boxes,
        levels=levels(boxes),
        box_details=[_box_details(box, survey) for box in boxes],
        columns=charts.columns(survey.histogram),
        threshold=_threshold(model),
        drift=charts.drift(moments, versions),
        removed=survey.removed(_TEXTS),
        repeated=survey.kept_though_repeated(_TEXTS),
        cards=_cards(store, survey, stored),
        charts=charts,
    )


def _cards(store: Store, survey: SiteSurvey, stored: StoredModel) -> list[GalleryCard]:
    cards = []
    views, size = 0, 0
    for page in survey.gallery():
        view = None
        has_room = views < VIEWS and size < VIEWS_SIZE
        html = store.pages.intact_html(page.record.key) if has_room else None
        if html is not None and size + len(html) <= VIEWS_SIZE:
            view = page_view(stored.judge(replace(page.record, html=html)), html)
            views, size = views + 1, size + len(view.document)
        cards.append(GalleryCard(page, view))
    return cards


def _box_details(box: Box, survey: SiteSurvey) -> dict[str, Any]:
    """What the panel beside the drawing shows of a box, and where the box is."""
    details: dict[str, Any] = {
        "parent": box.parent,
        "level": box.level,
        "top": round(box.top, 6),
        "height": round(box.height, 6),
        "label": box.label,
        "path": box.path,
        "importance": round(box.importance, 4),
        "merged": box.merged,
    }
    place = box.place
    if place is not None:
        details |= {
            "pages": place.pages,
            "pageShare": place.pages / max(survey.pages, 1),
            "blocks": place.blocks,
            "characters": place.characters,
            "keptShare": round(place.kept_share, 4),
            "examples": [
                [example.text, example.kept, example.page_title, example.page_key]
                for example in place.all_examples()
            ],
        }
    return details


def _threshold(model: Model) -> float | None:
    """The least importance of a kept block, where a method has one for all pages."""
    if isinstance(model, TemplateModel):
        found = {_threshold(part) for _, part in model.templates}
        return found.pop() if len(found) == 1 else None
    if isinstance(model, BlockEntropyModel):
        return 1 - model.threshold
    lean = getattr(model, "lean", None)
    threshold = lean if lean in LEANS.values() else getattr(model, "threshold", None)
    return None if threshold is None else float(threshold)
