"""The answer's dock: a gallery where the table carries pictures, else, or where it is wished, a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from explorer.commands import Session
from explorer.views.panels.neighbours import NeighboursPanel
from explorer.views.thumbnails import Thumbnails

if TYPE_CHECKING:
    from explorer.views.panels.gallery import GalleryPanel


class AnswerPanel(QStackedWidget):
    """Shows the present answer in the form that suits it.

    Signals
    -------
    hovered(int) : the row that is pointed at, -1 for none; to be lit up on the map.
    """

    hovered = Signal(int)

    def __init__(self, session: Session, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._thumbnails = thumbnails
        self._gallery: GalleryPanel | None = None
        self.neighbours = NeighboursPanel(session, thumbnails)
        self._add(self.neighbours)
        session.document.table_changed.connect(self.refresh)
        self.refresh()

    @property
    def gallery(self) -> GalleryPanel:
        """The answer as pictures; made when it is first wanted."""
        if self._gallery is None:
            from explorer.views.panels.gallery import GalleryPanel

            self._gallery = GalleryPanel(self._session, self._thumbnails)
            self._add(self._gallery)
        return self._gallery

    def _add(self, panel: NeighboursPanel | GalleryPanel) -> None:
        self.addWidget(panel)
        panel.hovered.connect(self.hovered)
        panel.header.switched.connect(self._switch)

    def refresh(self) -> None:
        """Show the form that suits the table and the person's wish: captions are read, pictures seen."""
        pictures, settings = self._session.document.pictures, self._session.settings
        as_list = settings.captions_as_list if self._speaks else settings.pictures_as_list
        self.setCurrentWidget(self.neighbours if pictures is None or as_list else self.gallery)

    @property
    def _speaks(self) -> bool:
        """Whether rows are texts of pictures, many to one."""
        pictures = self._session.document.pictures
        return pictures is not None and pictures.of_row is not None

    @property
    def title(self) -> str:
        """What is shown, in a word."""
        return "Pictures" if self.currentWidget() is self._gallery else "Neighbours"

    @property
    def entrance(self) -> QWidget:
        """What takes the keys when one comes here."""
        return self.gallery.view if self.currentWidget() is self._gallery else self.neighbours.list

    def light_row(self, row: int) -> None:
        """Light up a row that is pointed at elsewhere; -1 none."""
        self.neighbours.light_row(row)
        if self._gallery is not None:
            self._gallery.light_row(row)

    def close_down(self) -> None:
        """End what goes on beside the window."""
        if self._gallery is not None:
            self._gallery.close_down()

    def _switch(self, gallery: bool) -> None:
        if self._speaks:
            self._session.settings.captions_as_list = not gallery
        else:
            self._session.settings.pictures_as_list = not gallery
        self.refresh()
        self.entrance.setFocus()
