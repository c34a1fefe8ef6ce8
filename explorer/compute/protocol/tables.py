"""What the vectors worker answers: of files, their tables, and queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.compute.protocol.messages import Request, Source
from explorer.core.health import Health
from explorer.core.query import RowTerm
from explorer.core.results import Metric


@dataclass(frozen=True)
class OpenFile(Request):
    """For a FileListing."""

    source: Source


@dataclass(frozen=True)
class LoadTable(Request):
    """For a LoadedTable: reads the vectors into the worker under ``key``."""

    key: int
    source: Source
    table: str
    scaled: bool = False


@dataclass(frozen=True, eq=False)
class RestoreTable(Request):
    """For None: reads a table again after the worker has died; refused where the file has changed.

    ``health`` is what the first reading found, to tell by.
    """

    load: LoadTable
    health: Health


@dataclass(frozen=True, eq=False)
class PartTable(Request):
    """For the Health of a table of some rows alone (ascending), each in its place, under a new ``key``."""

    key: int
    whole: int
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class ReleaseTable(Request):
    """For None: forgets a table."""

    key: int


@dataclass(frozen=True, eq=False)
class Search(Request):
    """For a SearchResult: of the weighted rows, of a vector from elsewhere, or of the sum of both.

    With a vector, the rows are scaled to unit length whatever the metric, as its own parts were.
    """

    key: int
    terms: tuple[RowTerm, ...]
    metric: Metric
    k: int
    all_rows: bool = False
    include_query: bool = False
    vector: NDArray[np.floating] | None = None


@dataclass(frozen=True)
class Suggest(Request):
    """For a tuple of the labels closest to a text."""

    key: int
    text: str
    count: int


@dataclass(frozen=True, eq=False)
class FetchRows(Request):
    """For the vectors of some rows, float32, shape (len(rows), dim)."""

    key: int
    rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FindNearest(Request):
    """For the nearest rows of vectors from elsewhere: int64, shape (m, k), -1 where a vector has none.

    Attributes
    ----------
    vectors : float32 array, shape (m, dim)
    """

    key: int
    vectors: NDArray[np.float32]
    k: int
    metric: Metric


@dataclass(frozen=True)
class FindClusters(Request):
    """For Clusters."""

    key: int
    count: int


@dataclass(frozen=True)
class CountPairs(Request):
    """For a PairHistogram."""

    key: int
    metric: Metric


@dataclass(frozen=True)
class MeasureGap(Request):
    """For the modality gap of a table of two modalities, a float; None for other tables."""

    key: int


@dataclass(frozen=True, eq=False)
class Classify(Request):
    """For Classified: the class that each row is nearest to, and its probability.

    Attributes
    ----------
    key : int
    class_vectors : float32 array, shape (classes, dim)
    kind : {"softmax", "sigmoid"} or None
        How the encoder turns a cosine into a probability; None keeps the cosine.
    scale, bias : float
    """

    key: int
    class_vectors: NDArray[np.float32]
    kind: str | None
    scale: float = 1.0
    bias: float = 0.0
