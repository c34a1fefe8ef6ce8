"""A distribution of similarities, with the results and the one-hot line marked on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.views.panels.neighbour_delegate import small_figures
from explorer.views.panels.neighbour_model import signed
from explorer.views.theme import current_colours

_DOTS, _FIGURES, _TOP, _SIDE = 12, 14, 4, 5
_PLACES = 1000


class SimilarityHistogram(QWidget):
    """Bars for a histogram; below them dots for marked values; a dashed line where one-hot vectors stand."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Distribution of similarities")
        self.clear()

    def clear(self) -> None:
        """Show nothing."""
        self.show_values(np.zeros(0, np.int64), np.zeros(1))

    def show_values(
        self,
        counts: NDArray[np.int64],
        edges: NDArray[np.float64],
        *,
        marks: NDArray[np.float32] | None = None,
        line: float | None = None,
        unit: str = "rows",
    ) -> None:
        """Show a histogram.

        Parameters
        ----------
        counts : int64 array, shape (bins,)
        edges : float64 array, shape (bins + 1,)
        marks : float32 array, optional
            Values to mark with dots.
        line : float, optional
            Where the one-hot line stands.
        unit : str
            What is counted, in the plural.
        """
        self._counts, self._edges = counts, edges
        self._marks = np.zeros(0, np.float32) if marks is None else marks
        self._line, self._unit = line, unit
        self._lit: float | None = None
        filled = np.flatnonzero(counts)
        bounds = edges[[filled[0], filled[-1] + 1]] if len(filled) else edges[:0]
        shown = [value for value in (line, *_ends(self._marks), *_ends(bounds)) if value is not None]
        self._low, self._high = (min(shown), max(shown)) if shown else (0.0, 1.0)
        if self._high <= self._low:
            self._low, self._high = self._low - 0.5, self._high + 0.5
        # A million results fall onto a few hundred pixels: equal places are one dot.
        share = (self._marks[np.isfinite(self._marks)] - self._low) / (self._high - self._low)
        self._dots = np.flatnonzero(np.bincount(np.rint(share * _PLACES).astype(np.int64))) / _PLACES
        self.updateGeometry()
        self.update()

    def light(self, value: float | None) -> None:
        """Make one mark stand out; None none."""
        if value != self._lit:
            self._lit = value
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(280, 64 + _TOP + (_DOTS if len(self._marks) else 4) + _FIGURES)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def x_of(self, value: float) -> float:
        """Where a value stands, in pixels."""
        return _SIDE + (value - self._low) / (self._high - self._low) * (self.width() - 2 * _SIDE)

    def value_at(self, x: float) -> float:
        """The value that stands at a pixel."""
        return self._low + (x - _SIDE) / max(self.width() - 2 * _SIDE, 1) * (self._high - self._low)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not len(self._counts):
            return
        colours = current_colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        floor = self.height() - _FIGURES - (_DOTS if len(self._marks) else 4)
        self._paint_bars(painter, floor)
        if self._line is not None:
            painter.setPen(QPen(QColor(colours.quiet), 1, Qt.PenStyle.DashLine))
            x = round(self.x_of(self._line)) + 0.5
            painter.drawLine(QPointF(x, _TOP - 2), QPointF(x, floor + 1))
        self._paint_marks(painter, floor + 6)
        self._paint_figures(painter)

    def _paint_bars(self, painter: QPainter, floor: int) -> None:
        colours = current_colours()
        fill = QColor(colours.accent)
        fill.setAlphaF(0.38 if colours.dark else 0.26)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        tallest = max(int(self._counts.max()), 1)
        lefts = [self.x_of(float(edge)) for edge in self._edges]
        for count, left, right in zip(self._counts, lefts, lefts[1:], strict=False):
            if count:
                gap = 1.0 if right - left >= 3 else 0.0
                height = max(int(count) / tallest * (floor - _TOP), 1.0)
                painter.drawRect(QRectF(left, floor - height, max(right - left - gap, 0.5), height))
        painter.fillRect(QRectF(0, floor, self.width(), 1), QColor(colours.line))

    def _paint_marks(self, painter: QPainter, y: int) -> None:
        if not len(self._marks):
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(current_colours().accent))
        for x in self._dots * (self.width() - 2 * _SIDE) + _SIDE:
            painter.drawEllipse(QPointF(float(x), y), 2.5, 2.5)
        if self._lit is not None:
            painter.setBrush(QColor(current_colours().text))
            painter.drawEllipse(QPointF(self.x_of(self._lit), y), 4, 4)

    def _paint_figures(self, painter: QPainter) -> None:
        font = small_figures(self.font())
        painter.setFont(font)
        painter.setPen(QColor(current_colours().quiet))
        metrics = painter.fontMetrics()
        decimals = 2 if self._high - self._low < 10 else 1 if self._high - self._low < 100 else 0
        taken: list[tuple[float, float]] = []
        for value in (self._line, self._low, self._high):
            if value is None:
                continue
            text = "0" if value == 0 else signed(value, decimals)
            width = metrics.horizontalAdvance(text)
            left = min(max(self.x_of(value) - width / 2, 0), self.width() - width)
            if all(left > end + 6 or left + width < start - 6 for start, end in taken):
                painter.drawText(QPointF(left, self.height() - metrics.descent()), text)
                taken.append((left, left + width))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and len(self._counts):
            value = self.value_at(event.pos().x())
            place = int(np.searchsorted(self._edges, value, side="right")) - 1
            if 0 <= place < len(self._counts):
                low, high = signed(self._edges[place], 3), signed(self._edges[place + 1], 3)
                text = f"{low} to {high}: {int(self._counts[place]):,} {self._unit}"
                QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _ends(values: NDArray) -> tuple[float, ...]:
    finite = values[np.isfinite(values)] if len(values) else values
    return (float(finite.min()), float(finite.max())) if len(finite) else ()
