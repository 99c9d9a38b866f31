"""A response as much of which is read as the budget for one page allows."""

from __future__ import annotations

from parsel import Selector
from scrapy.http import HtmlResponse
from scrapy.utils.response import get_base_url

from noiseclean_scrapy.page import PageBudget
from noiseclean_scrapy.page.parse import decode
from noiseclean_scrapy.page.sources import NO_CHARSET


def with_text(response: HtmlResponse) -> HtmlResponse:
    """The response itself, or one that is decoded as if it told no charset, where it tells none."""
    try:
        response.text  # noqa: B018  (read for its errors)
    except NO_CHARSET:
        return HtmlResponse(response.url, body=decode(response.body), encoding="utf-8")
    return response


def bounded_response(response: HtmlResponse, budget: PageBudget) -> HtmlResponse:
    """The response itself, or one with the part of its body that is within the budget.

    What is beyond is neither decoded nor parsed; the response that the spider is given stays whole.
    """
    body = budget.cut_bytes(response.body)
    if body is not response.body:
        headers, encoding = response.headers, response._encoding
        response = HtmlResponse(response.url, headers=headers, body=body, encoding=encoding)
    text = budget.cut_text(response.text)
    if text is not response.text:
        response = HtmlResponse(response.url, body=text, encoding="utf-8")
    return response


def read_part(response: HtmlResponse, budget: PageBudget) -> HtmlResponse:
    """What is read of a response, however it tells its charset."""
    return bounded_response(with_text(response), budget)


def selector_of(response: HtmlResponse) -> Selector:
    """The response's selector; Scrapy has none where the BASE element holds no address."""
    try:
        return response.selector
    except ValueError:
        return Selector(response.text)


def base_of(response: HtmlResponse) -> str:
    """What addresses on a page are relative to; browsers pass over a BASE that is no address."""
    try:
        return get_base_url(response)
    except ValueError:
        return response.url
