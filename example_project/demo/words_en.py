"""English grammar of the demo newspaper: words and sentences every section uses."""

from __future__ import annotations

from example_project.demo.grammar import read_lines, read_pools

POOLS = read_pools(
    """
place: Port Selwyn | Marrow Bay | Tidewell | Ashcombe | Kestrel Point | Dunmore Quay | Fallow
  Heath | Brackenford | Penhallow Cross | Larkham | Hollin Bridge | Eastmere
district: the ropewalk quarter | the lower town | the streets behind the cannery | the new estates
  | the hillside terraces | the station district | the old dockyards | the northern suburbs | the
  market streets | the river islands | the garden colony | the former barracks
first_f: Marta | Ines | Judith | Noor | Claire | Agnes | Priya | Leonie | Ruth | Soraya | Hannah |
  Vera
first_m: Tobias | Henrik | Samuel | Rafael | Owen | Callum | Idris | Pavel | Martin | Jonas | Kofi
  | Luca
last: Okonjo | Fairweather | Lindqvist | Marlowe | Hargreave | Castellan | Brandt | Achterberg |
  Pryce | Dunleavy | Sorensen | Whitlock | Mbeki-Hale | Trevanion | Kowalczyk | Ashdown | Ferreira
  | Goddard | Yilmaz | Penrose | Halloran | Vance | Rostami | Quill
weekday: Monday | Tuesday | Wednesday | Thursday | Friday | Saturday | Sunday
month: January | February | March | April | May | June | July | August | September | October |
  November
season: spring | summer | autumn | winter
opener: On {weekday} evening | Late in {month} | At the end of a long meeting | In {place} |
  Behind closed doors | Two days before the deadline | In the first week of {month} | Only later |
  In the {season} of {year} | A short walk from {venue} | Over coffee on {weekday} | To the
  surprise of {groups} | According to figures from {org2} | When the doors finally opened |
  Between two trains to {place}
tail: although nobody expects results before {month} | a figure that {org2} disputes | and not
  everyone in {district} agrees | which came as a relief to {groups} | even if the money runs out
  in {month} | something {surname2} had warned of in {year} | as anyone who has walked through
  {district} will confirm | and that is the cautious estimate | despite repeated promises to the
  contrary | with no sign of a compromise so far | far more than in comparable towns | and the
  first invoices have already arrived | to loud applause from {groups} | while {org} kept silent
  until {weekday}
reason: because {problem} had been left out of every earlier draft | since {things} are running
  short | as {groups} had demanded for {few} years | because {org2} withdrew its offer in {month}
  | after a night of talks in {venue} | because nobody could explain the {adj} figures | now that
  {things} cost {percent} per cent more | since {measure} would come too late
adj: patient | stubborn | costly | unusual | modest | fragile | ambitious | quiet | contested |
  careful | overdue | surprising | practical | uneven | generous | hasty | hopeful | awkward |
  detailed | bold
says: said {surname} | {surname} told this newspaper | {surname} recalled | said {person2},
  {role2} | {surname2} replied | said {surname2} on {weekday} | {surname} said in {venue} |
  {surname2} admitted
reader: tidewatcher | Old Mill Lane | R. from {place} | ferry_{dozens} | Commuter{few} | K. Loxley
  | harbour gull | night shift | Mrs Partridge | allotment{hundreds} | D. Brill | passing_through
photographer: L. Anstey | M. Courtenay | Estuary Pictures | J. Thorne | private
"""
)

