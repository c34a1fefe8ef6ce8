"""A virtual gallery: lines of pictures that scroll, of which only those in view are loaded."""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QDrag,
    QHideEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QWidget

from explorer.views.panels.gallery_layout import GAP, Cell, GalleryLayout, justified
from explorer.views.panels.gallery_model import GalleryModel
from explorer.views.panels.gallery_tile import BELOW, Tile, paint_tile
from explorer.views.panels.neighbour_delegate import small_figures
from explorer.views.thumbnails import Thumbnails

Index = QModelIndex | QPersistentModelIndex
HEIGHTS = (56, 72, 96, 128, 176, 240)
USUAL_HEIGHT = 96
_EDGE = 3
_DRAGGED = 96
_Hint = QAbstractItemView.ScrollHint
_Move = QAbstractItemView.CursorAction
_NO_HINT = _Hint.EnsureVisible


class GalleryView(QAbstractItemView):
    """Shows a GalleryModel.

    Attributes
    ----------
    arrangement : GalleryLayout
        Where the pictures lie, in pixels from the top of all lines.

    Signals
    -------
    pointed(int) : the place under the cursor; -1 for none.
    end_neared : little is left below what is seen.
    resized_by_hand(int) : pictures are wished this high.
    """

    pointed = Signal(int)
    end_neared = Signal()
    resized_by_hand = Signal(int)

    def __init__(self, model: GalleryModel, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._gallery = model
        self._thumbnails = thumbnails
        self.arrangement = GalleryLayout()
        self._height = USUAL_HEIGHT
        self._hovered = -1
        self._in_view: dict[int, int] = {}
        self._column = (-1, 0.0)
        self.setModel(model)
        self.setAccessibleName("Pictures")
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setDragEnabled(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setFrameShape(QAbstractItemView.Shape.NoFrame)
        self.setMouseTracking(True)
        thumbnails.arrived.connect(self._arrived)
        model.modelReset.connect(self._model_reset)

    # Laying out

    def lay_out(self) -> None:
        """Work out anew where the pictures lie; the picture at the top stays at the top."""
        anchor, offset = self._anchor()
        room = self.viewport().width() - 2 * _EDGE
        self.arrangement = justified(self._gallery.shapes(), max(room, 1), self._height, BELOW)
        self.updateGeometries()
        if 0 <= anchor < self.arrangement.count:
            self.verticalScrollBar().setValue(round(self.arrangement.cell(anchor).top + offset))
        self.viewport().update()

    def _anchor(self) -> tuple[int, float]:
        """The first picture in view, and how far its top is above the view's."""
        top = self.verticalOffset()
        cells = self.arrangement.between(top, top)
        return (cells[0].place, top - cells[0].top) if cells and top > 0 else (-1, 0.0)

    def set_picture_height(self, height: int) -> None:
        """How high the pictures are to be, about, in pixels."""
        if height != self._height:
            self._height = height
            self.lay_out()

    def updateGeometries(self) -> None:
        super().updateGeometries()
        bar, page = self.verticalScrollBar(), self.viewport().height()
        bar.setRange(0, max(self.arrangement.total_height + 2 * _EDGE - GAP - page, 0))
        bar.setPageStep(page)
        bar.setSingleStep(max(self._height // 3, 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.viewport().width() - 2 * _EDGE != self.arrangement.width:
            self.lay_out()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._thumbnails.want(self, ())

    def rowsInserted(self, parent: Index, start: int, end: int) -> None:
        super().rowsInserted(parent, start, end)
        self.lay_out()

    def _model_reset(self) -> None:
        self._hovered = -1
        self.arrangement = GalleryLayout()
        self.verticalScrollBar().setValue(0)
        self.lay_out()

    # Geometry, as Qt asks for it

    def _rect(self, cell: Cell) -> QRectF:
        return QRectF(cell.left + _EDGE, cell.top + _EDGE - self.verticalOffset(), cell.width, cell.height)

    def visualRect(self, index: Index) -> QRect:
        if not index.isValid() or index.row() >= self.arrangement.count:
            return QRect()
        box = self._rect(self.arrangement.cell(index.row()))
        return box.adjusted(-2, -2, 2, BELOW).toAlignedRect()

    def indexAt(self, point: QPoint) -> QModelIndex:
        place = self.arrangement.at(point.x() - _EDGE, point.y() - _EDGE + self.verticalOffset())
        return self._gallery.index(place, 0) if place >= 0 else QModelIndex()

    def scrollTo(self, index: Index, hint: QAbstractItemView.ScrollHint = _NO_HINT) -> None:
        if not index.isValid() or index.row() >= self.arrangement.count:
            return
        cell = self.arrangement.cell(index.row())
        top, page = self.verticalOffset(), self.viewport().height()
        height = cell.height + BELOW + 2 * _EDGE
        if hint == _Hint.PositionAtTop or (hint == _Hint.EnsureVisible and cell.top < top):
            self.verticalScrollBar().setValue(round(cell.top))
        elif hint == _Hint.PositionAtCenter:
            self.verticalScrollBar().setValue(round(cell.top + height / 2 - page / 2))
        elif hint == _Hint.PositionAtBottom or cell.top + height > top + page:
            self.verticalScrollBar().setValue(round(cell.top + height - page))

    def moveCursor(self, action: QAbstractItemView.CursorAction, _keys: Qt.KeyboardModifier) -> QModelIndex:
        last = self.arrangement.count - 1
        if last < 0:
            return QModelIndex()
        at = self.currentIndex().row()
        if at < 0:
            return self._gallery.index(self._first_in_view(), 0)
        line = max(int((self.viewport().height() - GAP) // (self._height + BELOW + GAP)), 1)
        lines = {_Move.MoveUp: -1, _Move.MoveDown: 1, _Move.MovePageUp: -line, _Move.MovePageDown: line}
        steps = {_Move.MoveLeft: -1, _Move.MovePrevious: -1, _Move.MoveRight: 1, _Move.MoveNext: 1}
        if action in lines:
            to = self.arrangement.beside(at, lines[action], self._column_of(at))
            self._column = (to, self._column[1])
        else:
            to = {_Move.MoveHome: 0, _Move.MoveEnd: last}.get(action, at + steps.get(action, 0))
        return self._gallery.index(min(max(to, 0), last), 0)

    def _column_of(self, place: int) -> float:
        """Where to keep to on a walk from line to line: the middle of the picture that it began at."""
        if self._column[0] != place:
            cell = self.arrangement.cell(place)
            self._column = (place, cell.left + cell.width / 2)
        return self._column[1]

    def _first_in_view(self) -> int:
        cells = self.arrangement.between(self.verticalOffset() + BELOW, self.verticalOffset() + BELOW)
        return cells[0].place if cells else 0

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    def isIndexHidden(self, _index: Index) -> bool:
        return False

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Select the pictures that a rectangle of the viewport touches: a click's, a rubber band's."""
        touched = QRectF(rect.normalized()).adjusted(0, 0, 1, 1)
        offset = self.verticalOffset() - _EDGE
        cells = self.arrangement.between(touched.top() + offset, touched.bottom() + offset)
        places = [
            cell.place for cell in cells if self._rect(cell).adjusted(0, 0, 0, BELOW).intersects(touched)
        ]
        self.selectionModel().select(self._selection(places), command)

    def _selection(self, places: list[int]) -> QItemSelection:
        selection = QItemSelection()
        start = None
        for place, following in zip(places, [*places[1:], -1], strict=True):
            start = place if start is None else start
            if following != place + 1:
                selection.append(
                    QItemSelection(self._gallery.index(start, 0), self._gallery.index(place, 0))[0]
                )
                start = None
        return selection

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        """What to paint anew: of a hundred thousand selected pictures those in view."""
        region = QRegion()
        for place in self._in_view.values():
            if selection.contains(self._gallery.index(place, 0)):
                region += self.visualRect(self._gallery.index(place, 0))
        return region

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        self.viewport().update()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        top, page = self.verticalOffset(), self.viewport().height()
        if event.rect().contains(self.viewport().rect()):
            self._load(top, page)
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        font = small_figures(self.font())
        current, chosen = self.currentIndex().row(), self.selectionModel()
        dirty = QRectF(event.rect())
        for cell in self.arrangement.between(top + dirty.top() - 2 * _EDGE, top + dirty.bottom() + _EDGE):
            box = self._rect(cell)
            if box.adjusted(-3, -3, 3, BELOW).intersects(dirty):
                paint_tile(painter, self._tile(cell, box, current, chosen), font)
        if self.arrangement.count and top + 2 * page > self.arrangement.total_height:
            self.end_neared.emit()

    def _tile(self, cell: Cell, box: QRectF, current: int, chosen: QItemSelectionModel) -> Tile:
        model, place = self._gallery, cell.place
        row = model.row_at(place)
        side = max(box.width(), box.height()) * self.devicePixelRatioF()
        score = model.score_text(place)
        return Tile(
            box,
            self._thumbnails.image(row, round(side)),
            bool(self._thumbnails.fault(row)),
            score or model.short_name(place),
            Qt.TextElideMode.ElideRight if score else Qt.TextElideMode.ElideMiddle,
            chosen.isSelected(model.index(place, 0)),
            place == current,
            place == self._hovered,
            model.pictures is not None and model.pictures.is_animated(row),
        )

    def _load(self, top: int, page: int) -> None:
        """Have the pictures in view loaded, the first one first, and then those of the next page."""
        seen = self.arrangement.places_between(top - _EDGE, top + page)
        ahead = self.arrangement.places_between(top + page, top + 2 * page)
        rows = self._gallery.rows
        self._in_view = {int(rows[place]): place for place in seen}
        wanted = list(dict.fromkeys((*self._in_view, *rows[ahead.start : ahead.stop].tolist())))
        for row in reversed(wanted):
            self._thumbnails.loaded(row)
        self._thumbnails.want(self, wanted)

    def _arrived(self, row: int) -> None:
        place = self._in_view.get(row)
        if place is not None and place < self.arrangement.count:
            self.viewport().update(self.visualRect(self._gallery.index(place, 0)))

    # Pointing, keys, dragging

    def light(self, place: int) -> None:
        """Ring a picture that is pointed at; -1 none."""
        if place != self._hovered:
            for each in (self._hovered, place):
                if each >= 0:
                    self.viewport().update(self.visualRect(self._gallery.index(each, 0)))
            self._hovered = place

    def _point_at(self, place: int) -> None:
        if place != self._hovered:
            self.light(place)
            self.pointed.emit(place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._point_at(self.indexAt(event.position().toPoint()).row())

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._point_at(-1)
        return super().viewportEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and steps:
            place = min(range(len(HEIGHTS)), key=lambda each: abs(HEIGHTS[each] - self._height))
            self.resized_by_hand.emit(
                HEIGHTS[min(max(place + (1 if steps > 0 else -1), 0), len(HEIGHTS) - 1)]
            )
            return
        super().wheelEvent(event)
        self._point_at(self.indexAt(event.position().toPoint()).row())

    def keyboardSearch(self, _text: str) -> None:
        """Letters are for shortcuts."""

    def startDrag(self, _actions: Qt.DropAction) -> None:
        """Carry the selected pictures' files, with the one taken hold of under the cursor."""
        data: QMimeData = self._gallery.mimeData(self.selectedIndexes())
        if not data.hasUrls() or not data.urls():
            return
        drag = QDrag(self)
        drag.setMimeData(data)
        image = self._thumbnails.image(self._gallery.row_at(self.currentIndex().row()), _DRAGGED)
        if image is not None:
            size = image.size().scaled(_DRAGGED, _DRAGGED, Qt.AspectRatioMode.KeepAspectRatio)
            smooth = Qt.TransformationMode.SmoothTransformation
            drag.setPixmap(QPixmap.fromImage(image.scaled(size, transformMode=smooth)))
        drag.exec(Qt.DropAction.CopyAction)
