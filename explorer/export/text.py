"""Texts with a halo: measured once, and on screens drawn once."""

from __future__ import annotations

import math
from unicodedata import category

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QImage, QPainter, QPainterPath, QPen

from explorer.export.marks import MapLabel, RegionLabel
from explorer.render.palette import Theme

LABEL_SIZE, RESULT_SIZE = 11, 12
HALO = 2.0
"""How far the ground's colour reaches around a letter."""
PLATE_ALPHA = 215
LONGEST = 32
"""A label on the map is cut to so many characters."""
LONGEST_LINE = 200
"""So is a line of its own: to measure ten thousand, as a label may have, takes seconds."""
MOST_LINES = 3
MOST_IMAGES, MOST_WIDTHS = 1500, 20_000
_AROUND = [
    QPointF(radius * math.cos(2 * math.pi * i / count), radius * math.sin(2 * math.pi * i / count))
    for radius, count in ((HALO / 2, 6), (HALO, 14))
    for i in range(count)
]
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


def shown_text(text: str, most: int = LONGEST) -> str:
    """A name as the map shows it: printable, and cut where it is long."""
    visible = printable(text[: 2 * most])
    return visible if len(visible) <= most else visible[: most - 1] + "…"


class TextCache:
    """Sizes and pictures of labels. One belongs to whoever paints again and again."""

    def __init__(self) -> None:
        self._metrics = {
            bold: QFontMetricsF(font(RESULT_SIZE if bold else LABEL_SIZE, bold)) for bold in (False, True)
        }
        self._widths: dict[tuple[str, bool], float] = {}
        self._images: dict[tuple, QImage] = {}
        self._sizes: dict[tuple[str, float], tuple[float, float]] = {}
        self._allowed: int | None = None
        self._left_out = False

    @property
    def kept(self) -> int:
        """How many label pictures are kept; never more than ``MOST_IMAGES``."""
        return len(self._images)

    def size(self, text: str, bold: bool = False, count: int = 1) -> tuple[float, float]:
        """Width and height in points of a label's box, its halo not counted."""
        height = self._metrics[bold].height()
        return self._width(text, bold) + (self._width(count_text(count), False) if count > 1 else 0.0), height

    def _width(self, text: str, bold: bool) -> float:
        width = self._widths.get((text, bold))
        if width is None:
            width = self._metrics[bold].horizontalAdvance(text)
            _keep(self._widths, (text, bold), width, MOST_WIDTHS)
        return width

    def allow(self, new: int | None) -> bool:
        """From now on draw only so many labels that were not drawn before; None for any number.

        Returns
        -------
        bool
            Whether any was left out since the last call.
        """
        left_out, self._left_out, self._allowed = self._left_out, False, new
        return left_out

    def image(self, label: MapLabel, theme: Theme, ratio: float) -> QImage | None:
        """The label with its halo, for a screen of so many pixels a point; None where it must wait."""
        key = (label.text, label.bold, label.count, theme.name, ratio)
        image = self._images.get(key)
        if image is None:
            if self._allowed is not None:
                if self._allowed <= 0:
                    self._left_out = True
                    return None
                self._allowed -= 1
            width, height = self.size(label.text, label.bold, label.count)
            image = _blank(width, height, ratio)
            painter = QPainter(image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_label(painter, label, theme, QPointF(HALO, HALO), outlined=ratio > 2)
            painter.end()
            _keep(self._images, key, image, MOST_IMAGES)
        return image

    def region_image(self, region: RegionLabel, theme: Theme, ratio: float) -> QImage:
        """A region's name with its halo, for a screen of so many pixels a point."""
        key = ("region", region.text, region.size, theme.name, ratio)
        image = self._images.get(key)
        if image is None:
            width, height = self.region_size(region)
            image = _blank(width, height, ratio)
            painter = QPainter(image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_region(painter, region, theme, QRectF(HALO, HALO, width, height))
            painter.end()
            _keep(self._images, key, image, MOST_IMAGES)
        return image

    def region_size(self, region: RegionLabel) -> tuple[float, float]:
        """Width and height in points of a region's name, its halo not counted."""
        key = (region.text, region.size)
        size = self._sizes.get(key)
        if size is None:
            metrics = QFontMetricsF(font(region.size, bold=True))
            lines = region_lines(region.text)
            width = max((metrics.horizontalAdvance(line) for line in lines), default=0.0)
            size = width, metrics.height() + metrics.lineSpacing() * (len(lines) - 1)
            _keep(self._sizes, key, size, MOST_IMAGES)
        return size


def region_lines(text: str) -> list[str]:
    """A region's name as the map shows it: at most ``MOST_LINES`` lines, each printable and cut."""
    return [shown_text(line.strip()) for line in text[:1000].split("\n") if line.strip()][:MOST_LINES]


def draw_region(painter: QPainter, region: RegionLabel, theme: Theme, box: QRectF) -> None:
    """Large quiet letters, line under line, each in the middle of the box."""
    face = font(region.size, bold=True)
    metrics = QFontMetricsF(face)
    for i, line in enumerate(region_lines(region.text)):
        left = box.center().x() - metrics.horizontalAdvance(line) / 2
        base = QPointF(left, box.top() + metrics.ascent() + metrics.lineSpacing() * i)
        draw_text(painter, line, face, QColor(theme.quiet), base, QColor(theme.map))


def _blank(width: float, height: float, ratio: float) -> QImage:
    """An empty picture for a text of that size in points, with its halo."""
    image = QImage(
        math.ceil((width + 2 * HALO) * ratio) + 1,
        math.ceil((height + 2 * HALO) * ratio) + 1,
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    return image


def _holds_pictographs(text: str) -> bool:
    return not text.isascii() and any(category(letter) == "So" for letter in text)


def _keep(cache: dict, key: object, value: object, most: int) -> None:
    cache[key] = value
    if len(cache) > most:
        del cache[next(iter(cache))]


def count_text(count: int) -> str:
    """How a point that stands for several equal rows says so."""
    return f" ×{count:,}"


def draw_label(
    painter: QPainter, label: MapLabel, theme: Theme, corner: QPointF, *, outlined: bool = True
) -> None:
    """Letters over a halo in the map's ground; ``corner`` is the box's left top."""
    face, halo = font(RESULT_SIZE if label.bold else LABEL_SIZE, label.bold), QColor(theme.map)
    metrics = QFontMetricsF(face)
    start = QPointF(corner.x(), corner.y() + metrics.ascent())
    parts = [(label.text, face, theme.text)]
    if label.count > 1:
        parts.append((count_text(label.count), font(LABEL_SIZE), theme.quiet))
    for text, its_face, colour in parts:
        draw_text(painter, text, its_face, QColor(colour), start, halo, outlined=outlined)
        start.setX(start.x() + metrics.horizontalAdvance(text))


def draw_text(
    painter: QPainter,
    text: str,
    face: QFont,
    colour: QColor,
    start: QPointF,
    halo: QColor | None = None,
    *,
    outlined: bool = True,
) -> None:
    """One line of text; ``start`` is the left end of its base line.

    The halo is the letters' outline, a shape that an SVG can hold, or else the letters themselves
    drawn around their place: the same to the eye, in a quarter of the time. Pictographs keep their
    own colours whatever the pen, and would smear: a text with some lies on a plate instead.
    """
    painter.setFont(face)
    if halo is not None and _holds_pictographs(text):
        metrics = QFontMetricsF(face)
        plate = QRectF(
            start.x(), start.y() - metrics.ascent(), metrics.horizontalAdvance(text), metrics.height()
        )
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(halo.red(), halo.green(), halo.blue(), PLATE_ALPHA))
        painter.drawRoundedRect(plate.adjusted(-HALO, -HALO / 2, HALO, HALO / 2), HALO, HALO)
        halo = None
    if halo is not None and outlined:
        outline = QPainterPath()
        outline.addText(start, face, text)
        pen = QPen(halo, 2 * HALO, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(outline, pen)
    elif halo is not None:
        painter.setPen(halo)
        for offset in _AROUND:
            painter.drawText(start + offset, text)
    painter.setPen(colour)
    painter.drawText(start, text)
