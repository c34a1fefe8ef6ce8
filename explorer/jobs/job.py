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
        until the job ends and, where it is cancelled, for a moment longer. Sent once.
    finished(object) : the result.
    failed(object) : an ExplorerError.
    cancelled() : stopped at the person's wish.
    told(object) : news of the work on its way, e.g. an index run's IndexProgress.
    paused_changed(bool) : the person had it stand still, or go on.

    Attributes
    ----------
    title : str
        What is being done, for the status bar.
    cancellable, pausable : bool
    running, is_paused : bool
    fraction, stage, seconds_left : float, str, float
        As last signalled by ``progressed``.
    """

    progressed = Signal(float, str, float)
    moving = Signal(object)
    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    told = Signal(object)
    paused_changed = Signal(bool)

    def __init__(
        self,
        title: str,
        cancel: Callable[[Job], None],
        *,
        cancellable: bool = True,
        pause: Callable[[bool], None] | None = None,
    ) -> None:
        super().__init__()
        self.title = title
        self.cancellable = cancellable
        self.pausable = pause is not None
        self.running = True
        self.is_paused = False
        self.fraction = -1.0
        self.stage = ""
        self.seconds_left = -1.0
        self._cancel = cancel
        self._pause = pause

    def cancel(self) -> None:
        """Ask the work to stop; ``cancelled`` follows. Nothing happens where the job has ended."""
        if self.running:
            self._cancel(self)

    def pause(self) -> None:
        """Have work that is ``pausable`` stand still at its next checkpoint; what it has done stays."""
        self._set_paused(True)

    def resume(self) -> None:
        """Let the work go on."""
        self._set_paused(False)

    def _set_paused(self, paused: bool) -> None:
        if self.running and self._pause is not None and paused != self.is_paused:
            self.is_paused = paused
            self._pause(paused)
            self.paused_changed.emit(paused)

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
