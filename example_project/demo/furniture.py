"""Everything around the text: adverts, boxes, bylines, comments. None of it is gold."""

from __future__ import annotations

from collections.abc import Iterable

from example_project.demo.context import PageContext
from example_project.demo.model import Story


def advert(context: PageContext, shape: str = "div") -> str:
    """A rotating advertisement with a slot counter."""
    slot = context.rng.randrange(10_000, 99_999)
    words = context.text(context.rng.choice(context.edition.adverts))
    script = (
        f'<script>window.adq=window.adq||[];adq.push("slot-{slot}");</script>'
        if context.rng.random() < 0.4
        else ""
    )
    return (
        f'<{shape} class="ad ad-{slot % 7} {context.style_class("ad")}" id="ad-{slot}">{script}'
        f"<span>{context.label('advert')}</span>"
        f'<a href="https://ads.example/c/{slot}" rel="sponsored nofollow">{words}</a></{shape}>'
    )


def newsletter(context: PageContext) -> str:
    """A newsletter line that looks like one more paragraph of the article."""
    words = context.text(context.rng.choice(context.edition.newsletters))
    return f'<p class="newsletter {context.style_class("nl")}">{words}</p>'


def read_also(context: PageContext) -> str:
    """A link to another story between the paragraphs."""
    return "".join(
        f'<p class="read-also"><strong>{context.label("read_also")}</strong> '
        f"{context.link(story)}</p>"
        for story in context.other_stories(1)
    )


def interleave(context: PageContext, parts: Iterable[str], chance: float = 0.13) -> str:
    """Put an advert, a newsletter line or a link behind some parts of an article."""
    kinds = (advert, advert, newsletter, read_also)
    pieces = []
    for number, part in enumerate(parts):
        pieces.append(part)
        if number and context.rng.random() < chance:
            pieces.append(context.rng.choice(kinds)(context))
    return "\n".join(pieces)


def paragraph_text(context: PageContext, story: Story, text: str) -> str:
    """Escape a paragraph; sometimes link the place or stress the chief person."""
    markup = context.text(text)
    place = context.text(story.place)
    if place in markup and context.rng.random() < 0.2:
        path = context.archive.topic_paths[story.place]
        return markup.replace(place, f'<a href="{path}">{place}</a>', 1)
    if context.rng.random() < 0.08:
        first, separator, rest = markup.partition(", ")
        return f"<em>{first}</em>{separator}{rest}" if separator else markup
    return markup


def figure(context: PageContext, story: Story, number: int) -> str:
    """A picture with its caption and its photographer."""
    credit = context.rng.choice(context.edition.pools["photographer"])
    return (
        f'<figure class="{context.style_class("figure")}">'
        f'<img src="/media/{story.number}-{number}.svg" width="960" height="480" alt="">'
        f"<figcaption>{context.text(story.captions[number])} "
        f"<small>{context.label('photo')}&nbsp;{context.text(credit)}</small></figcaption></figure>"
    )


def byline(context: PageContext, story: Story) -> str:
    """Author, date, reading time."""
    words = sum(len(line.split()) for line in story.gold_lines)
    day = context.text(context.edition.format_date(story.published))
    return (
        f'<div class="byline"><span>{context.label("by")} '
        f'<a rel="author" href="{story.author.path}">'
        f"{context.text(story.author.name)}</a></span>"
        f'<time datetime="{story.published.isoformat()}">{day}</time>'
        f"<span>{context.label('minutes', count=max(1, words // 200))}</span></div>"
    )


def share_bar(context: PageContext) -> str:
    """Buttons to pass the story on; the list items are left open."""
    items = "".join(
        f"<li><button>{context.label(name)}</button>"
        for name in ("share", "copy", "mail", "print", "save")
    )
    return f'<ul class="share">{items}</ul>'


def tags(context: PageContext, story: Story) -> str:
    """Links to the section and to the place of a story."""
    section = story.section
    path = context.archive.section_path(section.slug)
    topic = context.archive.topic_paths[story.place]
    return (
        f'<div>{context.label("tags")}</div><ul class="tags">'
        f'<li><a href="{path}">{context.text(section.name)}</a>'
        f'<li><a href="{topic}">{context.text(story.place)}</a></ul>'
    )


def story_box(context: PageContext, label: str, stories: list[Story], ordered: bool = False) -> str:
    """A box of headlines; the list items are left open."""
    if not stories:
        return ""
    items = "".join(f"<li>{context.link(story)}" for story in stories)
    tag = "ol" if ordered else "ul"
    return (
        f'<section class="box box-{label.replace("_", "-")} {context.style_class(label)}">'
        f"<h3>{context.label(label)}</h3><{tag}>{items}</{tag}></section>"
    )


def sign_up_box(context: PageContext) -> str:
    """The newsletter form of the side column."""
    words = context.text(context.edition.newsletters[0])
    return (
        f'<section class="box sign-up"><form action="#sign-up"><p>{words}'
        f'<input type="email" placeholder="{context.label("email")}">'
        f"<button>{context.label('sign_up')}</button></form></section>"
    )


def side_column(context: PageContext, section: str | None = None) -> str:
    """The right column: related and most read stories, adverts, newsletter."""
    parts = [story_box(context, "most_read", context.other_stories(5), ordered=True)]
    if section:
        parts.insert(0, story_box(context, "related", context.other_stories(3, section)))
    if context.rng.random() < 0.6:
        parts.insert(1, advert(context, "section"))
    parts.append(sign_up_box(context))
    return f'<aside class="side {context.style_class("side")}">{"".join(parts)}</aside>'


def comments(context: PageContext, story: Story) -> str:
    """What readers wrote below a story; their paragraphs are left open."""
    if not story.comments:
        return ""
    entries = "".join(
        f'<div class="comment" id="comment-{story.number}{number}">'
        f"<strong>{context.text(comment.name)}</strong><p>{context.text(comment.text)}"
        f"<p>{context.label('votes', count=comment.votes)} · "
        f"<button>{context.label('reply')}</button> "
        f"<button>{context.label('report')}</button></div>"
        for number, comment in enumerate(story.comments)
    )
    return (
        f'<section class="comments" id="comments"><h2>'
        f"{context.label('comments', count=len(story.comments))}</h2>"
        f"<p>{context.label('comment_rules')}</p>{entries}</section>"
    )
