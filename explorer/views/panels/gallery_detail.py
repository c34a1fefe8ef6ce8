"""The chosen picture, large, with what is known of it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from explorer.views.fitted import fit
from explorer.views.label_text import shown_label
from explorer.views.panels.elided_label import ElidedLabel
from explorer.views.panels.form import quiet
from explorer.views.panels.gallery_model import GalleryModel
from explorer.views.panels.gallery_tile import paint_picture
from explorer.views.theme import current_colours, figures, icon
from explorer.views.thumbnails import Loaded, Thumbnails

PREVIEW_SIDE = 1280
PREVIEW_BYTES = 64 << 20
_LARGEST_BLOW_UP, _LEAST_SEEN = 4, 96
_ICON = 28


class GalleryDetail(QWidget):
    """Shows one place of a GalleryModel.

    Signals
    -------
    full_wanted : the picture was clicked, to be seen in full.
    alike_wanted : pictures like this one are asked for.
    """

    full_wanted = Signal()
    alike_wanted = Signal()

    def __init__(self, model: GalleryModel, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._model = model
        self._thumbnails = thumbnails
        self._place = -1
        self.previews = Thumbnails(PREVIEW_SIDE, PREVIEW_BYTES, stored=False, parent=self)
        self.picture = Preview()
        self.picture.clicked.connect(self.full_wanted)
        self.score = QLabel()
        self.score.setTextFormat(Qt.TextFormat.RichText)
        self.score.setFont(figures(self.score.font()))
        self.alike = QPushButton("More like this")
        self.alike.setProperty("flat", True)
        self.alike.clicked.connect(self.alike_wanted)
        self.caption = ElidedLabel(lines=2)
        self.path = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.size_label = quiet()
        self.size_label.setWordWrap(False)
        self.size_label.setFont(figures(self.size_label.font()))
        self.fault = quiet()
        self._lay_out()
        self.previews.arrived.connect(self._arrived)
        thumbnails.arrived.connect(self._arrived)

    def _lay_out(self) -> None:
        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self.score, 1)
        first.addWidget(self.alike)
        last = QHBoxLayout()
        last.setSpacing(8)
        last.addWidget(self.path, 1)
        last.addWidget(self.size_label)
        self.path.setProperty("quiet", True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(2)
        column.addWidget(self.picture, 1)
        column.addSpacing(2)
        column.addLayout(first)
        column.addWidget(self.caption)
        column.addLayout(last)
        column.addWidget(self.fault)

    def show_place(self, place: int) -> None:
        """Show a place of the model; -1 shows nothing."""
        self._place = place
        self.setVisible(place >= 0)
        if place < 0:
            self.previews.want(self, ())
            return
        model = self._model
        row = model.row_at(place)
        self.previews.want(self, (row,))
        self.score.setText(self._score_words(place))
        self.score.setToolTip(self._score_tip(place))
        captions = [shown_label(text) for text in model.captions(place)]
        more = f" (+{len(captions) - 1})" if len(captions) > 1 else ""
        self.caption.setText(captions[0] + more if captions else "")
        self.caption.setToolTip("\n".join(captions))
        self.caption.setVisible(bool(captions))
        self.path.setText(model.name(place))
        self.path.setToolTip(shown_label(model.file(place)) if model.file(place) else "")
        self._show_picture(row)

    def _score_words(self, place: int) -> str:
        score = self._model.score_text(place)
        if not score:
            return f"<b>{place + 1:,}</b>"
        quiet_colour = current_colours().quiet
        return (
            f"<span style='color:{quiet_colour}'>{place + 1:,}</span>&nbsp;&nbsp;<b>{score}</b>&nbsp;&nbsp;"
            f"<span style='color:{quiet_colour}'>{self._model.above_text(place)}</span>"
        )

    def _score_tip(self, place: int) -> str:
        if self._model.answer is None:
            return f"Row {self._model.row_at(place):,} of the table"
        metric = self._model.answer.result.metric
        return (
            f"Rank, {metric}, and the standard deviations by which it is nearer than the table's average row"
        )

    def _show_picture(self, row: int) -> None:
        large = self.previews.loaded(row)
        image = self.previews.image(row) or self._thumbnails.image(row)
        waits = image is None and (large is None or not large.fault)
        self.picture.show_image(image, waits=waits)
        self.size_label.setText(_size_words(large))
        fault = "" if large is None else large.fault
        self.fault.setText(_sentence(fault, stands_in=image is not None) if fault else "")
        self.fault.setVisible(bool(fault))

    def _arrived(self, row: int) -> None:
        if 0 <= self._place < self._model.rowCount() and self._model.row_at(self._place) == row:
            self._show_picture(row)


class Preview(QWidget):
    """A picture as large as the room allows."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._image: QImage | None = None
        self._waits = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(136)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip("Open the full picture")
        self.setAccessibleName("The chosen picture")

    def sizeHint(self) -> QSize:
        return QSize(280, 200)

    def show_image(self, image: QImage | None, *, waits: bool) -> None:
        """Show an image; without one say nothing while it is waited for."""
        self._image, self._waits = image, waits
        self.update()

    def picture_rect(self) -> QRectF:
        """Where the picture is painted: small ones are blown up, but not beyond recognition."""
        room = QRectF(self.rect())
        if self._image is None:
            return room
        longer = max(self._image.width(), self._image.height())
        most = max(_LARGEST_BLOW_UP, _LEAST_SEEN / longer)
        width = min(room.width(), self._image.width() * most)
        height = min(room.height(), self._image.height() * most)
        box = QRectF(0, 0, width, height)
        box.moveCenter(room.center())
        return fit(box, self._image.width(), self._image.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self._image is not None:
            paint_picture(painter, self.picture_rect(), self._image)
            return
        colours = current_colours()
        painter.setPen(QColor(colours.line))
        painter.setBrush(QColor(colours.ground))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        if not self._waits:
            place = QRectF(0, 0, _ICON, _ICON)
            place.moveCenter(QRectF(self.rect()).center())
            icon("no-picture", colours.quiet, _ICON).paint(painter, place.toRect())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


def _size_words(loaded: Loaded | None) -> str:
    if loaded is None or not loaded.width:
        return ""
    words = f"{loaded.width:,} × {loaded.height:,}"
    return f"{words} · first frame" if loaded.animated else words


def _sentence(reason: str, *, stands_in: bool) -> str:
    sentence = reason[:1].upper() + reason[1:]
    return f"{sentence}: this is its thumbnail from the index." if stands_in else f"{sentence}."
