"""What lies under the cursor, read off the raster's rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def nearest_row(ids: NDArray[np.int32], x: float, y: float, reach: float = 4.0) -> int:
    """The row of the nearest pixel that has one.

    Parameters
    ----------
    ids : int32 array, shape (height, width)
        A row per pixel, -1 where there is none.
    x, y : float
        A pixel position; a pixel's centre is at its index plus a half.
    reach : float
        How far to look, in pixels. Of pixels equally near, the first in reading order wins.

    Returns
    -------
    int
        The row, or -1.
    """
    height, width = ids.shape
    if not (-reach <= x <= width + reach and -reach <= y <= height + reach):
        return -1
    if 0 <= x < width and 0 <= y < height and ids[int(y), int(x)] >= 0:
        return int(ids[int(y), int(x)])
    left, top = max(math.floor(x - reach), 0), max(math.floor(y - reach), 0)
    near = ids[top : math.ceil(y + reach), left : math.ceil(x + reach)]
    lines, columns = np.nonzero(near >= 0)
    if not len(lines):
        return -1
    distance = np.hypot(columns + left + 0.5 - x, lines + top + 0.5 - y)
    best = int(np.argmin(distance))
    return int(near[lines[best], columns[best]]) if distance[best] <= reach else -1
