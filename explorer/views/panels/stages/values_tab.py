"""A run's stages, and the one that is looked at, large; for a picture, how alike its patches are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from explorer.core.stages import Of, Stage, StageRun
from explorer.views.panels.form import quiet
from explorer.views.panels.stages.heat_map import HeatMap
from explorer.views.panels.stages.patch_picture import PatchPicture
from explorer.views.panels.stages.stage_list import StageList


class ValuesTab(QWidget):
    """The list of stages; the one that is chosen opens, large, below its card.

    Signals
    -------
    points_wanted(str) : a stage's patches are to become points, each with its crop.
    """

    points_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run: StageRun | None = None
        self._shown = ""
        self._patch = 0
        self.list = StageList()
        self.empty = quiet(
            "Each step from tokens to a vector stands here: ids, one-hot, looked-up rows, positions, layers."
        )
        self.map = HeatMap("Values of the stage")
        self.reach = quiet()
        self.picture = PatchPicture()
        self.alike = quiet()
        self.points = QPushButton("Show patches as points")
        self.points.clicked.connect(lambda: self.points_wanted.emit(self._shown))
        self.detail = QWidget()
        inner = QVBoxLayout(self.detail)
        inner.setContentsMargins(8, 0, 8, 8)
        inner.setSpacing(6)
        for part in (self.map, self.reach, self.picture, self.alike):
            inner.addWidget(part)
        inner.addWidget(self.points, 0, Qt.AlignmentFlag.AlignLeft)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
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
        self.list.show_run(run)
        self.empty.setVisible(run is None)
        self._show()

    def choose(self, name: str) -> None:
        """Look at a stage; the one that is looked at already closes."""
        self._shown = "" if name == self._shown else name
        self._show()

    def choose_patch(self, patch: int) -> None:
        """Compare the picture's patches with another one."""
        self._patch = patch
        self._show_patches()

    def _row_chosen(self, row: int) -> None:
        stage = self._stage
        if stage is not None and stage.of is Of.PATCHES and self._run is not None:
            patches = self._run.stages.patches
            first = stage.first - int(patches is not None and patches.class_token)
            if row + first >= 0:
                self.choose_patch(row + first)

    @property
    def _stage(self) -> Stage | None:
        if self._run is None:
            return None
        return next((stage for stage in self._run.stages.stages if stage.name == self._shown), None)

    def _show(self) -> None:
        stage, run = self._stage, self._run
        large = stage is not None and stage.values is not None and stage.values.dtype.kind == "f"
        self.list.open(self._shown if large else "", self.detail)
        if not large or stage is None or stage.values is None or run is None:
            return
        values = np.atleast_2d(stage.values)
        names = [token.label for token in run.stages.sequence(stage.of)[stage.first :]]
        self.map.show_values(values, names[: len(values)] if stage.values.ndim == 2 else [stage.name])
        self.reach.setText(f"Colours run from −{self.map.reach:.3g} to {self.map.reach:.3g}.")
        self._show_patches()

    def _show_patches(self) -> None:
        stage, run = self._stage, self._run
        patches = None if run is None or stage is None or stage.of is not Of.PATCHES else run.stages.patches
        if patches is None or stage is None or stage.values is None or stage.values.ndim != 2:
            self.picture.show_patches(None)
            self.alike.hide()
            self.points.hide()
            return
        values = stage.values[max(int(patches.class_token) - stage.first, 0) :]
        if len(values) != patches.rows * patches.columns:
            self.picture.show_patches(patches)
            self.alike.hide()
            self.points.hide()
            return
        self._patch = min(self._patch, len(values) - 1)
        self.picture.show_patches(patches, cosines(values, self._patch), self._patch)
        row, column = divmod(self._patch, patches.columns)
        self.alike.setText(
            f"How alike each patch is to patch {row + 1},{column + 1} in “{stage.name}”, as cosine. "
            "Click another."
        )
        self.alike.show()
        self.points.show()


def cosines(values: NDArray[np.float32], row: int) -> NDArray[np.float32]:
    """Cosine of each row with one of them, shape (rows,); 0 for rows of zeros."""
    lengths = np.linalg.norm(values, axis=1)
    product = lengths * lengths[row]
    found: NDArray[np.float32] = np.divide(
        values @ values[row], product, out=np.zeros_like(product), where=product > 0
    )
    return found
