"""English sections of the demo newspaper: the vocabulary of each."""

from __future__ import annotations

from example_project.demo.grammar import read_lines, read_pools
from example_project.demo.model import Section

POLITICS = Section(
    "politics",
    "Politics",
    "Council, parliament and everything they argue about",
    ("standard", "live", "standard", "feature", "standard"),
    read_pools(
        """
things: housing permits | postal ballots | council minutes | amendments | school places | parking
  permits | petitions | coalition papers | by-laws | polling stations | planning files | subsidies
  | committee seats | campaign posters | asylum files | bus lanes
groups: tenants | councillors | backbenchers | ward clerks | commuters | lobbyists | first-time
  voters | landlords | petitioners | school governors | campaigners
problem: the shortage of building land | the quarrel over the budget | falling turnout | the empty
  treasury | distrust of the mayor's office | the backlog in the registry | the row over expenses
  | the gap between town and country | the endless wait for permits | the crumbling coalition
measure: a cap on rents | a second reading of the bill | an independent inquiry | a citizens'
  assembly | free buses on Sundays | a tax on empty flats | a new electoral map | a freeze on
  council salaries | a public register of gifts | a four-year term
venue: the council chamber | the registry office | the old customs house | the committee room |
  the assembly hall | the mayor's parlour | the press gallery | the citizens' bureau
org: the Harbour Alliance | the Rural Party | the Tenants' Union | the Audit Office | the Civic
  League | the Electoral Commission | the Liberal Bench | the Council of Wards
org2: the Court of Accounts | the Democracy Forum | the Institute for Local Government | the
  Ratepayers' Association | the opposition | the Ombudsman's Office
project: the harbour levy bill | the ward reform | the coalition treaty | the transparency act |
  the housing pact | the school merger | the coastal defence budget | the voting-age referendum
role: deputy mayor | whip of the majority group | registrar | committee chair | former minister
role2: constitutional lawyer | pollster | town clerk | leader of the opposition | political
  scientist
"""
    ),
    read_lines(
        """
- The motion on {measure} passed by {dozens} votes to {few}, with {few} abstentions.
- In the corridor, {groups} were already counting the votes for {project}.
- The minister rejected the {adj} amendment and sent {project} back to the committee.
- A majority for {measure} has existed on paper since {month}, {tail}.
- The campaign in {place} turns on {things}, and on who failed to deliver them.
- Turnout in {district} was {percent} per cent, the lowest since {year}.
- {surname} left the party in {year} over {things} and returned for {project}.
- The coalition survived a vote of confidence, {reason}.
- The draft law runs to {hundreds} paragraphs, of which {few} concern {things}.
- Parliament in the capital has yet to rule on {measure}, and {org} refuses to move first.
- The whips of {org} spent {weekday} telephoning {adj} {groups}.
- Under the constitution, {problem} is a matter for the wards, not for the ministry.
"""
    ),
)

