"""Filtering: from a typed condition to the rows that it holds for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from explorer.core.errors import ExplorerError
from explorer.core.filter_query import Condition, columns_in, parse_filter
from explorer.core.filter_rows import rows_fitting
from explorer.document import Document
from explorer.document.columns import SessionColumns
from explorer.jobs import Job
from explorer.jobs.threads import Threads

AT_ONCE = 50_000
"""So many rows are held against a condition without leaving the window's thread."""


class Filtering(QObject):
    """Commands that choose rows by a condition.

    The condition stays in force: where it speaks of the score, of clusters or of trust, it is held
    against the rows again when these change.

    Signals
    -------
    rejected(ExplorerError) : what was typed cannot be understood; a FilterError knows where.
    busy_changed(bool) : rows are being held against the condition.
    """

    rejected = Signal(object)
    busy_changed = Signal(bool)

    def __init__(self, document: Document, threads: Threads, want_scores: Callable[[], None]) -> None:
        super().__init__()
        self._document = document
        self._threads = threads
        self._want_scores = want_scores
        self._job: Job | None = None
        self._held = ""
        self._settled = True
        self._speaks_of: set[str] = set()
        document.filter_changed.connect(self._filter_changed)
        document.answer_changed.connect(lambda: self._again("score"))
        document.similarities_changed.connect(lambda: self._again("score"))
        document.trust_changed.connect(lambda: self._again("trust"))
        document.colours_changed.connect(lambda: self._again("cluster", "class"))

    @property
    def columns(self) -> SessionColumns:
        """What a condition may speak of now."""
        return SessionColumns(self._document)

    @property
    def is_busy(self) -> bool:
        """Whether rows are being held against a condition."""
        return self._job is not None

    @property
    def count(self) -> int:
        """How many rows the condition holds for; all without one."""
        document = self._document
        if document.table is None:
            return 0
        return document.table.listing.rows if document.filtered is None else int(document.filtered.sum())

    def apply(self, text: str, *, settled: bool = True) -> None:
        """Filter by a condition; blank text filters nothing out.

        Parameters
        ----------
        text : str
        settled : bool
            False for a text that is still being typed: what it grows into is undone with it.
        """
        text, self._settled = text.strip(), settled
        try:
            condition = parse_filter(text)
        except ExplorerError as error:
            self.rejected.emit(error)
            return
        self._stop()
        if condition is None:
            self._put("", set(), None)
        else:
            self._hold(text, condition)

    def clear(self) -> None:
        """Show all rows alike again."""
        self.apply("")

    def _hold(self, text: str, condition: Condition) -> None:
        document = self._document
        table = document.table
        if table is None:
            return
        speaks_of = {name.casefold() for name in columns_in(condition)}
        if "score" in speaks_of:
            self._want_scores()
        columns, rows = self.columns, table.listing.rows
        if rows <= AT_ONCE:
            try:
                fitting = rows_fitting(condition, columns, rows)
            except ExplorerError as error:
                self.rejected.emit(error)
                return
            self._put(text, speaks_of, fitting)
            return
        job = self._threads.run("Filter", lambda _report: rows_fitting(condition, columns, rows))
        self._job = job
        self.busy_changed.emit(True)

        def ended() -> bool:
            if self._job is not job:
                return False
            self._job = None
            self.busy_changed.emit(False)
            return document.table is table

        job.finished.connect(lambda fitting: ended() and self._put(text, speaks_of, fitting))
        job.failed.connect(lambda error: ended() and self.rejected.emit(error))

    def _put(self, text: str, speaks_of: set[str], fitting: NDArray[np.bool_] | None) -> None:
        self._held, self._speaks_of = text, speaks_of
        self._document.set_filter(text, fitting, draft=not self._settled)

    def _filter_changed(self) -> None:
        """Take up a condition that undo has brought back, or let go of the last table's."""
        if self._document.filter != self._held:
            self.apply(self._document.filter)

    def _again(self, *names: str) -> None:
        """Hold the rows against the condition again where it speaks of what has changed."""
        if self._document.filter and self._speaks_of.intersection(names):
            self.apply(self._document.filter)

    def _stop(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            job.cancel()
            self.busy_changed.emit(False)
