"""German grammar of the demo newspaper: words and sentences every section uses.

Noun phrases are plural, feminine or neuter, so that nominative and accusative look alike;
``venue`` is a phrase in the dative with its preposition.
"""

from __future__ import annotations

from example_project.demo.grammar import read_lines, read_pools

POOLS = read_pools(
    """
place: Niederwarden | Lüttensiel | Möwenrade | Altenbrück | Kirchfähre | Grönhagen | Süderholm |
  Eschenau
district: im Speicherviertel | in der Unterstadt | hinter der Reeperbahnstraße | auf der
  Mühleninsel | in den Neubauten am Deich | rund um den Bahnhof | in der Gartenkolonie | am alten
  Fährhaus
first_f: Wiebke | Anneke | Jördis | Clara | Meral | Frauke | Sabine | Lotte | Ylva | Renate
first_m: Hinnerk | Jasper | Emre | Konrad | Thies | Volker | Anton | Bjarne | Ole | Matthias
last: Petersen-Kahl | Dierksen | Wolfram | Aydin | Brüggemann | Lorentz | Hoyer | Steenbock |
  Claasen | Reuter | Bockelmann | Jaspers | Nowak | Thomsen | Kröger | Vierling
weekday: Montag | Dienstag | Mittwoch | Donnerstag | Freitag | Samstag | Sonntag
month: Januar | Februar | März | April | Mai | Juni | Juli | August | September | Oktober |
  November
season: Frühjahr | Sommer | Herbst | Winter
opener: Am {weekday}abend | Ende {month} | Nach langer Sitzung | In {place} | Hinter
  verschlossenen Türen | Zwei Tage vor Ablauf der Frist | Anfang {month} | Erst später | Im
  {season} {year} | Beim Kaffee am {weekday} | Wenige Schritte weiter | Noch vor Sonnenaufgang |
  Nach Zahlen von {month} {year} | Im Morgengrauen
tail: obwohl vor {month} niemand mit Ergebnissen rechnet | und {district} sehen das nicht alle so
  | wovor {surname2} schon {year} gewarnt hatte | auch wenn das Geld nur bis {month} reicht | und
  das ist noch vorsichtig geschätzt | trotz aller gegenteiligen Versprechen | deutlich mehr als in
  vergleichbaren Orten | ohne dass ein Kompromiss in Sicht wäre | und die ersten Rechnungen sind
  schon da | was {groups} mit Beifall aufnahmen
reason: weil {problem} in keinem Entwurf vorkam | seit {things} knapp geworden sind | weil {org2}
  das Angebot im {month} zurückzog | nachdem die Gespräche {venue} gescheitert waren | weil
  niemand die Zahlen aus dem Jahr {year} erklären konnte | nun, da {things} {percent} Prozent mehr
  kosten | obwohl {measure} zu spät käme
adj: geduldig | eigensinnig | kostspielig | ungewöhnlich | bescheiden | umstritten | ehrgeizig |
  überfällig | überraschend | vernünftig | großzügig | voreilig | mühsam | gründlich | mutig |
  heikel
says: sagt {surname} | erzählt {surname} | erinnert sich {surname2} | erklärt {person2}, {role2} |
  entgegnet {surname2} | sagte {surname} am {weekday} | räumt {surname2} ein
reader: Deichläufer | Nordlicht{dozens} | E. aus {place} | Frau Holm | Pendler{few} | Möwe | K.
  Lüders | spaetschicht | Gartenzwerg{hundreds}
photographer: L. Anders | Mündungsbild | J. Thormählen | privat
"""
)

