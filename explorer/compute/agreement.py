"""For each row, how many of its true neighbours are among its neighbours on the map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from explorer.compute.checkpoint import Checkpoint, no_checkpoint

_BLOCK = 10_000


def share_kept(
    neighbours: NDArray[np.int32],
    xy: NDArray[np.float32],
    first_twin: NDArray[np.int64],
    *,
    checkpoint: Checkpoint = no_checkpoint,
) -> NDArray[np.float32]:
    """Hold every row's neighbours on the map against its true ones.

    Parameters
    ----------
    neighbours : int32 array, shape (rows, k)
        Of a NeighbourGraph of the distinct rows; -1 where there is none.
    xy : float32 array, shape (rows, 2) or (rows, 3)
        NaN for rows without a place.
    first_twin : int64 array, shape (rows,)
        Rows that repeat an earlier one share what is found for that one.
    checkpoint : Checkpoint

    Returns
    -------
    float32 array, shape (rows,)
        Between 0 and 1; NaN for rows without a place or without neighbours.

    Raises
    ------
    Cancelled
        From the checkpoint.
    """
    found = np.full(len(xy), np.nan, np.float32)
    k = neighbours.shape[1]
    taking_part = np.isfinite(xy).all(axis=1) & (first_twin == np.arange(len(xy)))
    places = np.flatnonzero(taking_part & (neighbours[:, :1] >= 0).any(axis=1))
    if k == 0 or len(places) <= 1:
        return found
    tree = cKDTree(xy[places])
    for start in range(0, len(places), _BLOCK):
        checkpoint(start / len(places), "Map trust")
        rows = places[start : start + _BLOCK]
        _, near = tree.query(xy[rows], k=min(k + 1, len(places)), workers=-1)
        on_map = places[near]
        # The row itself is among them, though not always first: equal places come in any order.
        on_map[on_map == rows[:, None]] = -2
        true = neighbours[rows]
        kept = (true[:, :, None] == on_map[:, None, :]).any(axis=2).sum(axis=1)
        found[rows] = kept / np.maximum((true >= 0).sum(axis=1), 1)
    return found[first_twin]
