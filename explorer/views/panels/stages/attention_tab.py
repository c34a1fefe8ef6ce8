"""Where each place looks: a layer's and head's attention over tokens, or over the picture's patches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.core.stages import AttentionShape, Of, StageRun
from explorer.jobs import Job
from explorer.views.label_text import shown_label
from explorer.views.panels.form import narrow_combo, quiet
from explorer.views.panels.stages.heat_map import HeatMap
from explorer.views.panels.stages.patch_picture import PatchPicture


class AttentionTab(QWidget):
    """Choices of attention, layer, head and query; the matrix; the picture it looks at."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._run: StageRun | None = None
        self._weights: NDArray[np.float32] | None = None
        self._fetching: Job | None = None
        self._query = 0
        self.kinds, self.layers, self.heads, self.queries = (narrow_combo(name) for name in _CHOICES)
        self.empty = quiet("Type a sentence: where its tokens look stands here.")
        self.map = HeatMap("Attention")
        self.picture = PatchPicture()
        self.words = quiet()
        choices = QHBoxLayout()
        choices.setSpacing(4)
        for combo in (self.layers, self.heads):
            choices.addWidget(combo, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.kinds)
        column.addLayout(choices)
        for part in (self.empty, self.queries, self.map, self.picture, self.words):
            column.addWidget(part)
        column.addStretch(1)
        self.kinds.activated.connect(self._kind_chosen)
        self.layers.activated.connect(self._fetch)
        self.heads.activated.connect(self._show)
        self.queries.activated.connect(self.choose_query)
        self.map.chosen.connect(self.choose_query)
        self.picture.chosen.connect(self._patch_chosen)

    def show_run(self, run: StageRun | None) -> None:
        """Show a run's attention; None shows none. Choices stay where the run has them."""
        self._run, self._weights = run, None
        before = self.kinds.currentText()
        self.kinds.clear()
        self.kinds.addItems([shape.name for shape in self._shapes])
        self.kinds.setCurrentIndex(max(self.kinds.findText(before), 0))
        self._kind_chosen()

    @property
    def _shapes(self) -> tuple[AttentionShape, ...]:
        return () if self._run is None else self._run.attentions

    @property
    def _shape(self) -> AttentionShape | None:
        at = self.kinds.currentIndex()
        return self._shapes[at] if 0 <= at < len(self._shapes) else None

    def _kind_chosen(self) -> None:
        shape = self._shape
        for part in (self.kinds, self.layers, self.heads, self.map, self.words):
            part.setVisible(shape is not None)
        self.kinds.setVisible(len(self._shapes) > 1)
        self.empty.setVisible(shape is None)
        self.queries.setVisible(shape is not None and shape.keys is Of.PATCHES)
        self.picture.show_patches(None)
        if shape is None or self._run is None:
            if self._run is not None:
                self.empty.setText("This model has no attention.")
            return
        _refill(self.layers, [f"Layer {number}" for number in range(1, shape.layers + 1)])
        _refill(self.heads, ["All heads, mean", *(f"Head {number}" for number in range(1, shape.heads + 1))])
        _refill(self.queries, [shown_label(name) for name in self._names(shape.queries)])
        self._query = min(self._query, max(self.queries.count() - 1, 0))
        self.queries.setCurrentIndex(self._query)
        self._fetch()

    def _names(self, of: Of) -> list[str]:
        return [] if self._run is None else [token.label for token in self._run.stages.sequence(of)]

    def _fetch(self) -> None:
        shape = self._shape
        if shape is None:
            return
        if self._fetching is not None:
            self._fetching.cancel()
        job = self._fetching = self._session.staging.attention(shape.name, self.layers.currentIndex() + 1)
        if job is None:
            return

        def came(weights: NDArray[np.float32]) -> None:
            if self._fetching is job:
                self._fetching, self._weights = None, weights
                self._show()

        job.finished.connect(came)

    def choose_query(self, query: int) -> None:
        """Show where another place looks."""
        self._query = query
        self.queries.setCurrentIndex(query)
        self._show()

    def _patch_chosen(self, patch: int) -> None:
        shape, run = self._shape, self._run
        if shape is not None and run is not None and shape.queries is Of.PATCHES:
            patches = run.stages.patches
            self.choose_query(patch + int(patches is not None and patches.class_token))

    def _show(self) -> None:
        shape, run, weights = self._shape, self._run, self._weights
        if shape is None or run is None or weights is None:
            return
        head = self.heads.currentIndex()
        shown = weights.mean(0) if head == 0 else weights[head - 1]
        queries, keys = self._names(shape.queries), self._names(shape.keys)
        self.map.show_values(
            np.ascontiguousarray(shown), queries, keys if shape.keys is Of.TOKENS else (), shares=True
        )
        self._query = min(self._query, len(shown) - 1)
        self._show_picture(shape, run, shown)
        best = np.argsort(shown[self._query])[::-1][:3]
        seen = ", ".join(f"{shown_label(keys[key])} {shown[self._query, key]:.2f}" for key in best.tolist())
        self.words.setText(
            f"{shown_label(queries[self._query])} looks most at {seen}. Click a row for another."
        )

    def _show_picture(self, shape: AttentionShape, run: StageRun, shown: NDArray[np.float32]) -> None:
        patches = run.stages.patches
        if shape.keys is not Of.PATCHES or patches is None:
            self.picture.show_patches(None)
            return
        first = int(patches.class_token)
        marked = self._query - first if shape.queries is Of.PATCHES else -1
        self.picture.show_patches(patches, shown[self._query, first:], marked)


_CHOICES = ("Attention", "Layer", "Head", "Where it looks from")


def _refill(combo: QComboBox, texts: list[str]) -> None:
    """Other choices; the place among them stays."""
    at = combo.currentIndex()
    combo.clear()
    combo.addItems(texts)
    combo.setCurrentIndex(min(max(at, 0), len(texts) - 1))
