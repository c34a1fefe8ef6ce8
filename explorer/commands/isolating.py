"""Showing some rows only, where they are or laid out anew among themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from explorer.commands.mapping import Mapping
from explorer.commands.notices import Notices
from explorer.core.selection import mask_of
from explorer.document import Document
from explorer.document.selection import Isolation
from explorer.jobs import Jobs

FEWEST = 3
"""Fewer rows have no layout of their own."""


class Isolating(QObject):
    """Commands that hide all rows but some. What they do can be undone, layouts included."""

    def __init__(self, document: Document, jobs: Jobs, notices: Notices, mapping: Mapping) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._notices = notices
        self._mapping = mapping
        self._shown: Isolation | None = None
        self._keys: list[int] = []
        document.isolation_changed.connect(self._changed)
        document.table_changed.connect(self._forget)

    def isolate(self, rows: NDArray[np.int64] | None = None, *, anew: bool = False) -> None:
        """Show some rows only.

        Parameters
        ----------
        rows : int64 array, optional
            Ascending; else the selected ones.
        anew : bool
            Lay them out among themselves; each stays the row that it is.
        """
        document = self._document
        rows = document.selection if rows is None else rows
        table, positions = document.table, document.positions
        if table is None or positions is None or not len(rows):
            return
        if not anew:
            document.set_isolation(Isolation(rows))
            return
        healthy = rows[table.health.healthy[rows]]
        if len(healthy) < FEWEST:
            self._notices.tell(f"At least {FEWEST} healthy rows make a map of their own.")
            return
        before = self._whole_map(positions)
        job = self._jobs.part_table(table.key, healthy)

        def arrived(key: int) -> None:
            self._keys.append(key)
            if document.table is table:
                document.set_isolation(Isolation(rows, key, before))

        job.finished.connect(arrived)
        job.failed.connect(self._notices.error)

    def show_all(self) -> None:
        """Show all rows again, where they were."""
        self._document.set_isolation(None)

    def hide(self, rows: NDArray[np.int64] | None = None) -> None:
        """Hide some rows (else the selected ones), and show all others that are shown now."""
        table, isolation = self._document.table, self._document.isolation
        if table is not None:
            rows = self._document.selection if rows is None else rows
            shown = table.health.healthy if isolation is None else mask_of(isolation.rows, table.listing.rows)
            self.isolate(np.flatnonzero(shown & ~mask_of(rows, table.listing.rows)))

    def _whole_map(self, positions: NDArray[np.float32]) -> NDArray[np.float32]:
        isolation = self._document.isolation
        if isolation is not None and isolation.before is not None:
            return isolation.before
        return positions.copy()

    def _changed(self) -> None:
        """Have the map follow, whether rows were isolated just now, or that was undone or done again."""
        last, now = self._shown, self._document.isolation
        self._shown = now
        if now is not None and now.key is not None:
            self._mapping.start()
        elif last is not None and last.before is not None and self._document.table is not None:
            self._mapping.show(last.before.copy())

    def _forget(self) -> None:
        """Another table is shown: the last one's parts go with it."""
        self._shown = None
        for key in self._keys:
            self._jobs.release_table(key)
        self._keys.clear()
