"""Pages whose Content-Type Scrapy reads in another way than browsers do."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import HtmlResponse, Response, TextResponse

from noiseclean_scrapy.page.sources import HTML_TYPES, begins_as_html, content_type

CONTENT_TYPE_PLACE = 586
"""Behind decompression, and before the charset of a page is looked at."""
_UNKNOWN = (Response, TextResponse)
"""What Scrapy makes of a type that it does not know; classes of others have more to keep."""


class ContentTypeMiddleware:
    """Downloader middleware: of a list of types the last counts, and what is no type tells none.

    Scrapy takes `text/html,charset=utf-8` for a type of its own, and its pages for no HTML.
    """

    def process_response(self, request: Request, response: Response) -> Response:
        if type(response) not in _UNKNOWN:
            return response
        header = (response.headers.get("Content-Type") or b"").decode("latin-1")
        name = content_type(header)
        if header.partition(";")[0].strip().lower() == name:
            return response
        if name in HTML_TYPES or (not name and begins_as_html(response.body)):
            return response.replace(cls=HtmlResponse, encoding=None)
        return response
