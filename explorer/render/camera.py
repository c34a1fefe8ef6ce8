"""A view of three dimensions: turned about their middle, then seen from the front."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.core.camera import Camera
from explorer.render._arrays import as_rows

_ALL = np.empty(0, np.int64)


def project(
    xyz: NDArray[np.floating],
    camera: Camera,
    out: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None,
    centre: tuple[float, float, float] | None = None,
    rows: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Where the rows lie on the map, and how near to the viewer.

    Parameters
    ----------
    xyz : float array, shape (rows, 3)
        A row with a NaN has none in any direction.
    camera : Camera
    out : pair of float32 arrays, shapes (rows, 2) and (rows,), optional
        Written instead of new ones.
    centre : three floats, optional
        The point to turn about, which stays where it is; without it, ``middle(xyz)``.
    rows : int64 array, optional
        Only these rows are looked for; ``out`` keeps what it has of others.

    Returns
    -------
    xy : float32 array, shape (rows, 2)
    depth : float32 array, shape (rows,)
        Larger is nearer.
    """
    from explorer.render.kernels import turn

    places = np.ascontiguousarray(xyz, np.float32)
    if places.ndim != 2 or places.shape[1] != 3:
        raise ValueError(f"positions of shape {places.shape} are not of three dimensions")
    if out is None:
        out = np.empty((len(places), 2), np.float32), np.empty(len(places), np.float32)
    xy, depth = out
    about = np.array(middle(places) if centre is None else centre, np.float64)
    if rows is None or len(rows):
        wanted = _ALL if rows is None else as_rows(rows, len(places))
        turn(places, wanted, camera.axes, about, xy, depth)
    return xy, depth


def middle(xyz: NDArray[np.floating]) -> tuple[float, float, float]:
    """The median of the rows that are finite, from a sample of them; the origin without any."""
    sample = np.asarray(xyz[:: max(len(xyz) // 50_000, 1)], np.float64)
    sample = sample[np.isfinite(sample).all(axis=1)]
    if not len(sample):
        return 0.0, 0.0, 0.0
    x, y, z = np.median(sample, axis=0)
    return float(x), float(y), float(z)
