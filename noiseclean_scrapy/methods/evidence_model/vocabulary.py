"""What tags, class names and ids say about an element, as bits."""

from __future__ import annotations

import re
from functools import lru_cache

TAG_GROUPS: dict[str, str] = {
    "p": "p",
    "heading": "h1 h2 h3 h4 h5 h6",
    "h1": "h1",
    "li": "li",
    "list": "ul ol dl menu",
    "definition": "dt dd",
    "cell": "td th",
    "table": "table",
    "pre": "pre code samp",
    "quote": "blockquote q",
    "figure": "figure figcaption picture",
    "anchor": "a",
    "button": "button label",
    "form": "form fieldset",
    "article": "article",
    "main": "main",
    "section": "section",
    "nav": "nav",
    "aside": "aside",
    "header": "header hgroup",
    "footer": "footer",
    "address": "address time",
    "details": "details summary",
    "inline": "span b i em strong font small u",
    "div": "div",
}
"""Groups of tags, by name."""

CLASS_GROUPS: dict[str, str] = {
    "c_content": "content contents inhalt contenido contenu tresc cont",
    "c_article": "article articles story artikel articulo artykul news post posts entry blog "
    "hentry",
    "c_body": "body text txt copy prose rich richtext rte wysiwyg markdown paragraph "
    "description desc detail details articlebody bodytext editor read p",
    "c_main": "main primary center middle central maincontent core",
    "c_nav": "nav navi navigation navbar menu menus submenu topbar tabs tab breadcrumb "
    "breadcrumbs crumb crumbs pager pagination paging prev next sitemap toc jump "
    "skip",
    "c_header": "header head top masthead banner logo brand hdr",
    "c_footer": "footer foot bottom copyright legal colophon ftr fuss stopka disclaimer",
    "c_side": "sidebar side aside rail left right secondary tertiary widget widgets col "
    "column rightcol leftcol gadget module mod",
    "c_related": "related relation recommend recommended recommendations more similar popular "
    "trending latest recent also outbrain taboola suggest suggested most top hot "
    "ranking headlines readmore upnext",
    "c_teaser": "teaser card cards tile tiles item items thumb thumbnail list listing "
    "listings grid feed promo box carousel slider slide swiper featured feature "
    "excerpt summary",
    "c_share": "share sharing social follow facebook twitter addthis sharethis like likes "
    "tweet instagram linkedin tools toolbar print email mail actions action vote "
    "rating ratings",
    "c_comment": "comment comments disqus reply replies respond discussion kommentar "
    "kommentare comentarios koment message messages response responses livefyre "
    "talkback",
    "c_forum": "forum thread topic postbody quote signature sig member bb bbcode "
    "conversation answer answers question poster",
    "c_ad": "ad ads adv advert advertisement sponsor sponsored dfp gpt banner banners "
    "adsense werbung anzeige reklama commercial promotion publicidad",
    "c_popup": "popup modal overlay cookie cookies consent gdpr dialog lightbox paywall "
    "notice alert newsletter signup subscribe subscription login signin register "
    "search form cta donate gate",
    "c_meta": "meta byline author authors date time timestamp published pubdate posted info "
    "credit credits source category categories tag tags label labels section "
    "kicker views count bio avatar user profile",
    "c_caption": "caption captions image img photo photos figure gallery media video picture "
    "legend player wp",
    "c_title": "title titles headline headlines heading subtitle subhead standfirst lead "
    "lede dek intro deck name",
    "c_product": "product products price cart shop shipping spec specs specification "
    "specifications features sku buy review reviews stock",
    "c_docs": "doc docs document documentation code highlight section api wiki reference "
    "sphinx rst md doxygen example",
    "c_hidden": "hidden hide sr screen reader invisible offscreen mobile desktop print "
    "noprint only none",
    "x_comment": "comment comments commentlist disqus livefyre talkback kommentar kommentare "
    "komentarz komentarze comentario comentarios commentaire commentaires opinie "
    "reacties respond",
    "x_caption": "caption captions figcaption legend cutline credit credits copyright",
    "x_embed": "tweet instagram embed embedded oembed iframe infogram video audio player poll quiz",
    "x_text": "description desc about overview summary intro details productdescription "
    "beschreibung descripcion descrizione opis omschrijving",
    "x_facts": "spec specs specification specifications attribute attributes property properties "
    "feature features ingredient ingredients instruction instructions directions zutaten "
    "zubereitung dimensions technical datasheet",
    "x_offer": "price prices pricing cart basket buy checkout shipping delivery stock quantity qty "
    "variant variants swatch option options wishlist sku",
    "x_review": "review reviews reviewer rating ratings stars testimonial testimonials bewertung "
    "bewertungen",
    "x_gallery": "gallery slideshow slides slide slider carousel swiper lightbox thumbs thumbnails "
    "fotostrecke",
    "r_main": "role=main itemprop=articlebody itemprop=text itemprop=description "
    "itemprop=reviewbody",
    "r_noise": "role=navigation role=banner role=contentinfo role=complementary role=search "
    "role=dialog role=menu role=menuitem role=tablist role=menubar",
}
"""Words of class names, ids and roles that tell an element's purpose, by name of the group."""

