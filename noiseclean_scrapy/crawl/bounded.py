"""A response as much of which is read as the budget for one page allows."""

from __future__ import annotations

from parsel import Selector
from scrapy.http import HtmlResponse

from noiseclean_scrapy.page import PageBudget


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


def selector_of(response: HtmlResponse) -> Selector:
    """The response's selector; Scrapy has none where the BASE element holds no address."""
    try:
        return response.selector
    except ValueError:
        return Selector(response.text)
