"""The tables of a Spark job: what its tasks give each other, and what it writes."""

from __future__ import annotations

import pyarrow as pa

from noiseclean_scrapy.batch.two_pass import cleaned_columns

_time = pa.timestamp("us", "UTC")

TAUGHT = pa.schema(
    {
        "site": pa.string(),
        "part": pa.int32(),
        "key": pa.int64(),
        "file": pa.int32(),
        "record": pa.int64(),
        "pages": pa.int64(),
        "taught": pa.binary(),
    }
)
"""What pages teach, as a tree of one page; without a key, how many pages of a site there are."""

SITES = pa.schema(
    {
        "site": pa.string(),
        "pages": pa.int64(),
        "new_pages": pa.int64(),
        "learned_pages": pa.float64(),
        "tree_version": pa.int64(),
        "tree": pa.binary(),
    }
)
"""The trees; `new_pages` are those of this job, `tree_version` counts the jobs that had any."""

PAGES = pa.schema(
    {
        "shard": pa.int32(),
        "site": pa.string(),
        "file": pa.int32(),
        "record": pa.int64(),
        "source": pa.string(),
        "id": pa.string(),
        "url": pa.string(),
        "fetched_at": _time,
        "html": pa.binary(),
        "tree": pa.binary(),
        "tree_version": pa.int64(),
    }
)
"""Pages on their way to a shard, and, as file -1, the trees of their sites."""


def cleaned_schema(content: str) -> pa.Schema:
    """The columns of the output; `content` names the one that holds the clean text."""
    names = ("key", *cleaned_columns(content))
    return pa.schema(
        [
            *((name, _time if name == "published" else pa.string()) for name in names),
            ("fetched_at", _time),
            ("tree_version", pa.int64()),
            ("visible_characters", pa.int64()),
            ("kept_characters", pa.int64()),
            ("fit", pa.float64()),
            ("source", pa.string()),
            ("record", pa.int64()),
            ("site_hash", pa.string()),
        ]
    )
