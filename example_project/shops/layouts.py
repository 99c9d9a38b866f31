"""The layouts of the shops: a function each, from a table layout to landmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from example_project.shops.shops import Shop


@dataclass(frozen=True, slots=True)
class View:
    """All that a layout puts on a page.

    `categories` are (name, title), `promotions` (title, text), `also_viewed` (path, name,
    sentence), `sheet` (label, value).
    """

    shop: Shop
    name: str
    category: str
    image: str
    paragraphs: Sequence[str]
    sheet: Sequence[tuple[str, str]]
    price: str
    categories: Sequence[tuple[str, str]]
    promotions: Sequence[tuple[str, str]]
    top_sellers: Sequence[str]
    also_viewed: Sequence[tuple[str, str, str]]

    @property
    def content(self) -> list[str]:
        """The page's true content, a line a block."""
        cells = [cell for row in self.sheet for cell in row]
        return [self.name, *self.paragraphs, *cells]


Layout = Callable[[View], str]


def _each(template: str, rows: Iterable[str | Sequence[str]]) -> str:
    """The template filled with every row, escaped."""
    cells = ([row] if isinstance(row, str) else row for row in rows)
    return "\n".join(template.format(*map(escape, row)) for row in cells)


def _document(view: View, body: str) -> str:
    title = escape(f"{view.name} - {view.shop.name}")
    return (
        f"<!doctype html>\n<html><head><title>{title}</title></head>\n<body>{body}</body></html>\n"
    )


def _tables(view: View) -> str:
    """Nested tables, as shops of 2003 had them."""
    shop = view.shop
    return _document(
        view,
        f"""
<table width="100%"><tr><td><a href="/"><img src="/i/logo.gif" alt="{shop.name}"></a></td>
{_each('<td class="tab"><a href="/{0}/">{1}</a></td>', view.categories)}</tr></table>
<table width="100%"><tr>
<td width="160" valign="top">{_each('<a href="/h">{0}</a><br>', shop.extra_navigation)}
<b>Top sellers</b><br>{_each("<i>{0}</i><br>", view.top_sellers)}</td>
<td valign="top"><h1>{view.name}</h1><img src="{view.image}">
<b>Our price: ${view.price}</b>
{_each("<p>{0}</p>", view.paragraphs)}
<table border="1">{_each("<tr><td>{0}</td><td>{1}</td></tr>", view.sheet)}</table>
<h3>{shop.also_viewed}</h3>
<table>{_each('<tr><td><a href="{0}">{1}</a></td><td>{2}</td></tr>', view.also_viewed)}</table></td>
<td width="220" valign="top" bgcolor="#ffffcc">
{_each("<h4>{0}</h4><p>{1}</p>", view.promotions)}{_each("<p>{0}</p>", shop.slogans)}</td>
</tr></table>
<hr><center>{_each("<small>{0}</small><br>", shop.footer)}</center>""",
    )


def _review(view: View) -> str:
    """A reviews site: `div` columns, a banner above the article."""
    shop = view.shop
    return _document(
        view,
        f"""
<div id="banner"><img src="/ads/top.gif">
{_each('<div class="spot"><strong>{0}</strong><span>{1}</span></div>', view.promotions)}</div>
<div id="bar"><ul>{_each('<li><a href="/{0}">{1}</a></li>', view.categories)}
{_each('<li class="x"><a href="/x">{0}</a></li>', shop.extra_navigation)}</ul></div>
<div id="main"><div class="review"><h1>{view.name}</h1>
{_each('<div class="para">{0}</div>', view.paragraphs)}
<dl class="specs">{_each("<dt>{0}</dt><dd>{1}</dd>", view.sheet)}</dl>
<div class="lowest">Lowest price ${view.price} <a href="/buy">Check prices</a></div></div>
<div class="more"><h2>{shop.also_viewed}</h2>
{_each('<div class="tease"><a href="{0}">{1}</a><p>{2}</p></div>', view.also_viewed)}</div></div>
<div id="side"><h2>Most popular</h2><ol>{_each("<li>{0}</li>", view.top_sellers)}</ol>
{_each('<p class="claim">{0}</p>', shop.slogans)}</div>
<div id="foot">{_each("<p>{0}</p>", shop.footer)}</div>""",
    )


