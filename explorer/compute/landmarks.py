"""Landmarks: the rows of a very large table that are laid out, among which the others find their place."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.device import free_bytes
from explorer.compute.vectors import Vectors

# What the neighbour graph and the layout hold of a landmark, beside its point: their lists, twice at a
# time, and the edges. Measured at 1,000,000 × 64.
_BYTES_A_LANDMARK = 1500
# Of the memory that is free, the rest being for what else is open.
_MEMORY_SHARE = 0.5
_LEAST = 10_000


def choose_landmarks(places: NDArray[np.int64], most: int, seed: int) -> NDArray[np.int64] | None:
    """Draw the rows to lay out, where there are more than that may be.

    Parameters
    ----------
    places : int64 array, shape (n,)
        The rows that take part, ascending.
    most : int
    seed : int
        The same seed draws the same rows.

    Returns
    -------
    int64 array, shape (most,), ascending, or None
        None where all are laid out.
    """
    if len(places) <= most:
        return None
    drawn = np.random.default_rng(abs(seed)).choice(len(places), most, replace=False, shuffle=False)
    drawn.sort()
    return places[drawn]


def most_in_memory(vectors: Vectors) -> int:
    """How many of a table's rows can be laid out in the memory that is free now."""
    fit = int(_MEMORY_SHARE * free_bytes()) // (4 * vectors.dim + _BYTES_A_LANDMARK)
    if vectors.device.type == "cuda":
        there, _ = torch.cuda.mem_get_info(vectors.device)
        fit = min(fit, int(_MEMORY_SHARE * there) // (4 * vectors.dim + _BYTES_A_LANDMARK))
    return max(_LEAST, int(fit))
