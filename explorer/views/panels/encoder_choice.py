"""A list of the encoders that there are, with two ways to any other."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QWidget

from explorer.commands import Session

FOLDER, FILE = "Choose a folder…", "Choose a file…"
_FILES = "Weights (*.safetensors *.bin *.pt *.pth *.ckpt);;All files (*)"


def ask_for_folder(parent: QWidget, start: str = "") -> str:
    """The folder of an encoder that the person chooses; empty where none."""
    return QFileDialog.getExistingDirectory(parent, "Choose an encoder's folder", start)


def ask_for_file(parent: QWidget, start: str = "") -> str:
    """The file of an encoder that the person chooses; empty where none."""
    return QFileDialog.getOpenFileName(parent, "Choose an encoder's file", start, _FILES)[0]


class EncoderCombo(QComboBox):
    """A list of encoders with two ways to others.

    Signals
    -------
    changed(path) : another encoder is chosen.
    """

    changed = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._chosen = ""
        self.setAccessibleName("Encoder")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMinimumContentsLength(12)
        self.activated.connect(self._activated)

    @property
    def path(self) -> str:
        """The chosen encoder's path; empty where none is known yet."""
        return self._chosen

    def fill(self, chosen: str = "") -> None:
        """List the encoders that are there now, and choose one: the named, else the first."""
        self.clear()
        known = self._session.encoding.local()
        if chosen and chosen not in (choice.path for choice in known):
            self._add(Path(chosen).name, chosen)
        for choice in known:
            self._add(choice.name, choice.path)
        if known:
            self.insertSeparator(self.count())
        self.addItem(FOLDER)
        self.addItem(FILE)
        self._choose(chosen or (known[0].path if known else ""))

    def _add(self, name: str, path: str) -> None:
        self.addItem(name, path)
        self.setItemData(self.count() - 1, path, Qt.ItemDataRole.ToolTipRole)

    def _choose(self, path: str) -> None:
        self._chosen = path
        self.setCurrentIndex(self.findData(path) if path else -1)
        self.setToolTip(path)
        self.changed.emit(path)

    def _activated(self, place: int) -> None:
        text = self.itemText(place)
        if text not in (FOLDER, FILE):
            self._choose(str(self.itemData(place)))
            return
        path = (ask_for_folder if text == FOLDER else ask_for_file)(self)
        if path:
            self.fill(path)
        else:
            self._choose(self._chosen)