GENERAL = read_lines(
    """
- {opener}, {groups} met in {venue} to talk about {problem}, {tail}.
- {opener}, {surname} counted {hundreds} {things} in {district} alone.
- Nobody in {place} had planned for {problem}, least of all {org}.
- {org} wants {measure}, {org2} would rather wait, {reason}.
- The {adj} answer came from {person2}, {role2}, who has followed {project} since {year}.
- What began with {few} {groups} in {venue} has turned into a {adj} argument about {things}.
- There are {thousands} {things} on the books of {org}, {tail}.
- {surname} keeps a list of {things} in a blue folder, and the list has grown {adj}.
- By {month}, {project} should be finished; {groups} in {district} remain doubtful.
- {opener}, the mood changed, {reason}.
- A {adj} study for {org2} puts the share of {groups} affected by {problem} at {percent} per cent.
- Visitors to {venue} notice the {things} first, then the {adj} silence.
- {measure} alone will not be enough, {surname2} argues, {reason}.
- The cost of {project} has risen to {millions} million crowns, {tail}.
- In {place}, {things} are a subject for the dinner table, not only for {groups}.
- {org} was founded in {year} by {few} {groups} who were tired of {problem}.
- It took {surname} {few} attempts to explain {measure} to {groups} from {place}.
- {opener}, {org2} published {few} pages on {problem}; the appendix names {dozens} {things}.
- Anyone who asks about {things} in {district} hears the same {adj} story about {problem}.
- {person2} has worked as {role2} for {years} years and calls {project} a {adj} experiment.
- Of {hundreds} {groups} asked by {org2}, more than half had never heard of {measure}.
- {opener}, {surname2} drove to {place} to see the {adj} {things} with no escort and no cameras.
- The {things} arrived on a {weekday}, {few} weeks late and {percent} per cent over budget.
- For {groups}, {measure} is more than a symbol, {reason}.
- {surname} draws a line on the map from {venue} to {district} and shrugs.
- Between {month} and {month}, {thousands} {things} changed hands, {tail}.
- The neighbours in {place} solved {problem} with {measure}, which {org} now wants to copy.
- Some {groups} have already left {district}; others put up with {problem} and hope for {project}.
- {opener}, there was talk of {measure} again, {tail}.
- Critics call {project} {adj}, supporters call it {adj}, and {surname} calls it unfinished.
- Rain was falling on {venue} when {surname2} read out the names of {dozens} {groups}.
- {org} has promised to report on {things} every {month}, {tail}.
- Last {season}, {problem} cost {place} about {millions} million crowns.
- The first {things} were moved to {venue} at dawn, {reason}.
- A decision on {measure} is due on {day} {month}.
- {surname2} does not want to hear the word {adj} any more, {reason}.
- It is the {things} that keep {groups} awake, not {project}.
- {few} of the {dozens} {groups} who signed the {adj} appeal live in {place}.
- {opener}, {org} and {org2} shared a table for the first time in {years} years.
- How {things} are counted is itself contested: {org2} leaves {district} out altogether.
- Everyone involved agrees on one point: {problem} will not disappear by itself.
- In the corridors of {venue}, {groups} speak of a {adj} {season}.
"""
)

QUOTES = read_lines(
    """
- “We have talked about {problem} for {few} years, and now we need {measure},” {says}.
- “Without {things} there is no {place} as we know it,” {says}.
- “I did not expect {groups} to be so {adj},” {says}.
- “{measure} sounds {adj}, but somebody has to pay for the {things},” {says}.
- “Ask {groups} in {district} whether {project} helps them,” {says}.
- “My grandmother would have laughed at {problem},” {says}, “she had other worries.”
- “You cannot store {things} in a drawer and hope for the best,” {says}.
- “It was a {adj} decision, and I would take it again,” {says}, {reason}.
- “People see {venue} and think of the past; I see {dozens} {adj} {things},” {says}.
- “That is not a {adj} plan, that is a wish,” {says} about {project}.
- “The day {org} listens to {groups} is the day I retire,” {says}.
- “If {measure} fails in {place}, it will fail everywhere,” {says}.
- “There were {few} of us, no money and far too many {things},” {says}.
- “Numbers do not frighten me, {problem} does,” {says}.
- “Give us until {month} and you will not recognise {district},” {says}.
- “A {adj} compromise is better than another {season} of waiting,” {says}.
- “We owe {groups} an honest word about {things},” {says}.
- “From {venue} you can see everything that went wrong with {project},” {says}.
"""
)

