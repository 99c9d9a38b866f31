"""What a page may be given as, and what is said of that which is no page."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile
from pathlib import Path

import pytest
from lxml import etree, html
from parsel import Selector
from scrapy.http import HtmlResponse, Response, TextResponse, XmlResponse

from noiseclean_scrapy import SiteCleaner
from noiseclean_scrapy.batch.fetching import FetchedPages
from noiseclean_scrapy.config import Config
from noiseclean_scrapy.page import Html, PageBudget
from noiseclean_scrapy.store import Store
from tests.support.command_line import noiseclean
from tests.support.crawl_site import story, story_text, write_pages

STORY = story(1).replace("Story 1", "Größe der Štory")
URL = "https://courier.example/1"
RANDOM = random.Random(0).randbytes(3000)
FEED = "<channel><item><title>Fog</title><description>Ferries stay in port</description></item>"


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("page.html", STORY)
    return file.getvalue()


OTHERS: dict[str, tuple[bytes | str, str]] = {
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj", "PDF"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + RANDOM, "PNG image"),
    "jpeg": (b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1" + RANDOM, "JPEG image"),
    "gif": (b"GIF89a\1\0\1\0" + RANDOM, "GIF image"),
    "webp": (b"RIFF\x24\0\0\0WEBPVP8 " + RANDOM, "WebP image"),
    "svg": ('<?xml version="1.0"?><svg xmlns="x"><text>a</text></svg>\n', "SVG image"),
    "zip": (zipped(), "ZIP archive"),
    "gzip": (gzip.compress(STORY.encode()), "gzip archive"),
    "bzip2": (bz2.compress(STORY.encode()), "bzip2 archive"),
    "xz": (lzma.compress(STORY.encode()), "xz archive"),
    "json": (json.dumps({"text": STORY}), "JSON"),
    "json, empty": (" {} ", "JSON"),
    "json, list": (json.dumps([1, 2, {"a": "<p>b</p>"}], indent=1), "JSON"),
    "json, lines": ('{"a": 1}\n{"a": 2}\n', "JSON"),
    "json, cut off": ('{"html": "<p>' + "a" * 9000, "JSON"),
    "rss": (f'<?xml version="1.0"?><!-- news --><rss version="2.0">{FEED}', "RSS feed"),
    "rdf": (f'<rdf:RDF xmlns="http://purl.org/rss/1.0/">{FEED}', "RSS feed"),
    "atom": ('\ufeff<feed xmlns="http://www.w3.org/2005/Atom"><title>a</title>', "Atom feed"),
    "sitemap": ("<?xml version='1.0'?>\n<urlset><url><loc>a</loc></url></urlset>", "sitemap"),
    "unknown": (RANDOM, "binary data"),
}
PAGES = (
    STORY,
    "no markup at all",
    "[1] A footnote that stands alone",
    "{{ template }} <p>text</p>",
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><p>text</p></html>',
    "<svg><path d='M0 0'/></svg><p>an icon above the text</p>",
    "BMW and RIFF raff, PK and MM",
    STORY.encode("utf-16"),
    "Fog in the harbour, " * 50 + "\x01\x02",
)


@pytest.mark.parametrize(("source", "kind"), OTHERS.values(), ids=OTHERS)
def test_what_is_no_page_has_no_text_and_says_what_it_is(source: bytes | str, kind: str) -> None:
    cleaner = SiteCleaner("style-tree")
    data = source if isinstance(source, bytes) else source.encode()
    decoded = TextResponse(URL, body=data).text
    cleaner.observe(io.BytesIO(data))
    for given in (source, data, decoded, HtmlResponse(URL, body=data), io.BytesIO(data)):
        page = cleaner.clean(given)
        assert (page.problem, page.text, page.title) == (f"not HTML: {kind}", "", "")
    assert cleaner.pages == 0


@pytest.mark.parametrize("source", PAGES)
def test_pages_are_pages(source: Html) -> None:
    page = SiteCleaner("style-tree").clean(source)
    assert page.problem == ""
    assert page.text


def test_a_page_comes_as_what_people_have(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(STORY.encode())
    latin = STORY.replace("Š", "S").encode("iso-8859-1")
    headers = {"Content-Type": "text/html; charset=iso-8859-1"}
    cleaner = SiteCleaner("style-tree")
    expected = cleaner.clean(STORY).text
    assert "Größe" in expected
    with (
        file.open("rb") as of_bytes,
        file.open("rb", buffering=0) as unbuffered,
        file.open(encoding="utf-8") as of_text,
    ):
        sources: list[Html] = [
            STORY.encode(),
            bytearray(STORY.encode()),
            memoryview(STORY.encode()),
            file,
            of_bytes,
            of_text,
            unbuffered,
            Selector(STORY),
            html.document_fromstring(STORY),
            HtmlResponse(URL, body=STORY.encode()),
            Response(URL, body=STORY.encode()),
        ]
        for source in sources:
            page = cleaner.clean(source)
            assert (page.text, page.problem) == (expected, "")
    response = HtmlResponse(URL, headers=headers, body=latin)
    assert cleaner.clean(response).text == expected.replace("Š", "S")
    assert cleaner.clean(response).url == URL
    assert cleaner.clean(response, url="https://other.example/").url == "https://other.example/"


@pytest.mark.parametrize("charset", ["base64", "idna", "punycode", "rot13", "undefined", "UTF-7"])
@pytest.mark.parametrize("markup", [story(1), STORY])
def test_a_charset_that_is_none_is_passed_over(charset: str, markup: str) -> None:
    for encoding in ("utf-8", "cp1250"):
        body = markup.replace("<head>", f"<head><meta charset={charset}>").encode(encoding)
        headers = {"Content-Type": f"text/html; charset={charset}"}
        responses = (HtmlResponse(URL, body=body), HtmlResponse(URL, body=body, headers=headers))
        sources: tuple[Html, ...] = (body, *responses)
        expected = SiteCleaner().clean(markup.encode()).text.splitlines()[1:]
        for source in sources:
            assert SiteCleaner().clean(source).text.splitlines()[1:] == expected
            SiteCleaner().observe(source)


def test_parsed_feeds_and_json_are_no_pages() -> None:
    clean = SiteCleaner().clean
    feed = f"<rss>{FEED}</channel></rss>"
    for source in (
        etree.fromstring(feed),
        Selector(feed, type="xml"),
        XmlResponse(URL, body=feed.encode()),
    ):
        assert clean(source).problem == "not HTML: RSS feed"
    assert clean(Selector('{"a": [1]}', type="json")).problem == "not HTML: JSON"


def test_what_cannot_be_a_page_is_a_type_error() -> None:
    cleaner = SiteCleaner()
    with pytest.raises(TypeError, match=r"a page is bytes, str, .* not None"):
        cleaner.clean(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Scrapy response, .* not int"):
        cleaner.observe(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"a Path, .* not list"):
        cleaner.clean(["<p>a"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not SelectorList"):
        cleaner.clean(Selector("<p>a").css("p"))  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        cleaner.clean(Path("/nowhere/page.html"))
    with pytest.raises(TypeError, match=r"what Overrides.read\(path\) gives, not 'rules.toml'"):
        cleaner.clean("<p>a", overrides="rules.toml")  # type: ignore[arg-type]


def test_of_files_no_more_is_read_than_the_budget(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<p>one</p>" * 1000)
    page = SiteCleaner(budget=PageBudget(markup=100)).clean(file)
    assert len(page.blocks) == 10
    assert page.problem == "longer than the budget for one page: its end is left out"


def test_empty_pages_say_so() -> None:
    for source in ("", b"", "<body></body>", "<script>var a</script>"):
        assert SiteCleaner().clean(source).problem == "no text"


def test_clean_counts_what_is_no_page(tmp_path: Path) -> None:
    folder = write_pages(tmp_path / "pages", map(story, range(4)))
    for number, name in enumerate(("pdf", "pdf", "json")):
        data = OTHERS[name][0]
        path = folder / f"{number + 4:02}.html"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    done = noiseclean(tmp_path, "clean", "pages", "--format", "jsonl", "--method", "style-tree")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["text"] for row in rows[4:]] == [""] * 3
    assert story_text(2) == rows[2]["text"]
    assert "7 pages of 1 site cleaned" in done.stderr
    assert "no HTML: 2 PDF, 1 JSON" in done.stderr
    lone = noiseclean(tmp_path, "clean", "pages/04.html", code=1)
    assert lone.stdout.strip() == ""
    assert "no HTML: 1 PDF" in lone.stderr


@pytest.mark.parametrize("page", ["https://courier.example/1", "pages/1.html"])
def test_an_address_in_place_of_a_page_is_told(page: str) -> None:
    found = SiteCleaner().clean(page)
    assert found.problem == ("not HTML: an address or file name; give the page's bytes, or a Path")
    for markup in (f"<p>{page} is closed", f"<p>{page}", f"<p>Fog</p><a href=b>{page}"):
        assert not SiteCleaner().clean(markup).problem
    cleaner = SiteCleaner()
    cleaner.observe(page)
    cleaner.observe(page.encode())
    assert cleaner.pages == 0
    cleaner.observe(f"<p>{page}")
    assert cleaner.pages == 1


def test_what_is_no_page_is_told_with_what_may_help() -> None:
    class Other:
        content = b"<p>fog"

    with pytest.raises(TypeError, match=r"a page is .*, not Other; give its bytes \(.content\)"):
        SiteCleaner().clean(Other())  # type: ignore[arg-type]


def test_a_fetched_page_whose_charset_is_none_of_a_text_is_kept() -> None:
    headers = {"Content-Type": "text/html; charset=idna"}
    response = HtmlResponse(URL, headers=headers, body=STORY.encode())
    with Store("sqlite://", store_html=True) as store:
        pages = FetchedPages([URL], store, Config())
        assert pages.keep(URL, response)
        (page,) = pages
    assert page.html == STORY


def test_of_a_fetched_page_as_much_is_kept_as_is_read() -> None:
    response = HtmlResponse(URL, body=b"<p>fog" + b"<p>x" * 5_000, encoding="utf-8")
    config = Config(max_page_bytes=1000)
    with Store("sqlite://", store_html=True) as store:
        pages = FetchedPages([URL], store, config)
        assert pages.keep(URL, response)
        (page,) = pages
    assert page.html.startswith("<p>fog<p>x")
    assert len(page.html) <= 1000
