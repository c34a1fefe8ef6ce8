"""Saving rows and layouts beside the window's thread, with progress and cancel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from explorer.commands.notices import Notices
from explorer.document import Document
from explorer.export.rows import RowsToSave, watched, write_rows
from explorer.export.tables import write_layout_csv, write_layout_npz
from explorer.jobs import Job, Jobs
from explorer.jobs.threads import Report, Threads


class Exporting(QObject):
    """Commands that write rows of the table into files."""

    def __init__(self, document: Document, jobs: Jobs, threads: Threads, notices: Notices) -> None:
        super().__init__()
        self._document = document
        self._jobs = jobs
        self._threads = threads
        self._notices = notices

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
            job.failed.connect(self._notices.error)
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
        job.failed.connect(self._notices.error)


def _writer(path: Path, data: RowsToSave) -> Callable[[Report], None]:
    return lambda report: write_rows(path, data, report)