NAMES = (*TAG_GROUPS, *CLASS_GROUPS, "hidden")
"""Names of the bits, lowest first."""

_CONSENT = re.compile(
    # of the managers most met with, in the order of their names
    r"axeptio[_-]|borlabscookie|brlbs-cmpnt|(?<![a-z])cc-(?:window|banner|revoke)|cc--main|#ccc-"
    r"|(?<![a-z])cky-(?:consent|modal|notice|overlay|preference)|cli-modal|clisettings"
    r"|cmplz-(?:consent|cookie|message)|cookie-law-info|cybotcookiebotdialog"
    r"|didomi-(?:host|notice|popup|consent)|eupopup-|fc-(?:consent-root|dialog)|iubenda-cs-|#klaro"
    r"|moove_gdpr|onetrust-(?:consent|banner|pc)-sdk|optanon-(?:alert|popup)|osano-cm-|qc-cmp"
    r"|tarteaucitron(?:root|alert|big)|(?<![a-z])(?:termly|trustarc-|truste-)|usercentrics-(?:root|cmp)"
    r"|#cmp(?:box|wrapper)|cookiefirst-root|cookiescript_injected|hs-eu-cookie-confirmation|truste_"
    r"|#cc-main(?![\w-])|(?<![a-z])evidon-|consent_blackbar|snigel-cmp|sp_message_container"
    r"|(?<![a-z])ccm-(?:root|modal|widget)|ot-sdk-container|cookies?-?hinweis|aviso-?cookies?"
    r"|(?<![\w-])(?:js-)?cookies?-?consent(?![\w-])"
    # of what stands in the place of an embedded post until readers agree
    r"|_brlbs-content-blocker|rcb-content-blocker|embed-privacy-overlay|uc-embedding-container"
    # and of what sites write themselves
    r"|(?<![a-z])(?:cookies?|gdpr)[-_]{0,2}(?:consent|law|policy|privacy|info)?[-_]{0,2}"
    r"(?:alert|banner|bar|compliance|dialog|layer|message|modal|notice|overlay|popup|wall|warning)"
    r"|(?<![a-z])consent[-_]{0,2}(?:banner|dialog|manager|modal|overlay|popup)",
    re.IGNORECASE,
)
_NO_DIALOG = frozenset("article main section h1 h2 h3 h4 h5 h6".split())
_SECTION = re.compile(r"\.section(?![\w-])")  # whose id is its heading's, as in documentation

_TAGS: dict[str, int] = {}
for _bit, _tags in enumerate(TAG_GROUPS.values()):
    for _tag in _tags.split():
        _TAGS[_tag] = _TAGS.get(_tag, 0) | 1 << _bit
_WORDS: dict[str, int] = {}
for _bit, _words in enumerate(CLASS_GROUPS.values(), len(TAG_GROUPS)):
    for _word in _words.split():
        _WORDS[_word] = _WORDS.get(_word, 0) | 1 << _bit
_LEAST_PART = 4
WORD = re.compile(r"[a-z]+=[a-zA-Z]+|[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@lru_cache(maxsize=20_000)
def element_bits(tag: str, label: str) -> int:
    """The groups that an element belongs to, by its tag and the words of its label.

    >>> bits = element_bits("div", "div#navBar.c-share")
    >>> [name for bit, name in enumerate(NAMES) if bits >> bit & 1]
    ['div', 'c_nav', 'c_share']
    >>> element_bits("div", "div.storytext") == element_bits("div", "div.story-text")
    True
    """
    bits = _TAGS.get(tag, 0)
    for word in WORD.findall(label[len(tag) :]):
        word = word.lower()
        bits |= _word_bits(word) or _compound_bits(word)
    return bits


@lru_cache(maxsize=20_000)
def asks_consent(tag: str, label: str) -> bool:
    """Whether an element is a dialog that asks for consent to cookies, by its label.

    >>> asks_consent("div", "div#cmpbox"), asks_consent("div", "div.embed-privacy-overlay")
    (True, True)
    >>> labels = "div#onetrust-banner-sdk.otFlat", "p.site-cookie-notice", "p.cookie-recipe"
    >>> [asks_consent(label.partition("#")[0], label) for label in labels]
    [True, True, False]
    >>> asks_consent("div", "div#cc-main"), asks_consent("div", "div.cookie-consent")
    (True, True)
    >>> asks_consent("section", "section#cookie-notice"), asks_consent("p", "p.cookie-consent-faq")
    (False, False)
    """
    if tag in _NO_DIALOG or not _CONSENT.search(label):
        return False
    return not _SECTION.search(label)


def _word_bits(word: str) -> int:
    return _WORDS.get(word, 0) or _WORDS.get(word.removesuffix("s"), 0)


def _compound_bits(word: str) -> int:
    """The groups of both parts of a word that is written from two known ones."""
    for at in range(_LEAST_PART, len(word) - _LEAST_PART + 1):
        if (first := _word_bits(word[:at])) and (second := _word_bits(word[at:])):
            return first | second
    return 0
