"""What the window's actions do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.views.main_window import MainWindow


def handlers_of(window: MainWindow) -> dict[str, Callable[..., object]]:
    """What each action of the window does, by the action's name."""
    session, files = window.session, window.files
    return {
        "open": files.open_files,
        "open_folder": files.open_folder,
        "index_folder": files.index_folder,
        "choose_table": files.choose_table,
        "labels": files.choose_labels,
        "target_labels": lambda: files.choose_labels(target=True),
        "save_picture": files.save_picture,
        "save_neighbours": files.save_neighbours,
        "save_layout": files.save_layout,
        "close_file": files.close_file,
        "quit": window.close,
        "undo": session.document.undo,
        "redo": session.document.redo,
        "copy_picture": files.copy_picture,
        "copy_neighbours": window.answer.neighbours.copy_all,
        "zoom_in": lambda: window.map.zoom(1.5),
        "zoom_out": lambda: window.map.zoom(1 / 1.5),
        "fit": lambda: window.map.fit(),
        "only_map": window.show_only_map,
        "next_panel": lambda: window.go_to_panel(1),
        "last_panel": lambda: window.go_to_panel(-1),
        "start": session.mapping.start,
        "stop": session.mapping.stop,
        "keep": session.mapping.keep,
        "more_labels": lambda: window.step_labels(1),
        "fewer_labels": lambda: window.step_labels(-1),
        "quarantined": files.show_quarantined,
        "pictures": lambda: window.map.show_pictures(not window.map.pictures.shown),
        "crowds": lambda: window.map.show_crowds(not window.map.tools["density"].isChecked()),
        "rename_region": lambda: window.map.rename_region(),
        "legend": lambda: window.map.legend.open_whole(),
        "lasso": lambda: window.use_tool("LASSO"),
        "box": lambda: window.use_tool("BOX"),
        "select_answer": lambda: session.selecting.select_query(window.map.selection.mode),
        "select_filter": lambda: session.selecting.select_filter(window.map.selection.mode),
        "invert_selection": session.selecting.invert,
        "clear_selection": session.selecting.clear,
        "show_only": session.isolating.isolate,
        "lay_out_alone": lambda: session.isolating.isolate(anew=True),
        "hide_selected": session.isolating.hide,
        "show_all": session.isolating.show_all,
        "ask_mean": lambda: session.asking.ask_mean(session.document.selection),
        "copy_labels": lambda: window.selection.copy_all(),
        "save_selection": files.save_selection,
        "query": window.go_to_query,
        "filter": window.filter.open_bar,
        "paste_picture": window.paste_picture,
        "recall": files.show_recall,
        "back": lambda: session.asking.go(-1),
        "forward": lambda: session.asking.go(1),
        "clear": lambda: session.asking.ask(""),
        "shortcuts": files.show_shortcuts,
        "about": files.show_about,
    }
