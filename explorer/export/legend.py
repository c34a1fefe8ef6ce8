"""The legend card: where its parts lie, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPen

from explorer.export.figure import Figure, Legend, LegendEntry, LegendScale
from explorer.export.text import draw_text, font
from explorer.render.palette import Theme

MARGIN, PADDING, CORNER, PITCH, DOT = 14.0, 12.0, 8.0, 17.0, 4.5
TITLE_SIZE = ENTRY_SIZE = 12
SCALE_WIDTH, SCALE_HEIGHT = 160.0, 8.0
MOST_ENTRIES = 18


@dataclass(frozen=True)
class LegendLayout:
    """Where the card and its lines lie, in points; ``lines[i]`` is entry *i*'s, for the mouse."""

    card: QRectF
    lines: tuple[QRectF, ...]
    shown: tuple[LegendEntry, ...]


def legend_layout(figure: Figure) -> LegendLayout | None:
    """The card at the bottom left of the figure; None without a legend or without room for one."""
    legend = figure.legend
    if legend is None or not (legend.title or legend.entries or legend.scale):
        return None
    room = figure.viewport.height - 2 * MARGIN - 2 * PADDING - PITCH - 6
    shown = _that_fit(legend, int(min(max(room / PITCH, 0), MOST_ENTRIES)))
    metrics = QFontMetricsF(font(ENTRY_SIZE))
    widths = [metrics.horizontalAdvance(legend.title)]
    widths += [2 * DOT + 7 + metrics.horizontalAdvance(entry.text) for entry in shown]
    body = PITCH * len(shown)
    if legend.scale is not None:
        ends = metrics.horizontalAdvance(legend.scale.low + "  " + legend.scale.high)
        widths.append(max(SCALE_WIDTH, ends))
        body += SCALE_HEIGHT + PITCH
    width = min(max(widths) + 2 * PADDING, figure.viewport.width - 2 * MARGIN)
    title = PITCH + 3 if legend.title else 0.0
    height = title + body + 2 * PADDING - 4
    if width < 60 or height > figure.viewport.height - 2 * MARGIN:
        return None
    card = QRectF(MARGIN, figure.viewport.height - MARGIN - height, width, height)
    top = card.top() + PADDING - 2 + title
    lines = tuple(
        QRectF(card.left() + PADDING - 4, top + PITCH * i, width - 2 * PADDING + 8, PITCH)
        for i in range(len(shown))
    )
    return LegendLayout(card, lines, shown)


def _that_fit(legend: Legend, most: int) -> tuple[LegendEntry, ...]:
    if len(legend.entries) <= most:
        return legend.entries
    return legend.entries[:most]


def draw_legend(painter: QPainter, figure: Figure) -> None:
    """The card with all it says."""
    layout, legend, theme = legend_layout(figure), figure.legend, figure.theme
    if layout is None or legend is None:
        return
    painter.setPen(QPen(QColor(theme.line), 1))
    painter.setBrush(QColor(theme.panel))
    painter.drawRoundedRect(layout.card.adjusted(0.5, 0.5, -0.5, -0.5), CORNER, CORNER)
    face = font(ENTRY_SIZE)
    metrics = QFontMetricsF(face)
    left, width = layout.card.left() + PADDING, layout.card.width() - 2 * PADDING
    if legend.title:
        title = metrics.elidedText(legend.title, Qt.TextElideMode.ElideRight, width + 1)
        top = layout.card.top() + PADDING - 2
        draw_text(painter, title, font(TITLE_SIZE), QColor(theme.quiet), _start(left, top, metrics))
    for entry, line in zip(layout.shown, layout.lines, strict=True):
        _draw_entry(painter, entry, line, theme)
    if legend.scale is not None:
        bottom = layout.card.bottom() - PADDING + 2
        _draw_scale(
            painter, legend.scale, QRectF(left, bottom - SCALE_HEIGHT - PITCH, width, SCALE_HEIGHT), theme
        )


def _start(left: float, top: float, metrics: QFontMetricsF) -> QPointF:
    return QPointF(left, round(top + (PITCH + metrics.ascent() - metrics.descent()) / 2))


def _draw_entry(painter: QPainter, entry: LegendEntry, line: QRectF, theme: Theme) -> None:
    face = font(ENTRY_SIZE)
    metrics = QFontMetricsF(face)
    colour = QColor(*entry.colour)
    painter.setPen(QPen(colour, 1.2) if entry.hidden else Qt.PenStyle.NoPen)
    painter.setBrush(Qt.BrushStyle.NoBrush if entry.hidden else colour)
    radius = DOT - 0.6 if entry.hidden else DOT
    painter.drawEllipse(QPointF(line.left() + 4 + DOT, line.center().y() + 0.5), radius, radius)
    start = _start(line.left() + 4 + 2 * DOT + 7, line.top(), metrics)
    text = metrics.elidedText(entry.text, Qt.TextElideMode.ElideRight, line.right() - start.x() - 3)
    draw_text(painter, text, face, QColor(theme.quiet if entry.hidden else theme.text), start)


def _draw_scale(painter: QPainter, scale: LegendScale, bar: QRectF, theme: Theme) -> None:
    gradient = QLinearGradient(bar.topLeft(), bar.topRight())
    for i in range(17):
        red, green, blue = scale.colours[round(i / 16 * (len(scale.colours) - 1))]
        gradient.setColorAt(i / 16, QColor(int(red), int(green), int(blue)))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(gradient)
    painter.drawRoundedRect(bar, 3, 3)
    face = font(ENTRY_SIZE)
    metrics = QFontMetricsF(face)
    start = _start(bar.left(), bar.bottom() + 1, metrics)
    draw_text(painter, scale.low, face, QColor(theme.quiet), start)
    start.setX(bar.right() - metrics.horizontalAdvance(scale.high))
    draw_text(painter, scale.high, face, QColor(theme.quiet), start)
