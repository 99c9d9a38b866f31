"""Teaching: what a rule would change, the rule taken, its site cleaned again, and undone.

A change that is taken stands in a journal beside the overrides file before anything else happens:
whoever starts the workbench again after a crash goes on with it.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from queue import Queue
from threading import Lock, Thread
from typing import Any, Literal

from noiseclean_scrapy.clean_page import CleanPage
from noiseclean_scrapy.clusters.maintenance import clean_again
from noiseclean_scrapy.errors import ConfigurationError, NoiseCleanError, NotStoredError
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.page.overrides import Overrides
from noiseclean_scrapy.page.parse import parse_html
from noiseclean_scrapy.replaced import replace_file
from noiseclean_scrapy.store import PageRecord
from noiseclean_scrapy.web.beside import Line, beside
from noiseclean_scrapy.web.rules import Rule, read_source, with_rule, without_rule, write_source
from noiseclean_scrapy.web.workbench import Workbench

logger = get_logger(__name__)

BESIDE = 20
"""Pages that a proposal shows before and after."""
PROPOSALS, CHANGES = 8, 100
"""Most that are remembered."""

State = Literal["cleaning", "done", "undoing", "undone", "failed"]
_UNFINISHED = ("cleaning", "undoing")


@dataclass(frozen=True, slots=True)
class Beside:
    """A page before and after a rule: the lines that differ, and those next to them."""

    key: str
    title: str
    url: str
    before: list[Line]
    after: list[Line]


@dataclass
class Proposal:
    """A rule that is being tried on all stored pages of its site.

    Counts of pages: `looked_at` of `pages`, of which the rule finds something on `touched` and
    changes the text of `changed`; `emptied` would have none any more. `lost` and `gained` count
    characters. `error` tells why trying ended early.
    """

    id: str
    site: str
    page: str
    rule: Rule
    pages: int
    looked_at: int = 0
    touched: int = 0
    changed: int = 0
    emptied: int = 0
    titles: int = 0
    lost: int = 0
    gained: int = 0
    beside: list[Beside] = field(default_factory=list)
    is_done: bool = False
    is_stopped: bool = False
    error: str = ""


@dataclass
class Change:
    """A rule that was taken; `pages` of `of` were cleaned again since its `state` began.

    `stood` tells that the file had the rule before: it stays there when the change is undone.
    """

    id: str
    site: str
    rule: Rule
    taken_at: str
    state: State = "cleaning"
    pages: int = 0
    of: int = 0
    error: str = ""
    stood: bool = False


class Teaching:
    """The proposals and changes of a workbench; each kind has a thread that takes them in order.

    Raises ConfigurationError where the journal is damaged. Nothing is done before `start`.
    """

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._lock = Lock()
        self._writing = Lock()  # of the journal and the overrides file
        self._trials: Queue[Proposal | None] = Queue()
        self._cleanings: Queue[Change | None] = Queue()
        self._is_closed = False
        self._proposals: OrderedDict[str, Proposal] = OrderedDict()
        self._taken: deque[str] = deque(maxlen=CHANGES)  # proposals that are changes now
        self._changes: OrderedDict[str, Change] = OrderedDict()
        if bench.can_teach:
            self._changes = _read_journal(self._journal)
            for change in self._changes.values():
                if change.state in _UNFINISHED:
                    self._cleanings.put(change)
        self._threads = [
            Thread(target=self._work_through, args=(self._trials, self._try), daemon=True),
            Thread(target=self._work_through, args=(self._cleanings, self._clean), daemon=True),
        ]

    def start(self) -> None:
        """Begin to work, and go on with what the journal has."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End after the pages that are being cleaned; the journal has what is left to do."""
        self._is_closed = True
        self._trials.put(None)
        self._cleanings.put(None)
        for thread in self._threads:
            thread.join(30)

    def propose(self, site: str, page: str, rule: Rule) -> Proposal:
        """Try a rule on the stored pages of a site; raises ConfigurationError for none."""
        path = self._bench.need_teaching()
        rule.check()
        self._bench.settings()  # a file with an error in it is told now
        with_rule(read_source(path), rule)
        pages = self._bench.site(site).summary.with_text
        proposal = Proposal(secrets.token_hex(8), site, page, rule, pages)
        with self._lock:
            self._proposals[proposal.id] = proposal
            while len(self._proposals) > PROPOSALS:
                _, oldest = self._proposals.popitem(last=False)
                oldest.is_stopped = True
        self._trials.put(proposal)
        return proposal

    def proposal(self, identity: str) -> Proposal:
        """A proposal; raises NotStoredError where it is not there any more."""
        found = self._proposals.get(identity)
        if found is None and self.was_taken(identity):
            raise NotStoredError("this rule was taken already: see Rules")
        if found is None:
            raise NotStoredError("this proposal is not there any more: point at the place again")
        return found

    def was_taken(self, identity: str) -> bool:
        """Whether a proposal of late has become a change."""
        with self._lock:
            return identity in self._taken

    def proposals(self) -> list[Proposal]:
        """The proposals of late."""
        with self._lock:
            return list(self._proposals.values())

    def take(self, proposal: Proposal) -> Change:
        """Write the rule and clean its site again in the background; a proposal is taken once."""
        self._bench.need_teaching()
        with self._lock:
            if self._proposals.pop(proposal.id, None) is None:
                raise NotStoredError("this rule was taken already: see Rules")
            self._taken.append(proposal.id)
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        change = Change(secrets.token_hex(8), proposal.site, proposal.rule, now)
        with self._writing, suppress(ConfigurationError):  # which comes again, and is told
            source = read_source(self._bench.need_teaching())
            is_there = with_rule(source, change.rule) == source
            others = (other for other in self._same(change) if other.state != "undone")
            change.stood = is_there and all(other.stood for other in others)
        try:
            self._begin(change, "cleaning")
        except NoiseCleanError:
            with self._lock:
                self._taken.remove(proposal.id)
                self._proposals[proposal.id] = proposal
            raise
        proposal.is_stopped = True
        return change

    def undo(self, identity: str) -> Change:
        """Take a rule out of the file again, and clean its site once more."""
        self._bench.need_teaching()
        found = self._changes.get(identity)
        if found is None:
            raise NotStoredError("there is no such change")
        if found.state in ("undoing", "undone"):
            return found
        self._begin(found, "undoing")
        return found

    def changes(self) -> list[Change]:
        """What was taken, the newest first."""
        with self._lock:
            return list(reversed(self._changes.values()))

    @property
    def _journal(self) -> Path:
        path = self._bench.need_teaching()
        return path.with_name(f"{path.name}.changes.json")

    def _begin(self, change: Change, state: State) -> None:
        """The journal first, then the file: what was asked for is done, if by the next server."""
        with self._writing:
            changes = self._changes.copy()
            changes[change.id] = replace(change, state=state, pages=0, error="")
            while len(changes) > CHANGES:
                changes.popitem(last=False)
            self._write_journal(changes)
            with self._lock:
                change.state, change.pages, change.error = state, 0, ""
                changes[change.id] = change
                self._changes = changes
            try:
                self._write_rule(change)
            except Exception as error:
                change.state, change.error = "failed", str(error)
                self._write_journal(self._changes)
                raise
        self._cleanings.put(change)

    def _end(self, change: Change, begun: State, ended: State, error: str = "") -> None:
        """What was begun is over, unless something else was begun with the change meanwhile."""
        with self._writing:
            with self._lock:
                if change.state != begun:
                    return
                change.state, change.error = ended, error
            self._write_journal(self._changes)

    def _write_rule(self, change: Change) -> None:
        if change.stood:
            return
        path = self._bench.need_teaching()
        source = read_source(path)
        if change.state == "cleaning":
            edited = with_rule(source, change.rule)
        elif self._alike(change):
            return  # it was taken twice, and one is undone
        else:
            edited = without_rule(source, change.rule)
        if edited != source:
            write_source(path, edited)

    def _alike(self, change: Change) -> list[Change]:
        """Other changes in force by which the same rule was taken."""
        return [other for other in self._same(change) if other.state in ("cleaning", "done")]

    def _same(self, change: Change) -> list[Change]:
        """Other changes of the same rule."""
        others = (other for other in self.changes() if other is not change)
        return [other for other in others if other.rule == change.rule]

    def _write_journal(self, changes: Mapping[str, Change]) -> None:
        values = list(map(asdict, changes.values()))
        try:
            replace_file(self._journal, json.dumps(values, indent=1).encode())
        except OSError as error:
            raise ConfigurationError(f"{self._journal}: cannot be written: {error}") from None

    def _work_through(self, jobs: Queue[Any], work: Callable[[Any], None]) -> None:
        while (job := jobs.get()) is not None and not self._is_closed:
            begun: Any = getattr(job, "state", None)
            try:
                work(job)
            except Exception as error:
                logger.warning("%s", error, exc_info=not isinstance(error, NoiseCleanError))
                if isinstance(job, Change):
                    with suppress(ConfigurationError):  # of the journal, which the next one tells
                        self._end(job, begun, "failed", str(error))
                else:
                    job.error = str(error)
            if isinstance(job, Proposal):
                job.is_done = True

    def _clean(self, change: Change) -> None:
        """Clean the site again with the file as it is now; raises what the store raises."""
        state = change.state
        if state not in _UNFINISHED or self._bench.open_writer is None:
            return
        with self._writing:
            self._write_rule(change)  # a server may have died before it came to this
        with self._bench.open_writer() as store:
            change.of = store.pages.count(change.site).with_text
            for done in clean_again(store, self._bench.model(change.site)):
                change.pages = done
                if self._is_closed or change.state != state:
                    return
        self._end(change, state, "done" if state == "cleaning" else "undone")
        self._bench.sites.expire()

    def _try(self, proposal: Proposal) -> None:
        """Clean the pages that the rule finds something on, and compare with what is stored."""
        bench = self._bench
        alone = proposal.rule.check()
        model = bench.model(proposal.site)
        source = with_rule(read_source(bench.need_teaching()), proposal.rule)
        taught = replace(model, config=replace(model.config, overrides=Overrides.parse(source)))
        for record in bench.store.pages.with_html(proposal.site):
            if proposal.is_stopped or self._is_closed:
                return
            if record.cleaned is None:
                continue
            proposal.looked_at += 1
            if _touches(alone, record):
                proposal.touched += 1
                _compare(proposal, record, model.judge(record), taught.judge(record))


