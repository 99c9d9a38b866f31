"""Small archives for tests: manifests with their pages, and WARC files."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


def html(title: str, charset: str = "utf-8") -> bytes:
    return f"<!DOCTYPE html><meta charset={charset}><title>{title}</title><p>ä".encode(charset)


def write_manifest(folder: Path, *rows: dict[str, Any]) -> Path:
    """A corpus folder with the rows and a page for each; names that end in gz are gzipped."""
    for row in rows:
        page = folder / row["html"]
        page.parent.mkdir(parents=True, exist_ok=True)
        body = html(str(row["id"]))
        page.write_bytes(gzip.compress(body) if page.suffix == ".gz" else body)
    (folder / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def row(page_id: str, site: str, url: str | None = None, suffix: str = "html") -> dict[str, Any]:
    return {"id": page_id, "site": site, "url": url, "html": f"html/{page_id}.{suffix}"}


def warc(
    *records: tuple[str, str, str, bytes], zipped: bool = True, status: str = "200 OK"
) -> bytes:
    """A WARC of records (type, URI, content type, body); ``\\r\\n`` in a type adds headers."""
    stream = io.BytesIO()
    writer = WARCWriter(stream, gzip=zipped)
    for kind, uri, content_type, body in records:
        lines = f"Content-Type: {content_type}".split("\r\n") if content_type else []
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
        if kind == "response":
            http = StatusAndHeaders(status, headers, protocol="HTTP/1.1")
            record = writer.create_warc_record(
                uri, kind, io.BytesIO(body), len(body), http_headers=http
            )
        else:
            record = writer.create_warc_record(
                uri, kind, io.BytesIO(body), len(body), warc_content_type=content_type
            )
        writer.write_record(record)
    return stream.getvalue()


def responses(number: int) -> list[tuple[str, str, str, bytes]]:
    return [("response", f"http://a.org/{i}", "text/html", html(f"{i}")) for i in range(number)]
