"""The card beside the point under the cursor: what it is and how near."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QGraphicsDropShadowEffect, QLabel, QVBoxLayout, QWidget

from explorer.core.health import RowState
from explorer.core.labels import label_of
from explorer.document import Document
from explorer.export.text import shown_text
from explorer.views.theme import figures

GAP = 14
MOST_COLUMNS = 6
MOST_LETTERS = 60


class HoverCard(QFrame):
    """Floats over the map, never over the point it speaks of."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.text = QLabel()
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.text.setFont(figures(self.text.font()))
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.addWidget(self.text)
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(16)
        shadow.setOffset(0, 3)
        shadow.setColor(QColor(0, 0, 0, 50))
        self.setGraphicsEffect(shadow)
        self.hide()

    def speak_of(self, document: Document, row: int, place: QPointF, twins: int) -> None:
        """Say what a row is, beside its place on the map."""
        self.text.setText(card_text(document, row, twins))
        self.adjustSize()
        self.move(_beside(place, self.size().width(), self.size().height(), self.parentWidget().rect()))
        self.show()
        self.raise_()


def _beside(place: QPointF, width: int, height: int, room: QRect) -> QPoint:
    x = round(place.x()) + GAP
    y = round(place.y()) + GAP
    if x + width > room.right() - 8:
        x = round(place.x()) - GAP - width
    if y + height > room.bottom() - 8:
        y = round(place.y()) - GAP - height
    return QPoint(max(8, x), max(8, y))


def card_text(document: Document, row: int, twins: int = 1) -> str:
    """What the card says of a row, as HTML."""
    table = document.table
    if table is None:
        return ""
    health = table.health
    facts = [f"row {row:,}"]
    values = [f"length {float(health.norms[row]):.3g}"]
    if document.answer is not None:
        found = np.flatnonzero(document.answer.result.rows == row)
        if len(found):
            facts.append(f"rank {int(found[0]) + 1:,}")
            score = float(document.answer.result.scores[found[0]])
            values.append(f"{document.answer.result.metric.value} {score:.3f}")
    lines = [
        f"<b>{_plain(label_of(table.labels, row))}</b>&nbsp; <span>{' · '.join(facts)}</span>",
        " · ".join(values),
    ]
    if twins > 1:
        lines.append(f"{twins:,} equal rows lie here")
    if health.states[row] != RowState.HEALTHY:
        lines.append("quarantined")
    lines += [
        f"{_plain(name)}: {_plain(str(table.metadata[name][row]))}"
        for name in [*table.metadata][:MOST_COLUMNS]
    ]
    return "<br>".join(lines)


def _plain(text: str) -> str:
    from html import escape

    shown = shown_text(text)
    return escape(shown if len(shown) <= MOST_LETTERS else shown[: MOST_LETTERS - 1] + "…")
