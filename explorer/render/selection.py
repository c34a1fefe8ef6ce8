"""Rows inside a lasso or a box, by their places on the map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def rows_in_polygon(xy: NDArray[np.float32], corners: NDArray[np.floating]) -> NDArray[np.int64]:
    """The rows inside a closed polygon, by the even-odd rule, ascending.

    Parameters
    ----------
    xy : float32 array, shape (rows, 2)
        Rows that are not finite are never inside.
    corners : float array, shape (n, 2)
        In data coordinates; fewer than three enclose nothing.
    """
    from explorer.render.kernels import inside_polygon

    ring = np.ascontiguousarray(corners, np.float64)
    if len(ring) < 3 or not len(xy) or not np.isfinite(ring).all():
        return np.empty(0, np.int64)
    inside = np.zeros(len(xy), np.bool_)
    inside_polygon(np.ascontiguousarray(xy, np.float32), ring, inside)
    return np.flatnonzero(inside)


def rows_in_box(
    xy: NDArray[np.float32], corner: tuple[float, float], opposite: tuple[float, float]
) -> NDArray[np.int64]:
    """The rows inside a rectangle given by two opposite corners in data coordinates, its edges included."""
    (x0, x1), (y0, y1) = sorted((corner[0], opposite[0])), sorted((corner[1], opposite[1]))
    x, y = xy[:, 0], xy[:, 1]
    return np.flatnonzero((x >= x0) & (x <= x1) & (y >= y0) & (y <= y1))
