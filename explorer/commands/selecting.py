"""Selecting rows: by what is drawn around, asked for, or coloured alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.core.selection import NO_ROWS, Combine, combined, inverted, mask_of
from explorer.document import Document


class Selecting:
    """Commands that change which rows are selected."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def take(self, rows: NDArray[np.integer], mode: str = Combine.NEW) -> None:
        """Take rows in.

        Parameters
        ----------
        rows : integer array
        mode : {"new", "add", "remove", "intersect"}
            How they combine with those selected before.
        """
        table = self._document.table
        if table is not None:
            now = combined(self._document.selection, rows, Combine(mode), table.listing.rows)
            self._document.set_selection(now)

    def toggle(self, row: int) -> None:
        """Select one row more, or one less."""
        known = bool(np.isin(row, self._document.selection))
        self.take(np.array([row]), Combine.REMOVE if known else Combine.ADD)

    def select_query(self, mode: str = Combine.NEW) -> None:
        """Take in the rows of the answer shown."""
        answer = self._document.answer
        if answer is not None:
            self.take(answer.result.rows, mode)

    def select_category(
        self, categories: NDArray[np.integer], category: int, mode: str = Combine.NEW
    ) -> None:
        """Take in the rows of one category, of those shown; ``categories`` has a code per row."""
        isolation, rows = self._document.isolation, np.flatnonzero(categories == category)
        if isolation is not None:
            rows = np.intersect1d(rows, isolation.rows, assume_unique=True)
        self.take(rows, mode)

    def select_filter(self, mode: str = Combine.NEW) -> None:
        """Take in the rows that the filter's condition holds for."""
        if self._document.filtered is not None:
            self.take(np.flatnonzero(self._document.filtered), mode)

    def invert(self) -> None:
        """Select the healthy rows that are shown and not selected, and only those."""
        table, isolation = self._document.table, self._document.isolation
        if table is not None:
            able = table.health.healthy
            if isolation is not None:
                able = able & mask_of(isolation.rows, table.listing.rows)
            self._document.set_selection(inverted(self._document.selection, able))

    def clear(self) -> None:
        """Select nothing."""
        self._document.set_selection(NO_ROWS)
