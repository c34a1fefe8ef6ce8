"""The two matrices of a look-up as small pictures: one-hot rows, and the rows that they pick."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.render.palette import Theme, rgb
from explorer.views.theme import current_colours

_TALLEST, _ROW_MOST, _ROW_LEAST = 160, 14, 2


class MatrixPicture(QWidget):
    """Rows of equal height in a frame; each row has a tip."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.tips: list[str] = []
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_tips(self, tips: list[str]) -> None:
        """Give the rows, a tip each."""
        self.tips = tips
        self.setAccessibleDescription("; ".join(tips))
        self.updateGeometry()
        self.update()

    @property
    def row_height(self) -> float:
        """In pixels."""
        return min(max(_TALLEST / max(len(self.tips), 1), _ROW_LEAST), _ROW_MOST)

    def sizeHint(self) -> QSize:
        return QSize(240, round(self.row_height * max(len(self.tips), 1)) + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def line(self, place: int) -> QRectF:
        """Where a row lies, with a pixel between rows where there is room for one."""
        gap = 1.0 if self.row_height >= 5 else 0.0
        return QRectF(1, 1 + place * self.row_height, self.width() - 2, self.row_height - gap)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.tips:
            place = int((event.pos().y() - 1) / self.row_height)
            QToolTip.showText(event.globalPos(), self.tips[min(max(place, 0), len(self.tips) - 1)], self)
            return True
        return super().event(event)


class OneHotPicture(MatrixPicture):
    """Each row all zeros but for one place."""

    def __init__(self) -> None:
        super().__init__("One-hot rows")
        self._columns: list[int] = []
        self._width = 1

    def show_columns(self, columns: list[int], width: int, tips: list[str]) -> None:
        """Show one-hot rows.

        Parameters
        ----------
        columns : list of int
            Where each row's 1 stands.
        width : int
            The matrix's number of columns.
        tips : list of str
            What each row is.
        """
        self._columns, self._width = columns, width
        self.set_tips(tips)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = current_colours()
        radius = min(max(self.row_height / 2 - 1.5, 1.0), 3.5)
        painter.setPen(Qt.PenStyle.NoPen)
        for place, column in enumerate(self._columns):
            line = self.line(place)
            painter.setBrush(QColor(colours.ground))
            painter.drawRect(line)
            share = (column + 0.5) / self._width
            x = line.left() + radius + share * (line.width() - 2 * radius)
            painter.setBrush(QColor(colours.accent))
            painter.drawEllipse(QPointF(x, line.center().y()), radius, radius)


class ValuesPicture(MatrixPicture):
    """Values as colours, from one hue through the ground to another."""

    def __init__(self) -> None:
        super().__init__("Looked-up rows")
        self._values = np.zeros((0, 1), np.float32)
        self.reach = 0.0

    def show_values(self, values: NDArray[np.float32], tips: list[str]) -> None:
        """Show rows of values, float32, shape (rows, dim); colours run from -reach to +reach."""
        self._values = values
        sizes = np.abs(values[np.isfinite(values)])
        # A single far value must not wash out all others.
        self.reach = float(np.quantile(sizes, 0.995)) if sizes.size else 0.0
        self.set_tips(tips)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._values.size:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self._values.shape[1] > self.width())
        coloured = diverging(self._values, self.reach, current_colours())
        for place in range(len(self._values)):
            strip = np.ascontiguousarray(coloured[place : place + 1])
            image = QImage(strip.data, strip.shape[1], 1, 3 * strip.shape[1], QImage.Format.Format_RGB888)
            painter.drawImage(self.line(place), image)


class Scale(QWidget):
    """What the colours of a ValuesPicture stand for."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(64, 8)
        self.setAccessibleName("Colour scale")

    def paintEvent(self, event: QPaintEvent) -> None:
        ramp = diverging(np.linspace(-1, 1, 64, dtype=np.float32)[None], 1.0, current_colours())
        image = QImage(ramp.data, 64, 1, 3 * 64, QImage.Format.Format_RGB888)
        QPainter(self).drawImage(QRectF(self.rect()), image)


def diverging(values: NDArray[np.float32], reach: float, theme: Theme) -> NDArray[np.uint8]:
    """Colours of values, uint8, shape (*values.shape, 3): orange below zero, blue above.

    Values without a number have the theme's quiet colour.
    """
    low, middle, high = (
        np.asarray(rgb(colour), np.float32) for colour in (theme.categories[1], theme.ground, theme.accent)
    )
    share = np.clip(values / (reach or 1.0), -1, 1)[..., None]
    mixed = middle + np.abs(share) * (np.where(share < 0, low, high) - middle)
    mixed = np.where(np.isfinite(share), mixed, np.asarray(rgb(theme.quiet), np.float32))
    return np.rint(mixed).astype(np.uint8)
