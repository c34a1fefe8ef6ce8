"""What computations on a table give back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Metric(StrEnum):
    """How alike two rows are."""

    COSINE = "cosine"
    DOT = "dot"
    EUCLIDEAN = "euclidean"

    @property
    def ascending(self) -> bool:
        """True where the best score is the smallest (a distance)."""
        return self is Metric.EUCLIDEAN


@dataclass(frozen=True, eq=False)
class Background:
    """The scores of one query against every candidate row.

    Attributes
    ----------
    mean, std : float
        Over all candidate rows (healthy, not left out).
    counts : int64 array, shape (bins,)
        Histogram of the scores.
    edges : float64 array, shape (bins + 1,)
    """

    mean: float
    std: float
    counts: NDArray[np.int64]
    edges: NDArray[np.float64]

    def above(self, score: float, metric: Metric) -> float:
        """Standard deviations by which a score beats the background (positive is closer)."""
        if self.std == 0:
            return 0.0
        return (self.mean - score if metric.ascending else score - self.mean) / self.std


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Nearest neighbours of one query, best first; ties go to the smaller row.

    Attributes
    ----------
    rows : int64 array, shape (k,)
    scores : float32 array, shape (k,)
        Similarity, or distance under the Euclidean metric.
    metric : Metric
    background : Background
    query : float64 array, shape (dim,), or None
        What the rows were compared with.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float32]
    metric: Metric
    background: Background
    query: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """The k nearest rows of every row, the row itself left out.

    Quarantined rows have -1 in every place of ``rows`` and infinite distances, and are
    nobody's neighbour. Where a table has fewer than k + 1 healthy rows, k is cut. Of a table too
    large to be laid out whole, only landmarks are anybody's neighbours.

    Attributes
    ----------
    rows : int32 array, shape (rows, k)
    distances : float32 array, shape (rows, k), ascending
        1 - cosine, or Euclidean distance.
    metric : Metric
    exact : bool
        False for a table so large that some of the neighbours may be missed.
    landmarks : int64 array, shape (n,), ascending, or None
        The rows among which all have their neighbours; None for all that take part.
    """

    rows: NDArray[np.int32]
    distances: NDArray[np.float32]
    metric: Metric
    exact: bool = True
    landmarks: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Clusters:
    """Groups of rows, for colours.

    Attributes
    ----------
    codes : int16 array, shape (rows,)
        The row's cluster; -1 for quarantined rows.
    names : tuple of str
        For each cluster two or three labels typical of it.
    """

    codes: NDArray[np.int16]
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Trust:
    """How far a layout can be trusted.

    Attributes
    ----------
    trustworthiness, continuity : float
        Between 0 and 1 (Venna and Kaski, 2001); 1 is a map without false or lost neighbours.
    sample : int
        How many rows they were computed on.
    k : int
    per_row : float32 array, shape (rows,), or None
        The share of a row's k true neighbours that are among its k map neighbours; NaN where
        the row is not on the map or not in the sample.
    """

    trustworthiness: float
    continuity: float
    sample: int
    k: int
    per_row: NDArray[np.float32] | None = None


@dataclass(frozen=True, eq=False)
class PairHistogram:
    """How alike the rows of a table are, pair by pair.

    Attributes
    ----------
    counts : int64 array, shape (bins,)
    edges : float64 array, shape (bins + 1,)
    mean, std : float
    pairs : int
        How many pairs were looked at.
    metric : Metric
    """

    counts: NDArray[np.int64]
    edges: NDArray[np.float64]
    mean: float
    std: float
    pairs: int
    metric: Metric
