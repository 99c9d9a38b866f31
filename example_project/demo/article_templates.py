"""The four article templates: standard, feature, live blog, review."""

from __future__ import annotations

from example_project.demo import furniture
from example_project.demo.context import PageContext
from example_project.demo.model import Block, Story


def standard(context: PageContext, story: Story) -> str:
    """News story: one column of paragraphs with a side column."""
    parts = []
    for block in story.blocks:
        text = furniture.paragraph_text(context, story, block.text)
        parts.append(f"<h2>{text}</h2>" if block.kind == "heading" else f"<p>{text}</p>")
    if len(parts) > 7:
        parts.insert(4, furniture.figure(context, story, 1))
    related = ""
    if context.rng.random() < 0.5:
        stories = context.other_stories(3, story.section.slug)
        related = furniture.story_box(context, "related", stories)
    return (
        f'<main id="content" class="layout"><article id="post-{story.number}" '
        f'class="post post-{story.number} {context.style_class("post")}">'
        f'<header><div class="kicker">{context.text(story.section.name)}</div>'
        f"<h1>{context.text(story.headline)}</h1>"
        f'<p class="standfirst">{context.text(story.lead)}</p>'
        f"{furniture.byline(context, story)}{furniture.share_bar(context)}</header>"
        f"{furniture.figure(context, story, 0)}"
        f'<div class="post-body {context.style_class("body")}">'
        f"{furniture.interleave(context, parts)}</div>"
        f"{furniture.tags(context, story)}{related}{furniture.comments(context, story)}</article>"
        f"{furniture.side_column(context, story.section.slug)}</main>"
    )


def feature(context: PageContext, story: Story) -> str:
    """Long read: headline in a hero outside the article, chapters, pull quotes, no side column."""
    chapters: list[list[str]] = [[]]
    for block in story.blocks:
        text = furniture.paragraph_text(context, story, block.text)
        if block.kind == "heading":
            chapters.append([f"<h2>{text}</h2>"])
        elif block.kind == "quote":
            chapters[-1].append(f'<blockquote class="pull">{text}</blockquote>')
        else:
            chapters[-1].append(f'<div class="text-block"><p>{text}</div>')
    pictured = context.rng.randrange(len(chapters))
    chapters[pictured].insert(2, furniture.figure(context, story, 2))
    body = "".join(
        f'<section class="chapter" id="ch-{story.number}-{number}">'
        f"{furniture.interleave(context, parts, 0.1)}</section>"
        for number, parts in enumerate(chapters, 1)
    )
    return (
        f'<div class="longread-hero {context.style_class("hero")}" data-story="{story.number}">'
        f"<h1>{context.text(story.headline)}</h1>"
        f'<p class="standfirst">{context.text(story.lead)}</p></div>'
        f'<main id="content" class="longread"><article class="longread-body lr-{story.number}">'
        f"{furniture.byline(context, story)}{furniture.figure(context, story, 0)}{body}"
        f"{furniture.share_bar(context)}{furniture.tags(context, story)}"
        f"{furniture.comments(context, story)}</article>"
        f'<div class="layout">{furniture.story_box(context, "longreads", context.other_stories(4))}'
        f"{furniture.sign_up_box(context)}</div></main>"
    )


def live(context: PageContext, story: Story) -> str:
    """Live blog: key points, then entries with a time, newest first."""
    points = "".join(
        f"<li>{context.text(block.text)}" for block in story.blocks if block.kind == "key_point"
    )
    first = next(block.label for block in story.blocks if block.kind == "entry")
    entries = [
        _live_entry(context, story, entry, number)
        for number, entry in enumerate(_entries(story.blocks))
    ]
    return (
        f'<main id="content" class="live live-{story.number}"><div class="live-head">'
        f'<div class="kicker">{context.text(story.section.name)}</div>'
        f"<h1>{context.text(story.headline)}</h1>"
        f'<p class="standfirst">{context.text(story.lead)}</p>{furniture.byline(context, story)}'
        f'<p class="byline">{context.label("updated", time=first)}</p></div>'
        f'<div class="live-points"><h3>{context.label("key_points")}</h3><ul>{points}</ul></div>'
        f"{furniture.figure(context, story, 0)}{furniture.share_bar(context)}"
        f'<div class="entries" aria-live="polite">'
        f"{furniture.interleave(context, entries, 0.2)}</div>"
        f"<button>{context.label('older_entries')}</button>"
        f"{furniture.tags(context, story)}"
        f"{furniture.story_box(context, 'most_read', context.other_stories(4), ordered=True)}"
        f"{furniture.comments(context, story)}</main>"
    )


def _entries(blocks: tuple[Block, ...]) -> list[list[Block]]:
    entries: list[list[Block]] = []
    for block in blocks:
        if block.kind == "entry":
            entries.append([block])
        elif block.kind == "paragraph":
            entries[-1].append(block)
    return entries


def _live_entry(context: PageContext, story: Story, entry: list[Block], number: int) -> str:
    heading, *paragraphs = entry
    texts = "".join(
        f"<p>{furniture.paragraph_text(context, story, block.text)}</p>" for block in paragraphs
    )
    entry_id = f"entry-{story.number * 100 + number}"
    return (
        f'<div class="entry {context.style_class("entry")}" id="{entry_id}">'
        f"<time>{heading.label}</time><h3>{context.text(heading.text)}</h3>{texts}"
        f"<button>{context.label('share')}</button></div>"
    )


def review(context: PageContext, story: Story) -> str:
    """Review: open paragraphs, a rating table, a verdict."""
    paragraphs, rows = [], []
    verdict = ""
    for block in story.blocks:
        if block.kind == "row":
            criterion, *rest = (context.text(cell) for cell in block.cells)
            cells = "".join(f"<td>{cell}</td>" for cell in rest)
            rows.append(f"<tr><th>{criterion}</th>{cells}</tr>")
        elif block.kind == "verdict":
            verdict = context.text(block.text)
        else:
            paragraphs.append(f"<p>{furniture.paragraph_text(context, story, block.text)}")
    heads = "".join(f"<th>{context.label(name)}</th>" for name in ("criterion", "points", "remark"))
    return (
        f'<div class="review" id="review-{story.number}"><div class="kicker">'
        f"{context.text(story.section.name)}</div><h1>{context.text(story.headline)}</h1>"
        f"{furniture.figure(context, story, 0)}"
        f'<div class="standfirst">{context.text(story.lead)}</div>'
        f"{furniture.byline(context, story)}"
        f'<div class="review-text" role="article">{furniture.interleave(context, paragraphs)}</div>'
        f'<h3>{context.label("rating")}</h3><table class="rating"><tr>{heads}</tr>{"".join(rows)}'
        f'</table><div class="verdict"><small>{context.label("verdict")}</small><p>{verdict}</div>'
        f"{furniture.share_bar(context)}{furniture.tags(context, story)}"
        f"{furniture.story_box(context, 'related', context.other_stories(3, story.section.slug))}"
        f"{furniture.story_box(context, 'most_read', context.other_stories(5), ordered=True)}"
        f"{furniture.comments(context, story)}</div>"
    )
