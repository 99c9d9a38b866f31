"""Feeds of Scrapy written once more, item by item, with other values in some of their fields."""

from __future__ import annotations

import codecs
import csv
import json
import marshal
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, TypeAlias

from lxml import etree

from noiseclean_scrapy.errors import NoiseCleanError
from noiseclean_scrapy.page.characters import writable
from noiseclean_scrapy.replaced import replaced

Fields: TypeAlias = Mapping[str, Any]
Change: TypeAlias = Callable[[Fields], Fields]
"""Given the fields of an item as the feed has them, those that change, with their new values."""

_CHUNK = 1 << 20
_LONGEST_FIELD = 2**31 - 1
_DAMAGE = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RecursionError),
    *(TypeError, ValueError, csv.Error, etree.LxmlError),
)
"""What is raised where a feed cannot be read or written; damaged pickles raise nearly anything."""
_PLAIN_CLASSES = {
    "builtins": {"bytearray", "complex", "frozenset", "set"},
    "collections": {"OrderedDict"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "uuid": {"UUID"},
}


class FeedError(NoiseCleanError):
    """A feed that cannot be written once more; it stays as it is."""


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """What a feed was written with: the options of `FEEDS` that its format depends on."""

    encoding: str | None = None
    indent: int | None = None
    columns: Sequence[str] = ()
    """The names in a CSV feed without a header line."""
    export: Mapping[str, Any] = field(default_factory=dict)

    @property
    def csv(self) -> dict[str, Any]:
        """How the rows of a CSV feed are written."""
        known = {name for name in dir(csv.Dialect) if not name.startswith("_")} | {"dialect"}
        return {name: value for name, value in self.export.items() if name in known}


@dataclass(slots=True)
class Rewritten:
    """How many items a feed has, and how many of them have changed."""

    items: int = 0
    changed: int = 0


def rewrite_feed(
    path: Path, form: str, change: Change, options: FeedOptions | None = None
) -> Rewritten:
    """Write a local feed again with what `change` gives for each item; all else stays.

    The new file takes the place of the old one when all of it is written, and only if an item has
    changed. Raises FeedError where the feed cannot be read, or where somebody else writes to it,
    and it stays as it is.
    """
    if form not in _FORMATS:
        raise FeedError(
            f"{str(path)!r} cannot be written once more: its format {form!r} is none of "
            f"{', '.join(FORMATS)}"
        )
    count = Rewritten()

    def counted(item: Fields) -> Fields:
        if not isinstance(item, dict):
            raise FeedError(f"it holds a {type(item).__name__}, and no item")
        found = change(item)
        count.items += 1
        count.changed += bool(found)
        return found

    try:
        with replaced(path) as out, path.open("rb") as feed:  # closed before it is replaced
            before = os.fstat(feed.fileno())
            _FORMATS[form](feed, out, counted, options or FeedOptions())
            if not count.changed:
                raise _UnchangedError
            _check_writers(path, feed, before)
    except _UnchangedError:
        pass
    except (FeedError, *_DAMAGE) as error:
        raise FeedError(f"{str(path)!r} stays as it is: {error}") from error
    return count


class _UnchangedError(Exception):
    """No item has changed."""


def _check_writers(path: Path, feed: BufferedReader, before: os.stat_result) -> None:
    """What others write to a file is lost when another one takes its place."""
    now = path.stat()
    if not os.path.samestat(now, before) or now.st_mtime_ns != before.st_mtime_ns:
        raise FeedError("another process has written to it meanwhile")
    if not _may_lease(feed):
        with NamedTemporaryFile(dir=path.parent) as own, open(own.name, "rb") as probe:
            own.close()  # nobody writes to it
            if _may_lease(probe):  # unlike file systems of the net, this one knows who writes
                raise FeedError("another crawl has it open, to write to it")


def _may_lease(file: BufferedReader) -> bool:
    """Whether Linux gives a lease to read, as it does where nobody has the file open to write."""
    if sys.platform != "linux":
        return True
    import fcntl

    try:
        # The signal to those who hold a lease would end the process; this one is ignored.
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return False
    except OSError:  # the file is another user's
        pass
    return True


def _json_lines(feed: BufferedReader, out: IO[bytes], change: Change, options: FeedOptions) -> None:
    encoding = options.encoding or "utf-8"
    for number, line in enumerate(feed, 1):
        if line.strip():
            try:
                source = line.decode(encoding)
                item: dict[str, Any] = json.loads(source)
            except (RecursionError, ValueError) as error:
                # What JSON says of its only line would be taken for the feed's first.
                reason = error.msg if isinstance(error, json.JSONDecodeError) else error
                raise FeedError(f"line {number} cannot be read ({reason})") from error
            if found := change(item):
                text = _as_json({**item, **found}, _is_escaped(source, options), None) + "\n"
                line = text.encode(encoding)
        out.write(line)


def _json(feed: BufferedReader, out: IO[bytes], change: Change, options: FeedOptions) -> None:
    """What stands between the objects of the list goes on as it is."""
    encoding = options.encoding or "utf-8"
    text = TextIOWrapper(feed, encoding, newline="")
    decode = json.JSONDecoder().raw_decode
    buffer, at = text.read(_CHUNK), 0
    while buffer:
        while at < len(buffer) and (buffer[at].isspace() or buffer[at] in "[],"):
            out.write(buffer[at].encode(encoding))
            at += 1
        if at < len(buffer):
            if buffer[at] != "{":
                raise FeedError("it is no list of objects")
            try:
                item, end = decode(buffer, at)
            except ValueError:
                end = at
        if at == len(buffer) or end == at:
            more = text.read(max(_CHUNK, len(buffer) - at))
            if not more and at < len(buffer):
                raise FeedError("it ends in the middle of an item")
            buffer, at = buffer[at:] + more, 0
            continue
        found = change(item)
        source = buffer[at:end]
        if found:
            source = _as_json({**item, **found}, _is_escaped(source, options), options.indent)
        out.write(source.encode(encoding))
        at = end
    text.detach()


def _is_escaped(source: str, options: FeedOptions) -> bool:
    """Whether an item in JSON has its other letters as escapes: Scrapy does without an encoding."""
    return source.isascii() and ("\\u" in source or not options.encoding)


def _as_json(item: Fields, is_ascii: bool, indent: int | None) -> str:
    # To Scrapy a negative one is as 0.
    return json.dumps(item, ensure_ascii=is_ascii, indent=max(indent or 0, 0) or None)


def _csv(feed: BufferedReader, out: IO[bytes], change: Change, options: FeedOptions) -> None:
    encoding = options.encoding or "utf-8"
    source = TextIOWrapper(feed, encoding, newline="")
    target = TextIOWrapper(out, encoding, newline="", errors=options.export.get("errors"))
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        # Strict: a quotation mark that is not closed by the end of the file is an error.
        reader = csv.reader(source, **{"strict": True, **options.csv})
        writer = csv.writer(target, **options.csv)
        if reader.dialect.quoting not in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONE):
            raise FeedError("its quotation marks tell numbers or None from texts (`quoting`)")
        has_header = options.export.get("include_headers_line", True)
        header = [] if has_header else [*options.columns]
        if not has_header and not header:
            raise FeedError("it has no header line, and no fields were named for it")
        for row in reader:
            names = [name.removeprefix("\ufeff") for name in row]
            if has_header and names and _is_header(names, header):
                header = names
            else:
                found = change(dict(zip(header, row, strict=False)))
                for column, name in enumerate(header[: len(row)]):
                    row[column] = str(found.get(name, row[column]))
            writer.writerow(row)
    finally:
        csv.field_size_limit(before)
        target.flush()
        target.detach()
        source.detach()


