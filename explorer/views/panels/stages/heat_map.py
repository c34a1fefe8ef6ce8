"""A matrix as colours, with names at its rows and columns and a value under the cursor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.render.palette import Theme, sequence_palette
from explorer.views.label_text import shown_label
from explorer.views.panels.lookup_pictures import diverging
from explorer.views.theme import current_colours

_NAMES, _GAP = 84, 4
_TALLEST, _CELL_MOST, _NAMED_CELL = 320, 22, 11
_TOP = 56
FAR = 0.995
"""A single far value must not wash out all others."""


class HeatMap(QWidget):
    """Shows a matrix; signed values about zero, or shares from 0 to the largest.

    Signals
    -------
    pointed(int) : the row under the cursor; -1 for none.
    chosen(int) : a row was clicked.
    """

    pointed = Signal(int)
    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self._rows: Sequence[str] = ()
        self._columns: Sequence[str] = ()
        self._shares = False
        self.reach = 0.0
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_values(
        self,
        values: NDArray[np.float32],
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        *,
        shares: bool = False,
    ) -> None:
        """Show a matrix.

        Parameters
        ----------
        values : float32 array, shape (n, m)
        rows, columns : sequence of str
            Their names; empty for none.
        shares : bool
            Values are from 0 on, as attention is; else they are signed.
        """
        self._values, self._rows, self._columns, self._shares = values, rows, columns, shares
        sizes = np.abs(values[np.isfinite(values)])
        self.reach = float(np.quantile(sizes, FAR)) if sizes.size else 0.0
        self.setAccessibleDescription(f"{len(values):,} × {values.shape[1]:,} values up to {self.reach:.3g}")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(260, round(self._height_of_row * max(len(self._values), 1)) + self._above + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    @property
    def _height_of_row(self) -> float:
        return min(_TALLEST / max(len(self._values), 1), _CELL_MOST)

    @property
    def _above(self) -> int:
        """Room for the columns' names, where they can be read."""
        wide = self._frame_width / max(self._values.shape[1], 1)
        return _TOP if self._columns and wide >= _NAMED_CELL else 0

    @property
    def _left(self) -> int:
        return _NAMES + _GAP if self._rows and self._height_of_row >= _NAMED_CELL else 1

    @property
    def _frame_width(self) -> int:
        return self.width() - self._left - 1

    @property
    def frame(self) -> QRectF:
        """Where the values are."""
        height = self._height_of_row * len(self._values)
        return QRectF(self._left, self._above + 1, self._frame_width, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._values.size:
            return
        painter = QPainter(self)
        colours, frame = current_colours(), self.frame
        shown = self._colours(colours)
        image = QImage(
            shown.data, shown.shape[1], shown.shape[0], 3 * shown.shape[1], QImage.Format.Format_RGB888
        )
        smooth = shown.shape[1] > frame.width() or shown.shape[0] > frame.height()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        painter.drawImage(frame, image)
        painter.setPen(colours.quiet)
        font = self.font()
        font.setPixelSize(11)
        painter.setFont(font)
        self._paint_names(painter, frame)

    def _colours(self, theme: Theme) -> NDArray[np.uint8]:
        if not self._shares:
            return np.ascontiguousarray(diverging(self._values, self.reach, theme))
        palette = sequence_palette("viridis", theme)[:, :3]
        share = np.nan_to_num(np.clip(self._values / (self.reach or 1.0), 0, 1))
        return np.ascontiguousarray(palette[np.rint(share * (len(palette) - 2)).astype(np.intp)])

    def _paint_names(self, painter: QPainter, frame: QRectF) -> None:
        metrics = painter.fontMetrics()
        if self._left > 1:
            for number, name in enumerate(self._rows[: len(self._values)]):
                line = QRectF(0, frame.top() + number * self._height_of_row, _NAMES, self._height_of_row)
                text = metrics.elidedText(shown_label(name), Qt.TextElideMode.ElideRight, _NAMES)
                painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        if self._above:
            wide = frame.width() / self._values.shape[1]
            for number, name in enumerate(self._columns[: self._values.shape[1]]):
                painter.save()
                painter.translate(QPointF(frame.left() + (number + 0.5) * wide + 4, frame.top() - 4))
                painter.rotate(-60)
                text = metrics.elidedText(shown_label(name), Qt.TextElideMode.ElideRight, _TOP)
                painter.drawText(QPointF(0, 0), text)
                painter.restore()

    def cell_at(self, place: QPointF) -> tuple[int, int] | None:
        """Row and column under a place; None outside the values."""
        frame = self.frame
        if not self._values.size or not frame.contains(place):
            return None
        rows, columns = self._values.shape
        row = int((place.y() - frame.top()) / frame.height() * rows)
        column = int((place.x() - frame.left()) / frame.width() * columns)
        return min(row, rows - 1), min(column, columns - 1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        self.pointed.emit(-1 if cell is None else cell[0])
        if cell is None:
            QToolTip.hideText()
            return
        QToolTip.showText(event.globalPosition().toPoint(), self.words_of(*cell), self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(cell[0])

    def words_of(self, row: int, column: int) -> str:
        """A value in words."""
        first = shown_label(self._rows[row]) if row < len(self._rows) else f"row {row:,}"
        second = shown_label(self._columns[column]) if column < len(self._columns) else f"column {column:,}"
        return f"{first} · {second}: {self._values[row, column]:.4g}"