LINES = {
    "general": GENERAL,
    "quote": QUOTES,
    "headline-standard": read_lines(
        """
- {org} under pressure over {things} in {place}
- {place} decides on {measure}
- {groups} in {place} push for {measure}
- Doubts grow about {project} after {adj} report
- {place}: {thousands} {things} and a {adj} plan
- {surname} defends {project} against {groups}
- Why {problem} hits {place} harder than its neighbours
- {org2} warns of {problem} in {place}
"""
    ),
    "headline-feature": read_lines(
        """
- The {adj} life of {things}: a winter in {place}
- How {place} learned to live with {problem}
- {surname} and the {things} of {place}
- What {groups} from {place} know about {problem}
- A {adj} place: the people behind {project}
"""
    ),
    "headline-live": read_lines(
        """
- Live: {place} debates {measure}
- Live: {groups} await word on {project}
- As it happened: {problem} and a {adj} day in {place}
- Live from {venue}: {surname} on {project}
"""
    ),
    "headline-review": read_lines(
        """
- {work} in {place}: {adj} and a little too long
- {work}: why {place} should not miss it
- A {adj} evening with {work}
- {work} reviewed: {adj} ideas, {adj} results
"""
    ),
    "lead": read_lines(
        """
- {org} wants {measure}. In {place}, {groups} ask who will pay, {reason}.
- {problem} has reached {place}. {person}, {role}, has a {adj} proposal.
- {project} was meant to help {groups}. Now {dozens} {things} stand in its way, {tail}.
- Hardly anyone in {place} still believes in {project}. {person} does, {reason}.
- {few} years after the first plans, {groups} are still waiting for {measure}, {tail}.
- {thousands} {things}, one {adj} idea: {person}, {role}, takes on {problem}.
"""
    ),
    "first": read_lines(
        """
- {place} has seen many {adj} plans, but {person}, {role}, believes that {project} is different.
- When {person}, {role}, unlocked {venue} on {weekday}, {dozens} {groups} were already waiting.
- {person} has been {role} for {years} years and has never had so many calls about {things}.
- It was {weekday} morning in {place}, and {person}, {role}, was looking for {things}.
- {org} has confirmed what {groups} in {place} had feared: {problem} is getting worse.
"""
    ),
    "heading": read_lines(
        """
- What {groups} remember of {place}
- {surname} and the {adj} {things}
- A {adj} {weekday} in {venue}
- {things}, {things} and a {adj} promise
- Why {org} hesitates over {things}
- The {adj} side of {project}
- From {venue} to {district}
"""
    ),
    "entry": read_lines(
        """
- {surname} arrives at {venue}
- {org}: {measure} “{adj} but possible”
- {groups} leave {venue} in protest
- First figures on {things}
- {org2} speaks of a {adj} signal
- {surname2} asks for more time on {project}
- Applause for {groups} from {place}
- {problem}: {few} questions for {org}
- {adj} debate about {things} begins
"""
    ),
    "review": read_lines(
        """
- The {adj} opening belongs to {person}, {role}, and {work} never quite recovers from it.
- {opener}, {work} finds its rhythm, and the {things} suddenly make sense.
- One leaves {venue} with {few} questions and a {adj} wish to come back with {groups}.
- Compared with the {adj} version of {year}, {work} has gained in calm and lost in wit.
- {surname} trusts the {things} more than the words, and is right to do so.
- Not everything succeeds: the {things} look {adj}, and {problem} is felt in every corner.
- The price of {dozens} crowns is {adj}, {tail}.
- {groups} at the next table were enchanted; this reviewer found the {things} merely {adj}.
- The second half drags, {reason}.
- What remains of {work} is a {adj} picture: {venue}, {dozens} {things} and no hurry at all.
"""
    ),
    "verdict": read_lines(
        """
- {work} is {adj}, {adj} and well worth the journey to {place}.
- A {adj} idea, carried out with {adj} {things}: {surname} has done better.
- Go for the {things}, stay for {surname}, forgive the {adj} rest.
"""
    ),
    "remark": read_lines(
        """
- {adj}, with {things} to spare
- more {adj} than in {year}
- the {things} let it down
- {adj} even on a {weekday}
- nothing for {groups} in a hurry
- {few} {adj} moments
"""
    ),
    "caption": read_lines(
        """
- Photographed in {month}: {venue} seen from {district}.
- Picture from {year}: {person}, {role}, with visitors.
- Seen at {venue}: {things}, shortly before noon.
- A view across {place} towards {district}.
"""
    ),
    "comment": read_lines(
        """
- I live five minutes from {place} and never read a word about {things} until today. Thanks!
- Same debate as {years} years ago. Nobody learns anything, least of all the {groups}.
- @{reader}: you forget who pays for all this. We do, every month.
- Nice piece, but where are the sources? My cousin says the {things} are fine.
- Could the editors please check the number in the third paragraph? Looks {adj} to me.
- Typical. First they ignore {district}, then they act surprised.
- Finally someone writes about this. I sent two letters about {problem} and got no reply.
- Not convinced. {place} needs buses, not {things}.
"""
    ),
    "biography": read_lines(
        """
- {name} has written about {beat} for the Courier since {year}. Before that came {few} years as a
  reporter in {place}, where the love of {things} began.
- {name} joined the newsroom in {year} and covers {beat}. Readers know {name} for long
  conversations with {groups} and for a weakness for {things}.
- {name} studied in {place}, learned the trade on the night desk and reports on {beat}, most
  gladly on {things}.
"""
    ),
}
