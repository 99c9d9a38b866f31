"""From a database URL to an engine that is set up for one crawler among several."""

from __future__ import annotations

import os
import sqlite3
import sys
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    URL,
    Connection,
    Dialect,
    Engine,
    ExceptionContext,
    StaticPool,
    create_engine,
    event,
)
from sqlalchemy.exc import NoSuchModuleError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from noiseclean_scrapy.errors import StoreError
from noiseclean_scrapy.service_urls import database_url, shown_url
from noiseclean_scrapy.store.column_types import DamagedText
from noiseclean_scrapy.store.patience import CONNECTING_SECONDS, Patience

# A process that saves a tree cleans its provisional pages while the others wait.
SQLITE_BUSY_SECONDS = 120
_POSTGRESQL = {"connect_timeout": CONNECTING_SECONDS, "client_encoding": "utf8"}
"""What a connection asks for: without it server, role or environment choose the encoding."""
_READ_ONLY = "25006"  # of PostgreSQL's SQLSTATE
_WAL_SECONDS, _MOMENT_SECONDS = 5.0, 0.02

_WRITES = "noiseclean_writes"
_EXPECTED = "expected sqlite:///file.db or postgresql://user:password@host/database"


def create_store_engine(url: str, *, read_only: bool, patience: Patience | None = None) -> Engine:
    """Engine for ``url``; connects lazily.

    Where there is a `patience`, psycopg's connections end with it.

    Raises StoreError for a URL that is none, a database that is neither SQLite nor PostgreSQL, a
    driver that is missing or asynchronous, and a read-only SQLite file that does not exist.
    """
    parsed = _parse(url)
    options: dict[str, Any] = {"hide_parameters": True}
    is_sqlite = parsed.get_backend_name() == "sqlite"
    if is_sqlite:
        options["connect_args"] = {"isolation_level": None}
        if "timeout" not in parsed.query:
            options["connect_args"]["timeout"] = SQLITE_BUSY_SECONDS
        if is_in_memory(parsed):
            # Without it each thread would see a database of its own.
            options |= {"poolclass": StaticPool}
            options["connect_args"]["check_same_thread"] = False
        if read_only:
            parsed = _read_only_file(parsed)
    else:
        options["pool_pre_ping"] = True
        if "psycopg" in parsed.drivername:
            given = parsed.query
            own = {name: value for name, value in _POSTGRESQL.items() if name not in given}
            options["connect_args"] = own
        if read_only:
            # What one search asks in several statements is asked of one state.
            reading = {"postgresql_readonly": True, "isolation_level": "REPEATABLE READ"}
            options["execution_options"] = reading
    engine = _create(parsed, options)
    if is_sqlite:
        _set_up_sqlite(engine, read_only=read_only)
    else:
        event.listen(engine, "handle_error", _leave_read_only)
        if engine.dialect.driver == "psycopg":
            from noiseclean_scrapy.store.postgresql_times import read_all_times

            event.listen(engine, "connect", read_all_times)
    event.listen(engine, "do_connect", partial(_connect, patience))
    return engine


def writing(engine: Engine) -> Engine:
    """The same engine, its transactions declared as writing ones."""
    return engine.execution_options(**{_WRITES: True})


def is_in_memory(url: URL) -> bool:
    """Whether ``url`` names an SQLite database without a file."""
    return url.get_backend_name() == "sqlite" and url.database in {None, "", ":memory:"}


def trouble_with_file(url: str) -> str:
    """Why the file of an SQLite database cannot be opened or written, empty where that is unknown.

    SQLite itself says that it cannot, not why.
    """
    parsed = _parse(url)
    if parsed.get_backend_name() != "sqlite" or is_in_memory(parsed) or "uri" in parsed.query:
        return ""
    path = Path(str(parsed.database)).absolute()
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    if path.is_dir():
        return "that is a folder"
    if sys.platform != "win32" and os.statvfs(path.parent).f_flag & os.ST_RDONLY:
        return "the file system is read-only"
    return ""


def _parse(url: str) -> URL:
    try:
        parsed = database_url(url)
    except ValueError as error:
        raise StoreError(
            f"{shown_url(str(url))} is no database URL, {error}: {_EXPECTED}"
        ) from None
    if parsed.drivername in {"postgres", "postgresql"}:
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() not in {"sqlite", "postgresql"}:
        raise StoreError(f"no store for the database {parsed.get_backend_name()!r}: {_EXPECTED}")
    return parsed