BUSINESS = Section(
    "business",
    "Business",
    "Companies, prices and the people who work for them",
    ("standard", "feature", "standard", "live"),
    read_pools(
        """
things: container slots | freight rates | invoices | cold stores | spare parts | mortgages |
  dividends | night shifts | order books | apprenticeships | patents | delivery vans | grain
  contracts | pallets | quarterly figures | payment terminals
groups: shareholders | dockers | fish traders | suppliers | apprentices | bakers | creditors |
  exporters | shopkeepers | machinists | analysts
problem: the rise in energy prices | the shortage of skilled workers | weak demand | the strong
  crown | the collapse of a supplier | the debt of the shipyard | late payment | the drought on
  the canals | the slump in exports | the price war among the ferries
measure: a bridging loan | a shorter working week | a merger of the two yards | a price brake | a
  new collective agreement | a state guarantee | a bonus for the night shift | an export licence |
  a share buyback | a levy on idle land
venue: the trading floor | the container terminal | the cannery | the shipyard canteen | the
  savings bank | the fish auction | the rope factory | the logistics park
org: Selwyn Freight | the Estuary Bank | Marrow Bay Foods | Larkham Cable | the Shipyard Group |
  the Chamber of Trade | Tidewell Timber | the Dockers' Union
org2: the Cartel Office | the Institute for Economic Research | the Exporters' Federation | the
  rating agency Cobalt | the Employers' League | the Statistics Office
project: the deep-water terminal | the merger plan | the rescue package | the battery plant | the
  rail freight link | the cooperative bakery | the cannery sale | the wind-turbine contract
role: chief executive | works council chair | receiver | harbour master | head of purchasing
role2: chief economist | union secretary | fund manager | tax adviser | director of the chamber
"""
    ),
    read_lines(
        """
- Turnover rose by {percent} per cent to {millions} million crowns, mainly thanks to {things}.
- The share lost {percent} per cent of its value within {few} hours of the announcement.
- {org} employs {thousands} people, most of them in {district}.
- Profit before tax shrank to {millions} million crowns, {reason}.
- Inflation stood at {few} per cent in {month}, and {things} were the main driver.
- The creditors gave {org} until {month} to sell its {adj} {things}.
- At the fish auction, a crate cost {dozens} crowns, {tail}.
- Wages at {org} will rise by {few} per cent in {month}, the union agreed on {weekday}.
- The bank lent {millions} million crowns for {project} and wants to see {things} as security.
- Investors had hoped for {measure} and sold when it did not come.
- The factory runs three shifts, and {groups} are hired straight from school.
- Interest rates, {things} and the weather: {surname2} blames all three for {problem}.
"""
    ),
)

SCIENCE = Section(
    "science",
    "Science",
    "Research from the coast, the laboratory and the sky",
    ("standard", "feature", "standard"),
    read_pools(
        """
things: sediment cores | eel larvae | satellite images | sensors | moss samples | tide gauges |
  bat boxes | microplastics | blood samples | seed banks | radio signals | algae cultures |
  weather balloons | fossil shells | genome maps | data sets
groups: marine biologists | doctoral students | volunteers | oyster farmers | patients |
  geologists | birdwatchers | engineers | astronomers | divers | statisticians
problem: the retreat of the seagrass | the warming of the estuary | the loss of old data | a
  resistant germ | the noise under water | the silting of the channel | the decline of the terns |
  a gap in the measurements | the erosion of the dunes | the shortage of donors
measure: a second expedition | a network of buoys | a ten-year trial | an open archive | a ban on
  bottom trawling | a repeat of the experiment | a blind test | a finer climate model | a new
  reserve | a vaccine for livestock
venue: the marine station | the herbarium | the observatory | the wet laboratory | the computing
  centre | the research vessel | the tidal flats | the anatomy theatre
org: the Marine Institute | the University of Larkham | the Weather Service | the Polar Group |
  the Estuary Hospital | the Natural History Museum | the Seagrass Consortium
org2: the Academy of Sciences | the Fisheries Agency | the Research Council | a team from Ashcombe
  | the Ethics Board | the Space Agency
project: the deep-mud drilling | the eel census | the tidal energy trial | the gene atlas | the
  radio telescope | the dune experiment | the long-term seabird study | the sleep study
role: oceanographer | head of the laboratory | epidemiologist | curator of shells | doctoral
  researcher
role2: glaciologist | reviewer of the study | ecologist | physicist | science historian
"""
    ),
    read_lines(
        """
- The team analysed {thousands} {things} collected between {year} and 2030.
- In the laboratory, {things} are kept at {few} degrees and checked every {few} hours.
- The effect is small, about {percent} per cent, but statistically robust.
- The paper appeared on {weekday} after {few} rounds of {adj} peer review.
- Under the microscope, {things} reveal a {adj} pattern nobody had described before.
- A control group in {place} showed no such change, {tail}.
- Models had predicted the opposite, {reason}.
- The instrument records {hundreds} values a second and sends them to {venue}.
- The hypothesis goes back to {year}, when {groups} first noticed {problem}.
- Temperatures in the estuary have risen by {few} tenths of a degree since {year}.
- For {project}, {groups} spent {dozens} nights at sea between {month} and {month}.
- Correlation is not causation, {surname2} points out, and asks for {measure}.
"""
    ),
)

