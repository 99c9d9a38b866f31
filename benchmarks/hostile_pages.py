"""Hostile pages, made by code: what a crawler may meet that nobody wrote for readers.

Each entry of `HOSTILE` takes a size, about the number of repetitions, and gives the bytes of one
page.
"""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from itertools import pairwise

Generator = Callable[[int], bytes]

_HEAD = "<!doctype html><html><head><title>A page of its own</title></head><body>"
_ARTICLE = "<article><h1>A page of its own</h1><p>The river rose by a metre in one night.</p>"


def _page(body: str, head: str = "") -> bytes:
    return f"<html><head><title>Page</title>{head}</head><body>{body}".encode("utf-8", "replace")


def _letters(number: int) -> str:
    """A word of letters for each number: digits would be masked."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


def _script(data: str) -> str:
    return f'<script type="application/ld+json">{data}</script>'


def _nested(*tags: str) -> Generator:
    opening = "".join(f"<{tag}>" for tag in tags)
    return lambda size: _page(opening * size + "deep text " * 10)


def _repeated(unit: str, *, before: str = "", after: str = "") -> Generator:
    return lambda size: _page(before + unit * size + after)


def _numbered(template: str, *, before: str = "", after: str = "") -> Generator:
    """`template` with `%d` once for each number."""
    return lambda size: _page(before + "".join([template % n for n in range(size)]) + after)


def _inside(levels: int, opening: str, unit: str) -> Generator:
    """Many small parts below many levels."""
    return lambda size: _page(opening * levels + unit * size)


def billion_laughs(size: int) -> bytes:
    """Entities that hold ten of the one before."""
    names = [f"lol{n}" for n in range(max(2, size))]
    laughs = "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise(names))
    text = f'<!DOCTYPE html [<!ENTITY lol0 "lol">{laughs}]><html><body><p>&{names[-1]};</p>'
    return f'<?xml version="1.0"?>{text}<p>after</p></body></html>'.encode()


def _quadratic_entity(size: int) -> bytes:
    text = f'<!DOCTYPE html [<!ENTITY a "{"a" * size}">]><html><body><p>{"&a;" * size}</p>'
    return f'<?xml version="1.0"?>{text}<p>after</p>'.encode()


def _external_entity(size: int) -> bytes:
    entity = '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    return f'<?xml version="1.0"?>{entity}<html><body><p>{"&x;" * size}end</p>'.encode()


def _random_bytes(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def _random_markup(size: int) -> bytes:
    rng = random.Random(size)
    parts = "< > </ <p> <div class=' \" = & &# <!-- --> <![CDATA[ ]]> <a href=x> <b> </p> \0 word é"
    return "".join(rng.choices(parts.split(" "), k=size)).encode()


def _mixed_encodings(size: int) -> bytes:
    kinds = ("utf-8", "utf-16-le", "cp1251", "shift_jis", "gb18030")
    return b"<meta charset=utf-8>" + b"".join(
        b"<p>" + "Река поднялась 川".encode(kind, "replace") for kind in kinds * size
    )


MARKUP: dict[str, Generator] = {
    "nested div": _nested("div"),
    "nested b": _nested("b"),
    "nested a": _nested("a href=x"),
    "nested form": _nested("form"),
    "nested table": _nested("table", "tr", "td"),
    "nested list": _nested("ul", "li"),
    "nested blockquote": _nested("blockquote"),
    "nested noscript": _nested("noscript"),
    "nested svg": _nested("svg", "title"),
    "nested select": _nested("select", "option"),
    "nested heading": _nested("h1"),
    "nested font": _nested("font color=red", "p"),
    "nested with text": _nested("div>words at each level<i", "p"),
    "siblings": _repeated("<div></div>"),
    "tiny blocks": _repeated("<p>x"),
    "tiny blocks of one": _numbered("<p>%d words"),
    "tiny inline": _repeated("<b>x</b> "),
    "line breaks": _repeated("a<br><br>"),
    "single line breaks": _repeated("x<br>", before="<p>"),
    "images": _numbered("<img src=/%d.png>"),
    "links": _numbered("<a href=/story/%d>link</a> "),
    "link blocks": _numbered("<li><a href=/story/%d>link</a>"),
    "headings": _numbered("<h1>Page %d</h1>"),
    "comments": _repeated("<!-- comment -->x"),
    "instructions": _repeated("<?php echo ?>x"),
    "open comments": _repeated("<!--"),
    "empty comments": _repeated("<!---->"),
    "less-than": _repeated("<"),
    "open tags": _repeated("<a "),
    "open quotes": _repeated("<a x=\"'"),
    "end tags": _repeated("</p></div></b></html></body>"),
    "late end tags": _repeated("</html><p>x"),
    "misnested": _repeated("<b><p><i></b>x</i></p>"),
    "unclosed everything": _repeated("<div><p><b><i><a href=x><table><tr><td><ul><li><span>x"),
    "table cells": _repeated("<td>cell", before="<table><tr>"),
    "table rows": _repeated("<tr><td>a<td>b", before="<table>"),
    "wide tables": _repeated("<table><tr>" + "<td>a" * 50 + "<tr><td>b<td>c</table>"),
    "broken table": _repeated("<table>x<tr>y<td>z</table>"),
    "rows below levels": _inside(200, "<div>", "<p>x"),
    "items below lists": _inside(100, "<ul><li>", "<p>x"),
    "cells below tables": _inside(60, "<table><tr><td>", "<p>x"),
    "telling parts below levels": _inside(
        200, "<div class=related>", "<i class=byline>By A. Author</i>"
    ),
    "words below levels": lambda size: _page(
        "<div>" * 97 + "<p>" + " ".join(map(_letters, range(size)))
    ),
    "namespaced names": _numbered("<o:p%d>x"),
    "unknown names": _numbered("<x-%d>x</x>"),
    "unknown names within sentences": _repeated("a <x-b>c</x-b> ", before="<p>"),
    "unknown names below levels": _inside(60, "a <x-b>", "<x-c>c</x-c> d "),
    "wide cells": _repeated("<tr><td colspan=9 rowspan=9>a<td>b", before="<table>"),
    "lines of code below quotes": _repeated("\n", before="<blockquote>" * 12 + "<pre>x", after="x"),
    "articles below levels": _inside(1900, "<article>", "<article><footer>x</footer></article>"),
    "articles and footers": _nested("article", "footer"),
    "footers and others": lambda size: _page(
        "<footer></footer>" * size + "<div class=-footer></div>" * size
    ),
    "times below levels": _inside(1900, "<b>", "<time>x</time>"),
    "times in times": lambda size: _page("<p>" + "A story of now. <time>" * size),
    "reviews below levels": _inside(1900, "<b>", "<p itemprop=review><time>x</time></p>"),
    "numbers of lines": _repeated("<i class=ln>1</i>x\n", before="<pre>"),
    "long name": lambda size: _page(f"<{'n' * size}><p>x</p>" + "<p>y" * (size // 10)),
    "frames": _repeated("<frameset><frame src=x><noframes>x</noframes>"),
    "options": _repeated("<option>x", before="<select>"),
    "labels": lambda size: _page(
        "".join(f"<div class='{_letters(number)} story box'>x</div>" for number in range(size))
    ),
}

ATTRIBUTES: dict[str, Generator] = {
    "attributes": _numbered(" a%d=b", before="<p ", after=">text"),
    "attributes after slashes": _numbered("/a%d", before="<p", after=">text"),
    "attributes in what looks like a value": _numbered(" a%d", before='<p ="', after='">text'),
    "tags in values": _repeated("<a="),
    "signs in values": _repeated("x=<<<<<", before="</a-"),
    "narrow tags": lambda size: _page(("<a" * 1999 + ">") * (size // 100)),
    "equal attributes": _repeated(" a=b", before="<p ", after=">text"),
    "class tokens": lambda size: _page("<p class='" + " ".join(map(_letters, range(size))) + "'>x"),
    "wide class tokens": lambda size: _page(
        f"<div class='{' '.join('ab' * 10 + chr(97 + n % 26) for n in range(size))}'>"
        + "<p>x" * (size // 10)
    ),
    "class tokens like hashes": _numbered(
        "<p class='" + "1" * 19 + "a" * 19 + "- sc-" + "1" * 30 + "x%d-'>x"
    ),
    "long class": lambda size: _page(f"<p class={'c' * size}>text"),
    "many long classes": lambda size: _page(
        "".join(f"<p class='{'abcd ' * 200}x{n}'>x" for n in range(size // 200))
    ),
    "long id": lambda size: _page(f"<p id={'a1' * size}>text"),
    "long style": lambda size: _page(f"<p style='display{' ' * size}:{' ' * size}x'>text"),
    "styles": _repeated("display:", before="<p style='", after="'>text"),
    "long href": lambda size: _page(f"<p><a href='http://{'[' * size}'>x</a>"),
    "long links": lambda size: _page(f"<a href='/{'x' * 1000}'>x</a>" * (size // 200)),
    "one link over blocks": lambda size: _page(
        f"<a href='/{'x' * size}'>" + "<div>x</div>" * (500 + size // 40)
    ),
    "one spaced link over blocks": lambda size: _page(
        f"<a href=' /{'x' * size} '>" + "<div>x y</div>" * (500 + size // 160)
    ),
    "long base": lambda size: _page(
        "<p>" + "<a href=1>word</a> " * (size // 10),
        f"<base href='http://a.example/{'x/' * size}'>",
    ),
    "empty code": _repeated("<b><code><img src=/a></code></b>", before="<p>word "),
    "texts below inline elements": lambda size: _page("<p>" + "<i>" * 1900 + "x<u>y</u>" * size),
    "long lang": lambda size: b"<html lang='" + b"en-" * size + b"'><body><p>text",
    "long width": lambda size: _page(f"<td width='{'9' * size}'>text"),
}

TEXT: dict[str, Generator] = {
    "one text": lambda size: _page("<p>" + "word " * size),
    "one word": lambda size: _page("<p>" + "w" * size),
    "one number": lambda size: _page("<p>" + "9" * size),
    "one han word": lambda size: _page("<p>" + "新" * size),
    "one thai word": lambda size: _page("<p lang=th>" + "\u0e01\u0e48\u0e38" * size),
    "marks": lambda size: _page("<p>a" + "\u0316\u0301" * size),
    "thai marks": lambda size: _page("<p>\u0e01" + "\u0e48\u0e38" * size),
    "kana marks": lambda size: _page("<p>\u304b" + "\u3099\u309a" * size),
    "ligatures": lambda size: _page("<p>" + "\ufdfa" * size),
    "words of marks": lambda size: _page("<p>" + "e\u0301\u0316" * size),
    "different words": lambda size: _page(
        "<p>" + " ".join(f"w{_letters(number)}" for number in range(size))
    ),
    "different words below levels": lambda size: _page(
        "<div>a<p>b" * 50 + " ".join(_letters(number) for number in range(size))
    ),
    "line feeds": lambda size: _page("<p>" + "\n" * size + "x"),
    "spaces": lambda size: _page("<p>x" + " " * size + "x"),
    "no-break spaces": lambda size: _page("<p>x" + "\u00a0" * size + "x"),
    "zero width": lambda size: _page("<p>" + "a\u200b\ufeff\u200d\u2060" * size),
    "right to left": lambda size: _page("<p>" + "\u202eabc\u202c\u2067def\u2069\u200f" * size),
    "soft hyphens": lambda size: _page("<p>" + "a\u00ad" * size),
    "variation selectors": lambda size: _page("<p>" + "a\ufe0f\U000e0100" * size),
    "private use": lambda size: _page("<p>" + "\ue000\ue001word \uffff\ufffe" * size),
    "full stops": lambda size: _page("<p>" + "." * size),
    "stops and quotes": lambda size: _page("<p>." + '"' * size + "x"),
    "stops and brackets": lambda size: _page("<p>" + ".)" * size + "x"),
    "ampersands": lambda size: _page("<p>" + "&amp;" * size),
    "entities of one": lambda size: _page("<p>&amp;" + "a" * size),
    "open entities": lambda size: _page("<p>" + "&" * size),
    "numeric entities": lambda size: _page("<p>" + "&#0;&#xd800;&#x110000;&#99999999;" * size),
    "long entity": lambda size: _page("<p>&#" + "9" * size + ";"),
    "named entities": lambda size: _page("<p>" + "&notin&NotEqualTilde;&nosuch;" * size),
    "nul": lambda size: _page("<p>a\0b" * size),
    "control characters": lambda size: _page("<p>" + "".join(map(chr, range(1, 32))) * size),
    "quotes of Windows": lambda size: _page("<p>" + "a\x92 \x93É\x94" * size),
    "encoded twice": lambda size: _page("<p>" + "Ã\x83Â\x83Ã\x82Â\x80 href='Ã©\x92'" * size),
    "markdown": lambda size: _page("<p>" + "*_`[](#)|~\\" * size),
    "backticks": lambda size: _page("<pre>" + "`" * size),
    "underscores": lambda size: _page("<p>" + "_" * size),
    "hashes": lambda size: _page("<p>" + "a1" * size),
    "dates": lambda size: _page("<p>" + "20" * size + " 1:" * size),
    "addresses": lambda size: _page("<p>" + "www.@a http" * size),
    "phrases": lambda size: _page("<p>" + "read mor" * size),
    "numbered lines": lambda size: _page("<p>" + "1. " * size),
    "marks in formulas": lambda size: _page(
        f"<img src='/latex?x' alt='{'long ' * size}'><p>See "
        + f"<math alttext='{'&#1;img0&#2;' * 280}'></math>" * (size // 100)
    ),
    "empty readings": _repeated("<ruby>k<rt></rt><rt><b></b></rt></ruby>"),
    "search marks": lambda size: _page('<p>"-OR NEAR( * ^ : ' * size),
}

HEAD: dict[str, Generator] = {
    "metas": lambda size: _page("<p>x", "<meta name=author content=A>" * size),
    "long meta": lambda size: _page("<p>x", f"<meta name=author content='{'A b, ' * size}'>"),
    "meta of dashes": lambda size: _page("<p>x", f"<meta name=author content='{'-' * size}x'>"),
    "metas of dashes": lambda size: _page(
        "<p>x", f"<meta name=author content='{'-' * 1999}x'>" * (size // 100)
    ),
    "long date": lambda size: _page("<p>x", f"<meta name=date content='{'2021-' * size}'>"),
    "long title": lambda size: b"<title>" + b"word " * size + b"</title><p>word word word",
    "titles": lambda size: _page("<p>x", "<title>a</title>" * size),
    "links in head": lambda size: _page("<p>x", "<link rel=canonical href=x>" * size),
    "deep json": lambda size: _page("<p>x", _script("[" * size)),
    "wide json": lambda size: _page("<p>x", _script("[" + "[]," * size + "[]]")),
    "long json number": lambda size: _page("<p>x", _script('{"a":' + "9" * size + "}")),
    "json bodies": lambda size: _page(
        "<p>x", _script("[" + '{"articleBody":"It rose."},' * size + "{}]")
    ),
    "json parts": lambda size: _page(
        "<p>x",
        _script("[" + '{"@type":"Answer","text":"It rose."},' * size + "{}]"),
    ),
    "json body and blocks": lambda size: _page(
        "".join(f"<p>{'river ' * 8}{number} rose" for number in range(size // 20)),
        _script('{"articleBody":"' + "river " * size + '"}'),
    ),
    "json author": lambda size: _page(
        "<p>x", _script('{"@type":"NewsArticle","author":{"name":"' + "A. " * size + '"}}')
    ),
    "json author of dashes": lambda size: _page(
        "<p>x", _script('{"@type":"NewsArticle","author":"' + "-" * size + 'x"}')
    ),
    "json names of no letters": lambda size: _page(
        "<p>x",
        _script(
            '{"@graph":[{"@type":"Article","author":['
            + ",".join(['{"@id":"x"}'] * 30)
            + ']},{"@id":"x","name":['
            + ",".join([f'"{"!" * 290}a"'] * min(size // 100, 1000))
            + "]}]}"
        ),
    ),
    "json ids of lists": lambda size: _page(
        "<p>x",
        _script(
            '{"@graph":[{"@type":"Article","headline":"t","author":['
            + ",".join(["[" + ",".join(['{"@id":"x"}'] * 30) + "]"] * 30)
            + ']},{"@id":"x","name":{"@id":['
            + ",".join(["9e15"] * min(size, 37_000))
            + "]}}]}"
        ),
    ),
    "json types": lambda size: _page(
        "<p>x",
        _script('{"@type":[' + '"Answer",' * size + '"x"],"text":"' + "river " * size + '"}'),
    ),
    "json parts and blocks": lambda size: _page(
        "".join(f"<p>{'ab ' * 12}{_letters(number)}" for number in range(size // 20)),
        _script('{"@type":"Answer","text":"' + "ab " * size + '"}'),
    ),
    "json open": lambda size: _page("<p>x", _script('{"author":"' + '"author":"' * size)),
    "scripts": lambda size: _page("<p>x", _script('{"author":{"name":"A"}}') * size),
    "open scripts": _repeated("<script>"),
    "script comments": _repeated("<script><!--<script></script>"),
    "times": _repeated("<time datetime=2021-02-30T25:61>x</time>"),
    "bylines": _repeated("<p class=byline>By A, B and C"),
    "long byline": lambda size: _page(f"<p class=byline>{'By and ' * size}"),
    "bases": lambda size: _page("<p>x", "<base href='http://[:::'>" * size),
}

BYTES: dict[str, Generator] = {
    "billion laughs": lambda size: billion_laughs(min(size, 30)),
    "quadratic entity": lambda size: _quadratic_entity(min(size, 50_000)),
    "external entity": _external_entity,
    "random bytes": _random_bytes,
    "random markup": _random_markup,
    "broken utf-8": lambda size: b"<meta charset=utf-8><p>" + b"\xe2\x82a\xff\xc0\x80" * size,
    "overlong utf-8": lambda size: b"<meta charset=utf-8>" + b"\xc0\xbcp\xc0\xbe" * size,
    "utf-8 surrogates": lambda size: b"<meta charset=utf-8><p>" + b"\xed\xa0\x80x" * size,
    "broken utf-16": lambda size: b"\xff\xfe" + b"\x00\xd8<\x00p\x00>\x00a" * size,
    "odd utf-16": lambda size: b"\xfe\xff" + "<p>x".encode("utf-16-be") * size + b"\x00",
    "utf-32": lambda size: b"\xff\xfe\x00\x00" + "<p>word ".encode("utf-32-le") * size,
    "punycode": lambda size: b"<meta charset=punycode><p>ab-" + b"z9" * size,
    "utf-7": lambda size: b"<meta charset=utf-7><p>" + b"+ADw-script+AD4-" * size,
    "two charsets": lambda size: b"<meta charset=utf-8><meta charset=cp1251>" + b"<p>\xcf" * size,
    "mixed encodings": _mixed_encodings,
    "iso-2022-jp": lambda size: b"<meta charset=iso-2022-jp><p>" + b"\x1b$B\x1b(B\x1b$Ba" * size,
    "unknown charset": lambda size: b"<meta charset=" + b"x" * size + b"><p>\xe9",
    "undeclared bytes": lambda size: b"<p>" + bytes(range(128, 256)) * (size // 128 + 1),
    "nul bytes": lambda size: b"\0" * size + b"<p>x",
    "gzip": lambda size: gzip.compress(b"<p>packed " * size, mtime=0),
    "zlib": lambda size: zlib.compress(_random_bytes(size)),
    "json": lambda size: b'{"text": [' + b'"<p>inside</p>", ' * size + b"1]}",
    "pdf": lambda size: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + b"1 0 obj<</Type/X>>endobj\n" * size,
    "png": lambda size: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + _random_bytes(size),
    "feed": lambda size: (
        b'<?xml version="1.0"?><rss><channel>'
        + b"<item><title>t</title><description><![CDATA[<p>d</p>]]></description></item>" * size
    ),
    "xhtml": lambda size: (
        b'<?xml version="1.0" encoding="utf-16"?><html xmlns="http://www.w3.org/1999/xhtml">'
        b"<body>" + b"<p xml:lang='x'>word<br/></p>" * size
    ),
    "plain text": lambda size: b"no markup < at > all & so on. " * size,
    "empty": lambda size: b"",
}

HOSTILE: dict[str, Generator] = {**MARKUP, **ATTRIBUTES, **TEXT, **HEAD, **BYTES}
"""Hostile pages by name."""
