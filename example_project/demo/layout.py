"""The look of the demo newspaper: a theme is a style sheet, a page frame and article templates.

Another theme is another ``Theme``: it may bring its own frame and templates, the stories stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from example_project.demo import article_templates, furniture
from example_project.demo.context import PageContext
from example_project.demo.model import Story
from example_project.demo.stylesheet import COURIER_CSS


@dataclass(frozen=True, slots=True)
class Theme:
    """One look of the newspaper."""

    name: str
    css: str
    frame: Callable[[PageContext, str, str, str], str]
    articles: Mapping[str, Callable[[PageContext, Story], str]]

    def page(self, context: PageContext, template: str, main: str) -> str:
        """The whole document around the main part of a page."""
        return self.frame(context, template, main, self.css)

    def article(self, context: PageContext, story: Story) -> str:
        """The whole document of a story."""
        return self.page(context, story.template, self.articles[story.template](context, story))


def courier_frame(context: PageContext, template: str, main: str, css: str) -> str:
    """Head, header, navigation and footer; what stands between them varies from page to page."""
    billboard = strip = ""
    if context.rng.random() < 0.45:
        billboard = f'<div class="billboard">{furniture.advert(context)}</div>'
    if context.rng.random() < 0.25:
        strip = f'<div class="strip">{furniture.read_also(context)}</div>'
    cookie = _cookie_banner(context)
    late = context.build == 2
    return (
        f"{_head(context, css)}\n"
        f'<body class="page page-{template} {context.style_class("page")}">\n'
        f'<a class="skip" href="#content">{context.label("skip")}</a>\n'
        f"<noscript><p>{context.label('noscript')}</p></noscript>\n"
        f"{'' if late else cookie}{_header(context)}{billboard}{strip}\n"
        f"{_breadcrumbs(context)}\n{main}\n{_footer(context)}{cookie if late else ''}\n"
        f'<script>window.pageview={{build:{context.build},path:"{context.path}"}};</script>\n'
        "</body>\n</html>\n"
    )


def _head(context: PageContext, css: str) -> str:
    edition = context.edition
    data = json.dumps({"@type": "WebPage", "name": context.title, "publisher": edition.name})
    data = data.replace("</", "<\\/")
    description = context.text(context.description).replace('"', "&quot;")
    return (
        f'<!DOCTYPE html>\n<html lang="{edition.code}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{context.text(context.title)} | {context.text(edition.name)}</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="description" content="{description}">\n'
        f'<link rel="icon" href="data:,">\n<style>{css}</style>\n'
        f'<script type="application/ld+json">{data}</script>\n</head>'
    )


def _header(context: PageContext) -> str:
    edition, archive = context.edition, context.archive
    hour, minute = context.rng.randrange(10, 24), context.rng.randrange(10, 60)
    tide = context.label("tide", hour=hour, minute=minute, readers=context.rng.randrange(300, 3000))
    items = "".join(
        f'<li><a href="{archive.section_path(section.slug)}">{context.text(section.name)}</a>'
        for section in edition.sections
    )
    return (
        f'<header class="site-header"><div class="brand-row">'
        f'<a class="brand" href="{edition.prefix}">{context.text(edition.name)}</a>\n'
        f'<span class="claim">{context.text(edition.claim)}</span>\n'
        f'<span class="tide">{tide}</span>\n'
        f'<div class="tools"><a href="{archive.other_front}">{context.label("other_edition")}</a>\n'
        f"<span>{context.label('search')}</span>\n<span>{context.label('sign_in')}</span>\n"
        f"<span>{context.label('subscribe')}</span></div></div>"
        f'<nav class="site-nav"><ul><li><a href="{edition.prefix}">{context.label("home")}</a>'
        f"{items}</ul></nav></header>"
    )


def _breadcrumbs(context: PageContext) -> str:
    edition = context.edition
    crumbs = f'<li><a href="{edition.prefix}">{context.label("home")}</a>'
    for section in edition.sections:
        path = context.archive.section_path(section.slug)
        if context.path.startswith(path):
            crumbs += f'<li>&rsaquo; <a href="{path}">{context.text(section.name)}</a>'
    return f'<ol class="crumbs {context.style_class("crumbs")}">{crumbs}</ol>'


def _footer(context: PageContext) -> str:
    edition, archive = context.edition, context.archive
    service = "".join(
        f'<li><a href="{edition.prefix}{page.slug}.html">{context.text(page.title)}</a>'
        for page in edition.static_pages
        if page.title != context.title
    )
    topics = "".join(
        f'<li><a href="{path}">{context.text(place)}</a>'
        for place, path in list(archive.topic_paths.items())[:6]
    )
    legal = "".join(f"<p>{context.text(line)}" for line in edition.legal)
    return (
        f'<footer class="site-footer"><div class="foot-cols">'
        f"<div><h4>{context.label('service')}</h4><ul>{service}</ul></div>"
        f"<div><h4>{context.label('topics')}</h4><ul>{topics}</ul></div></div>"
        f'<div class="legal">{legal}</div></footer>'
    )


def _cookie_banner(context: PageContext) -> str:
    return (
        f'<div class="cookie" id="consent-{context.build}" role="dialog">'
        f"<p>{context.label('cookies')}</p><button>{context.label('cookies_yes')}</button>"
        f"<button>{context.label('cookies_no')}</button></div>\n"
    )


COURIER = Theme(
    name="courier",
    css=COURIER_CSS,
    frame=courier_frame,
    articles={
        "standard": article_templates.standard,
        "feature": article_templates.feature,
        "live": article_templates.live,
        "review": article_templates.review,
    },
)
