"""Typed classes that colour the map: each row by the class whose sentence it is nearest to."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QPushButton, QSizePolicy, QWidget

from explorer.commands import Session
from explorer.core.class_list import TEMPLATE, classes_of, sentences_of
from explorer.core.errors import ExplorerError
from explorer.views.panels.form import Section, quiet

LINES = 3


class ZeroShotSection(Section):
    """A field for classes, the sentence around them, and the button that asks."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("Classes", parent)
        self._session = session
        self.field = ClassField()
        self.field.entered.connect(self.colour)
        self.field.textChanged.connect(self._show_state)
        self.template = QLineEdit(TEMPLATE)
        self.template.textChanged.connect(self._show_state)
        self.template.returnPressed.connect(self.colour)
        self.go = QPushButton("Colour the map")
        self.go.clicked.connect(self.colour)
        self.words = quiet()
        self.body.setSpacing(4)
        self.body.addWidget(self.field)
        self.row("Asked as", self.template, "The sentence that each class is put into, at {}")
        self.template.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.go)
        line.addWidget(self.words, 1)
        self.body.addLayout(line)
        document = session.document
        document.table_changed.connect(self.refresh)
        document.encoder_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the section where there is an encoder that reads texts."""
        encoder = self._session.document.encoder
        self.setVisible(encoder is not None and encoder.has_text)
        self._show_state()

    def colour(self) -> None:
        """Colour the map by the classes typed."""
        if self.go.isEnabled():
            self._session.judging.zero_shot(classes_of(self.field.toPlainText()), self.template.text())

    def _show_state(self) -> None:
        """Say how many classes are named, or what is missing; nothing of an empty field."""
        classes = classes_of(self.field.toPlainText())
        try:
            sentences_of(classes, self.template.text())
        except ExplorerError as error:
            self.go.setEnabled(False)
            self.words.setText(error.message if classes else "")
            self.words.setToolTip(error.hint)
        else:
            self.go.setEnabled(True)
            self.words.setText(f"{len(classes):,} classes")
            self.words.setToolTip("")


class ClassField(QPlainTextEdit):
    """A few lines of classes; Ctrl+Return asks.

    Signals
    -------
    entered() : Ctrl+Return was pressed.
    """

    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setPlaceholderText("Classes: cat, dog, horse")
        self.setAccessibleName("Classes")
        self.setToolTip("Commas or lines between them; Ctrl+Return colours the map")
        self.setTabChangesFocus(True)
        metrics = self.fontMetrics()
        self.setFixedHeight(metrics.lineSpacing() * LINES + 16)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        else:
            super().keyPressEvent(event)
