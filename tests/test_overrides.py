"""Overrides: reading them, which rule counts, and a crawl with them."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.http import Response

from noiseclean_scrapy import CleanPage, PageItem, SiteCleaner
from noiseclean_scrapy.clusters.cleaning import clean_record
from noiseclean_scrapy.clusters.cluster import load_cluster
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.config.readers import read_patterns
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.methods import METHODS
from noiseclean_scrapy.page.overrides import NO_OVERRIDES, Overrides
from noiseclean_scrapy.store import Store
from tests.support import crawl_site, crawling
from tests.support.crawling import Plan


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read(text: str) -> Overrides:
        path = tmp_path / "overrides.toml"
        path.write_text(text, "utf-8")
        return Overrides.read(path)

    return read


URL = "https://news.example.com/live/1"
PAGE = """<body><h1>Site name</h1><h2 class="headline">The <b>flood</b></h2>
<div class="story"><p>It rose.</p><aside class="newsletter">Sign up
<em class="fact">Two metres</em></aside><table><tr><td>cell</table></div><p id="end">Bye</p>"""


def clean(overrides: Overrides, url: str = URL, page: str = PAGE) -> CleanPage:
    return SiteCleaner("style-tree").clean(page, url=url, overrides=overrides)


def verdicts(page: CleanPage) -> dict[str, tuple[bool, str]]:
    return {block.text: (block.kept, block.rule) for block in page.blocks}


# Which rule counts


def test_keep_drop_and_title(read: Any) -> None:
    overrides = read(
        '["news.example.com"]\ndrop = [".newsletter", "#end"]\ntitle = "h2.headline"\n'
    )
    page = clean(overrides)
    assert page.title == "The flood"
    assert page.text == "The flood\nSite name\nIt rose.\ncell"
    assert verdicts(page) == {
        "Site name": (True, ""),
        "The flood": (True, "title"),
        "It rose.": (True, ""),
        "Sign up Two metres": (False, "drop"),
        "cell": (True, ""),
        "Bye": (False, "drop"),
    }


def test_a_text_may_have_line_breaks_and_what_is_no_text(read: Any) -> None:
    text = "Media Group Harbour Street 12, Porttown"
    html = (
        "<h1>The flood</h1><p>It rose by two metres on Monday, people in the harbour said.</p>"
        "<p>Media Group<br>Harbour\u200bStreet 12,<script>x()</script> <br>Porttown</p>"
    )
    rules = read(f'["news.example.com"]\ndrop_text = "{text}"\n')
    page = clean(rules, page=html)
    assert [block.rule for block in page.blocks] == ["", "", "drop"]


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "overrides.toml"
    path.write_text('["news.example.com"]\ndrop = "p"\n', encoding="utf-8-sig")
    assert list(Overrides.read(path).sites) == ["news.example.com"]


def test_without_rules_nothing_changes(read: Any) -> None:
    assert clean(read('["other.example"]\ndrop = "p"')) == clean(NO_OVERRIDES)


def test_what_was_dropped_is_kept(read: Any) -> None:
    pages = [PAGE.replace("It rose.", f"Story {number} of the day.") for number in range(20)]
    cleaner = SiteCleaner("style-tree")
    for page in pages:
        cleaner.observe(page)
    assert "Sign up" not in cleaner.clean(pages[0], url=URL).text
    overrides = read('["example.com"]\nkeep = ".newsletter"')
    kept = cleaner.clean(pages[0], url=URL, overrides=overrides)
    assert "Sign up Two metres" in kept.text.splitlines()


def test_a_headline_that_a_rule_keeps_is_kept_in_its_place(read: Any) -> None:
    html = (
        "<p>Monday</p><h1>The flood</h1><p>It rose by two metres, people in the harbour said.</p>"
    )
    cleaner = SiteCleaner("style-tree", headline=False)
    assert "The flood" not in cleaner.clean(html, url=URL).text
    kept = cleaner.clean(html, url=URL, overrides=read('["example.com"]\nkeep = "h1"'))
    assert kept.text.splitlines()[:2] == ["Monday", "The flood"]
    assert (kept.title, kept.headline) == ("The flood", None)


def test_rules_hold_for_pictures_and_hidden_ones_are_left_out(read: Any) -> None:
    story = "The river rose by two metres on Monday, and people in the harbour moved upstairs. " * 3
    html = (
        f"<h1>The flood</h1><p>{story}</p><div class=ad><img src=/ad.png></div><p>{story} Later</p>"
        f"<div style='display:none'><img src=/chart.png></div><p>{story} At last</p>"
        "<figure><img src=/map.png></figure>"
    )

    def pictures(overrides: Overrides) -> list[str]:
        page = clean(overrides, page=html)
        assert ".png" not in page.markdown
        return re.findall(r"\w+\.png", page.to_markdown(include_images=True))

    assert pictures(NO_OVERRIDES) == ["ad.png"]
    assert pictures(read('["example.com"]\ndrop = ".ad"\nkeep = "figure"')) == ["map.png"]
    assert pictures(read('["example.com"]\nkeep = "div"')) == ["ad.png", "chart.png"]


def test_a_text_is_that_of_a_whole_element(read: Any) -> None:
    overrides = read('["example.com"]\ndrop_text = ["Sign up Two metres", "It"]')
    assert pickle.loads(pickle.dumps(overrides)).sites["example.com"][0].texts
    found = clean(overrides)
    dropped = {block.text for block in found.blocks if block.rule == "drop"}
    assert dropped == {"Sign up Two metres"}
    many = "<div>" * 200 + "<p>no </p>" * 20_000
    assert SiteCleaner().clean(many, url=URL, overrides=overrides).text


def test_the_nearest_element_wins(read: Any) -> None:
    overrides = read('["example.com"]\ndrop = [".story", ".fact"]\nkeep = [".newsletter"]')
    assert verdicts(clean(overrides)) == {
        "Site name": (True, ""),
        "The flood": (True, ""),
        "It rose.": (False, "drop"),
        "Sign up": (True, "keep"),
        "cell": (False, "drop"),
        "Bye": (True, ""),
    }


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('["example.com"]\ndrop = "#end"\nkeep = "#end"', "keep"),
        ('["example.com"]\nkeep = "#end"\ntitle = "#end"', "title"),
        ('["example.com"]\nkeep = "#end"\ndrop_text = " Bye\\n"', "drop"),
        ('["example.com"]\ndrop = "#end"\nkeep_text = ["Hello", "Bye"]', "keep"),
        ('["example.com"]\ndrop = "#end"\nkeep_text = "By"', "drop"),
        ('["news.example.com"]\ndrop = "#end"\n["example.com"]\nkeep = "#end"', "drop"),
        (
            '["example.com"]\nkeep = "#end"\n[["example.com".pages]]\nurl = "/live/"\ndrop = "p"',
            "drop",
        ),
        (
            '["example.com"]\nkeep = "#end"\n[["example.com".pages]]\nurl = "/old/"\ndrop = "p"',
            "keep",
        ),
        (
            '[["example.com".pages]]\nurl = "/live"\nkeep = "#end"\n'
            '[["example.com".pages]]\nurl = "live/\\\\d"\ndrop = "#end"',
            "drop",
        ),
    ],
)
def test_the_more_special_rule_wins_on_one_element(read: Any, text: str, rule: str) -> None:
    assert verdicts(clean(read(text)))["Bye"][1] == rule


@pytest.mark.parametrize(
    ("url", "holds"),
    [
        ("https://example.com/", True),
        ("https://EXAMPLE.com:8080/x", True),
        ("https://a.b.example.com/", True),
        ("https://notexample.com/", False),
        ("https://example.com.evil.net/", False),
        ("https://com/", False),
        ("", False),
        ("no url", False),
    ],
)
def test_sites_hold_below_their_domain(read: Any, url: str, holds: bool) -> None:
    assert (read('["Example.com"]\ndrop = "p"').rules_for(url) is not None) is holds


def test_a_title_of_some_pages_counts_there_instead_of_the_sites(read: Any) -> None:
    table = '["example.com"]\ntitle = "h1"\n[["example.com".pages]]\nurl = "/live/"\n'
    overrides = read(f'{table}title = "h2.headline"')
    assert clean(overrides).title == "The flood"
    assert verdicts(clean(overrides))["Site name"][1] == ""
    assert clean(overrides, url="https://news.example.com/1").title == "Site name"
    missing = read(f'{table}title = "h2.other"')
    assert clean(missing).title == "Site name"


def test_a_dropped_headline_is_no_headline(read: Any) -> None:
    page = "<title>Flood in Porto</title><h1>Flood in Porto</h1><p>It rose.</p>"
    found = clean(read('["example.com"]\ndrop = "h1"'), page=page)
    assert (found.title, found.text) == ("Flood in Porto", "It rose.")


def test_the_headline_can_still_be_left_out(read: Any) -> None:
    overrides = read('["example.com"]\ntitle = ".headline"')
    page = SiteCleaner(headline=False).clean(PAGE, url=URL, overrides=overrides)
    assert page.title == "The flood"
    assert "The flood" not in page.text


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize(
    ("page", "count"),
    [
        *(("", 0), ("<p>", 0), ("<frameset>", 0), ("\0", 0)),
        *((PAGE, 7), ("<html></html><p id=end>x", 1)),
    ],
)
def test_every_method_takes_rules_on_every_page(
    read: Any, method: str, page: str, count: int
) -> None:
    overrides = read('["example.com"]\ndrop = "*"\nkeep = "#end, :root"\ntitle = "h2 b"')
    found = SiteCleaner(method).clean(page, url=URL, overrides=overrides)
    assert len([block for block in found.blocks if block.rule]) == count == len(found.blocks)


# Reading


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('["example.com"]\ndrop = ["a["]', "example.com, drop: 'a[' is no CSS selector"),
        ('["example.com"]\ndrop = "p::text"', "example.com, drop: 'p::text' is no CSS selector"),
        (
            '["example.com"]\ndrop = "u|p"',
            "example.com, drop: 'u|p': neither ':contains' nor a namespace can be used",
        ),
        (
            '["example.com"]\ndrop = "p[u|a]"',
            "example.com, drop: 'p[u|a]': neither ':contains' nor a namespace can be used",
        ),
        ('["example.com"]\ndrop = 3', "example.com, drop: give a CSS selector or a list of them"),
        ('["example.com"]\nkeep = [1]', "example.com, keep: give a CSS selector or a list of them"),
        (
            '["example.com"]\ndorp = "p"',
            "example.com: there is no key 'dorp'; did you mean 'drop'?",
        ),
        (
            '[["a.example".pages]]\nurl = "("',
            "a.example, pages 1, url: '(' is no regular expression",
        ),
        (
            '[["a.example".pages]]\ndrop = "p"',
            "a.example, pages 1: url must be a regular expression",
        ),
        (
            '[["a.example".pages]]\nurl = "x"\nkepp = "p"',
            "a.example, pages 1: there is no key 'kepp'; did you mean 'keep'?",
        ),
        ('["a.example".pages]\nurl = "x"', 'a.example: write [["a.example".pages]] with two'),
        ('[news.example.com]\ndrop = "p"', 'the name of a site needs quotes: ["news.example.com"]'),
        ('["https://example.com/"]\ndrop = "p"', "'https://example.com/' is no site"),
        ('drop = "p"', "'drop' stands outside a site"),
        ("[", "(at "),
    ],
)
def test_errors_name_file_site_and_key(read: Any, tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read(text)
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / 'overrides.toml'}: ")
    assert error in message


def test_a_missing_file_and_foreign_bytes_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"none\.toml: the overrides cannot be read: No such"
    ):
        Overrides.read(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match=r"binary\.toml: 'utf-8' codec"):
        Overrides.read(tmp_path / "binary.toml")
    with pytest.raises(ConfigurationError, match="null byte"):
        Overrides.read("rules\0.toml")


@pytest.mark.parametrize(
    ("selector", "html"),
    [
        ("*:has(* * *)", "<b>" * 600),
        ("b:not(b b b)", "<b>" * 1200),
        ("div:has(div .x)", "<div>" * 1140),
        ("a:not(div div div a)", "<div>" * 400 + "<a>x" * 500),
    ],
)
def test_levels_in_brackets_are_left_out_on_deep_pages(
    selector: str, html: str, caplog: pytest.LogCaptureFixture
) -> None:
    try:
        rules = Overrides.parse(f'["a.example"]\ndrop = ["{selector}", "h1"]\n')
    except ConfigurationError:
        pytest.skip("levels in brackets need cssselect 1.4")
    url = "http://a.example/"
    page = SiteCleaner("style-tree").clean(f"<h1>T</h1>{html}x", url=url, overrides=rules)
    assert f"is too large for the selector {selector!r}" in caplog.text
    assert page.blocks[0].rule == "drop"
    caplog.clear()
    page = SiteCleaner("style-tree").clean(
        "<h1>T</h1>" + "<div>" * 20 + "x", url=url, overrides=rules
    )
    assert not caplog.text


# In a crawl

RULES = """
["127.0.0.1"]
drop = "footer"
keep = "ul li:first-child"