CULTURE = Section(
    "culture",
    "Culture",
    "Stage, screen, books and the noise of rehearsal",
    ("review", "standard", "review", "feature"),
    read_pools(
        """
things: stage sets | masks | first editions | violins | film reels | rehearsals | costumes | choir
  seats | woodcuts | manuscripts | puppets | song cycles | lanterns | tapestries | gramophone
  records | monologues
groups: actors | choristers | stagehands | readers | collectors | dancers | poets | ushers |
  students | curators | season-ticket holders
problem: the leaking roof of the opera | the shrinking audience | the quarrel over the legacy |
  the missing manuscript | the cut in the arts fund | a strike of the stagehands | the uncertain
  future of the cinema | the damp in the archive | the dispute about the fresco
measure: a free evening each month | a new artistic director | a joint ticket for all stages | a
  touring ensemble | the return of the paintings | a residency for young poets | a restoration
  fund | an open rehearsal
venue: the Little Theatre | the Corn Exchange | the reading room | the opera foyer | the print
  workshop | the Lantern Cinema | the chapel of St Brannoc | the municipal gallery
org: the Estuary Opera | the Puppet Company | the Municipal Gallery | the Book Fair | the Lantern
  Cinema | the Chamber Choir | the Dance House
org2: the Arts Council | the Friends of the Opera | the Writers' Guild | the Heritage Trust | the
  Society of Printmakers
project: the festival of small stages | the new reading hall | the film archive | the fresco
  restoration | the autumn premiere | the anthology of harbour songs | the sculpture trail
work: The Glass Ferryman | Nine Letters to Larkham | Salt and Thunder | The Clockmaker's
  Daughter-in-Law | Low Water | A Map of Sundays | The Patience of Stones | Orchard at Night | The
  Understudy's Year
criteria: Direction | Music | Text | Staging | Ensemble | Atmosphere
role: director | first violinist | novelist | dramaturge | set designer
role2: choir leader | critic | literary scholar | archivist | soprano
"""
    ),
    read_lines(
        """
- The premiere is sold out, and {groups} queue for returned tickets in front of {venue}.
- The orchestra rehearses {few} hours a day, {tail}.
- On the stage of {venue} stand {dozens} {things}, lit from below.
- The novel has {hundreds} pages and not a single {adj} sentence too many.
- Painted in {year}, the {adj} canvas shows {district} before the flood.
- {surname} collects {things} and lends them to {groups} free of charge.
- The festival expects {thousands} visitors between {weekday} and {weekday}.
- The second act was rewritten {few} times, {reason}.
- In the archive of {org}, {things} lie between sheets of {adj} tissue paper.
- A melody from {place}, hardly {few} bars long, runs through the whole evening.
- The translation keeps the rhythm and loses the rhyme, which {groups} will forgive.
- Nobody plays {adj} kings like {surname2}, and nobody knows it better.
"""
    ),
)

SPORT = Section(
    "sport",
    "Sport",
    "Matches, regattas and the long way back from injury",
    ("standard", "live", "standard", "feature"),
    read_pools(
        """
things: corner kicks | season tickets | rowing shells | floodlights | transfer fees | training
  camps | penalty shots | away games | sprint relays | goalposts | medals | running shoes |
  substitutions | yellow cards | regatta buoys | match reports
groups: goalkeepers | rowers | referees | supporters | physiotherapists | juniors | relay runners
  | scouts | veterans | coaches | sailors
problem: the injury list | a run of six defeats | the state of the pitch | the debts of the club |
  the doping case | the storm over the regatta | the departure of the captain | the fight against
  relegation | the shortage of referees
measure: a new stadium roof | a video referee | a winter break | a women's league | a change of
  trainer | a smaller squad | a salary cap | a second training pitch | a free junior ticket
venue: the Harbour Stadium | the boathouse | the velodrome | the swimming hall | the clubhouse |
  the athletics track | the training ground | the sailing school
org: Selwyn Athletic | Tidewell Rovers | the Rowing Club | Eastmere United | the Larkham Running
  Club | the Sailing Federation | Brackenford Ladies
org2: the Football Association | the Disciplinary Board | the Olympic Committee | the Supporters'
  Trust | the Anti-Doping Agency
project: the cup campaign | the estuary regatta | the coast marathon | the stadium lease | the
  youth academy | the comeback plan | the indoor championship
role: head coach | team captain | stroke of the women's eight | sporting director | national
  trainer
role2: team doctor | former striker | club president | referee | goalkeeping coach
"""
    ),
    read_lines(
        """
- The decisive goal fell in minute {dozens}, after {few} corners in a row.
- At half-time {org} led by a {adj} margin, {tail}.
- {surname} ran the last lap in {dozens} seconds and collapsed behind the line.
- Before {thousands} spectators in {venue}, the home side looked {adj}.
- The table does not lie: {org} has {dozens} points and {few} matches left.
- The crew from {place} won by half a length, {reason}.
- In training, {groups} practise {things} until the floodlights go off.
- The transfer cost {millions} million crowns and has produced {few} {adj} games so far.
- A torn ligament keeps {surname2} out until {month} at least.
- The derby against {place} on {weekday} is sold out except for {few} {adj} seats.
- The wind turned north, the {things} drifted, and the regatta had to be stopped.
- The coach changed {few} players and the whole system, to the {adj} delight of {groups}.
"""
    ),
)

