"""Terms of a text: stemmed words without stop words, as the page's language has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noiseclean_scrapy.page.words import words

if TYPE_CHECKING:
    from typing_extensions import Self

STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
_SAME = {"nb": "no", "nn": "no"}


class Stemming:
    """Snowball stems of one language, an ISO 639-1 code with or without a region.

    Words of a language without a stemmer stay as they are; where the language is unknown there
    are no stop words either.

    >>> Stemming("en-GB").terms("The ports of the northern islands")
    ['port', 'northern', 'island']
    >>> Stemming("").terms("The ports")
    ['the', 'ports']
    >>> Stemming.porter().terms("The 21 ports are generously lit")
    ['21', 'port', 'gener', 'lit']
    """

    def __init__(self, language: str, *, stemmer: str = "", mask: bool = True) -> None:
        # Both read files when they are imported; most methods stem nothing.
        import snowballstemmer  # type: ignore[import-untyped]
        import stopwordsiso

        code = base_code(language)
        known = stopwordsiso.has_lang(code)
        self._stop_words = stopwordsiso.stopwords(code) if known else set()
        name = stemmer or stemmer_name(language)
        self._mask = mask
        self._stemmer = snowballstemmer.stemmer(name) if name else None
        self._stems: dict[str, str] = {}

    @classmethod
    def porter(cls) -> Self:
        """Porter's own stemmer and the stop words of English, whatever the page's language."""
        return cls("en", stemmer="porter", mask=False)

    def terms(self, text: str) -> list[str]:
        """The terms of `text` in their order, with repetitions."""
        found = [word for word in words(text, mask=self._mask) if word not in self._stop_words]
        if self._stemmer is None:
            return found
        for word in found:
            if word not in self._stems:
                self._stems[word] = self._stemmer.stemWord(word)
        return [self._stems[word] for word in found]


def stemmer_name(language: str) -> str:
    """The Snowball stemmer of a language, "" where there is none.

    >>> stemmer_name("nb"), stemmer_name("de-AT"), stemmer_name("zh")
    ('norwegian', 'german', '')
    """
    return STEMMERS.get(base_code(language), "")


def base_code(language: str) -> str:
    """The code of a language without a region; both kinds of Norwegian are one.

    >>> base_code("ur_PK"), base_code("nb")
    ('ur', 'no')
    """
    code = language.replace("_", "-").partition("-")[0].strip().lower()
    return _SAME.get(code, code)
