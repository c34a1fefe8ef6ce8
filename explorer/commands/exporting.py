"""Saving rows, layouts and pictures beside the window's thread, with progress and cancel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from explorer.commands.notices import Notices
from explorer.document import Document
from explorer.export.rows import RowsToSave, watched, write_rows
from explorer.export.tables import write_layout_csv, write_layout_npz
from explorer.jobs import Job, Jobs
from explorer.jobs.threads import Report, Threads

if TYPE_CHECKING:
    from explorer.export.figure import Figure


class Exporting(QObject):
    """Commands that write rows of the table, or pictures of the map, into files.

    Signals
    -------
    ended(bool) : nothing is being saved any longer; False where any of it has failed.
    """

    ended = Signal(bool)

    def __init__(self, document: Document, jobs: Jobs, threads: Threads, notices: Notices) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._threads = threads
        self._notices = notices
        self._saving: dict[Job, Path] = {}
        self._failed = False
        self._copying: Job | None = None

    @property
    def saving(self) -> tuple[Path, ...]:
        """The files that are being written."""
        return tuple(self._saving.values())

    def save_picture(self, figure: Figure, path: Path, scale: float) -> None:
        """Write a picture of the map.

        Parameters
        ----------
        figure : Figure
            None of whose arrays changes any more.
        path : Path
            Its ending says the form: ``.svg``, ``.pdf``, else PNG.
        scale : float
            Pixels a point, of a PNG.
        """

        def work(report: Report) -> None:
            from explorer.export.save import save_picture

            save_picture(figure, path, scale, report)

        self._report(path, self._threads.run(f"Saving {path.name}", work))

    def copy_picture(self, figure: Figure, scale: float) -> Job:
        """Paint a picture of the map: finishes with a ``QImage``. One that is under way is called off."""

        def work(report: Report) -> object:
            from explorer.export.save import to_image

            return to_image(figure, scale, report)

        if self._copying is not None:
            self._copying.cancel()
        self._copying = self._threads.run("Copying the picture", work)
        self._copying.failed.connect(self._notices.error)
        return self._copying

    def save_rows(self, path: Path, rows: NDArray[np.int64], *, vectors: bool = False) -> None:
        """Write rows with labels, metadata, places and scores, and maybe their vectors.

        Parameters
        ----------
        path : Path
            Its ending says the format: ``.csv``, ``.parquet`` or ``.npz``.
        rows : int64 array
        vectors : bool
        """
        document = self._document
        table, positions = document.table, document.positions
        if table is None:
            return
        scores = None if document.similarities is None else document.similarities[rows]

        def write(found: NDArray[np.float32] | None) -> None:
            # What moves while it is written would be of no one moment.
            places = None if positions is None else positions.copy()
            data = RowsToSave(rows, table.labels, places, table.metadata, found, scores)
            self._report(path, self._threads.run(f"Saving {path.name}", _writer(path, data)))

        if vectors:
            job = self._jobs.rows(table.key, rows)
            job.finished.connect(write)
            self._follow(path, job)
        else:
            write(None)

    def save_layout(self, path: Path) -> None:
        """Write every row's place on the map, as CSV, or NPZ where the name ends so."""
        table, positions = self._document.table, self._document.positions
        if table is None or positions is None:
            return
        places, rows = positions.copy(), len(positions)
        write = write_layout_npz if path.suffix.lower() == ".npz" else write_layout_csv

        def work(report: Report) -> None:
            write(path, np.arange(rows), places, watched(table.labels, rows, report))

        self._report(path, self._threads.run(f"Saving {path.name}", work))

    def _report(self, path: Path, job: Job) -> None:
        job.finished.connect(lambda _nothing: self._notices.tell(f"Saved {path.name} in {path.parent}."))
        self._follow(path, job)

    def _follow(self, path: Path, job: Job) -> None:
        self._saving[job] = path
        job.failed.connect(self._notices.error)
        job.finished.connect(lambda _nothing: self._end(job))
        job.cancelled.connect(lambda: self._end(job))
        job.failed.connect(lambda _error: self._end(job, failed=True))

    def _end(self, job: Job, *, failed: bool = False) -> None:
        del self._saving[job]
        self._failed |= failed
        if not self._saving:
            well, self._failed = not self._failed, False
            self.ended.emit(well)


def _writer(path: Path, data: RowsToSave) -> Callable[[Report], None]:
    return lambda report: write_rows(path, data, report)
