"""German sections of the demo newspaper: the vocabulary of each."""

from __future__ import annotations

from example_project.demo.grammar import read_lines, read_pools
from example_project.demo.model import Section

POLITIK = Section(
    "politik",
    "Politik",
    "Rat, Landtag und alles, worüber dort gestritten wird",
    ("standard", "live", "standard", "feature"),
    read_pools(
        """
things: Bauanträge | Briefwahlunterlagen | Protokolle | Änderungsanträge | Schulplätze |
  Parkausweise | Petitionen | Satzungen | Wahllokale | Fördermittel | Ausschusssitze | Wahlplakate
  | Busspuren
groups: Mieterinnen und Mieter | Abgeordnete | Ratsmitglieder | Pendlerinnen und Pendler |
  Erstwählerinnen | Vermieter | Elternvertreter | Ortsvorsteher
problem: die Wohnungsnot | die leere Kasse | das Misstrauen gegen das Rathaus | die niedrige
  Beteiligung | das Gezerre um den Haushalt | die Spesenaffäre | die Kluft zwischen Stadt und Land
measure: eine Obergrenze für Mieten | eine zweite Lesung | eine unabhängige Prüfung | eine
  Bürgerversammlung | eine Abgabe auf Leerstand | eine neue Wahlkreiskarte | ein öffentliches
  Geschenkeregister
venue: im Ratssaal | im Bürgeramt | im alten Zollhaus | auf der Pressetribüne | im Fraktionszimmer
org: das Hafenbündnis | die Landpartei | die Mietergemeinschaft | die Bürgerliste | die
  Wahlkommission
org2: das Rechnungsprüfungsamt | die Opposition | das Demokratieforum | die Ombudsstelle
project: das Wohnungspaket | die Schulfusion | die Hafenabgabe | das Transparenzgesetz | die
  Gebietsreform
role_f: Bürgermeisterin | Fraktionsvorsitzende | Amtsleiterin
role_m: Bürgermeister | Fraktionsvorsitzender | Amtsleiter
role2_f: Staatsrechtlerin | Wahlforscherin | Stadtschreiberin
role2_m: Staatsrechtler | Wahlforscher | Stadtschreiber
"""
    ),
    read_lines(
        """
- Mit {dozens} zu {few} Stimmen beschloss der Rat {measure}, {few} Mitglieder enthielten sich.
- Auf dem Flur zählten {groups} schon die Stimmen für {project}.
- Der Entwurf umfasst {hundreds} Paragrafen, {few} davon betreffen {things}.
- Die Wahlbeteiligung lag bei {percent} Prozent, so niedrig wie zuletzt {year}.
- Eine Mehrheit für {measure} gibt es seit {month} auf dem Papier, {tail}.
- Die Koalition überstand die Vertrauensfrage, {reason}.
- {surname} verließ die Partei {year} und kehrte für {project} zurück.
- Der Wahlkampf in {place} dreht sich um {things} und darum, wer sie schuldig blieb.
"""
    ),
)

WIRTSCHAFT = Section(
    "wirtschaft",
    "Wirtschaft",
    "Betriebe, Preise und die Menschen, die dort arbeiten",
    ("standard", "feature", "live"),
    read_pools(
        """
things: Frachtraten | Rechnungen | Kühlhäuser | Ersatzteile | Hypotheken | Dividenden |
  Nachtschichten | Auftragsbücher | Lehrstellen | Patente | Lieferwagen | Getreideverträge |
  Paletten
groups: Aktionäre | Hafenarbeiter | Fischhändlerinnen | Zulieferer | Auszubildende | Bäckereien |
  Gläubiger | Exportfirmen
problem: die teure Energie | die schwache Nachfrage | die starke Krone | das Werftdefizit | die
  schlechte Zahlungsmoral | die Dürre auf den Kanälen | das Fehlen von Fachkräften
measure: eine Überbrückungshilfe | eine kürzere Arbeitswoche | eine Fusion der Werften | eine
  Preisbremse | eine Bürgschaft des Landes | eine Nachtzulage
venue: auf dem Börsenparkett | am Containerkai | in der Konservenfabrik | in der Werftkantine | in
  der Fischhalle
org: die Mündungsbank | die Werftgruppe | die Handelskammer | das Kabelwerk | die Gewerkschaft
  Hafen
org2: das Kartellamt | das Institut für Konjunktur | die Ratingagentur Kobalt | die
  Arbeitgeberseite
project: das Tiefwasserterminal | das Rettungspaket | die Batteriefabrik | die Güterbahn
role_f: Vorstandsvorsitzende | Betriebsrätin | Hafenkapitänin
role_m: Vorstandsvorsitzender | Betriebsrat | Hafenkapitän
role2_f: Chefvolkswirtin | Fondsmanagerin | Steuerberaterin
role2_m: Chefvolkswirt | Fondsmanager | Steuerberater
"""
    ),
    read_lines(
        """
- Der Umsatz stieg um {percent} Prozent auf {millions} Millionen Kronen, vor allem durch {things}.
- Die Aktie verlor binnen {few} Stunden {percent} Prozent.
- {org} beschäftigt {thousands} Menschen, die meisten davon {district}.
- Der Gewinn vor Steuern schrumpfte auf {millions} Millionen Kronen, {reason}.
- Die Inflation lag im {month} bei {few} Prozent, Haupttreiber waren {things}.
- Die Löhne steigen im {month} um {few} Prozent, {tail}.
- Die Bank lieh {millions} Millionen Kronen und verlangt {things} als Sicherheit.
- In der Fabrik laufen drei Schichten, {groups} werden gleich nach der Schule eingestellt.
"""
    ),
)

