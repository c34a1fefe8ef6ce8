"""The shown table's labels made ready to be searched, a slice at a time so that the window stays free."""

from __future__ import annotations

from collections.abc import Generator

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.core.label_index import LabelIndex
from explorer.core.labels import Labels


class LabelIndexing(QObject):
    """Builds the index of one table's labels.

    Signals
    -------
    ready() : it is built, or there is nothing to build.
    """

    ready = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._building: Generator[float, None, LabelIndex] | None = None
        self._index: LabelIndex | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._build_on)

    def begin(self, labels: Labels | None) -> None:
        """Forget the last table's labels, and index these."""
        self._building = None
        self._index = None
        if labels is None:
            self._timer.stop()
            self.ready.emit()
            return
        self._building = LabelIndex.in_slices(labels)
        self._timer.start()

    def _build_on(self) -> None:
        if self._building is None:
            self._timer.stop()
            return
        try:
            next(self._building)
        except StopIteration as ended:
            self._timer.stop()
            self._building = None
            self._index = ended.value
            self.ready.emit()

    def of(self, labels: Labels | None) -> LabelIndex | None:
        """The index of these labels; None while it is not ready."""
        if self._index is None or self._index.labels is not labels:
            return None
        return self._index

    @property
    def is_building(self) -> bool:
        """Whether the labels are still being indexed."""
        return self._building is not None

    def close(self) -> None:
        """Stop what is under way."""
        self._timer.stop()
