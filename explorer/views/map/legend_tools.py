"""What the legend can do: hide, show alone, select and recolour what its lines stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QColorDialog, QMenu, QWidget

from explorer.commands import Session
from explorer.core.selection import Combine
from explorer.export.figure import Figure
from explorer.export.legend import LegendLayout, draw_dot, legend_layout
from explorer.export.text import shown_text
from explorer.render.palette import RGB, rgb
from explorer.views.map.colouring import Coloured
from explorer.views.theme import current_colours

SWATCH = 14
NAMES = ("Blue", "Orange", "Green", "Red", "Violet", "Ochre", "Teal", "Pink", "Moss", "Grey")
"""Of a theme's categories, in their order, and of its quiet text."""
SELECTING = {
    Combine.NEW: "Select its rows",
    Combine.ADD: "Add its rows to the selection",
    Combine.REMOVE: "Take its rows from the selection",
    Combine.INTERSECT: "Keep only its rows selected",
}


class LegendTools(QObject):
    """Clicks on the legend, and the same by menu for the keyboard.

    Parameters
    ----------
    session : Session
    parent : QWidget
        The map.
    figure, colours : callable
        What is shown now.
    """

    def __init__(
        self,
        session: Session,
        parent: QWidget,
        figure: Callable[[], Figure | None],
        colours: Callable[[], Coloured | None],
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._map = parent
        self._figure = figure
        self._colours = colours

    def layout(self) -> LegendLayout | None:
        """Where the legend lies now."""
        figure = self._figure()
        return None if figure is None else legend_layout(figure)

    def holds(self, place: QPointF) -> bool:
        """Whether a place on the map is covered by the legend."""
        layout = self.layout()
        return layout is not None and layout.card.contains(place)

    def code_at(self, place: QPointF) -> int | None:
        """The code that the line at a place stands for."""
        layout, colours = self.layout(), self._colours()
        if layout is None or colours is None:
            return None
        for line, entry in zip(layout.lines, layout.places, strict=True):
            if line.contains(place) and entry < len(colours.entries):
                return colours.entries[entry][0]
        return None

    def click(self, place: QPointF) -> None:
        """Hide what a line stands for, or show it again."""
        code = self.code_at(place)
        if code is not None:
            self.toggle(code)

    def double_click(self, place: QPointF) -> None:
        """Show what a line stands for alone, or everything again."""
        code = self.code_at(place)
        if code is not None:
            self.show_alone(code)

    def open_menu(self, place: QPointF, at: QPoint) -> None:
        """The menu of the line at a place."""
        code = self.code_at(place)
        if code is not None:
            menu = QMenu(self._map)
            self._fill(menu, code)
            _open(menu, at)

    def open_whole(self) -> None:
        """All lines as a menu, for the keyboard."""
        layout, colours = self.layout(), self._colours()
        if layout is None or colours is None or not colours.entries:
            return
        menu = QMenu(self._map)
        hidden = self._session.document.colouring.hidden
        for code, name in colours.entries:
            text = shown_text(name).replace("&", "&&")
            line = menu.addMenu(f"{text} (hidden)" if code in hidden else text)
            line.setIcon(swatch(*colours.colours_of(code)))
            self._fill(line, code)
        _open(menu, self._map.mapToGlobal(layout.card.topRight().toPoint()))

    # What a line can do

    def toggle(self, code: int) -> None:
        """Hide a code's rows, or show them again."""
        self._hide(self._session.document.colouring.hidden ^ {code})

    def show_alone(self, code: int) -> None:
        """Hide all other codes' rows; where they are hidden already, show all."""
        colours = self._colours()
        if colours is not None:
            others = frozenset(known for known, _ in colours.entries) - {code}
            # A double click's own first half has hidden or shown the line itself.
            alone = self._session.document.colouring.hidden - {code} == others
            self._hide(frozenset() if alone else others)

    def _hide(self, hidden: frozenset[int]) -> None:
        document = self._session.document
        document.set_colouring(replace(document.colouring, hidden=hidden))

    def select(self, code: int, mode: str = Combine.NEW) -> None:
        """Select a code's rows."""
        colours = self._colours()
        if colours is not None:
            self._session.selecting.select_category(colours.listed, code, mode)

    def recolour(self, code: int, colour: RGB | None) -> None:
        """Give a code another colour; None gives it its own again."""
        document = self._session.document
        recoloured = {known: its for known, its in document.colouring.recoloured.items() if known != code}
        if colour is not None:
            recoloured[code] = colour
        document.set_colouring(replace(document.colouring, recoloured=recoloured))

    def _fill(self, menu: QMenu, code: int) -> None:
        colouring = self._session.document.colouring
        shown = code not in colouring.hidden
        menu.addAction("Hide" if shown else "Show", lambda: self.toggle(code))
        menu.addAction("Show alone", lambda: self.show_alone(code))
        if colouring.hidden:
            menu.addAction("Show all", lambda: self._hide(frozenset()))
        menu.addSeparator()
        some = len(self._session.document.selection) > 0
        for mode, text in SELECTING.items():
            action = menu.addAction(text, lambda mode=mode: self.select(code, mode))
            action.setEnabled(some or mode is Combine.NEW)
        menu.addSeparator()
        colours = menu.addMenu("Colour")
        theme = current_colours()
        for name, hexadecimal in zip(NAMES, (*theme.categories, theme.quiet), strict=True):
            colour = rgb(hexadecimal)
            action = colours.addAction(name, lambda colour=colour: self.recolour(code, colour))
            action.setIcon(swatch(colour))
        colours.addAction("Other…", lambda: self._choose(code))
        if code in colouring.recoloured:
            colours.addAction("Its own again", lambda: self.recolour(code, None))

    def _choose(self, code: int) -> None:
        colours = self._colours()
        if colours is None:
            return
        dialog = QColorDialog(QColor(*(int(c) for c in colours.palette[code, :3])), self._map)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.colorSelected.connect(
            lambda chosen: self.recolour(code, (chosen.red(), chosen.green(), chosen.blue()))
        )
        dialog.open()


def swatch(*colours: RGB) -> QIcon:
    """A round dot of a colour, or of several."""
    pixmap = QPixmap(2 * SWATCH, 2 * SWATCH)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_dot(painter, QPointF(SWATCH / 2, SWATCH / 2), SWATCH / 2 - 2, colours)
    painter.end()
    return QIcon(pixmap)


def _open(menu: QMenu, at: QPoint) -> None:
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(at)
