"""The main window: the map in the middle, docks around it, the query line above, work below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMainWindow,
    QPushButton,
    QStackedWidget,
    QTabWidget,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Session
from explorer.document.look import LABEL_STEPS
from explorer.views.actions import NEED_ANSWER, NEED_CAPTIONS, NEED_MAP, NEED_TABLE, Actions
from explorer.views.answer_news import AnswerNews
from explorer.views.dock import Dock
from explorer.views.dropped import paths_in
from explorer.views.file_commands import FileCommands
from explorer.views.handlers import handlers_of
from explorer.views.map.start_page import StartPage
from explorer.views.menus import Menus
from explorer.views.panels.answer import AnswerPanel
from explorer.views.panels.filter_bar import FilterBar
from explorer.views.panels.index_offer import IndexOffer
from explorer.views.panels.notice_bar import NoticeBar
from explorer.views.panels.query_bar import QueryBar
from explorer.views.panels.side_panel import WIDTH, SidePanel
from explorer.views.panels.status_bar import StatusBar
from explorer.views.row_commands import RowCommands
from explorer.views.theme import refresh_theme
from explorer.views.thumbnails import Thumbnails

if TYPE_CHECKING:
    from explorer.views.map.map_view import MapView
    from explorer.views.panels.lookup import LookupPanel
    from explorer.views.panels.selection import SelectionPanel
    from explorer.views.panels.stages import StagesPanel

AFTER_FIRST_PICTURE_MS = 30
"""By then the window is on screen."""
DOCK_STATE_VERSION = 1
TITLE_BAR = 32
ANSWER_WIDTH = 324


class MainWindow(QMainWindow):
    """Shows one session."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.setMinimumSize(720, 480)
        room = self.screen().availableGeometry()
        self.resize(min(1440, room.width()), min(900, room.height() - TITLE_BAR))
        self.thumbnails = Thumbnails(parent=self)
        self._map: MapView | None = None
        self.files = FileCommands(self, session)
        self.start = StartPage(
            session,
            choose=self.files.open_files,
            index=self.files.index_folder,
            demo=self.files.open_demo,
        )
        self.query = QueryBar(session)
        self.filter = FilterBar(session)
        self.status = StatusBar(session)
        self.notice = NoticeBar(session.notices)
        self.offer = IndexOffer(session)
        self._lay_out()
        self.actions_by_name = Actions(self, handlers_of(self))
        self.menus = Menus(self, session, self.files, self.actions_by_name)
        self.rows = RowCommands(self, session, self.actions_by_name)
        self.answer_news = AnswerNews(self, session)
        self._connect()
        self._restore()
        self._document_changed()
        QTimer.singleShot(AFTER_FIRST_PICTURE_MS, self, lambda: self.map)

    # Parts: those that lie behind others are made when they are first wanted

    @property
    def map(self) -> MapView:
        if self._map is None:
            from explorer.views.map.map_view import MapView

            self._map = made = MapView(self.session, self.thumbnails)
            only_map = self.actions_by_name["only_map"]
            made.pointed_at.connect(self.answer.light_row)
            made.tab_pressed.connect(only_map.toggle)
            made.escape_pressed.connect(lambda: only_map.setChecked(False))
            self.stack.addWidget(made)
        return self._map

    @property
    def side(self) -> SidePanel:
        return self.docks[0].panel

    @property
    def answer(self) -> AnswerPanel:
        return self.docks[1].panel

    @property
    def lookup(self) -> LookupPanel:
        return self.docks[2].panel

    @property
    def stages(self) -> StagesPanel:
        return self.docks[3].panel

    @property
    def selection(self) -> SelectionPanel:
        return self.selection_dock.panel

    # Making

    def _lay_out(self) -> None:
        self.stack = QStackedWidget()
        self.stack.addWidget(self.start)
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.notice)
        column.addWidget(self.offer)
        column.addWidget(self.filter)
        column.addWidget(self.stack, 1)
        self.setCentralWidget(middle)
        self.docks = (
            self._dock("Sources", lambda: SidePanel(self.session), Qt.DockWidgetArea.LeftDockWidgetArea),
            self._dock(
                "Neighbours",
                lambda: AnswerPanel(self.session, self.thumbnails),
                Qt.DockWidgetArea.RightDockWidgetArea,
            ),
            self._dock("Lookup", self._make_lookup, Qt.DockWidgetArea.RightDockWidgetArea),
            self._dock("Stages", self._make_stages, Qt.DockWidgetArea.RightDockWidgetArea),
            self._dock("Selection", self._make_selection, Qt.DockWidgetArea.RightDockWidgetArea),
        )
        _, right, *tabbed, self.selection_dock = self.docks
        for dock in (*tabbed, self.selection_dock):
            self.tabifyDockWidget(right, dock)
        self.selection_dock.hide()
        right.raise_()
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setStatusBar(self.status)
        self.addToolBar(self._top_bar())

    def _dock(self, title: str, panel: Callable[[], QWidget], area: Qt.DockWidgetArea) -> Dock:
        dock = Dock(title, panel, self)
        self.addDockWidget(area, dock)
        return dock

    def _make_lookup(self) -> LookupPanel:
        from explorer.views.panels.lookup import LookupPanel

        return LookupPanel(self.session)

    def _make_stages(self) -> StagesPanel:
        from explorer.views.panels.stages import StagesPanel

        return StagesPanel(self.session)

    def _make_selection(self) -> SelectionPanel:
        from explorer.views.panels.selection import SelectionPanel

        panel = SelectionPanel(self.session)
        panel.hovered.connect(self.map.point_out)
        panel.export_wanted.connect(self.files.save_selection)
        return panel

    def _top_bar(self) -> QToolBar:
        bar = QToolBar("Query")
        bar.setObjectName("Query")
        bar.setMovable(False)
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.copy = QPushButton("Copy picture")
        self.export = QPushButton("Export…")
        self.copy.clicked.connect(self.files.copy_picture)
        self.export.clicked.connect(self.files.save_picture)
        inside = QWidget()
        line = QHBoxLayout(inside)
        line.setContentsMargins(12, 8, 12, 8)
        line.setSpacing(12)
        line.addWidget(self.query, 4)
        line.addStretch(1)
        line.addWidget(self.copy)
        line.addWidget(self.export)
        bar.addWidget(inside)
        return bar

    def _connect(self) -> None:
        document = self.session.document
        document.table_changed.connect(self._document_changed)
        document.layout_changed.connect(self._map_changed)
        document.answer_changed.connect(self._answer_changed)
        self.session.opening.picker_wanted.connect(self.files.choose_table)
        self.session.opening.pictures_found.connect(self.offer.offer)
        self.side.encoder.recall_wanted.connect(self.files.show_recall)
        self.session.news.remarks_wanted.connect(self.files.show_remarks)
        self.side.sources.labels_wanted.connect(self.files.choose_labels)
        self.side.table.quarantined_wanted.connect(self.files.show_quarantined)
        self.answer.hovered.connect(lambda row: self.map.point_out(row))
        self.filter.left.connect(lambda: self.map.canvas.setFocus(Qt.FocusReason.OtherFocusReason))
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._scheme_changed)

    # Following the document

    def _document_changed(self) -> None:
        document = self.session.document
        has_table = document.table is not None
        self.thumbnails.show(document.pictures)
        self.stack.setCurrentWidget(self.map if has_table else self.start)
        self.start.refresh()
        self.setWindowTitle("Embedding Explorer" if document.table is None else document.table.title)
        self.actions_by_name.enable(NEED_TABLE, has_table)
        self.actions_by_name.enable(NEED_CAPTIONS, document.has_captions)
        self._map_changed()
        self._answer_changed()

    def _map_changed(self) -> None:
        has_map = self.session.document.positions is not None
        self.actions_by_name.enable(NEED_MAP, has_map)
        for button in (self.copy, self.export):
            button.setEnabled(has_map)

    def _answer_changed(self) -> None:
        document = self.session.document
        self.actions_by_name.enable(NEED_ANSWER, document.answer is not None)
        self.actions_by_name["back"].setEnabled(self.session.asking.can_go(-1))
        self.actions_by_name["forward"].setEnabled(self.session.asking.can_go(1))

    def _scheme_changed(self) -> None:
        refresh_theme(QApplication.instance())
        self.restyle()

    def restyle(self) -> None:
        """Take on the colours that hold now, where a style sheet does not reach."""
        self.notice.restyle()
        self.filter.restyle()
        self.offer.restyle()
        self.start.refresh()
        if self._map is not None:
            self._map.restyle()

    # Showing and hiding

    def show_only_map(self, only: bool) -> None:
        """Hide everything but the map, or bring back what was there."""
        if only:
            self._before = self.saveState(DOCK_STATE_VERSION)
            for dock in self.docks:
                dock.hide()
        else:
            self.restoreState(self._before, DOCK_STATE_VERSION)
        for widget in (self.menuBar(), self.status, self.findChild(QToolBar, "Query")):
            widget.setVisible(not only)

    def go_to_query(self) -> None:
        """Go to the query line, out of hiding where only the map is shown."""
        self.actions_by_name["only_map"].setChecked(False)
        self.query.focus_query()

    def go_to_panel(self, step: int) -> None:
        """Go on to the next part of the window that is shown (or, with -1, to the one before)."""
        side, *answers = (dock.widget() for dock in self.docks)
        entrances = {
            self.query: self.query.field,
            self.offer: self.offer.encoder,
            self.filter: self.filter.field,
            self.stack: self.map.canvas if self.session.document.table is not None else self.start.choose,
        } | {panel: panel.entrance for panel in (*answers, side) if panel is not None}
        parts = tuple(entrances)
        focused = QApplication.focusWidget()
        at = next((i for i, part in enumerate(parts) if focused and part.isAncestorOf(focused)), -1)
        for place in range(at + step, at + step * (len(parts) + 1), step):
            entrance = entrances[parts[place % len(parts)]]
            if entrance.isEnabled() and _in_sight(entrance):
                entrance.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape, where no part of the window has a use for it: away with the message, back to the map."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self.notice.isVisible():
            self.notice.hide()
        elif self.stack.currentWidget() is self._map:
            self.map.canvas.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def use_tool(self, name: str) -> None:
        """Take up the map's ``LASSO`` or ``BOX``, or put it away."""
        from explorer.views.map.canvas import Tool

        self.map.use_tool(Tool[name])

    def step_labels(self, step: int) -> None:
        """Show more or fewer labels."""
        document = self.session.document
        place = LABEL_STEPS.index(document.look.labels) + step
        labels = LABEL_STEPS[min(max(place, 0), len(LABEL_STEPS) - 1)]
        document.set_look(replace(document.look, labels=labels))

    # Dropping

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() or event.mimeData().hasImage():
            event.acceptProposedAction()
            self.map.show_drop_hint(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.map.show_drop_hint(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self.map.show_drop_hint(False)
        paths = paths_in(event.mimeData())
        if self.query.pictures.take(event.mimeData()):
            event.acceptProposedAction()
        elif paths:
            event.acceptProposedAction()
            self.session.opening.drop(paths)

    def paste_picture(self) -> None:
        """Ask for the picture on the clipboard."""
        if not self.query.pictures.take(QGuiApplication.clipboard().mimeData()):
            self.session.notices.tell("There is no picture on the clipboard.")

    # Coming and going

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.session.settings.docks:
            # Only a window that is being shown heeds widths.
            left, right, *_ = self.docks
            self.resizeDocks([left, right], [WIDTH, ANSWER_WIDTH], Qt.Orientation.Horizontal)

    def _restore(self) -> None:
        settings = self.session.settings
        if settings.geometry:
            self.restoreGeometry(QByteArray.fromBase64(settings.geometry.encode()))
        if settings.docks:
            self.restoreState(QByteArray.fromBase64(settings.docks.encode()), DOCK_STATE_VERSION)
            # Nothing is selected yet: it comes out with the first rows.
            self.selection_dock.hide()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.files.keeps_open():
            event.ignore()
            return
        if self.actions_by_name["only_map"].isChecked():
            self.actions_by_name["only_map"].setChecked(False)
        settings = self.session.settings
        settings.geometry = bytes(self.saveGeometry().toBase64()).decode()
        settings.docks = bytes(self.saveState(DOCK_STATE_VERSION).toBase64()).decode()
        self.files.remember()
        if self._map is not None:
            self._map.close_down()
        self.answer.close_down()
        self.thumbnails.close()
        self.session.close()
        super().closeEvent(event)


def _in_sight(widget: QWidget) -> bool:
    """Whether it is shown; a dock behind another's tab counts as visible for Qt, but lies outside."""
    window = widget.window()
    return widget.isVisible() and window.rect().intersects(
        QRect(widget.mapTo(window, QPoint()), widget.size())
    )