GENERAL = read_lines(
    """
- {opener} trafen sich {groups} {venue}, es ging um {things}, {tail}.
- {opener} zählte {surname} allein {district} {hundreds} {things}.
- Niemand in {place} hatte {problem} kommen sehen, am wenigsten {org}.
- {org} fordert {measure}, {org2} will lieber warten, {reason}.
- {person2}, {role2}, verfolgt {project} seit {year} und nennt das Ergebnis {adj}.
- Was {venue} mit {few} Leuten begann, ist heute ein Streit über {things}, {tail}.
- In den Büchern stehen {thousands} {things}, {tail}.
- {surname} führt eine Liste in einer blauen Mappe: {things}, Namen, Daten, Rückfragen.
- Bis {month} soll {project} fertig sein; {groups} bleiben skeptisch.
- {opener} kippte die Stimmung, {reason}.
- Eine Studie aus dem Jahr {year} kommt auf {percent} Prozent, {surname2} hält das für {adj}.
- Wer {venue} steht, bemerkt zuerst {things}, dann die Stille.
- {measure} allein werde nicht reichen, meint {surname2}, {reason}.
- {project} kostet inzwischen {millions} Millionen Kronen, {tail}.
- Über {things} spricht man in {place} auch am Küchentisch, nicht nur {venue}.
- {org} entstand {year}, als {few} Nachbarn genug hatten und {measure} verlangten.
- {surname} brauchte {few} Anläufe, um {measure} in {place} zu erklären.
- {opener} veröffentlichte {org2} {few} Seiten; im Anhang stehen {dozens} {things}.
- Wer {district} nach dem Weg fragt, bekommt {problem} gleich mit erklärt.
- {hundreds} Menschen wurden befragt, mehr als die Hälfte kannte {measure} nicht.
- {opener} fuhr {surname2} nach {place}, ohne Begleitung, ohne Kameras, {reason}.
- {things} kamen an einem {weekday}, {few} Wochen zu spät und {percent} Prozent teurer.
- Für {groups} ist {measure} mehr als ein Zeichen, {reason}.
- {surname} zeigt auf die Karte, erst nach {place}, dann nach Norden, und zuckt mit den Schultern.
- Zwischen {month} und Dezember wechselten {thousands} {things} den Besitzer, {tail}.
- Die Nachbarn haben {problem} mit Geduld gelöst, {org} will es nun genauso machen.
- Manche sind schon fortgezogen, andere hoffen auf {project}, {tail}.
- {opener} war wieder von {things} die Rede, {tail}.
- Gegner nennen {project} {adj}, Anhänger nennen es {adj}, {surname} nennt es unfertig.
- Es regnete, als {surname2} {venue} die Namen verlas, {dozens} an der Zahl.
- {org} will jeden Monat über {things} berichten, {tail}.
- {problem} hat {place} im {season} rund {millions} Millionen Kronen gekostet.
- Eine Entscheidung über {project} fällt am {day}. {month}.
- {surname2} kann das Wort „{adj}“ nicht mehr hören, {reason}.
- Nur {few} von {dozens} Unterschriften stammen aus {place}, {tail}.
- {opener} saßen {org} und {org2} zum ersten Mal seit {years} Jahren an einem Tisch.
- Wie {things} gezählt werden, ist selbst strittig, und {org2} zählt anders.
- In einem Punkt sind sich {groups} einig: {problem} verschwindet nicht von allein.
"""
)

QUOTES = read_lines(
    """
- „Wir reden seit {few} Jahren darüber, jetzt brauchen wir {measure}“, {says}.
- „Ohne {things} wäre {place} ein anderer Ort“, {says}.
- „Dass {groups} so {adj} sein können, hat mich überrascht“, {says}.
- „{measure} klingt {adj}, aber irgendwer muss auch {things} bezahlen“, {says}.
- „Fragen Sie {district} nach, ob {project} hilft“, {says}.
- „Meine Großmutter hätte über {problem} gelacht“, {says}, „sie hatte andere Sorgen.“
- „Man kann {things} nicht in die Schublade legen und hoffen“, {says}.
- „Das war {adj}, und ich würde es wieder tun“, {says}, {reason}.
- „Andere denken {venue} an früher, ich sehe dort {things}“, {says}.
- „{project} ist kein Plan, sondern ein Wunsch“, {says}.
- „An dem Tag, an dem {org} zuhört, gehe ich in Rente“, {says}.
- „Wenn {measure} in {place} scheitert, scheitert es überall“, {says}.
- „Zahlen machen mir keine Angst, {problem} schon“, {says}.
- „Geben Sie uns Zeit bis {month}, dann sieht es {district} anders aus“, {says}.
- „Lieber {adj} als noch ein langes Jahr mit Warten“, {says}.
"""
)

