"""Items of every kind, out of every kind of callback, get the text of their page."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import InitVar, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID, uuid4

import attrs
import pydantic
import pytest
import scrapy
from itemadapter import ItemAdapter
from scrapy.http import Response
from scrapy.loader import ItemLoader
from twisted.python.failure import Failure

from noiseclean_scrapy import PageItem
from noiseclean_scrapy.crawl.filling import GivenValues, with_values
from noiseclean_scrapy.items import held
from noiseclean_scrapy.page.urls import site_name
from tests.support import crawl_site, crawling
from tests.support.crawl_site import story_text
from tests.support.crawling import Crawled, Plan

LEARNED = 20
CLOSED_PORT = "http://127.0.0.1:1/"


class ScrapyItem(scrapy.Item):
    case = scrapy.Field()
    text = scrapy.Field()


@dataclass
class DataclassItem:
    case: str
    text: str = ""
    title: str = "my own"


@attrs.define
class AttrsItem:
    case: str
    text: str | None = None


class PydanticItem(pydantic.BaseModel):
    case: str
    title: str = ""
    text: str = ""


class CheckedItem(pydantic.BaseModel, validate_assignment=True):
    case: str
    text: int | None = None


@dataclass
class FieldlessItem:
    case: str


@dataclass(frozen=True)
class FrozenItem:
    case: str
    text: str = ""


@attrs.frozen
class FrozenAttrsItem:
    case: str
    text: str = ""


class FrozenPydanticItem(pydantic.BaseModel, frozen=True):
    case: str
    text: str = ""


class LearningSpider(crawl_site.PagesSpider):
    """Lets the tree be built with which the other spider's pages are cleaned."""

    paths = tuple(f"/{number}" for number in range(LEARNED))

    def parse(self, response: Response) -> Iterator[Any]:
        return iter(())  # learning does not need items


class ItemsSpider(scrapy.Spider):
    name = "items"
    url: str

    async def start(self) -> AsyncIterator[Any]:
        yield {"case": "start"}
        for number, callback in enumerate(
            (self.parse, self.parse_coroutine, self.parse_async_generator, self.parse_several),
            start=LEARNED,
        ):
            yield scrapy.Request(f"{self.url}/{number}", callback)
        yield scrapy.Request(
            f"{self.url}/30", self.parse_arguments, cb_kwargs={"case": "cb_kwargs"}
        )
        yield scrapy.Request(f"{self.url}/missing", errback=self.fail)
        yield scrapy.Request(CLOSED_PORT, errback=self.fail, meta={"dont_retry": True})

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"case": "dict"}
        yield {"case": "filled in", "text": "mine", "title": None}
        yield ScrapyItem(case="scrapy")
        yield DataclassItem("dataclass")
        yield AttrsItem("attrs")
        yield PydanticItem(case="pydantic")
        yield CheckedItem(case="checked")
        yield FieldlessItem("fieldless")
        yield FrozenItem("frozen dataclass")
        yield FrozenAttrsItem("frozen attrs")
        yield FrozenPydanticItem(case="frozen pydantic")
        yield PageItem(response.url)
        yield self.loaded(DataclassItem("loader"))
        yield self.loaded(PydanticItem.model_construct(case="loader of None", text=[None]))

    def loaded(self, item: Any) -> Any:
        case = item.case
        loaded = ItemLoader(item).load_item()
        loaded.case = case
        return loaded

    def parse_arguments(self, response: Response, case: str) -> Iterator[Any]:
        yield {"case": case}

    async def parse_coroutine(self, response: Response) -> list[Any]:
        return [{"case": "coroutine"}]

    async def parse_async_generator(self, response: Response) -> AsyncIterator[Any]:
        other = scrapy.Request(f"{self.url}/31")
        assert self.crawler.engine
        second = await self.crawler.engine.download_async(other)
        yield {"case": "first of two", "url": response.url}
        yield {"case": "second of two", "url": second.url}
        yield {"case": "without address"}
        yield {"case": "elsewhere", "url": "http://elsewhere.example/"}

    def parse_several(self, response: Response) -> Iterator[Any]:
        for number in range(300):
            yield {"case": f"several {number}"}

    def fail(self, failure: Failure) -> Iterator[Any]:
        yield {"case": f"errback {type(failure.value).__name__}"}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder: Path = tmp_path_factory.mktemp("items")
    pages = {f"/{number}": crawl_site.story(number) for number in range(32)}
    settings = {"NOISECLEAN_SAMPLE_QUOTA": LEARNED}
    fields = {"text": "text", "title": "title", "of": "url", "tree": "tree_version"}
    with crawl_site.serve(pages) as server:
        arguments = {"url": server.url}
        _, crawled = crawling.crawl(
            folder,
            Plan(LearningSpider, settings, arguments),
            Plan(ItemsSpider, settings | {"NOISECLEAN_FIELDS": fields}, arguments),
        )
    return crawled


