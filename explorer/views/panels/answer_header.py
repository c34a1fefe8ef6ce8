"""What stands over an answer: back and forward, the question, list or gallery, how many, which measure."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.views.panels.elided_label import ElidedLabel
from explorer.views.panels.form import quiet
from explorer.views.theme import current_colours, icon


class AnswerHeader(QWidget):
    """Leads through the questions asked and names the one whose answer is shown.

    Signals
    -------
    switched(bool) : the answer is wanted as a gallery (True) or as a list.
    """

    switched = Signal(bool)

    def __init__(self, session: Session, *, gallery: bool = False) -> None:
        super().__init__()
        self._session = session
        self._gallery = gallery
        self.back = _button("Back to the question before")
        self.forward = _button("Forward to the next question")
        self.title = ElidedLabel()
        self.title.setProperty("title", True)
        self.as_list = _button("Show the answer as a list")
        self.as_gallery = _button("Show the answer as pictures")
        self.count = quiet()
        self.measure = quiet()
        self._lay_out()
        self._draw_icons()
        self.back.clicked.connect(lambda: session.asking.go(-1))
        self.forward.clicked.connect(lambda: session.asking.go(1))
        self.refresh()

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(0)
        line.addWidget(self.back)
        line.addWidget(self.forward)
        line.addSpacing(4)
        line.addWidget(self.title, 1)
        group = QButtonGroup(self)
        for button, shown in ((self.as_list, not self._gallery), (self.as_gallery, self._gallery)):
            button.setCheckable(True)
            button.setChecked(shown)
            group.addButton(button)
            line.addWidget(button)
        group.buttonClicked.connect(self._switch)
        below = QHBoxLayout()
        below.setContentsMargins(6, 0, 6, 2)
        below.addWidget(self.count)
        below.addWidget(self.measure, 1, Qt.AlignmentFlag.AlignRight)
        for label in (self.count, self.measure):
            label.setWordWrap(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(line)
        column.addLayout(below)

    def refresh(self) -> None:
        """Follow the document: where one can go to, and whether there are pictures to switch to."""
        asking = self._session.asking
        self.back.setEnabled(asking.can_go(-1))
        self.forward.setEnabled(asking.can_go(1))
        for button in (self.as_list, self.as_gallery):
            button.setVisible(self._session.document.pictures is not None)

    def _switch(self, button: QToolButton) -> None:
        gallery = button is self.as_gallery
        # Two headers take turns; each goes on showing what it stands over.
        (self.as_gallery if self._gallery else self.as_list).setChecked(True)
        if gallery != self._gallery:
            self.switched.emit(gallery)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "measure"):
            self._draw_icons()

    def _draw_icons(self) -> None:
        for button, name in (
            (self.back, "back"),
            (self.forward, "forward"),
            (self.as_list, "list"),
            (self.as_gallery, "gallery"),
        ):
            button.setIcon(icon(name, current_colours().text))


def _button(tip: str) -> QToolButton:
    button = QToolButton()
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setFixedSize(26, 26)
    return button
