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

from noiseclean_scrapy.focus.distribution import Relevances
from noiseclean_scrapy.focus.focus import Focus

if TYPE_CHECKING:
    from scrapy import Spider

_VERSION = 1


def save_focus(focus: Focus, spider: Spider) -> bytes:
    """Frequencies of terms, relevances, budgets spent, hubs with their requests, revisits made.

    Pickled, as Scrapy keeps its own state in a job. A hub whose callback is no method of the spider
    cannot be kept, nor one whose meta holds what cannot be pickled. Weights are learned again.
    Hubs were `visited` in seconds since 1970: the clock of this run says nothing to the next one.
    """
    hubs = []
    since_1970 = time.time() - time.monotonic()
    for hub in focus.hubs:
        with suppress(Exception):  # pickling raises whatever the objects do
            request = hub.request.to_dict(spider=spider)
            kept = replace(hub, request=request, visited=since_1970 + hub.visited)
            pickle.dumps(kept)
            hubs.append(kept)
    return pickle.dumps(
        {
            "version": _VERSION,
            "pages": focus.space.pages,
            "frequencies": dict(focus.space.frequencies),
            "spent": dict(focus.spent),
            "revisits": focus.revisits,
            "relevances": focus.relevances.counts,
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
    if "relevances" in state:  # not in those of the first days
        focus.relevances = Relevances(state["relevances"])
    focus.hubs.texts = OrderedDict.fromkeys(state["texts"])
    now = time.monotonic()
    for hub in state["hubs"]:
        with suppress(Exception):  # the spider may have lost a callback, or a class of its meta
            hub.request = request_from_dict(hub.request, spider=spider)
            hub.visited = now - max(0.0, time.time() - hub.visited)
            focus.hubs.add(hub, now)
