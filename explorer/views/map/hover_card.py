"""The card beside the point under the cursor: what it is and how near."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPixmap, QTextDocumentFragment
from PySide6.QtWidgets import QFrame, QGraphicsDropShadowEffect, QLabel, QVBoxLayout, QWidget

from explorer.core.health import RowState
from explorer.core.labels import label_of
from explorer.core.pictures import Pictures
from explorer.document import Document
from explorer.export.text import printable
from explorer.views.theme import figures
from explorer.views.thumbnails import Thumbnails

GAP = 14
PICTURE_SIDE = 200
MOST_CAPTIONS = 2
UNIT = 1e-3
"""Lengths this near to 1 are as they must be, and say nothing."""
SAID = ("verdict", "caption", "picture")
"""Columns of an index that the card tells in other words."""
MOST_COLUMNS = 6
MOST_LETTERS = 60


class HoverCard(QFrame):
    """Floats over the map, never over the point it speaks of."""

    def __init__(self, parent: QWidget, thumbnails: Thumbnails) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self._speaks_of: Callable[[], None] | None = None
        self._awaited = -1
        self.setProperty("card", True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.picture = QLabel()
        self.text = QLabel()
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.text.setFont(figures(self.text.font()))
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(6)
        column.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.text)
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(16)
        shadow.setOffset(0, 3)
        shadow.setColor(QColor(0, 0, 0, 50))
        self.setGraphicsEffect(shadow)
        thumbnails.arrived.connect(self._arrived)
        self.hide()

    def speak_of(self, document: Document, row: int, point: QRectF, twins: int) -> None:
        """Say what a row is, beside what stands for it on the map."""
        self._speaks_of = lambda: self._speak_of(document, row, point, twins)
        self._speaks_of()

    def _speak_of(self, document: Document, row: int, point: QRectF, twins: int) -> None:
        self._show_picture(document, row)
        self.text.setText(card_text(document, row, twins))
        self.adjustSize()
        self.move(_beside(point, self.size().width(), self.size().height(), self.parentWidget().rect()))
        self.show()
        self.raise_()

    def plain_text(self) -> str:
        """What it says, for those who do not see it."""
        return QTextDocumentFragment.fromHtml(self.text.text()).toPlainText()

    def _show_picture(self, document: Document, row: int) -> None:
        pictures = document.pictures
        carries = pictures is not None and pictures.picture(row) is not None
        image = self._thumbnails.image(row) if carries else None
        self._awaited = row if carries and image is None else -1
        self.picture.setVisible(image is not None)
        if image is not None:
            ratio = self.devicePixelRatioF()
            side = round(PICTURE_SIDE * ratio)
            fitted = image.scaled(
                min(side, image.width()),
                min(side, image.height()),
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
            fitted.setDevicePixelRatio(ratio)
            self.picture.setPixmap(QPixmap.fromImage(fitted))

    def _arrived(self, row: int) -> None:
        if row == self._awaited and self.isVisible() and self._speaks_of is not None:
            self._speaks_of()


def _beside(point: QRectF, width: int, height: int, room: QRect) -> QPoint:
    x = round(point.right()) + GAP
    y = round(point.bottom()) + GAP
    if x + width > room.right() - 8:
        x = round(point.left()) - GAP - width
    if y + height > room.bottom() - 8:
        y = round(point.top()) - GAP - height
    return QPoint(max(8, x), max(8, y))


def card_text(document: Document, row: int, twins: int = 1) -> str:
    """What the card says of a row, as HTML."""
    table = document.table
    if table is None:
        return ""
    health = table.health
    facts = [f"row {row:,}"]
    length = float(health.norms[row])
    values = [] if abs(length - 1) < UNIT else [f"length {length:.3g}"]
    if document.answer is not None:
        found = np.flatnonzero(document.answer.result.rows == row)
        if len(found):
            facts.append(f"rank {int(found[0]) + 1:,}")
            score = float(document.answer.result.scores[found[0]])
            values.append(f"{document.answer.result.metric.value} {score:.3f}")
    lines = [
        f"<b>{_plain(label_of(table.labels, row))}</b>&nbsp; <span>{' · '.join(facts)}</span>",
        *([" · ".join(values)] if values else []),
    ]
    if document.zero_shot is not None and document.zero_shot.codes[row] >= 0:
        shot = document.zero_shot
        measure = "probability" if shot.trained else "cosine"
        lines.append(f"{_plain(shot.classes[shot.codes[row]])} · {measure} {shot.probability[row]:.2f}")
    if document.pictures is not None:
        lines += _captions(document.pictures, label_of(table.labels, row), row)
    if twins > 1:
        lines.append(f"{twins:,} equal rows lie here")
    if health.states[row] != RowState.HEALTHY:
        lines.append("quarantined")
    said = () if document.pictures is None else SAID
    lines += [
        f"{_plain(name)}: {_plain(str(table.metadata[name][row]))}"
        for name in [name for name in table.metadata if name not in said][:MOST_COLUMNS]
    ]
    return "<br>".join(lines)


def _captions(pictures: Pictures, label: str, row: int) -> list[str]:
    captions = [text for text in pictures.captions(row) if text != label]
    lines = [f"“{_plain(text)}”" for text in captions[:MOST_CAPTIONS]]
    if len(captions) > MOST_CAPTIONS:
        lines[-1] += f" and {len(captions) - MOST_CAPTIONS} more"
    if pictures.is_animated(row):
        lines.append("animated: its first picture")
    if pictures.reason(row):
        lines.append(f"no vector: {_plain(pictures.reason(row))}")
    return lines


def _plain(text: str, most: int = MOST_LETTERS) -> str:
    from html import escape

    shown = printable(text[: 2 * most])
    return escape(shown if len(shown) <= most else shown[: most - 1] + "…")
