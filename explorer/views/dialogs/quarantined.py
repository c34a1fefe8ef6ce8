"""The rows that are kept in place but left out of map and search, each with its reason."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHeaderView, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.core.health import RowState
from explorer.core.labels import label_of
from explorer.core.listing import LoadedTable
from explorer.views.dialogs.table_of_rows import RowsModel, table_of_rows
from explorer.views.label_text import shown_label
from explorer.views.panels.form import quiet

REASONS = {
    RowState.NAN: "holds NaN",
    RowState.INFINITE: "holds an infinite value",
    RowState.ZERO: "all zero: no direction",
    RowState.PADDING: "past the last token: padding",
}
HEADINGS = ("Row", "Label", "Reason")


class QuarantinedRows(QDialog):
    """Lists the quarantined rows of the table on the map."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Quarantined rows")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(480, 520)
        model = QuarantineModel(session.document.table, self)
        words = quiet("These rows stay in their place; they are left out of the map and of neighbours.")
        self.list = table_of_rows(model, "Quarantined rows")
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


class QuarantineModel(RowsModel):
    """Row, label and reason; as many rows as are left out."""

    def __init__(self, table: LoadedTable, parent: QWidget | None = None) -> None:
        super().__init__(HEADINGS, parent)
        self._table = table
        self._rows = np.flatnonzero(table.health.states != RowState.HEALTHY)

    @property
    def count(self) -> int:
        return len(self._rows)

    def text(self, row: int, column: int) -> str:
        place = int(self._rows[row])
        if column == 0:
            return f"{place:,}"
        if column == 1:
            return shown_label(label_of(self._table.labels, place))
        return REASONS[RowState(self._table.health.states[place])]
