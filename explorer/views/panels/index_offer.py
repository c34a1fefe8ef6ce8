"""The bar that offers to index a folder of pictures: how many, by which encoder, and where the index goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Session
from explorer.core.wording import counted
from explorer.readers.index_places import indexes_of, place_for
from explorer.views.panels.elided_label import ElidedLabel
from explorer.views.panels.encoder_choice import EncoderCombo
from explorer.views.theme import current_colours, icon

SLICE_MS = 8


class IndexOffer(QFrame):
    """Offers one folder at a time, until it is taken or closed."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("offer")
        self.setAccessibleName("Index pictures")
        self._session = session
        self._folder = Path()
        self._place: Path | None = None
        self._files: Iterator[object] | None = None
        self.count = 0
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._count_on)
        self.text = ElidedLabel()
        self.encoder = EncoderCombo(session)
        self.encoder.changed.connect(self._encoder_changed)
        self.go = QPushButton("Index")
        self.go.setProperty("primary", True)
        self.go.clicked.connect(self.start)
        self.shut = QToolButton()
        self.shut.setAccessibleName("Not now")
        self.shut.clicked.connect(self.put_away)
        self.place = ElidedLabel()
        self.place.setProperty("quiet", True)
        self.elsewhere = _link("Elsewhere…", self.ask_where)
        self.present = _link("Open its index", self._open_present)
        first = QHBoxLayout()
        first.setSpacing(8)
        for widget in (self.text, self.encoder, self.go):
            first.addWidget(widget)
        first.addStretch(1)
        first.addWidget(self.shut)
        second = QHBoxLayout()
        second.setSpacing(4)
        second.addWidget(self.place)
        second.addWidget(self.elsewhere)
        second.addWidget(self.present)
        second.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 8, 6)
        column.setSpacing(2)
        column.addLayout(first)
        column.addLayout(second)
        self.hide()

    def offer(self, folder: str) -> None:
        """Offer to index the pictures of a folder."""
        # Imports Pillow, which most sessions do not need.
        from explorer.readers.picture_folder import FolderScan

        self._folder = Path(folder).absolute()
        self._place = None
        self.count = 0
        self._files = FolderScan(self._folder).files()
        self._timer.start()
        self._present = indexes_of(self._folder)
        self.present.setVisible(bool(self._present))
        self.present.setToolTip(str(self._present[-1]) if self._present else "")
        shown = self._session.document.encoder
        self.encoder.fill(shown.path if shown is not None and shown.has_images else "")
        self._show_count()
        self.restyle()
        self.show()
        self.encoder.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def index(self) -> Path | None:
        """Where the index goes; None where no encoder is chosen."""
        if not self.encoder.path:
            return None
        return self._place or place_for(self._folder, Path(self.encoder.path))

    def start(self) -> None:
        """Index the folder as offered."""
        index = self.index
        if index is None:
            return
        self.put_away()
        self._session.indexing.start(str(self._folder), self.encoder.path, str(index))

    def ask_where(self) -> None:
        """Choose another folder for the index."""
        start = str(self.index or self._folder.parent)
        chosen = QFileDialog.getSaveFileName(
            self, "A new folder for the index", start, "Folder (*)", options=_NO_OVERWRITING
        )[0]
        if chosen:
            self._place = Path(chosen)
            self._show_place()

    def put_away(self) -> None:
        """Close the bar."""
        self._timer.stop()
        self._files = None
        self.hide()

    def restyle(self) -> None:
        """Take on the colours of the scheme that holds now."""
        colours = current_colours()
        self.setStyleSheet(
            f"#offer {{ background: {colours.accent_ground}; border-bottom: 1px solid {colours.line}; }}"
        )
        self.shut.setIcon(icon("close"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.put_away()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.go.isEnabled():
            self.start()
        else:
            super().keyPressEvent(event)

    # Counting and showing

    def _count_on(self) -> None:
        """Count pictures for a moment, so that the window stays free."""
        if self._files is None:
            self._timer.stop()
            return
        clock = QElapsedTimer()
        clock.start()
        while clock.elapsed() < SLICE_MS:
            if next(self._files, None) is None:
                self._timer.stop()
                self._files = None
                break
            self.count += 1
        self._show_count()

    @property
    def is_counting(self) -> bool:
        """Whether there may be more pictures than ``count``."""
        return self._files is not None

    def _show_count(self) -> None:
        name = self._folder.name or str(self._folder)
        so_far = " so far" if self.is_counting else ""
        self.text.setText(f"Index {counted(self.count, 'picture')}{so_far} in {name} with")
        self.text.setToolTip(str(self._folder))  # what is cut off of its name can be read there
        self.go.setEnabled(bool(self.encoder.path) and self.count > 0)

    def _encoder_changed(self, _path: str) -> None:
        self._show_place()
        self._show_count()

    def _show_place(self) -> None:
        index = self.index
        if index is None:
            self.place.setText("Choose an encoder that sees pictures, such as a CLIP.")
        elif index in self._present:
            self.place.setText(f"Brings {index} up to date.")
        else:
            self.place.setText(f"The index goes to {index}")
        self.elsewhere.setVisible(index is not None)

    def _open_present(self) -> None:
        self.put_away()
        self._session.opening.open([str(self._present[-1])])


_NO_OVERWRITING = QFileDialog.Option.DontConfirmOverwrite | QFileDialog.Option.ShowDirsOnly


def _link(text: str, act: Callable[[], None]) -> QPushButton:
    button = QPushButton(text)
    button.setProperty("flat", True)
    button.clicked.connect(lambda: act())
    return button
