"""All heads of a layer side by side, small: which of them looks where."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.render.palette import Theme
from explorer.views.panels.matrix_image import matrix_image, reach_of
from explorer.views.theme import current_colours

_MOST_ACROSS, _LARGEST, _GAP = 8, 64, 4
_PIXELS = 96


class HeadStrip(QWidget):
    """A small picture of each head's attention; a click chooses one.

    Signals
    -------
    chosen(int) : a head, counted from 0.
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._weights: NDArray[np.float32] = np.zeros((0, 1, 1), np.float32)
        self._images: tuple[Theme, list[QImage]] | None = None
        self._marked = -1
        self.setAccessibleName("Heads")
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_heads(self, weights: NDArray[np.float32], marked: int) -> None:
        """Show a layer's heads, float32, shape (heads, queries, keys); ``marked`` is chosen, -1 none."""
        if weights is not self._weights:
            self._weights, self._images = weights, None
            self.setAccessibleDescription(f"{len(weights)} heads")
            self.updateGeometry()
        self._marked = marked
        self.update()

    def _side(self, width: int) -> float:
        across = min(max(len(self._weights), 1), _MOST_ACROSS)
        return min((width + _GAP) / across - _GAP, _LARGEST)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        lines = -(-len(self._weights) // _MOST_ACROSS)
        return round(lines * (self._side(width) + _GAP))

    def sizeHint(self) -> QSize:
        return QSize(260, self.heightForWidth(260))

    def tile(self, head: int) -> QRectF:
        """Where a head's picture is."""
        line, column = divmod(head, _MOST_ACROSS)
        side = self._side(self.width())
        return QRectF(column * (side + _GAP), line * (side + _GAP), side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = current_colours()
        for head, image in enumerate(self._images_for(colours)):
            place = self.tile(head)
            smooth = max(image.width(), image.height()) > place.width()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
            painter.drawImage(place, image)
            if head == self._marked:
                painter.setPen(QPen(QColor(colours.accent), 2))
                painter.drawRect(place.adjusted(1, 1, -1, -1))

    def _images_for(self, theme: Theme) -> list[QImage]:
        if self._images is None or self._images[0] is not theme:
            few = self._weights[:, :, :: max(1, self._weights.shape[2] // _PIXELS)]
            made = [matrix_image(head, reach_of(head), theme, shares=True, most_rows=_PIXELS) for head in few]
            self._images = theme, made
        return self._images[1]

    def _head_at(self, place: QPointF) -> int:
        return next((head for head in range(len(self._weights)) if self.tile(head).contains(place)), -1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        head = self._head_at(event.position())
        words = f"Head {head + 1}" if head >= 0 else ""
        QToolTip.showText(event.globalPosition().toPoint(), words, self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        head = self._head_at(event.position())
        if head >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(head)
