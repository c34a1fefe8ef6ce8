"""The map's colours as they are now: worked out anew only where what they mean has changed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from explorer.commands import Session
from explorer.document import Document
from explorer.document.colouring import CLUSTER, SIMILARITY, TRUST, ZERO_SHOT
from explorer.document.columns import column_data
from explorer.jobs import Job
from explorer.render.palette import Theme
from explorer.views.map.colouring import Coloured, coded, told_apart, with_choices
from explorer.views.map.kept import Kept

AT_ONCE = 100_000
"""Columns of more rows are read in a thread when they are first coloured by."""


class Colours(QObject):
    """A colour for each row of the document's table.

    Signals
    -------
    ready : a column that was being read can be coloured by now.
    """

    ready = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._coded: Kept[Coloured] = Kept()
        self._apart: Kept[Coloured] = Kept()
        self._read: set[tuple[str, str]] = set()
        self._reading: Job | None = None
        self.now: Coloured | None = None

    def table_changed(self) -> None:
        """Take up another table."""
        self._coded.forget()
        self._apart.forget()
        self._read.clear()
        self._reading = None

    def work_out(self, theme: Theme, xy: NDArray[np.float32] | None = None) -> Coloured:
        """Colour the rows as the document says now.

        Parameters
        ----------
        theme : Theme
        xy : float32 array, shape (rows, 2), optional
            Where the rows are drawn: of many categories, those side by side look different.
        """
        document = self._session.document
        colouring = document.colouring
        awaited = self._is_awaited(colouring.by, colouring.scale)
        found = self._coded.of(
            lambda: coded(document, theme, awaited=awaited),
            document.table,
            document.isolation,
            colouring.by,
            colouring.scale,
            colouring.item,
            colouring.palette,
            theme,
            awaited,
            *_followed(document),
        )
        apart = found.apart
        if apart is not None and xy is not None:
            found = self._apart.of(lambda: told_apart(found, apart, xy, theme, colouring.palette), found, xy)
        self.now = with_choices(found, colouring)
        return self.now

    def _is_awaited(self, by: str, scale: str) -> bool:
        """Whether a column is still being read as it is to be shown; begins with it where that takes long."""
        document = self._session.document
        table = document.table
        if table is None or table.listing.rows <= AT_ONCE or by not in table.metadata:
            return False
        if (by, scale) in self._read:
            return False
        if self._reading is None:
            columns = document.columns

            def read(_report: object) -> None:
                column_data(columns[by], scale, "")  # the column keeps what it works out

            job = self._session.threads.run(f"Read {by}", read, cancellable=False)
            job.finished.connect(lambda _nothing: self._has_read(job, (by, scale)))
            job.failed.connect(self._session.notices.error)
            self._reading = job
        return True

    def _has_read(self, job: Job, what: tuple[str, str]) -> None:
        if self._reading is job:
            self._reading = None
            self._read.add(what)
            self.ready.emit()


def _followed(document: Document) -> tuple[object, ...]:
    """What the colours follow besides the table: all of it is replaced, never changed, when it is new."""
    by = document.colouring.by
    if by == CLUSTER:
        return (document.clusters,)
    if by == TRUST:
        return (document.trust,)
    if by == SIMILARITY:
        return document.answer, document.similarities
    return (document.zero_shot,) if by == ZERO_SHOT else ()
