"""Cards for notebooks: what a cleaner knows, what became of a page, as HTML without scripts."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from markupsafe import Markup

from noiseclean_scrapy.page.characters import rounded, shortened

if TYPE_CHECKING:
    from noiseclean_scrapy.clean_page import CleanPage
    from noiseclean_scrapy.cleaner import SiteCleaner
    from noiseclean_scrapy.page.block import Block

_BLOCKS = 200
_TEXT, _WHOLE_TEXT = 160, 20_000
_STYLE = Markup("""\
.noiseclean-card{font:14px/1.5 system-ui,sans-serif;border:1px solid #8884;border-radius:10px;\
padding:14px 18px;max-width:760px;overflow-wrap:anywhere}
.noiseclean-card strong{font-size:16px}
.noiseclean-card .soft{opacity:.65;font-size:12.5px}
.noiseclean-card dl{display:flex;flex-wrap:wrap;gap:4px 28px;margin:10px 0}
.noiseclean-card dt{opacity:.65;font-size:12.5px;font-weight:400}
.noiseclean-card dd{margin:0;font-size:17px;font-variant-numeric:tabular-nums}
.noiseclean-card .bar{display:flex;height:26px;margin:10px 0;border-radius:5px;overflow:hidden}
.noiseclean-card .bar i{background:#d9604a;align-self:end;height:62%}
.noiseclean-card .bar i.kept{background:#3aa17d;height:100%}
.noiseclean-card summary{cursor:pointer;margin-top:6px}
.noiseclean-card .text{white-space:pre-line;max-height:420px;overflow:auto;padding:8px 0}
.noiseclean-card ol{list-style:none;padding:0;margin:6px 0;max-height:420px;overflow:auto}
.noiseclean-card li{border-left:4px solid #8886;padding:2px 10px;margin:3px 0}
.noiseclean-card li.kept{border-color:#3aa17d}
.noiseclean-card li.dropped{border-color:#d9604a;opacity:.75}
.noiseclean-card li span{opacity:.65;font-size:12.5px;margin-right:6px}
""")


def cleaner_card(cleaner: SiteCleaner) -> str:
    """What a cleaner has learned."""
    return _card(
        Markup("<strong>SiteCleaner</strong> <code>{}</code>").format(cleaner.method),
        _facts(
            {
                "pages learned": f"{rounded(cleaner.pages):,}",
                "templates": "told apart" if cleaner.templates else "one",
                "headline": "in the text" if cleaner.headline else "left out",
            }
        ),
    )


def page_card(page: CleanPage) -> str:
    """A page's clean text, and the verdicts on its first blocks."""
    blocks = page.blocks
    visible, kept = page.visible_characters, page.kept_characters
    facts = {
        "kept": f"{kept / visible:.0%}" if visible else "–",
        "characters": f"{kept:,} of {visible:,}",
        "blocks": f"{sum(block.kept for block in blocks)} of {len(blocks)}",
        "fit": f"{page.fit:.0%}",
    }
    more = len(blocks) - _BLOCKS
    rest = Markup("<li>and {} more</li>").format(more) if more > 0 else ""
    return _card(
        Markup("<strong>{}</strong>").format(page.title or "Untitled page"),
        Markup('<div class="soft">{}</div>').format(page.url),
        _bar(blocks),
        _facts(facts),
        Markup('<details><summary>Text</summary><div class="text">{}</div></details>').format(
            shortened(page.text, _WHOLE_TEXT)
        ),
        Markup("<details><summary>Blocks</summary><ol>{}{}</ol></details>").format(
            Markup("").join(map(_entry, islice(blocks, _BLOCKS))), rest
        ),
    )


def _card(*parts: Markup) -> str:
    whole = Markup('<div class="noiseclean-card"><style>{}</style>\n{}\n</div>')
    # Lone surrogates are in no file.
    return whole.format(_STYLE, Markup("\n").join(parts)).encode("utf-8", "replace").decode()


def _facts(facts: dict[str, str]) -> Markup:
    one = Markup("<div><dt>{}</dt><dd>{}</dd></div>")
    return Markup("<dl>{}</dl>").format(
        Markup("").join(one.format(*fact) for fact in facts.items())
    )


def _bar(blocks: tuple[Block, ...]) -> Markup:
    one = Markup('<i class="{}" style="flex:{}"></i>')
    parts = (one.format(_class(block), len(block.text)) for block in islice(blocks, _BLOCKS))
    return Markup('<span class="bar" aria-hidden="true">{}</span>').format(Markup("").join(parts))


def _entry(block: Block) -> Markup:
    return Markup('<li class="{}"><span>{} {:.2f}</span> {}</li>').format(
        _class(block),
        "kept" if block.kept else "left out",
        block.score,
        shortened(block.text, _TEXT),
    )


def _class(block: Block) -> str:
    return "kept" if block.kept else "dropped"
