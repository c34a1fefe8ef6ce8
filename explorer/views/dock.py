"""Docks with a thin grip in place of a title bar, so that the panels speak for themselves."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QDockWidget, QWidget

from explorer.views.theme import current_colours

HEIGHT = 10


class Dock(QDockWidget):
    """A panel that can be moved by its grip, floated by a double click on it, tabbed and hidden.

    Parameters
    ----------
    title : str
    panel : callable
        Makes the panel; called once the dock comes into sight, so that a start does not wait for what lies
        behind other tabs.
    parent : QWidget, optional
    """

    def __init__(self, title: str, panel: Callable[[], QWidget], parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setObjectName(title)
        self._make = panel
        self.setTitleBarWidget(Grip(title, self))
        # Later, as a dock that is coming into sight has no place yet for a panel to know that it is seen.
        self.visibilityChanged.connect(lambda seen: seen and QTimer.singleShot(0, self, lambda: self.panel))

    @property
    def panel(self) -> QWidget:
        """The panel, made now where it was not yet."""
        if self.widget() is None:
            self.setWidget(self._make())
        return self.widget()


class Grip(QWidget):
    """Three dots to take hold of. Mouse events fall through to the dock, which knows what they mean."""

    def __init__(self, title: str, dock: QDockWidget) -> None:
        super().__init__(dock)
        self.setToolTip(f"{title}: drag to move, double click to float")
        self.setCursor(Qt.CursorShape.SizeAllCursor)

    def sizeHint(self) -> QSize:
        return QSize(40, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(current_colours().line))
        middle = QPointF(self.width() / 2, self.height() / 2 + 1)
        for step in (-7, 0, 7):
            painter.drawEllipse(middle + QPointF(step, 0), 1.5, 1.5)
        painter.end()
