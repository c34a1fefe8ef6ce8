"""Rows inside a lasso or a box, by their places on the map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.render.point_index import PointIndex

MOST_STEPS = 200_000


def rows_in_polygon(
    xy: NDArray[np.float32], corners: NDArray[np.floating], index: PointIndex | None = None
) -> NDArray[np.int64]:
    """The rows inside a closed polygon, by the even-odd rule, ascending.

    Parameters
    ----------
    xy : float32 array, shape (rows, 2)
        Rows that are not finite are never inside.
    corners : float array, shape (n, 2)
        In data coordinates; fewer than three enclose nothing.
    index : PointIndex, optional
        Of ``xy``: then only rows near the outline are looked at one by one.
    """
    ring = np.ascontiguousarray(corners, np.float64)
    if len(ring) < 3 or not len(xy) or not np.isfinite(ring).all():
        return np.empty(0, np.int64)
    crossed = None if index is None or index.table_rows != len(xy) else _cells_crossed(index, ring)
    if index is None or crossed is None:
        return np.flatnonzero(_inside(xy, ring))
    columns, lines = np.meshgrid(np.arange(index.columns) + 0.5, np.arange(index.lines) + 0.5)
    centres = np.stack([index.left + columns * index.width, index.bottom + lines * index.height], axis=-1)
    whole = _inside(centres.reshape(-1, 2), ring) & ~crossed
    found = np.zeros(len(xy), np.bool_)
    sizes = np.diff(index.starts)
    found[index.rows[np.repeat(whole, sizes)]] = True
    doubtful = np.flatnonzero(np.repeat(crossed, sizes))
    found[index.rows[doubtful[_inside(index.xy[doubtful], ring)]]] = True
    return np.flatnonzero(found)


def _inside(places: NDArray[np.floating], ring: NDArray[np.float64]) -> NDArray[np.bool_]:
    from explorer.render.kernels import inside_polygon

    inside = np.zeros(len(places), np.bool_)
    inside_polygon(np.ascontiguousarray(places, np.float32), ring, inside)
    return inside


def _cells_crossed(index: PointIndex, ring: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """The index's cells that the outline may pass through, and those at its edge, which reach on for ever.

    None for an outline so long that it is not worth following.
    """
    starts = (ring - (index.left, index.bottom)) / (index.width, index.height)
    ways = np.roll(starts, -1, axis=0) - starts
    steps = np.ceil(2 * np.abs(ways).max(axis=1)) + 1
    if not steps.sum() < MOST_STEPS:
        return None
    steps = steps.astype(np.int64)
    edge = np.repeat(np.arange(len(ring)), steps)
    along = (np.arange(len(edge)) - np.repeat(np.cumsum(steps) - steps, steps)) / steps[edge]
    columns, lines = np.floor(starts[edge] + ways[edge] * along[:, None]).astype(np.int64).T
    crossed = np.zeros((index.lines, index.columns), np.bool_)
    for up in (-1, 0, 1):
        for right in (-1, 0, 1):
            line, column = lines + up, columns + right
            met = (line >= 0) & (line < index.lines) & (column >= 0) & (column < index.columns)
            crossed[line[met], column[met]] = True
    crossed[[0, -1]] = True
    crossed[:, [0, -1]] = True
    return crossed.reshape(-1)
