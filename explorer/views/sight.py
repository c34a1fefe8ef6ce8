"""Whether a panel is in sight: behind another dock's tab it is not, though Qt calls it visible."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QDockWidget, QWidget


class Sight(QObject):
    """Watches a panel, in a dock or not.

    Signals
    -------
    came : the panel has come into sight.

    Parameters
    ----------
    panel : QWidget
    """

    came = Signal()

    def __init__(self, panel: QWidget) -> None:
        super().__init__(panel)
        self._panel = panel
        self._dock: QDockWidget | None = None
        self.is_seen = False
        panel.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            self._shown()
        return False

    def _shown(self) -> None:
        dock = self._panel.parentWidget()
        if not isinstance(dock, QDockWidget):
            self._set_seen(True)
        elif self._dock is not dock:
            # Behind another tab a dock counts as shown; only its own signal tells.
            self._dock = dock
            dock.visibilityChanged.connect(self._set_seen)
            self._set_seen(not self._panel.visibleRegion().isEmpty())

    def _set_seen(self, seen: bool) -> None:
        came = seen and not self.is_seen
        self.is_seen = seen
        if came:
            self.came.emit()
