"""What short lines announce: further stories, comments, the description of a product."""

from __future__ import annotations

import re

PHRASES: dict[str, str] = {
    "related": (
        r"related|recommended|recommendations|trending|most (?:read|popular|viewed)|popular"
        r"|latest|read (?:more|next|also|on)"
        r"|more (?:from|on|in|stories|news|articles|about|like)|see also"
        r"|also (?:like|viewed|bought|read)|similar|up next|you might|you may|don.t miss"
        r"|next (?:article|story|post)|previous (?:article|story|post)|mehr zum thema"
        r"|auch interessant|ähnliche|weitere|lesen sie auch|meistgelesen|à lire|lire aussi"
        r"|articles liés|similaires|relacionad\w+|te puede interesar|leia (?:também|mais)"
        r"|leggi anche|potrebbe interessarti|correlati|lees ook|gerelateerd\w*"
        r"|zobacz (?:także|też|również)|czytaj (?:także|też|również|więcej)|polecamy|powiązane"
        r"|najczęściej czytane|читайте (?:также|ещё|еще)|похожие|по теме|другие|популярн\w+"
        r"|σχετικ\w+|διαβάστε|δημοφιλ\w+"
    ),
    "comments": (
        r"comments?|responses|replies|leave a (?:reply|comment)"
        r"|join the (?:discussion|conversation)|discussion|reviews?|ratings?|kommentare?"
        r"|bewertungen|commentaires?|avis|comentarios?|comentários?|opiniones|commenti"
        r"|recensioni|reacties|komentarz\w*|komentuj|opinie|комментари\w+|отзывы|обсуждени\w+"
        r"|σχόλι\w+"
    ),
    "about": (
        r"description|overview|details|about|specifications?|specs|features|ingredients"
        r"|dimensions|product information|summary|beschreibung|produktdetails|eigenschaften"
        r"|technische daten|descripci[oó]n|características|caractéristiques|descrizione"
        r"|caratteristiche|omschrijving|specificaties|opis|описание|характеристики|περιγραφή"
    ),
    "service": (
        r"share|follow|newsletter|subscribe|sign (?:up|in)|log ?in|contact|shipping|returns"
        r"|delivery|cookies?|privacy|advertisement|sponsored|categories|archives|tags"
        r"|about (?:us|the author|author)|teilen|anzeige|partager|compartir|condividi"
        r"|udostępnij|reklama|поделиться|реклама"
    ),
}
"""Patterns of words in lower case, by what they announce."""

_UNSPACED = {
    "related": "相关|相關|推荐|推薦|热门|熱門|更多|関連|おすすめ|人気",
    "comments": "评论|評論|留言|コメント|レビュー",
    "about": "描述|介绍|詳細|説明|规格|規格",
    "service": "分享|广告",
}

LONGEST = 60
"""Characters of the longest line that announces something."""

_PATTERN = re.compile(
    "|".join(rf"(?P<{name}>\b(?:{words})\b|{_UNSPACED[name]})" for name, words in PHRASES.items())
)


def announced(text: str) -> str | None:
    """What a line announces: one of `PHRASES`, or None.

    >>> announced("You may also like"), announced("Customer reviews (12)"), announced("The flood")
    ('related', 'comments', None)
    """
    found = None if len(text) > LONGEST else _PATTERN.search(text.lower())
    return found.lastgroup if found else None
