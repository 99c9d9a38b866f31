"""The topics that run through the sections of the made-up newspapers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from example_project.demo.grammar import read_lines, read_pools


@dataclass(frozen=True, slots=True)
class NewsTopic:
    """A topic: what a user would ask for, and the words its stories use.

    `dossier` is the line with which newspapers advertise it on all of their pages, `house` the
    titles and lines of pages of the newspaper's own that talk of it and tell nothing.
    """

    name: str
    query: str
    pools: Mapping[str, tuple[str, ...]]
    sentences: tuple[str, ...]
    dossier: str
    house: tuple[str, ...]


WIND = NewsTopic(
    "wind",
    "offshore wind power: wind farms at sea, turbines, grid connection",
    read_pools(
        """
things: turbines | rotor blades | sea cables | foundations | converter stations | wind maps |
  grid fees | service ships | nacelles | permits for turbines | gusts | megawatt hours
problem: the missing grid connection | the lull in the wind | the quarrel over the wind farm |
  the shortage of service ships | the noise of the pile drivers | the price of offshore power |
  the delay of the sea cable | the bats at the rotor blades
measure: a second offshore wind farm | a feed-in tariff | a tender for turbines | a cable to the
  mainland | a strategy for storage | a ban on turbines near the dunes | a citizens' share in
  the wind farm | a cap on grid fees
venue: the control room of the wind farm | the converter station | the blade works | the service
  harbour | the grid operator's tower | the substation
org: Seawind Estuary | the Grid Company | the Turbine Works | the Wind Energy League | the
  Offshore Cooperative
org2: the Grid Agency | the Institute for Wind Energy | the Energy Ministry | the Bird Observatory
project: the offshore wind farm | the sea cable | the turbine park | the northern grid link | the
  hydrogen platform
"""
    ),
    read_lines(
        """
- {few} turbines of the wind farm stood still on {weekday}, {reason}.
- The grid takes {hundreds} megawatts at most; on stormy days the rotor blades are turned away.
- Each rotor blade is {dozens} metres long and travels by night.
- Offshore, the wind blows on {percent} per cent more hours than on land.
- The sea cable from the wind farm to {place} has been repaired {few} times since {year}.
- {org} wants {millions} million crowns for the grid connection, {tail}.
- A kilowatt hour from the wind farm costs {few} cents at the cable's end.
- Technicians climb {dozens} metres inside the tower, {things} on their backs.
- Below the turbines, mussels settle on the foundations, and the fish follow.
- {surname} remembers the first wind turbine on the dike, built in {year} for {few} households.
"""
    ),
    "Dossier: offshore wind power, turbines and the grid",
    (
        "Wind power quiz: win a flight over the turbines",
        "Offshore wind calendar: twelve wind farms for your kitchen wall",
        "Jobs at sea: wind farm and turbine offers of our partners",
    ),
)

MEASLES = NewsTopic(
    "measles",
    "measles outbreak, infections, vaccination against measles",
    read_pools(
        """
things: vaccine doses | blood tests | sick notes | infections | isolation wards | vaccination
  cards | rashes | contact lists | syringes | quarantine orders | cases of measles
problem: the measles outbreak | the gap in the vaccinations | the rumours about the vaccine | the
  full children's ward | the shortage of doses | the chain of infections | the closed nursery |
  the tired nurses
measure: a vaccination bus | a quarantine for contacts | a duty to be vaccinated | a hotline for
  parents | a second dose for everyone | a closure of the schools | a register of vaccinations
venue: the children's ward | the vaccination centre | the health office | the school nurse's room
  | the laboratory for infections | the waiting room
org: the Health Office | the Estuary Hospital | the Children's Clinic | the Paediatricians' League
org2: the Institute for Infections | the Vaccine Commission | the Health Ministry | the Nurses'
  Union
project: the vaccination campaign | the measles register | the outbreak plan | the mobile
  vaccination team | the quarantine rules
"""
    ),
    read_lines(
        """
- {dozens} children have fallen ill with measles since {weekday}, {few} of them seriously.
- The virus stays in the air of a room for {few} hours.
- Of the infected, {percent} per cent had never been vaccinated.
- The rash begins behind the ears, the fever {few} days earlier.
- The laboratory confirmed {few} more infections in {district}, {tail}.
- A second dose of the vaccine protects {percent} in a hundred more, {surname2} says.
- The health office has written to {hundreds} contacts of a single patient.
- At the school in {place}, {dozens} pupils had to stay at home, {reason}.
- Before the vaccine, measles came back every {few} years like the tide.
- Nurses gave {thousands} injections in {month}, more than in all of {year}.
"""
    ),
    "Dossier: measles, vaccination and the outbreak",
    (
        "Vaccination quiz: do you know your measles?",
        "Health supplement: vaccines, infections and your insurance",
        "Measles hotline poster for your shop window",
    ),
)

FLOOD = NewsTopic(
    "flood",
    "river flood, dikes, high water, evacuation",
    read_pools(
        """
things: sandbags | pumps | water gauges | rescue boats | flooded cellars | dike keepers |
  evacuation plans | rain sensors | emergency beds | damaged bridges | flood maps
problem: the flood on the river | the crack in the dike | the rising groundwater | the soaked
  harvest | the late flood warning | the mud in the cellars | the uninsured houses
measure: a higher dike | a flood basin above the town | an evacuation of the lower streets | a
  levy for flood damage | a ban on building by the river | a new warning system | a wall along
  the quay
venue: the crisis room | the pumping station | the fire station | the gymnasium with the emergency
  beds | the dike road | the broken weir
org: the Dike Board | the Fire Brigade | the Water Authority | the Relief Corps
org2: the Flood Service | the Insurers' Association | the Interior Ministry | the Institute for
  Hydraulics
project: the dike repair | the flood basin | the evacuation plan | the relief fund | the river
  widening
"""
    ),
    read_lines(
        """
- The river rose by {dozens} centimetres within {few} hours and stood at the crown of the dike.
- {hundreds} people had to leave {district} by boat, {reason}.
- Helpers filled {thousands} sandbags before the flood crest passed {place}.
- The gauge at the weir showed the highest water since {year}.
- In {dozens} cellars the pumps are still running, {tail}.
- The dike held, but water came up from below, through the drains.
- Rain of {dozens} litres on a square metre fell upstream in one night.
- The flood warning reached the town hall {few} hours late.
- Insurers put the flood damage at {millions} million crowns.
- After the high water, mud lay {few} centimetres deep in {venue}.
"""
    ),
    "Dossier: floods, dikes and high water",
    (
        "High water quiz: how dry is your cellar?",
        "Flood insurance special: an advertisement by our partners",
        "Flood of the century: the picture book of the river",
    ),
)

TOPICS = (WIND, MEASLES, FLOOD)
