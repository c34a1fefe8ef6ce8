"""The lasso or box that is being drawn on the map."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from explorer.views.theme import current_colours

STEP = 3.0
"""A lasso takes a corner for so many points that the cursor has moved."""
FILL = 28


class Outline(pg.GraphicsObject):
    """Drawn from where the button went down, in the canvas's points."""

    def __init__(self) -> None:
        super().__init__()
        self.setZValue(10)
        self._corners: list[QPointF] = []
        self._is_box = False
        self.hide()

    def begin(self, place: QPointF, *, box: bool) -> None:
        """Start at a place."""
        self.prepareGeometryChange()
        self._corners, self._is_box = [place], box
        self.show()

    def go_to(self, place: QPointF) -> None:
        """Draw on to a place: a box's opposite corner, a lasso's next one."""
        self.prepareGeometryChange()
        if self._is_box:
            self._corners[1:] = [place]
        elif (place - self._corners[-1]).manhattanLength() >= STEP:
            self._corners.append(place)
        self.update()

    def end(self) -> NDArray[np.float64]:
        """Take it off the map; its corners, shape (n, 2): fewer than three enclose nothing."""
        ring = self._ring() if len(self._corners) > 1 else []
        self.prepareGeometryChange()
        self._corners = []
        self.hide()
        return np.array([(corner.x(), corner.y()) for corner in ring], np.float64).reshape(-1, 2)

    def _ring(self) -> list[QPointF]:
        if not self._is_box or not self._corners:
            return self._corners
        box = QRectF(self._corners[0], self._corners[-1]).normalized()
        return [box.topLeft(), box.topRight(), box.bottomRight(), box.bottomLeft()]

    def _path(self) -> QPainterPath:
        path = QPainterPath()
        for corner in self._ring()[:1]:
            path.moveTo(corner)
        for corner in self._ring()[1:]:
            path.lineTo(corner)
        return path

    def boundingRect(self) -> QRectF:
        return self._path().boundingRect().adjusted(-2, -2, 2, 2)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        accent = QColor(current_colours().accent)
        inside = QColor(accent)
        inside.setAlpha(FILL)
        path = self._path()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(path, inside)
        painter.setPen(QPen(accent, 1.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawPath(path)
        if self._ring():
            # How a lasso would close, let go now.
            painter.setPen(QPen(accent, 1.0, Qt.PenStyle.DashLine))
            painter.drawLine(self._ring()[-1], self._ring()[0])