def _catalogue(view: View) -> str:
    """A family shop: headings and lists, the data sheet above the text."""
    shop = view.shop
    return _document(
        view,
        f"""
<div class="head"><h2>{shop.name}</h2>{_each('<p class="motto">{0}</p>', shop.slogans)}</div>
<div class="nav"><p>{_each('<a href="/dept/{0}">{1}</a> |', view.categories)}</p>
<p>{_each('<a href="/info">{0}</a> |', shop.extra_navigation)}</p></div>
<div class="offers">
{_each('<div class="offer"><h3>{0}</h3><p>{1}</p></div>', view.promotions)}</div>
<div class="item"><h1>{view.name}</h1><img src="{view.image}" alt="">
<ul class="data">{_each("<li><b>{0}</b> <span>{1}</span></li>", view.sheet)}</ul>
<div class="text">{_each("<p>{0}</p>", view.paragraphs)}</div>
<p class="price">{view.price} dollars, in stock</p></div>
<div class="often"><h3>{shop.also_viewed}</h3>
<ul>{_each('<li><a href="{0}">{1}</a> <em>{2}</em></li>', view.also_viewed)}</ul></div>
<div class="best"><h3>Best sellers this week</h3><ul>{_each("<li>{0}</li>", view.top_sellers)}</ul>
</div><div class="legal">{_each("<p>{0}</p>", shop.footer)}</div>""",
    )


def _magazine(view: View) -> str:
    """A test magazine: landmarks, advertisements beside and below the article."""
    shop = view.shop
    first, *others = view.promotions
    return _document(
        view,
        f"""
<header><a href="/"><img src="/pp.svg" alt="home"></a><nav>
{_each('<a class="cat" href="/t/{0}">{1}</a>', view.categories)}
{_each('<a class="sec" href="/s">{0}</a>', shop.extra_navigation)}</nav></header>
<main><article><h1>{view.name}</h1><section class="verdict">
{_each("<p>{0}</p>", view.paragraphs)}</section>
<aside class="promo">{_each("<h3>{0}</h3><p>{1}</p>", [first])}</aside>
<section class="sheet"><table><tbody>
{_each("<tr><th>{0}</th><td>{1}</td></tr>", view.sheet)}</tbody></table></section>
<p class="buy">Street price ${view.price}</p></article>
<section class="bench"><h2>{shop.also_viewed}</h2>
{_each('<article><h3><a href="{0}">{1}</a></h3><p>{2}</p></article>', view.also_viewed)}</section>
</main>
<aside class="rail">{_each('<section class="promo"><h3>{0}</h3><p>{1}</p></section>', others)}
<section class="rank"><h3>Top five</h3><ol>{_each("<li>{0}</li>", view.top_sellers)}</ol></section>
{_each('<p class="sub">{0}</p>', shop.slogans)}</aside>
<footer>{_each("<p>{0}</p>", shop.footer)}</footer>""",
    )


def _dealer(view: View) -> str:
    """A dealers' network: one column, the text broken by lines instead of paragraphs."""
    shop = view.shop
    return _document(
        view,
        f"""
<div class="zt-top">{_each('<span><a href="/b/{0}">{1}</a></span>', view.categories)}
{_each('<span><a href="/n">{0}</a></span>', shop.extra_navigation)}</div>
<div class="zt-sponsor">{_each("<p><b>{0}</b></p><p>{1}</p>", view.promotions)}</div>
<div class="zt-offer"><h1>{view.name}</h1>
<div class="zt-text">{_each("{0}<br><br>", view.paragraphs)}</div>
<table class="zt-data">{_each('<tr><td class="l">{0}</td><td class="v">{1}</td></tr>', view.sheet)}
</table><div class="zt-price">From {view.price} <a href="/quote">Request a quotation</a></div></div>
<div class="zt-rel"><h4>{shop.also_viewed}</h4>
{_each('<p><a href="{0}">{1}</a></p><p>{2}</p>', view.also_viewed)}</div>
<div class="zt-top5"><h4>Most requested</h4>{_each("<p>{0}</p>", view.top_sellers)}</div>
<div class="zt-foot">{_each("<p>{0}</p>", [*shop.slogans, *shop.footer])}</div>""",
    )


LAYOUTS: tuple[Layout, ...] = (_tables, _review, _catalogue, _magazine, _dealer)
