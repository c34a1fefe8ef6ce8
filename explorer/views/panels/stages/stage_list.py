"""The stages of a run, one below the other: name, shape, how it was made, and its values as colours."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from explorer.core.stages import Stage, StageRun
from explorer.views.panels.form import quiet
from explorer.views.panels.lookup_pictures import OneHotPicture, ValuesPicture

MOST_ROWS = 256
"""More are not drawn in the list; the large view has them all."""


class StageList(QWidget):
    """All stages of a run.

    Signals
    -------
    chosen(str) : a stage's name was clicked.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards: list[StageCard] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)

    def show_run(self, run: StageRun | None) -> None:
        """Show a run's stages; None shows none. Cards stay where the stages are the same ones."""
        stages = () if run is None else run.stages.stages
        if [card.name for card in self.cards] != [stage.name for stage in stages]:
            self._remake(stages)
        if run is None:
            return
        ids = [token.id for token in run.stages.tokens if token.id is not None]
        for card, stage in zip(self.cards, stages, strict=True):
            names = [token.label for token in run.stages.sequence(stage.of)[stage.first :]]
            card.show_stage(stage, names, ids)

    def _remake(self, stages: tuple[Stage, ...]) -> None:
        for card in self.cards:
            self._column.removeWidget(card)
            card.deleteLater()
        self.cards = [StageCard(stage.name) for stage in stages]
        for card in self.cards:
            card.chosen.connect(self.chosen)
            self._column.addWidget(card)

    def open(self, name: str, detail: QWidget) -> None:
        """Mark the stage that is shown large, with what shows it below its card; a name of none hides it."""
        self._column.removeWidget(detail)
        detail.setParent(self)
        at = next((place for place, card in enumerate(self.cards) if card.name == name), None)
        for card in self.cards:
            card.set_marked(card.name == name)
        if at is not None:
            self._column.insertWidget(at + 1, detail)
        detail.setVisible(at is not None)


class StageCard(QFrame):
    """One stage; a click or Return shows it large.

    Signals
    -------
    chosen(str) : its name.
    """

    chosen = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.setProperty("stage", True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(name)
        self.shape = QLabel()
        self.how = quiet()
        self.how.setWordWrap(True)
        self.values = OneHotPicture() if name == "one-hot" else ValuesPicture()
        title = QLabel(name)
        title.setProperty("title", True)
        line = QHBoxLayout()
        line.addWidget(title)
        line.addWidget(self.shape, 1, Qt.AlignmentFlag.AlignRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 6)
        column.setSpacing(2)
        column.addLayout(line)
        column.addWidget(self.values)
        column.addWidget(self.how)

    def show_stage(self, stage: Stage, names: list[str], ids: list[int]) -> None:
        """Show a stage.

        Parameters
        ----------
        stage : Stage
        names : list of str
            Of its rows.
        ids : list of int
            The tokens' rows in the table, for the one-hot matrix.
        """
        self.shape.setText(" × ".join(f"{size:,}" for size in stage.shape))
        self.how.setText(stage.how)
        self.how.setVisible(bool(stage.how))
        self.setAccessibleDescription(f"{self.shape.text()}; {stage.how}")
        if isinstance(self.values, OneHotPicture):
            self.values.show_columns(ids[:MOST_ROWS], stage.shape[-1], names[:MOST_ROWS])
            return
        if stage.values is None or stage.values.dtype.kind == "i":
            self.values.hide()
            if stage.values is not None:
                self.how.setText(" ".join(map(str, stage.values[:MOST_ROWS].tolist())))
                self.how.show()
            return
        values = np.atleast_2d(stage.values)[:MOST_ROWS]
        tips = names[: len(values)] if stage.values.ndim == 2 else [self.name]
        self.values.show_values(values, [*tips, *[""] * (len(values) - len(tips))])

    def set_marked(self, marked: bool) -> None:
        """Mark it as the one shown large."""
        if self.property("marked") != marked:
            self.setProperty("marked", marked)
            self.style().unpolish(self)
            self.style().polish(self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(self.name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.name)
        else:
            super().keyPressEvent(event)
