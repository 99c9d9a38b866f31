"""Templates of pages without an article: lists of teasers, house pages, the contact form."""

from __future__ import annotations

from collections.abc import Sequence

from example_project.demo import furniture
from example_project.demo.context import PageContext
from example_project.demo.model import Author, StaticPage, Story


def listing(
    context: PageContext,
    stories: Sequence[Story],
    previous_path: str = "",
    next_path: str = "",
) -> str:
    """Front, section and topic pages: a headline, then teasers."""
    pager = "".join(
        f'<a href="{path}">{context.label(name)}</a>'
        for name, path in (("previous", previous_path), ("next", next_path))
        if path
    )
    return (
        f'<main id="content" class="layout"><div class="{context.style_class("list")}">'
        f"<h1>{context.text(context.title)}</h1>{_teasers(context, stories)}"
        f'<div class="pager">{pager}</div></div>{furniture.side_column(context)}</main>'
    )


def author(context: PageContext, writer: Author, stories: Sequence[Story]) -> str:
    """A journalist: who they are, what they wrote."""
    path = context.archive.section_path(writer.section.slug)
    return (
        f'<main id="content" class="layout"><div class="profile {context.style_class("profile")}">'
        f"<h1>{context.text(writer.name)}</h1>"
        f'<p class="standfirst">{context.text(writer.biography)}</p>'
        f'<p>{context.label("all_from")} <a href="{path}">{context.text(writer.section.name)}</a>'
        f"<h3>{context.label('author_heading')}</h3>{_teasers(context, stories)}</div>"
        f"{furniture.side_column(context)}</main>"
    )


def house_page(context: PageContext, page: StaticPage) -> str:
    """About, imprint, privacy, contact: a few lines of the newspaper's own."""
    lines = "".join(f"<p>{context.text(line)}" for line in page.lines)
    form = _contact_form(context) if page.kind == "contact" else ""
    newsroom = _newsroom(context) if page.kind == "about" else ""
    return (
        f'<main id="content" class="layout"><div class="plain page-{page.kind}">'
        f"<h1>{context.text(page.title)}</h1>{lines}{form}</div>"
        f'<aside class="side">{newsroom}{furniture.sign_up_box(context)}</aside></main>'
    )


def _teasers(context: PageContext, stories: Sequence[Story]) -> str:
    parts = []
    for story in stories:
        day = context.text(context.edition.format_date(story.published))
        parts.append(
            f'<article class="teaser teaser-{story.number}">'
            f'<a href="{story.path}"><img src="/media/{story.number}-0.svg" alt=""></a><div>'
            f"<h2>{context.link(story)}</h2><p>{context.text(story.lead)}</p>"
            f'<div class="teaser-meta">{context.text(story.section.name)} &middot; {day}</div>'
            "</div>"
            "</article>"
        )
    return furniture.interleave(context, parts, 0.1)


def _contact_form(context: PageContext) -> str:
    return (
        '<form action="#sent" method="get">'
        f'<label>{context.label("form_name")} <input name="name"></label><br>'
        f'<label>{context.label("email")} <input name="email"></label><br>'
        f'<label>{context.label("form_message")} <textarea name="message"></textarea></label><br>'
        f"<button>{context.label('form_send')}</button></form>"
    )


def _newsroom(context: PageContext) -> str:
    items = "".join(
        f'<li><a href="{writer.path}">{context.text(writer.name)}</a>, '
        f"{context.text(writer.section.name)}"
        for writer in context.archive.authors
    )
    return f'<section class="box"><h3>{context.label("newsroom")}</h3><ul>{items}</ul></section>'
