"""Names to type from, where a model reads events: completed as they are typed, and listed by kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QLineEdit, QMenu, QPushButton, QWidget

_MOST_SHOWN = 12
_KINDS = {
    "note_on": ("Note on", "note_on_60"),
    "note_off": ("Note off", "note_off_60"),
    "time_shift": ("Wait, in ms", "time_shift_100"),
    "velocity": ("Loudness", "velocity_20"),
}


class EventNames(QPushButton):
    """A button that lists the kinds of events; what is typed in its field is completed by their names.

    Signals
    -------
    entered() : a name was put into the field.

    Parameters
    ----------
    field : QLineEdit
    """

    entered = Signal()

    def __init__(self, field: QLineEdit, parent: QWidget | None = None) -> None:
        super().__init__("Events", parent)
        self._field = field
        self._names: tuple[str, ...] = ()
        self._completer = QCompleter(self)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._completer.setMaxVisibleItems(_MOST_SHOWN)
        self._completer.setWidget(field)
        self._completer.popup().setProperty("popup", True)
        self._completer.activated.connect(self._take)
        self._menu = QMenu(self)
        self.setMenu(self._menu)
        field.textEdited.connect(self._complete)

    def show_names(self, names: Sequence[str]) -> None:
        """Offer other names; none where there are none."""
        if tuple(names) == self._names:
            return
        self._names = tuple(names)
        self._completer.setModel(QStringListModel(list(names), self._completer))
        self._menu.clear()
        for kind, (words, usual) in _KINDS.items():
            if usual in self._names:
                self._menu.addAction(f"{words}\t{usual}", lambda kind=kind: self._offer(kind))
        for name in ("end", "pad"):
            if name in self._names:
                self._menu.addAction(name.capitalize(), lambda name=name: self._insert(name))

    @property
    def offered(self) -> list[str]:
        """The names that are offered for what is being typed."""
        model = self._completer.completionModel()
        return [str(model.index(row, 0).data()) for row in range(model.rowCount())]

    def _offer(self, kind: str) -> None:
        """Begin a name of a kind, and offer its ends."""
        text = self._field.text()
        self._field.setText(f"{text}{'' if not text or text[-1].isspace() else ' '}{kind}_")
        self._field.setFocus()
        self._complete()

    def _complete(self) -> None:
        begun = _last_word(self._field.text()[: self._field.cursorPosition()])
        if not self._names or not begun or begun in self._names:
            self._completer.popup().hide()
            return
        self._completer.setCompletionPrefix(begun)
        if self._completer.completionCount():
            self._completer.complete()
        else:
            self._completer.popup().hide()

    def _take(self, name: str) -> None:
        """Put a chosen name in the place of the word that was begun."""
        at = self._field.cursorPosition()
        before, after = self._field.text()[:at], self._field.text()[at:].lstrip()
        kept = before[: len(before) - len(_last_word(before))]
        self._field.setText(f"{kept}{name} {after}")
        self._field.setCursorPosition(len(kept) + len(name) + 1)
        self.entered.emit()

    def _insert(self, name: str) -> None:
        text = self._field.text().rstrip()
        self._field.setText(f"{text} {name} ".lstrip())
        self._field.setFocus()
        self.entered.emit()


def _last_word(text: str) -> str:
    return re.split(r"[\s,;]", text)[-1]
