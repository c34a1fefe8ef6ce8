"""A table of texts whose first column is a row's number: its model and how it looks."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QTableView, QWidget

from explorer.views.theme import figures

ROW_HEIGHT = 26
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class RowsModel(QAbstractTableModel):
    """Texts under headings, made as they are shown; ``count`` and ``text`` are the subclass's.

    Parameters
    ----------
    headings : tuple of str
    parent : QWidget, optional
    """

    def __init__(self, headings: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._headings = headings

    @property
    def count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def text(self, row: int, column: int) -> str:
        """What a cell says."""
        raise NotImplementedError

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else self.count

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._headings)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> object:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section == 0:
            return RIGHT
        return None

    def data(self, index: Index, role: int = 0) -> object:
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == 0:
            return RIGHT
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(index.row(), index.column())
        return None


def table_of_rows(model: RowsModel, name: str) -> QTableView:
    """A view of such a model, of one look everywhere."""
    view = QTableView()
    view.setModel(model)
    view.setAccessibleName(name)
    view.setFont(figures(view.font()))
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setTabKeyNavigation(False)
    view.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    view.verticalHeader().hide()
    view.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    view.horizontalHeader().setDefaultAlignment(LEFT)
    view.horizontalHeader().setHighlightSections(False)
    return view
