"""What the colours mean and how many labels the map shows."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QComboBox, QWidget

from explorer.commands import Session
from explorer.document.colouring import ZERO_SHOT, choices
from explorer.views.panels.form import Section

DENSITIES = ("none", "few", "fit", "many")


class ColourSection(Section):
    """Choices for colours and labels."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("Colour", parent)
        self._session = session
        self.by = QComboBox()
        self.by.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.labels = QComboBox()
        self.labels.addItems(list(DENSITIES))
        self.row("By", self.by, "What the colour of a point says")
        self.row("Labels", self.labels, "How many names the map shows; they never overlap")
        self.by.textActivated.connect(self._colour_by)
        self.labels.textActivated.connect(session.document.set_label_density)
        session.document.table_changed.connect(self.refresh)
        session.document.colours_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the document's choices."""
        document = self._session.document
        self.setVisible(document.table is not None)
        if document.table is None:
            return
        names = choices(document.table)
        if document.zero_shot is not None:
            names = (ZERO_SHOT, *names)
        if names != tuple(self.by.itemText(place) for place in range(self.by.count())):
            self.by.clear()
            self.by.addItems(list(names))
        self.by.setCurrentText(document.colouring.by)
        self.labels.setCurrentText(document.label_density)

    def _colour_by(self, name: str) -> None:
        document = self._session.document
        document.set_colouring(replace(document.colouring, by=name, hidden=frozenset()))
