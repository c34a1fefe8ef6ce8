"""An answer as a list of rows for Qt's views; nothing is copied, a million neighbours cost nothing."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

import numpy as np
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from explorer.core.labels import label_of
from explorer.core.listing import LoadedTable
from explorer.core.results import Metric
from explorer.document import Answer
from explorer.views.label_text import shown_label

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_TOP = 50


@dataclass(frozen=True)
class Entry:
    """One neighbour, as it is drawn.

    Attributes
    ----------
    rank : int
        From 1.
    row : int
    label, value, above : str
    start, end : float
        The ends of the bar, 0 to 1 of its track.
    negative : bool
        The bar stands for a similarity below zero.
    """

    rank: int
    row: int
    label: str
    value: str
    above: str
    start: float
    end: float
    negative: bool


class NeighbourModel(QAbstractListModel):
    """The neighbours of the present answer, best first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answer: Answer | None = None
        self._table: LoadedTable | None = None
        self._places: dict[int, int] | None = None
        self.decimals = 2
        self.low, self.high = 0.0, 1.0

    def show(self, answer: Answer | None, table: LoadedTable | None) -> None:
        """Take another answer of a table; None shows nothing."""
        self.beginResetModel()
        self._answer, self._table, self._places = answer, table, None
        if answer is not None:
            scores = answer.result.scores
            self.decimals = decimals_for(scores[:_TOP], answer.result.metric)
            self.low, self.high = bar_span(answer)
        self.endResetModel()

    @property
    def answer(self) -> Answer | None:
        """The answer that is shown."""
        return self._answer

    def rowCount(self, parent: Index = _ROOT) -> int:
        if parent.isValid() or self._answer is None:
            return 0
        return len(self._answer.result.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or self._answer is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.label(index.row())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            entry = self.entry(index.row())
            return f"{entry.rank}, {entry.label}, {entry.value}, {entry.above}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(index.row())
        return None

    def row_at(self, place: int) -> int:
        """The table's row at a place of the list."""
        assert self._answer is not None
        return int(self._answer.result.rows[place])

    def place_of(self, row: int) -> int | None:
        """Where in the list a table's row stands; None where it is no neighbour."""
        if self._answer is None:
            return None
        found = np.flatnonzero(self._answer.result.rows == row)
        return int(found[0]) if len(found) else None

    def label(self, place: int) -> str:
        """The row's label as it is in the table."""
        return label_of(None if self._table is None else self._table.labels, self.row_at(place))

    def score(self, place: int) -> float:
        """Similarity or distance at a place of the list."""
        assert self._answer is not None
        return float(self._answer.result.scores[place])

    def above(self, place: int) -> float:
        """Standard deviations over the background at a place of the list."""
        assert self._answer is not None
        result = self._answer.result
        return result.background.above(self.score(place), result.metric)

    def entry(self, place: int) -> Entry:
        """Everything that is drawn of one neighbour."""
        score = self.score(place)
        span = (self.high - self.low) or 1.0
        zero, tip = -self.low / span, min(max((score - self.low) / span, 0.0), 1.0)
        return Entry(
            place + 1,
            self.row_at(place),
            shown_label(self.label(place)),
            signed(score, self.decimals),
            f"{signed(self.above(place), 1, plus=True)}σ",
            min(zero, tip),
            max(zero, tip),
            score < 0,
        )

    def texts(self, places: list[int] | range) -> str:
        """Rank, label, score and row of some neighbours, a line each, parted by tabs."""
        assert self._answer is not None
        lines = (
            f"{place + 1}\t{self.label(place)}\t{self.score(place):.6g}\t{self.row_at(place)}"
            for place in places
        )
        return "\n".join(("rank\tlabel\tscore\trow", *lines))

    def _tip(self, place: int) -> str:
        assert self._answer is not None
        assert self._table is not None
        metric = self._answer.result.metric
        words = {
            Metric.COSINE: "cosine similarity",
            Metric.DOT: "dot product",
            Metric.EUCLIDEAN: "distance (shorter is nearer)",
        }[metric]
        row = self.row_at(place)
        lines = [
            f"{shown_label(self.label(place))} · row {row:,}",
            f"{words} {self.score(place):.4f}".replace("-", "−"),
            f"length {float(self._table.health.norms[row]):.3g}",
            f"bar from {signed(self.low, self.decimals)} to {signed(self.high, self.decimals)}",
        ]
        return "\n".join(lines)


def bar_span(answer: Answer) -> tuple[float, float]:
    """What the two ends of a bar's track stand for.

    Cosine runs to 1, a dot product to the best result, a distance to the background's mean, so
    that a near row is a short bar. The track begins below zero only where a result does.
    """
    result = answer.result
    if len(result.scores) == 0:
        return 0.0, 1.0
    lowest, highest = sorted((float(result.scores[0]), float(result.scores[-1])))
    if result.metric is Metric.COSINE:
        return min(lowest, 0.0), 1.0
    if result.metric is Metric.DOT:
        return min(lowest, 0.0), max(highest, 0.0)
    return 0.0, max(highest, result.background.mean)


def decimals_for(scores: np.ndarray, metric: Metric) -> int:
    """How many decimals tell these scores apart without saying more than they hold."""
    least = 2 if metric is Metric.COSINE else 1
    if len(scores) == 0:
        return least
    spread = abs(float(scores[0]) - float(scores[-1])) or abs(float(scores[0]))
    if not spread or not np.isfinite(spread):
        return 2
    return min(max(1 - floor(log10(spread)), least), 4)


def signed(number: float, decimals: int, *, plus: bool = False) -> str:
    """A number with a typographic minus, and none before a zero."""
    text = f"{number:{'+' if plus else ''},.{decimals}f}"
    if text[0] in "+-" and not text.strip("+-0.,"):
        text = text[1:]
    return text.replace("-", "−")