def item(crawled: Crawled, case: str) -> dict[str, Any]:
    (found,) = (item for item in crawled.items if item.get("case") == case)
    return found


def test_dicts_get_every_field(crawled: Crawled) -> None:
    found = item(crawled, "dict")
    assert found["text"] == story_text(20)
    assert (found["title"], found["tree"]) == ("Story 20", 1)
    assert found["of"].endswith("/20")


def test_other_items_get_the_fields_they_have(crawled: Crawled) -> None:
    text = story_text(20)
    assert item(crawled, "scrapy") == {"case": "scrapy", "text": text}
    assert item(crawled, "attrs") == {"case": "attrs", "text": text}
    assert item(crawled, "pydantic") == {"case": "pydantic", "title": "Story 20", "text": text}
    assert item(crawled, "fieldless") == {"case": "fieldless"}


@pytest.mark.parametrize("kind", ["dataclass", "attrs", "pydantic"])
def test_frozen_items_go_out_as_copies_with_their_fields(crawled: Crawled, kind: str) -> None:
    case = f"frozen {kind}"
    assert item(crawled, case) == {"case": case, "text": story_text(20)}


def test_what_the_spider_has_filled_in_stays(crawled: Crawled) -> None:
    assert item(crawled, "filled in")["text"] == "mine"
    assert item(crawled, "filled in")["title"] == "Story 20"
    assert item(crawled, "dataclass") == {
        "case": "dataclass",
        "text": story_text(20),
        "title": "my own",
    }


def test_what_a_loader_makes_of_empty_fields_is_empty(crawled: Crawled) -> None:
    text = story_text(20)
    assert item(crawled, "loader") == {"case": "loader", "text": text, "title": ["my own"]}
    assert item(crawled, "loader of None")["text"] == text


def test_items_that_refuse_go_out_unchanged_and_are_counted(crawled: Crawled) -> None:
    assert item(crawled, "checked") == {"case": "checked", "text": None}
    assert crawled.ours["errors"] == 1
    errors = crawled.lines("ERROR", "noiseclean_scrapy.crawl.pipeline")
    refused = (
        "Error while filling the field 'text' of a CheckedItem; the crawl goes on: "
        "ValidationError: 1 validation error for CheckedItem text Input should be a valid integer"
    )
    (error,) = errors
    assert error.startswith(refused)
    assert len(error) < 300


def test_a_page_item_gets_all_it_has(crawled: Crawled) -> None:
    (found,) = (item for item in crawled.items if "html" in item)
    title, *paragraphs = story_text(20).splitlines()
    lines = [f"<h1>{title}</h1>", *(f"<p>{paragraph}</p>" for paragraph in paragraphs)]
    assert found == {
        "url": found["url"],
        "title": "Story 20",
        "text": story_text(20),
        "html": "\n".join(lines),
        "markdown": "\n\n".join([f"# {title}", *paragraphs]),
        "author": "",
        "published": None,
        "language": "",
        "canonical_url": "",
        "image": "",
        "cluster": site_name(found["url"]),
        "tree_version": 1,
    }


def test_every_kind_of_callback(crawled: Crawled) -> None:
    assert item(crawled, "coroutine")["text"] == story_text(21)
    assert item(crawled, "cb_kwargs")["text"] == story_text(30)
    texts = {i["text"] for i in crawled.items if i.get("case", "").startswith("several")}
    assert texts == {story_text(23)}


