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
_LINES = 3  # that a name gives way by, up or down, to those of ways that end at the same place


def draw_paths(painter: QPainter, figure: Figure) -> None:
    """All ways of a figure, the first on top, and their names above them all."""
    backwards = list(reversed(range(len(figure.paths))))
    for place in backwards:
        _draw_line(painter, figure, figure.paths[place], colour_of_path(figure, place))
    boxes = path_label_boxes(figure)
    for place in backwards:
        box = boxes[place]
        if box is not None:
            _draw_name(painter, figure, figure.paths[place], colour_of_path(figure, place), box)


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


def _draw_name(painter: QPainter, figure: Figure, path: MapPath, colour: QColor, box: QRectF) -> None:
    face = font(RESULT_SIZE, bold=True)
    base = QPointF(box.left(), box.top() + QFontMetricsF(face).ascent())
    draw_text(painter, _name(path), face, colour, base, QColor(figure.theme.map))


def path_label_boxes(figure: Figure) -> list[QRectF | None]:
    """Where the ways' names lie, in points: beside their ends, none over another; None without room."""
    metrics = QFontMetricsF(font(RESULT_SIZE, bold=True))
    screen = QRectF(0, 0, figure.viewport.width, figure.viewport.height)
    boxes: list[QRectF | None] = []
    for path in figure.paths:
        stages = _stages(figure, path)
        if not stages or not path.label:
            boxes.append(None)
            continue
        places = _beside(stages[-1], metrics.horizontalAdvance(_name(path)), metrics.height())
        seen = [place for place in places if screen.contains(place)] or places
        taken = [box for box in boxes if box is not None]
        boxes.append(next((each for each in seen if not any(map(each.intersects, taken))), None))
    return boxes


def _beside(end: QPointF, width: float, height: float) -> list[QRectF]:
    """Where a name may lie, the best first: right of a way's end or left of it, then lower and higher."""
    right, left = end.x() + LAST_DOT + GAP, end.x() - LAST_DOT - GAP - width
    lines = [line for step in range(_LINES) for line in (step, -step)]
    return [
        QRectF(x, end.y() - height / 2 + line * height, width, height)
        for line in lines
        for x in (right, left)
    ]


def _name(path: MapPath) -> str:
    return printable(shown_text(path.label))


def _stages(figure: Figure, path: MapPath) -> list[QPointF]:
    """The stages that have a place, in points."""
    places = (figure.to_points(float(x), float(y)) for x, y in path.points if math.isfinite(x + y))
    return [QPointF(*place) for place in places if place is not None]
