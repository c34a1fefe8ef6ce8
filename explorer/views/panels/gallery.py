"""The answer as pictures: the chosen one large, all of them below it in lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QImage, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QSplitter, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.commands.captions import ask_captions, can_ask_captions
from explorer.core.wording import counted
from explorer.export.tables import write_rows_csv
from explorer.views.clipboard import put_picture
from explorer.views.dialogs.picture_viewer import PictureViewer
from explorer.views.file_manager import show_in_file_manager
from explorer.views.file_url import file_url
from explorer.views.panels.answer_header import AnswerHeader
from explorer.views.panels.answer_words import remark, title
from explorer.views.panels.form import quiet
from explorer.views.panels.gallery_detail import GalleryDetail
from explorer.views.panels.gallery_model import GalleryModel
from explorer.views.panels.gallery_view import GalleryView
from explorer.views.saving import ask_for_csv, save_and_tell
from explorer.views.thumbnails import Thumbnails

MORE_AT_ONCE, GROWTH = 1000, 10
_DETAIL, _LINES = 330, 400
_LEAST_WIDE = 560


class GalleryPanel(QWidget):
    """The pictures of the present answer; without one, all of the table's.

    Signals
    -------
    hovered(int) : the row under the cursor or the keyboard's mark, -1 for none; to be lit up on the map.
    """

    hovered = Signal(int)

    def __init__(self, session: Session, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._thumbnails = thumbnails
        self._stale = True
        self._to_copy: int | None = None
        self.viewer: PictureViewer | None = None
        self.header = AnswerHeader(session, gallery=True)
        self.remark = quiet()
        self.model = GalleryModel(self)
        self.view = GalleryView(self.model, thumbnails)
        self.detail = GalleryDetail(self.model, thumbnails)
        self.empty = quiet()
        self._lay_out()
        self._make_actions()
        self._connect()
        self.refresh()

    # Building

    def _lay_out(self) -> None:
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.setChildrenCollapsible(False)
        self.split.setHandleWidth(7)
        self.split.addWidget(self.detail)
        self.split.addWidget(self.view)
        self.split.setStretchFactor(0, 2)
        self.split.setStretchFactor(1, 3)
        self.split.setSizes([_DETAIL, _LINES])
        self.remark.setContentsMargins(0, 0, 0, 4)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 12)
        column.setSpacing(4)
        column.addWidget(self.header)
        column.addWidget(self.remark)
        column.addWidget(self.split, 1)
        column.addWidget(self.empty, 1)
        self.setMinimumWidth(300)

    def _make_actions(self) -> None:
        def action(text: str, act: object, key: str = "") -> QAction:
            made = QAction(text, self.view)
            made.triggered.connect(act)
            made.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            made.setShortcut(QKeySequence(key))
            self.view.addAction(made)
            return made

        self.full_action = action("Full picture", self.open_full, "Return")
        self.alike_action = action("More like this", self.ask_alike, "Ctrl+Return")
        self.captions_action = action("Captions like this picture", self.ask_captions)
        self.select_action = action("Select on the map", self.select)
        self.reveal_action = action("Show in file manager", self.reveal, "Ctrl+Shift+R")
        self.copy_action = action("Copy picture", self.copy_picture, "Ctrl+C")
        self.copy_path_action = action("Copy path", self.copy_path, "Ctrl+Shift+P")
        self.save_action = action("Save list as CSV…", self.choose_csv)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def _connect(self) -> None:
        session, document, view = self._session, self._session.document, self.view
        view.selectionModel().currentChanged.connect(self._current_changed)
        view.pointed.connect(self._pointed)
        view.doubleClicked.connect(self.open_full)
        view.customContextMenuRequested.connect(
            lambda spot: self.menu().popup(view.viewport().mapToGlobal(spot))
        )
        view.end_neared.connect(self._grow, Qt.ConnectionType.QueuedConnection)
        view.resized_by_hand.connect(self._set_height)
        view.installEventFilter(self)
        view.set_picture_height(session.settings.picture_height)
        self.detail.full_wanted.connect(self.open_full)
        self.detail.alike_wanted.connect(self.ask_alike)
        self.detail.previews.arrived.connect(self._put_on_clipboard)
        document.answer_changed.connect(self.refresh)
        document.table_changed.connect(self.refresh)

    def menu(self) -> QMenu:
        """The commands for the chosen pictures."""
        there = self._place() >= 0
        chosen = len(self.view.selectedIndexes())
        self.save_action.setText(f"Save the {chosen:,} chosen as CSV…" if chosen > 1 else "Save list as CSV…")
        for each in self.view.actions():
            each.setEnabled(there or each is self.save_action)
        self.copy_path_action.setText("Copy paths" if chosen > 1 else "Copy path")
        menu = QMenu(self.view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.full_action, self.alike_action])
        if can_ask_captions(self._session):
            menu.addAction(self.captions_action)
        menu.addAction(self.select_action)
        menu.addSeparator()
        menu.addActions([self.reveal_action, self.copy_action, self.copy_path_action])
        menu.addSeparator()
        menu.addAction(self.save_action)
        return menu

    # Showing

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the chosen picture beside the others where there is more width than height."""
        super().resizeEvent(event)
        size = event.size()
        wide = size.width() > max(size.height(), _LEAST_WIDE)
        orientation = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if orientation != self.split.orientation():
            self.split.setOrientation(orientation)
            self.split.setSizes([_DETAIL, _LINES])

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    def refresh(self) -> None:
        """Show the present answer, or all pictures; nothing is loaded while the panel is out of sight."""
        self._stale = not self.isVisible()
        document = self._session.document
        self.header.refresh()
        if self._stale and document.table is not None:
            return
        for loader in (self._thumbnails, self.detail.previews):
            loader.show(document.pictures)
        answer = document.answer
        grew = self.model.show(document.table, answer)
        listed = self.model.rowCount() > 0
        self.split.setVisible(listed)
        self.empty.setVisible(not listed)
        self.empty.setText(self._empty_words())
        self._show_words()
        if not grew:
            best = self.model.index(0, 0) if listed and answer is not None else QModelIndex()
            self.view.setCurrentIndex(best)
            self.detail.show_place(best.row())
            if self.viewer is not None and not best.isValid():
                self.viewer.close()
        elif self._place() >= 0:
            self.detail.show_place(self._place())

    def _show_words(self) -> None:
        answer = self._session.document.answer
        listed = self.model.rowCount()
        if answer is None:
            self.header.title.setText("Pictures")
            self.header.count.setText(self._counted(listed) if listed else "")
            self.header.measure.setText("type what you want to see" if listed else "")
            self.header.measure.setToolTip("")
            self.remark.hide()
            return
        self.header.title.setText(title(answer))
        self.header.count.setText(f"{self._counted(self.model.ranked)}, nearest first")
        self.header.count.setVisible(listed > 0)
        self.header.measure.setText(str(answer.result.metric) if listed else "")
        self.header.measure.setToolTip("How alike a picture and the question are")
        self.remark.setText(remark(answer))
        self.remark.setVisible(bool(self.remark.text()))

    def _counted(self, rows: int) -> str:
        """So many pictures; rows, where several may belong to one picture, as its captions do."""
        pictures = self._session.document.pictures
        return counted(rows, "picture" if pictures is None or pictures.of_row is None else "row")

    def _empty_words(self) -> str:
        document = self._session.document
        if document.table is None:
            return "Open an index of pictures, or drop a folder of them."
        if document.pictures is None:
            return "This table's rows carry no pictures."
        if not document.table.health.healthy.any():
            return "None of the pictures has a vector to compare.\n“Quarantined”, at the left, says why."
        return "No pictures are left to compare with.\nThe menu beside the query brings back those left out."

    def _grow(self) -> None:
        """Ask for more results where those that are there come to their end."""
        answer = self.model.answer
        if answer is not None and len(answer.result.rows) == answer.question.k:
            self._session.asking.more(max(MORE_AT_ONCE, GROWTH * answer.question.k))

    def light_row(self, row: int) -> None:
        """Ring a row's picture that is pointed at elsewhere; -1 none."""
        place = None if row < 0 or not self.isVisible() else self.model.place_of(row)
        self.view.light(-1 if place is None else place)

    def _current_changed(self, index: QModelIndex) -> None:
        self.detail.show_place(index.row())
        if self.view.hasFocus() and index.isValid():
            self.hovered.emit(self.model.row_at(index.row()))
        if self.viewer is not None and self.viewer.isVisible() and index.isValid():
            self.viewer.show_place(index.row())

    def _pointed(self, place: int) -> None:
        self.hovered.emit(self.model.row_at(place) if place >= 0 else -1)

    def _set_height(self, height: int) -> None:
        self._session.settings.picture_height = height
        self.view.set_picture_height(height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.hovered.emit(-1)
        return super().eventFilter(watched, event)

    def close_down(self) -> None:
        """End what goes on beside the window."""
        self.detail.previews.close()
        if self.viewer is not None:
            self.viewer.close_down()

    # Acting

    def _place(self) -> int:
        """The place that commands are for; -1 for none."""
        return self.view.currentIndex().row()

    def open_full(self) -> None:
        """Open the chosen picture in a window of its own, which stays until it is closed."""
        if self._place() < 0:
            return
        if self.viewer is None:
            self.viewer = PictureViewer(self.model, self)
            self.viewer.moved_to.connect(lambda place: self.view.setCurrentIndex(self.model.index(place, 0)))
        self.viewer.open_at(self._place())

    def ask_alike(self) -> None:
        """Ask for pictures like the chosen one."""
        if self._place() >= 0:
            self._session.asking.more_like(self.model.row_at(self._place()))

    def ask_captions(self) -> None:
        """Ask for the captions nearest to the chosen picture."""
        if self._place() >= 0 and (file := self.model.file(self._place())):
            ask_captions(self._session, file)

    def select(self) -> None:
        """Select the chosen pictures' rows, for the map and all that is done with a selection."""
        rows = [self.model.row_at(place) for place in self._chosen()]
        self._session.selecting.take(np.asarray(rows, np.int64))

    def reveal(self) -> None:
        """Show the chosen picture's file where it lies."""
        if self._place() >= 0 and (file := self.model.file(self._place())):
            show_in_file_manager(Path(file))

    def copy_path(self) -> None:
        """Copy the paths of the chosen pictures, a line each."""
        files = [file for place in self._chosen() if (file := self.model.file(place))]
        QGuiApplication.clipboard().setText("\n".join(files))

    def copy_picture(self) -> None:
        """Copy the chosen picture and the files of all that are chosen; waits for it to be loaded."""
        if self._place() >= 0:
            self._to_copy = self.model.row_at(self._place())
            if self.detail.previews.loaded(self._to_copy) is not None:
                self._put_on_clipboard(self._to_copy)

    def _put_on_clipboard(self, row: int) -> None:
        if row != self._to_copy:
            return
        self._to_copy = None
        files = [file for place in self._chosen() if (file := self.model.file(place))]
        put_picture(self.detail.previews.image(row) or QImage(), [file_url(file) for file in files])

    def _chosen(self) -> list[int]:
        """The chosen places in order; the current one where none is chosen."""
        places = sorted(index.row() for index in self.view.selectedIndexes())
        return places or [place for place in (self._place(),) if place >= 0]

    def choose_csv(self) -> None:
        """Save the list to a CSV file that the person names."""
        path = ask_for_csv(self, "Save list of pictures", "pictures.csv")
        if path is not None:
            self.save_csv(path)

    def save_csv(self, path: Path) -> None:
        """Save the chosen pictures, all where fewer than two are: rank, row, path, score, first caption."""
        places = self._chosen()
        shown = places if len(places) > 1 else range(self.model.rowCount())
        heads = ("rank", "row", "path", "score", "caption")
        save_and_tell(
            self._session.notices, path, lambda: write_rows_csv(path, heads, map(self._line, shown))
        )

    def _line(self, place: int) -> tuple[object, ...]:
        score = self.model.score(place)
        captions = self.model.captions(place)
        rank = "" if score is None else place + 1
        written = "" if score is None else f"{score:.6g}"
        row = self.model.row_at(place)
        return rank, row, self.model.file(place), written, captions[0] if captions else ""
