"""Texts with a halo: measured once, and on screens drawn once."""

from __future__ import annotations

import math
from collections import OrderedDict

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QImage, QPainter, QPainterPath, QPen

from explorer.export.figure import MapLabel
from explorer.render.palette import Theme

LABEL_SIZE, RESULT_SIZE = 11, 12
HALO = 2.0
"""How far the ground's colour reaches around a letter."""
LONGEST = 32
"""A label on the map is cut to so many characters."""
_KEPT = 4000
_JOINERS = "\u200c\u200d"  # invisible, but words of many scripts need them
_SEEN = {"\n": "↵", "\t": "⇥", "\r": "␍", **dict(zip(_JOINERS, _JOINERS, strict=True))}


def font(size: float, bold: bool = False) -> QFont:
    """The system's font at a size in points of the figure."""
    made = QFont(QFontInfo(QFont()).family())  # by its real name, which an SVG can pass on
    made.setPixelSize(round(size))
    made.setBold(bold)
    return made


def printable(text: str) -> str:
    """A text fit for one line: blanks and control characters seen, lone surrogates escaped."""
    if text.isprintable():
        return text
    visible = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(letter if letter.isprintable() else _SEEN.get(letter, "·") for letter in visible)


def shown_text(text: str) -> str:
    """A name as the map shows it: printable, and cut where it is long."""
    visible = printable(text[: 2 * LONGEST])
    return visible if len(visible) <= LONGEST else visible[: LONGEST - 1] + "…"


class TextCache:
    """Sizes and pictures of labels. One belongs to whoever paints again and again."""

    def __init__(self) -> None:
        self._metrics = {
            bold: QFontMetricsF(font(RESULT_SIZE if bold else LABEL_SIZE, bold)) for bold in (False, True)
        }
        self._widths: OrderedDict[tuple[str, bool], float] = OrderedDict()
        self._images: OrderedDict[tuple[str, bool, int, str, float], QImage] = OrderedDict()

    def __len__(self) -> int:
        """How many label pictures are kept; never more than 4,000."""
        return len(self._images)

    def size(self, text: str, bold: bool = False, count: int = 1) -> tuple[float, float]:
        """Width and height in points of a label's box, its halo not counted."""
        height = self._metrics[bold].height()
        return self._width(text, bold) + (self._width(count_text(count), False) if count > 1 else 0.0), height

    def _width(self, text: str, bold: bool) -> float:
        width = self._widths.get((text, bold))
        if width is None:
            width = self._metrics[bold].horizontalAdvance(text)
            _keep(self._widths, (text, bold), width)
        return width

    def image(self, label: MapLabel, theme: Theme, ratio: float) -> QImage:
        """The label with its halo, for a screen of so many pixels a point."""
        key = (label.text, label.bold, label.count, theme.name, ratio)
        image = self._images.get(key)
        if image is None:
            width, height = self.size(label.text, label.bold, label.count)
            image = QImage(
                math.ceil((width + 2 * HALO) * ratio) + 1,
                math.ceil((height + 2 * HALO) * ratio) + 1,
                QImage.Format.Format_ARGB32_Premultiplied,
            )
            image.setDevicePixelRatio(ratio)
            image.fill(Qt.GlobalColor.transparent)
            painter = QPainter(image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_label(painter, label, theme, QPointF(HALO, HALO))
            painter.end()
            _keep(self._images, key, image)
        return image


def _keep(cache: OrderedDict, key: object, value: object) -> None:
    cache[key] = value
    if len(cache) > _KEPT:
        cache.popitem(last=False)


def count_text(count: int) -> str:
    """How a point that stands for several equal rows says so."""
    return f" ×{count:,}"


def draw_label(painter: QPainter, label: MapLabel, theme: Theme, corner: QPointF) -> None:
    """Letters over a halo in the map's ground; ``corner`` is the box's left top."""
    size = RESULT_SIZE if label.bold else LABEL_SIZE
    face = font(size, label.bold)
    metrics = QFontMetricsF(face)
    start = QPointF(corner.x(), corner.y() + metrics.ascent())
    draw_text(painter, label.text, face, QColor(theme.text), start, QColor(theme.map))
    if label.count > 1:
        start.setX(start.x() + metrics.horizontalAdvance(label.text))
        draw_text(
            painter, count_text(label.count), font(LABEL_SIZE), QColor(theme.quiet), start, QColor(theme.map)
        )


def draw_text(
    painter: QPainter, text: str, face: QFont, colour: QColor, start: QPointF, halo: QColor | None = None
) -> None:
    """One line of text; ``start`` is the left end of its base line."""
    if halo is not None:
        outline = QPainterPath()
        outline.addText(start, face, text)
        pen = QPen(halo, 2 * HALO, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(outline, pen)
    painter.setFont(face)
    painter.setPen(colour)
    painter.drawText(start, text)


def text_box(face: QFont, text: str, start: QPointF) -> QRectF:
    """The box of a line of text whose base line starts there."""
    metrics = QFontMetricsF(face)
    return QRectF(start.x(), start.y() - metrics.ascent(), metrics.horizontalAdvance(text), metrics.height())
