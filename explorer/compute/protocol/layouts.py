"""What it takes to lay a table out, and what is measured of a layout; of the vectors and layout workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.compute.protocol.messages import LAYOUT, Request
from explorer.core.layout import LayoutSettings
from explorer.core.results import Metric


@dataclass(frozen=True)
class Project(Request):
    """For positions by PCA, float32, shape (rows, dimensions); ``centred``: without each modality's mean."""

    key: int
    dimensions: int = 2
    centred: bool = False


@dataclass(frozen=True)
class BuildGraph(Request):
    """For a NeighbourGraph; ``distinct`` leaves out rows that repeat an earlier one.

    Where more than ``most`` rows take part, or than memory is there for, ``seed`` draws landmarks.
    ``centred`` takes each modality's mean away first.
    """

    key: int
    k: int
    metric: Metric
    distinct: bool = False
    most: int | None = None
    seed: int = 0
    centred: bool = False


@dataclass(frozen=True, eq=False)
class LayOut(Request):
    """For a Layout by UMAP, on the layout worker.

    Attributes
    ----------
    key : int
        The table's; the layout worker knows nothing else of it.
    neighbours, distances : arrays, shape (rows, k)
        A NeighbourGraph of the distinct rows.
    first_twin : int64 array, shape (rows,)
    start : float32 array, shape (rows, dimensions)
        Where the points start; NaN for quarantined rows.
    from_pca : bool
        ``start`` is a PCA projection, to be scaled for UMAP; else earlier positions to go on from.
    landmarks : int64 array, shape (n,), or None
        The graph's.
    device : str
        Where the epochs are computed: ``"cpu"``, ``"cuda"`` or ``"mps"``.
    """

    worker: ClassVar[str] = LAYOUT

    key: int
    neighbours: NDArray[np.int32]
    distances: NDArray[np.float32]
    first_twin: NDArray[np.int64]
    start: NDArray[np.float32]
    from_pca: bool
    settings: LayoutSettings
    landmarks: NDArray[np.int64] | None = None
    device: str = "cpu"


@dataclass(frozen=True, eq=False)
class FindDensityClusters(Request):
    """For Clusters of positions, float32, shape (rows, dimensions); ``smallest`` 0 chooses by size."""

    key: int
    xy: NDArray[np.float32]
    smallest: int


@dataclass(frozen=True, eq=False)
class FindRegions(Request):
    """For a tuple of Region: the dense parts of positions, float32, shape (rows, 2)."""

    key: int
    xy: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class MeasureTrust(Request):
    """For Trust of positions, float32, shape (rows, 2) or (rows, 3)."""

    key: int
    xy: NDArray[np.float32]
    k: int
    metric: Metric


@dataclass(frozen=True, eq=False)
class CompareNeighbours(Request):
    """For the share of each row's ``neighbours`` (a graph's rows) that the map has kept, float32."""

    key: int
    neighbours: NDArray[np.int32]
    xy: NDArray[np.float32]
    first_twin: NDArray[np.int64]
