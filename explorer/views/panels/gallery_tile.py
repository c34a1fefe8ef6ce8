"""Paints one picture of the gallery: the picture, its ring, what is written below it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter, QPainterPath, QPen

from explorer.views.fitted import fit
from explorer.views.theme import current_colours, icon

RADIUS = 5.0
_EDGE = 0.12  # how dark or light the line about a picture is
BELOW = 18
_ICON = 18
_LEAST_FOR_WORDS = 60


@dataclass(frozen=True)
class Tile:
    """What is to be painted.

    Attributes
    ----------
    box : QRectF
        The picture's place.
    image : QImage or None
    fault : bool
        There will be no image.
    text : str
        Written below the picture.
    elide : Qt.TextElideMode
    selected, current, hovered : bool
    animated : bool
    """

    box: QRectF
    image: QImage | None
    fault: bool
    text: str
    elide: Qt.TextElideMode
    selected: bool
    current: bool
    hovered: bool
    animated: bool


def paint_tile(painter: QPainter, tile: Tile, font: QFont) -> None:
    """Paint a tile; ``font`` is the one of the words below it."""
    colours = current_colours()
    if tile.image is None:
        _paint_empty(painter, tile, font)
    else:
        paint_picture(painter, tile.box, tile.image)
        if tile.animated:
            _paint_animated(painter, tile.box)
    _paint_ring(painter, tile)
    if tile.text:
        painter.setFont(font)
        painter.setPen(QColor(colours.text if tile.selected or tile.current else colours.quiet))
        line = QRectF(tile.box.left() + 1, tile.box.bottom() + 2, tile.box.width() - 2, BELOW - 2)
        text = QFontMetrics(font).elidedText(tile.text, tile.elide, int(line.width()))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine, text)


def paint_picture(painter: QPainter, box: QRectF, image: QImage) -> None:
    """Paint an image as large as fits into a box, on a quiet ground where it leaves some, corners round."""
    colours = current_colours()
    fitted = fit(box, image.width(), image.height())
    # A pixel's worth of rounding is no reason for bars.
    if abs(fitted.width() - box.width()) + abs(fitted.height() - box.height()) < 3:
        fitted = box
    if fitted != box:
        painter.fillRect(box, QColor(colours.ground))
    painter.drawImage(fitted, image)
    corners = QPainterPath()
    corners.addRect(box)
    corners.addRoundedRect(box, RADIUS, RADIUS)
    painter.fillPath(corners, QColor(colours.panel))
    # Of a picture as white (or black) as the panel the edge would not be seen.
    edge = QColor(colours.text)
    edge.setAlphaF(_EDGE)
    painter.setPen(QPen(edge, 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)


def _paint_empty(painter: QPainter, tile: Tile, font: QFont) -> None:
    """A picture that is on its way, or that will not come."""
    colours = current_colours()
    painter.setPen(QPen(QColor(colours.line), 1))
    painter.setBrush(QColor(colours.ground))
    painter.drawRoundedRect(tile.box.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
    if not tile.fault:
        return
    words = tile.box.width() >= _LEAST_FOR_WORDS and tile.box.height() >= _LEAST_FOR_WORDS
    place = QRectF(0, 0, _ICON, _ICON)
    place.moveCenter(tile.box.center())
    if words:
        place.translate(0, -9)
        painter.setFont(font)
        painter.setPen(QColor(colours.quiet))
        below = QRectF(tile.box.left(), place.bottom() + 3, tile.box.width(), 16)
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextSingleLine, "no picture")
    icon("no-picture", colours.quiet).paint(painter, place.toRect())


def _paint_ring(painter: QPainter, tile: Tile) -> None:
    colours = current_colours()
    if tile.selected or tile.current:
        width, colour = 2.5 if tile.current else 2.0, QColor(colours.accent)
    elif tile.hovered:
        width, colour = 1.5, QColor(colours.text)
    else:
        return
    painter.setPen(QPen(colour, width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inset = width / 2 - 1
    painter.drawRoundedRect(tile.box.adjusted(inset, inset, -inset, -inset), RADIUS, RADIUS)


def _paint_animated(painter: QPainter, box: QRectF) -> None:
    """The mark of an animation, whose first frame is seen: a triangle on a dark disc."""
    disc = QRectF(box.right() - 21, box.bottom() - 21, 16, 16)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(0, 0, 0, 150))
    painter.drawEllipse(disc)
    middle = disc.center()
    triangle = QPainterPath()
    triangle.moveTo(middle.x() - 2.5, middle.y() - 4)
    triangle.lineTo(middle.x() + 4.5, middle.y())
    triangle.lineTo(middle.x() - 2.5, middle.y() + 4)
    triangle.closeSubpath()
    painter.fillPath(triangle, QColor("white"))
