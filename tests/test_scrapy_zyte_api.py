"""scrapy-zyte-api beside the add-on, with a Zyte API of the test's own on the loopback."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.support import crawl_site
from tests.support.command_line import run_process
from tests.support.databases import read_rows
from tests.support.documents import write_files
from tests.support.servers import Request, serving
from tests.support.services import give_up

SITE = "https://news.example.com"
FILES = {
    "/plain": ("text/html", crawl_site.story(1)),
    "/text": ("text/plain", "A line of a text file that is none of a page."),
    "/data": ("application/json", '["a", "b"]'),
    "/feed": ("application/xml", "<feed><title>News</title></feed>"),
    "/picture": ("image/png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
}
# The documentation's spider, with more to fetch.
SPIDER = f"""
import scrapy
from news import NewsSpider


class MoreSpider(NewsSpider):
    async def start(self):
        async for request in super().start():
            yield request
        for path in {list(FILES)[1:]}:
            yield scrapy.Request({SITE!r} + path)
        meta = {{"zyte_api_automap": {{"product": True}}}}
        yield scrapy.Request({SITE!r} + "/product", meta=meta)
"""


def extract(request: Request) -> None:
    """Answer in the form of https://docs.zyte.com/zyte-api/usage/reference.html."""
    query = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
    answer: dict[str, Any] = {"url": query["url"], "statusCode": 200}
    if query.get("browserHtml"):
        answer["browserHtml"] = crawl_site.story(2)
    elif query.get("product"):
        answer["product"] = {"name": "A chair", "url": query["url"]}
    else:
        content_type, body = FILES[query["url"].removeprefix(SITE)]
        answer["httpResponseBody"] = b64encode(body.encode("latin-1")).decode()
        answer["httpResponseHeaders"] = [{"name": "Content-Type", "value": content_type}]
    request.answer(json.dumps(answer), "application/json")


@pytest.mark.slow
def test_html_of_both_kinds_is_cleaned_and_what_is_none_is_left_alone(tmp_path: Path) -> None:
    if not find_spec("scrapy_zyte_api"):
        give_up("needs pip install scrapy-zyte-api")
    (tmp_path / "more.py").write_text(SPIDER)
    with serving(extract) as port:
        address = f"http://127.0.0.1:{port}/v1/"
        key = '"YOUR_API_KEY"'
        write_files("scrapy-zyte-api.md", tmp_path, {key: f"{key}\nZYTE_API_URL = {address!r}"})
        command = (sys.executable, "-m", "scrapy", "runspider", "more.py", "-O", "items.jsonl")
        run_process(tmp_path, *command, SCRAPY_SETTINGS_MODULE="settings")
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    texts = {item["url"].removeprefix(SITE): item.get("text") for item in items}
    assert texts == {
        "/plain": crawl_site.story_text(1),
        "/rendered": crawl_site.story_text(2),
        "/text": FILES["/text"][1],
        "/data": None,
        "/feed": None,
        "/picture": None,
        "/product": None,
    }
    rows = read_rows(f"sqlite:///{tmp_path}/noiseclean.db", "SELECT url, text FROM noiseclean_page")
    assert {url.removeprefix(SITE): text for url, text in rows} == {
        path: text for path, text in texts.items() if text
    }
