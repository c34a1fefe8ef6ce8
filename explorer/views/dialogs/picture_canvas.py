"""A picture that fits its room, or is zoomed and moved about in it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from explorer.views.fitted import fit
from explorer.views.theme import current_colours, icon
from explorer.views.thumbnails import Loaded

LARGEST, STEP = 16.0, 1.25
_ICON = 36


class PictureCanvas(QWidget):
    """A picture that fits its room, or is zoomed by the wheel and dragged about.

    Signals
    -------
    zoomed : it is shown in another size.
    """

    zoomed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.loaded: Loaded | None = None
        self._image = QImage()
        self._scale: float | None = None  # points for a pixel of the image; None fits
        self._centre = QPointF()  # the point of the image in the middle of the room
        self._grip: QPointF | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(240, 180)
        self.setAccessibleName("Picture")

    def show_picture(self, loaded: Loaded | None) -> None:
        """Show what was loaded, fitted; None while it is on its way."""
        self.loaded = loaded
        self._image = loaded.images[0] if loaded is not None and loaded.images else QImage()
        self._scale = None
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.update()
        self.zoomed.emit()

    @property
    def scale(self) -> float:
        """Points of the window for a pixel of the image."""
        return self._fitting() if self._scale is None else self._scale

    @property
    def percent(self) -> float:
        """Pixels of the screen for a hundred pixels of the file."""
        return 100 * self.scale * self._reduced() * self.devicePixelRatioF()

    def _reduced(self) -> float:
        """Pixels of the image for one of the file: below 1 where a large picture was decoded smaller."""
        width = 0 if self.loaded is None else self.loaded.width
        return self._image.width() / width if width else 1.0

    def _fitting(self) -> float:
        """As large as the room, but a small picture no larger than it is, unless it is a tiny one."""
        if self._image.isNull():
            return 1.0
        box = fit(QRectF(self.rect()), self._image.width(), self._image.height())
        most = 1 / self.devicePixelRatioF()
        if max(self._image.width(), self._image.height()) * most < min(self.width(), self.height()) / 2:
            most *= 4
        return min(box.width() / self._image.width(), most)

    def picture_rect(self) -> QRectF:
        """Where the image is painted."""
        size = QSizeF(self._image.size()) * self.scale
        middle = QRectF(self.rect()).center()
        if self._scale is not None:
            middle -= (self._centre - QPointF(self._image.width() / 2, self._image.height() / 2)) * self.scale
        box = QRectF(QPointF(), size)
        box.moveCenter(middle)
        return box

    def fit(self) -> None:
        """Fit the window."""
        self._scale = None
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.update()
        self.zoomed.emit()

    def zoom(self, factor: float, about: QPointF | None = None) -> None:
        """Zoom by a factor about a point of the widget, its middle where none is given."""
        if self._image.isNull():
            return
        about = QRectF(self.rect()).center() if about is None else about
        box, before = self.picture_rect(), self.scale
        most = LARGEST / self.devicePixelRatioF() / min(self._reduced(), 1.0)
        after = min(max(before * factor, min(self._fitting(), before, 0.05)), most)
        held = (about - box.topLeft()) / before
        self._scale = after
        self._centre = held - (about - QRectF(self.rect()).center()) / after
        self._keep_in_sight()

    def zoom_to(self, percent: float, about: QPointF | None = None) -> None:
        """Zoom to so many pixels of the screen for a hundred of the file."""
        if not self._image.isNull():
            self.zoom(percent / self.percent, about)

    def _keep_in_sight(self) -> None:
        """Let no edge of the picture come inside the room where the picture is larger."""
        assert self._scale is not None
        x = _kept(self._centre.x(), self._image.width(), self.width() / self._scale)
        y = _kept(self._centre.y(), self._image.height(), self.height() / self._scale)
        self._centre = QPointF(x, y)
        larger = QRectF(self.rect()).adjusted(-1, -1, 1, 1).contains(self.picture_rect())
        self.setCursor(Qt.CursorShape.ArrowCursor if larger else Qt.CursorShape.OpenHandCursor)
        self.update()
        self.zoomed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = current_colours()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.ground))
        if not self._image.isNull():
            # Single pixels are to be seen as such.
            smooth = self.scale * self.devicePixelRatioF() < 3
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
            painter.drawImage(self.picture_rect(), self._image)
        self._paint_words(painter)

    def _paint_words(self, painter: QPainter) -> None:
        """What is to be said of the picture: that it is on its way, why there is none, that it moves."""
        colours, loaded = current_colours(), self.loaded
        painter.setPen(QColor(colours.quiet))
        middle = QRectF(self.rect())
        if loaded is None:
            painter.drawText(middle, Qt.AlignmentFlag.AlignCenter, "Loading…")
        elif self._image.isNull():
            place = QRectF(0, 0, _ICON, _ICON)
            place.moveCenter(middle.center() - QPointF(0, 18))
            icon("no-picture", colours.quiet, _ICON).paint(painter, place.toRect())
            below = QRectF(middle.left() + 24, place.bottom() + 8, middle.width() - 48, 60)
            how = Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(below, how, loaded.fault[:1].upper() + loaded.fault[1:] + ".")
        elif note := self._note(loaded):
            width = painter.fontMetrics().horizontalAdvance(note) + 20
            badge = QRectF(12, self.height() - 36, width, 24)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.panel))
            painter.drawRoundedRect(badge, 6, 6)
            painter.setPen(QColor(colours.quiet))
            painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, note)

    def _note(self, loaded: Loaded) -> str:
        if loaded.fault:
            return f"{loaded.fault[:1].upper() + loaded.fault[1:]}: this is its thumbnail from the index"
        if loaded.animated:
            return "First frame of an animation"
        if self._reduced() < 1:
            return f"Decoded smaller, at {100 * self._reduced():.0f} %"
        return ""

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() / 120
        if steps:
            self.zoom(STEP**steps, event.position())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._scale is not None:
            self._grip = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grip is not None and self._scale is not None:
            self._centre -= (event.position() - self._grip) / self._scale
            self._grip = event.position()
            self._keep_in_sight()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grip = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._scale is None:
            self.zoom_to(100.0, event.position())
        else:
            self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._scale is None:
            self.zoomed.emit()


def _kept(centre: float, size: float, room: float) -> float:
    """The middle of what is seen along one side; a picture smaller than its room lies in the middle."""
    return size / 2 if size <= room else min(max(centre, room / 2), size - room / 2)
