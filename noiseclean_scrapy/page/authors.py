"""Names of authors: several in one line, what stands around them, organisations and roles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile

from noiseclean_scrapy.page.characters import one_line
from noiseclean_scrapy.page.days import LONGEST_DAY, MONTHS, shown_days

_LETTER = r"[^\W\d_]"
_LISTED = re.compile(r"\s*[;|、]\s*")
AND_EVERYWHERE = "and|und|y|et|e|og|och"
_AND = rf"(?:{AND_EVERYWHERE}|en|&)\s+"
_JOINED = re.compile(rf"\s*,\s+(?:{_AND})?|\s+{_AND}")
_MAIL = re.compile(r"\s+(?:\S+@\S+|\(https?:[^()]*\))$")
_SIGN = re.compile(r"(?<=\S)\s+\([^()]{1,20}\)$")
_WRITTEN = "(?:posted|published|written)"
_WRITTEN_BY = rf"(?:(?:{_WRITTEN}|story|words|text) )?by"
_PARTICIPLE = (
    "escrito|publicado|écrit|publié|(?:propos )?recueillis?|geschrieben|scritto|geschreven|skrevet"
    "|skriven"
)
_BY_ELSEWHERE = (
    rf"(?:(?:{_PARTICIPLE}|eine? {_LETTER}+|a cura) )?(?:von|par|por|di|door|av|af|przez|oleh)"
    r"|kirjoittanut|napsala?"
)
_BY = re.compile(
    rf"(?:{_WRITTEN_BY}|{_BY_ELSEWHERE})\s+(?=[^\W\d_])"
    r"|te[kx]st\s?:?\s|(?:redakcja|लेखक|文|文字|撰文|記者|记者)\s?[:：/／＝]\s?(?:記者|记者)?"
    r"|(?:取材・)?文(?:・写真)?[・:：/／＝=]\s?|글(?:[·ㆍ]\s?사진)?\s?[:/=]?\s(?=[\uac00-\ud7a3]{2,4}(?:\s|$))"
    r"|γράφ(?:ει|ουν)\s?:?\s(?:(?:ο|η|οι)\s)?"
    r"|(?:بقلم|كتب|מאת|लेखक)(?:\s?[/:：]\s?|\s+)|[〔【]?(?:記者|记者)\s?(?=[\u4e00-\u9fff])"
    r"|(?:τ(?:ου|ης|ων)|piš[eu]:?|Հեղինակ՝)\s+|โดย\s?:?\s?",
    re.IGNORECASE,
)
_OF_NAMES = re.compile(r"(?:von|di|af|oleh)\s", re.IGNORECASE)
"""Words for "by" that names begin with."""
BODY = (
    "(?:administration|agency|association|cent(?:er|re)|commission|committee|council|department|"
    "foundation|institute|ministry|office|services?|society|trust|university)s?"
)
_ENDS_AS_BODY = re.compile(rf"\b{BODY}$", re.IGNORECASE)
_BODY_OF = re.compile(rf"(?:the\s)?(?:\w+|.*\b{BODY})\s(?:of|for)\s", re.IGNORECASE)
_WRITER = "columnist|contributor|correspondent|critic|editor|journalist|reporter|writer"
_WRITER_ELSEWHERE = "журналист|корреспондент|обозреватель|редактор"
ROLE = re.compile(
    rf"\b(?:{_WRITER}|{_WRITER_ELSEWHERE}|analyst|author|director|photographer|producer|professor|staff|ph\.?d|m\.?d)"
    r"(?:\.?$|\s(?:at|for|in|of)\s|-(?:at-large|in-chief)\b)",
    re.IGNORECASE,
)
_DEGREE = re.compile(
    r"M[AS]|RDN?|LDN|CF[AP]|CP[AP]|R\.?N|BSN|DVM|MPH|PSP|C[EFIMOT]O|J\.?D|DDS|"
    r"(?i:(?:head|manager|(?:co-?)?founder|lead|certified)(?:\s.*)?)"
)
"""What somebody has or does, behind a name and a comma."""
_OF_BODY = re.compile(r"head|manager|[ES]?VP", re.IGNORECASE)
"""What somebody has or does who is said to have it in something that follows."""
_WORK = "(?:analysis|comment|essay|opinion|photos?|recipe|report|review|story|text|words)"
_PICTURES = "(?:photo(?:s|graph(?:s|y))?|pictures|illustrations?)"
_OF_PICTURES = re.compile(rf"{_PICTURES} by\s.*", re.IGNORECASE)
"""A name that follows those of people who wrote."""
_DESK = (
    "(?:arts|associate|business|chief|city|culture|deputy|education|features|finance|foreign|games?|"
    "health|managing|news|political|politics|science|senior|special|sports?|staff|tech|technology|"
    "travel|world)"
)
_NAME_AND_ROLE = re.compile(rf"(\S+(?: \S+){{1,3}}?)(?: {_DESK})* (?:{_WRITER})", re.IGNORECASE)
"""A name with what somebody is behind it, without a sign between them, as in a box of both."""
_NAME_AND_MONTH = re.compile(rf"(\S+(?: \S+)+) (?:{'|'.join(MONTHS)})", re.IGNORECASE)
"""A name before a day of which the figures were taken for no part of it."""
_EDGES = " •|·,;:–—-/"
_NO_NAME = re.compile(r"https?:|www\.|@|^\W*(?:\d+\W*)?$")
_ADDRESS = re.compile(r"[a-z\d.-]+\.[a-z]{2,}|[a-z]{1,2}=\d+", re.IGNORECASE | re.ASCII)
_OF_SCRIPT = re.compile(r"var [a-z]|.*\b[Dd]ocument\W?[Ww]rite")
_INITIAL = re.compile(rf"(?<!\S){_LETTER}(?!\S)")
_WORD = rf"{_LETTER}(?:{_LETTER}|['’-])*"
_FAMILY_FIRST = re.compile(f"{_WORD}, {_WORD}")
_PLAIN_NAME = re.compile(
    rf"{_WORD}(?: (?:(?:{_LETTER}\.)+|{_LETTER}(?:{_LETTER}|['’-])+)){{1,5}}"
    r"|[\u4e00-\u9fff\u3040-\u30ff]{2,8}|[\uac00-\ud7a3]{2,4}"  # Chinese, Japanese, Korean
)
_SHORT_MONTH = f"(?:{'|'.join(name[:3] for name in MONTHS)})"
_MONTH = rf"{_SHORT_MONTH}[a-z]*"
_NAME_AND_SHORT_MONTH = re.compile(rf"(\S+(?: \S+)+) {_SHORT_MONTH}", re.IGNORECASE)
_NAMED_AS_MONTHS = {"april", "may", "june"}
_TITLE = r"(?:[js]r|ph\.? ?d|(?-i:M\.? ?[AD]|MBA)|esq)\.?"
"""What stands behind a name, after a comma."""
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SHORT_WEEKDAY = "(?:mon|tues?|wed|thu|fri|sat|sun)"
_SHORT_DAY = rf"(?!sun (?:may|jun)){_SHORT_WEEKDAY}(?: {_SHORT_MONTH})?"
"""Without two that are names in Chinese."""
_NOBODY = re.compile(
    rf"(?:about )?(?:the )?authors?|(?:{_WRITTEN} )?by|published|posted|updated|modified|medically"
    r"|aktualisiert|veröffentlicht|follow|view profile|作者|文|字号|打印"
    r"|文字|記者|记者|بقلم|كتب|super user|admin(?:istrator)?|webmaster|undefined|null|none|false"
    rf"|facebook|twitter|{_WEEKDAY}|{_SHORT_DAY}|{_TITLE}|this {_WORK} is"
    r"|(?:(?:e-?mail|like|pin|print|save|share|text|tweet)\b\s*)+|.*\bdiscuz\b.*|comsenz.*"
    r"|\S{1,10}報[導道]|https?|(?=\S*\d)[\w-]{16,}|"  # the number of an account
    + "|".join(rf"{name[:3]}(?:{name[3:]})?" for name in MONTHS if name not in _NAMED_AS_MONTHS),
    re.IGNORECASE,
)
_OF_FORM = re.compile(
    r"(?:log|sign)[ -]?(?:in|on|up)|register|регистрация|вход|.*(?:登\s?录|注册|密码|登入).*",
    re.IGNORECASE,
)
"""What a form says in which readers make themselves known."""
_AROUND_NAME = re.compile(
    rf"^(?:(?:view )?all (?:articles|posts|stories) by|read more about|(?:{_WRITTEN}|{_WORK}) by"
    r"|(?:this )?(?:article|post|story) (?:was )?(?:written )?by"
    r"|(?:about (?:the )?)?(?:authors?|aut(?:o|eu)r|автор):?)\s+"
    r"|^(?:.*\s)?作者\s?[:：]\s?"
    rf"|(?:^|\s+)(?:(?:(?:last )?updated|published|posted|is an?)\s.*|{_MONTH}\.? \d{{1,2}})$"
    rf"|\s+{_WEEKDAY}$"
    r"|（.*$|\s?[/／]\S{0,10}報[導道][〕】]?$|\s+(?:기자|특파원|記者|记者)(?:\s.*)?$"
    rf"|\s(?:[·•]\s)?(?:(?:medically )?reviewed|edited|{_PICTURES}) by\s.*$"
    r"|\savec (?:(?-i:[A-Z]{2,5})|reuters|agences)$"
    r"|\s(?:tiempo de lectura|temps de lecture|lesezeit)(?:\s.*)?$"
    r"|\s+(?:contributing|get|https?|posts)$"
    r"|\s+(?:follow(?:ing)?|share|updated|published|posted)(?:\s+@\w*)?$",
    re.IGNORECASE,
)
_NAME_OF_DAY = re.compile(rf"\S+ (?:{_WEEKDAY}|share)", re.IGNORECASE)
_BYLINE = re.compile(rf"(?:{_WRITTEN_BY}:?|({_BY_ELSEWHERE}))\s+(?=[^\W\d_])", re.IGNORECASE)
_BEHIND_NAME = re.compile(
    rf"\s*[,;:|•●·/(–—\d].*|\s\S+@.*|\s(?:-|on|of|for|at|in|with|filed|{_WRITTEN}|{_WEEKDAY}|{_MONTH})\s.*",
    re.IGNORECASE,
)
_WORD_AND_SIGN = re.compile(rf"([^\s,|]+)\s?[,|·•●–—]\s*(?=\d|{_WEEKDAY}|{_MONTH})", re.IGNORECASE)
_JOINERS = "\u200c\u200d"
_JOINER = f"[{_JOINERS}]?"
_LONGEST = 200  # characters of all names
_MOST_PLACES = 20  # where a name is looked for in a text
_LABEL = re.compile(r"[^\s:：]{1,15}(?: [^\s:：]{1,15})?\s?[:：]\s?")


def split_names(text: str) -> Iterator[str]:
    """The names in a line of authors; those of people have several words.

    What people are is left out.

    >>> list(split_names("By Ana Sousa (as), Rui Melo")), list(split_names("AFP, MANILA"))
    (['Ana Sousa', 'Rui Melo'], ['AFP, MANILA'])
    >>> list(split_names("Ana Sousa, Senior Reporter, and Rui Melo, Ph.D."))
    ['Ana Sousa', 'Rui Melo']
    >>> list(split_names("Department of Health and Human Services"))
    ['Department of Health and Human Services']
    """
    for part in _LISTED.split(without_by(text)):
        names = _JOINED.split(part)
        if "," not in part and _BODY_OF.match(names[0]):
            names = [part]
        names = without_roles(names)
        for name in names if all(" " in name for name in names) else [part]:
            name = _SIGN.sub("", _MAIL.sub("", name)).strip()
            if name and not _NO_NAME.search(name):
                yield name


def byline(line: str) -> str:
    """The people whom a line names as its authors; empty where it is no plain byline.

    >>> byline("By Ana Sousa and Rui Melo, Courier | 5 July"), byline("By clicking Start you agree")
    ('Ana Sousa; Rui Melo', '')
    """
    found = _BYLINE.match(line)
    if found is None:
        return ""
    rest = line[found.end() :]
    people = _people(rest)
    if found[1]:  # such words begin lines of all kinds
        return people if all(word[0].isupper() for word in people.split()) else ""
    return people or _account(rest)


def _account(line: str) -> str:
    """The one word that a line begins with before a sign and a day."""
    found = _WORD_AND_SIGN.match(line)
    if found is None or _NO_NAME.search(found[1]):
        return ""
    day = next(shown_days(line[found.end() :]), None)
    return found[1] if day and day.end <= LONGEST_DAY else ""


def marked_name(text: str) -> str:
    """The author in a text that is marked as one: a word as it is, or the people it begins with.

    Empty where it is neither.

    >>> marked_name("Fog_Fan94"), marked_name("By Ana Sousa, Courier"), marked_name("Foto: dpa")
    ('Fog_Fan94', 'Ana Sousa', '')
    """
    name = without_by(text)
    if " " in name:
        return _people(name)
    return "" if _NO_NAME.search(name) else name


def _people(line: str) -> str:
    """The people whose plain names a line begins with."""
    names = _JOINED.split(_BEHIND_NAME.sub("", line, count=1))
    if not all(is_plain_name(name) and not ROLE.search(name) for name in names):
        return ""
    is_called = all(word[0].isupper() for name in names for word in (name, name.split()[-1]))
    return "; ".join(names) if is_called else ""


def labelled_name(line: str) -> str:
    """The plain name behind one or two words and a colon; empty where there is no such thing.

    >>> labelled_name("Yazan: Ali Kaya"), labelled_name("Ali Kaya"), labelled_name("Foto: dpa")
    ('Ali Kaya', '', '')
    """
    found = _LABEL.match(line)
    name = line[found.end() :] if found else ""
    return name if is_plain_name(name) and not ROLE.search(name) else ""


def without_roles(names: Sequence[str]) -> list[str]:
    """Names without those that only say what the ones before them are."""
    behind = takewhile(lambda name: not _OF_BODY.fullmatch(name), names[1:])
    people = (n for n in behind if not ROLE.search(n) and not _DEGREE.fullmatch(n))
    return [*names[:1], *people]


def is_organisation(name: str) -> bool:
    """Whether a name with a word such as "and" in it is that of one organisation.

    >>> is_organisation("Bill and Melinda Gates Foundation"), is_organisation("Bill and Melinda")
    (True, False)
    """
    first, *others = _JOINED.split(name)
    is_whole = bool(others) and "," not in name
    return is_whole and bool(_BODY_OF.match(first) or _ENDS_AS_BODY.search(others[-1]))


def is_family_first(line: str) -> bool:
    """Whether a line is one name in two words, the family's first.

    >>> is_family_first("Sousa, Ana"), is_family_first("Ana Sousa, Rui Melo")
    (True, False)
    """
    return bool(_FAMILY_FIRST.fullmatch(line))


def turned(name: str) -> str:
    """A name with the family's last, which stands first where a comma follows it."""
    family, comma, given = name.partition(",")
    return f"{given.strip()} {family}" if comma and "," not in given else name


