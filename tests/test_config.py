"""Settings: what is accepted, and what is said about what is not."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from sqlalchemy import make_url

from noiseclean_scrapy.batch.spark_output import describe
from noiseclean_scrapy.batch.two_pass import (
    Learning,
    SiteCleaners,
    archive_pages,
    clean_source_page,
    cleaned_row,
)
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.errors import ConfigurationError
from noiseclean_scrapy.page.overrides import NO_OVERRIDES
from tests.support.crawl_site import story, write_pages

RESPONSE = HtmlResponse("http://News.example.co.uk:81/a", body=b"<p>a", encoding="utf-8")


def config(**settings: Any) -> Config:
    named = {f"NOISECLEAN_{name.upper()}": value for name, value in settings.items()}
    return Config.from_settings(Settings({"BOT_NAME": "bot", **named}))


def by_last_digit(response: HtmlResponse) -> str | None:
    return f"digit {response.url[-1]}" if response.url[-1].isdigit() else None


def test_without_settings_the_defaults_hold() -> None:
    defaults = config()
    assert defaults.enabled
    assert not defaults.read_only
    assert defaults.store_html
    assert defaults.database_url == "sqlite:///noiseclean.db"
    assert (defaults.sample_quota, defaults.refresh_pages, defaults.batch_size) == (100, 500, 50)
    assert defaults.fields == {"title": "title", "text": "text"}
    assert defaults.cluster_by(RESPONSE) == "example.co.uk"
    assert config(sample_quota=None).sample_quota == 100


def test_settings_of_the_command_line_are_read() -> None:
    read = config(
        sample_quota=" 7 ",
        enabled="0",
        store_html="False",
        read_only="no",
        allow_domains="a.example, b.example,",
        allow=r"/\d{2,3}",
        deny='["/a,b", "[0-9]$"]',
        overrides="",
    )
    assert read.sample_quota == 7
    assert not read.enabled
    assert not read.store_html
    assert not read.read_only
    assert read.allow_domains == ("a.example", "b.example")
    assert [pattern.pattern for pattern in read.allow] == [r"/\d{2,3}"]
    assert [pattern.pattern for pattern in read.deny] == ["/a,b", "[0-9]$"]
    for pattern in ("[0-9]", "[12]"):
        assert [found.pattern for found in config(deny=pattern).deny] == [pattern]
    assert read.overrides == NO_OVERRIDES


@pytest.mark.parametrize("name", ["sample_quota", "refresh_pages", "batch_size", "max_tree_nodes"])
@pytest.mark.parametrize("value", [0, -3, "many", True, 2.5, float("inf"), [5], 10**9 + 1])
def test_counts_are_whole_numbers(name: str, value: Any) -> None:
    assert_refuses(name, value, "a whole number from 1 to 1,000,000,000", repr(value))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("enabled", "maybe", "True or False"),
        ("read_only", 2, "True or False"),
        ("store_html", [], "True or False"),
        ("metadata", 2, "True or False"),
        ("overrides", 7, "the path of a TOML file"),
        ("method", "magic", "one of "),
        ("method", ["style-tree"], "one of"),
        ("database_url", "noiseclean.db", "a database URL such as sqlite:///noiseclean.db"),
        ("database_url", 5, "a database URL such as sqlite:///noiseclean.db"),
        ("allow_domains", 5, "a list of strings"),
        ("deny_domains", ["a.example", 5], "a list of strings"),
        *(
            ("allow_domains", domain, "a list of host names")
            for domain in ("http://a.example", "a.example:80", "a.example/x", "*.a.example", ".")
        ),
        ("allow", ["a", "("], "a list of regular expressions"),
        ("deny", 5, "a list of regular expressions"),
        ("deny", [b"a"], "a list of regular expressions"),
        ("site_budget", -1, "a whole number from 0 to 1,000,000,000"),
        ("database_url", "sqlite://x.db", "a path has three slashes before it, sqlite:///"),
        ("fields", "text", "a dict of item field to value name"),
        ("fields", {5: "text"}, "a dict of item field to value name"),
        ("fields", '["text"]', "a dict of item field to value name"),
        ("method_options", "lean", "a dict of option name to value"),
        ("idle_seconds", 1e12, "a number of seconds above 0, and at most 1,000,000,000"),
        ("batch_seconds", -1, "a number of seconds above 0"),
        ("metrics", "9410", "an address to listen at, such as 127.0.0.1:9410"),
        pytest.param("metrics", f"a:{'9' * 5000}", "an address to listen at", id="long-port"),
        ("frontier", "localhost", "a Redis URL such as redis://host:6379/0"),
        ("frontier", "redis://localhost:x/0", "its port is no number"),
        ("frontier_lease_seconds", "0.2", "a number of seconds from 2 on"),
        ("frontier_part", 1, "below the number of parts in NOISECLEAN_FRONTIER"),
        ("cluster_by", "planet", "'domain', 'host', 'template', or a callable"),
        ("cluster_by", f"{__name__}.missing", "a callable"),
        ("cluster_by", "../../by_url", "a callable"),
        ("method", "../../method", "cannot be imported"),
        ("cluster_by", f"{__name__}.RESPONSE", "a callable"),
        ("cluster_by", 5, "a callable"),
        ("allow", {"/a/": False}, "a list of regular expressions"),
        ("spool", __file__, "the path of a folder: what is there is none"),
        ("spool", f"{__file__}/pages", "the path of a folder (Not a directory)"),
        ("warc", "a\0b", "the path of a folder ("),
        ("warc", "a" * 300, "the path of a folder (File name too long)"),
    ],
)
def test_wrong_values_are_named(name: str, value: Any, expected: str) -> None:
    assert_refuses(name, value, expected, repr(value))


@pytest.mark.parametrize(
    ("name", "value", "module", "extra"),
    [
        ("frontier", "redis://localhost:6379/0", "redis", "redis"),
        ("warc", "pages", "warcio", "warc"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, module: str, extra: str
) -> None:
    monkeypatch.setattr("noiseclean_scrapy.config.readers.find_spec", lambda wanted: None)
    read = config(**{name: value})  # as commands read it, which need no such library
    with pytest.raises(ConfigurationError) as caught:
        read.require_libraries()
    assert str(caught.value) == (
        f"NOISECLEAN_{name.upper()} needs {module}: pip install 'noiseclean-scrapy[{extra}]'"
    )


def test_an_option_that_no_connection_to_redis_has_is_refused_before_the_crawl() -> None:
    pytest.importorskip("redis", reason="needs the extra redis")
    config(frontier="redis://:secret@localhost:6379/0?socket_timeout=5").require_libraries()
    read = config(frontier="redis://:secret@localhost:6379/0?foo=bar")
    with pytest.raises(ConfigurationError, match="foo") as caught:
        read.require_libraries()
    assert "redis://:***@localhost:6379/0?foo=bar" in str(caught.value)
    with pytest.raises(ConfigurationError, match="protocol"):
        config(frontier="redis://localhost?protocol=9").require_libraries()


def test_a_comma_in_a_password_of_redis_parts_no_urls() -> None:
    urls = ("redis://:geheim,streng@127.0.0.1:6390/0", "unix:///run/redis.sock", "rediss://b")
    assert config(frontier=", ".join(urls)).frontier == urls
    assert config(frontier=[*urls, ""]).frontier == urls
    with pytest.raises(ConfigurationError, match="must be a Redis URL"):
        config(frontier="redis://a:6379/0, b:6379/0")
    with pytest.raises(ConfigurationError) as caught:
        config(frontier="redis://:geheim,streng@127.0.0.1:x/0,redis://b")
    assert "redis://:***@127.0.0.1:x/0" in str(caught.value)


@pytest.mark.parametrize("value", ["", [], [""], ()])
def test_an_empty_pattern_is_none(value: Any) -> None:
    read = config(allow=value, deny=value)
    assert (read.allow, read.deny) == ((), ())
    assert read.wants("http://a.example/")


def test_addresses_of_metrics() -> None:
    assert config(metrics="[::1]:9410").metrics == config(metrics="::1:9410").metrics
    assert config(metrics="[::1]:9410").metrics == ("::1", 9410)
    assert config(metrics="localhost:0").metrics == ("localhost", 0)


def test_the_methods_are_listed_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        config(method="magic")
    assert str(caught.value).count("style-tree") == 1


def test_dicts_are_written_in_json_on_a_command_line() -> None:
    read = config(method_options='{"lean": "recall"}', fields='{"body": "text"}')
    assert read.method_options == {"lean": "recall"}
    assert read.fields == {"body": "text"}


def test_lists_are_written_in_json_or_with_commas_on_a_command_line() -> None:
    for value in ('["a.example", "b.example"]', "a.example, b.example"):
        assert config(deny_domains=value).deny_domains == ("a.example", "b.example")
    urls = "redis://a/0", "redis://b/0"
    assert config(frontier=json.dumps(urls)).frontier == config(frontier=", ".join(urls)).frontier
    assert config(deny="[]").deny == config(deny_domains="[]").deny_domains == ()


def test_an_empty_value_switches_off_what_is_off_by_default() -> None:
    names = "topic metrics method_options overrides allow allow_domains html_store warc frontier"
    assert config(**dict.fromkeys(names.split(), "")) == config()
    with pytest.raises(ConfigurationError, match="NOISECLEAN_SAMPLE_QUOTA must be"):
        config(sample_quota="")


def test_a_wrong_field_value_is_named_with_the_right_ones() -> None:
    assert_refuses(
        "fields",
        {"body": "content"},
        "url, title, text, html, markdown, author, published, language, canonical_url, image",
        "'content'",
    )


def assert_refuses(name: str, value: Any, expected: str, given: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        config(**{name: value})
    message = str(caught.value)
    assert message.startswith(f"NOISECLEAN_{name.upper()} must be ")
    assert expected in message
    assert message.endswith(f"not {given}")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("SAMPLE_QOUTA", "SAMPLE_QUOTA"),
        ("DATABASE", "DATABASE_URL"),
        ("ENABLE", "ENABLED"),
        ("FIELD", "FIELDS"),
    ],
)
def test_an_unknown_setting_suggests_the_nearest(wrong: str, right: str) -> None:
    message = f"there is no setting NOISECLEAN_{wrong.upper()}; did you mean NOISECLEAN_"
    with pytest.raises(ConfigurationError, match=re.escape(message)) as caught:
        config(**{wrong: 1})
    assert str(caught.value).endswith(f"{right}?")
    small = {"NOISECLEAN_sample_quota": 3}
    with pytest.raises(ConfigurationError, match=r"sample_quota; did you mean .*_SAMPLE_QUOTA\?"):
        Config.from_settings(small)
    with pytest.raises(ConfigurationError, match=r"^there is no setting NOISECLEAN_ZZZ$"):
        config(zzz=1)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("method_options", {"thickness": 1}, "the method 'evidence' has no option 'thickness'"),
        ("overrides", "/none.toml", "/none.toml: the overrides cannot be read"),
    ],
)
def test_what_is_wrong_within_a_value_is_told_with_the_setting(
    name: str, value: Any, reason: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        config(**{name: value})
    assert str(caught.value).startswith(f"NOISECLEAN_{name.upper()}: {reason}")


def test_every_setting_says_whether_it_alters_what_is_made_of_archives(tmp_path: Path) -> None:
    """Spark goes on with a job whose settings that alter its output are the same."""
    told = {setting.name: setting.metadata.get("alters_batches") for setting in fields(Config)}
    assert set(told.values()) == {True, False}, "a new setting says nothing"
    assert config().of_batches.keys() == {name for name, alters in told.items() if alters}
    job = describe(["a.warc"], config(), "text")
    rules = tmp_path / "rules.toml"
    rules.write_text('["a.example"]\ndrop = "p"\n')
    another = {**ANOTHER, "overrides": rules}
    for name, value in another.items():
        is_same = describe(["a.warc"], config(**{name: value}), "text") == job
        assert is_same is not told[name], name
    assert another.keys() == told.keys() - {"templates"}
    # Python cuts what it writes of a long pattern.
    one, other = (describe(["a.warc"], config(deny=["x" * 300 + end]), "text") for end in "ab")
    assert one != other


def test_settings_of_crawls_alter_nothing_that_is_made_of_an_archive(tmp_path: Path) -> None:
    source = str(write_pages(tmp_path / "pages", map(story, range(12))))
    altering = config().of_batches
    of_crawls = {name: value for name, value in ANOTHER.items() if name not in altering}
    rows = [cleaned_rows(source, made) for made in (config(), config(**of_crawls))]
    assert len(rows[0]) == 12
    assert rows[0] == rows[1]


def cleaned_rows(source: str, made: Config) -> list[dict[str, Any]]:
    cleaners = SiteCleaners(made, Path(source).parent)
    list(Learning(cleaners).learn(archive_pages(source, made)))
    return [
        cleaned_row(clean_source_page(page, cleaners[page.site].model(), made), "text")
        for page in archive_pages(source, made)
    ]


ANOTHER = {
    "enabled": False,
    "database_url": "sqlite:///other.db",
    "method": "style-tree",
    "method_options": {"lean": "recall"},
    "cluster_by": "host",
    "sample_quota": 3,
    "refresh_pages": 7,
    "archive_sample": 5,
    "allow_domains": "a.example",
    "deny_domains": "a.example",
    "allow": "/a",
    "deny": "/a",
    "fields": {"body": "text"},
    "store_html": False,
    "html_store": "",
    "search": False,
    "metadata": False,
    "batch_size": 3,
    "batch_seconds": 3,
    "idle_seconds": 60.0,
    "max_tree_nodes": 300,
    "max_page_bytes": 5_000,
    "max_page_elements": 5_000,
    "hidden_text": True,
    "include_links": True,
    "include_images": True,
    "include_formatting": False,
    "read_only": True,
    "live": True,
    "topic": ["wind power at sea"],
    "site_budget": 3,
    "revisits": 3,
    "revisit_seconds": 3,
    "writer_process": True,
    "spool": "spool.db",
    "final_feeds": True,
    "warc": "archives",
    "metrics": "127.0.0.1:9410",
    "frontier": "redis://127.0.0.1:6379/0",
    "frontier_part": 0,
    "frontier_lease_seconds": 30.0,
}
"""Of each setting another value than its default; but for `overrides`, which is a file."""


def test_passwords_are_not_shown() -> None:
    url = "postgresql+psycopg://user:secret@db.example/pages"
    assert config(database_url=url).database_url == url
    assert config(database_url=make_url(url)).database_url == url
    assert config(database_url=url).display_url == url.replace("secret", "***")
    with pytest.raises(ConfigurationError) as caught:
        config(database_url="postgresql//user:secret@db.example/pages")
    assert "secret" not in str(caught.value)
    assert "user:***@db.example" in str(caught.value)


def test_addresses_are_allowed_and_denied() -> None:
    rules = config(
        allow_domains=["example.org"],
        deny_domains="shop.example.org",
        allow=[r"/\d+", re.compile("/NEWS/", re.IGNORECASE)],
        deny=r"[?&]print=1",
    )
    assert rules.wants("http://example.org/12")
    assert rules.wants("http://www.example.org/news/today")
    assert rules.wants("http://WWW.example.org:8080/12")
    assert not rules.wants("http://shop.example.org:8080/12")
    assert not rules.wants("http://notexample.org/12")
    assert not rules.wants("http://example.com/12")
    assert not rules.wants("http://shop.example.org/12")
    assert not rules.wants("http://example.org/about")
    abroad = config(allow_domains=[".Bücher.example."])
    assert abroad.wants("http://xn--bcher-kva.example/12")
    assert abroad.wants("http://bücher.example/12")
    assert not abroad.wants("http://example/12")
    assert not rules.wants("http://example.org/12?a=b&print=1")
    assert config().wants("http://example.com/")


def test_clusters_are_named_as_told() -> None:
    assert config(cluster_by="host").cluster_by(RESPONSE) == "news.example.co.uk"
    assert config(cluster_by="template").cluster_by(RESPONSE) == "example.co.uk"
    assert config(cluster_by="template").templates
    assert not config(cluster_by="host").templates
    seventh = HtmlResponse("http://a.example/7")
    for given in (by_last_digit, f"{__name__}.by_last_digit"):
        assert config(cluster_by=given).cluster_by(seventh) == "digit 7"
        assert config(cluster_by=given).cluster_by(RESPONSE) is None


async def by_coroutine(response: Any) -> str:
    return "site"


def test_a_callable_that_is_async_names_no_clusters() -> None:
    with pytest.raises(ConfigurationError, match=r"CLUSTER_BY must be .* not async, that takes"):
        config(cluster_by=by_coroutine)


@pytest.mark.parametrize("name", [5, b"site", ["site"], "x" * 501])
def test_what_is_no_name_of_a_cluster_is_told(name: Any) -> None:
    by = config(cluster_by=lambda response: name).cluster_by
    told = r"NOISECLEAN_CLUSTER_BY gave .* for https?://\S+, expected None or a name of at most 500"
    with pytest.raises(ConfigurationError, match=told):
        by(RESPONSE)


def test_why_a_path_gives_no_callable_is_told() -> None:
    with pytest.raises(ConfigurationError, match="No module named 'no_such_module'"):
        config(cluster_by="no_such_module.by")


def test_a_callable_is_the_same_to_every_process_of_a_job() -> None:
    given = [config(cluster_by=by) for by in (by_last_digit, f"{__name__}.by_last_digit")]
    first, second = (describe(["a.warc"], one, "text") for one in given)
    assert first == second
    assert f"{__name__}.by_last_digit" in first
    assert " at 0x" not in first


def test_the_spool_of_a_database_is_found_however_its_url_is_spelled() -> None:
    spellings = [
        "postgresql://root@127.0.0.1/news",
        "postgresql+psycopg2://other:word@127.0.0.1:5432/news?sslmode=prefer",
        "postgresql+psycopg://127.0.0.1/news?application_name=a&connect_timeout=3",
    ]
    paths = {Config(database_url=url).spool_path for url in spellings}
    assert len(paths) == 1
    schema = "127.0.0.1/news?options=-csearch_path=a"
    for other in ("127.0.0.1/other", "127.0.0.1:5433/news", schema):
        assert Config(database_url=f"postgresql://{other}").spool_path not in paths
