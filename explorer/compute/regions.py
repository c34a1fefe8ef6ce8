"""Dense parts of the map: hills of its density, parted where the valley between them is deep enough.

Hills grow downhill from their tops, cell by cell; two that meet are one where the lower rises little
above the pass, as in ToMATo (Chazal, Guibas, Oudot and Skraba, 2013).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.naming import typical_names
from explorer.core.labels import Labels
from explorer.core.regions import Region

# A side of the grid, in two and three dimensions.
_CELLS = {2: 160, 3: 56}
# Where the regions found hold less than half of the rows, as on a map of very many islands, neighbours
# are seen as one: the density is smoothed over more cells.
_SMOOTH = {2: (2.0, 3.5, 5.0, 7.0), 3: (1.4, 2.0, 2.8, 4.0)}
_LEAST_COVERED = 0.5
# A hill's top over the pass to a higher one: below this factor they are one.
_RISE = 1.35
# Cells of less than this part of the highest hill's density belong to none.
_GROUND = 0.03
_LEAST_SHARE = 0.006
_LEAST_ROWS = 15
MOST_REGIONS = 24


def find_regions(
    xy: NDArray[np.float32], *, labels: Labels | None = None, checkpoint: Checkpoint = no_checkpoint
) -> tuple[Region, ...]:
    """Find and name the dense parts of a map.

    Parameters
    ----------
    xy : float32 array, shape (rows, 2 or 3)
        NaN for rows without a place.
    labels : Labels, optional
        For the names.
    checkpoint : Checkpoint

    Returns
    -------
    tuple of Region
        The largest first; none where so few rows are placed that none stands out.

    Raises
    ------
    Cancelled
        From the checkpoint.
    """
    placed = np.flatnonzero(np.isfinite(xy).all(axis=1))
    least = max(_LEAST_ROWS, round(_LEAST_SHARE * len(placed)))
    dimensions = xy.shape[1]
    if dimensions not in _CELLS or len(placed) < 2 * least:
        return ()
    checkpoint(0.0, "Regions")
    places = xy[placed].astype(np.float64)
    # A few rows far out must not leave all others in one cell.
    low, high = np.percentile(places[:: max(1, len(places) // 50_000)], (0.2, 99.8), axis=0)
    side = float(max(high - low)) / _CELLS[dimensions]
    if side <= 0:
        return ()
    shape = tuple(np.maximum(np.ceil((high - low) / side), 1).astype(int).tolist())
    cells = np.clip(((places - low) / side).astype(np.int64), 0, np.array(shape) - 1)
    flat = np.ravel_multi_index(tuple(cells.T), shape)
    counts = np.bincount(flat, minlength=math.prod(shape)).reshape(shape)
    large: list[int] = []
    for step, smooth in enumerate(_SMOOTH[dimensions]):
        smoothed = gaussian_filter(counts.astype(np.float64), smooth, mode="constant")
        checkpoint(0.2 * step, "Regions")
        found = _hills(smoothed)
        sizes = np.bincount(found.ravel()[flat] + 1, minlength=found.max() + 2)[1:]
        order = [code for code in np.argsort(-sizes, kind="stable").tolist() if sizes[code] >= least]
        if step and order and sizes[order[0]] > _LEAST_COVERED * len(placed):
            break  # all has become one
        density, hills, rows, large = smoothed, found, sizes, order[:MOST_REGIONS]
        if rows[large].sum() >= _LEAST_COVERED * len(placed):
            break
    checkpoint(0.8, "Regions")
    hill = hills.ravel()[flat]
    members = [placed[hill == code] for code in large]
    names = typical_names(labels, members, xy, "Region")
    regions = []
    for code, name in zip(large, names, strict=True):
        top = np.unravel_index(np.argmax(np.where(hills == code, density, -1.0)), shape)
        x, y, *z = (low + (np.array(top) + 0.5) * side).tolist()
        room = int(np.count_nonzero(hills == code)) * side**dimensions
        ball = np.pi if dimensions == 2 else 4 / 3 * np.pi
        size = float((room / ball) ** (1 / dimensions))
        regions.append(Region(name, x, y, int(rows[code]), size, found=name, z=z[0] if z else 0.0))
    return tuple(regions)


def _hills(density: NDArray[np.float64]) -> NDArray[np.int64]:
    """The hill of each cell, -1 for the ground, shape of ``density``."""
    padded = np.pad(density, 1)
    steps = np.array(padded.strides) // padded.itemsize
    around = [int(steps @ way) for way in itertools.product((-1, 0, 1), repeat=padded.ndim) if any(way)]
    heights = padded.ravel().tolist()
    order = np.argsort(-padded, axis=None, kind="stable")
    order = order[padded.ravel()[order] > _GROUND * padded.max()]
    hill = [-1] * len(heights)
    tops: list[float] = []
    joined: list[int] = []

    def root(code: int) -> int:
        while joined[code] != code:
            code = joined[code]
        return code

    for cell in order.tolist():
        uphill = [
            (heights[cell + step], root(hill[cell + step])) for step in around if hill[cell + step] >= 0
        ]
        if not uphill:
            hill[cell] = len(tops)
            tops.append(heights[cell])
            joined.append(len(joined))
            continue
        hill[cell] = max(uphill)[1]
        # Hills are numbered from the highest top down.
        highest, *lower = sorted({code for _, code in uphill})
        for code in lower:
            if tops[code] < _RISE * heights[cell]:
                joined[code] = highest
    codes = np.array([root(code) if code >= 0 else -1 for code in hill]).reshape(padded.shape)
    inside = codes[(slice(1, -1),) * codes.ndim]
    _, renumbered = np.unique(inside, return_inverse=True)
    numbers = renumbered.reshape(inside.shape) - int((inside < 0).any())
    return np.where(inside < 0, -1, numbers)
