"""Names of people: told apart where a word for "and" joins them, and told from sentences."""

from __future__ import annotations

import re

from noiseclean_scrapy.page.authors import AND_EVERYWHERE, BODY, ROLE, is_organisation

_AND_OF = {
    **dict.fromkeys(("af", "nl"), "en"),
    **dict.fromkeys(("bs", "ca", "hr", "pl"), "i"),
    **dict.fromkeys(("cs", "sk"), "a"),
    **dict.fromkeys(("bg", "mk", "ru"), "и"),
    **dict.fromkeys(("et", "fi"), "ja"),
    **dict.fromkeys(("id", "ms"), "dan"),
    "el": "και",
    "hu": "és",
    "lt": "ir",
    "lv": "un",
    "ro": "și|şi",
    "sl": "in",
    "sq": "dhe",
    "sr": "i|и",
    "tr": "ve",
    "uk": "та|і|й",
    "vi": "và",
}
"""Words for "and" that other languages write for something else, by their languages."""
_PARTICLES = frozenset(
    "af al av bin bint da dal das de dei del della den der di do dos du e el i ibn la las le los "
    "ten ter van vom von y zu zum zur".split()
)
"""Words with a small letter within the names of people."""
_WITHIN_NAMES = _PARTICLES | frozenset("and at by for für in of on the und".split())
_BODY_WORD = re.compile(BODY, re.IGNORECASE)
_ENDS_SENTENCE = re.compile(r"[^\W\d_]{4,}[.!?]$")  # and no abbreviation
_MOST_WORDS = 4  # of one person that is joined to others


def people_of(names: str, language: str) -> str:
    """Names of authors, told apart where a language's word for "and" stands between people.

    Two to four words of a person begin with capital letters. A sentence is no name.

    >>> people_of("Ana Lima et Rui Melo", "fr"), people_of("José Ortega y Gasset", "es")
    ('Ana Lima; Rui Melo', 'José Ortega y Gasset')
    >>> people_of("Ana Lima en Rui Melo", "nl"), people_of("Ana Lima en Buenos Aires", "es")
    ('Ana Lima; Rui Melo', 'Ana Lima en Buenos Aires')
    >>> people_of("Ana Lima writes about walls.", "en"), people_of("Theo Trần An", "vi")
    ('', 'Trần An')
    """
    told = (_without_word_before(name, language) for name in names.split("; "))
    people = (
        person for name in told if not _is_sentence(name) for person in _apart(name, language)
    )
    return "; ".join(dict.fromkeys(people))


def _without_word_before(name: str, language: str) -> str:
    """A name without "About", and the Vietnamese "according to", which is a name elsewhere."""
    rest = name.removeprefix("Theo " if language == "vi" else "About ")
    return rest if _is_person(rest) else name


def _is_sentence(name: str) -> bool:
    """Whether a text ends as sentences do, and has a word that names do not have within."""
    if not _ENDS_SENTENCE.search(name):
        return False
    return any(word[0].islower() and word not in _WITHIN_NAMES for word in name.split()[1:])


def _apart(name: str, language: str) -> list[str]:
    people = re.split(
        rf" (?:{AND_EVERYWHERE}|And|{_AND_OF.get(language, '&')}) ",
        name,
        flags=re.IGNORECASE if name.isupper() else 0,
    )
    are_people = len(people) > 1 and all(map(_is_person, people)) and not is_organisation(name)
    return people if are_people else [name]


def _is_person(name: str) -> bool:
    """Whether a name looks like that of one person: all words but particles begin with capitals."""
    own = [word for word in name.split() if word not in _PARTICLES]
    is_called = 2 <= len(own) <= _MOST_WORDS and all(word[0].isupper() for word in own)
    return is_called and not ROLE.search(name) and not any(map(_BODY_WORD.fullmatch, own))
