"""The shops: what each says on all of its pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shop:
    """A shop; `promoted` is the category that its permanent advertisement boxes are about."""

    name: str
    domain: str
    promoted: str
    extra_navigation: Sequence[str]
    slogans: Sequence[str]
    footer: Sequence[str]
    also_viewed: str


SHOPS = (
    Shop(
        "Buybarn",
        "www.buybarn.example",
        "printer",
        ("Today's deals", "Gift cards", "Your account", "Help", "Sell your things", "Wish list"),
        ("Free shipping on orders over 25 dollars.", "One click and it is on its way."),
        (
            "Prices and availability are subject to change without notice.",
            "Conditions of use, privacy notice, and advertising on this site.",
            "Buybarn and its barn door are trademarks of Buybarn Stores Inc.",
        ),
        "Customers who viewed this item also viewed",
    ),
    Shop(
        "Gadgetry",
        "reviews.gadgetry.example",
        "notebook",
        ("News", "Reviews", "Downloads", "Tips", "Forums", "Newsletters", "Price comparison"),
        ("The source for technology and lower prices.", "Editors' choice, every week."),
        (
            "About Gadgetry, jobs, site map, permissions, and our editorial policy.",
            "All rights reserved. Featured services are paid for by the merchants.",
            "Merchants set the prices shown here and are solely responsible for them.",
        ),
        "Readers of this review went on to",
    ),
    Shop(
        "Carter and Sons",
        "shop.carterandsons.example",
        "television",
        ("Stores near you", "Clearance", "Order by telephone", "Catalogue", "Repair service"),
        ("A family business since 1931.", "Our staff answer the telephone until nine."),
        (
            "Carter and Sons, 14 Mill Lane, Brookhaven. Registered in the county court.",
            "Goods may be returned unopened within thirty days with the receipt.",
            "Photographs are similar to the goods. Errors excepted.",
        ),
        "Often bought by our customers",
    ),
    Shop(
        "Pixelpoint",
        "www.pixelpoint.example",
        "phone",
        ("First looks", "Buying guides", "Labs", "Subscribe", "Free newsletter", "Video", "Events"),
        ("Subscribe now and save sixty per cent.", "Tested in our own laboratory."),
        (
            "Copyright Pixelpoint Media. Reproduction in whole or in part is prohibited.",
            "Reprints, privacy policy, terms of service, and media kit.",
            "Your use of this site means that you accept our terms and our cookies.",
        ),
        "More from the test bench",
    ),
    Shop(
        "Zettel",
        "products.zettel.example",
        "camera",
        ("White papers", "IT jobs", "Blogs", "Special reports", "Member sign-in", "RSS feeds"),
        ("Business buyers start here.", "Ask a dealer for a quotation today."),
        (
            "Zettel Business Network: contact us, advertise, corrections, and site index.",
            "Offers are for trade customers. Value added tax is not included.",
            "Some names on this site are trademarks of their owners.",
        ),
        "Related offers from our dealers",
    ),
)