def named_authors(found: str | None, *, are_told: bool = False) -> str:
    """Names without what stands around them in the line of an author.

    Empty where that is long, or a form. Names that a page tells as such may be a day's as well.

    >>> named_authors("Ann Friday"), named_authors("Ann Friday", are_told=True)
    ('Ann', 'Ann Friday')
    """
    first, *others = map(_trimmed, one_line(found or "").split(";"))
    listed = [first, *(name for name in others if not _OF_PICTURES.fullmatch(name))]
    names = (
        name if are_told and _NAME_OF_DAY.fullmatch(name) else _AROUND_NAME.sub("", name)
        for name in listed
    )
    if not are_told:
        names = (_alone(_NAME_AND_MONTH, name).strip(_EDGES) for name in names)
    alone = (_alone(_NAME_AND_ROLE, name) for name in names)
    named = [name for name in alone if name and not _NOBODY.fullmatch(name)]
    if any(map(_OF_FORM.fullmatch, named)):
        return ""
    author = "; ".join(without_roles(named))
    return author if len(author) <= _LONGEST else ""


def _trimmed(name: str) -> str:
    """A name without commas around it, or the quotation marks in which all of it stands."""
    name = name.strip(" ,")
    return name[1:-1] if re.fullmatch('"[^"]+"', name) else name


