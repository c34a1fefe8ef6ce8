"""What clicks, drags and keys on the map do: ask, select, hide, rename, turn."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from explorer.commands import Session
from explorer.core.labels import label_of
from explorer.export.figure import Figure, RegionLabel
from explorer.export.labelling import region_box
from explorer.render.selection import rows_in_polygon
from explorer.views.map.canvas import Canvas, Tool
from explorer.views.map.legend_tools import LegendTools
from explorer.views.map.regions_on_map import RegionEditor, region_at
from explorer.views.map.selection_card import SelectionCard

SHIFT, ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier


class Gestures(QObject):
    """Joins the canvas to the commands.

    Signals
    -------
    tool_changed : another tool is in use.
    fit_wanted : all rows are to be seen.
    escape_pressed : Escape, where the map has no use for it.
    """

    tool_changed = Signal()
    fit_wanted = Signal()
    escape_pressed = Signal()

    def __init__(
        self, session: Session, parent: QWidget, canvas: Canvas, legend: LegendTools, card: SelectionCard
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._map = parent
        self._canvas = canvas
        self._legend = legend
        self._card = card
        self.region_editor = RegionEditor(
            parent, session.document, lambda: canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        )
        # It stands where the name stood.
        canvas.view_changed.connect(lambda _moving: self.region_editor.take())
        self._asked = -1
        self._ask_later = QTimer(self)
        self._ask_later.setSingleShot(True)
        self._ask_later.timeout.connect(lambda: session.asking.ask_row(self._asked))
        canvas.clicked.connect(self._clicked)
        canvas.double_clicked.connect(self._double_clicked)
        canvas.menu_wanted.connect(self._open_menu)
        canvas.drawn.connect(self._drawn)
        canvas.escape_pressed.connect(self._escape)

    @property
    def _figure(self) -> Figure | None:
        return self._canvas.item.figure

    def _clicked(self, row: int, place: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        selecting = self._session.selecting
        if self._legend.holds(place):
            self._legend.click(place)
        elif row < 0:
            return
        elif modifiers & Qt.KeyboardModifier.ControlModifier:
            selecting.toggle(row)
        elif modifiers & (SHIFT | ALT):
            selecting.take(np.array([row]), self._card.mode_for(modifiers))
        elif self._region_at(place) is None:
            self._session.asking.ask_row(row)
        else:
            # A second click would mean the name that lies over the point.
            self._asked = row
            self._ask_later.start(QApplication.doubleClickInterval())

    def _region_at(self, place: QPointF) -> RegionLabel | None:
        figure = self._figure
        return None if figure is None else region_at(figure, place, self._canvas.item.cache)

    def _double_clicked(self, row: int, place: QPointF) -> None:
        self._ask_later.stop()
        region = self._region_at(place)
        if self._legend.holds(place):
            self._legend.double_click(place)
        elif region is not None:
            self.rename_region(region)
        elif row < 0:
            self.fit_wanted.emit()

    # Tools

    def use_tool(self, tool: Tool) -> None:
        """Take up the lasso, the box or, with either once more, the pointer."""
        self._canvas.stop_drawing()
        self._canvas.use(Tool.POINTER if tool is self._canvas.tool else tool)
        self._card.use(self._canvas.tool is not Tool.POINTER)
        self.tool_changed.emit()

    def _drawn(self, corners: NDArray[np.float64], modifiers: Qt.KeyboardModifier) -> None:
        figure = self._figure
        if figure is not None:
            rows = rows_in_polygon(figure.xy, figure.viewport.to_data(corners), figure.index)
            shown = figure.palette[figure.codes[rows], 3] > 0
            self._session.selecting.take(rows[shown], self._card.mode_for(modifiers))

    def _escape(self) -> None:
        """Take back the last thing that can be: the drawing, the selection, the tool."""
        if self._canvas.draws:
            self._canvas.stop_drawing()
        elif len(self._session.document.selection):
            self._session.selecting.clear()
        elif self._canvas.tool is not Tool.POINTER:
            self.use_tool(Tool.POINTER)
        else:
            self.escape_pressed.emit()

    # Menus and names

    def _open_menu(self, row: int, place: QPointF) -> None:
        at = self._canvas.mapToGlobal(place.toPoint())
        if self._legend.holds(place):
            self._legend.open_menu(place, at)
        elif row >= 0:
            menu = self.menu_of(row)
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(at)

    def menu_of(self, row: int) -> QMenu:
        """What can be done with a row."""
        session, document = self._session, self._session.document
        menu = QMenu(self._map)
        if document.table is None:
            return menu
        name = label_of(document.table.labels, row)
        menu.addAction("Ask for its neighbours", lambda: session.asking.ask_row(row))
        selected = bool(np.isin(row, document.selection))
        menu.addAction(
            "Take from the selection" if selected else "Add to the selection",
            lambda: session.selecting.toggle(row),
        )
        if document.answer is not None:
            menu.addAction(
                "Select the answer's rows", lambda: session.selecting.select_query(self._card.mode)
            )
        menu.addSeparator()
        menu.addAction("Copy its label", lambda: QGuiApplication.clipboard().setText(name))
        return menu

    def rename_region(self, region: RegionLabel | None = None) -> None:
        """Edit a region's name in its place: one named, else the one nearest to the middle."""
        figure = self._figure
        if figure is None or not figure.regions:
            return
        middle = figure.viewport.x, figure.viewport.y
        region = region or min(figure.regions, key=lambda each: math.dist((each.x, each.y), middle))
        self.region_editor.open(region, QRectF(*region_box(figure, region, self._canvas.item.cache)))