def test_items_about_two_pages_are_tied_by_their_address(crawled: Crawled) -> None:
    assert item(crawled, "first of two")["text"] == story_text(22)
    assert item(crawled, "second of two")["text"] == story_text(31)
    assert item(crawled, "without address")["text"] == story_text(22)
    assert item(crawled, "elsewhere")["text"] == story_text(22)


def test_items_without_a_page_stay_as_they_are(crawled: Crawled) -> None:
    for case in ("start", "errback HttpError", "errback DownloadConnectionRefusedError"):
        assert item(crawled, case) == {"case": case}
    assert crawled.ours["items/without_page"] == 3


def test_all_is_counted(crawled: Crawled) -> None:
    assert len(crawled.items) == 14 + 1 + 1 + 4 + 300 + 3
    assert crawled.ours["items/cleaned"] == len(crawled.items) - 3 - 1
    assert crawled.ours["pages/seen"] == crawled.ours["pages/learned"] == 6
    assert crawled.stats.get("spider_exceptions/count", 0) == 0


class AgainSpider(scrapy.Spider):
    """Yields the same items on each page, one page after the other."""

    name = "again"
    custom_settings: ClassVar[dict[str, Any]] = {"CONCURRENT_ITEMS": 1}  # type: ignore[misc]
    url: str

    async def start(self) -> AsyncIterator[Any]:
        kept = [
            {"case": "dict"},
            {"case": "filled in", "title": "mine"},
            ScrapyItem(case="scrapy"),
            DataclassItem("dataclass"),
            AttrsItem("attrs"),
            PydanticItem(case="pydantic"),
        ]
        yield scrapy.Request(f"{self.url}/0", meta={"kept": kept})

    def parse(self, response: Response) -> Iterator[Any]:
        for one in response.meta["kept"]:
            adapter = ItemAdapter(one)
            adapter["case"] = f"{adapter['case'].partition(' of ')[0]} of {response.url[-1]}"
            if isinstance(one, dict):
                one["url"] = response.url
            yield one
        following = int(response.url[-1]) + 1
        if following < 3:
            yield scrapy.Request(f"{self.url}/{following}", meta=response.meta)


def test_an_item_that_is_yielded_again_has_the_text_of_the_other_page(tmp_path: Path) -> None:
    pages = {f"/{number}": crawl_site.story(number) for number in range(3)}
    with crawl_site.serve(pages) as server:
        (crawled,) = crawling.crawl(tmp_path, Plan(AgainSpider, {}, {"url": server.url}))
    cases = ("dict", "filled in", "scrapy", "dataclass", "attrs", "pydantic")
    for number in range(3):
        for case in cases:
            found = item(crawled, f"{case} of {number}")
            assert found["text"] == story_text(number)
            if case in ("dict", "pydantic"):
                assert found["title"] == f"Story {number}"
            elif "title" in found:
                assert found["title"] in ("mine", "my own")
    assert "errors" not in crawled.ours


@pytest.mark.parametrize("kind", [dict, DataclassItem])
def test_only_values_of_other_pages_are_given_again(kind: Any) -> None:
    given, one = GivenValues(), kind(case="a")
    adapter = ItemAdapter(one)
    adapter["text"] = "Fog in the port."
    given.note(one, "page", ["text"])
    assert not given.is_of_another(one, "text", "page")
    assert given.is_of_another(one, "text", "other page")
    assert not given.is_of_another(one, "case", "other page")
    assert not given.is_of_another(kind(case="a", text=adapter["text"]), "text", "other page")
    given.note(one, "page", ["case"])
    assert given.is_of_another(one, "text", "other page")
    adapter["text"] = "".join(["Fog in the", " port."])  # the spider's own, though it is equal
    assert not given.is_of_another(one, "text", "other page")


def test_items_that_are_gone_are_forgotten() -> None:
    given = GivenValues()
    for number in range(100):
        given.note(DataclassItem(str(number)), "page", ["text"])
        given.note({"text": str(number)}, "page", ["text"])
    gc.collect()
    assert len(given) == 16


class UnitedItem(pydantic.BaseModel, validate_assignment=True):
    title: str = ""
    text: str = "mine"

    @pydantic.model_validator(mode="after")
    def check(self) -> UnitedItem:
        if self.title:
            raise ValueError("a title")
        return self


