"""Work in threads of the window's own process, for what needs no worker: files to write, text to search."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress

from PySide6.QtCore import QObject, Qt, Signal

from explorer.core.errors import Cancelled, ExplorerError
from explorer.jobs.job import Job, Stop
from explorer.jobs.jobs import Jobs

Report = Callable[[float, str], None]
"""Called by the work with how far it is, 0 to 1, and its stage; raises Cancelled where it is to stop."""
_REPORT_SECONDS = 0.05


class Threads(QObject):
    """Starts work in threads; it is shown, and can be cancelled, as the workers' jobs are.

    Parameters
    ----------
    jobs : Jobs
        Whose ``job_started`` and ``job_ended`` tell of this work, too.
    """

    _told = Signal(object, float, str, float)
    _ended = Signal(object, object)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._running: dict[Job, threading.Thread] = {}
        self._stopped: set[Job] = set()
        self._told.connect(self._progressed, Qt.ConnectionType.QueuedConnection)
        self._ended.connect(self._end, Qt.ConnectionType.QueuedConnection)

    def run(self, title: str, work: Callable[[Report], object], *, cancellable: bool = True) -> Job:
        """Do some work in a thread: finishes with what it returns.

        Parameters
        ----------
        title : str
        work : function(report)
            Touches no widget, and nothing that the window changes meanwhile.
        cancellable : bool
            False for work that does not call ``report`` often.
        """
        job = Job(title, self._stopped.add, cancellable=cancellable)
        thread = threading.Thread(target=self._work, args=(job, work), name=f"job {title}", daemon=True)
        self._running[job] = thread
        self._jobs.job_started.emit(job)
        thread.start()
        return job

    def close(self) -> None:
        """Cancel everything and wait for it to have stopped."""
        for job, thread in list(self._running.items()):
            job.cancel()
            thread.join()
            self._end(job, Stop())

    def _work(self, job: Job, work: Callable[[Report], object]) -> None:
        began = last = time.monotonic()

        def report(fraction: float, stage: str = "") -> None:
            nonlocal last
            if job in self._stopped:
                raise Cancelled
            now = time.monotonic()
            if now - last >= _REPORT_SECONDS:
                last = now
                left = (now - began) * (1 - fraction) / fraction if fraction > 0.02 else -1.0
                self._tell(self._told, job, fraction, stage, left)

        outcome: object
        try:
            outcome = work(report)
        except Cancelled:
            outcome = Stop()
        except ExplorerError as error:
            outcome = error
        except BaseException as error:
            detail = "".join(traceback.format_exception(error))
            outcome = ExplorerError(f"An unexpected error stopped this work: {error}", "", detail)
        self._tell(self._ended, job, outcome)

    def _tell(self, signal: Signal, *values: object) -> None:
        # The object is gone before the thread where the program ends in the middle.
        with suppress(RuntimeError):
            signal.emit(*values)

    def _progressed(self, job: Job, fraction: float, stage: str, left: float) -> None:
        if job.running:
            job.report_progress(fraction, stage, left)

    def _end(self, job: Job, outcome: object) -> None:
        if self._running.pop(job, None) is None:
            return
        # What was cancelled has ended so, though it may have come to its end meanwhile.
        job.end(Stop() if job in self._stopped else outcome)
        self._stopped.discard(job)
        self._jobs.job_ended.emit(job)
