"""What an installation must be able to do, with nothing else at hand: run in an empty folder.

Cleans pages, writes both reports, crawls a loopback site from a new Scrapy project, and runs every
command on what that has stored.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import noiseclean_scrapy
from noiseclean_scrapy import SiteCleaner, kernels
from noiseclean_scrapy.report import page_report, site_report
from noiseclean_scrapy.store import Store

COUNT = 8
SPIDER = """
import scrapy
from noiseclean_scrapy import PageItem


class Harbour(scrapy.Spider):
    name = "harbour"

    def __init__(self, url):
        self.start_urls = [url]

    def parse(self, response):
        yield PageItem(url=response.url)
        yield from response.follow_all(css="a")
"""
SETTINGS = """
ADDONS = {"noiseclean_scrapy.Addon": 300}
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 8
"""


def story(number: int) -> str:
    return f"On day {number} the ferry left the harbour with {number * 7} people and three dogs."


def page(number: int) -> str:
    links = "".join(f"<li><a href=/{other}>Story {other}</a>" for other in range(COUNT))
    return (
        f"<!DOCTYPE html><html lang=en><title>Day {number} - The Harbour</title>"
        f"<body><nav><ul>{links}</ul></nav><main><h1>Day {number} at the ferry</h1>"
        f"<p>{story(number)}</p><p>{story(number)} It came back at night, as it always does.</p>"
        "</main><footer>The Harbour. All rights reserved.</footer></body></html>"
    )


def main() -> None:
    where = Path(noiseclean_scrapy.__file__).parent
    assert where.is_relative_to(sys.prefix), f"{where} is not what was installed"
    if sys.platform != "win32" and shutil.which("cc"):
        assert None not in (kernels.blocks, kernels.nodes, kernels.texts), "not compiled"
    clean_pages()
    with site() as url:
        project, items = crawl(url)
        texts = {int(item["url"].rpartition("/")[2]): item["text"] for item in items}
        assert set(texts) == set(range(COUNT)), items
        for number, text in texts.items():
            assert story(number) in text, text
            assert "All rights reserved" not in text, text
        run_commands(project, url)
    print(f"{where.name} {noiseclean_scrapy.__version__} cleans, reports, crawls; all commands run")


def clean_pages() -> None:
    cleaner = SiteCleaner()
    for number in range(COUNT):
        cleaner.observe(page(number))
    clean = SiteCleaner.from_bytes(cleaner.to_bytes()).clean(page(3))
    assert story(3) in clean.text
    assert "rights" not in clean.text
    check_report(page_report(clean, page(3)))


def check_report(report: str) -> None:
    assert "<style" in report
    assert "<script" in report
    assert len(report) > 10_000


@contextmanager
def site() -> Iterator[str]:
    """A loopback server with pages that link to each other."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = re.fullmatch(r"/(\d?)", self.path)
            body = page(int(known[1] or 0)).encode() if known else b"User-agent: *"
            self.send_response(200)
            self.send_header("Content-Type", f"text/{'html' if known else 'plain'}; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/0"
        server.shutdown()


def run(folder: Path, *command: str, code: int = 0) -> str:
    """What a Python module prints when it is run so; it must end with this exit code."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", *command],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr if code else done.stdout


def crawl(url: str) -> tuple[Path, list[dict[str, str]]]:
    """A new project with the add-on, and the items of a crawl of it."""
    run(Path(), "scrapy", "startproject", "news")
    project = Path("news").resolve()
    with (project / "news" / "settings.py").open("a", encoding="utf-8") as settings:
        settings.write(SETTINGS)
    (project / "news" / "spiders" / "harbour.py").write_text(SPIDER, encoding="utf-8")
    run(project, "scrapy", "crawl", "harbour", "-a", f"url={url}", "-O", "items.json")
    return project, json.loads((project / "items.json").read_text(encoding="utf-8"))


def run_commands(project: Path, url: str) -> None:
    (project / "pages").mkdir()
    for number in range(COUNT):
        (project / "pages" / f"{number}.html").write_text(page(number), encoding="utf-8")
    sites = run(project, "scrapy", "noiseclean", "sites", "--json")
    (name,) = (found["name"] for found in json.loads(sites))
    with Store(f"sqlite:///{project / 'noiseclean.db'}", read_only=True) as store:
        check_report(site_report(store, name))
    # Each command with its arguments, and what is printed or in the file that it writes.
    calls = [
        ("sites", "", name),
        ("search", "ferry", "ferry"),
        ("show", url, story(0)),
        ("explain", url, "kept"),
        ("inspect", f"{name} --no-open -o site.html", "<script"),
        ("inspect", f"{url} --no-open -o page.html", "<script"),
        ("reclean", "", ""),
        ("refresh", "items.json", ""),
        ("check", "", ""),
        ("index", "", ""),
        ("crawl", f"{url} --delay 0 --pages 3 --database crawled.db", ""),
        ("replay", "pages --database replayed.db", ""),
        ("export", "-o export.jsonl", story(5)),
        ("clean", "pages -o clean.jsonl", story(5)),
        ("export-tree", f"{name} -o tree", ""),
        ("import-tree", f"{name} tree --replace", ""),
        ("forget", f"{name} --yes", ""),
    ]
    listed = re.findall(
        r"^    ([a-z-]+)(?: |$)", run(project, "noiseclean_scrapy", "--help"), re.MULTILINE
    )
    told = run(project, "noiseclean_scrapy", "serve", "--no-open", code=2)
    assert "pip install 'noiseclean-scrapy[web]'" in told, told
    told = run(project, "noiseclean_scrapy", "partition", "--database", "parts.db", code=1)
    assert "PostgreSQL" in told, told
    tried = {"serve", "partition", *(command for command, *_ in calls)}
    assert tried == set(listed), f"listed and tried differ in {tried ^ set(listed)}"
    for command, arguments, expected in calls:
        printed = run(project, "noiseclean_scrapy", command, *arguments.split())
        _, written, file = arguments.partition("-o ")
        if written and command != "export-tree":
            printed = (project / file).read_text(encoding="utf-8")
        assert expected in printed, f"{command} {arguments}: {printed}"


if __name__ == "__main__":
    main()
