"""A list of rows for which a million are no more work than ten."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QTableView

from explorer.views.panels.neighbour_delegate import ROW_HEIGHT


def row_list(model: QAbstractListModel, delegate: QStyledItemDelegate, name: str) -> QTableView:
    """A table of one column that looks like a list; QListView would lay every row out.

    Parameters
    ----------
    model : QAbstractListModel
    delegate : QStyledItemDelegate
        Paints the whole line, the marked ones' ground too.
    name : str
        For who hears the window.
    """
    view = QTableView()
    view.setModel(model)
    view.setItemDelegate(delegate)
    view.setAccessibleName(name)
    view.setShowGrid(False)
    view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setTabKeyNavigation(False)
    view.setCornerButtonEnabled(False)
    view.horizontalHeader().hide()
    view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    view.verticalHeader().hide()
    view.verticalHeader().setMinimumSectionSize(ROW_HEIGHT)
    view.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    view.setStyleSheet("QTableView { selection-background-color: transparent; }")
    view.setMouseTracking(True)
    return view
