"""The selected rows as a list for Qt's views; nothing is copied, a million rows cost nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from explorer.core.labels import label_of
from explorer.core.listing import LoadedTable
from explorer.core.selection import NO_ROWS
from explorer.views.label_text import shown_label
from explorer.views.panels.neighbour_delegate import ROW_HEIGHT, small_figures
from explorer.views.panels.neighbour_model import signed
from explorer.views.theme import current_colours, figures

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_EDGE, _GAP = 6, 10


class SelectionModel(QAbstractListModel):
    """Rows of a table, in its order or by their scores."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._table: LoadedTable | None = None
        self.rows: NDArray[np.int64] = NO_ROWS
        self.scores: NDArray[np.float32] | None = None

    def show(
        self,
        table: LoadedTable | None,
        rows: NDArray[np.int64],
        scores: NDArray[np.float32] | None = None,
        *,
        best_first: bool = False,
        ascending: bool = False,
    ) -> None:
        """Take other rows.

        Parameters
        ----------
        table : LoadedTable or None
        rows : int64 array
        scores : float32 array, shape (rows of the table,), optional
            NaN where there is none.
        best_first : bool
            Order them by score; those without one come last.
        ascending : bool
            The best score is the smallest.
        """
        scores = None if scores is None else scores[rows]
        if best_first and scores is not None:
            # NaN is last in either direction.
            order = np.argsort(scores if ascending else -scores, kind="stable")
            rows, scores = rows[order], scores[order]
        if table is self._table and np.array_equal(rows, self.rows):
            # Only the scores are new: the mark and the place in the list stay.
            self.scores = scores
            if len(rows):
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self._table, self.rows, self.scores = table, rows, scores
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        place = index.row()
        if role == Qt.ItemDataRole.DisplayRole:
            return shown_label(self.label(place))
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            score = self.score_text(place)
            words = f"{shown_label(self.label(place))} · row {int(self.rows[place]):,}"
            return f"{words} · {score}" if score else words
        return None

    def label(self, place: int) -> str:
        """The row's label as it is in the table."""
        return label_of(None if self._table is None else self._table.labels, int(self.rows[place]))

    def score_text(self, place: int) -> str:
        """The row's score; blank where it has none."""
        if self.scores is None or np.isnan(self.scores[place]):
            return ""
        return signed(float(self.scores[place]), 3)

    def labels(self, places: list[int] | range) -> str:
        """Labels of some rows, a line each."""
        return "\n".join(self.label(place) for place in places)


class SelectionDelegate(QStyledItemDelegate):
    """Paints a row: its label, its score, its number."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        assert isinstance(model, SelectionModel)
        colours = current_colours()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent_ground))
            painter.drawRoundedRect(option.rect, 6, 6)
        line = option.rect.adjusted(_EDGE, 0, -_EDGE, 0)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        number = f"#{int(model.rows[index.row()])}"
        painter.setFont(small_figures(option.font))
        painter.setPen(QColor(colours.quiet))
        painter.drawText(line, right, number)
        widest = f"#{int(model.rows.max())}"
        line.setRight(line.right() - painter.fontMetrics().horizontalAdvance(widest) - _GAP)
        score = model.score_text(index.row())
        painter.setPen(QColor(colours.text))
        if model.scores is not None:
            painter.setFont(figures(option.font))
            painter.drawText(line, right, score)
            line.setRight(line.right() - painter.fontMetrics().horizontalAdvance("−0.000") - _GAP)
        painter.setFont(option.font)
        label = painter.fontMetrics().elidedText(
            shown_label(model.label(index.row())), Qt.TextElideMode.ElideRight, line.width()
        )
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, label)
        painter.restore()
