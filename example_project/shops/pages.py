"""All product pages of the shops, with their known content."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from example_project.demo.grammar import correct_english_articles, expand
from example_project.shops.categories import CATEGORIES, COMMON, MAKERS, Category
from example_project.shops.layouts import LAYOUTS, View
from example_project.shops.shops import SHOPS, Shop

_FEWEST, _MOST = 10, 18
_TOP_SELLERS = 5
_ALSO_VIEWED = 4
_PROMOTION_SENTENCES = 4


@dataclass(frozen=True, slots=True)
class ShopPage:
    """A product page; `content` is its true text, one line a block."""

    site: str
    category: str
    url: str
    html: str
    content: str


@dataclass(frozen=True, slots=True)
class Product:
    """What a shop writes about a product."""

    name: str
    category: str
    path: str
    sentences: Sequence[str]
    sheet: Sequence[tuple[str, str]]


def shop_pages(seed: int = 0) -> list[ShopPage]:
    """Product pages of five shops and five categories, the same for the same seed.

    The pages of a shop share navigation that names all categories, large advertisements for one
    category, top sellers and legal notices; "also viewed" boxes show products of other categories.
    """
    pages: list[ShopPage] = []
    for shop, layout in zip(SHOPS, LAYOUTS, strict=True):
        rng = random.Random(f"{seed}/{shop.name}")
        products = [
            _product(category, number, rng)
            for category in CATEGORIES
            for number in range(rng.randint(_FEWEST, _MOST))
        ]
        promotions = _promotions(shop, rng)
        top_sellers = [product.name for product in rng.sample(products, _TOP_SELLERS)]
        for product in products:
            others = [other for other in products if other.category != product.category]
            also_viewed = rng.sample(others, _ALSO_VIEWED)
            view = View(
                shop=shop,
                name=product.name,
                category=product.category,
                image=product.path.replace(".html", ".jpg"),
                paragraphs=_paragraphs(product.sentences),
                sheet=product.sheet,
                price=f"{rng.randrange(59, 1899)}.{rng.choice(('00', '90', '95'))}",
                categories=[(category.name, category.title) for category in CATEGORIES],
                promotions=promotions,
                top_sellers=top_sellers,
                also_viewed=[(o.path, o.name, o.sentences[0]) for o in also_viewed],
            )
            url = f"http://{shop.domain}{product.path}"
            content = "\n".join(view.content)
            pages.append(ShopPage(shop.domain, product.category, url, layout(view), content))
    return pages


def _product(category: Category, number: int, rng: random.Random) -> Product:
    maker = rng.choice(MAKERS)
    name = f"{maker} {rng.choice(category.series)} {rng.randrange(100, 990, 10)}"
    path = f"/{category.name}/{name.lower().replace(' ', '-')}-{number}.html"
    chosen = rng.sample(list(category.sentences), rng.randint(4, 7))
    chosen += rng.sample(list(COMMON), rng.randint(2, 4))
    rng.shuffle(chosen)
    labels = sorted(rng.sample(list(category.sheet), rng.randint(5, len(category.sheet))))
    sheet = [
        (label.replace("_", " ").capitalize(), rng.choice(category.sheet[label]))
        for label in labels
    ]
    return Product(
        name, category.name, path, [_write(s, category, maker, rng) for s in chosen], sheet
    )


def _write(sentence: str, category: Category, maker: str, rng: random.Random) -> str:
    """A sentence with its slots filled; `{part2}` and `{port2}` differ from `{part}`, `{port}`."""
    pools = {"maker": (maker,), **category.pools}
    for name in ("part", "port"):
        first, second = rng.sample(list(category.pools[name]), 2)
        pools |= {name: (first,), name + "2": (second,)}
    return correct_english_articles(expand(sentence, pools, rng))


def _paragraphs(sentences: Sequence[str]) -> list[str]:
    """Three sentences a paragraph."""
    return [" ".join(sentences[i : i + 3]) for i in range(0, len(sentences), 3)]


def _promotions(shop: Shop, rng: random.Random) -> list[tuple[str, str]]:
    """Title and text of the shop's permanent advertisements."""
    category = next(category for category in CATEGORIES if category.name == shop.promoted)
    boxes = []
    for series in rng.sample(list(category.series), 3):
        maker = rng.choice(MAKERS)
        chosen = rng.sample(list(category.sentences), _PROMOTION_SENTENCES)
        text = " ".join(_write(sentence, category, maker, rng) for sentence in chosen)
        boxes.append((f"{category.title} week: {maker} {series}", text))
    return boxes
