"""A matrix as a small picture: its values as colours, or one-hot rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.export.array_image import array_image
from explorer.render.palette import Theme
from explorer.views.label_text import shown_label
from explorer.views.panels.matrix_image import diverging, matrix_image, reach_of
from explorer.views.theme import current_colours

_TALLEST, _ROW_MOST = 112, 14
_PARTED = 5  # height of a row from which there is a gap to the next
_MOST_TOLD = 256


class RowsPicture(QWidget):
    """Rows of equal height, as high as there is room; each has a tip with its name.

    Parameters
    ----------
    name : str
    tallest : int
        How high it may be, in pixels.
    row_least : float
        How low a row may be, even if it makes the picture higher than that.
    """

    def __init__(self, name: str, tallest: int = _TALLEST, row_least: float = 0.0) -> None:
        super().__init__()
        self._count = 0
        self._names: Sequence[str] = ()
        self._tallest, self._row_least = tallest, row_least
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _set_rows(self, count: int, names: Sequence[str]) -> None:
        self._names = names
        told = [self._name(row) for row in range(count)] if count <= _MOST_TOLD else []
        self.setAccessibleDescription("; ".join(told))
        if count != self._count:
            self._count = count
            self.updateGeometry()
        self.update()

    def _name(self, row: int) -> str:
        return shown_label(self._names[row]) if row < len(self._names) else f"row {row:,}"

    @property
    def _row_height(self) -> float:
        return min(max(self._tallest / max(self._count, 1), self._row_least), _ROW_MOST)

    def line(self, row: int) -> QRectF:
        """Where a row lies, with a pixel between rows where there is room for one."""
        height = self._row_height
        return QRectF(1, 1 + row * height, self.width() - 2, height - (height >= _PARTED))

    def sizeHint(self) -> QSize:
        return QSize(240, round(self._row_height * max(self._count, 1)) + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def row_at(self, y: float) -> int:
        """The row at a height."""
        inside = max(self.height() - 2, 1)
        return min(max(int((y - 1) / inside * self._count), 0), self._count - 1)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._count:
            QToolTip.showText(event.globalPos(), self._name(self.row_at(event.pos().y())), self)
            return True
        return super().event(event)


class ValuesPicture(RowsPicture):
    """Values as colours, orange below zero, blue above."""

    def __init__(self, tallest: int = _TALLEST, row_least: float = 0.0) -> None:
        super().__init__("Values", tallest, row_least)
        self._values: NDArray[np.float32] = np.zeros((0, 1), np.float32)
        self._image: tuple[Theme, QImage] | None = None
        self.reach = 0.0

    def show_values(self, values: NDArray[np.float32], names: Sequence[str]) -> None:
        """Show rows of values, float32, shape (rows, dim), with the rows' names."""
        # The image is made where the picture comes into sight: most of a deep model's never do.
        self._values, self._image = values, None
        self.reach = reach_of(values)
        self._set_rows(len(values), names)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._values.size:
            return
        theme = current_colours()
        if self._image is None or self._image[0] is not theme:
            made = matrix_image(self._values, self.reach, theme, most_rows=2 * self._tallest)
            self._image = theme, made
        image = self._image[1]
        painter = QPainter(self)
        frame = QRectF(1, 1, self.width() - 2, self.height() - 2)
        smooth = image.width() > frame.width() or image.height() > frame.height()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        if self._row_height < _PARTED:
            painter.drawImage(frame, image)
            return
        for row in range(image.height()):
            painter.drawImage(self.line(row), image, QRectF(0, row, image.width(), 1))


class OneHotPicture(RowsPicture):
    """Each row all zeros but for one place."""

    def __init__(self, tallest: int = _TALLEST, row_least: float = 0.0) -> None:
        super().__init__("One-hot rows", tallest, row_least)
        self._columns: list[int] = []
        self._width = 1

    def show_columns(self, columns: list[int], width: int, names: Sequence[str]) -> None:
        """Show one-hot rows.

        Parameters
        ----------
        columns : list of int
            Where each row's 1 stands.
        width : int
            The matrix's number of columns.
        names : sequence of str
            The rows'.
        """
        self._columns, self._width = columns, width
        self._set_rows(len(columns), names)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours, frame = current_colours(), QRectF(1, 1, self.width() - 2, self.height() - 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.ground))
        height = self._row_height
        if height < _PARTED:
            painter.drawRect(frame)
        radius = min(max(height / 2 - 1.5, 1.0), 3.5)
        for row, column in enumerate(self._columns):
            line = self.line(row)
            if height >= _PARTED:
                painter.setBrush(QColor(colours.ground))
                painter.drawRect(line)
            share = (column + 0.5) / self._width
            x = line.left() + radius + share * (line.width() - 2 * radius)
            painter.setBrush(QColor(colours.accent))
            painter.drawEllipse(QPointF(x, line.center().y()), radius, radius)


class Scale(QWidget):
    """What the colours of a ValuesPicture stand for."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(64, 8)
        self.setAccessibleName("Colour scale")

    def paintEvent(self, event: QPaintEvent) -> None:
        ramp = diverging(np.linspace(-1, 1, 64, dtype=np.float32)[None], 1.0, current_colours())
        QPainter(self).drawImage(QRectF(self.rect()), array_image(ramp))
