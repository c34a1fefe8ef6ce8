"""One picture in full, in a window beside the others: zoomed, moved about, and on to the next result."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from explorer.views.clipboard import put_picture
from explorer.views.dialogs.picture_canvas import STEP, PictureCanvas
from explorer.views.file_url import file_url
from explorer.views.label_text import shown_label
from explorer.views.panels.elided_label import ElidedLabel
from explorer.views.panels.gallery_model import GalleryModel
from explorer.views.theme import figures
from explorer.views.thumbnails import Thumbnails

SIDE = 4096
MOST_BYTES = 192 << 20


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
        self.caption.setVisible(bool(captions))
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
        if self._place < 0:
            self.facts.clear()
            return
        parts = [f"{self._place + 1:,} of {self._model.ranked:,}"]
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
        """Give the pictures' memory back."""
        self._place = -1
        self.canvas.show_picture(None)
        self.loader.show(None)

    def close_down(self) -> None:
        """Close, and wait for what is being loaded."""
        self.close()
        self.loader.close()


def _button(text: str, tip: str, act: object) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.setAutoDefault(False)
    button.clicked.connect(act)
    return button
