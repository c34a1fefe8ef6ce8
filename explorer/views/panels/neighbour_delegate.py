"""One neighbour on one line: rank, picture, label, bar, value, deviations above the background."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from explorer.views.fitted import fit
from explorer.views.panels.neighbour_model import Entry, NeighbourModel
from explorer.views.theme import current_colours, figures, icon
from explorer.views.thumbnails import Thumbnails
from explorer.views.wrapped_text import wrapped

ROW_HEIGHT, PICTURE_ROW_HEIGHT = 26, 36
_PICTURE = (40, 30)
_EDGE, _GAP, _BAR_HEIGHT = 6, 8, 6
_LONGEST_BAR = 160
_BAR_BESIDE_LONGEST = 0.35  # of the room: so far bars give way to a single long label
_MEASURED = 100


@dataclass(frozen=True)
class Columns:
    """Where the parts of a line stand, in pixels from its left edge; each is (left, width)."""

    rank: tuple[int, int]
    picture: tuple[int, int]
    label: tuple[int, int]
    bar: tuple[int, int]
    value: tuple[int, int]
    above: tuple[int, int]


class NeighbourDelegate(QStyledItemDelegate):
    """Paints the rows of a NeighbourModel in columns that fit the answer and the width.

    Attributes
    ----------
    hovered : int
        The place that is pointed at; -1 for none.
    pictures : bool
        Each line begins with the row's picture.
    """

    def __init__(self, model: NeighbourModel, thumbnails: Thumbnails) -> None:
        super().__init__(model)
        self._model = model
        self._thumbnails = thumbnails
        self.pictures = False
        self._columns: tuple[tuple[int, str], Columns] | None = None
        self.hovered = -1
        model.modelReset.connect(self._forget)

    def _forget(self) -> None:
        self._columns = None
        self.hovered = -1

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(200, self.row_height)

    @property
    def row_height(self) -> int:
        """Of each line, in pixels."""
        return PICTURE_ROW_HEIGHT if self.pictures else ROW_HEIGHT

    def columns(self, width: int, font: QFont) -> Columns:
        """The columns for a width; the label gets what it needs, the bar what is left."""
        key = (width, font.key())
        if self._columns is None or self._columns[0] != key:
            self._columns = (key, self._measure(width, font))
        return self._columns[1]

    def _measure(self, width: int, font: QFont) -> Columns:
        count = self._model.rowCount()
        entries = [self._model.entry(place) for place in range(min(count, _MEASURED))]
        if count > _MEASURED:
            entries.append(self._model.entry(count - 1))
        large, small = QFontMetrics(figures(font)), QFontMetrics(small_figures(font))

        def widest(metrics: QFontMetrics, texts: list[str]) -> int:
            return max((metrics.horizontalAdvance(text) for text in texts), default=0) + 1

        rank = widest(small, [f"{count:,}"])
        value = widest(large, [entry.value for entry in entries])
        above = widest(small, [entry.above for entry in entries])
        above_left = width - _EDGE - above
        value_left = above_left - _GAP + 2 - value
        picture_left, picture = _EDGE + rank + _GAP, _PICTURE[0] if self.pictures else 0
        label_left = picture_left + (picture + _GAP if picture else 0)
        room = value_left - _GAP - label_left
        least = room // 5 if self.pictures else room // 4
        most, longest = _wanted(QFontMetrics(font), entries)
        bar = min(max(room - most - 2 * _GAP, least), _LONGEST_BAR)
        if (left := room - longest - 2 * _GAP) >= _BAR_BESIDE_LONGEST * room:
            bar = min(bar, left)
        bar_left = value_left - _GAP - bar
        return Columns(
            (_EDGE, rank),
            (picture_left, picture),
            (label_left, max(bar_left - _GAP - label_left, 0)),
            (bar_left, max(bar, 0)),
            (value_left, value),
            (above_left, above),
        )

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours = current_colours()
        entry = self._model.entry(index.row())
        columns = self.columns(option.rect.width(), option.font)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, option, index.row())
        self._paint_bar(painter, option.rect, columns.bar, entry)
        if self.pictures:
            self._paint_picture(painter, option, columns.picture, entry.row)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

        def write(column: tuple[int, int], text: str, font: QFont, colour: str) -> None:
            painter.setFont(font)
            painter.setPen(QColor(colour))
            painter.drawText(_part(option.rect, column), right | Qt.TextFlag.TextSingleLine, text)

        small = small_figures(option.font)
        write(columns.rank, f"{entry.rank:,}", small, colours.quiet)
        self._paint_label(painter, option, columns.label, entry.label)
        write(columns.value, entry.value, figures(option.font), colours.text)
        write(columns.above, entry.above, small, colours.quiet)
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, place: int) -> None:
        colours = current_colours()
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if not selected and place != self.hovered:
            return
        focused = selected and bool(option.state & QStyle.StateFlag.State_HasFocus)
        painter.setPen(QColor(colours.accent) if focused else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent_ground))
        painter.drawRoundedRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)

    def _paint_label(
        self, painter: QPainter, option: QStyleOptionViewItem, column: tuple[int, int], label: str
    ) -> None:
        """The label on one line; beside a picture there is room for two, which captions need."""
        lines = wrapped(label, option.font, column[1], 2 if self.pictures else 1)
        box, spacing = _part(option.rect, column), QFontMetrics(option.font).lineSpacing()
        top = box.center().y() + 1 - len(lines) * spacing / 2
        painter.setFont(option.font)
        painter.setPen(QColor(current_colours().text))
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for number, line in enumerate(lines):
            place = QRectF(box.left(), top + number * spacing, box.width(), spacing)
            painter.drawText(place, left | Qt.TextFlag.TextSingleLine, line)

    def _paint_picture(
        self, painter: QPainter, option: QStyleOptionViewItem, column: tuple[int, int], row: int
    ) -> None:
        width, height = _PICTURE
        box = QRectF(0, 0, width, height)
        box.moveCenter(QRectF(_part(option.rect, column)).center())
        image = self._thumbnails.image(row, round(width * painter.device().devicePixelRatioF()))
        if image is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(fit(box, image.width(), image.height()), image)
        elif self._thumbnails.fault(row):
            icon("no-picture", current_colours().quiet).paint(painter, box.toRect())

    def _paint_bar(self, painter: QPainter, line: QRect, column: tuple[int, int], entry: Entry) -> None:
        colours = current_colours()
        track = QRectF(_part(line, column))
        track.setTop(track.center().y() - _BAR_HEIGHT / 2)
        track.setHeight(_BAR_HEIGHT)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.line))
        painter.setOpacity(0.6)
        painter.drawRoundedRect(track, _BAR_HEIGHT / 2, _BAR_HEIGHT / 2)
        painter.setOpacity(1.0)
        bar = QRectF(track)
        bar.setLeft(track.left() + entry.start * track.width())
        bar.setRight(track.left() + entry.end * track.width())
        radius = min(_BAR_HEIGHT / 2, bar.width() / 2)
        painter.setBrush(QColor(colours.quiet if entry.negative else colours.accent))
        painter.drawRoundedRect(bar, radius, radius)


def small_figures(font: QFont) -> QFont:
    """The font one size down, with digits of equal width."""
    small = figures(font)
    small.setPixelSize(max(font.pixelSize() - 1, 9))
    return small


def _wanted(metrics: QFontMetrics, entries: list[Entry]) -> tuple[int, int]:
    """The widths that nine labels of ten, and all of them, fit into."""
    widths = sorted(metrics.horizontalAdvance(entry.label) + 1 for entry in entries) or [0]
    return widths[int(0.9 * (len(widths) - 1))], widths[-1]


def _part(line: QRect, column: tuple[int, int]) -> QRect:
    return QRect(line.left() + column[0], line.top(), column[1], line.height())
