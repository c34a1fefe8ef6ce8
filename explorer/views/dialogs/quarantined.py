"""The rows that are kept in place but left out of map and search, each with its reason."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHeaderView, QTableView, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.core.health import RowState
from explorer.core.labels import label_of
from explorer.core.listing import LoadedTable
from explorer.views.label_text import shown_label
from explorer.views.panels.form import quiet
from explorer.views.theme import figures

REASONS = {
    RowState.NAN: "holds NaN",
    RowState.INFINITE: "holds an infinite value",
    RowState.ZERO: "all zero: no direction",
    RowState.PADDING: "past the last token: padding",
}
HEADINGS = ("Row", "Label", "Reason")
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class QuarantinedRows(QDialog):
    """Lists the quarantined rows of the table on the map."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Quarantined rows")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(480, 520)
        model = QuarantineModel(session.document.table, self)
        words = quiet("These rows stay in their place; they are left out of the map and of neighbours.")
        self.list = QTableView()
        self.list.setModel(model)
        self.list.setFont(figures(self.list.font()))
        self.list.setShowGrid(False)
        self.list.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.list.verticalHeader().hide()
        self.list.verticalHeader().setDefaultSectionSize(26)
        self.list.horizontalHeader().setDefaultAlignment(_LEFT)
        self.list.horizontalHeader().setHighlightSections(False)
        self.list.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.list.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.list.horizontalHeader().setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addWidget(words)
        column.addWidget(self.list)
        column.addWidget(buttons)


class QuarantineModel(QAbstractTableModel):
    """Row, label and reason; as many rows as are left out."""

    def __init__(self, table: LoadedTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = table
        self._rows = np.flatnonzero(table.health.states != RowState.HEALTHY)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(HEADINGS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> object:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return HEADINGS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section == 0:
            return _RIGHT
        return None

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> object:
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == 0:
            return _RIGHT
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        row = int(self._rows[index.row()])
        if index.column() == 0:
            return f"{row:,}"
        if index.column() == 1:
            return shown_label(label_of(self._table.labels, row))
        return REASONS[RowState(self._table.health.states[row])]
