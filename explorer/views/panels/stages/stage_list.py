"""The stages of a run, one below the other: name, shape, how it was made, and its values as colours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from explorer.commands.staging import Staging
from explorer.core.stages import Stage, StageRun
from explorer.export.matrices import Matrix
from explorer.views.panels.matrix_pictures import OneHotPicture, ValuesPicture
from explorer.views.panels.stages.matrix_menu import MatrixMenu
from explorer.views.panels.stages.wording import plain

_MOST_IDS = 48


class StageList(QWidget):
    """All stages of a run.

    Signals
    -------
    chosen(str) : a stage's name was clicked.
    """

    chosen = Signal(str)

    def __init__(self, staging: Staging, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._staging = staging
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
        self.cards = [StageCard(stage.name, self._staging) for stage in stages]
        for card in self.cards:
            card.chosen.connect(self.chosen)
            self._column.addWidget(card)

    def open(self, name: str, detail: QWidget) -> StageCard | None:
        """Show a stage large, with ``detail`` in its card; a name of none closes the one that was.

        Returns
        -------
        StageCard or None
            The one that is open.
        """
        opened = next((card for card in self.cards if card.name == name), None)
        for card in self.cards:
            if card is not opened:
                card.close_detail(detail)
        if opened is None:
            detail.setParent(self)
            detail.hide()
        else:
            opened.open_detail(detail)
        return opened


class StageCard(QFrame):
    """One stage; a click or Return shows it large.

    Signals
    -------
    chosen(str) : its name.
    """

    chosen = Signal(str)

    def __init__(self, name: str, staging: Staging) -> None:
        super().__init__()
        self.name = name
        self._staging = staging
        self._matrix: Matrix | None = None
        self.setProperty("stage", True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(name)
        self.shape = QLabel()
        self.how = plain()
        self.values = OneHotPicture() if name == "one-hot" else ValuesPicture()
        title = QLabel(name)
        title.setProperty("title", True)
        line = QHBoxLayout()
        line.addWidget(title)
        line.addWidget(self.shape, 1, Qt.AlignmentFlag.AlignRight)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(8, 6, 8, 6)
        self._column.setSpacing(2)
        self._column.addLayout(line)
        self._column.addWidget(self.values)
        self._column.addWidget(self.how)

    def show_stage(self, stage: Stage, names: Sequence[str], ids: list[int]) -> None:
        """Show a stage.

        Parameters
        ----------
        stage : Stage
        names : sequence of str
            Of its rows.
        ids : list of int
            The tokens' rows in the table, for the one-hot matrix.
        """
        self.shape.setText(" × ".join(f"{size:,}" for size in stage.shape))
        self.how.setText(stage.how)
        self.how.setVisible(bool(stage.how))
        self.setAccessibleDescription(f"{self.shape.text()}; {stage.how}")
        self._matrix = None
        if isinstance(self.values, OneHotPicture):
            self.values.show_columns(ids, stage.shape[-1], names)
            return
        if stage.values is None or stage.values.dtype.kind == "i":
            self.values.hide()
            self.setCursor(Qt.CursorShape.ArrowCursor)
            if stage.values is not None:
                first = " ".join(map(str, stage.values[:_MOST_IDS].tolist()))
                self.how.setText(f"{first} …" if len(stage.values) > _MOST_IDS else first)
                self.how.show()
            return
        values = np.atleast_2d(stage.values)
        rows = names[: len(values)] if stage.values.ndim == 2 else [self.name]
        self.values.show_values(values, rows)
        self._matrix = Matrix(self.name, values, rows)

    def open_detail(self, detail: QWidget) -> None:
        """Show a widget in place of the small picture; Tab goes from the card into it."""
        self.values.hide()
        self._column.insertWidget(1, detail)
        detail.show()
        before: QWidget = self
        for part in detail.findChildren(QWidget):
            if part.focusPolicy() & Qt.FocusPolicy.TabFocus:
                QWidget.setTabOrder(before, part)
                before = part
        self._set_marked(True)

    def close_detail(self, detail: QWidget) -> None:
        """Show the small picture again."""
        if self._column.indexOf(detail) >= 0:
            self._column.removeWidget(detail)
        if self.property("marked"):
            self.values.show()
            self._set_marked(False)

    def _set_marked(self, marked: bool) -> None:
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

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self._matrix is not None:
            menu = MatrixMenu(self._staging, self._matrix, lambda: self.values.grab().toImage(), self)
            menu.popup(event.globalPos())
