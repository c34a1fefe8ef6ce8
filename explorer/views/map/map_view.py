"""The map with what floats on it: tools, hover card, drop hint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.core.camera import Camera
from explorer.document import LayoutStage
from explorer.document.colouring import ALWAYS, BY_ITSELF, NEVER, TRUST
from explorer.export.figure import Figure
from explorer.export.legend import legend_layout
from explorer.render.viewport import Viewport
from explorer.views.map.canvas import Canvas, Tool
from explorer.views.map.colouring import Coloured
from explorer.views.map.colours import Colours
from explorer.views.map.figure_maker import FigureMaker
from explorer.views.map.fitting import INSETS, PICTURE_INSETS, fitted_view
from explorer.views.map.gestures import Gestures
from explorer.views.map.hover_card import HoverCard
from explorer.views.map.kept import Kept
from explorer.views.map.kernel_loader import KernelLoader
from explorer.views.map.legend_tools import LegendTools
from explorer.views.map.looking import Looking
from explorer.views.map.pictures_on_map import PicturesOnMap
from explorer.views.map.point_indexing import PointIndexing
from explorer.views.map.pointing import Pointing
from explorer.views.map.selection_card import SelectionCard
from explorer.views.map.table_facts import TableReading
from explorer.views.map.tools import Tool as MapTool
from explorer.views.map.tools import Tools
from explorer.views.theme import current_colours
from explorer.views.thumbnails import Thumbnails

FRAME_MS = 40
AFTER_FIRST_PICTURE_MS = 60
"""By then the window is on screen."""
MARGIN = 14
MOVING_SAMPLE = 50_000
"""So many rows shape the view of a layout that moves."""


class MapView(QWidget):
    """Shows the document's table where its layout has put it.

    Signals
    -------
    tab_pressed, escape_pressed : Tab or Escape was pressed on the map.
    pointed_at(int) : the row under the cursor; -1 for none.
    """

    tab_pressed = Signal()
    escape_pressed = Signal()
    pointed_at = Signal(int)

    def __init__(self, session: Session, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.canvas = Canvas()
        self.looking = Looking(session.document, self.canvas, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.canvas)
        self.tools = self._made_tools()
        self.selection = SelectionCard(self, session)
        self.card = HoverCard(self, thumbnails)
        self.hint = QLabel("Drop to open", self)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.hide()
        self.ring = QFrame(self)
        self.ring.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.ring.hide()
        self.waiting = QLabel("", self)
        self.waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.waiting.setProperty("quiet", True)
        self._colours = Colours(session, self)
        self._colours.ready.connect(self._colours_changed)
        self._indexing = PointIndexing(self)
        self._indexing.ready.connect(self.redraw)
        self._reading = TableReading(self)
        self._reading.ready.connect(self.redraw)
        self.pictures = PicturesOnMap(session.document, thumbnails, self)
        self._maker = FigureMaker(
            session.document,
            lambda: self._reading.facts,
            self.canvas.item.cache,
            self.pictures,
            self._indexing.index_of,
        )
        self._fitted: Kept[Viewport] = Kept()
        self.pointing = Pointing(
            session, self.canvas, self.card, lambda row: self._reading.facts.twins.get(row, 1)
        )
        self.legend = LegendTools(session, self, lambda: self.canvas.item.figure, lambda: self.colours)
        self.gestures = Gestures(session, self, self.canvas, self.legend, self.selection)
        self._kernels = KernelLoader(self)
        self._kernels.ready.connect(self._positions_changed)
        QTimer.singleShot(AFTER_FIRST_PICTURE_MS, self, self._kernels.start)
        self._frames = QTimer(self)
        self._frames.setInterval(FRAME_MS)
        self._frames.timeout.connect(self.show_next_frame)
        self._connect()
        self.restyle()
        if session.document.table is not None:
            self._table_changed()
            self._positions_changed()

    def _made_tools(self) -> Tools:
        def use(tool: Tool) -> Callable[..., None]:
            return lambda _on: self.use_tool(tool)

        return Tools(
            self,
            (
                MapTool("zoom-in", "Zoom in (+)", lambda: self.zoom(1.5)),
                MapTool("zoom-out", "Zoom out (-)", lambda: self.zoom(1 / 1.5)),
                MapTool("fit", "Fit the map (0)", self.fit),
            ),
            (
                MapTool("lasso", "Select with a lasso (L; Shift and drag)", use(Tool.LASSO), checkable=True),
                MapTool("box-select", "Select with a box (B)", use(Tool.BOX), checkable=True),
            ),
            (
                MapTool("pictures", "Pictures in place of dots (P)", self.show_pictures, checkable=True),
                MapTool("density", "Crowds instead of dots (D)", self.show_crowds, checkable=True),
                MapTool("labels", "Labels: none, few, fit, many", self.looking.step_labels),
            ),
        )

    def _connect(self) -> None:
        canvas, document = self.canvas, self._session.document
        canvas.view_changed.connect(lambda moving: self.redraw(coarse=moving))
        for moved in (canvas.moved_by_hand, canvas.turned):
            moved.connect(self.card.hide)
        self.looking.fit_wanted.connect(self.fit)
        self.looking.changed.connect(self._look_changed)
        self.gestures.tool_changed.connect(self._tool_changed)
        self.gestures.fit_wanted.connect(self.fit)
        self.gestures.escape_pressed.connect(self.escape_pressed)
        self.pointing.ringed.connect(self._show_ring)
        self.pointing.pointed_at.connect(self.pointed_at)
        self.pictures.arrived.connect(self.redraw)
        canvas.reached_by_key.connect(self.ring.setVisible)
        canvas.tab_pressed.connect(self.tab_pressed)
        document.table_changed.connect(self._table_changed)
        document.positions_changed.connect(self._positions_changed)
        document.colours_changed.connect(self._colours_changed)
        document.answer_changed.connect(self._answer_changed)
        document.trust_changed.connect(self._trust_changed)
        document.similarities_changed.connect(self._answer_changed)
        document.selection_changed.connect(self._selection_changed)
        document.filter_changed.connect(self.redraw)
        document.regions_changed.connect(self.redraw)
        document.token_paths_changed.connect(self.redraw)
        document.modality_gap_changed.connect(self.redraw)
        document.isolation_changed.connect(self._isolation_changed)

    def close_down(self) -> None:
        """End what goes on beside the window."""
        self._kernels.close()
        self._indexing.close()
        self._reading.close()

    # Following the document

    def _table_changed(self) -> None:
        self._reading.take_up(self._session.document.table)
        self._maker.table_changed()
        self._colours.table_changed()
        self.pictures.table_changed()
        self.tools.offer("pictures", self.pictures.offered)
        self.tools["pictures"].setChecked(self.pictures.shown)
        self._place_cards()
        self._work_out_colours()
        self.pointing.forget()
        self.selection.refresh()

    def _positions_changed(self) -> None:
        document = self._session.document
        self._say_what_is_awaited()
        self.canvas.turns = self._maker.places.turns
        if document.stage is LayoutStage.MOVING:
            self._frames.start()
        else:
            self._frames.stop()
            self._work_out_colours()
        if self.looking.follows:
            self.fit()
        self.redraw()

    def show_next_frame(self) -> None:
        """Show where the layout has moved the rows to; of a large table, a coarse picture will do."""
        before, large = self.canvas.viewport_now, self._reading.facts.shown > MOVING_SAMPLE
        if self.looking.follows:
            self.fit()
        if not large or self.canvas.viewport_now == before:
            self.redraw(coarse=large)

    def _colours_changed(self) -> None:
        self._work_out_colours()
        self.redraw()
        if self.looking.follows:
            self.fit()

    def _trust_changed(self) -> None:
        if self._session.document.colouring.by == TRUST:
            self._colours_changed()

    def _work_out_colours(self) -> None:
        shown = self._maker.places.shown()
        self._maker.colours = self._colours.work_out(current_colours(), None if shown is None else shown.xy)

    def _answer_changed(self) -> None:
        self._work_out_colours()
        self.redraw()

    def _say_what_is_awaited(self) -> None:
        document = self._session.document
        table, drawn = document.table, document.positions is not None and self._kernels.is_ready
        if drawn and table is not None and not table.health.healthy.any():
            words = "No row can be drawn: every one is quarantined."
        elif drawn or table is None:
            words = ""
        elif self._kernels.compiles:
            words = "Preparing to draw: this first start only…"
        else:
            words = "Drawing the first picture…"
        self.waiting.setText(words)
        self.waiting.setVisible(bool(words))

    # Drawing

    def redraw(self, *, coarse: bool = False, points_changed: bool = True) -> None:
        """Show the document as it is now."""
        if not self._kernels.is_ready:
            return
        figure = self._maker.make(
            self.canvas.viewport_now,
            current_colours(),
            hover=self.pointing.row,
            obstacles=self._obstacles(),
            moving=coarse,
        )
        self.canvas.item.show_figure(figure, points_changed=points_changed, coarse=coarse)
        self.tools["density"].setChecked(self._shows_crowds())

    def picture(self) -> Figure | None:
        """The map as it is seen, with title and query, as it leaves the window."""
        return self._maker.another().make(self.canvas.viewport_now, current_colours(), titled=True)

    def _obstacles(self) -> NDArray[np.float64]:
        cards = [card.geometry() for card in (self.tools, self.selection) if card.isVisible()]
        boxes = [(box.x(), box.y(), box.width(), box.height()) for box in cards]
        return np.array(boxes, np.float64).reshape(-1, 4)

    def fit(self) -> None:
        """See all rows, and keep seeing them while the layout moves."""
        places = self._maker.places
        shown, now, card = places.shown(), self.canvas.viewport_now, self._legend_card()
        if not self.looking.follows:
            self.looking.look_so(seen=None)  # which leads here again
            return
        if shown is None:
            return
        around = places.around(shown)
        if self._session.document.stage is LayoutStage.MOVING:
            around = around[:: max(1, len(around) // MOVING_SAMPLE)]
        insets = PICTURE_INSETS if self.pictures.shown else INSETS
        fitted = self._fitted.of(
            lambda: fitted_view(around, now.width, now.height, card, insets),
            shown,
            (now.width, now.height),
            card,
            insets,
        )
        self._maker.fitted_scale = fitted.scale
        self.canvas.show_viewport(fitted)

    def _legend_card(self) -> QRectF | None:
        figure = self.canvas.item.figure
        if figure is None:
            return None
        layout = legend_layout(replace(figure, viewport=self.canvas.viewport_now))
        return None if layout is None else layout.card

    def zoom(self, factor: float) -> None:
        """Zoom about the middle."""
        self.canvas.zoom(factor)

    def _look_changed(self) -> None:
        self.tools["pictures"].setChecked(self.pictures.shown)
        self.redraw()
        if self.looking.follows:
            self.fit()

    def show_pictures(self, shown: bool) -> None:
        """Show rows' pictures in place of their dots, or the dots."""
        self.pictures.show_pictures(shown)
        self.tools["pictures"].setChecked(self.pictures.shown)

    def show_crowds(self, shown: bool) -> None:
        """Show how many rows lie where, instead of each as a dot; what the map would do by itself, it may."""
        document, now = self._session.document, self._shows_crowds()
        if shown != now:
            by_itself = document.look.crowds != BY_ITSELF and shown == self._maker.would_show_crowds
            self.looking.look_so(crowds=BY_ITSELF if by_itself else ALWAYS if shown else NEVER)
        self.tools["density"].setChecked(self._shows_crowds())

    def _shows_crowds(self) -> bool:
        figure = self.canvas.item.figure
        return figure is not None and figure.density

    @property
    def colours(self) -> Coloured | None:
        """What the colours are and mean now."""
        return self._maker.colours

    @property
    def camera(self) -> Camera:
        """How three dimensions are turned now."""
        return self._maker.places.camera

    # Pointing and selecting

    def point_out(self, row: int) -> None:
        """Ring a row on the map; -1 rings none."""
        self.pointing.point_out(row)

    def _show_ring(self) -> None:
        figure = self.canvas.item.figure
        if figure is not None:
            self.canvas.item.show_figure(replace(figure, hover=self.pointing.row), points_changed=False)

    def use_tool(self, tool: Tool) -> None:
        """Take up the lasso, the box or, with either once more, the pointer."""
        self.gestures.use_tool(tool)

    def rename_region(self) -> None:
        """Edit the name of the region nearest to the middle, in its place."""
        self.gestures.rename_region()

    def _selection_changed(self) -> None:
        self.selection.refresh()
        self._place_cards()
        self.redraw()

    def _isolation_changed(self) -> None:
        self._work_out_colours()
        self.selection.refresh()
        self._place_cards()
        self.looking.look_so(seen=None)
        self._positions_changed()

    def _tool_changed(self) -> None:
        self.tools["lasso"].setChecked(self.canvas.tool is Tool.LASSO)
        self.tools["box-select"].setChecked(self.canvas.tool is Tool.BOX)
        self._place_cards()

    # What floats

    def show_drop_hint(self, shown: bool) -> None:
        """Say that a file can be let go here."""
        self.hint.setVisible(shown)
        self.hint.raise_()

    def restyle(self) -> None:
        """Take on the colours that hold now."""
        colours = current_colours()
        self.canvas.setBackground(colours.map)
        self.hint.setStyleSheet(
            f"background: {colours.accent_ground}; color: {colours.accent};"
            f"border: 2px dashed {colours.accent}; border-radius: 12px; font-size: 18px; font-weight: 600;"
        )
        self.ring.setStyleSheet(f"border: 1px solid {colours.accent};")
        self.tools.restyle()
        self.selection.restyle()
        self._work_out_colours()
        self.redraw()

    def _place_cards(self) -> None:
        self.tools.move(self.width() - self.tools.width() - MARGIN, MARGIN)
        card = self.selection
        card.move(self.width() - card.width() - MARGIN, self.height() - card.height() - MARGIN)
        legend = self._legend_card()
        if legend is not None and legend.toRect().adjusted(0, 0, MARGIN, MARGIN).intersects(card.geometry()):
            card.move(MARGIN, MARGIN)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.selection.refresh()
        self._place_cards()
        self.hint.setGeometry(QRect(0, 0, self.width(), self.height()).adjusted(24, 24, -24, -24))
        self.waiting.setGeometry(self.rect())
        self.ring.setGeometry(self.rect())
        if self.looking.follows:
            self.fit()
