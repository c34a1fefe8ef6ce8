"""Where each place looks: a layer's and head's attention over tokens, or over the picture's patches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from explorer.commands import Session
from explorer.core.errors import ExplorerError
from explorer.core.stages import AttentionShape, Of, StageRun
from explorer.jobs import Job
from explorer.views.label_text import shown_label
from explorer.views.panels.form import narrow_combo
from explorer.views.panels.stages.head_strip import HeadStrip
from explorer.views.panels.stages.heat_map import HeatMap
from explorer.views.panels.stages.patch_picture import PatchPicture
from explorer.views.panels.stages.wording import plain

_CHOICES = ("Attention", "Layer", "Head", "Where it looks from")
_EMPTY = "Type a sentence: where its tokens look stands here."
_SLOW = 1 << 22  # numbers
_LEAST = 0.005  # a share that is spoken of


class AttentionTab(QWidget):
    """Choices of attention, layer, head and query; the matrix; the picture it looks at.

    Signals
    -------
    token_chosen(int) : a token's row was clicked.
    """

    token_chosen = Signal(int)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._run: StageRun | None = None
        self._weights: NDArray[np.float32] | None = None
        self._fetched: tuple[int, str, int] | None = None
        self._fetching: Job | None = None
        self._query = 0
        self._kind = ""
        self.kinds, self.layers, self.heads, self.queries = (narrow_combo(name) for name in _CHOICES)
        self.empty = plain(_EMPTY)
        self.strip = HeadStrip()
        self.map = HeatMap("Attention", session.staging)
        self.picture = PatchPicture()
        self.words = plain()
        choices = QHBoxLayout()
        choices.setSpacing(4)
        for combo in (self.layers, self.heads):
            choices.addWidget(combo, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.kinds)
        column.addLayout(choices)
        for part in (self.strip, self.empty, self.queries, self.picture, self.words, self.map):
            column.addWidget(part)
        column.addStretch(1)
        self.kinds.activated.connect(self._kind_chosen)
        self.layers.activated.connect(self._fetch)
        self.heads.activated.connect(self._show)
        self.queries.activated.connect(self.choose_query)
        self.strip.chosen.connect(self.choose_head)
        self.map.chosen.connect(self._row_chosen)
        self.picture.chosen.connect(self._patch_chosen)
        self._show_kind()

    def show_run(self, run: StageRun | None) -> None:
        """Show a run's attention; None shows none. Choices stay where the run has them."""
        self._run, self._weights, self._fetched = run, None, None
        names = [_spoken(shape.name) for shape in self._shapes]
        self.kinds.clear()
        self.kinds.addItems(names)
        # From one sequence to another tells most: where a caption looks on the picture.
        across = (at for at, shape in enumerate(self._shapes) if shape.queries is not shape.keys)
        self.kinds.setCurrentIndex(names.index(self._kind) if self._kind in names else next(across, 0))
        self._show_kind()

    @property
    def _shapes(self) -> tuple[AttentionShape, ...]:
        return () if self._run is None else self._run.attentions

    @property
    def _shape(self) -> AttentionShape | None:
        at = self.kinds.currentIndex()
        return self._shapes[at] if 0 <= at < len(self._shapes) else None

    def _kind_chosen(self) -> None:
        self._kind = self.kinds.currentText()
        self._show_kind()

    def _show_kind(self) -> None:
        shape = self._shape
        for part in (self.kinds, self.layers, self.heads, self.strip, self.map, self.words):
            part.setVisible(shape is not None)
        self.kinds.setVisible(len(self._shapes) > 1)
        self.empty.setVisible(shape is None)
        is_patch = shape is not None and shape.queries is Of.PATCHES
        self.queries.setVisible(is_patch)
        self.picture.show_patches(None)
        if shape is None or self._run is None:
            self.empty.setText(_EMPTY if self._run is None else "This model has no attention.")
            return
        _refill(self.layers, [f"Layer {number}" for number in range(1, shape.layers + 1)])
        _refill(self.heads, ["All heads, mean", *(f"Head {number}" for number in range(1, shape.heads + 1))])
        queries = self._names(shape.queries)
        self._query = min(self._query, max(len(queries) - 1, 0))
        if is_patch:
            _refill(self.queries, list(map(shown_label, queries)))
            self.queries.setCurrentIndex(self._query)
        self._fetch()

    def _names(self, of: Of) -> list[str]:
        return [] if self._run is None else [token.label for token in self._run.stages.sequence(of)]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fetch()

    def _fetch(self) -> None:
        """Have the layer's weights brought, once they are looked at."""
        shape, run = self._shape, self._run
        if shape is None or run is None or not self.isVisible():
            return
        wanted = (run.id, shape.name, self.layers.currentIndex() + 1)
        if wanted == self._fetched:
            return
        if self._fetching is not None:
            self._fetching.finished.disconnect(self._came)
            self._fetching.failed.disconnect(self._failed)
            self._fetching.cancel()
        job = self._fetching = self._session.staging.attention(shape.name, wanted[2])
        if job is None:
            return
        self._fetched = wanted
        places = run.stages.sequence(shape.queries), run.stages.sequence(shape.keys)
        if shape.heads * len(places[0]) * len(places[1]) > _SLOW:
            self.words.setText("Computing where each place looks…")
            for part in (self.map, self.strip):
                part.hide()
        # Methods, not functions: Qt lets go of them where the panel is gone before the answer comes.
        job.finished.connect(self._came)
        job.failed.connect(self._failed)

    def _came(self, weights: NDArray[np.float32]) -> None:
        self._fetching, self._weights = None, weights
        self._show()

    def _failed(self, error: ExplorerError) -> None:
        self._fetching = self._fetched = None
        self.words.setText(str(error))

    def choose_head(self, head: int) -> None:
        """Show one head, counted from 0; the shown one again shows the mean of all."""
        self.heads.setCurrentIndex(0 if self.heads.currentIndex() == head + 1 else head + 1)
        self._show()

    def choose_query(self, query: int) -> None:
        """Show where another place looks."""
        self._query = query
        self.queries.setCurrentIndex(query)
        self._show()

    def choose_token(self, token: int) -> None:
        """Show where a token of the text looks, where it is tokens that look."""
        shape = self._shape
        if shape is not None and shape.queries is Of.TOKENS and token != self._query:
            self.choose_query(token)

    def _row_chosen(self, row: int) -> None:
        self.choose_query(row)
        shape = self._shape
        if shape is not None and shape.queries is Of.TOKENS:
            self.token_chosen.emit(row)

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
        self.strip.show_heads(weights, head - 1)
        self.strip.setVisible(len(weights) > 1)
        self.map.show()
        shown = np.ascontiguousarray(weights.mean(0) if head == 0 else weights[head - 1])
        queries, keys = self._names(shape.queries), self._names(shape.keys)
        self._query = min(self._query, len(shown) - 1)
        self.map.name = f"{shape.name}, layer {self.layers.currentIndex() + 1}, {self.heads.currentText()}"
        self.map.show_values(shown, queries, keys, shares=True, marked=self._query)
        self._show_picture(shape, run, shown)
        best = [key for key in np.argsort(shown[self._query])[::-1][:3] if shown[self._query, key] >= _LEAST]
        seen = ", ".join(f"{shown_label(keys[key])} {shown[self._query, key]:.2f}" for key in best)
        most = f"looks most at {seen}" if best else "looks at no place much more than at the others"
        way = "Click a patch or row" if shape.queries is Of.PATCHES else "Click a token or row"
        self.words.setText(f"{shown_label(queries[self._query])} {most}. {way} for another.")

    def _show_picture(self, shape: AttentionShape, run: StageRun, shown: NDArray[np.float32]) -> None:
        patches = run.stages.patches
        if shape.keys is not Of.PATCHES or patches is None:
            self.picture.show_patches(None)
            return
        first = int(patches.class_token)
        marked = self._query - first if shape.queries is Of.PATCHES else -1
        self.picture.show_patches(patches, shown[self._query, first:], marked)


def _spoken(name: str) -> str:
    """A name as it stands at the beginning of a line."""
    return name[:1].upper() + name[1:]


def _refill(combo: QComboBox, texts: list[str]) -> None:
    """Other choices; the place among them stays."""
    at = combo.currentIndex()
    combo.clear()
    combo.addItems(texts)
    combo.setCurrentIndex(min(max(at, 0), len(texts) - 1))
