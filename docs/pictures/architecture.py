"""The drawings of the architecture page: the house, and the life of a page."""

from __future__ import annotations

from itertools import pairwise

from pictures.drawing import AMBER, BLUE, GREEN, GREY, VIOLET, WHITE, Box, arrow, drawing, tag


def house() -> str:
    """The packages and who uses whom; arrows point at what is used."""
    scrapy = Box(
        *(20, 20, 610, 109),
        BLUE,
        "Scrapy's components",
        [
            "`addon.py, config/, items.py, topic.py, focus/, frontier/,`",
            "`crawl/`, of old `middleware.py, pipeline.py, progress.py`",
            "One line in ADDONS wires them. They alone touch the crawler,",
            "and config/ alone reads the NOISECLEAN_ settings.",
        ],
    )
    crawl = Box(
        *(20, 173, 290, 143),
        BLUE,
        "One crawl",
        [
            "`crawl/: session, cluster_cache,`",
            "`write_queue, spool, writer, memory`",
            "`clusters/`",
            "Which pages were seen, which tree",
            "of a site is in use, which pages",
            "are pending.",
        ],
    )
    store = Box(
        *(360, 173, 270, 143),
        AMBER,
        "The database",
        [
            "`store/, service_urls.py, replaced.py`",
            "SQLite or PostgreSQL: pages with",
            "text, blocks and HTML; versions of",
            "trees; full-text search in",
            "`store/search/`. A change is one",
            "transaction.",
        ],
    )
    tools = Box(
        *(700, 20, 240, 296),
        VIOLET,
        "Tools",
        [
            "`__main__.py, commands/, terminal.py`",
            "search, explain, clean again, ...",
            "`report/`",
            "the inspector, as HTML",
            "`web/`",
            "the workbench, in a browser",
            "",
            "`batch/`",
            "archives: folders, WARC, WACZ",
            "",
            "`output/`",
            "rows for other programs, and",
            "search engines beside it",
        ],
    )
    core = Box(
        *(20, 360, 920, 290),
        GREEN,
        "The core: knows neither Scrapy nor the database",
        ["cleaner.py: SiteCleaner observes pages, cleans them, merges, travels as bytes"],
    )
    parts = [
        ("page/", "HTML to elements and text blocks"),
        ("methods/", "six methods behind one face"),
        ("methods/evidence_model/", "features and model of the default"),
        ("methods/trees/", "trees and their measures, as sums"),
        ("clean_page.py", "what is kept: text, HTML, Markdown"),
        ("kernels/", "twins in Cython of what costs most"),
        ("metadata.py, languages.py", "author, date, language"),
        ("page/overrides.py", "what you decide yourself"),
        ("notebook.py, errors.py", "cards; one family of errors"),
    ]
    rooms = [
        Box(36 + number % 3 * 300, 424 + number // 3 * 74, 288, 62, WHITE, name, [what])
        for number, (name, what) in enumerate(parts)
    ]
    lines = [
        arrow((155, 129), (155, 173)),
        arrow((155, 316), (155, 360)),
        arrow(crawl.right, store.left),
        arrow((820, 316), (820, 360)),
        arrow((700, 244), store.right),
    ]
    boxes = [box.svg() for box in (scrapy, crawl, store, tools, core, *rooms)]
    return drawing(960, 670, "The packages of noiseclean_scrapy", [*lines, *boxes])


def page_life() -> str:
    """What happens to a response, to its item and to its row in the database."""
    steps = [
        Box(
            20,
            20,
            168,
            94,
            GREY,
            "Response",
            ["2xx, HTML, wanted", "by the settings;", "stays as it is"],
        ),
        Box(
            213, 20, 168, 94, BLUE, "Page", ["its cluster, and its", "text blocks; parsed", "once"]
        ),
        Box(
            406,
            20,
            168,
            94,
            GREEN,
            "Learned",
            ["once: counts of", "places and texts go", "to the site's tree"],
        ),
        Box(599, 20, 168, 94, GREY, "Your callback", ["yields items, as it", "always did"]),
        Box(
            792,
            20,
            168,
            94,
            GREEN,
            "Item filled",
            ["text and title from", "the newest tree", "before your pipelines"],
        ),
    ]
    rows = [
        Box(
            20,
            224,
            214,
            94,
            AMBER,
            "Provisional",
            ["the text by what is known", "so far; HTML kept, so the", "page can be cleaned again"],
        ),
        Box(
            262,
            224,
            214,
            94,
            AMBER,
            "A tree is due",
            ["after SAMPLE_QUOTA pages,", "then every REFRESH_PAGES,", "at a redesign, at the end"],
        ),
        Box(
            504,
            224,
            214,
            94,
            AMBER,
            "Cleaned again",
            ["all pages that the new tree", "has learned, with the tree,", "in one transaction"],
        ),
        Box(
            746,
            224,
            214,
            94,
            AMBER,
            "Final",
            ["the text by a tree that", "has seen this page and", "its neighbours"],
        ),
    ]
    down = (876, 169)
    lines = [arrow(one.right, two.left) for one, two in pairwise(steps)]
    lines += [arrow(one.right, two.left) for one, two in pairwise(rows)]
    lines += [
        arrow(steps[-1].bottom, down, (127, 169), rows[0].top),
        tag(500, 169, "the item has passed all pipelines: its page goes to the database"),
        arrow((611, 318), (611, 354), (369, 354), (369, 318)),
        tag(490, 354, "the next version"),
    ]
    boxes = [box.svg() for box in (*steps, *rows)]
    return drawing(980, 380, "The life of a page", [*lines, *boxes])


DRAWINGS = {"house": house, "page-life": page_life}