def _touches(alone: Overrides, record: PageRecord) -> bool:
    """Whether a rule finds something on a page."""
    rules = alone.rules_for(record.url)
    return rules is not None and bool(rules(parse_html(record.html or "").root))


def _compare(proposal: Proposal, record: PageRecord, before: CleanPage, after: CleanPage) -> None:
    if (before.title, before.text) == (after.title, after.text):
        return
    proposal.changed += 1
    proposal.titles += before.title != after.title
    proposal.emptied += _says_something(before) and not _says_something(after)
    old, new = before.text.splitlines(), after.text.splitlines()
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    proposal.lost += sum(len(text) * count for text, count in gone.items())
    proposal.gained += sum(len(text) * count for text, count in come.items())
    if len(proposal.beside) < BESIDE:
        shown = beside(old, new, gone, come)
        proposal.beside.append(Beside(record.key, after.title, record.url, *shown))


def _says_something(page: CleanPage) -> bool:
    """Whether there is more than a headline."""
    return page.text not in ("", page.title)


def _read_journal(path: Path) -> OrderedDict[str, Change]:
    """The changes of earlier servers; none where the file is not there."""
    try:
        rows = json.loads(path.read_text("utf-8"))
        found = [Change(**{**row, "rule": Rule(**row["rule"])}) for row in rows]
    except FileNotFoundError:
        return OrderedDict()
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(f"{path} is damaged ({error}): move it away") from None
    return OrderedDict((change.id, change) for change in found)
