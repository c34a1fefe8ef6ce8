"""Ways over the map: thin lines with a dot at each stage and a name at the end."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from explorer.export.figure import Figure
from explorer.export.marks import MapPath
from explorer.export.text import RESULT_SIZE, draw_text, font, printable, shown_text

WIDTH = 1.6
DOT, LAST_DOT = 2.2, 4.0
GAP = 6.0
"""Between a way's end and its name, in points."""


def draw_paths(painter: QPainter, figure: Figure) -> None:
    """All ways of a figure, the first on top, and their names above them all."""
    for draw in (_draw_line, _draw_name):
        for place in reversed(range(len(figure.paths))):
            draw(painter, figure, figure.paths[place], colour_of_path(figure, place))


def colour_of_path(figure: Figure, place: int) -> QColor:
    """A way's colour: its own, else one of the theme's categories in turn."""
    own = figure.paths[place].colour
    categories = figure.theme.categories
    return QColor(categories[place % len(categories)]) if own is None else QColor(*own)


def _draw_line(painter: QPainter, figure: Figure, path: MapPath, colour: QColor) -> None:
    stages = _stages(figure, path)
    if not stages:
        return
    ground = QColor(figure.theme.map)
    for pen in (
        QPen(ground, WIDTH + 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin),
        QPen(colour, WIDTH, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin),
    ):
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(stages))
    painter.setPen(QPen(ground, 1))
    painter.setBrush(colour)
    for stage in stages[:-1]:
        painter.drawEllipse(stage, DOT, DOT)
    painter.drawEllipse(stages[-1], LAST_DOT, LAST_DOT)


def _draw_name(painter: QPainter, figure: Figure, path: MapPath, colour: QColor) -> None:
    box = path_label_box(figure, path)
    if box is not None:
        face = font(RESULT_SIZE, bold=True)
        base = QPointF(box.left(), box.top() + QFontMetricsF(face).ascent())
        draw_text(painter, _name(path), face, colour, base, QColor(figure.theme.map))


def path_label_box(figure: Figure, path: MapPath) -> QRectF | None:
    """Where a way's name lies, in points: right of its end; None for a way without a place."""
    stages = _stages(figure, path)
    if not stages or not path.label:
        return None
    metrics = QFontMetricsF(font(RESULT_SIZE, bold=True))
    width, height = metrics.horizontalAdvance(_name(path)), metrics.height()
    left = stages[-1].x() + LAST_DOT + GAP
    if left + width > figure.viewport.width:
        left = stages[-1].x() - LAST_DOT - GAP - width
    return QRectF(left, stages[-1].y() - height / 2, width, height)


def _name(path: MapPath) -> str:
    return printable(shown_text(path.label))


def _stages(figure: Figure, path: MapPath) -> list[QPointF]:
    """The stages that have a place, in points."""
    places = (figure.to_points(float(x), float(y)) for x, y in path.points if math.isfinite(x + y))
    return [QPointF(*place) for place in places if place is not None]