LINES = {
    "general": GENERAL,
    "quote": QUOTES,
    "headline-standard": read_lines(
        """
- {place} entscheidet über {measure}
- {org}: Streit um {things} in {place}
- {groups} aus {place} fordern {measure}
- {things} fehlen: {project} gerät ins Stocken
- {place}: {thousands} {things} und ein Plan
- {surname} verteidigt {project}
"""
    ),
    "headline-feature": read_lines(
        """
- Ein Winter in {place}: {things} und was davon bleibt
- Wie {place} gelernt hat, ohne {things} zu leben
- {surname}, {place} und {problem}
- {groups} erzählen: so war es {venue}
"""
    ),
    "headline-live": read_lines(
        """
- Live: {place} streitet über {measure}
- Im Protokoll: {surname} und {project}
- Live: {groups} warten auf {project}
"""
    ),
    "headline-review": read_lines(
        """
- „{work}“ in {place}: {adj} und etwas zu lang
- „{work}“: {adj}, laut und sehenswert
- Warum „{work}“ in {place} so {adj} wirkt
"""
    ),
    "lead": read_lines(
        """
- {org} fordert {measure}. In {place} fragen sich viele, wer das bezahlt, {reason}.
- {problem} erreicht {place}. {person}, {role}, hat einen Vorschlag, {tail}.
- {project} sollte vieles leichter machen. Nun stehen {dozens} {things} im Weg, {tail}.
- Kaum jemand glaubt noch an {project}. {person} schon, {reason}.
- {thousands} {things}, eine Idee: {person}, {role}, nimmt es mit den Zweiflern auf.
"""
    ),
    "first": read_lines(
        """
- {place} hat viele Pläne gesehen, aber {person}, {role}, hält {project} für etwas Neues.
- Als {person}, {role}, am {weekday} die Tür aufschloss, warteten schon {dozens} Menschen.
- {person} ist seit {years} Jahren {role} und hat noch nie so viele Anrufe bekommen.
- Es war {weekday}, kurz nach sechs, und {person}, {role}, suchte {things}.
"""
    ),
    "heading": read_lines(
        """
- Was {groups} über {place} erzählen
- {surname} und {things}
- Ein {weekday} {venue}
- {things} und ein Versprechen
- Warum {org} zögert
"""
    ),
    "entry": read_lines(
        """
- {surname} trifft {venue} ein
- {org}: {measure} sei „{adj}, aber möglich“
- {groups} verlassen den Saal
- Erste Zahlen: {things}
- {surname2} bittet um mehr Zeit für {project}
- Beifall aus {place}
- {few} Fragen und {problem}
"""
    ),
    "review": read_lines(
        """
- Der Anfang gehört {person}, {role}, und „{work}“ erholt sich davon nie ganz.
- {opener} findet „{work}“ zum eigenen Rhythmus, und {things} ergeben plötzlich Sinn.
- Verglichen mit der Fassung von {year} hat „{work}“ an Ruhe gewonnen und an Witz verloren.
- {surname} vertraut auf {things}, nicht auf Worte, und tut gut daran.
- Nicht alles gelingt: manches wirkt {adj}, und {problem} ist überall zu spüren.
- Der Preis von {dozens} Kronen ist {adj}, {tail}.
- Der zweite Teil zieht sich, {reason}.
- Es bleiben Bilder {venue}, {dozens} {things} und keine Eile.
"""
    ),
    "verdict": read_lines(
        """
- „{work}“ ist {adj}, {adj} und den Weg nach {place} wert.
- Eine schöne Idee, {adj} umgesetzt: {surname} konnte das schon besser.
"""
    ),
    "remark": read_lines(
        """
- {adj}, und {things} im Überfluss
- mehr davon als {year}
- nichts für {groups} in Eile
- {few} starke Momente
"""
    ),
    "caption": read_lines(
        """
- Aufgenommen im {month}: Blick auf {place}.
- Ein Bild von {year}: {person}, {role}, mit Gästen.
- Kurz vor Mittag: {things}.
"""
    ),
    "comment": read_lines(
        """
- Ich wohne in {place} und lese heute zum ersten Mal davon. Danke!
- Die gleiche Debatte wie vor {years} Jahren. Gelernt hat niemand etwas.
- @{reader}: Und wer bezahlt das alles? Wir, jeden Monat.
- Schöner Text, aber wo sind die Quellen? Mein Schwager sagt, {things} seien kein Thema.
- Bitte die Zahl im dritten Absatz prüfen, die kommt mir komisch vor.
- Nicht überzeugt. {place} braucht Busse, sonst nichts.
"""
    ),
    "biography": read_lines(
        """
- {name} schreibt seit {year} für den Kurier über {beat}. Davor lagen {few} Jahre als Reporter in
  {place}; aus dieser Zeit stammt die Vorliebe für {things}.
- {name} kam {year} in die Redaktion und betreut das Feld {beat}, am liebsten mit langen
  Gesprächen über {things}.
"""
    ),
}