def _create(url: URL, options: dict[str, Any]) -> Engine:
    try:
        engine = create_engine(url, **options)
    except (ImportError, NoSuchModuleError) as error:
        way = f'{_EXPECTED}; pip install "noiseclean-scrapy[postgresql]" for the latter'
        raise StoreError(f"the driver of {url.drivername!r} is missing ({error}): {way}") from error
    except (TypeError, ValueError) as error:  # of an option in the URL
        raise StoreError(f"{shown_url(str(url))} is refused ({error}): {_EXPECTED}") from error
    if engine.dialect.is_async:
        raise StoreError(f"the driver of {url.drivername!r} is asynchronous: {_EXPECTED}")
    return engine


def _connect(
    patience: Patience | None,
    dialect: Dialect,
    _: object,
    arguments: Any,
    options: dict[str, Any],
) -> Any:
    try:
        if dialect.driver == "psycopg":
            # PgBouncer hands a session on, with the statements that were prepared in it.
            given = options.get("prepare_threshold")
            options["prepare_threshold"] = None if given in (None, "None") else int(given)
            if patience is not None:
                from noiseclean_scrapy.store import postgresql_silence

                return postgresql_silence.connect(patience, *arguments, **options)
        return dialect.connect(*arguments, **options)
    except (TypeError, ValueError) as error:
        raise StoreError(f"an option of the database URL is refused ({error})") from error


def _leave_read_only(context: ExceptionContext) -> None:
    """Let the next try begin a session of its own: this one stays read-only, as it was born."""
    error = context.original_exception
    if _READ_ONLY in (getattr(error, "sqlstate", ""), getattr(error, "pgcode", "")):
        context.is_disconnect = True


def _read_only_file(url: URL) -> URL:
    if is_in_memory(url):
        raise StoreError(f"nothing to read in a database in memory: {_EXPECTED}")
    if "uri" in url.query:
        return url.update_query_dict({"mode": "ro"})
    path = Path(str(url.database)).absolute()
    if not path.is_file():
        raise StoreError(f"there is no database file {url.database!r} to read")
    # Whoever closes the file as the last one clears its log away, which mode "ro" could not.
    query = {**url.query, "uri": "true", "mode": "rw"}
    # On a read-only medium SQLite cannot make the shared-memory file that goes with WAL.
    if not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists():
        query["immutable"] = "1"
    return url.set(database=f"file:{quote(path.as_posix())}", query=query)


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log; of two that begin a database at once SQLite refuses one."""
    deadline = monotonic() + _WAL_SECONDS
    while not _switch_to_wal(connection, is_last=monotonic() > deadline):
        sleep(_MOMENT_SECONDS)


def _switch_to_wal(connection: sqlite3.Connection, *, is_last: bool) -> bool:
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if is_last or "locked" not in str(error):
            raise
        return False
    return True


def _set_up_sqlite(engine: Engine, *, read_only: bool) -> None:
    opened: set[str] = set()  # the file, once it is there

    def connect(*_: object) -> None:
        # A file that was moved away is not made anew, empty, where it will be put back.
        for file in opened:
            if not os.path.exists(file):
                raise sqlite3.OperationalError(f"the file {file} is gone")

    def set_up(connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
        try:
            prepare(connection, record)
        except BaseException:
            connection.close()  # SQLAlchemy forgets it
            raise

    def prepare(connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        # A damaged text would take all rows of its query along.
        connection.text_factory = DamagedText.read
        if read_only:
            connection.execute("PRAGMA query_only = ON")
        else:
            # A killed process loses nothing this way; only a power cut could take the last commits.
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")

        (_, _, file), *_ = connection.execute("PRAGMA database_list")
        record.info["file"] = file
        if file:
            opened.add(file)
            record.info["identity"] = _identity(file)

    def look_for_file(_connection: object, record: ConnectionPoolEntry, _proxy: object) -> None:
        # What is open could be written to when its file is deleted, and would go with it. Another
        # file in its place is not opened: SQLite would write the log of the old one into it.
        file = record.info["file"]
        if not file:
            return
        try:
            reason = "" if _identity(file) == record.info["identity"] else "is another one now"
        except FileNotFoundError:
            reason = "is gone"
        if reason:
            raise OperationalError(None, None, OSError(f"the file {file} {reason}"))

    def begin(connection: Connection) -> None:
        # A reader that turns into a writer can deadlock with another one, so writers say it first.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "connect", set_up)
    event.listen(engine, "checkout", look_for_file)
    event.listen(engine, "begin", begin)


def _identity(file: str) -> tuple[int, int]:
    found = os.stat(file)
    return found.st_dev, found.st_ino