def as_shown(names: str, read_text: Callable[[], str]) -> str:
    """Names as the text shows them: libraries leave out dots, digits and signs, and begin words
    with capitals. Where it shows them in capitals alone they stay. No address is behind others, and
    nothing of a script is a name.

    >>> as_shown("Ana D Sousa; Fog Fan; Rui Melo", lambda: "By Ana D. Sousa, fog_fan94, RUI MELO")
    'Ana D. Sousa; fog_fan94; Rui Melo'
    """
    text = one_line(read_text()) if names else ""
    written = (_as_shown(name, text) for name in names.split("; "))
    shown = [_without_month(name, text) for name in written if not _OF_SCRIPT.match(name)]
    behind = (name for name in shown[1:] if not _ADDRESS.fullmatch(name))
    return "; ".join([*shown[:1], *behind])


def _without_month(name: str, text: str) -> str:
    """A name without the short month of a day that stands behind it in the text."""
    found = _NAME_AND_SHORT_MONTH.fullmatch(name)
    return found[1] if found and re.search(rf"{re.escape(name)}\.? \d", text) else name


def _as_shown(name: str, text: str) -> str:
    letters = (_JOINER.join(map(re.escape, word)) for word in name.split())
    words = r"[ ._-]{1,2}".join(letters)
    found = islice(re.finditer(rf"(?<!\w){words}", text, re.IGNORECASE), _MOST_PLACES)
    places = ((place.start(), _end_of_name(text, *place.span())) for place in found)
    shown = (text[start:end] for start, end in places if not text[end : end + 1].isalnum())
    own = [one for one in shown if name.isupper() or not one.isupper()]
    return name if name in own and not _INITIAL.search(name) else next(iter(own), name)


