"""Where the rows lie on the map, and how that was computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.results import Metric


@dataclass(frozen=True)
class LayoutSettings:
    """What a person can set for a layout; the defaults are the window's.

    Attributes
    ----------
    method : {"umap", "pca"}
    neighbours : int
        UMAP's n_neighbors, the row itself included, as in umap-learn.
    min_dist : float
    metric : Metric
        Cosine or Euclidean (dot is not a distance).
    epochs : int or None
        None chooses by size.
    seed : int
        The same seed gives the same picture, bit for bit.
    dimensions : {2, 3}
        How many numbers place a row.
    most_rows : int
        Of a larger table so many rows, or as many as there is memory for, drawn by the seed, are laid
        out, and the others placed by their nearest ones among these.
    centred : bool
        Each modality's mean is subtracted first: for the picture only, search sees the rows as they are.
    """

    method: str = "umap"
    neighbours: int = 15
    min_dist: float = 0.1
    metric: Metric = Metric.COSINE
    epochs: int | None = None
    seed: int = 42
    dimensions: int = 2
    most_rows: int = 1_000_000
    centred: bool = False


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of a table's rows.

    Attributes
    ----------
    xy : float32 array, shape (rows, dimensions)
        NaN for quarantined rows.
    settings : LayoutSettings
    sampled : int or None
        How many rows were laid out where the others were placed by these; None where all were.
    """

    xy: NDArray[np.float32]
    settings: LayoutSettings
    sampled: int | None = None
