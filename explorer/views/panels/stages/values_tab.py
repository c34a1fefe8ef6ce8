"""A run's stages, and the one that is looked at, large; for a picture, how alike its patches are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QPushButton, QScrollArea, QVBoxLayout, QWidget

from explorer.commands.staging import Staging
from explorer.core.stages import Of, Patches, Stage, StageRun
from explorer.views.panels.stages.heat_map import HeatMap
from explorer.views.panels.stages.patch_picture import PatchPicture
from explorer.views.panels.stages.stage_list import StageCard, StageList
from explorer.views.panels.stages.wording import plain

_MARGIN = 8


class ValuesTab(QWidget):
    """The list of stages; the one that is chosen opens, large, in its card.

    Signals
    -------
    points_wanted(str) : a stage's patches are to become points, each with its crop.
    row_chosen(int) : a token was clicked in the large view.
    """

    points_wanted = Signal(str)
    row_chosen = Signal(int)

    def __init__(self, staging: Staging, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run: StageRun | None = None
        self._shown = ""
        self._patch = 0
        self.list = StageList(staging)
        self.empty = plain(
            "Each step from tokens to a vector stands here: ids, one-hot, looked-up rows, positions, layers."
        )
        self.map = HeatMap("Values of the stage", staging)
        self.reach = plain()
        self.picture = PatchPicture()
        self.alike = plain()
        self.points = QPushButton("Show patches as points")
        self.points.clicked.connect(lambda: self.points_wanted.emit(self._shown))
        self.detail = QWidget(self)
        # A click beside the values is not one on the card, which closes it.
        self.detail.setAttribute(Qt.WidgetAttribute.WA_NoMousePropagation)
        inner = QVBoxLayout(self.detail)
        inner.setContentsMargins(0, 2, 0, 4)
        inner.setSpacing(6)
        for part in (self.map, self.reach, self.picture, self.alike):
            inner.addWidget(part)
        inner.addWidget(self.points, 0, Qt.AlignmentFlag.AlignLeft)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, _MARGIN, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.empty)
        column.addWidget(self.list)
        column.addStretch(1)
        self.detail.hide()
        self.list.chosen.connect(self.choose)
        self.map.chosen.connect(self._row_chosen)
        self.picture.chosen.connect(self.choose_patch)

    def show_run(self, run: StageRun | None) -> None:
        """Show a run; None shows none. The stage looked at stays, where the run has it."""
        self._run = run
        self.list.open("", self.detail)
        self.list.show_run(run)
        self.empty.setVisible(run is None)
        self._show()

    def choose(self, name: str) -> None:
        """Look at a stage; the one that is looked at already closes."""
        self._shown = "" if name == self._shown else name
        card = self._show()
        if card is not None:
            # Its size is known only once the layout has been done.
            QTimer.singleShot(0, card, lambda: self._scroll_to(card))

    def _scroll_to(self, card: StageCard) -> None:
        area = self.parentWidget().parentWidget()
        if isinstance(area, QScrollArea):
            top = card.mapTo(self, card.rect().topLeft()).y()
            bar, page = area.verticalScrollBar(), area.viewport().height()
            if top < bar.value() or top + card.height() > bar.value() + page:
                bar.setValue(top - _MARGIN)

    def choose_patch(self, patch: int) -> None:
        """Compare the picture's patches with another one."""
        self._patch = patch
        self._show_patches()

    def _row_chosen(self, row: int) -> None:
        stage, run = self._stage, self._run
        if stage is None or run is None:
            return
        if stage.of is not Of.PATCHES:
            if stage.of is Of.TOKENS:
                self.row_chosen.emit(row + stage.first)
            return
        patches = run.stages.patches
        first = stage.first - int(patches is not None and patches.class_token)
        if row + first >= 0:
            self.choose_patch(row + first)

    @property
    def _stage(self) -> Stage | None:
        if self._run is None:
            return None
        return next((stage for stage in self._run.stages.stages if stage.name == self._shown), None)

    def _show(self) -> StageCard | None:
        stage, run = self._stage, self._run
        large = stage is not None and stage.values is not None and stage.values.dtype.kind == "f"
        card = self.list.open(self._shown if large else "", self.detail)
        if not large or stage is None or stage.values is None or run is None:
            return None
        values = np.atleast_2d(stage.values)
        names = [token.label for token in run.stages.sequence(stage.of)[stage.first :]]
        self.map.name = stage.name
        self.map.show_values(values, names[: len(values)] if stage.values.ndim == 2 else [stage.name])
        self.reach.setText(f"From −{self.map.reach:.3g} (orange) to {self.map.reach:.3g} (blue).")
        self._show_patches()
        return card

    def _show_patches(self) -> None:
        stage, patches = self._stage, self._patches
        values = None if stage is None or patches is None else _of_patches(stage, patches)
        if patches is None or values is None or stage is None:
            self.picture.show_patches(None)
        else:
            self._patch = min(self._patch, len(values) - 1)
            self.map.mark(self._patch + int(patches.class_token) - stage.first)
            self.picture.show_patches(patches, cosines(values, self._patch), self._patch)
            row, column = divmod(self._patch, patches.columns)
            self.alike.setText(f"Cosine of each patch with patch {row + 1},{column + 1}. Click another.")
        for part in (self.alike, self.points):
            part.setVisible(values is not None)

    @property
    def _patches(self) -> Patches | None:
        return None if self._run is None else self._run.stages.patches


def _of_patches(stage: Stage, patches: Patches) -> NDArray[np.float32] | None:
    """A stage's rows for the picture's patches alone; None where it has none."""
    if stage.of is not Of.PATCHES or stage.values is None or stage.values.ndim != 2:
        return None
    values: NDArray[np.float32] = stage.values[max(int(patches.class_token) - stage.first, 0) :]
    return values if len(values) == patches.rows * patches.columns else None


def cosines(values: NDArray[np.float32], row: int) -> NDArray[np.float32]:
    """Cosine of each row with one of them, shape (rows,); 0 for rows of zeros."""
    lengths = np.linalg.norm(values, axis=1)
    product = lengths * lengths[row]
    found: NDArray[np.float32] = np.divide(
        values @ values[row], product, out=np.zeros_like(product), where=product > 0
    )
    return found
