"""The German edition: labels, house advertisements, legal notices and the paper's own pages."""

from __future__ import annotations

from example_project.demo.grammar import read_lines
from example_project.demo.model import Edition, StaticPage
from example_project.demo.sections_de import SECTIONS
from example_project.demo.words_de import LINES, POOLS

LABELS = {
    "skip": "Zum Inhalt springen",
    "home": "Startseite",
    "search": "Im Archiv suchen",
    "sign_in": "Anmelden",
    "subscribe": "Abo bestellen",
    "other_edition": "English",
    "tide": "Hochwasser {hour}:{minute} Uhr · {readers} Gäste online",
    "by": "Von",
    "minutes": "{count} Min. Lesezeit",
    "updated": "Zuletzt aktualisiert um {time} Uhr",
    "share": "Teilen",
    "copy": "Link kopieren",
    "mail": "Mailen",
    "print": "Drucken",
    "save": "Merken",
    "photo": "Foto:",
    "advert": "Anzeige",
    "related": "Mehr zum Thema",
    "read_also": "Lesen Sie auch:",
    "most_read": "Meistgelesen",
    "tags": "Schlagworte",
    "comments": "Leserkommentare ({count})",
    "reply": "Antworten",
    "report": "Melden",
    "votes": "{count} Zustimmungen",
    "comment_rules": "Bitte bleiben Sie höflich. Kommentare geben wir von 7 bis 23 Uhr frei.",
    "key_points": "Das Wichtigste in Kürze",
    "older_entries": "Ältere Einträge laden",
    "longreads": "Für die lange Lektüre",
    "rating": "Unsere Wertung",
    "criterion": "Kriterium",
    "points": "Punkte",
    "remark": "Bemerkung",
    "score": "{score} von 5",
    "verdict": "Fazit",
    "next": "Ältere Beiträge",
    "previous": "Neuere Beiträge",
    "page": "Seite {count}",
    "all_from": "Alles aus",
    "topic_headline": "Alle unsere Texte über {place}",
    "author_heading": "Zuletzt erschienen",
    "newsroom": "Redaktion",
    "topics": "Orte",
    "service": "Service",
    "email": "Ihre E-Mail-Adresse",
    "sign_up": "Eintragen",
    "form_name": "Ihr Name",
    "form_message": "Ihre Nachricht",
    "form_send": "Nachricht senden",
    "cookies": "Wir und unsere Partner speichern Cookies, um Sie angemeldet zu halten und Besuche "
    "zu zählen. Ihre Wahl können Sie jederzeit in den Einstellungen ändern.",
    "cookies_yes": "Alle zulassen",
    "cookies_no": "Nur notwendige",
    "noscript": "Bitte schalten Sie JavaScript ein, um Videos und den Gezeitenkalender zu sehen.",
}

EDITION = Edition(
    code="de",
    prefix="/de/",
    name="Kurier an der Mündung",
    claim="Unabhängig seit 1921",
    front_headline="Was heute zwischen Hafen und Hügeln wichtig ist",
    thousands=".",
    months=(
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ),
    date_format="{day}. {month} {year}",
    pools=POOLS,
    lines=LINES,
    labels=LABELS,
    sections=SECTIONS,
    adverts=read_lines(
        """
- Matratzen Ebbe: schlafen wie das Meer am Mittag. Dreißig Nächte kostenlos testen.
- Kabelwerk Plus: jetzt mit 2 Gigabit. Heute wechseln, erst im Sommer zahlen.
- Hörgeräte, die man vergisst. Kostenloser Test bei Otter & Söhne.
- Der Kurier-Laden: Öljacken, Gezeitenuhren und der neue Wandkalender.
- Gewinnen Sie zwei Karten für die Lichterfahrt im Hafen!
- Frisches Gemüse jeden Donnerstag vor der Tür. Jetzt die Deichkiste probieren.
"""
    ),
    newsletters=read_lines(
        """
- Unser Morgenbrief: fünf Texte, die Sie brauchen, um sechs Uhr kostenlos im Postfach.
- Abonnieren Sie den Brief „Tidenhub“ und verpassen Sie keine Wochenendlektüre.
- Kurier Plus: alles lesen für eine Krone die Woche. Jederzeit kündbar.
"""
    ),
    legal=read_lines(
        """
- © 2031 Verlagsgenossenschaft Kurier an der Mündung. Alle Rechte vorbehalten.
- Nachdruck, auch in Auszügen, nur mit schriftlicher Genehmigung des Verlags.
- Der Kurier ist Mitglied der Ombudsstelle der Presse und an deren Kodex gebunden.
"""
    ),
    static_pages=(
        StaticPage(
            "about",
            "ueber-uns",
            "Wer wir sind",
            read_lines(
                """
- Angefangen hat es mit einer Beilage für Seeleute, vier Seiten, gedruckt auf dem Papier, das von
  den Frachtbriefen übrig blieb.
- Seit die Brücke steht, haben die deutschen Seiten einen eigenen Tisch in der Redaktion und eine
  eigene Kaffeemaschine.
- Fehler berichtigen wir dort, wo sie passiert sind. Reisen, Karten und Essen bezahlen wir selbst.
"""
            ),
        ),
        StaticPage(
            "contact",
            "kontakt",
            "Schreiben Sie uns",
            read_lines(
                """
- Briefe, Hinweise und Berichtigungen liest ein Mensch, meistens noch am selben Tag.
- Besuch ist werktags von neun bis fünf willkommen: Signalgasse 3, zweiter Stock.
- Nachts hilft die Nummer 0550 1921, bitte lange klingeln lassen.
"""
            ),
        ),
        StaticPage(
            "imprint",
            "impressum",
            "Angaben zum Verlag",
            read_lines(
                """
- Herausgegeben von der Genossenschaft gleichen Namens, eingetragen in Port Selwyn unter Nummer
  774.
- Verantwortlich für den Inhalt: Almut Kesselring. Verantwortlich für Anzeigen: Edgar Nwosu.
- Gedruckt auf Altpapier im Werk Signalgasse.
"""
            ),
        ),
        StaticPage(
            "privacy",
            "datenschutz",
            "Was mit Ihren Daten geschieht",
            read_lines(
                """
- Die Adresse für den Morgenbrief behalten wir bis zur Abmeldung und danach noch einen Monat.
- Besuche zählen wir ohne Namen. Die Zählmaschine steht im eigenen Keller und vergisst nach
  neunzig Tagen.
- Auf Anfrage sagen wir, was wir über Sie wissen. Das dauert eine Woche und kostet nichts.
"""
            ),
        ),
    ),
)
