"""What a focus keeps in the job's folder, so that a restart goes on."""

from __future__ import annotations

import pickle
import time
from collections import Counter, OrderedDict
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.utils.request import request_from_dict

from noiseclean_scrapy.focus.focus import Focus

if TYPE_CHECKING:
    from scrapy import Spider

_VERSION = 1


def save_focus(focus: Focus, spider: Spider) -> bytes:
    """Frequencies of terms, budgets spent, hubs with their requests, revisits made.

    Pickled, as Scrapy keeps its own state in a job. A hub whose callback is no method of the spider
    cannot be kept, nor one whose meta holds what cannot be pickled. Weights are learned again.
    """
    hubs = []
    for hub in focus.hubs:
        with suppress(Exception):  # pickling raises whatever the objects do
            kept = replace(hub, request=hub.request.to_dict(spider=spider))
            pickle.dumps(kept)
            hubs.append(kept)
    return pickle.dumps(
        {
            "version": _VERSION,
            "pages": focus.space.pages,
            "frequencies": dict(focus.space.frequencies),
            "spent": dict(focus.spent),
            "revisits": focus.revisits,
            "hubs": hubs,
            "texts": list(focus.hubs.texts),
        },
        protocol=4,
    )


def load_focus(focus: Focus, path: Path, spider: Spider) -> None:
    """Take over what an earlier run of the job has saved, if it has."""
    if not path.exists():
        return
    state = pickle.loads(path.read_bytes())
    if state["version"] != _VERSION:
        raise ValueError(f"{path} was written by another version")
    focus.space.pages = state["pages"]
    focus.space.frequencies = Counter(state["frequencies"])
    focus.spent = Counter(state["spent"])
    focus.revisits = state["revisits"]
    focus.hubs.texts = OrderedDict.fromkeys(state["texts"])
    for hub in state["hubs"]:
        with suppress(Exception):  # the spider may have lost a callback, or a class of its meta
            hub.request = request_from_dict(hub.request, spider=spider)
            focus.hubs.add(hub, time.time())
