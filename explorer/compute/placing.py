"""The rows of a very large table that are not laid out: each is placed by the landmarks near it.

As ``core.placement`` places a query: at the mean of those of its nearest landmarks that lie together.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.parallel import each_block, spans
from explorer.core.placement import MOST_ROWS, SAMPLE, reach_of

_BLOCK_ROWS = 4096


def place_among(
    positions: NDArray[np.float32],
    neighbours: NDArray[np.int32],
    rows: NDArray[np.int64],
    place_of: NDArray[np.int64],
    checkpoint: Checkpoint = no_checkpoint,
) -> NDArray[np.float32]:
    """Place rows by the densest group of their nearest landmarks.

    Parameters
    ----------
    positions : float32 array, shape (landmarks, dimensions)
    neighbours : int32 array, shape (table's rows, k)
        The nearest landmarks' rows, nearest first; the first 15 are used.
    rows : int64 array, shape (n,)
        Those to be placed.
    place_of : int64 array, shape (table's rows,)
        Where a landmark is in ``positions``.
    checkpoint : Checkpoint

    Returns
    -------
    float32 array, shape (n, dimensions)
    """
    placed = np.empty((len(rows), positions.shape[1]), np.float32)
    reach = np.float32(reach_of(positions[:: max(1, len(positions) // SAMPLE)]))

    def work(start: int, stop: int) -> None:
        near = place_of[neighbours[rows[start:stop], :MOST_ROWS]].astype(np.int32)
        _place(positions, near, reach, placed[start:stop])

    each_block(work, spans(len(rows), _BLOCK_ROWS), checkpoint, "Layout")
    return placed


@njit(nogil=True, cache=True)
def _place(positions, near, reach, placed):  # type: ignore[no-untyped-def]
    dimensions = positions.shape[1]
    for row in range(len(near)):
        best, most = 0, 0
        for one in range(near.shape[1]):
            together = 0
            for other in range(near.shape[1]):
                together += _apart(positions[near[row, one]], positions[near[row, other]]) <= reach
            if together > most:
                best, most = one, together
        for axis in range(dimensions):
            total = 0.0
            for other in range(near.shape[1]):
                if _apart(positions[near[row, best]], positions[near[row, other]]) <= reach:
                    total += positions[near[row, other], axis]
            placed[row, axis] = total / most


@njit(nogil=True, cache=True)
def _apart(one, other):  # type: ignore[no-untyped-def]
    total = 0.0
    for axis in range(len(one)):
        total += (one[axis] - other[axis]) ** 2
    return math.sqrt(total)
