"""Kinds of text that `evidence` leaves out whatever it scores, and what is said of them."""

from __future__ import annotations

from typing import Any

import pytest

from noiseclean_scrapy import Block, CleanPage, SiteCleaner
from noiseclean_scrapy.methods.evidence_model.exclusions import KINDS
from noiseclean_scrapy.methods.evidence_model.explanation import _LEFT_OUT
from noiseclean_scrapy.page.overrides import Overrides
from noiseclean_scrapy.report.reasons import plain_reasons, reasons, verdict_in_words

COOKIES = (
    "We and our partners use cookies to store what you have read, to choose advertising for you "
    "and to measure how often it is seen. You may withdraw your consent at any time."
)
STORY = (
    "<h1>Council approves the harbour plan</h1><p>The council voted 13 to 12 on Tuesday evening to "
    "rebuild the old harbour wall, which has protected the town since 1904.</p>"
)


def page(dialog: str, story: str = STORY) -> CleanPage:
    source = (
        f"<title>Council approves the harbour plan</title><body><main>{story}</main>{dialog}</body>"
    )
    return SiteCleaner().clean(source)


def found(page: CleanPage, text: str) -> Block:
    return next(block for block in page.blocks if block.text == text)


@pytest.mark.parametrize(
    "name",
    [
        "id=onetrust-consent-sdk",
        "id=CybotCookiebotDialog",
        "class=didomi-popup-container",
        "class='cky-consent-container cky-box-bottom-left'",
        "id=cmplz-cookiebanner-container",
        "class=qc-cmp2-container",
        "class='cc-window cc-banner'",
        "class=CookieBanner__root",
        "id=gdpr-cookie-notice",
        "class=eu-cookie-compliance-message",
    ],
)
def test_dialogs_that_ask_for_consent_are_left_out(name: str) -> None:
    cleaned = page(f"<div {name}><div><p>{COOKIES}</p></div></div>")
    assert COOKIES not in cleaned.text
    assert "rebuild the old harbour wall" in cleaned.text
    kept_elsewhere = page(f"<div><div><p>{COOKIES}</p></div></div>")
    assert COOKIES in kept_elsewhere.text  # so that the name is what decides


def test_the_reason_is_told() -> None:
    cleaned = page(f"<div id=iubenda-cs-banner><div><p>{COOKIES}</p></div></div>")
    told = verdict_in_words(found(cleaned, COOKIES), headline=False)
    assert told == "Left out: it is in a dialog that asks for consent."


@pytest.mark.parametrize(
    "start",
    [
        "<div class=cookie-recipes>",
        "<section id=cookie-notice>",
        "<div id=cookie-notice class=section>",
        "<div id=cli-settings>",
        "<article class=cookie-notice>",
    ],
)
def test_a_text_about_cookies_is_no_dialog(start: str) -> None:
    end = f"</{start[1:].split()[0]}>"
    assert COOKIES in page("", f"{STORY}{start}<p>{COOKIES}</p>{end}").text


def test_what_a_page_is_called_as_a_whole_is_no_dialog() -> None:
    source = f"<title>Council</title><body><div class=cookie-banner-shown>{STORY}</div></body>"
    assert "rebuild the old harbour wall" in SiteCleaner().clean(source).text


def test_every_kind_has_words() -> None:
    assert _LEFT_OUT.keys() == {*KINDS, "repeats"}


AGAIN = "Council Approves the Harbour Plan"
TALL = "The council voted 13 to 12 on Tuesday evening to rebuild the old harbour wall."


@pytest.mark.parametrize("method", ["evidence", "style-tree"])
def test_a_headline_is_said_once(method: str) -> None:
    source = (
        f"<title>Council approves the harbour plan</title><main><p class=crumb>{AGAIN}</p>{STORY}"
        f"<p>{TALL}</p><p>{TALL} It did.</p><p>{AGAIN}</p></main>"
    )
    cleaned = SiteCleaner(method).clean(source)
    first, *_, last = [block for block in cleaned.blocks if block.text == AGAIN]
    assert cleaned.text.startswith("Council approves the harbour plan\nThe council voted")
    assert not first.kept
    assert verdict_in_words(first, headline=False) == "Left out: it says the headline again."
    assert [reason.words for reason in reasons(first.evidence) if "again" in reason.words] == []
    # Further down it is part of the text.
    assert last.kept
    assert cleaned.text.endswith(AGAIN)
    assert AGAIN not in SiteCleaner(method, headline=False).clean(source).text.splitlines()[:2]


@pytest.mark.parametrize("head", ["{}", "<div class=fn>{}</div>"])
def test_what_heads_a_table_stays(head: str) -> None:
    rows = "<tr><th>Length<td>340 m<tr><th>Built<td>1911"
    table = f"<table><tr><th colspan=2>{head.format(AGAIN)}{rows}</table>"
    page = SiteCleaner("style-tree").clean(f"<title>{AGAIN}</title><h1>{AGAIN}</h1>{table}{STORY}")
    assert f"| {AGAIN} |  |\n| --- | --- |\n| Length | 340 m |" in page.markdown


def test_what_is_to_stay_is_said_twice() -> None:
    overrides = Overrides.parse('["town.example"]\nkeep = [".crumb"]')
    source = f"<title>Council approves the harbour plan</title><p class=crumb>{AGAIN}</p>{STORY}"
    assert (
        AGAIN
        in SiteCleaner()
        .clean(source, url="https://town.example/1", overrides=overrides)
        .text.splitlines()
    )


LIKED = "I walk there every morning, and the wall has been crumbling for years, so this is good."


@pytest.mark.parametrize(
    ("options", "part", "text", "words"),
    [
        ({}, f"<div class=reacties><p>{LIKED}</p></div>", LIKED, "include_comments"),
        (
            {"drop_captions": True},
            f"<figure><img src=a.png><p>{LIKED}</p></figure>",
            LIKED,
            "drop_captions",
        ),
        (
            {"include_tables": False},
            f"<table><tr><td>The old harbour wall<td>Rebuilt</table><p>{LIKED}</p>",
            "The old harbour wall",
            "include_tables",
        ),
    ],
)
def test_the_option_is_named(options: dict[str, Any], part: str, text: str, words: str) -> None:
    source = f"<title>Council approves the harbour plan</title><main>{STORY}{part}</main>"
    block = found(SiteCleaner(**options).clean(source), text)
    assert not block.kept
    assert f"({words})" in " ".join(plain_reasons(block))
