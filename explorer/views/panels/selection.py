"""The selected rows in a list, and what can be done with them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Session
from explorer.core.selection import Combine
from explorer.core.wording import counted
from explorer.document.columns import similarities
from explorer.views.panels.form import quiet
from explorer.views.panels.row_list import row_list
from explorer.views.panels.selection_model import SelectionDelegate, SelectionModel
from explorer.views.theme import figures

TABLE_ORDER, NEAREST_FIRST = "Table order", "Nearest first"
MOST_COPIED = 100_000


class SelectionPanel(QWidget):
    """Lists the document's selection.

    Signals
    -------
    hovered(int) : the row under the cursor or the keyboard's mark, -1 for none; to be lit up on the map.
    export_wanted : the rows are to be saved.
    """

    hovered = Signal(int)
    export_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.title = QLabel()
        self.title.setProperty("title", True)
        self.title.setFont(figures(self.title.font()))
        self.share = quiet()
        self.share.setWordWrap(False)
        self.order = QComboBox()
        self.order.addItems([TABLE_ORDER, NEAREST_FIRST])
        self.order.setAccessibleName("Order")
        self.order.setToolTip("In the table's order, or by similarity to the question shown")
        self.model = SelectionModel(self)
        self.list = self._make_list()
        self.invert = _button("Invert", "Select all other rows")
        self.clear = _button("Clear", "Select nothing (Esc on the map)")
        self.only = QPushButton("Show only these")
        self.only.setMenu(self._make_menu())
        self.alone = quiet()
        self.alone.setWordWrap(False)
        self.all = _button("Show all rows", "Show the hidden rows again, where they were")
        self.mean = QPushButton("Ask for mean")
        self.mean.setToolTip("Find the rows nearest to the mean of these")
        self.copy = QPushButton("Copy")
        self.copy.setToolTip("Copy their labels")
        self.export = QPushButton("Export…")
        self.export.setToolTip("Save them with labels, metadata and places, and with their vectors if wished")
        self.empty = quiet(
            "Nothing is selected.\n\nDraw a lasso with Shift held down, or Ctrl-click a point."
        )
        self._lay_out()
        self._connect()
        self.refresh()

    @property
    def entrance(self) -> QWidget:
        """What takes the keys when one comes here."""
        return self.list

    # Building

    def _make_list(self) -> QTableView:
        view = row_list(self.model, SelectionDelegate(self.model), "Selected rows")
        view.entered.connect(self._point_at)
        view.clicked.connect(self._ask_if_alone)
        view.activated.connect(lambda index: _ask(self._session, self.model, index))
        view.selectionModel().currentChanged.connect(lambda index, _last: self._point_at(index))
        view.installEventFilter(self)
        view.viewport().installEventFilter(self)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        for text, act, key in (
            ("Copy labels", self.copy_labels, QKeySequence(QKeySequence.StandardKey.Copy)),
            ("Take from the selection", self.remove_marked, QKeySequence(Qt.Key.Key_Delete)),
        ):
            action = QAction(text, view)
            action.setShortcut(key)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(act)
            view.addAction(action)
        return view

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        isolating = self._session.isolating
        menu.addAction("Where they are", lambda: isolating.isolate())
        menu.addAction("Laid out anew among themselves", lambda: isolating.isolate(anew=True))
        menu.addSeparator()
        menu.addAction("Hide these", lambda: isolating.hide())
        return menu

    def _lay_out(self) -> None:
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 12)
        column.setSpacing(6)
        column.addLayout(_line(self.title, self.share, None, self.invert, self.clear))
        column.addLayout(_line(self.only, None, self.order))
        column.addLayout(_line(self.alone, None, self.all))
        column.addWidget(self.list, 1)
        column.addWidget(self.empty, 1)
        column.addLayout(_line(self.mean, None, self.copy, self.export))
        self.setMinimumWidth(300)

    def _connect(self) -> None:
        session, document = self._session, self._session.document
        self.invert.clicked.connect(lambda: session.selecting.invert())
        self.clear.clicked.connect(lambda: session.selecting.clear())
        self.all.clicked.connect(lambda: session.isolating.show_all())
        self.mean.clicked.connect(lambda: session.asking.ask_mean(document.selection))
        self.copy.clicked.connect(self.copy_all)
        self.export.clicked.connect(self.export_wanted)
        self.order.activated.connect(lambda _place: self._reorder())
        for changed in (
            document.selection_changed,
            document.isolation_changed,
            document.answer_changed,
            document.similarities_changed,
            document.table_changed,
        ):
            changed.connect(self.refresh)

    # Showing

    def refresh(self) -> None:
        """Show the document's selection."""
        document = self._session.document
        table, rows = document.table, document.selection
        answer = document.answer
        nearest = self.order.currentText() == NEAREST_FIRST and answer is not None
        scores = similarities(document) if table is not None and answer is not None and len(rows) else None
        self.model.show(
            table,
            rows,
            scores,
            best_first=nearest,
            ascending=answer is not None and answer.question.metric.ascending,
        )
        self.title.setText(counted(len(rows), "row"))
        total = 0 if table is None else table.listing.rows
        self.share.setText(f"of {total:,}")
        some = len(rows) > 0
        for widget in (self.list, self.order, self.title, self.share, self.invert, self.clear):
            widget.setVisible(some)
        self.order.setEnabled(answer is not None)
        self.empty.setVisible(not some)
        self.only.setVisible(some)
        isolation = document.isolation
        if isolation is not None:
            self.alone.setText(f"Only {counted(len(isolation.rows), 'row')} shown")
        for widget in (self.alone, self.all):
            widget.setVisible(isolation is not None)
        for button in (self.mean, self.copy, self.export):
            button.setEnabled(some)

    def _reorder(self) -> None:
        if self.order.currentText() == NEAREST_FIRST:
            self._session.grouping.want_scores()
        self.refresh()

    # Doing

    def copy_all(self) -> None:
        """Put all labels on the clipboard, a line each."""
        self._copy(range(self.model.rowCount()))

    def copy_labels(self) -> None:
        """Put the labels marked in the list on the clipboard; all where none is marked."""
        marked = sorted(index.row() for index in self.list.selectedIndexes())
        self._copy(marked or range(self.model.rowCount()))

    def _copy(self, places: list[int] | range) -> None:
        if len(places) > MOST_COPIED:
            self._session.notices.tell(
                f"{counted(len(places), 'label')} are too many for the clipboard: export them to a file."
            )
            return
        QGuiApplication.clipboard().setText(self.model.labels(places))
        self._session.notices.tell(f"{counted(len(places), 'label')} on the clipboard.")

    def remove_marked(self) -> None:
        """Take the rows marked in the list from the selection."""
        places = [index.row() for index in self.list.selectedIndexes()]
        self._session.selecting.take(self.model.rows[places], Combine.REMOVE)

    def _ask_if_alone(self, index: QModelIndex) -> None:
        """A plain click asks for its row, as everywhere; with Ctrl or Shift it marks."""
        if len(self.list.selectedIndexes()) == 1:
            _ask(self._session, self.model, index)

    def _point_at(self, index: QModelIndex) -> None:
        self.hovered.emit(int(self.model.rows[index.row()]) if index.isValid() else -1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.hovered.emit(-1)
        return super().eventFilter(watched, event)


def _ask(session: Session, model: SelectionModel, index: QModelIndex) -> None:
    """Ask for the row at a place of the list."""
    if index.isValid():
        session.asking.ask_row(int(model.rows[index.row()]))


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setProperty("flat", True)
    button.setToolTip(tip)
    return button


def _line(*widgets: QWidget | None) -> QHBoxLayout:
    """Widgets side by side; None is a gap that grows."""
    line = QHBoxLayout()
    line.setSpacing(6)
    for widget in widgets:
        if widget is None:
            line.addStretch(1)
        else:
            line.addWidget(widget)
    return line