def _is_header(row: list[str], header: list[str]) -> bool:
    """Where a feed was added to a header stands once more, perhaps of other fields."""
    names, known = set(row), set(header)
    if names <= known or names >= known:
        return True
    # An item has its address, which is no name.
    return bool(names & known) and len(names) == len(row) and all(map(str.isidentifier, row))


def _xml(feed: BufferedReader, out: IO[bytes], change: Change, options: FeedOptions) -> None:
    # Scrapy declares an encoding by the name that Python has for it.
    encoding = codecs.lookup(options.encoding or "utf-8").name
    parser = etree.XMLParser(
        huge_tree=True,
        resolve_entities=False,
        no_network=True,
        encoding=encoding if options.encoding else None,
    )
    tree = etree.parse(feed, parser)
    for item in tree.getroot():
        parts = {str(part.tag): part for part in item}
        found = change({name: _xml_value(part) for name, part in parts.items()})
        for name, value in found.items():
            if not len(parts[name]):
                parts[name].text = writable(str(value))
    tree.write(out, encoding=encoding, xml_declaration=True)


def _xml_value(part: etree._Element) -> str | list[str]:
    """A field's text, or the values of a list."""
    return [value.text or "" for value in part] if len(part) else part.text or ""


class _PlainUnpickler(pickle.Unpickler):
    """Reads items of plain values; nothing else in a pickle is ever made or run."""

    def find_class(self, module: str, name: str) -> Any:
        if name not in _PLAIN_CLASSES.get(module, ()):
            raise FeedError(f"an item has a value of the class {module}.{name}")
        return super().find_class(module, name)


def _pickle(feed: BufferedReader, out: IO[bytes], change: Change, options: FeedOptions) -> None:
    protocol = options.export.get("protocol", 4)
    for item in _until_the_end(feed, lambda: _PlainUnpickler(feed).load()):
        found = change(item)
        pickle.dump({**item, **found}, out, protocol)


def _marshal(feed: BufferedReader, out: IO[bytes], change: Change, options: FeedOptions) -> None:
    for item in _until_the_end(feed, lambda: marshal.load(feed)):
        found = change(item)
        marshal.dump({**item, **found}, out)


def _until_the_end(feed: BufferedReader, load: Callable[[], Any]) -> Iterator[dict[str, Any]]:
    while feed.peek(1):
        try:
            item = load()
        except (EOFError, pickle.UnpicklingError) as error:
            raise FeedError(f"it cannot be read to its end ({error})") from error
        yield item


_FORMATS = {
    "jsonlines": _json_lines,
    "jsonl": _json_lines,
    "jl": _json_lines,
    "json": _json,
    "csv": _csv,
    "xml": _xml,
    "pickle": _pickle,
    "marshal": _marshal,
}
FORMATS = tuple(_FORMATS)
"""Scrapy's own formats, by their names in `FEEDS`."""
