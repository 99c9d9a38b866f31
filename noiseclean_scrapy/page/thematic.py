"""Where a thematic break (HR) stands between the blocks of a page."""

from __future__ import annotations

from bisect import bisect_left

from noiseclean_scrapy.page.page import PageTable


class ThematicBreaks:
    """Those of a page that are not hidden."""

    def __init__(self, table: PageTable) -> None:
        self._table = table
        shown = enumerate(zip(table.tags, table.hidden, strict=True))
        self._elements = [index for index, (tag, hidden) in shown if tag == "hr" and not hidden]

    def between(self, before: int, after: int) -> bool:
        """Whether one stands between two blocks, beside one of these or its element.

        Others part what is around them.
        """
        if not self._elements:  # as on most pages
            return False
        parents, opened = self._table.parents, self._table.opened
        owners = [self._table.owners[block] for block in (before, after)]
        beside = {*owners, *(parents[owner] for owner in owners)}
        first = bisect_left(self._elements, opened[before])
        last = bisect_left(self._elements, opened[after])
        return any(parents[element] in beside for element in self._elements[first:last])
