"""The canvas that the map lies on: panning, zooming, pointing, clicking."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from explorer.render.viewport import Viewport
from explorer.views.map.map_item import MapItem

STILL_AFTER_MS = 120
CLICK_REACH = 4
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


class Canvas(pg.GraphicsView):
    """A view box without axes, and the map's one item in it.

    Signals
    -------
    view_changed(bool) : another part is seen; True while it still moves.
    moved_by_hand : the person has moved or zoomed the map.
    pointed(int, QPointF) : the row under the cursor (-1 for none) and where.
    clicked(int, QPointF) : the row clicked, and where.
    reached_by_key(bool) : the keyboard has brought the focus here; False once it may be forgotten.
    """

    view_changed = Signal(bool)
    moved_by_hand = Signal()
    pointed = Signal(int, QPointF)
    clicked = Signal(int, QPointF)
    fit_wanted = Signal()
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
        self._pressed: QPointF | None = None
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

    def _range_changed(self) -> None:
        self._still.start()
        self.view_changed.emit(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_still"):
            self._range_changed()

    # Pointing

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, None
        if pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if (event.position() - pressed).manhattanLength() <= CLICK_REACH:
            place = event.position()
            self.clicked.emit(self.item.row_at(place.x(), place.y()), place)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.item.row_at(event.position().x(), event.position().y()) < 0:
            self.fit_wanted.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        place = event.position()
        held = event.buttons() != Qt.MouseButton.NoButton
        self.pointed.emit(-1 if held else self.item.row_at(place.x(), place.y()), place)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointed.emit(-1, QPointF())

    # Keys

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.reached_by_key.emit(event.reason() in BY_KEY)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.reached_by_key.emit(False)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Tab:
            self.tab_pressed.emit()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.escape_pressed.emit()
            return
        step = ARROWS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        view = self.viewport_now
        self.show_viewport(view.panned(-step[0] * view.width / 8, step[1] * view.height / 8))
        self.moved_by_hand.emit()
