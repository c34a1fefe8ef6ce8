"""Where a query lands on the map, and whether the map tells the truth there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 15
SAMPLE = 10_000
NEAREST, NEAR_PART = 45, 100


def place_query(positions: NDArray[np.float32], rows: NDArray[np.int64]) -> tuple[float, ...] | None:
    """Place a query at the mean of those of its nearest rows that lie together on the map.

    The densest group among the nearest rows counts, not all of them: neighbours scattered over
    the map have their mean in a place that belongs to none.

    Parameters
    ----------
    positions : float32 array, shape (rows, dimensions)
        NaN for rows that are not on the map.
    rows : int64 array, shape (k,)
        The query's nearest rows, best first; the first 15 are used.

    Returns
    -------
    tuple of float, one for each dimension, or None
        None where no nearest row is on the map.
    """
    points = positions[rows[:MOST_ROWS]].astype(np.float64)
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) == 0:
        return None
    # Of the whole map a sample says enough, and costs as little at ten million rows.
    sample = np.concatenate([points, positions[:: max(1, len(positions) // SAMPLE)]])
    return _densest(points, reach_of(sample[np.isfinite(sample).all(axis=1)]))


def place_vectors(positions: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Place many queries at once, each as ``place_query`` does.

    Parameters
    ----------
    positions : float32 array, shape (rows, dimensions)
    rows : int64 array, shape (m, k)
        Each query's nearest rows, best first; -1 for none.

    Returns
    -------
    float32 array, shape (m, dimensions)
        NaN where none of a query's nearest rows is on the map.
    """
    places = np.full((len(rows), positions.shape[1]), np.nan, np.float32)
    sample = positions[:: max(1, len(positions) // SAMPLE)]
    sample = sample[np.isfinite(sample).all(axis=1)]
    if not len(sample):
        return places
    reach = reach_of(sample)
    for place, nearest in zip(places, rows, strict=True):
        points = positions[nearest[nearest >= 0][:MOST_ROWS]].astype(np.float64)
        points = points[np.isfinite(points).all(axis=1)]
        if len(points):
            place[:] = _densest(points, reach)
    return places


def _densest(points: NDArray[np.float64], reach: float) -> tuple[float, ...]:
    """The mean of the largest group of points that lie within reach of one of them."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    together = apart <= reach
    group = together[np.argmax(together.sum(axis=1))]
    return tuple(points[group].mean(axis=0).tolist())


def reach_of(sample: NDArray[np.float32]) -> float:
    """How near to each other points of a map lie together, by some of its positions, all finite."""
    extent = np.subtract(*np.percentile(sample, (95, 5), axis=0)).max()
    return 0.08 * max(float(extent), 1e-12)


def agreement(
    positions: NDArray[np.float32],
    place: tuple[float, ...],
    rows: NDArray[np.int64],
    own: tuple[int, ...] = (),
) -> tuple[int, int]:
    """How many of a query's nearest rows are also near on the map.

    Near is among the closest hundredth of the rows, or the closest 45 where that is more: on a
    crowded map the very closest points are strangers, even where the neighbourhood is true.

    Parameters
    ----------
    positions : float32 array, shape (rows, dimensions)
    place : tuple of float, one for each dimension
        Where the query lies on the map.
    rows : int64 array, shape (k,)
        The query's nearest rows in the original space, best first; the first 15 are used.
    own : tuple of int
        The query's own rows, which are left out on the map too.

    Returns
    -------
    (int, int)
        Of those rows, how many are near on the map, and how many there are.
    """
    nearest = rows[:MOST_ROWS]
    with np.errstate(over="ignore"):  # a row may lie far beyond all others
        apart = np.square(positions - np.asarray(place, np.float32)).sum(axis=1)
    apart[~np.isfinite(apart)] = np.inf
    apart[list(own)] = np.inf
    count = min(max(NEAREST, len(apart) // NEAR_PART), len(apart)) if len(nearest) else 0
    on_map = np.argpartition(apart, count - 1)[:count] if count else np.empty(0, np.int64)
    return int(np.isin(nearest, on_map).sum()), len(nearest)
