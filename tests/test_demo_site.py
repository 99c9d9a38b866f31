"""The demo newspaper: same bytes each time, known content, every page within reach."""

from __future__ import annotations

import hashlib
import re
import socket
import struct
import sys
from collections import Counter, deque
from collections.abc import Callable
from html.parser import HTMLParser
from statistics import mean
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import urlopen

import pytest

from example_project.demo import DemoPage, DemoServer, DemoSite
from example_project.demo.__main__ import main
from example_project.scoring import mean_score, score
from noiseclean_scrapy import SiteCleaner
from tests.support.command_line import ROOT, run_process

ARTICLE_TEMPLATES = {"standard", "feature", "live", "review"}
HIDDEN = {"script", "style", "noscript", "title"}
INLINE = {"a", "em", "strong", "small", "span", "b", "i"}


class VisibleText(HTMLParser):
    """Lines of visible text, one a block, and the links of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self._hidden = 0
        self._pieces: list[str] = []
        self.feed(html)
        self.close()
        lines = (" ".join(line.split()) for line in "".join(self._pieces).split("\0"))
        self.lines = [line for line in lines if line]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in HIDDEN
        if tag not in INLINE:
            self._pieces.append("\0")
        self.links += [value for name, value in attrs if tag == "a" and name == "href" and value]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in HIDDEN
        if tag not in INLINE:
            self._pieces.append("\0")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._pieces.append(data)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def sentences(text: str) -> list[str]:
    parts = re.split(r"(?<=[.!?])\s+", text)
    return [part for part in parts if len(part.split()) > 3]


def noise_lines(page: DemoPage) -> list[str]:
    left = Counter(page.gold.splitlines())
    noise = []
    for line in VisibleText(page.html).lines:
        if left[line]:
            left[line] -= 1
        else:
            noise.append(line)
    return noise


def digest(site: DemoSite) -> str:
    state = hashlib.sha256()
    for path, page in site.pages.items():
        state.update(f"{path}\n{page.title}\n{page.html}\n{page.gold}\n".encode())
    return state.hexdigest()


@pytest.fixture(scope="module")
def site() -> DemoSite:
    return DemoSite()


@pytest.fixture(scope="module")
def articles(site: DemoSite) -> list[DemoPage]:
    return [page for page in site.pages.values() if page.kind == "article"]


@pytest.mark.slow
def test_same_arguments_give_the_same_bytes_in_another_process(site: DemoSite) -> None:
    code = (
        "from tests.test_demo_site import DemoSite, digest\n"
        "print(digest(DemoSite(articles=120, seed=7)))"
    )
    for hash_seed in ("1", "2"):
        answer = run_process(ROOT, sys.executable, "-c", code, PYTHONHASHSEED=hash_seed)
        assert answer.stdout.strip() == digest(site)


def test_another_seed_gives_other_words(site: DemoSite) -> None:
    other = DemoSite(articles=120, seed=8)
    shared = {page.gold for page in site.pages.values() if page.kind == "article"}
    assert not shared & {page.gold for page in other.pages.values()}


def test_counts_kinds_templates_and_languages(site: DemoSite, articles: list[DemoPage]) -> None:
    assert len(site.pages) >= 150
    assert len(articles) == 120
    assert len({page.title for page in articles}) == 120
    by_template = Counter((page.language, page.template) for page in articles)
    for language in ("en", "de"):
        for template in ARTICLE_TEMPLATES:
            assert by_template[language, template] >= 4
        kinds = {page.kind for page in site.pages.values() if page.language == language}
        assert kinds == {
            "article",
            "front",
            "section",
            "author",
            "topic",
            "about",
            "contact",
            "imprint",
            "privacy",
        }
    for path, page in site.pages.items():
        assert page.path == path
        assert path.startswith("/de/") == (page.language == "de")


@pytest.mark.parametrize("articles", [2, 11, 300])
def test_any_number_of_articles(articles: int) -> None:
    pages = DemoSite(articles=articles, seed=3).pages.values()
    assert sum(page.kind == "article" for page in pages) == articles


def test_too_few_articles_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 articles, one a language, got 1"):
        DemoSite(articles=1)


def test_articles_have_five_to_twenty_five_paragraphs(articles: list[DemoPage]) -> None:
    for page in articles:
        paragraphs = [line for line in page.gold.splitlines()[2:] if len(line.split()) > 8]
        assert 5 <= len(paragraphs) <= 26, page.path


def test_a_crawler_reaches_every_page_from_the_front_page(site: DemoSite) -> None:
    with DemoServer(site) as server:
        queue, seen = deque(["/"]), {"/"}
        while queue:
            path = queue.popleft()
            with urlopen(server.url + path) as response:
                assert response.headers["Content-Type"] == "text/html; charset=utf-8"
                html = response.read().decode()
            assert html == site.pages[path].html
            for link in VisibleText(html).links:
                target = urlsplit(urljoin(server.url + path, link))
                if f"http://{target.netloc}" == server.url and target.path not in seen:
                    seen.add(target.path)
                    queue.append(target.path)
        assert seen == set(site.pages)
        assert sorted(server.requests) == sorted(seen)


def test_server_answers_what_is_not_a_page(
    site: DemoSite, capfd: pytest.CaptureFixture[str]
) -> None:
    with DemoServer(site) as server:
        with pytest.raises(HTTPError) as missing:
            urlopen(server.url + "/no-such-page.html")
        assert missing.value.code == 404
        missing.value.close()
        with urlopen(server.url + "/robots.txt") as response:
            assert response.read().startswith(b"User-agent: *")
        with urlopen(server.url + "/media/4711-0.svg") as response:
            assert response.headers.get_content_type() == "image/svg+xml"
        assert server.requests == ["/no-such-page.html", "/robots.txt", "/media/4711-0.svg"]
    with pytest.raises(RuntimeError, match="not running"):
        _ = server.url
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_gold_stands_in_the_visible_text_in_order(site: DemoSite) -> None:
    for page in site.pages.values():
        text = " ".join(words(" ".join(VisibleText(page.html).lines)))
        gold = page.gold.splitlines()
        assert gold[0] == page.title
        position = 0
        for line in gold:
            found = text.find(" ".join(words(line)), position)
            assert found >= 0, (page.path, line)
            position = found


def test_gold_is_not_in_the_noise_of_its_page(site: DemoSite) -> None:
    for page in site.pages.values():
        noise = noise_lines(page)
        text = "\n".join(noise)
        assert not set(page.gold.splitlines()) & set(noise), page.path
        for line in page.gold.splitlines():
            for sentence in sentences(line):
                assert sentence not in text, (page.path, sentence)


def test_no_sentence_of_an_article_body_is_noise_elsewhere(
    site: DemoSite, articles: list[DemoPage]
) -> None:
    noise = {
        sentence
        for page in site.pages.values()
        for line in noise_lines(page)
        for sentence in sentences(line)
    }
    for page in articles:
        body = " ".join(page.gold.splitlines()[1:])
        assert not noise & set(sentences(body)), page.path


def test_articles_differ_in_their_sentences(articles: list[DemoPage]) -> None:
    counts = Counter(
        sentence
        for page in articles
        for sentence in {re.sub(r"\d", "0", sentence) for sentence in sentences(page.gold)}
    )
    assert len(counts) > 2500
    repeated = sum(count > 1 for count in counts.values())
    assert repeated / len(counts) < 0.01


def test_share_of_gold_in_the_visible_text(articles: list[DemoPage]) -> None:
    def share(page: DemoPage) -> float:
        return len(words(page.gold)) / len(words(" ".join(VisibleText(page.html).lines)))

    for template in ARTICLE_TEMPLATES:
        shares = [share(page) for page in articles if page.template == template]
        assert 0.2 < mean(shares) < 0.8
        assert min(shares) > 0.15


@pytest.mark.parametrize("language", ["en", "de"])
def test_noise_repeats_from_page_to_page(site: DemoSite, language: str) -> None:
    pages = [page for page in site.pages.values() if page.language == language]
    pages_with_line = Counter(line for page in pages for line in set(noise_lines(page)))
    on_every_page = {line for line, count in pages_with_line.items() if count == len(pages)}
    expected = {
        "en": {
            "Politics",
            "Sport",
            "Accept all",
            "Reproduction in whole or in part only with written permission of the publisher.",
        },
        "de": {
            "Politik",
            "Kultur",
            "Alle zulassen",
            "Nachdruck, auch in Auszügen, nur mit schriftlicher Genehmigung des Verlags.",
        },
    }
    assert expected[language] <= on_every_page


CHARACTERISTICS: dict[str, Callable[[str], bool]] = {
    "advert in the article": lambda html: '</p>\n<div class="ad ' in html,
    "newsletter line": lambda html: '\n<p class="newsletter' in html,
    "readers' comments": lambda html: 'id="comments"' in html,
    "billboard below the header": lambda html: 'class="billboard"' in html,
    "named entities": lambda html: "&ldquo;" in html or "&bdquo;" in html,
    "link inside a paragraph": lambda html: (
        re.search(r'[a-z,] <a href="/[^"]*">', html) is not None
    ),
}


@pytest.mark.parametrize("name", CHARACTERISTICS)
def test_some_articles_have_it_and_some_have_not(name: str, articles: list[DemoPage]) -> None:
    share = mean(CHARACTERISTICS[name](page.html) for page in articles)
    assert 0.1 < share < 0.95


def test_most_read_and_class_names_change(articles: list[DemoPage]) -> None:
    boxes = [re.search(r"box-most-read.*?</ol>", page.html, re.DOTALL) for page in articles]
    assert len({box.group() for box in boxes if box}) > 0.9 * sum(box is not None for box in boxes)
    hashes = {name for page in articles for name in re.findall(r"css-[0-9a-f]{8}", page.html)}
    assert len(hashes) > 20
    numbers = {name for page in articles for name in re.findall(r"post-\d+", page.html)}
    assert len(numbers) == sum(page.template == "standard" for page in articles)


def test_a_client_that_hangs_up_leaves_no_trace(
    site: DemoSite, capfd: pytest.CaptureFixture[str]
) -> None:
    with DemoServer(site) as server:
        host, port = server.url.removeprefix("http://").split(":")
        for _ in range(5):
            with socket.create_connection((host, int(port))) as client:
                # No lingering: the connection is reset while the answer is being written.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.sendall(b"GET / HTTP/1.1\r\nHost: demo\r\n\r\n" * 50)
        with urlopen(server.url + "/") as response:
            assert response.status == 200
    assert capfd.readouterr().err == ""


def test_a_port_that_is_no_number_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["harbour"])
    assert ended.value.code == 2
    assert "harbour" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_a_port_that_cannot_be_taken_is_named(
    port: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([port]) == 1
    assert f"cannot be served at port {port}: " in capsys.readouterr().err


@pytest.mark.slow
def test_nothing_is_kept_that_the_newspaper_inserts(site: DemoSite) -> None:
    cleaner = SiteCleaner()
    for page in site.pages.values():
        cleaner.observe(page.html, url=page.path)
    scores, inserted = [], []
    for page in site.pages.values():
        cleaned = cleaner.clean(page.html, url=page.path)
        scores.append(score(cleaned.text, page.gold))
        inserted += [
            block.text
            for block in cleaned.blocks
            if block.kept and re.search(r"[.](?:ad|newsletter|read-also)[^/]*$", block.place)
        ]
    assert len(inserted) <= 2, inserted
    total = mean_score(scores)
    assert total.recall > 0.975
    assert total.precision > 0.96
