"""Arrays as the kernels want them, or refused: a kernel does not look twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def as_points(
    xy: NDArray[np.floating], codes: NDArray[np.integer]
) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Positions, shape (rows, 2), and a colour code for each; no copy where they fit already.

    Raises
    ------
    ValueError
        Where their numbers differ, or positions are not pairs.
    """
    if xy.ndim != 2 or xy.shape[1] != 2 or len(codes) != len(xy):
        raise ValueError(f"{len(codes)} colour codes for positions of shape {xy.shape}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(xy, np.float32), np.ascontiguousarray(codes, np.uint8)


def as_rows(rows: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """Row numbers, all of them below ``count``.

    Raises
    ------
    ValueError
        Where one is not.
    """
    found = np.ascontiguousarray(rows, np.int64)
    if len(found) and not (found.min() >= 0 and found.max() < count):
        raise ValueError(f"a row outside of 0 to {count - 1}")
    return found
