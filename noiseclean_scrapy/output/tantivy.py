"""A Tantivy index on disk: the terms and queries of the store, in files of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from noiseclean_scrapy.errors import IndexingError
from noiseclean_scrapy.output.documents import Document
from noiseclean_scrapy.store.column_types import storable_text
from noiseclean_scrapy.store.search.query import (
    AnalyzedAlternative,
    LanguageQuery,
    analyze_by_language,
    wanted_phrases,
)
from noiseclean_scrapy.store.search.ranking import Hit, SearchFilter, SearchResults, check_range
from noiseclean_scrapy.store.search.snippet import make_snippet
from noiseclean_scrapy.store.search.terms import TITLE_WEIGHT, Analyzer, Phrase

try:
    import tantivy
except ImportError:
    HAS_TANTIVY = False
else:
    HAS_TANTIVY = True

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_WRITER_BYTES = 50_000_000
_LANGUAGES = {"languages": {"terms": {"field": "language", "size": 1000}}}


class TantivyIndex:
    """A Tantivy index in a folder, which is created where it is missing.

    Needs the extra `tantivy`. One process at a time may write, others may search meanwhile.
    Raises IndexingError when the folder holds another index, or another process is writing.
    """

    def __init__(self, folder: Path | str) -> None:
        if not HAS_TANTIVY:
            raise IndexingError(
                "the library tantivy is missing: pip install 'noiseclean-scrapy[tantivy]'"
            )
        self._folder = Path(folder)
        self._schema = _schema()
        with self._telling_damage():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, path=str(self._folder))
        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("terms", analyzer)
        self._analyzer = Analyzer()
        self._writer: tantivy.IndexWriter | None = None

    def add(self, documents: Sequence[Document]) -> None:
        self.delete([document.key for document in documents])
        for document in documents:
            self._open_writer().add_document(self._document(document))

    def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._open_writer().delete_documents_by_query(self._term("key", key))

    def commit(self) -> None:
        if self._writer is not None:
            with self._telling_damage():
                self._writer.commit()
                self._writer.wait_merging_threads()
            self._writer = None

    def search(
        self,
        query: str,
        *,
        site: str | None = None,
        language: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> SearchResults:
        """The same as `Store.search`, from this index, with the same errors.

        Raises IndexingError where its files are damaged.
        """
        check_range(limit, offset)
        pages = SearchFilter(site, language, since, until)
        with self._telling_damage():
            return self._search(query, pages, limit, offset)

    def _search(self, query: str, pages: SearchFilter, limit: int, offset: int) -> SearchResults:
        self._index.reload()
        searcher = self._index.searcher()
        languages = self._languages(searcher) if pages.language is None else [pages.language]
        parts = analyze_by_language(query, self._analyzer, languages)
        if not parts:
            return SearchResults(0, ())
        queries = [self._any(map(self._part, parts)), *self._filters(pages)]
        wanted = tantivy.Query.boolean_query([(tantivy.Occur.Must, part) for part in queries])
        # Its type stubs do not tell of the count.
        # It makes room for as many as are asked for.
        most, first = min(limit, searcher.num_docs), min(offset, searcher.num_docs)
        found: Any = searcher.search(wanted, limit=max(most, 1), offset=first)
        hits = (
            self._hit(searcher.doc(address), score, query) for score, address in found.hits[:limit]
        )
        return SearchResults(found.count, tuple(hits))

    @contextmanager
    def _telling_damage(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            is_panic = type(error).__name__ == "PanicException"  # which is no Exception
            if not is_panic and not isinstance(error, (OSError, ValueError)):
                raise
            raise IndexingError(
                f"{self._folder} cannot be used as a Tantivy index ({error}): name an empty "
                f"folder, and register the index again"
            ) from error

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            try:
                self._writer = self._index.writer(_WRITER_BYTES, num_threads=1)
            except ValueError as error:
                raise IndexingError(
                    f"{self._folder} cannot be written ({error}): another process may be writing "
                    f"it, so try again when that has ended"
                ) from error
        return self._writer

    def _document(self, document: Document) -> tantivy.Document:
        terms = (
            " ".join(self._analyzer.terms(text, document.language))
            for text in (document.title, document.text)
        )
        entry = tantivy.Document()
        for field, value in zip(("title", "text"), terms, strict=True):
            entry.add_text(field, value)
        for field in ("key", "site", "language"):
            entry.add_text(field, getattr(document, field))
        entry.add_integer("time", _microseconds(document.time))
        row = json.dumps(asdict(document), default=datetime.isoformat)
        entry.add_bytes("document", row.encode("ascii"))
        return entry

    def _hit(self, entry: tantivy.Document, score: Any, query: str) -> Hit:
        row = json.loads(entry.to_dict()["document"][0])
        published = row["published"] and datetime.fromisoformat(row["published"])
        phrases = wanted_phrases(query, self._analyzer, row["language"])
        snippet = make_snippet(row["text"], row["language"], phrases, self._analyzer)
        facts = (row["site"], row["language"], published)
        return Hit(row["key"], row["url"], row["title"], snippet, score, *facts)

    def _languages(self, searcher: tantivy.Searcher) -> list[str]:
        found = searcher.aggregate(tantivy.Query.all_query(), _LANGUAGES)
        return ["", *(bucket["key"] for bucket in found["languages"]["buckets"])]

    # Queries

    def _part(self, part: LanguageQuery) -> tantivy.Query:
        occur = tantivy.Occur
        found = self._any(map(self._alternative, part.alternatives))
        without = [(occur.MustNot, self._term("language", code)) for code in part.without]
        if not part.within:
            return tantivy.Query.boolean_query([(occur.Must, found), *without])
        within = self._any(self._term("language", code) for code in part.within)
        ours = tantivy.Query.const_score_query(within, 0.0)
        return tantivy.Query.boolean_query([(occur.Must, found), (occur.Must, ours)])

    def _alternative(self, alternative: AnalyzedAlternative) -> tantivy.Query:
        occur = tantivy.Occur
        wanted = [(occur.Must, self._phrase(phrase)) for phrase in alternative.wanted]
        excluded = [(occur.MustNot, self._phrase(phrase)) for phrase in alternative.excluded]
        return tantivy.Query.boolean_query([*wanted, *excluded])

    def _phrase(self, phrase: Phrase) -> tantivy.Query:
        title = self._phrase_in("title", phrase)
        return self._any(
            [tantivy.Query.boost_query(title, TITLE_WEIGHT), self._phrase_in("text", phrase)]
        )

    def _phrase_in(self, field: str, phrase: Phrase) -> tantivy.Query:
        query = tantivy.Query
        *before, last = phrase.terms
        # Terms are letters and digits alone, so there is nothing to escape.
        if phrase.open and before:
            return query.regex_phrase_query(self._schema, field, [*before, f"{last}.*"])
        if phrase.open:
            return query.regex_query(self._schema, field, f"{last}.*")
        if before:
            return query.phrase_query(self._schema, field, list(phrase.terms))
        return self._term(field, last)

    def _filters(self, pages: SearchFilter) -> Iterator[tantivy.Query]:
        query = tantivy.Query
        for field, value in (("site", pages.site), ("language", pages.language)):
            if value is not None:
                yield query.const_score_query(self._term(field, value), 0.0)
        if pages.since is not None or pages.until is not None:
            integer = tantivy.FieldType.Integer
            low, high = (
                None if time is None else _microseconds(time) for time in (pages.since, pages.until)
            )
            times = query.range_query(self._schema, "time", integer, low, high)
            yield query.const_score_query(times, 0.0)

    def _term(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, storable_text(value))

    def _any(self, queries: Iterable[tantivy.Query]) -> tantivy.Query:
        should = tantivy.Occur.Should
        return tantivy.Query.boolean_query([(should, query) for query in queries])


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("key", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name="terms")
    builder.add_text_field("text", tokenizer_name="terms")
    for field in ("site", "language"):
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic", fast=True)
    builder.add_integer_field("time", indexed=True, fast=True)
    builder.add_bytes_field("document", stored=True)
    return builder.build()


def _microseconds(time: datetime) -> int:
    """Microseconds since 1970."""
    return (time - _EPOCH) // timedelta(microseconds=1)
