"""UMAP's fuzzy graph of a table: how strongly each row holds on to its neighbours.

After McInnes, Healy and Melville, "UMAP: Uniform Manifold Approximation and Projection for
Dimension Reduction" (2018), section 3.1. The weights equal umap-learn's to rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.parallel import each_block, spans

# As umap-learn has them.
_STEPS = 64
_TOLERANCE = 1e-5
_LEAST_WIDTH = 1e-3
_BLOCK_POINTS = 4096


@dataclass(frozen=True, eq=False)
class FuzzyGraph:
    """Weighted edges, both ways, in compressed rows.

    Attributes
    ----------
    starts : int64 array, shape (n + 1,)
        The edges of point *i* are those from ``starts[i]`` to ``starts[i + 1]``.
    ends : int32 array, shape (edges,)
        The other point of each edge.
    weights : float32 array, shape (edges,)
        0 to 1.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int32]
    weights: NDArray[np.float32]


def fuzzy_graph(
    neighbours: NDArray[np.int32], distances: NDArray[np.float32], checkpoint: Checkpoint = no_checkpoint
) -> FuzzyGraph:
    """Turn nearest neighbours into a graph that both sides agree on.

    Parameters
    ----------
    neighbours : int32 array, shape (n, k)
        Each point's nearest other points.
    distances : float32 array, shape (n, k), ascending
    checkpoint : Checkpoint

    Returns
    -------
    FuzzyGraph
    """
    count, k = neighbours.shape
    nearest, widths = np.empty(count, np.float32), np.empty(count, np.float32)
    mean = float(distances.mean(dtype=np.float64)) * k / (k + 1)
    scale = partial(_local_scales, distances, math.log2(k + 1), mean, nearest, widths)
    each_block(scale, spans(count, _BLOCK_POINTS), checkpoint)
    beyond = np.maximum(distances - nearest[:, None], 0.0)
    held = np.exp(-beyond / widths[:, None]).astype(np.float32)
    one_way = sparse.csr_array((held.ravel(), neighbours.ravel(), np.arange(count + 1) * k), (count, count))
    other_way = one_way.T.tocsr()
    # The fuzzy union of both directions.
    both = (one_way + other_way - one_way * other_way).tocsr()
    both.sort_indices()
    return FuzzyGraph(both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data)


@njit(nogil=True, cache=True)
def _local_scales(distances, target, mean, nearest, widths, first, last):  # type: ignore[no-untyped-def]
    """The distance to each point's nearest other point, and the width at which its neighbours'
    memberships add up to ``target``, found by bisection."""
    k = distances.shape[1]
    for point in range(first, last):
        row = distances[point]
        nearest[point] = 0.0
        for distance in row:
            if distance > 0.0:
                nearest[point] = distance
                break
        low, high, width = 0.0, np.inf, 1.0
        for _ in range(_STEPS):
            total = 0.0
            for distance in row:
                total += math.exp(-max(distance - nearest[point], 0.0) / width)
            if abs(total - target) < _TOLERANCE:
                break
            if total > target:
                high = width
                width = (low + high) / 2.0
            else:
                low = width
                width = width * 2.0 if high == np.inf else (low + high) / 2.0
        around = row.sum() / (k + 1) if nearest[point] > 0.0 else mean
        widths[point] = max(width, _LEAST_WIDTH * around)