def test_what_a_look_at_the_whole_item_refuses_is_taken_back() -> None:
    item, refused = with_values(UnitedItem(), {"title": "Fog", "text": "Fog."})
    assert (item.title, item.text) == ("", "Fog.")
    assert [*refused] == ["title"]


class PickyItem(pydantic.BaseModel, validate_assignment=True):
    title: str = pydantic.Field(default="", max_length=10)
    text: str = ""


@dataclass
class UnsetItem:
    text: str = field(init=False)


def test_a_field_that_refuses_leaves_the_others_alone() -> None:
    item, refused = with_values(PickyItem(), {"title": "Fog in the port", "text": "Fog."})
    assert (item.title, item.text) == ("", "Fog.")
    assert [*refused] == ["title"]


class FrozenModel(pydantic.BaseModel, frozen=True):
    name: str = "Fog"
    title: str = pydantic.Field(default="", max_length=10)
    text: str = ""


def _in_capitals(text: str) -> str:
    return text.upper()


@attrs.frozen
class FrozenAttrs:
    title: str = attrs.field(default="", validator=attrs.validators.max_len(10))
    text: str = attrs.field(default="", converter=_in_capitals)
    name: str = "Fog"


@pytest.mark.parametrize("kind", [FrozenModel, FrozenAttrs])
def test_a_frozen_item_checks_its_values_as_well(kind: Any) -> None:
    given = kind()
    item, refused = with_values(given, {"title": "Fog in the port", "text": "Fog."})
    assert (item.title, item.text.lower(), item.name) == ("", "fog.", "Fog")
    assert [*refused] == ["title"]
    assert given == kind()
    if kind is FrozenAttrs:
        assert item.text == "FOG."


def _in_cents(value: int) -> int:
    return value * 100


@dataclass(frozen=True)
class FrozenDataclass:
    euros: InitVar[int]
    title: str = ""
    text: str = ""
    cents: int = field(init=False)
    id: UUID = field(default_factory=uuid4)

    def __post_init__(self, euros: int) -> None:
        object.__setattr__(self, "cents", _in_cents(euros))
        if bool(self.title) != bool(self.text):
            raise ValueError("a title or a text alone")


@dataclass(frozen=True, slots=True)
class FrozenSlots:
    cents: int
    title: str = ""
    text: str = field(default="", init=False)
    id: UUID = field(default_factory=uuid4, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cents", _in_cents(self.cents))


@attrs.frozen(slots=False)
class FrozenPrice:
    cents: int = attrs.field(converter=_in_cents)
    _title: str = attrs.field(default="", alias="headline")
    text: str = attrs.field(default="", init=False)
    id: UUID = attrs.field(factory=uuid4, init=False)

    @property
    def title(self) -> str:
        return self._title


@pytest.mark.parametrize("kind", [FrozenDataclass, FrozenSlots, FrozenPrice])
def test_of_a_frozen_item_nothing_but_what_is_filled_changes(kind: Any) -> None:
    given = kind(250)
    if hasattr(given, "__dict__"):
        object.__setattr__(given, "note", "by hand")
    title = "title" if is_dataclass(kind) else "_title"
    item, refused = with_values(given, {title: "Fog", "text": "Fog."})
    assert not refused
    assert (item.title, item.text, given.title, given.text) == ("Fog", "Fog.", "", "")
    assert (item.cents, item.id) == (given.cents, given.id) == (25000, given.id)
    assert getattr(item, "note", None) == getattr(given, "note", None)


@dataclass
class Machine:
    model_config: str = "X-200"
    text: str = ""


def test_a_field_may_have_the_name_that_pydantic_uses() -> None:
    assert with_values(Machine(), {"text": "Fog."}) == (Machine(text="Fog."), {})


def test_an_item_that_makes_what_is_missing_gets_no_other_field() -> None:
    item = defaultdict(list, name=["Fog"])
    assert held(ItemAdapter(item), "url") is None
    assert held(item, "name") == ["Fog"]
    assert item == {"name": ["Fog"]}


def test_a_field_that_was_never_set_is_empty() -> None:
    assert held(ItemAdapter(UnsetItem()), "text") is None
    assert held(ItemAdapter(DataclassItem("a", "b")), "text") == "b"
