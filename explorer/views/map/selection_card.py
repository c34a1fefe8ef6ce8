"""The card that says how many rows are selected, and how the next ones combine with them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from explorer.commands import Session
from explorer.core.selection import Combine
from explorer.views.map.tools import SIDE, draw_icons, shadow_for, tool_button
from explorer.views.theme import figures

MARGIN = 14
MODES = {
    Combine.NEW: "Select anew",
    Combine.ADD: "Add to the selection (Shift)",
    Combine.REMOVE: "Take from the selection (Alt)",
    Combine.INTERSECT: "Keep only what is in both (Shift+Alt)",
}


class SelectionCard(QFrame):
    """Floats over the map while rows are selected or a selecting tool is in use."""

    def __init__(self, parent: QWidget, session: Session) -> None:
        super().__init__(parent)
        self._session = session
        self._in_use = False
        self.setProperty("card", True)
        self.modes: dict[Combine, QToolButton] = {}
        group = QButtonGroup(self)
        line = QHBoxLayout(self)
        line.setContentsMargins(4, 4, 8, 4)
        line.setSpacing(2)
        for mode, tip in MODES.items():
            button = tool_button(f"select-{mode.value}", tip, checkable=True)
            button.toggled.connect(lambda _on, button=button: draw_icons((button,)))
            group.addButton(button)
            line.addWidget(button)
            self.modes[mode] = button
        self.modes[Combine.NEW].setChecked(True)
        self.count = QLabel()
        self.count.setFont(figures(self.count.font()))
        self.count.setContentsMargins(8, 0, 6, 0)
        self.invert = QPushButton("Invert")
        self.alone = QPushButton("Show only")
        self.all = QPushButton("Show all")
        self.clear = QPushButton("Clear")
        self.invert.setToolTip("Select all other rows")
        self.alone.setToolTip("Hide all other rows (I)")
        self.all.setToolTip("Show all rows again (Shift+H)")
        self.clear.setToolTip("Select nothing (Esc)")
        line.addWidget(self.count)
        for button in (self.invert, self.alone, self.all, self.clear):
            button.setProperty("flat", True)
            button.setCursor(Qt.CursorShape.ArrowCursor)
            line.addWidget(button)
        self.invert.clicked.connect(lambda: session.selecting.invert())
        self.alone.clicked.connect(lambda: session.isolating.isolate())
        self.all.clicked.connect(lambda: session.isolating.show_all())
        self.clear.clicked.connect(lambda: session.selecting.clear())
        shadow_for(self)
        self.refresh()

    def mode_for(self, modifiers: Qt.KeyboardModifier) -> Combine:
        """How rows combine: as the keys held say, else as chosen on the card."""
        shift = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        alt = bool(modifiers & Qt.KeyboardModifier.AltModifier)
        if shift or alt:
            return Combine.INTERSECT if shift and alt else Combine.ADD if shift else Combine.REMOVE
        return self.mode

    @property
    def mode(self) -> Combine:
        """How rows combine where no key says."""
        return next(mode for mode, button in self.modes.items() if button.isChecked())

    def use(self, in_use: bool) -> None:
        """Say whether a selecting tool is in use."""
        self._in_use = in_use
        self.refresh()

    def refresh(self) -> None:
        """Show the document's selection."""
        document = self._session.document
        count = len(document.selection)
        rows = 0 if document.table is None else document.table.listing.rows
        isolation = document.isolation
        if not count and not self._in_use:
            # What cannot be seen must not take rows away.
            self.modes[Combine.NEW].setChecked(True)
        if count:
            text = f"{count:,} of {rows:,} selected"
        else:
            text = (
                "Draw around rows" if isolation is None else f"Only {len(isolation.rows):,} of {rows:,} shown"
            )
        self.count.setText(text)
        for button in (self.invert, self.alone, self.clear):
            button.setVisible(count > 0)
        self.all.setVisible(isolation is not None)
        for button in self.modes.values():
            button.setVisible(self._in_use or count > 0)
        self.setVisible(bool(rows) and (self._in_use or count > 0 or isolation is not None))
        self.restyle()
        self._fit()

    def _fit(self) -> None:
        """Leave out, on a narrow map, what menus and the panel of selected rows offer as well."""
        room = self.parentWidget().width() - 2 * MARGIN - SIDE
        for button in (None, self.invert, self.alone):
            if button is not None:
                button.hide()
            self.adjustSize()
            if self.width() <= room:
                return

    def restyle(self) -> None:
        """Draw the icons in the colours that hold now."""
        draw_icons(self.modes.values())