def _end_of_name(text: str, start: int, end: int) -> int:
    """Where a name ends of which all but signs, and of an account figures, is found."""
    is_account = " " not in text[start:end] and text[start:end][-1:].isascii()
    if text[end : end + 1] == "." and _INITIAL.fullmatch(text[max(start, end - 1) : end]):
        return end + 1
    rest = end
    while end < len(text):
        sign = text[end]
        is_more = sign in "_0123456789" or (end > rest and sign.isalpha())
        if unicodedata.category(sign)[0] != "M" and not (is_account and is_more):
            break
        end += 1
    return end


def _alone(pattern: re.Pattern[str], name: str) -> str:
    found = pattern.fullmatch(name)
    return found[1] if found else name


def without_by(line: str) -> str:
    """A line of an author without a word such as "by", where that is no part of the name.

    >>> without_by("Escrito por Ana Sousa"), without_by("Di Maria"), without_by("文/王强")
    ('Ana Sousa', 'Di Maria', '王强')
    >>> without_by("By Reuters"), without_by("Von dpa"), without_by("Di ANSA")
    ('Reuters', 'dpa', 'ANSA')
    """
    found = _BY.match(line)
    if found is None:
        return line
    name = line[found.end() :].strip()
    is_family = name.istitle() and " " not in name and _OF_NAMES.match(line)
    return line if is_family or not name else name


def is_plain_name(name: str) -> bool:
    """Whether a name is that of one person or one organisation, with nothing beside it."""
    return bool(_PLAIN_NAME.fullmatch(_in_letters(name))) or is_organisation(name)


def _in_letters(name: str) -> str:
    """A name with a letter for each vowel or accent that is a sign of its own, as in Hindi.

    And for what joins letters, or keeps them apart as in Persian.
    """
    return "".join(
        "a" if unicodedata.category(sign)[0] == "M" or sign in _JOINERS else sign for sign in name
    )
