"""Pages that name a charset that is none: read as if they named none, by the spider as well."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response, TextResponse

from noiseclean_scrapy.page.decoding import guessed_charset, is_utf8
from noiseclean_scrapy.page.sources import is_charset

CHARSET_PLACE = 585
"""Behind decompression; before what looks for META refresh, which reads a page's text first."""


class CharsetMiddleware:
    """Downloader middleware: tells the best guess where a page names one of Python's other codecs.

    Scrapy would decode by it: base64 and its like raise in whatever reads the text first, and
    punycode takes hours for a page of 5 MB, which come packed in a few kB.
    """

    def process_response(self, request: Request, response: Response) -> Response:
        if not isinstance(response, TextResponse):
            return response
        name = response._declared_encoding()
        if name is None or is_charset(name):
            return response
        body = response.body
        return response.replace(encoding="utf-8" if is_utf8(body) else guessed_charset(body))
