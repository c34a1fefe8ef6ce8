"""The tables of one file, with a look at the first and last rows, so that a shift shows before it harms."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Session
from explorer.core.listing import TableListing
from explorer.document import Source
from explorer.views.label_text import shown_label
from explorer.views.panels.form import heading, quiet
from explorer.views.theme import figures

COLUMNS = ("Table", "Role", "Rows", "Dim", "Type", "Labels")
ROW_HEIGHT, HEADER_HEIGHT = 26, 28
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class TablePicker(QDialog):
    """Chooses a table of an open file; the likeliest is chosen at first."""

    def __init__(self, session: Session, source: Source, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._source = source
        self.setWindowTitle(f"Tables in {Path(source.path).name}")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(720, 520)
        self.tables = _plain_table(COLUMNS)
        self.tables.horizontalHeader().setStretchLastSection(True)
        self.tables.setAccessibleName("Tables in this file")
        self.preview = _plain_table(())
        self.preview.setAccessibleName("First and last rows")
        self.about = quiet()
        self.scaled = QCheckBox("Scale rows by √dim, as a Transformer's own lookup does")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.show_it = buttons.addButton("Show on the map", QDialogButtonBox.ButtonRole.AcceptRole)
        self.show_it.setProperty("primary", True)
        self.show_it.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addWidget(self.tables, 1)
        column.addWidget(self.about)
        column.addWidget(heading("First and last rows"))
        column.addWidget(self.preview)
        column.addWidget(self.scaled)
        column.addWidget(buttons)
        self._fill()
        self.tables.itemSelectionChanged.connect(self._show_preview)
        self.tables.itemDoubleClicked.connect(self.accept)
        self.tables.selectRow(self._first_choice())
        self.tables.setFocus()

    def _fill(self) -> None:
        listings = self._source.listing.tables
        self.tables.setRowCount(len(listings))
        for column in (2, 3):
            self.tables.horizontalHeaderItem(column).setTextAlignment(_RIGHT)
        for row, table in enumerate(listings):
            labels = (
                "none" if table.labels_source is None else f"{table.labels_count:,} · {table.labels_source}"
            )
            texts = (table.name, str(table.role), f"{table.rows:,}", f"{table.dim:,}", table.dtype, labels)
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                if column in (2, 3):
                    item.setTextAlignment(_RIGHT)
                self.tables.setItem(row, column, item)

    def _first_choice(self) -> int:
        shown = self._session.document.table
        names = [table.name for table in self._source.listing.tables]
        if shown is not None and shown.path == self._source.path and shown.listing.name in names:
            self.scaled.setChecked(shown.scaled)
            return names.index(shown.listing.name)
        return 0

    @property
    def chosen(self) -> TableListing:
        """The table that is selected."""
        return self._source.listing.tables[max(0, self.tables.currentRow())]

    def _show_preview(self) -> None:
        table = self.chosen
        tied = f"Tied with {', '.join(table.aliases)}. " if table.aliases else ""
        self.about.setText(tied + " ".join(table.notes))
        self.about.setVisible(bool(self.about.text()))
        width = max((len(values) for _, _, values in table.preview), default=0)
        self.preview.setColumnCount(2 + width)
        self.preview.setHorizontalHeaderLabels(["Row", "Label", *(str(place) for place in range(width))])
        for column in (0, *range(2, 2 + width)):
            self.preview.horizontalHeaderItem(column).setTextAlignment(_RIGHT)
        self.preview.setRowCount(len(table.preview))
        self.preview.setFixedHeight(HEADER_HEIGHT + ROW_HEIGHT * len(table.preview))
        for place, (row, label, values) in enumerate(table.preview):
            for column, text in enumerate(
                (f"{row:,}", shown_label(label), *(f"{value:.4g}" for value in values))
            ):
                item = QTableWidgetItem(text)
                if column != 1:
                    item.setTextAlignment(_RIGHT)
                self.preview.setItem(place, column, item)

    def accept(self) -> None:
        """Put the selected table onto the map."""
        opening = self._session.opening
        opening.choose_table(self._source.path, self.chosen.name, scaled=self.scaled.isChecked())
        super().accept()


def _plain_table(columns: tuple[str, ...]) -> QTableWidget:
    table = QTableWidget(0, len(columns))
    table.setHorizontalHeaderLabels(list(columns))
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setFont(figures(table.font()))
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    header = table.horizontalHeader()
    header.setFixedHeight(HEADER_HEIGHT)
    header.setHighlightSections(False)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    return table
