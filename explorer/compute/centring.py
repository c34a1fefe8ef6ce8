"""Each modality's mean taken away, for the picture only.

The vectors of texts and of pictures lie in two narrow cones apart from each other (the modality gap; Liang et
al., 2022), so that a map of both shows little but these two. Search never sees the shifted rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.compute.vectors import Vectors
from explorer.core.health import RowState

_BLOCK_BYTES = 16 << 20
_FEWEST = 2  # rows that have a mean of any meaning


def centred(vectors: Vectors, groups: NDArray[np.int16] | None = None) -> Vectors:
    """A table's rows, each less the mean of its group's healthy rows.

    Parameters
    ----------
    vectors : Vectors
    groups : int16 array, shape (rows,), optional
        The group of each row, 0 and up; one group where not given.

    Returns
    -------
    Vectors
        A copy in float32. A row that is its group's mean is all zeros, and has no place.
    """
    if groups is None:
        groups = np.zeros(vectors.rows, np.int16)
    healthy = vectors.health.healthy
    count = int(groups.max(initial=0)) + 1
    sums = np.zeros((count, vectors.dim))
    rows = np.empty((vectors.rows, vectors.dim), np.float32)
    for start, stop in vectors.spans(_BLOCK_BYTES):
        block = rows[start:stop]
        block[...] = vectors.block(start, stop).cpu().numpy()
        for group in range(count):
            taken = healthy[start:stop] & (groups[start:stop] == group)
            sums[group] += block[taken].sum(axis=0, dtype=np.float64)
    sizes = np.bincount(groups[healthy], minlength=count)
    means = np.where(sizes[:, None] >= _FEWEST, sums / np.maximum(sizes, 1)[:, None], 0.0).astype(np.float32)
    norms = np.empty(vectors.rows, np.float32)
    for start, stop in vectors.spans(_BLOCK_BYTES):
        block = rows[start:stop]
        block -= means[groups[start:stop]]
        norms[start:stop] = np.sqrt(np.einsum("ij,ij->i", block, block))
    states = vectors.health.states.copy()
    states[healthy & (norms == 0)] = RowState.ZERO
    return Vectors(rows, replace(vectors.health, states=states, norms=norms), vectors.device)


def modality_gap(vectors: Vectors, groups: NDArray[np.int16]) -> float | None:
    """How far apart two modalities lie: the distance between the means of their rows at unit length.

    As in Liang et al. (2022). 0 where both share a centre, 2 at the most.

    Parameters
    ----------
    vectors : Vectors
    groups : int16 array, shape (rows,)
        0 or 1 for each row.

    Returns
    -------
    float or None
        None where one of the two has no healthy row.
    """
    healthy, norms = vectors.health.healthy, vectors.norms
    sums = np.zeros((2, vectors.dim))
    for start, stop in vectors.spans(_BLOCK_BYTES):
        block = vectors.block(start, stop).cpu().numpy().astype(np.float64)
        for group in (0, 1):
            taken = healthy[start:stop] & (groups[start:stop] == group)
            sums[group] += (block[taken] / norms[start:stop][taken, None]).sum(axis=0)
    sizes = np.bincount(groups[healthy], minlength=2)
    if not sizes[:2].all():
        return None
    return float(np.linalg.norm(sums[0] / sizes[0] - sums[1] / sizes[1]))
