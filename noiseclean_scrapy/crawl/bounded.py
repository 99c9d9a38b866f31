"""A response as much of which is read as the budget for one page allows."""

from __future__ import annotations

from parsel import Selector
from scrapy.http import HtmlResponse
from scrapy.utils.response import get_base_url

from noiseclean_scrapy.page import PageBudget
from noiseclean_scrapy.page.decoding import decode, is_wrongly_wide, mended
from noiseclean_scrapy.page.sources import is_charset
from noiseclean_scrapy.page.urls import LONGEST_ADDRESS


def bounded_response(response: HtmlResponse, budget: PageBudget) -> tuple[HtmlResponse, bool]:
    """The response, or one with the part of its body within the budget; whether it is a part.

    What is beyond is neither decoded nor parsed; the response that the spider is given stays whole.
    One that tells no charset that is one is decoded as if it told none: by `decode`, since Scrapy's
    own guess takes any of Python's charsets, and for one damaged byte as well.
    """
    body = budget.cut_bytes(response.body)
    is_part = body is not response.body
    if is_part:
        headers, encoding = response.headers, response._encoding
        response = HtmlResponse(response.url, headers=headers, body=body, encoding=encoding)
    if not _is_told(response):
        response = HtmlResponse(response.url, body=decode(response.body), encoding="utf-8")
    part = budget.cut_text(response.text)
    is_part = is_part or part is not response.text
    is_utf8 = response.encoding == "utf-8" and part is response.text
    text = mended(part, response.body if is_utf8 else None)
    if text is not response.text:
        body = text.encode("utf-8", "replace")
        response = HtmlResponse(response.url, body=body, encoding="utf-8")
    return response, is_part


def _is_told(response: HtmlResponse) -> bool:
    """Whether the charset of a response is declared, or certain."""
    charset = response._declared_encoding()
    if charset is not None:
        return is_charset(charset) and not is_wrongly_wide(charset, response.body)
    try:
        response.body.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_part(response: HtmlResponse, budget: PageBudget) -> HtmlResponse:
    """What is read of a response."""
    return bounded_response(response, budget)[0]


def selector_of(response: HtmlResponse) -> Selector:
    """The response's selector; Scrapy has none where the BASE element holds no address."""
    try:
        return response.selector
    except ValueError:
        return Selector(response.text)


def base_of(response: HtmlResponse) -> str:
    """What addresses on a page are relative to; browsers pass over a BASE that is no address."""
    try:
        base: str = get_base_url(response)
    except ValueError:
        return response.url
    return base if len(base) <= LONGEST_ADDRESS else response.url
