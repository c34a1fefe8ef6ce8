"""The map with what floats on it: tools, hover card, drop hint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.document import LayoutStage
from explorer.export.figure import Figure
from explorer.export.legend import legend_layout
from explorer.views.map.canvas import Canvas
from explorer.views.map.figure_maker import FigureMaker
from explorer.views.map.fitting import fitted_view
from explorer.views.map.hover_card import HoverCard
from explorer.views.map.kernel_loader import KernelLoader
from explorer.views.map.tools import Tools
from explorer.views.theme import current_colours

FRAME_MS = 40
AFTER_FIRST_PICTURE_MS = 60
"""By then the window is on screen."""
MARGIN = 14


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

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.canvas = Canvas()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.canvas)
        self.tools = Tools(
            self,
            (
                ("zoom-in", "Zoom in (+)", lambda: self.zoom(1.5)),
                ("zoom-out", "Zoom out (-)", lambda: self.zoom(1 / 1.5)),
                ("fit", "Fit the map (0)", self.fit),
                ("labels", "Labels: none, few, fit, many", self._next_density),
            ),
        )
        self.card = HoverCard(self)
        self.hint = QLabel("Drop to open", self)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.hide()
        self.ring = QFrame(self)
        self.ring.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.ring.hide()
        self.waiting = QLabel("", self)
        self.waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.waiting.setProperty("quiet", True)
        self._maker = FigureMaker(session.document, self.canvas.item.cache)
        self._follows = True
        self._hover: int | None = None
        self._kernels = KernelLoader(self)
        self._kernels.ready.connect(self._positions_changed)
        QTimer.singleShot(AFTER_FIRST_PICTURE_MS, self, self._kernels.start)
        self._frames = QTimer(self)
        self._frames.setInterval(FRAME_MS)
        self._frames.timeout.connect(self._next_frame)
        self._connect()
        self.restyle()

    def _connect(self) -> None:
        canvas, document = self.canvas, self._session.document
        canvas.view_changed.connect(lambda moving: self.redraw(coarse=moving))
        canvas.moved_by_hand.connect(self._taken_over)
        canvas.pointed.connect(self._pointed)
        canvas.clicked.connect(self._clicked)
        canvas.fit_wanted.connect(self.fit)
        canvas.reached_by_key.connect(self.ring.setVisible)
        canvas.tab_pressed.connect(self.tab_pressed)
        canvas.escape_pressed.connect(self.escape_pressed)
        document.table_changed.connect(self._table_changed)
        document.positions_changed.connect(self._positions_changed)
        document.colours_changed.connect(self._colours_changed)
        document.answer_changed.connect(self._answer_changed)
        document.trust_changed.connect(self._colours_changed)

    def close_down(self) -> None:
        """End what goes on beside the window."""
        self._kernels.close()

    # Following the document

    def _table_changed(self) -> None:
        self._maker.table_changed()
        self._maker.colours_changed(current_colours())
        self._follows = True
        self._hover = None
        self.card.hide()

    def _positions_changed(self) -> None:
        document = self._session.document
        self._say_what_is_awaited()
        if document.stage is LayoutStage.MOVING:
            self._frames.start()
        else:
            self._frames.stop()
        if self._follows:
            self.fit()
        self.redraw()

    def _next_frame(self) -> None:
        if self._follows:
            self.fit()
        self.redraw()

    def _colours_changed(self) -> None:
        self._maker.colours_changed(current_colours())
        self.redraw()
        if self._follows:
            self.fit()

    def _answer_changed(self) -> None:
        if self._session.document.colouring.by == "similarity to query":
            self._maker.colours_changed(current_colours())
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
            self.canvas.viewport_now, current_colours(), hover=self._hover, obstacles=self._obstacles()
        )
        self.canvas.item.show_figure(figure, points_changed=points_changed, coarse=coarse)

    def picture(self) -> Figure | None:
        """The map as it is seen, with title and query, as it leaves the window."""
        maker = FigureMaker(self._session.document, self.canvas.item.cache)
        maker.table_changed()
        maker.colours_changed(current_colours())
        maker.fitted_scale = self._maker.fitted_scale
        return maker.make(self.canvas.viewport_now, current_colours(), titled=True)

    def _obstacles(self) -> NDArray[np.float64]:
        box = self.tools.geometry()
        return np.array([[box.x(), box.y(), box.width(), box.height()]], np.float64)

    def fit(self) -> None:
        """See all rows, and keep seeing them while the layout moves."""
        positions = self._session.document.positions
        self._follows = True
        if positions is None:
            return
        now = self.canvas.viewport_now
        figure = self.canvas.item.figure
        layout = None if figure is None else legend_layout(replace(figure, viewport=now))
        fitted = fitted_view(positions, now.width, now.height, None if layout is None else layout.card)
        self._maker.fitted_scale = fitted.scale
        self.canvas.show_viewport(fitted)

    def zoom(self, factor: float) -> None:
        """Zoom about the middle."""
        self.canvas.zoom(factor)

    def _taken_over(self) -> None:
        self._follows = False
        self.card.hide()

    def _next_density(self) -> None:
        document = self._session.document
        steps = ("none", "few", "fit", "many")
        document.set_label_density(steps[(steps.index(document.label_density) + 1) % len(steps)])

    # Pointing

    def _pointed(self, row: int, place: QPointF) -> None:
        figure = self.canvas.item.figure
        if row < 0 or figure is None:
            self.card.hide()
        else:
            centre = figure.viewport.to_pixels(figure.xy[row : row + 1])[0]
            twins = self._maker.facts.twins.get(row, 1)
            self.card.speak_of(self._session.document, row, QPointF(*centre), twins)
        self.canvas.setCursor(Qt.CursorShape.PointingHandCursor if row >= 0 else Qt.CursorShape.ArrowCursor)
        self.point_out(row)
        self.pointed_at.emit(row)

    def point_out(self, row: int) -> None:
        """Ring a row on the map; -1 rings none."""
        hover = row if row >= 0 else None
        if hover != self._hover:
            self._hover = hover
            figure = self.canvas.item.figure
            if figure is not None:
                self.canvas.item.show_figure(replace(figure, hover=hover), points_changed=False)

    def _clicked(self, row: int, place: QPointF) -> None:
        if self._clicked_legend(place):
            return
        if row >= 0:
            self._session.asking.ask_row(row)

    def _clicked_legend(self, place: QPointF) -> bool:
        figure = self.canvas.item.figure
        layout = None if figure is None else legend_layout(figure)
        if layout is None or not layout.card.contains(place) or self._maker.colours is None:
            return False
        document = self._session.document
        for line, (code, _) in zip(layout.lines, self._maker.colours.entries, strict=False):
            if line.contains(place):
                hidden = document.colouring.hidden ^ {code}
                document.set_colouring(replace(document.colouring, hidden=hidden))
        return True

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
        self._maker.colours_changed(colours)
        self.redraw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.tools.move(self.width() - self.tools.width() - MARGIN, MARGIN)
        self.hint.setGeometry(QRect(0, 0, self.width(), self.height()).adjusted(24, 24, -24, -24))
        self.waiting.setGeometry(self.rect())
        self.ring.setGeometry(self.rect())
        if self._follows:
            self.fit()