[["127.0.0.1".pages]]
url = "/3$"
drop = "h1"
title = "div > p:last-child"
"""


class RuledSpider(crawl_site.PagesSpider):
    paths = tuple(f"/{number}" for number in range(8))

    def parse(self, response: Response) -> Iterator[Any]:
        yield PageItem(response.url)


@pytest.mark.slow
def test_a_crawl_and_its_cleaning_again_follow_the_rules(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(RULES, "utf-8")
    database = f"sqlite:///{tmp_path / 'noiseclean.db'}"
    settings = {"NOISECLEAN_SAMPLE_QUOTA": 6, "NOISECLEAN_OVERRIDES": "rules.toml"}
    with crawl_site.serve({f"/{n}": crawl_site.story(n) for n in range(8)}) as server:
        (result,) = crawling.crawl(tmp_path, Plan(RuledSpider, settings, {"url": server.url}))
    texts = {item["url"].rpartition("/")[2]: item["text"] for item in result.items}
    assert len(texts) == 8
    for number, text in texts.items():
        assert "Home" in text.splitlines()
        assert crawl_site.RIGHTS not in text
        assert number == "3" or text.startswith(f"Story {number}\nHome\n")
    last = crawl_site.story_text(3).splitlines()[-1]
    assert texts["3"].startswith(f"{last}\n")
    assert "Story 3" not in texts["3"].splitlines()

    with Store(database, read_only=True) as store:
        records = list(store.pages.with_text(server.site))
        assert all(record.learned_version for record in records)
        stored = {record.url[-1]: record.cleaned for record in records if record.cleaned}
        story = crawl_site.story_text(3).splitlines()
        assert stored["3"].title == last
        assert stored["3"].text.splitlines() == [last, "Home", *story[1:-1]]
        rules = {block.text: block.rule for block in stored["3"].blocks}
        assert rules == {
            "Home": "keep",
            crawl_site.NOISE: "",
            "Story 3": "drop",
            **dict.fromkeys(story[1:-1], ""),
            last: "title",
            crawl_site.RIGHTS: "drop",
        }
        places = {block.text: block.place for block in stored["3"].blocks}
        assert places["Home"] == "body/ul/li"
        assert stored["5"].text.splitlines()[:2] == ["Story 5", "Home"]

        # With other rules stored pages are cleaned in another way.
        config = Config(database_url=database)
        model = load_cluster(store, server.site, config).model
        (record,) = (r for r in store.pages.with_html(server.site) if r.url.endswith("/3"))
        assert clean_record(record, model, 2, config).text == crawl_site.story_text(3)


def test_a_wrong_file_stops_the_crawl_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text('["a.example"]\ndrop = "p["', "utf-8")
    settings = {"NOISECLEAN_OVERRIDES": "rules.toml"}
    (result,) = crawling.crawl(tmp_path, Plan(RuledSpider, settings, {"url": "http://127.0.0.1:1"}))
    assert result.error.startswith(
        "ConfigurationError: NOISECLEAN_OVERRIDES: "
        "rules.toml: a.example, drop: 'p[' is no CSS selector"
    )
    assert result.items == []


def test_pages_on_which_selectors_would_take_days(
    read: Any, caplog: pytest.LogCaptureFixture
) -> None:
    rules = read('["news.example.com"]\ndrop = ["p ~ p", "p:last-of-type", "div div b", ".ad"]')
    wide = "<p>x" * 20_000 + "<p class=ad>buy"
    nested = ("<div>" * 90 + "<b>x</b>" * 9 + "</div>" * 90) * 200 + "<p class=ad>buy"
    for body, unasked in ((wide, {"p ~ p", "p:last-of-type"}), (nested, {"div div b"})):
        caplog.clear()
        page = SiteCleaner().clean(body, url=URL, overrides=rules)
        assert [block.rule for block in page.blocks if block.text == "buy"] == ["drop"]
        told = {record.args[1] for record in caplog.records if isinstance(record.args, tuple)}
        assert told == unasked
    page = SiteCleaner().clean("<p>a<p>b<p class=ad>c", url=URL, overrides=rules)
    assert [block.rule for block in page.blocks] == ["", "drop", "drop"]


def test_expressions_that_explode_on_an_address(
    read: Any, caplog: pytest.LogCaptureFixture
) -> None:
    rules = read("""
