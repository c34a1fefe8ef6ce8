"""A few columns of a position table as curves along its places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.views.theme import current_colours

_HEIGHT = 96


class Curves(QWidget):
    """Lines of one scale over one another."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curves: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self.setAccessibleName("Positions as curves")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_curves(self, curves: NDArray[np.float32]) -> None:
        """Show curves, shape (curves, places)."""
        self._curves = np.nan_to_num(curves)
        self.setAccessibleDescription(f"{len(curves)} curves over {curves.shape[1]:,} places")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(260, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = current_colours()
        middle = self.height() / 2
        painter.setPen(QColor(colours.line))
        painter.drawLine(QPointF(0, middle), QPointF(self.width(), middle))
        if self._curves.shape[1:] in ((), (0,)) or not self._curves.size:
            return
        reach = float(np.abs(self._curves).max()) or 1.0
        x = np.linspace(1, self.width() - 1, self._curves.shape[1])
        for number, curve in enumerate(self._curves):
            y = middle - curve / reach * (middle - 4)
            painter.setPen(QPen(QColor(colours.categories[number % len(colours.categories)]), 1.5))
            painter.drawPolyline(QPolygonF([QPointF(*point) for point in zip(x, y, strict=True)]))
