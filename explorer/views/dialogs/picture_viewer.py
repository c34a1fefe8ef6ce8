"""One picture in full, in a window beside the others: zoomed, moved about, and on to the next result."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from explorer.views.clipboard import put_picture
from explorer.views.file_url import file_url
from explorer.views.fitted import fit
from explorer.views.label_text import shown_label
from explorer.views.panels.elided_label import ElidedLabel
from explorer.views.panels.gallery_model import GalleryModel
from explorer.views.theme import current_colours, figures, icon
from explorer.views.thumbnails import Loaded, Thumbnails

SIDE = 4096
MOST_BYTES = 192 << 20
LARGEST, STEP = 16.0, 1.25
_ICON = 36


class PictureViewer(QDialog):
    """Shows the pictures of a GalleryModel one at a time.

    Signals
    -------
    moved_to(int) : another place of the model is shown.
    """

    moved_to = Signal(int)

    def __init__(self, model: GalleryModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._place = -1
        self.setModal(False)
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.resize(960, 720)
        self.loader = Thumbnails(SIDE, MOST_BYTES, stored=False, parent=self)
        self.loader.arrived.connect(self._arrived)
        self.canvas = PictureCanvas()
        self.canvas.zoomed.connect(self._show_facts)
        self.name = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.caption = ElidedLabel()
        self.caption.setProperty("quiet", True)
        self.facts = QLabel()
        self.facts.setProperty("quiet", True)
        self.facts.setFont(figures(self.facts.font()))
        self.fit_button = _button("Fit", "Fit the window (0)", self.canvas.fit)
        self.whole_button = _button("100 %", "One pixel of the picture is one of the screen (1)", self._whole)
        self._lay_out()
        model.modelReset.connect(self._model_reset)

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.name)
        words.addWidget(self.caption)
        line = QHBoxLayout()
        line.setContentsMargins(12, 8, 12, 8)
        line.setSpacing(8)
        line.addLayout(words, 1)
        line.addWidget(self.facts)
        line.addWidget(self.fit_button)
        line.addWidget(self.whole_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.canvas, 1)
        column.addLayout(line)

    def open_at(self, place: int) -> None:
        """Show a place of the model, in front."""
        self.show_place(place)
        self.show()
        self.raise_()
        self.activateWindow()
        self.canvas.setFocus()

    def show_place(self, place: int) -> None:
        """Show a place of the model."""
        if place == self._place:
            return
        self._place = place
        model = self._model
        self.loader.show(model.pictures)
        row = model.row_at(place)
        around = [
            model.row_at(each) for each in (place, place + 1, place - 1) if 0 <= each < model.rowCount()
        ]
        for each in reversed(around):
            self.loader.loaded(each)
        self.loader.want(self, around)
        self.setWindowTitle(model.name(place) or "Picture")
        self.name.setText(model.name(place))
        self.name.setToolTip(shown_label(model.file(place)) if model.file(place) else "")
        captions = model.captions(place)
        self.caption.setText(shown_label(captions[0]) if captions else "")
        self.caption.setToolTip("\n".join(map(shown_label, captions)))
        self._show_picture(row)

    def step(self, places: int) -> None:
        """Go on to a later result, or back."""
        to = self._place + places
        if 0 <= to < self._model.rowCount():
            self.show_place(to)
            self.moved_to.emit(to)

    def _show_picture(self, row: int) -> None:
        loaded = self.loader.loaded(row)
        self.canvas.show_picture(loaded)
        self._show_facts()

    def _arrived(self, row: int) -> None:
        if 0 <= self._place < self._model.rowCount() and self._model.row_at(self._place) == row:
            self._show_picture(row)

    def _show_facts(self) -> None:
        parts = [f"{self._place + 1:,} of {self._model.rowCount():,}"]
        if score := self._model.score_text(self._place):
            parts.append(score)
        loaded = self.canvas.loaded
        if loaded is not None and loaded.images:
            if loaded.width:
                parts.append(f"{loaded.width:,} × {loaded.height:,}")
            parts.append(f"{self.canvas.percent:,.0f} %")
        self.facts.setText("  ·  ".join(parts))

    def _whole(self) -> None:
        self.canvas.zoom_to(100.0)

    def _model_reset(self) -> None:
        """Another answer: its best picture follows, from whoever shows it."""
        self._place = -1

    def copy(self) -> None:
        """Copy the picture and its file."""
        loaded, file = self.canvas.loaded, self._model.file(self._place) if self._place >= 0 else ""
        if loaded is not None and loaded.images and file:
            put_picture(loaded.images[0], [file_url(file)])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            return
        keys = {
            Qt.Key.Key_Left: lambda: self.step(-1),
            Qt.Key.Key_Right: lambda: self.step(1),
            Qt.Key.Key_Up: lambda: self.step(-1),
            Qt.Key.Key_Down: lambda: self.step(1),
            Qt.Key.Key_Home: lambda: self.step(-self._place),
            Qt.Key.Key_End: lambda: self.step(self._model.rowCount() - 1 - self._place),
            Qt.Key.Key_0: self.canvas.fit,
            Qt.Key.Key_F: self.canvas.fit,
            Qt.Key.Key_1: self._whole,
            Qt.Key.Key_Plus: lambda: self.canvas.zoom(STEP),
            Qt.Key.Key_Equal: lambda: self.canvas.zoom(STEP),
            Qt.Key.Key_Minus: lambda: self.canvas.zoom(1 / STEP),
        }
        act = keys.get(Qt.Key(event.key()))
        if act is None:
            super().keyPressEvent(event)
        else:
            act()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.forget()
        super().closeEvent(event)

    def reject(self) -> None:
        self.forget()
        super().reject()

    def forget(self) -> None:
        """Give the pictures' memory back, and wait for what is being loaded."""
        self._place = -1
        self.canvas.show_picture(None)
        self.loader.close()


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

    def zoom_to(self, percent: float) -> None:
        """Zoom to so many pixels of the screen for a hundred of the file."""
        if not self._image.isNull():
            self.zoom(percent / self.percent)

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
            self.zoom(100 / self.percent, event.position()) if not self._image.isNull() else None
        else:
            self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._scale is None:
            self.zoomed.emit()


def _kept(centre: float, size: float, room: float) -> float:
    """The middle of what is seen along one side; a picture smaller than its room lies in the middle."""
    return size / 2 if size <= room else min(max(centre, room / 2), size - room / 2)


def _button(text: str, tip: str, act: object) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.setAutoDefault(False)
    button.clicked.connect(act)
    return button
