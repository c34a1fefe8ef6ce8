"""The legend card: where its parts lie, and how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPen

from explorer.export.figure import Figure, Legend, LegendEntry, LegendScale
from explorer.export.text import LONGEST_LINE, draw_text, font, shown_text
from explorer.render.palette import RGB, Theme

MARGIN, PADDING, CORNER, PITCH, DOT = 14.0, 12.0, 8.0, 17.0, 4.5
ENTRY_SIZE = 12
TEXT_AT = 2 * DOT + 7
SCALE_WIDTH, SCALE_HEIGHT, SCALE_GAP = 160.0, 8.0, 6.0
NARROWEST, WIDEST = 60.0, 300.0
MOST_ENTRIES = 18


@dataclass(frozen=True)
class LegendLayout:
    """Where the card and its parts lie, in points.

    Attributes
    ----------
    card : QRectF
    lines : tuple of QRectF
        Entry *i*'s line, for the mouse as well.
    shown : tuple of LegendEntry
        The entries that have a line.
    places : tuple of int
        Which of the legend's entries these are.
    more : int
        How many entries have none.
    more_top : float
        Where the line that says so begins.
    """

    card: QRectF
    lines: tuple[QRectF, ...]
    shown: tuple[LegendEntry, ...]
    places: tuple[int, ...]
    more: int = 0
    more_top: float = 0.0


def legend_layout(figure: Figure) -> LegendLayout | None:
    """The card at the bottom left of the figure; None without a legend or without room for one."""
    legend, view = figure.legend, figure.viewport
    if legend is None or not (legend.title or legend.entries or legend.scale):
        return None
    title = PITCH + 3 if legend.title else 0.0
    scale = _scale_height(legend)
    room = view.height - 2 * MARGIN - 2 * PADDING + 4 - title - scale
    most = min(max(int(room / PITCH), 0), MOST_ENTRIES)
    places, summing = _chosen(legend.entries, most)
    shown = tuple(legend.entries[place] for place in places)
    more = len(legend.entries) - len(shown)
    width = min(_width(legend, shown, more) + 2 * PADDING, WIDEST, view.width - 2 * MARGIN)
    height = 2 * PADDING - 4 + title + scale + PITCH * (len(shown) + bool(more))
    if width < NARROWEST or height > view.height - 2 * MARGIN:
        return None
    card = QRectF(MARGIN, view.height - MARGIN - height, width, height)
    top = card.top() + PADDING - 2 + title
    own = len(shown) - summing
    tops = [top + PITCH * (i + (more > 0 and i >= own)) for i in range(len(shown))]
    lines = tuple(QRectF(card.left() + PADDING - 4, at, width - 2 * PADDING + 8, PITCH) for at in tops)
    return LegendLayout(card, lines, shown, places, more, top + PITCH * own)


def _chosen(entries: tuple[LegendEntry, ...], most: int) -> tuple[tuple[int, ...], int]:
    """Which entries have a line, and how many of these, the last ones, sum up others."""
    everything = tuple(range(len(entries)))
    if len(entries) <= most:
        return everything, 0
    summing = [place for place in everything if entries[place].sums][: max(most - 1, 0)]
    own = [place for place in everything if not entries[place].sums][: max(most - 1 - len(summing), 0)]
    return (*own, *summing), len(summing)


def _scale_height(legend: Legend) -> float:
    """With the numbers below it, and some air below entries."""
    if legend.scale is None:
        return 0.0
    return SCALE_HEIGHT + PITCH + (SCALE_GAP if legend.entries else 0.0)


def _width(legend: Legend, shown: tuple[LegendEntry, ...], more: int) -> float:
    metrics = QFontMetricsF(font(ENTRY_SIZE))
    widths = [metrics.horizontalAdvance(shown_text(legend.title, LONGEST_LINE))]
    widths += [TEXT_AT + metrics.horizontalAdvance(shown_text(entry.text, LONGEST_LINE)) for entry in shown]
    if more:
        widths.append(TEXT_AT + metrics.horizontalAdvance(_more_text(more)))
    if legend.scale is not None:
        widths.append(max(SCALE_WIDTH, metrics.horizontalAdvance(f"{legend.scale.low}  {legend.scale.high}")))
    return math.ceil(max(widths))


def _more_text(more: int) -> str:
    return f"and {more:,} more"


def draw_legend(painter: QPainter, figure: Figure) -> None:
    """The card with all it says."""
    layout, legend, theme = legend_layout(figure), figure.legend, figure.theme
    if layout is None or legend is None:
        return
    painter.setPen(QPen(QColor(theme.line), 1))
    painter.setBrush(QColor(theme.panel))
    painter.drawRoundedRect(layout.card.adjusted(0.5, 0.5, -0.5, -0.5), CORNER, CORNER)
    left, width = layout.card.left() + PADDING, layout.card.width() - 2 * PADDING
    _draw_line(painter, legend.title, theme.quiet, left, layout.card.top() + PADDING - 2, width)
    for entry, line in zip(layout.shown, layout.lines, strict=True):
        _draw_entry(painter, entry, line, theme)
    bottom = layout.card.bottom() - PADDING + 2
    if layout.more:
        text = _more_text(layout.more)
        _draw_line(painter, text, theme.quiet, left + TEXT_AT, layout.more_top, width - TEXT_AT)
    if legend.scale is not None:
        bar = QRectF(left, bottom - SCALE_HEIGHT - PITCH, width, SCALE_HEIGHT)
        _draw_scale(painter, legend.scale, bar, theme)


def _draw_line(painter: QPainter, text: str, colour: str, left: float, top: float, width: float) -> None:
    face = font(ENTRY_SIZE)
    metrics = QFontMetricsF(face)
    shown = metrics.elidedText(shown_text(text, LONGEST_LINE), Qt.TextElideMode.ElideRight, width + 1)
    base = round(top + (PITCH + metrics.ascent() - metrics.descent()) / 2)
    draw_text(painter, shown, face, QColor(colour), QPointF(left, base))


def draw_dot(painter: QPainter, centre: QPointF, radius: float, colours: Sequence[RGB]) -> None:
    """A disc in one colour, or in a sector of each of several."""
    painter.setPen(Qt.PenStyle.NoPen)
    box = QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius)
    sector = 360 * 16 // len(colours)
    for i, colour in enumerate(colours):
        painter.setBrush(QColor(*colour))
        if len(colours) == 1:
            painter.drawEllipse(box)
        else:
            painter.drawPie(box, 90 * 16 - (i + 1) * sector, sector)


def _draw_entry(painter: QPainter, entry: LegendEntry, line: QRectF, theme: Theme) -> None:
    centre = QPointF(line.left() + 4 + DOT, line.center().y() + 0.5)
    if entry.hidden:
        painter.setPen(QPen(QColor(theme.quiet) if entry.mixed else QColor(*entry.colour), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, DOT - 0.6, DOT - 0.6)
    else:
        draw_dot(painter, centre, DOT, (entry.colour, *entry.mixed))
    left, colour = line.left() + 4 + TEXT_AT, theme.quiet if entry.hidden else theme.text
    _draw_line(painter, entry.text, colour, left, line.top(), line.right() - 4 - left)


def _draw_scale(painter: QPainter, scale: LegendScale, bar: QRectF, theme: Theme) -> None:
    gradient = QLinearGradient(bar.topLeft(), bar.topRight())
    for i in range(17):
        red, green, blue = scale.colours[round(i / 16 * (len(scale.colours) - 1))]
        gradient.setColorAt(i / 16, QColor(int(red), int(green), int(blue)))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(gradient)
    painter.drawRoundedRect(bar, 3, 3)
    _draw_line(painter, scale.low, theme.quiet, bar.left(), bar.bottom() + 1, bar.width())
    width = QFontMetricsF(font(ENTRY_SIZE)).horizontalAdvance(shown_text(scale.high))
    _draw_line(
        painter, scale.high, theme.quiet, max(bar.right() - width, bar.left()), bar.bottom() + 1, width
    )