["news.example.com"]
[["news.example.com".pages]]
url = "(a+)+$"
drop = "p"
[["news.example.com".pages]]
url = "(?i)/LIVE/"
drop = "h1"
""")
    hostile = "http://news.example.com/live/" + "a" * 2000 + "!"
    page = SiteCleaner().clean("<h1>a</h1><p>b", url=hostile, overrides=rules)
    assert [block.rule for block in page.blocks] == ["drop", ""]
    assert "'(a+)+$' takes too long on http://news.example.com/live/aaa" in caplog.text
    config = Config(allow=read_patterns("NOISECLEAN_ALLOW", ["(a+)+$", re.compile("LIVE", re.I)]))
    assert config.wants(hostile)
    assert not Config(allow=config.allow[:1]).wants(hostile)
    assert pickle.loads(pickle.dumps(config)) == config


def test_functions_that_no_selector_has(read: Any) -> None:
    with pytest.raises(ConfigurationError, match="contains"):
        read('["news.example.com"]\ndrop = "p:contains(x)"')


@pytest.mark.parametrize(
    ("html", "dropped"),
    [
        ("<div><p>It  <b>rose</b>\n.</p></div>", "It rose ."),
        ("<div><p> <!-- no -->It <i></i><b>rose.</b> </p>x</div>", "It rose."),
        ("<div><p>It rose. And fell.</p></div>", ""),
        ("<div>" * 90 + "<i></i>" * 500 + "It rose.", "It rose."),
    ],
)
def test_the_text_of_an_element_is_told_by_its_words(read: Any, html: str, dropped: str) -> None:
    overrides = read('["example.com"]\ndrop_text = ["It rose.", "It rose ."]')
    found = SiteCleaner("style-tree").clean(f"<p>Fog.</p>{html}", url=URL, overrides=overrides)
    assert [block.text for block in found.blocks if block.rule == "drop"] == [dropped] * (
        dropped != ""
    )


def test_a_footnote_is_dropped_from_its_sentence(read: Any) -> None:
    overrides = read('["example.com"]\ndrop = "sup.ref"')
    html = "<p>In May<sup class=ref>[1]</sup> the <b>fog<sup class=ref>2</sup></b> lay.</p>"
    html += "<ul><li>low<sup class=ref>3</sup><li><sup class=ref><b>4</b></sup></ul>"
    found = SiteCleaner("style-tree").clean(html, url=URL, overrides=overrides)
    assert found.text == "In May the fog lay.\nlow"
    inner = '["example.com"]\ndrop = "sup.ref"\nkeep = "b"'
    kept = SiteCleaner("style-tree").clean(
        "<p>Low<sup class=ref>3<b>4</b></sup> fog", url=URL, overrides=read(inner)
    )
    assert kept.text == "Low\n⁴\nfog"


@pytest.mark.parametrize("name", ["bücher.example", "Bücher.Example.", "xn--bcher-kva.example"])
def test_names_of_sites_are_those_of_addresses(read: Any, name: str) -> None:
    overrides = read(f'["{name}"]\ndrop = "p"')
    for url in ("http://bücher.example/a", "http://www.xn--bcher-kva.example/a"):
        found = SiteCleaner().clean("<p>Fog</p>", url=url, overrides=overrides)
        assert (found.text, found.blocks[0].rule) == ("", "drop")


def test_a_site_has_one_table_however_it_is_spelled() -> None:
    for other in ('"EXAMPLE.com."', '"example.com."', '"Example.Com"'):
        source = f'["example.com"]\ndrop = ".ad"\n[{other}]\nkeep = "p"\n'
        with pytest.raises(ConfigurationError, match=r"another table is of the same site, example"):
            Overrides.parse(source)
