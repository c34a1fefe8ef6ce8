"""One piece of work that runs outside the window, as the window sees it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from explorer.core.errors import ExplorerError


class Job(QObject):
    """A running request. Exactly one of finished, failed and cancelled comes, once, and always
    after the call that started the job has returned.

    Signals
    -------
    progressed(float, str, float) : fraction 0 to 1, stage in words, seconds left; -1 is unknown.
    moving(object) : a layout's live positions, float32, shape (rows, dimensions): they change in place
        until the job ends. Sent once.
    finished(object) : the result.
    failed(object) : an ExplorerError.
    cancelled() : stopped at the person's wish.

    Attributes
    ----------
    title : str
        What is being done, for the status bar.
    cancellable : bool
    running : bool
    fraction, stage, seconds_left : float, str, float
        As last signalled by ``progressed``.
    """

    progressed = Signal(float, str, float)
    moving = Signal(object)
    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()

    def __init__(self, title: str, cancel: Callable[[Job], None], *, cancellable: bool = True) -> None:
        super().__init__()
        self.title = title
        self.cancellable = cancellable
        self.running = True
        self.fraction = -1.0
        self.stage = ""
        self.seconds_left = -1.0
        self._cancel = cancel

    def cancel(self) -> None:
        """Ask the work to stop; ``cancelled`` follows. Nothing happens where the job has ended."""
        if self.running:
            self._cancel(self)

    def report_progress(self, fraction: float, stage: str, seconds_left: float) -> None:
        """For Jobs alone: note and signal how far the work is."""
        self.fraction, self.stage, self.seconds_left = fraction, stage, seconds_left
        self.progressed.emit(fraction, stage, seconds_left)

    def end(self, outcome: object) -> None:
        """For Jobs alone: signal the end, by the kind of ``outcome``."""
        if not self.running:
            return
        self.running = False
        if isinstance(outcome, Stop):
            self.cancelled.emit()
        elif isinstance(outcome, ExplorerError):
            self.failed.emit(outcome)
        else:
            self.finished.emit(outcome)


class Stop:
    """The outcome of a job that was cancelled."""
