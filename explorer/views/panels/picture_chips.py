"""Pictures that are part of a question: small thumbnails at the left of the query line."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QImage, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QMenu, QWidget

from explorer.core.labels import Labels
from explorer.core.pictures import Pictures
from explorer.core.query_text import PictureTerm
from explorer.views.theme import current_colours, icon
from explorer.views.thumbnails import Thumbnails

HEIGHT, THUMB, CROSS, PAD, SIGN = 26, 22, 12, 2, 12
LOADED_SIDE = 96


class PictureChips(QWidget):
    """A chip for each picture; as wide as they are.

    Signals
    -------
    changed(tuple of PictureTerm) : the person took one away, or turned its sign.
    """

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pictures: tuple[PictureTerm, ...] = ()
        self.thumbnails = Thumbnails(LOADED_SIDE, stored=False, parent=self)
        self.thumbnails.arrived.connect(self._show_image)
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.setSpacing(4)
        self.setFixedHeight(HEIGHT)
        self.hide()

    @property
    def chips(self) -> list[Chip]:
        """One for each picture, in order."""
        return [self._line.itemAt(place).widget() for place in range(self._line.count())]

    def show_pictures(self, pictures: tuple[PictureTerm, ...]) -> None:
        """Show other pictures."""
        if pictures == self.pictures:
            return
        self.pictures = pictures
        while self._line.count():
            self._line.takeAt(0).widget().deleteLater()
        names = Labels.from_texts([str(Path(term.path).absolute()) for term in pictures], "query")
        self.thumbnails.show(Pictures(Path(), names) if pictures else None)
        for place, term in enumerate(pictures):
            chip = Chip(term)
            chip.clicked.connect(lambda _=False, place=place: self.remove(place))
            chip.turned.connect(lambda place=place: self._turn(place))
            self._line.addWidget(chip)
            chip.show()  # a hidden one would take no room
            self.thumbnails.loaded(place)
        self.setVisible(bool(pictures))
        self.adjustSize()

    def _show_image(self, place: int) -> None:
        loaded = self.thumbnails.loaded(place)
        if loaded is not None and place < self._line.count():
            self.chips[place].show_image(self.thumbnails.image(place), loaded.fault)

    def remove(self, place: int) -> None:
        """Take a picture away; -1 is the last."""
        kept = list(self.pictures)
        del kept[place]
        self.changed.emit(tuple(kept))

    def _turn(self, place: int) -> None:
        term = self.pictures[place]
        turned = PictureTerm(-term.weight, term.path)
        self.changed.emit((*self.pictures[:place], turned, *self.pictures[place + 1 :]))


class Chip(QAbstractButton):
    """A thumbnail with a cross; a click takes it away.

    Signals
    -------
    turned() : to be subtracted where it was added, and the other way.
    """

    turned = Signal()

    def __init__(self, term: PictureTerm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.term = term
        name = Path(term.path).name
        self.setAccessibleName(f"{'Without' if term.weight < 0 else 'With'} the picture {name}")
        self.setToolTip(f"{name}\nClick to take it away; right click to subtract it")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.image: QImage | None = None
        self.fault = ""

    def show_image(self, image: QImage | None, fault: str) -> None:
        """Show what came of loading the picture."""
        self.image, self.fault = image, fault
        if fault:
            self.setToolTip(f"{Path(self.term.path).name}: {fault}")
        self.update()

    def sizeHint(self) -> QSize:
        sign = SIGN if self.term.weight < 0 else 0
        return QSize(sign + PAD + THUMB + 4 + CROSS + 4, HEIGHT)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.addAction("Add it" if self.term.weight < 0 else "Subtract it", self.turned.emit)
        menu.addAction("Take it away", self.click)
        menu.exec(event.globalPos())

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = current_colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        lit = self.underMouse() or self.hasFocus()
        sign = SIGN if self.term.weight < 0 else 0
        if sign:
            painter.setPen(QColor(colours.quiet))
            painter.drawText(QRect(0, 0, sign, HEIGHT), Qt.AlignmentFlag.AlignCenter, "−")
        painter.setPen(QPen(QColor(colours.accent)) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent_ground))
        box = QRectF(self.rect()).adjusted(sign + 0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(box, 6, 6)
        place = QRectF(sign + PAD, PAD, THUMB, THUMB)
        shape = QPainterPath()
        shape.addRoundedRect(place, 4, 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.fillPath(shape, QColor(colours.line))
        painter.save()
        painter.setClipPath(shape)
        if self.image is not None:
            painter.drawImage(place, self.image, QRectF(_middle_square(self.image)))
        painter.restore()
        if self.fault:
            icon("no-picture", colours.quiet).paint(painter, place.toRect().adjusted(2, 2, -2, -2))
        painter.setPen(QPen(QColor(colours.accent if lit else colours.quiet), 1.4))
        middle, arm = QRectF(self.width() - CROSS - 4, 0, CROSS, HEIGHT).center(), 3.2
        for side in (1, -1):
            painter.drawLine(
                round(middle.x() - arm), round(middle.y() - side * arm),
                round(middle.x() + arm), round(middle.y() + side * arm),
            )  # fmt: skip
        painter.end()


def _middle_square(image: QImage) -> QRect:
    """The middle of a picture, as large a square as it holds."""
    side = min(image.width(), image.height())
    return QRect((image.width() - side) // 2, (image.height() - side) // 2, side, side)
