"""What a crawl writes, and where: in a thread, or in a process of its own.

Compressing, indexing and cleaning again take more time than a crawl has beside its own work; on a
machine with several cores another process can do it (`NOISECLEAN_WRITER_PROCESS`). It is started
as a program, not forked or spawned: the user's main module is not run again, and whatever ends the
crawl closes its standard input, at which it ends too.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from scrapy.utils.asyncio import run_in_thread

from noiseclean_scrapy.clusters.training import Training, TrainingResult, load_learner
from noiseclean_scrapy.crawl.memory import trim_heap
from noiseclean_scrapy.errors import ConfigurationError, StoreError
from noiseclean_scrapy.languages import SiteLanguages
from noiseclean_scrapy.metadata import extract_metadata
from noiseclean_scrapy.methods import find_method
from noiseclean_scrapy.page.logs import get_logger
from noiseclean_scrapy.store import PageRecord, Store, Written
from noiseclean_scrapy.store.damage import DamageLog
from noiseclean_scrapy.store.patience import GIVEN_UP_SECONDS

logger = get_logger(__name__)

Result = TypeVar("Result")

_languages = SiteLanguages()  # of the pages that this process reads for the crawl


def write_pages(
    store: Store,
    records: Sequence[PageRecord],
    *,
    method: str,
    metadata: bool,
    rewrite: Collection[str] = (),
) -> Written:
    """Write pages; with `metadata`, of those that have a text and HTML that is read as well."""
    records = [_with_metadata(r) if metadata else r for r in records]
    return store.pages.write(records, method=method, rewrite=rewrite)


def train(store: Store, training: Training) -> TrainingResult:
    """Train a cluster; what this thread has freed is not left to it."""
    result = training.run(store)
    trim_heap()
    return result


def train_alone(store: Store, training: Training) -> TrainingResult:
    """The same; the learner stays in this process, since it is slow to pickle."""
    return replace(train(store, training), learner=None)


def _with_metadata(record: PageRecord) -> PageRecord:
    if record.metadata is not None or record.cleaned is None or record.html is None:
        return record
    language = partial(_languages.language, record.cluster)
    found = extract_metadata(
        record.html, url=record.url, text=record.cleaned.text, language=language
    )
    return replace(record, metadata=found)


def import_method(store: Store, name: str) -> None:
    """Import a method; raises ConfigurationError where this process finds none of this name."""
    find_method(name)


class Writer:
    """Runs a function that is given the store, and what else it needs, in a thread."""

    is_process = False

    def __init__(self, store: Store) -> None:
        self.store = store

    async def run(self, function: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
        """What the function returns or raises; it has a store as its first argument."""
        return await run_in_thread(function, self.store, *arguments, **options)

    async def train(self, training: Training) -> TrainingResult:
        """Train a cluster; the result has what the newest tree has learned."""
        return await run_in_thread(train, self.store, training)

    def close(self) -> None:
        """Do nothing: all that was run has ended."""

    def give_up(self) -> None:
        """Do nothing: who waits in a thread has the store's patience."""


class ProcessWriter(Writer):
    """Runs functions of modules in a process of its own, with arguments that can be pickled.

    A process that has died is started again, and what it left open is tried once more: what was
    done after all is not done twice: pages are written by key, and trees learn provisional pages.
    """

    is_process = True

    def __init__(self, store: Store, url: str, **options: Any) -> None:
        """`options` are those of the process's own store."""
        super().__init__(store)
        self._options = (url, options)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._has_given_up = False

    @property
    def pid(self) -> int | None:
        """Number of the process, None while there is none."""
        return self._process.pid if self._process else None

    async def run(self, function: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
        result: Result = await run_in_thread(self._call, (function, arguments, options))
        return result

    async def train(self, training: Training) -> TrainingResult:
        result = await self.run(train_alone, training.without_learner())
        loaded = await run_in_thread(load_learner, self.store, training.cluster, training.config)
        return replace(result, learner=loaded[0] if loaded else None)

    def need_method(self, name: str) -> None:
        """Raise ConfigurationError for a class that the process cannot import.

        The crawl may have it from its main script, or from a spider's file in another folder.
        """
        if "." not in name:
            return
        try:
            self._call((import_method, (name,), {}))
        except ConfigurationError as error:
            raise ConfigurationError(
                f"NOISECLEAN_WRITER_PROCESS: in the process that writes {error}; put the class "
                f"into a module on Python's path, or leave the setting off"
            ) from error

    def close(self) -> None:
        """Let the process end."""
        with self._lock:
            if self._process:
                assert self._process.stdin
                assert self._process.stdout
                self._process.stdin.close()
                self._process.wait()
                self._process.stdout.close()
                self._process = None

    def give_up(self) -> None:
        """Let nobody wait for the process any longer than a moment; what it does is undone."""
        self._has_given_up = True
        if process := self._process:
            timer = threading.Timer(GIVEN_UP_SECONDS, process.kill)
            timer.daemon = True
            timer.start()

    def _call(self, call: Any) -> Any:
        with self._lock:
            try:
                result, error = self._ask(call)
            except StoreError as reason:
                if self._has_given_up:
                    raise
                logger.warning("%s; it is started again", reason)
                result, error = self._ask(call)
        if error is not None:
            raise error
        return result

    def _ask(self, call: Any) -> tuple[Any, Exception | None]:
        """What a call gives, or its error; pages that it found damaged are noted in the store."""
        try:
            process = self._process or self._start()
            assert process.stdin
            assert process.stdout
            pickle.dump(call, process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            result, error, damage = pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError) as reason:
            raise StoreError(f"the process that writes has ended ({self._reap()})") from reason
        self.store.damage.take(damage)
        return result, error

    def _start(self) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            # An interrupt from the terminal is for the crawl alone.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        assert self._process.stdin
        pickle.dump(self._options, self._process.stdin)
        return self._process

    def _reap(self) -> str:
        process, self._process = self._process, None
        if process is None:
            return "it could not be started"
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                try:
                    pipe.close()
                except OSError:
                    logger.debug("A pipe of the writing process was broken")
        return f"exit status {process.wait()}"


def _portable(error: Exception) -> Exception:
    """The error, or one with its words where it cannot be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its class does when it is made again
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def main() -> None:
    """Serve calls from standard input until it is closed."""
    calls, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = io.TextIOWrapper(os.fdopen(os.dup(2), "wb"), write_through=True)
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    url, store_options = pickle.load(calls)
    store: Store | None = None
    damage = DamageLog()
    while True:
        try:
            function, arguments, options = pickle.load(calls)
        except (EOFError, pickle.UnpicklingError):  # the crawl is gone, in the middle of a call
            break
        try:
            store = store or Store(url, **store_options)
            damage = store.damage
            answer: tuple[Any, Exception | None, DamageLog]
            answer = (function(store, *arguments, **options), None, damage)
        except Exception as error:
            answer = (None, _portable(error), damage)
        try:
            pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
        except BrokenPipeError:
            break
    if store:
        store.close()


if __name__ == "__main__":
    main()
