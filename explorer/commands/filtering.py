"""Filtering: from a typed condition to the rows that it holds for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from explorer.core.columns import Column, Kind
from explorer.core.errors import ExplorerError
from explorer.core.filter_query import Condition, columns_in, parse_filter
from explorer.core.filter_rows import rows_fitting
from explorer.document import Document
from explorer.document.columns import ReadColumns, SessionColumns
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
    column_read(str) : what may follow that column's name can be told by now.
    """

    rejected = Signal(object)
    busy_changed = Signal(bool)
    column_read = Signal(str)

    def __init__(self, document: Document, threads: Threads, want_scores: Callable[[], None]) -> None:
        super().__init__()
        self._document = document
        self._threads = threads
        self._want_scores = want_scores
        self._job: Job | None = None
        self._reading: set[str] = set()
        self._read: set[str] = set()
        self._held = ""
        self._settled = True
        self._speaks_of: set[str] = set()
        document.table_changed.connect(self._forget)
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
    def read_columns(self) -> Mapping[str, Column | None]:
        """The same; of a large table, None for a column that ``read`` has not read yet."""
        table, columns = self._document.table, self.columns
        at_once = table is None or table.listing.rows <= AT_ONCE
        return columns if at_once else ReadColumns(columns, self._read)

    def read(self, name: str) -> None:
        """Read a column of a large table beside the window's thread; ``column_read`` tells of it."""
        if name in self._reading:
            return
        table, columns, reading = self._document.table, self.columns, self._reading
        reading.add(name)

        def work(_report: object) -> None:
            column = columns[name]
            if column.kind is Kind.LIST:
                _ = column.items
            elif column.kind is Kind.CATEGORY or column.is_coded:
                _ = column.categories

        def finished() -> None:
            reading.discard(name)
            if self._document.table is table:
                self._read.add(name)
                self.column_read.emit(name)

        job = self._threads.run(f"Read {name}", work, cancellable=False)
        job.finished.connect(lambda _nothing: finished())
        job.failed.connect(lambda _error: reading.discard(name))

    def _forget(self) -> None:
        """Another table is shown: it has columns of its own."""
        self._reading, self._read = set(), set()

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
