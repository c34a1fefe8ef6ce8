"""Every command of the window by name: its text, its keys, its place in the menus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

SEPARATOR = "-"


@dataclass(frozen=True)
class Entry:
    """One command.

    Attributes
    ----------
    name : str
        Names it in code.
    text : str
    keys : tuple of str
        Shortcuts, in Qt's portable notation.
    checkable : bool
    """

    name: str
    text: str
    keys: tuple[str, ...] = ()
    checkable: bool = False


MENUS: dict[str, tuple[Entry | str, ...]] = {
    "File": (
        Entry("open", "Open file…", ("Ctrl+O",)),
        Entry("open_folder", "Open folder…", ("Ctrl+Shift+O",)),
        Entry("index_folder", "Index a folder of pictures…", ("Ctrl+I",)),
        "menu:recent",
        "menu:models",
        "menu:demos",
        SEPARATOR,
        Entry("choose_table", "Choose table…", ("Ctrl+T",)),
        Entry("labels", "Labels…", ("Ctrl+L",)),
        Entry("target_labels", "Labels of the target side…"),
        SEPARATOR,
        Entry("save_picture", "Save picture…", ("Ctrl+S",)),
        Entry("save_neighbours", "Save neighbours as CSV…", ("Ctrl+Shift+S",)),
        Entry("save_layout", "Save layout as CSV or NPZ…"),
        SEPARATOR,
        Entry("close_file", "Close file", ("Ctrl+W",)),
        Entry("quit", "Quit", ("Ctrl+Q",)),
    ),
    "Edit": (
        Entry("undo", "Undo", ("Ctrl+Z",)),
        Entry("redo", "Redo", ("Ctrl+Shift+Z", "Ctrl+Y")),
        SEPARATOR,
        Entry("copy_picture", "Copy picture", ("Ctrl+Shift+C",)),
        Entry("copy_neighbours", "Copy neighbours", ("Ctrl+Alt+C",)),
    ),
    "View": (
        Entry("zoom_in", "Zoom in", ("+", "=")),
        Entry("zoom_out", "Zoom out", ("-",)),
        Entry("fit", "Fit the map", ("0", "F")),
        SEPARATOR,
        Entry("only_map", "Only the map", ("F9",), checkable=True),
        Entry("next_panel", "Next panel", ("F6",)),
        Entry("last_panel", "Panel before", ("Shift+F6",)),
        "menu:panels",
        "menu:theme",
    ),
    "Map": (
        Entry("start", "Start layout", ("Ctrl+R",)),
        Entry("stop", "Stop layout", ("Ctrl+.",)),
        Entry("keep", "Keep this map", ("Ctrl+K",)),
        SEPARATOR,
        Entry("more_labels", "More labels", ("Ctrl+]",)),
        Entry("fewer_labels", "Fewer labels", ("Ctrl+[",)),
        Entry("pictures", "Pictures or dots", ("P",)),
        Entry("crowds", "Crowds or dots", ("D",)),
        Entry("legend", "Legend", ("G",)),
        Entry("rename_region", "Rename the region in the middle", ("F2",)),
        SEPARATOR,
        Entry("quarantined", "Quarantined rows…"),
    ),
    "Selection": (
        Entry("lasso", "Lasso", ("L",)),
        Entry("box", "Box", ("B",)),
        "menu:combine",
        SEPARATOR,
        Entry("select_answer", "The answer's rows", ("Ctrl+Shift+A",)),
        Entry("select_filter", "What the filter leaves"),
        SEPARATOR,
        Entry("invert_selection", "Invert", ("Ctrl+Shift+I",)),
        Entry("clear_selection", "Select nothing", ("Ctrl+D",)),
        SEPARATOR,
        Entry("show_only", "Show only these", ("I",)),
        Entry("lay_out_alone", "Lay these out among themselves", ("Shift+I",)),
        Entry("hide_selected", "Hide these", ("H",)),
        Entry("show_all", "Show all rows", ("Shift+H",)),
        SEPARATOR,
        Entry("ask_mean", "Ask for their mean", ("Ctrl+M",)),
        Entry("copy_labels", "Copy their labels"),
        Entry("save_selection", "Export selected rows…", ("Ctrl+E",)),
    ),
    "Query": (
        Entry("query", "Ask", ("Ctrl+F", "/")),
        Entry("filter", "Filter rows", ("Ctrl+Shift+F",)),
        Entry("paste_picture", "Ask for the picture on the clipboard", ("Ctrl+V",)),
        Entry("back", "Back", ("Alt+Left",)),
        Entry("forward", "Forward", ("Alt+Right",)),
        Entry("clear", "Clear the answer", ("Ctrl+Backspace",)),
        SEPARATOR,
        Entry("recall", "How good is it…"),
    ),
    "Help": (
        Entry("shortcuts", "Keyboard shortcuts", ("F1",)),
        Entry("about", "About Embedding Explorer"),
    ),
}


class Actions:
    """The window's actions, made once from ``MENUS``.

    Parameters
    ----------
    window : QMainWindow
        Gets the menus.
    handlers : mapping of str to callable
        One for each entry's name; a checkable entry's is called with its state.
    """

    def __init__(self, window: QMainWindow, handlers: Mapping[str, Callable[..., None]]) -> None:
        self.by_name: dict[str, QAction] = {}
        self.menus: dict[str, QMenu] = {}
        for title, entries in MENUS.items():
            menu = window.menuBar().addMenu(title)
            for entry in entries:
                if entry == SEPARATOR:
                    menu.addSeparator()
                elif isinstance(entry, str):
                    name = entry.removeprefix("menu:")
                    self.menus[name] = menu.addMenu(SUBMENUS[name])
                else:
                    menu.addAction(self._make(window, entry, handlers[entry.name]))

    def _make(self, window: QMainWindow, entry: Entry, handler: Callable[..., None]) -> QAction:
        action = QAction(entry.text, window)
        action.setShortcuts([QKeySequence(keys) for keys in entry.keys])
        action.setCheckable(entry.checkable)
        # The menu bar alone would take the keys with it where it is hidden.
        window.addAction(action)
        if entry.checkable:
            action.toggled.connect(handler)
        else:
            action.triggered.connect(lambda: handler())
        self.by_name[entry.name] = action
        return action

    def __getitem__(self, name: str) -> QAction:
        return self.by_name[name]

    def enable(self, names: tuple[str, ...], enabled: bool) -> None:
        """Switch several actions on or off."""
        for name in names:
            self.by_name[name].setEnabled(enabled)


SUBMENUS = {
    "recent": "Open recent",
    "models": "Open from the local model cache",
    "demos": "Demo",
    "combine": "What is selected next",
    "panels": "Panels",
    "theme": "Theme",
}
NEED_TABLE = (
    "choose_table",
    "labels",
    "target_labels",
    "close_file",
    "zoom_in",
    "zoom_out",
    "fit",
    "start",
    "stop",
    "more_labels",
    "fewer_labels",
    "quarantined",
    "pictures",
    "crowds",
    "legend",
    "rename_region",
    "lasso",
    "box",
    "invert_selection",
    "clear_selection",
    "query",
    "filter",
    "back",
    "forward",
    "clear",
)
NEED_MAP = ("save_picture", "save_layout", "copy_picture", "keep")
NEED_CAPTIONS = ("recall",)
NEED_SELECTION = (
    "show_only",
    "lay_out_alone",
    "hide_selected",
    "ask_mean",
    "copy_labels",
    "save_selection",
)
NEED_ISOLATION = ("show_all",)
NEED_FILTER = ("select_filter",)
NEED_ANSWER = ("save_neighbours", "copy_neighbours", "select_answer")
