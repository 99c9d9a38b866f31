"""The English edition: labels, house advertisements, legal notices and the paper's own pages."""

from __future__ import annotations

from example_project.demo.grammar import read_lines
from example_project.demo.model import Edition, StaticPage
from example_project.demo.sections_en import SECTIONS
from example_project.demo.words_en import LINES, POOLS

LABELS = {
    "skip": "Skip to content",
    "home": "Home",
    "search": "Search the archive",
    "sign_in": "Sign in",
    "subscribe": "Subscribe",
    "other_edition": "Deutsch",
    "tide": "High water {hour}:{minute} · {readers} readers online",
    "by": "By",
    "minutes": "{count} min read",
    "updated": "Last updated at {time}",
    "share": "Share",
    "copy": "Copy link",
    "mail": "E-mail",
    "print": "Print",
    "save": "Save for later",
    "photo": "Photo:",
    "advert": "Advertisement",
    "related": "Related stories",
    "read_also": "Read also:",
    "most_read": "Most read",
    "tags": "Filed under",
    "comments": "Comments ({count})",
    "reply": "Reply",
    "report": "Report",
    "votes": "{count} likes",
    "comment_rules": "Please stay polite. Comments are moderated from 7 am to 11 pm.",
    "key_points": "Key points",
    "older_entries": "Load older entries",
    "longreads": "More to take your time with",
    "rating": "Our rating",
    "criterion": "Criterion",
    "points": "Points",
    "remark": "Remark",
    "score": "{score} of 5",
    "verdict": "Verdict",
    "next": "Older stories",
    "previous": "Newer stories",
    "page": "page {count}",
    "all_from": "All from",
    "topic_headline": "Everything we have written about {place}",
    "author_heading": "Latest work",
    "newsroom": "The newsroom",
    "topics": "Places",
    "service": "Service",
    "email": "Your e-mail address",
    "sign_up": "Sign me up",
    "form_name": "Your name",
    "form_message": "Your message",
    "form_send": "Send message",
    "cookies": "We and our partners store cookies to keep you signed in and to count visits. "
    "You can change your choice at any time in the privacy settings.",
    "cookies_yes": "Accept all",
    "cookies_no": "Only necessary ones",
    "noscript": "Please enable JavaScript to see videos, charts and the tide calendar.",
}

EDITION = Edition(
    code="en",
    prefix="/",
    name="The Estuary Courier",
    claim="Independent since 1874",
    front_headline="What matters between harbour and hills this morning",
    thousands=",",
    months=(
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
    date_format="{day} {month} {year}",
    pools=POOLS,
    lines=LINES,
    labels=LABELS,
    sections=SECTIONS,
    adverts=read_lines(
        """
- Low Tide Mattresses: sleep like the sea at noon. Thirty nights free of charge.
- Larkham Cable now with 2 gigabits. Switch today and pay nothing until summer.
- Hearing aids you forget you are wearing. Book a free test at Otter & Sons.
- The Courier Shop: oilskin jackets, tide clocks and the new wall calendar.
- Estuary Bank: your first flat is closer than you think. Talk to us.
- Win two tickets for the harbour lights cruise. Play the quiz now!
- Fresh vegetables at your door every Thursday. Try the Fallow Box for 9.90.
- Solar roof check in three minutes: how much could your house save?
- Learn Norwegian in the time it takes to boil an egg. Start the app.
"""
    ),
    newsletters=read_lines(
        """
- Get our morning briefing: the five stories you need, at six o'clock, free in your inbox.
- Sign up for the Tideline newsletter and never miss a weekend read.
- Enjoying this story? Our editors' letter brings you more of them every Friday.
- Courier Plus: read everything for one crown a week. Cancel whenever you like.
"""
    ),
    legal=read_lines(
        """
- © 2031 Estuary Courier Publishing Cooperative. All rights reserved.
- Reproduction in whole or in part only with written permission of the publisher.
- The Courier is a member of the Press Ombudsman scheme and bound by its code.
"""
    ),
    static_pages=(
        StaticPage(
            "about",
            "about",
            "Who we are",
            read_lines(
                """
- Since 1874 a boat has carried the first copies of this newspaper across the water before
  sunrise. The boat is electric now, and most of you read us on a screen, but the hour is the
  same.
- The Courier belongs to 11,400 members, none of whom holds more than one share. They elect the
  editorial board every three years in the rope factory, and the meeting usually ends with soup.
- We correct mistakes on the page where they happened. We do not accept travel, tickets or meals
  from the people we report on; the reviewers pay their own bills.
- Our German pages began in 1921 as a supplement for sailors and have had a desk of their own
  since the bridge was opened.
"""
            ),
        ),
        StaticPage(
            "contact",
            "contact",
            "Write to the editors",
            read_lines(
                """
- Letters, corrections and tips are read by a human being, usually on the same day.
- Visitors are welcome on weekdays between nine and five: Courier House, 3 Signal Lane.
- For the night desk call 0550 1874 and let it ring.
"""
            ),
        ),
        StaticPage(
            "imprint",
            "imprint",
            "Publisher and responsible persons",
            read_lines(
                """
- Published by the cooperative of the same name, entered in the register of Port Selwyn under
  number 774.
- Responsible for the editorial part: Philippa Thornbury. Responsible for advertisements: Edgar
  Nwosu.
- Printed at the Signal Lane works on recycled paper.
"""
            ),
        ),
        StaticPage(
            "privacy",
            "privacy",
            "How we handle your data",
            read_lines(
                """
- We keep the address you give us for a newsletter until you cancel it, and then for one more
  month in case you change your mind.
- Visits are counted without names. The counting machine stands in our own cellar and forgets
  every entry after ninety days.
- Readers who comment choose a name; we ask for an address to be able to reply, and show it to
  nobody.
- You may ask at any time what we know about you. The answer takes a week and costs nothing.
- Advertisers learn how often their notice was shown, not to whom.
"""
            ),
        ),
    ),
)
