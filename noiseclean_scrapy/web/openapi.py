"""What the API says of itself: OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

from noiseclean_scrapy import __version__
from noiseclean_scrapy.web.rules import VERDICTS

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer", "minimum": 0}
_FILTERS = {
    "q": 'what is searched for: words, "phrases", -excluded words, OR between alternatives',
    "site": "pages of this site alone",
    "language": "an ISO 639 code, such as en",
    "since": "published on this day or later, such as 2031-03-01",
    "until": "published on this day or earlier",
}
_RULE = {
    "page": {**_TEXT, "description": "key of the page that was pointed at"},
    "verdict": {"enum": list(VERDICTS)},
    "selector": {**_TEXT, "description": "CSS; the text where the verdict is for texts"},
    "pattern": {**_TEXT, "description": "a regular expression for addresses; all pages without"},
}


def description(cookie: str) -> dict[str, Any]:
    """The OpenAPI document; `cookie` is the name of the one that has the token."""
    changing: dict[str, Any] = {"security": [{"token": []}, {"cookie": []}]}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "noiseclean workbench",
            "version": __version__,
            "description": "Stored pages and sites; rules that are taken. "
            "What changes something needs the token that the server prints.",
        },
        "paths": {
            "/api/sites": _get(
                "Sites in numbers",
                _query(q="words of the name", sort="name, pages, noise, ...", order="asc or desc"),
                *_range(),
            ),
            "/api/search": _get("Search, ten pages at a time", *_query(**_FILTERS), _page()),
            "/api/pages": _get(
                "Pages, the newest first", _query(site="of this site alone"), *_range()
            ),
            "/api/pages/{key}": _get(
                "A page: text, Markdown, metadata, blocks with their reasons",
                _path("key"),
                _range(),
            ),
            "/api/pages/{key}/places": _get(
                "The boxes around a block, and on how many pages they stand",
                _path("key"),
                [{"name": "block", "in": "query", "required": True, "schema": _NUMBER}],
            ),
            "/api/review": _get("Pages that are worth a look"),
            "/api/changes": _get("Rules that were taken"),
            "/api/crawls": _get("What running crawls say of themselves: their stats by name"),
            "/api/proposals": {"post": {**_call("Try a rule"), **changing, **_json_body(_RULE)}},
            "/api/proposals/{id}": _get("What a rule would change", _path("id")),
            "/api/proposals/{id}/take": {
                "post": {**_call("Write the rule, clean the site again"), **changing}
                | {"parameters": _path("id")}
            },
            "/api/changes/{id}/undo": {
                "post": {**_call("Take a rule out again"), **changing} | {"parameters": _path("id")}
            },
            "/api/openapi.json": _get("This document"),
        },
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": cookie},
            }
        },
    }


def _call(summary: str) -> dict[str, Any]:
    return {
        "summary": summary,
        "responses": {
            "default": {
                "description": "a JSON object; on failure its `error` says why",
                "content": {"application/json": {"schema": {"type": "object"}}},
            }
        },
    }


def _get(summary: str, *parameters: list[dict[str, Any]] | dict[str, Any]) -> dict[str, Any]:
    found = [p for part in parameters for p in (part if isinstance(part, list) else [part])]
    return {"get": _call(summary) | ({"parameters": found} if found else {})}


def _query(**names: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "query", "description": words, "schema": _TEXT}
        for name, words in names.items()
    ]


def _range() -> list[dict[str, Any]]:
    return [{"name": name, "in": "query", "schema": _NUMBER} for name in ("offset", "limit")]


def _page() -> dict[str, Any]:
    return {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1}}


def _path(name: str) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": _TEXT}]


def _json_body(values: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": values,
        "required": ["page", "verdict", "selector"],
    }
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
