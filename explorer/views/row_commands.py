"""What the window does with rows: the filter's bar, the selection's dock, undo with its words in the menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDockWidget

from explorer.commands import Session
from explorer.views.actions import NEED_FILTER, NEED_ISOLATION, NEED_SELECTION, Actions

if TYPE_CHECKING:
    from explorer.views.main_window import MainWindow


class RowCommands(QObject):
    """Follows the document where rows are chosen, for the window that it belongs to."""

    def __init__(self, window: MainWindow, session: Session, actions: Actions) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._actions = actions
        self._had_selection = False
        self._seen: QDockWidget | None = None
        for dock in window.docks:
            if dock is not window.selection_dock:
                dock.visibilityChanged.connect(lambda seen, dock=dock: self._dock_seen(dock, seen))
        window.filter.select_wanted.connect(actions["select_filter"].trigger)
        document = session.document
        document.undo_changed.connect(self._undo_changed)
        document.selection_changed.connect(self._selection_changed)
        document.isolation_changed.connect(self._enable)
        document.filter_changed.connect(self._enable)
        document.table_changed.connect(self._enable)
        self._undo_changed()
        self._enable()

    def _undo_changed(self) -> None:
        """Say in the menu what would be undone."""
        changes = self._session.document.changes
        for name, word, stack in (("undo", "Undo", changes.done), ("redo", "Redo", changes.undone)):
            action = self._actions[name]
            action.setText(f"{word} {shortened(stack[-1].text)}" if stack else word)
            action.setEnabled(bool(stack))

    def _selection_changed(self) -> None:
        """Bring the selection's dock out with the first rows selected, and away with the last."""
        self._enable()
        has_selection = len(self._session.document.selection) > 0
        if has_selection != self._had_selection and not self._actions["only_map"].isChecked():
            self._show_dock(has_selection)
        self._had_selection = has_selection

    def _show_dock(self, shown: bool) -> None:
        dock, before = self._window.selection_dock, self._seen
        if shown:
            dock.show()
            dock.raise_()
        else:
            dock.hide()
            if before is not None:
                before.raise_()
        self._seen = before

    def _dock_seen(self, dock: QDockWidget, seen: bool) -> None:
        """Note which of the panels that share a place with the selection's was looked at last."""
        area = self._window.dockWidgetArea
        if seen and not dock.isFloating() and area(dock) == area(self._window.selection_dock):
            self._seen = dock

    def _enable(self) -> None:
        document = self._session.document
        self._actions.enable(NEED_SELECTION, len(document.selection) > 0)
        self._actions.enable(NEED_ISOLATION, document.isolation is not None)
        self._actions.enable(NEED_FILTER, document.filtered is not None)


def shortened(text: str, most: int = 48) -> str:
    """A text that fits a menu."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
