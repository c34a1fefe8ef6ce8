"""Sorts the rows of a large layout into an index as soon as it rests, beside the window's thread."""

from __future__ import annotations

import contextlib
import threading

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from explorer.render.point_index import PointIndex

FEWEST = 50_000
"""Fewer rows are drawn as quickly without."""
RESTS_AFTER_MS = 200
SAMPLED = 4096

Fingerprint = tuple[int, int]


class PointIndexing(QObject):
    """Keeps the index of the positions that were asked for last.

    Positions that a layout still moves change in place: they are told apart by a sample of them.

    Signals
    -------
    ready : an index can be had from now on.
    """

    ready = Signal()
    _sorted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._index: PointIndex | None = None
        self._of: Fingerprint | None = None
        self._xy: NDArray[np.float32] | None = None
        self._seen: Fingerprint | None = None
        self._thread: threading.Thread | None = None
        self._result: tuple[PointIndex, Fingerprint] | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(RESTS_AFTER_MS)
        self._rest.timeout.connect(self._begin_if_at_rest)
        self._sorted.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def index_of(self, xy: NDArray[np.float32]) -> PointIndex | None:
        """The index of these positions; None for few rows, and until there is one."""
        if len(xy) < FEWEST:
            self.forget()
            return None
        now = fingerprint(xy)
        if now == self._of:
            return self._index
        self._index, self._of = None, None
        self._xy = xy
        if not self._rest.isActive() and self._thread is None:
            self._seen = now
            self._rest.start()
        return None

    def forget(self) -> None:
        """Let go of the positions and their index."""
        self._rest.stop()
        self._index, self._of, self._xy, self._seen = None, None, None, None

    def close(self) -> None:
        """Wait until nothing is being sorted."""
        self.forget()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _begin_if_at_rest(self) -> None:
        if self._xy is None or self._thread is not None:
            return
        now = fingerprint(self._xy)
        if now != self._seen:
            self._seen = now
            self._rest.start()
            return
        self._thread = threading.Thread(
            target=self._sort, args=(self._xy, now), name="point index", daemon=True
        )
        self._thread.start()

    def _sort(self, xy: NDArray[np.float32], before: Fingerprint) -> None:
        self._result = PointIndex.of(xy), before
        with contextlib.suppress(RuntimeError):  # the window may be gone by now
            self._sorted.emit()

    def _take(self) -> None:
        if self._thread is None:
            return
        self._thread.join()
        self._thread = None
        if self._result is None or self._xy is None:
            return
        (index, before), self._result = self._result, None
        if fingerprint(self._xy) == before:
            self._index, self._of, self._xy = index, before, None
            self.ready.emit()
        else:
            self._seen = None
            self._rest.start()


def fingerprint(xy: NDArray[np.float32]) -> Fingerprint:
    """What tells positions from others, and from the same ones moved: some thousand of them."""
    return len(xy), hash(np.ascontiguousarray(xy[:: max(len(xy) // SAMPLED, 1)]).tobytes())
