"""A matrix as colours, with names at its rows and columns and a value under the cursor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.commands.staging import Staging
from explorer.export.matrices import Matrix
from explorer.render.palette import Theme
from explorer.views.label_text import shown_label
from explorer.views.panels.matrix_image import matrix_image, reach_of
from explorer.views.panels.stages.matrix_menu import MatrixMenu
from explorer.views.theme import current_colours

_NAMES, _GAP = 84, 6
_TALLEST, _CELL_MOST, _NAMED_CELL = 320, 22, 11
_TOP = 56
_TILTED = -60
_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}
_SIDEWAYS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class HeatMap(QWidget):
    """Shows a matrix; signed values about zero, or shares from 0 to the largest.

    Signals
    -------
    chosen(int) : a row was clicked, or stepped to by the arrow keys.

    Parameters
    ----------
    name : str
        What it shows, for those who do not see it, and for files.
    staging : Staging
    """

    chosen = Signal(int)

    def __init__(self, name: str, staging: Staging, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = name
        self._staging = staging
        self.values: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self.rows: Sequence[str] = ()
        self.columns: Sequence[str] = ()
        self.reach = 0.0
        self._shares = False
        self._marked = -1
        self._column = 0
        self._left = 1
        self._image: tuple[Theme, QImage] | None = None
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_values(
        self,
        values: NDArray[np.float32],
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        *,
        shares: bool = False,
        marked: int = -1,
    ) -> None:
        """Show a matrix.

        Parameters
        ----------
        values : float32 array, shape (n, m)
        rows, columns : sequence of str
            Their names; empty for none.
        shares : bool
            Values are from 0 on, as attention is; else they are signed.
        marked : int
            A row with a mark at its side; -1 for none.
        """
        self.values, self.rows, self.columns, self._shares = values, rows, columns, shares
        self._marked = marked
        self._image = None
        self.reach = reach_of(values)
        self._left = self._width_of_names()
        self.setAccessibleDescription(f"{len(values):,} × {values.shape[1]:,} values up to {self.reach:.3g}")
        self.updateGeometry()
        self.update()

    def mark(self, row: int) -> None:
        """Mark a row; -1 marks none."""
        self._marked = row
        self.update()

    # Measures

    def sizeHint(self) -> QSize:
        return QSize(260, round(self._height_of_row * max(len(self.values), 1)) + self._above + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    @property
    def _height_of_row(self) -> float:
        return min(_TALLEST / max(len(self.values), 1), _CELL_MOST)

    @property
    def _above(self) -> int:
        """Room for the columns' names, where they can be read."""
        wide = (self.width() - self._left - 1) / max(self.values.shape[1], 1)
        return _TOP if self.columns and wide >= _NAMED_CELL else 0

    @property
    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(11)
        return font

    def _width_of_names(self) -> int:
        if not self.rows:
            return 1
        if self._height_of_row < _NAMED_CELL:
            return _GAP
        metrics = QFontMetrics(self._small)
        widest = max(metrics.horizontalAdvance(shown_label(name)) for name in self.rows)
        return min(widest + 2, _NAMES) + _GAP

    @property
    def frame(self) -> QRectF:
        """Where the values are."""
        height = self._height_of_row * len(self.values)
        return QRectF(self._left, self._above + 1, self.width() - self._left - 1, height)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.values.size:
            painter = QPainter(self)
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        colours, frame = current_colours(), self.frame
        image = self._image_for(colours)
        smooth = image.width() > frame.width() or image.height() > frame.height()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        painter.drawImage(frame, image)
        painter.setFont(self._small)
        self._paint_names(painter, frame)
        if 0 <= self._marked < len(self.values):
            height = max(self._height_of_row, 3.0)
            middle = frame.top() + (self._marked + 0.5) * self._height_of_row
            painter.fillRect(QRectF(frame.left() - 4, middle - height / 2, 3, height), QColor(colours.accent))
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent), 1))
            painter.drawRect(frame.adjusted(-0.5, -0.5, 0.5, 0.5))

    def _image_for(self, theme: Theme) -> QImage:
        if self._image is None or self._image[0] is not theme:
            self._image = theme, matrix_image(self.values, self.reach, theme, shares=self._shares)
        return self._image[1]

    def _paint_names(self, painter: QPainter, frame: QRectF) -> None:
        metrics, colours = painter.fontMetrics(), current_colours()
        painter.setPen(QColor(colours.quiet))
        if self._left > _GAP:
            wide = self._left - _GAP
            for number, name in enumerate(self.rows[: len(self.values)]):
                line = QRectF(0, frame.top() + number * self._height_of_row, wide, self._height_of_row)
                text = metrics.elidedText(shown_label(name), Qt.TextElideMode.ElideRight, wide)
                painter.setPen(QColor(colours.text if number == self._marked else colours.quiet))
                painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        if self._above:
            wide_column = frame.width() / self.values.shape[1]
            painter.setPen(QColor(colours.quiet))
            for number, name in enumerate(self.columns[: self.values.shape[1]]):
                place = QPointF(frame.left() + (number + 0.5) * wide_column + 4, frame.top() - 4)
                # The last names lean out of the picture: as much of them is shown as there is room for.
                room = min(float(_TOP), 2 * (self.width() - place.x()) + 6)
                text = metrics.elidedText(shown_label(name), Qt.TextElideMode.ElideRight, round(room))
                painter.save()
                painter.translate(place)
                painter.rotate(_TILTED)
                painter.drawText(QPointF(0, 0), text)
                painter.restore()

    def picture(self) -> QImage:
        """What is seen, at twice the screen's size, on the panel's ground."""
        image = QImage(2 * self.size(), QImage.Format.Format_RGB32)
        image.fill(QColor(current_colours().panel))
        painter = QPainter(image)
        painter.scale(2, 2)
        self._paint(painter)
        painter.end()
        return image

    # Pointing

    def cell_at(self, place: QPointF) -> tuple[int, int] | None:
        """Row and column under a place; None outside the values."""
        frame = self.frame
        if not self.values.size or not frame.contains(place):
            return None
        rows, columns = self.values.shape
        row = int((place.y() - frame.top()) / frame.height() * rows)
        column = int((place.x() - frame.left()) / frame.width() * columns)
        return min(row, rows - 1), min(column, columns - 1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(event.globalPosition().toPoint(), self.words_of(*cell), self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self._choose(cell[0])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, (rows, columns) = Qt.Key(event.key()), self.values.shape
        if not self.values.size or key not in (*_STEPS, *_SIDEWAYS):
            super().keyPressEvent(event)
            return
        row = min(max(self._marked + _STEPS.get(key, 0), 0), rows - 1)
        self._column = min(max(self._column + _SIDEWAYS.get(key, 0), 0), columns - 1)
        if row != self._marked:
            self._choose(row)
        self._tell_value(row, self._column)

    def _tell_value(self, row: int, column: int) -> None:
        """The value that the keys have come to, as the cursor's is told."""
        frame = self.frame
        below = QPointF(
            frame.left() + (column + 0.5) / self.values.shape[1] * frame.width(),
            frame.top() + (row + 1) * self._height_of_row,
        )
        QToolTip.showText(self.mapToGlobal(below).toPoint(), self.words_of(row, column), self)

    def _choose(self, row: int) -> None:
        self.mark(row)
        self.chosen.emit(row)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.values.size:
            matrix = Matrix(self.name, self.values, self.rows, self.columns)
            MatrixMenu(self._staging, matrix, self.picture, self).popup(event.globalPos())

    def words_of(self, row: int, column: int) -> str:
        """A value in words."""
        first = shown_label(self.rows[row]) if row < len(self.rows) else f"row {row:,}"
        second = shown_label(self.columns[column]) if column < len(self.columns) else f"column {column:,}"
        return f"{first} · {second}: {self.values[row, column]:.4g}"
