"""The canvas that the map lies on: panning, zooming, pointing, clicking."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from explorer.render.viewport import Viewport
from explorer.views.map.map_item import MapItem
from explorer.views.map.outline import Outline

STILL_AFTER_MS = 120
CLICK_REACH = 4
TURN_STEP = 24
"""An arrow key turns the map as a drag of so many points does."""
BY_KEY = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}


class Tool(Enum):
    """What dragging with the left button does."""

    POINTER = "move the map"
    LASSO = "select with a lasso"
    BOX = "select with a box"


class Act(Enum):
    """What a drag that has begun does."""

    PAN = "pan"
    TURN = "turn"
    LASSO = "lasso"
    BOX = "box"


@dataclass
class Drag:
    """A button held down, from where, over which view."""

    act: Act
    button: Qt.MouseButton
    start: QPointF
    modifiers: Qt.KeyboardModifier
    view: Viewport
    moves: bool = False
    last: QPointF = field(init=False)

    def __post_init__(self) -> None:
        self.last = self.start


class Canvas(pg.GraphicsView):
    """A view box without axes, and the map's one item in it.

    Signals
    -------
    view_changed(bool) : another part is seen; True while it still moves.
    moved_by_hand : the person has moved or zoomed the map.
    pointed(int, QPointF) : the row under the cursor (-1 for none) and where.
    clicked(int, QPointF, modifiers) : the row clicked (-1 for none), where, and the keys held.
    double_clicked(int, QPointF) : the row (-1 for none), and where.
    menu_wanted(int, QPointF) : the other button was clicked, on a row or -1.
    drawn(array, modifiers) : a lasso or box, corners in points, shape (n, 2), and the keys held at its start.
    turned(float, float) : dragged so far to turn the map.
    stepped(int, int) : the keyboard goes on to the next row to that side.
    ask_pressed, pick_pressed : ask for the row that the keyboard is at; select it, or not.
    reached_by_key(bool) : the keyboard has brought the focus here; False once it may be forgotten.
    """

    view_changed = Signal(bool)
    moved_by_hand = Signal()
    pointed = Signal(int, QPointF)
    clicked = Signal(int, QPointF, object)
    double_clicked = Signal(int, QPointF)
    menu_wanted = Signal(int, QPointF)
    drawn = Signal(object, object)
    turned = Signal(float, float)
    stepped = Signal(int, int)
    ask_pressed = Signal()
    pick_pressed = Signal()
    tab_pressed = Signal()
    escape_pressed = Signal()
    reached_by_key = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, useOpenGL=False, background=None)
        self.setAccessibleName("Map of the embedding table")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(200, 150)
        self.box = pg.ViewBox(lockAspect=1.0, enableMenu=False, defaultPadding=0.0)
        self.box.disableAutoRange()
        self.setCentralItem(self.box)
        self.item = MapItem()
        self.item.setParentItem(self.box)
        self.outline = Outline()
        self.outline.setParentItem(self.box)
        self.tool = Tool.POINTER
        self.turns = False
        self._drag: Drag | None = None
        self._space_held = False
        self._told: Viewport | None = None
        self._still = QTimer(self)
        self._still.setSingleShot(True)
        self._still.setInterval(STILL_AFTER_MS)
        self._still.timeout.connect(lambda: self.view_changed.emit(False))
        self.box.sigRangeChanged.connect(lambda: self._range_changed())
        self.box.sigRangeChangedManually.connect(lambda _mouse: self.moved_by_hand.emit())
        self.setMouseTracking(True)

    # The view

    @property
    def viewport_now(self) -> Viewport:
        """What is seen, in points."""
        size = self.box.rect()
        seen = self.box.viewRect()
        width, height = max(round(size.width()), 1), max(round(size.height()), 1)
        scale = width / seen.width() if seen.width() > 0 else 1.0
        return Viewport(width, height, seen.center().x(), seen.center().y(), scale)

    @property
    def moves(self) -> bool:
        """Whether the view still moves, or has only just stopped."""
        return self._still.isActive()

    def show_viewport(self, view: Viewport) -> None:
        """See that part of the plane."""
        width, height = view.width / view.scale, view.height / view.scale
        self.box.setRange(
            QRectF(view.x - width / 2, view.y - height / 2, width, height), padding=0.0, disableAutoRange=True
        )

    def zoom(self, factor: float) -> None:
        """Zoom about the middle."""
        view = self.viewport_now
        self.show_viewport(view.zoomed_at(view.width / 2, view.height / 2, factor))
        self.moved_by_hand.emit()

    def nudge(self) -> None:
        """Say that what is seen moves without another part being seen: it turns."""
        self._still.start()
        self.view_changed.emit(True)

    def _range_changed(self) -> None:
        now = self.viewport_now
        if now != self._told:
            self._told = now
            self.nudge()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_still"):
            self._range_changed()

    # Pointing

    def use(self, tool: Tool) -> None:
        """Take up a tool: what dragging with the left button does."""
        self.tool = tool
        self.setCursor(Qt.CursorShape.ArrowCursor if tool is Tool.POINTER else Qt.CursorShape.CrossCursor)

    @property
    def draws(self) -> bool:
        """Whether a lasso or a box is being drawn."""
        return self._drag is not None and self._drag.act in (Act.LASSO, Act.BOX)

    def _act_for(self, event: QMouseEvent) -> Act:
        by_left = event.button() == Qt.MouseButton.LeftButton
        if not by_left or self._space_held:
            return Act.PAN
        if self.tool is not Tool.POINTER:
            return Act.BOX if self.tool is Tool.BOX else Act.LASSO
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return Act.LASSO
        return Act.TURN if self.turns else Act.PAN

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._drop_lost_drag(event)
        if self._drag is None:
            self._drag = Drag(
                self._act_for(event), event.button(), event.position(), event.modifiers(), self.viewport_now
            )

    def _drop_lost_drag(self, event: QMouseEvent) -> None:
        """Let go of what another window has seen the end of."""
        if self._drag is not None and not event.buttons() & self._drag.button:
            self.stop_drawing()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._drop_lost_drag(event)
        place, drag = event.position(), self._drag
        if drag is None:
            self.pointed.emit(self.item.row_at(place.x(), place.y()), place)
            return
        if not drag.moves and (place - drag.start).manhattanLength() <= CLICK_REACH:
            return
        if not drag.moves:
            drag.moves = True
            self.pointed.emit(-1, place)
            if self.draws:
                self.outline.begin(drag.start, box=drag.act is Act.BOX)
        moved, drag.last = place - drag.last, place
        if self.draws:
            self.outline.go_to(place)
        elif drag.act is Act.TURN:
            self.turned.emit(moved.x(), moved.y())
        else:
            whole = place - drag.start
            self.show_viewport(drag.view.panned(whole.x(), whole.y()))
            self.moved_by_hand.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        drag = self._drag
        if drag is None or event.button() != drag.button:
            return
        draws, self._drag = self.draws, None
        if drag.moves:
            if draws:
                self.drawn.emit(self.outline.end(), drag.modifiers)
            return
        place = event.position()
        row = self.item.row_at(place.x(), place.y())
        if event.button() == Qt.MouseButton.RightButton:
            self.menu_wanted.emit(row, place)
        elif event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(row, place, drag.modifiers)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        self.double_clicked.emit(self.item.row_at(place.x(), place.y()), place)

    def stop_drawing(self) -> None:
        """Let go of what is being drawn."""
        self.outline.end()
        self._drag = None

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointed.emit(-1, QPointF())

    # Keys

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.reached_by_key.emit(event.reason() in BY_KEY)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._space_held = False
        self.reached_by_key.emit(False)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Tab:
            self.tab_pressed.emit()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, step = Qt.Key(event.key()), ARROWS.get(Qt.Key(event.key()))
        by_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key == Qt.Key.Key_Escape:
            self.escape_pressed.emit()
        elif key == Qt.Key.Key_Space and not by_control:
            self._space_held = True
        elif key == Qt.Key.Key_Space:
            self.pick_pressed.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.ask_pressed.emit()
        elif step is None:
            super().keyPressEvent(event)
        elif by_control:
            self.stepped.emit(*step)
        elif self.turns and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.turned.emit(step[0] * TURN_STEP, -step[1] * TURN_STEP)
        else:
            self._pan_by(step)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._space_held = False
        super().keyReleaseEvent(event)

    def _pan_by(self, step: tuple[int, int]) -> None:
        view = self.viewport_now
        self.show_viewport(view.panned(-step[0] * view.width / 8, step[1] * view.height / 8))
        self.moved_by_hand.emit()
