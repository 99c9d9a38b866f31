"""The language of a page: its text's, or the declared one of a site that is believed."""

from __future__ import annotations

from noiseclean_scrapy.languages import SiteLanguages, text_language

ENGLISH = "The river rose again in the night, and the people of the town went to higher ground."
FRENCH = (
    "La rivière est encore montée dans la nuit, et les habitants sont partis vers les hauteurs."
)


def test_the_language_is_that_of_the_text() -> None:
    assert text_language(ENGLISH, "fr") == "en"
    assert text_language("The river", "fr") == "fr"
    assert text_language(FRENCH, "") == "fr"


def test_a_site_that_declares_rightly_is_believed_and_one_page_in_twenty_asked() -> None:
    languages = SiteLanguages()
    for _ in range(10):
        assert languages.language("a", ENGLISH, "en") == "en"
    assert {languages.language("a", FRENCH, "en") for _ in range(10)} == {"en"}
    assert languages.language("b", FRENCH, "en") == "fr"
    # The twentieth is asked, and with it the belief ends.
    assert languages.language("a", FRENCH, "en") == "fr"
    assert languages.language("a", FRENCH, "en") == "fr"


def test_a_page_that_declares_nothing_or_has_little_text_settles_nothing() -> None:
    languages = SiteLanguages()
    for _ in range(30):
        assert languages.language("a", ENGLISH, "") == "en"
        assert languages.language("a", "Fog", "en") == "en"
    assert languages.language("a", FRENCH, "en") == "fr"


def test_one_wrong_declaration_restarts_the_count() -> None:
    languages = SiteLanguages()
    for text in [*[ENGLISH] * 9, FRENCH, *[ENGLISH] * 9]:
        languages.language("a", text, "en")
    assert languages.language("a", FRENCH, "en") == "fr"


def test_a_site_of_several_languages_is_believed_in_each() -> None:
    languages = SiteLanguages()
    for _ in range(15):
        assert languages.language("a", ENGLISH, "en") == "en"
        assert languages.language("a", FRENCH, "fr") == "fr"