WISSEN = Section(
    "wissen",
    "Wissen",
    "Forschung von der Küste, aus dem Labor und vom Himmel",
    ("feature", "standard", "standard"),
    read_pools(
        """
things: Bohrkerne | Aallarven | Satellitenbilder | Sensoren | Moosproben | Pegeldaten |
  Fledermauskästen | Blutproben | Saatgutbanken | Funksignale | Algenkulturen | Wetterballons |
  Datensätze
groups: Meeresbiologen | Doktorandinnen | Freiwillige | Austernfischer | Geologinnen |
  Vogelkundler | Taucherinnen
problem: das Sterben der Seegraswiesen | die Erwärmung der Mündung | die Lücke in den Messungen |
  die Erosion der Dünen | das Verschlicken der Fahrrinne | die Resistenz eines Keims
measure: eine zweite Expedition | eine Messkette aus Bojen | ein offenes Archiv | eine Blindstudie
  | eine Wiederholung des Versuchs | ein feineres Klimamodell
venue: in der Meeresstation | im Herbarium | in der Sternwarte | an Bord des Forschungsschiffs |
  auf den Wattflächen
org: das Meeresinstitut | die Universität | die Wetterwarte | das Naturkundemuseum
org2: die Akademie | die Fischereibehörde | die Ethikkommission | die Raumfahrtagentur
project: die Schlammbohrung | die Aalzählung | das Gezeitenkraftwerk | die Langzeitstudie
role_f: Ozeanografin | Laborleiterin | Kuratorin
role_m: Ozeanograf | Laborleiter | Kurator
role2_f: Gletscherforscherin | Physikerin | Ökologin
role2_m: Gletscherforscher | Physiker | Ökologe
"""
    ),
    read_lines(
        """
- Das Team wertete {thousands} {things} aus, gesammelt zwischen {year} und 2030.
- Im Labor lagern {things} bei {few} Grad und werden alle {few} Stunden geprüft.
- Der Effekt ist klein, etwa {percent} Prozent, aber statistisch belastbar.
- Unter dem Mikroskop zeigt sich ein Muster, das noch niemand beschrieben hat, {tail}.
- Eine Kontrollgruppe in {place} zeigte keine Veränderung, {reason}.
- Das Gerät misst {hundreds} Werte je Sekunde und funkt sie nach {place}.
- Für {project} verbrachten {groups} {dozens} Nächte auf See.
- Die Hypothese stammt von {year}, als {groups} zum ersten Mal {things} verglichen.
"""
    ),
)

KULTUR = Section(
    "kultur",
    "Kultur",
    "Bühne, Leinwand, Bücher und der Lärm der Proben",
    ("review", "standard", "review", "feature"),
    read_pools(
        """
things: Bühnenbilder | Masken | Erstausgaben | Geigen | Filmrollen | Proben | Kostüme |
  Holzschnitte | Handschriften | Marionetten | Liederzyklen | Laternen | Monologe
groups: Schauspielerinnen | Chorleute | Bühnenarbeiter | Leserinnen und Leser | Sammler |
  Tänzerinnen | Abonnenten
problem: das undichte Operndach | die Kürzung im Kulturhaushalt | das schwindende Publikum | die
  Feuchtigkeit im Archiv | das Gezänk um den Nachlass
measure: eine Nacht mit freiem Eintritt | eine neue Intendanz | eine gemeinsame Bühnenkarte | ein
  Stipendium für junge Lyrik | eine offene Probe
venue: im Kleinen Theater | im Lesesaal | im Opernfoyer | in der Druckwerkstatt | im Laternenkino
org: die Oper | das Puppentheater | die Stadtgalerie | die Buchmesse | das Tanzhaus
org2: die Kulturstiftung | das Denkmalamt | die Gilde der Schreibenden
project: das Festival der kleinen Bühnen | das Filmarchiv | die Herbstpremiere | die
  Freskenrettung
work: Der gläserne Fährmann | Neun Briefe | Salz und Donner | Niedrigwasser | Die Geduld der
  Steine | Obstgarten bei Nacht
criteria: Regie | Musik | Text | Ausstattung | Ensemble
role_f: Regisseurin | Geigerin | Romanautorin
role_m: Regisseur | Geiger | Romanautor
role2_f: Chorleiterin | Literaturwissenschaftlerin | Archivarin
role2_m: Chorleiter | Literaturwissenschaftler | Archivar
"""
    ),
    read_lines(
        """
- Die Premiere ist ausverkauft, vor dem Eingang warten {groups} auf Restkarten.
- Auf der Bühne stehen {dozens} {things}, von unten beleuchtet, {tail}.
- Der Roman hat {hundreds} Seiten und keinen Satz zu viel, findet {surname2}.
- {surname} sammelt {things} und verleiht sie kostenlos.
- Das Festival erwartet {thousands} Gäste, die meisten am {weekday}.
- Der zweite Akt wurde {few} Mal umgeschrieben, {reason}.
- Eine Melodie aus {place}, kaum {few} Takte lang, trägt den ganzen Abend.
- Im Archiv liegen {things} zwischen Seidenpapier, geordnet seit {year}.
"""
    ),
)

SECTIONS = (POLITIK, WIRTSCHAFT, WISSEN, KULTUR)
