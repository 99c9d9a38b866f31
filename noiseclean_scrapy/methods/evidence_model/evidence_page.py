"""What `evidence` keeps of a page, for when it is asked of the page again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noiseclean_scrapy.page import Page

if TYPE_CHECKING:
    from noiseclean_scrapy.methods.evidence_model.fingerprints import PageKeys
    from noiseclean_scrapy.methods.evidence_model.model import Reading
    from noiseclean_scrapy.methods.evidence_model.text_features import TextTable
    from noiseclean_scrapy.methods.evidence_model.tree_index import PageArrays


@dataclass(slots=True)
class EvidencePage:
    """The tables of a page, and what was read in them; the tables are large and soon dropped."""

    arrays: PageArrays | None = None
    texts: TextTable | None = None
    reading: Reading | None = None
    keys: PageKeys | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return EvidencePage, (None, None, self.reading, self.keys)

    @classmethod
    def of(cls, page: Page) -> EvidencePage:
        """What is kept of the page."""
        if not isinstance(page.kept, cls):
            page.kept = cls()
        return page.kept

    def drop_tables(self) -> None:
        """Give the memory of the tables back; they are made again when asked for."""
        self.arrays = self.texts = None
