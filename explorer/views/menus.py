"""The menus whose entries change: recent files, cached models, demos, panels, theme, how rows combine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QApplication, QMenu

from explorer.commands import Session
from explorer.demos import demos
from explorer.readers.local_models import local_models
from explorer.views.actions import Actions
from explorer.views.file_commands import FileCommands
from explorer.views.theme import SCHEMES, apply_theme

if TYPE_CHECKING:
    from explorer.views.main_window import MainWindow

THEME_NAMES = {"system": "As the system", "light": "Light", "dark": "Dark"}


class Menus:
    """Fills the changing menus when they are opened."""

    def __init__(self, window: MainWindow, session: Session, files: FileCommands, actions: Actions) -> None:
        self._window = window
        self._session = session
        self._files = files
        for name, fill in (
            ("recent", self._recent),
            ("models", self._models),
            ("demos", self._demos),
            ("combine", self._combine),
        ):
            menu = actions.menus[name]
            menu.aboutToShow.connect(lambda menu=menu, fill=fill: fill(menu))
            fill(menu)
        for dock in window.docks:
            actions.menus["panels"].addAction(dock.toggleViewAction())
        self._themes(actions.menus["theme"])

    def _recent(self, menu: QMenu) -> None:
        menu.clear()
        for path in self._session.settings.recent:
            place = Path(path)
            action = menu.addAction(f"{place.name}  —  {place.parent}")
            action.setEnabled(place.exists())
            action.triggered.connect(lambda _=False, path=path: self._session.opening.open([path]))
        _or_nothing(menu, "No recent files")

    def _models(self, menu: QMenu) -> None:
        menu.clear()
        for model in local_models():
            action = menu.addAction(model.name)
            action.triggered.connect(lambda _=False, path=str(model.path): self._session.opening.open([path]))
        _or_nothing(menu, "No models in the local cache")

    def _demos(self, menu: QMenu) -> None:
        menu.clear()
        for demo in demos():
            action = menu.addAction(f"{demo.name}  —  {demo.kind}")
            action.triggered.connect(lambda _=False, name=demo.name: self._files.open_demo(name))

    def _combine(self, menu: QMenu) -> None:
        """How the next rows selected combine with those there are: the choice of the card on the map."""
        menu.clear()
        if self._session.document.table is not None:
            for button in self._window.map.selection.modes.values():
                action = menu.addAction(button.toolTip(), button.click)
                action.setCheckable(True)
                action.setChecked(button.isChecked())
        _or_nothing(menu, "No table is open")

    def _themes(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        for name in SCHEMES:
            action = menu.addAction(THEME_NAMES[name])
            action.setCheckable(True)
            action.setChecked(name == self._session.settings.theme)
            action.triggered.connect(lambda _=False, name=name: self._choose_theme(name))
            group.addAction(action)

    def _choose_theme(self, name: str) -> None:
        self._session.settings.theme = name
        apply_theme(QApplication.instance(), name)
        self._window.restyle()


def _or_nothing(menu: QMenu, text: str) -> None:
    if menu.isEmpty():
        menu.addAction(text).setEnabled(False)
