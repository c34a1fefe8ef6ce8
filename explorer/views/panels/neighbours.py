"""The answer: nearest neighbours in a list, all similarities below it, and whether the map agrees."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QHideEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QSizePolicy,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Session
from explorer.core.results import Metric
from explorer.document import Answer, LayoutStage
from explorer.export.tables import write_neighbours_csv
from explorer.views.panels.answer_header import AnswerHeader
from explorer.views.panels.answer_words import remark, title, trust_sentence
from explorer.views.panels.form import heading, quiet
from explorer.views.panels.neighbour_delegate import NeighbourDelegate
from explorer.views.panels.neighbour_model import NeighbourModel, signed
from explorer.views.panels.row_list import row_list
from explorer.views.panels.similarity_histogram import SimilarityHistogram
from explorer.views.saving import ask_for_csv, save_and_tell
from explorer.views.thumbnails import Thumbnails


class NeighboursPanel(QWidget):
    """The neighbours of the present question.

    Signals
    -------
    hovered(int) : the row under the cursor or the keyboard's mark, -1 for none; to be lit up on the map.
    """

    hovered = Signal(int)

    def __init__(self, session: Session, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._thumbnails = thumbnails
        self.model = NeighbourModel(self)
        self.header = AnswerHeader(session)
        self.remark = quiet()
        self.list = self._make_list()
        self.empty = quiet()
        self.histogram_title = heading("")
        self.histogram_title.setWordWrap(True)
        self.histogram = SimilarityHistogram()
        self.trust = quiet()
        self.trust.setToolTip("Near on the map: among the closest hundredth of the rows, 45 at the least")
        self._lay_out()
        self._make_actions()
        document = session.document
        document.answer_changed.connect(self.refresh)
        document.table_changed.connect(self.refresh)
        document.positions_changed.connect(self._show_trust)
        self.refresh()

    # Building

    def _make_list(self) -> QTableView:
        self._delegate = NeighbourDelegate(self.model, self._thumbnails)
        view = row_list(self.model, self._delegate, "Nearest neighbours")
        view.verticalScrollBar().valueChanged.connect(self._want_pictures)
        self._thumbnails.arrived.connect(lambda _row: view.viewport().update())
        view.viewport().installEventFilter(self)
        view.installEventFilter(self)
        view.entered.connect(self._point_at)
        view.clicked.connect(self._clicked)
        view.selectionModel().currentChanged.connect(self._point_at)
        return view

    def _lay_out(self) -> None:
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 12)
        column.setSpacing(4)
        column.addWidget(self.header)
        column.addWidget(self.remark)
        column.addWidget(self.list, 1)
        column.addWidget(self.empty, 1)
        column.addSpacing(4)
        column.addWidget(self.histogram_title)
        column.addWidget(self.histogram)
        column.addSpacing(4)
        column.addWidget(self.trust)
        self.setMinimumWidth(300)

    def _make_actions(self) -> None:
        def action(text: str, act: object, key: QKeySequence | Qt.Key | None = None) -> QAction:
            made = QAction(text, self.list)
            made.triggered.connect(act)
            made.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            if key is not None:
                made.setShortcut(QKeySequence(key))
            self.list.addAction(made)
            return made

        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.ask_action = action("Ask for this row", self.ask_current, Qt.Key.Key_Return)
        self.copy_label_action = action("Copy label", self.copy_label)
        self.copy_action = action("Copy as text", self.copy, QKeySequence(QKeySequence.StandardKey.Copy))
        self.copy_all_action = action("Copy all as text", self.copy_all)
        self.save_action = action("Save as CSV…", self.choose_csv)

    # Showing

    def refresh(self) -> None:
        """Show the present answer, or what to do to get one."""
        document = self._session.document
        answer = document.answer
        self._delegate.pictures = document.pictures is not None
        self.list.verticalHeader().setDefaultSectionSize(self._delegate.row_height)
        self.model.show(answer, document.table)
        self.header.refresh()
        self.header.title.setText("Neighbours" if answer is None else title(answer))
        listed = self.model.rowCount() > 0
        self.list.setVisible(listed)
        self.empty.setVisible(not listed)
        for part in (self.header.count, self.header.measure, self.histogram_title, self.histogram):
            part.setVisible(listed)
        self.empty.setText(self._empty_words())
        if listed and answer is not None:
            self.list.scrollToTop()
            self._show_numbers(answer)
        self.remark.setText("" if answer is None else remark(answer))
        self.remark.setVisible(bool(self.remark.text()))
        self._show_trust()

    def _empty_words(self) -> str:
        document = self._session.document
        if document.table is None:
            return "Open a file to ask it for neighbours."
        if document.answer is None:
            return "Click a point or type a word."
        return "No rows are left to compare with.\nThe menu beside the query brings back those left out."

    def _show_numbers(self, answer: Answer) -> None:
        result = answer.result
        self.header.count.setText(f"{len(result.rows):,} nearest")
        self.header.measure.setText(f"{result.metric} · over background")
        self.header.measure.setToolTip(
            "σ: standard deviations by which a row is nearer than the average row of this table"
        )
        titles = {
            Metric.COSINE: "All similarities to this query, with one-hot at 0",
            Metric.DOT: "All dot products with this query, with one-hot at 0",
            Metric.EUCLIDEAN: "All distances to this query",
        }
        self.histogram_title.setText(titles[result.metric])
        self.histogram.show_values(
            result.background.counts,
            result.background.edges,
            marks=result.scores,
            line=None if result.metric is Metric.EUCLIDEAN else 0.0,
        )
        self.histogram.setAccessibleDescription(
            f"Mean {signed(result.background.mean, 2)}, standard deviation {result.background.std:.2f}; "
            f"best {signed(float(result.scores[0]), 2)}"
        )

    def _show_trust(self) -> None:
        document = self._session.document
        answer, positions = document.answer, document.positions
        self.trust.setVisible(answer is not None and len(answer.result.rows) > 0 and positions is not None)
        if answer is None or positions is None or not len(answer.result.rows):
            return
        if document.stage in (LayoutStage.DONE, LayoutStage.STOPPED):
            self.trust.setText(trust_sentence(answer, positions))
        else:
            self.trust.setText("Map trust here: known once the map has settled.")

    def _want_pictures(self) -> None:
        """Have the pictures loaded that are in view, and no longer those that are not."""
        if self._delegate.pictures and self.isVisible():
            first, last = self.list.rowAt(0), self.list.rowAt(self.list.viewport().height())
            end = self.model.rowCount() if last < 0 else last + 1
            self._thumbnails.want(self, [self.model.row_at(place) for place in range(max(first, 0), end)])

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._want_pictures()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._thumbnails.want(self, ())

    def light_row(self, row: int) -> None:
        """Light up a row that is pointed at elsewhere; -1 none."""
        place = None if row < 0 else self.model.place_of(row)
        self._light(-1 if place is None else place)

    # Acting

    def ask_current(self) -> None:
        """Ask for the marked row's own neighbours."""
        index = self.list.currentIndex()
        if index.isValid():
            self._session.asking.ask_row(self.model.row_at(index.row()))

    def copy_label(self) -> None:
        """Copy the marked row's label."""
        index = self.list.currentIndex()
        if index.isValid():
            QGuiApplication.clipboard().setText(self.model.label(index.row()))

    def copy(self) -> None:
        """Copy the selected neighbours as lines of text; all of them where none is selected."""
        places = sorted(index.row() for index in self.list.selectionModel().selectedRows())
        if self.model.answer is not None:
            QGuiApplication.clipboard().setText(self.model.texts(places or range(self.model.rowCount())))

    def copy_all(self) -> None:
        """Copy all neighbours as lines of text."""
        if self.model.answer is not None:
            QGuiApplication.clipboard().setText(self.model.texts(range(self.model.rowCount())))

    def choose_csv(self) -> None:
        """Save the neighbours to a CSV file that the person names."""
        path = ask_for_csv(self, "Save neighbours", "neighbours.csv")
        if path is not None:
            self.save_csv(path)

    def save_csv(self, path: Path) -> None:
        """Save the neighbours to a CSV file; what goes wrong is told in the notice bar."""
        answer, table = self._session.document.answer, self._session.document.table
        if answer is None or table is None:
            return
        labels = [self.model.label(place) for place in range(self.model.rowCount())]
        result, deviations = answer.result, answer.deviations.tolist()
        save_and_tell(
            self._session.notices,
            path,
            lambda: write_neighbours_csv(path, result.rows, labels, result.scores, deviations),
        )

    def _clicked(self, index: QModelIndex) -> None:
        if QGuiApplication.keyboardModifiers() == Qt.KeyboardModifier.NoModifier:
            self._session.asking.ask_row(self.model.row_at(index.row()))

    def _point_at(self, index: QModelIndex) -> None:
        place = index.row() if index.isValid() else -1
        self._light(place)
        self.hovered.emit(self.model.row_at(place) if place >= 0 else -1)

    def _light(self, place: int) -> None:
        self._delegate.hovered = place
        self.histogram.light(self.model.score(place) if place >= 0 else None)
        self.list.viewport().update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        left = watched is self.list.viewport() and event.type() == QEvent.Type.Leave
        if left or (watched is self.list and event.type() == QEvent.Type.FocusOut):
            self._light(-1)
            self.hovered.emit(-1)
        return super().eventFilter(watched, event)
