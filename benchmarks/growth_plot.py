"""Times by number of rows, both on logarithmic scales, as a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen, QPolygonF

from explorer.export.text import font
from explorer.render.palette import LIGHT

WIDTH, HEIGHT, SCALE = 720, 390, 2
PLOT = QRectF(64, 52, 540, 290)
LOW, HIGH = 1.0, 10_000.0
"""Milliseconds at the bottom and at the top."""
SHOWN = {
    "frame while moving": "while moving",
    "full-quality frame": "a full frame",
    "recolour by another column": "new colours",
}
BUDGET = 16.0


def draw_growth(found: Mapping[int, Mapping[str, tuple[float, float | None]]], path: str) -> None:
    """Save how the times that ``benchmarks.raster`` measures grow: ours in full lines, theirs in dashes."""
    image = QImage(WIDTH * SCALE, HEIGHT * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(QColor(LIGHT.map))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    sizes = sorted(found)
    _draw_axes(painter, sizes)
    ends = []
    for number, (name, short) in enumerate(SHOWN.items()):
        colour = QColor(LIGHT.categories[number])
        for party, words in ((0, short), (1, f"ScatterPlotItem, {short}")):
            points = [
                QPointF(_x(rows, sizes), _y(time))
                for rows in sizes
                if (time := found[rows][name][party]) is not None
            ]
            style = Qt.PenStyle.DashLine if party else Qt.PenStyle.SolidLine
            painter.setPen(QPen(colour, 2, style))
            painter.drawPolyline(QPolygonF(points))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            for point in points:
                painter.drawEllipse(point, 3, 3)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            ends.append((points[-1], words, colour))
    _draw_names(painter, ends)
    painter.end()
    if not image.save(path):
        raise OSError(f"{path} could not be written")


def _draw_axes(painter: QPainter, sizes: list[int]) -> None:
    _write(
        painter, QPointF(PLOT.left() - 48, 28), "Milliseconds by number of rows", LIGHT.text, 15, bold=True
    )
    for exponent in range(round(math.log10(HIGH)) + 1):
        time = 10.0**exponent
        painter.setPen(QPen(QColor(LIGHT.line), 1))
        painter.drawLine(QLineF(PLOT.left(), _y(time), PLOT.right(), _y(time)))
        _write(painter, QPointF(PLOT.left() - 8, _y(time) + 4), f"{time:,.0f}", LIGHT.quiet, right=True)
    painter.setPen(QPen(QColor(LIGHT.quiet), 1, Qt.PenStyle.DotLine))
    painter.drawLine(QLineF(PLOT.left(), _y(BUDGET), PLOT.right(), _y(BUDGET)))
    _write(painter, QPointF(PLOT.left() + 44, _y(BUDGET) - 5), "16 ms: 60 frames a second", LIGHT.quiet)
    for rows in sizes:
        left = _x(rows, sizes) - QFontMetricsF(font(12)).horizontalAdvance(f"{rows:,}") / 2
        _write(painter, QPointF(left, PLOT.bottom() + 20), f"{rows:,}", LIGHT.quiet)


def _draw_names(painter: QPainter, ends: list[tuple[QPointF, str, QColor]]) -> None:
    """Each beside the end of its line, or above it, so that none covers another or a line."""
    floors: dict[int, float] = {}
    for end, words, colour in sorted(ends, key=lambda each: -each[0].y()):
        inside = end.x() < PLOT.right() - 1
        base = min(end.y() + (-8 if inside else 4), floors.get(round(end.x()), math.inf))
        floors[round(end.x())] = base - 15
        place = QPointF(end.x() + (4 if inside else 10), base)
        _write(painter, place, words, colour.name(), right=inside)


def _write(
    painter: QPainter,
    at: QPointF,
    words: str,
    colour: str,
    size: float = 12,
    *,
    bold: bool = False,
    right: bool = False,
) -> None:
    face = font(size, bold)
    painter.setFont(face)
    painter.setPen(QColor(colour))
    left = at.x() - (QFontMetricsF(face).horizontalAdvance(words) if right else 0)
    painter.drawText(QPointF(left, at.y()), words)


def _x(rows: int, sizes: list[int]) -> float:
    low, high = math.log10(sizes[0]), math.log10(sizes[-1])
    return PLOT.left() + (math.log10(rows) - low) / max(high - low, 1e-9) * PLOT.width()


def _y(time: float) -> float:
    share = math.log10(max(time, LOW) / LOW) / math.log10(HIGH / LOW)
    return PLOT.bottom() - share * PLOT.height()