TRAVEL = Section(
    "travel",
    "Travel",
    "Slow trains, good beds and honest kitchens",
    ("review", "feature", "standard"),
    read_pools(
        """
things: night trains | footpaths | mussels | guest rooms | vineyards | ferry timetables | tiled
  stoves | cheese shops | bicycle racks | lighthouses | picnic tables | campsites | rock pools |
  hiking maps | breakfast baskets | orchards
groups: hikers | innkeepers | families | pilgrims | ferrymen | winegrowers | cyclists | day
  trippers | cooks | guides | campers
problem: the crowds in August | the closed mountain road | the price of a double room | the fog |
  the lack of night trains | the litter on the beaches | the cruise ships | the late ferry
measure: a visitor's tax | a limit on day tickets | a car-free promenade | a luggage service for
  hikers | a joint ferry pass | a quiet season | a signposted coast path | a new mountain refuge
venue: the station hotel | the lighthouse inn | the lower ferry landing | the mountain hut | the
  monastery garden | the covered market | the pilgrims' hostel | the beach café
org: the Coast Railway | the Ferry Company | the Alpine Club | the Innkeepers' Guild | the Larkham
  Tourist Office | the Lighthouse Trust
org2: the Environment Agency | the Hikers' Association | the Island Council | the Hotel Federation
project: the coast path | the sleeper line | the island ferry | the village of bookshops | the
  cycle bridge | the rebuilt spa | the vineyard railway
work: The Lighthouse Inn | The Nine Lanterns | Café Meridian | The Weir House | Hotel Aurelia |
  The Mussel Boat | The Upper Mill | Pension Halcyon
criteria: Rooms | Kitchen | Service | Location | Value | Breakfast
role: innkeeper | mountain guide | engine driver | head cook | ferry captain
role2: tourism researcher | beekeeper | lighthouse keeper | winegrower | travel writer
"""
    ),
    read_lines(
        """
- The path climbs {hundreds} metres through {adj} woods before the sea comes into view.
- A room with breakfast costs {dozens} crowns, {tail}.
- The train from {place} takes {few} hours and stops wherever {groups} wave.
- In the kitchen of {venue}, {things} are served with brown butter and no ceremony.
- Those who come in {month} have the beach, the {things} and the {adj} light to themselves.
- The ferry leaves at low water, {reason}.
- On the terrace, {groups} compare {things} and blisters.
- The village has {hundreds} inhabitants, {few} bakeries and a {adj} dialect.
- The best view of {place} opens behind {venue}, beside the {things}.
- Breakfast is {adj}: bread from {district}, {few} cheeses, honey from the roof.
- The road ends at {venue}; from there on {groups} carry their own {things}.
- It is {dozens} kilometres to {place}, most of them downhill, all of them {adj}.
"""
    ),
)

SECTIONS = (POLITICS, BUSINESS, SCIENCE, CULTURE, SPORT, TRAVEL)
