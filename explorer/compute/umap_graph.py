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

from explorer.compute.checkpoint import Checkpoint, no_checkpoint, part
from explorer.compute.parallel import each_block, spans

# As umap-learn has them.
_STEPS = 64
_TOLERANCE = 1e-5
_LEAST_WIDTH = 1e-3
_BLOCK_POINTS = 2048
# How the work is shared between the widths and the union, and in it between the edges turned round, those
# counted and those united, as measured.
_HELD, _TURNED, _COUNTED = 0.7, 0.33, 0.67


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
    neighbours: NDArray[np.int32],
    distances: NDArray[np.float32],
    least: float = 0.0,
    checkpoint: Checkpoint = no_checkpoint,
) -> FuzzyGraph:
    """Turn nearest neighbours into a graph that both sides agree on.

    Parameters
    ----------
    neighbours : int32 array, shape (n, k)
        Each point's nearest other points.
    distances : float32 array, shape (n, k), ascending
    least : float
        Weaker edges are left out.
    checkpoint : Checkpoint

    Returns
    -------
    FuzzyGraph
    """
    count, k = neighbours.shape
    blocks = spans(count, _BLOCK_POINTS)
    mean = float(distances.mean(dtype=np.float64)) * k / (k + 1)
    near, held = np.empty((count, k), np.int32), np.empty((count, k), np.float32)
    hold = partial(_hold, neighbours, distances, math.log2(k + 1), mean, near, held)
    each_block(hold, blocks, part(checkpoint, 0.0, _HELD, "Layout"))
    return united(near, held, least, part(checkpoint, _HELD, 1.0, "Layout"))


def united(
    near: NDArray[np.int32],
    held: NDArray[np.float32],
    least: float = 0.0,
    checkpoint: Checkpoint = no_checkpoint,
) -> FuzzyGraph:
    """The fuzzy union of edges from both ends.

    Parameters
    ----------
    near : int32 array, shape (n, k), ascending
        The points that each point holds on to.
    held : float32 array, shape (n, k)
        How strongly, 0 to 1.
    least : float
        Weaker edges are left out.
    checkpoint : Checkpoint

    Returns
    -------
    FuzzyGraph
    """
    count, k = near.shape
    blocks = spans(count, _BLOCK_POINTS)
    # The edges from the other end. One thread, for each puts its mark after the last one's.
    turning = part(checkpoint, 0.0, _TURNED, "Layout")
    into = np.zeros(count + 1, np.int64)
    each_block(partial(_count_ends, near, into), blocks, part(turning, 0.0, 0.4, "Layout"), threads=1)
    np.cumsum(into, out=into)
    holders, holds = np.empty(count * k, np.int32), np.empty(count * k, np.float32)
    # Memory takes its time to be there, and what follows asks for all of it at once.
    touch = partial(_touch, holders, holds)
    each_block(touch, spans(count * k, k * _BLOCK_POINTS), part(turning, 0.4, 0.5, "Layout"), threads=1)
    turn = partial(_turn, near, held, into[:-1].copy(), holders, holds)
    each_block(turn, blocks, part(turning, 0.5, 1.0, "Layout"), threads=1)

    ways = near, held, into, holders, holds, np.float32(least)
    starts = np.zeros(count + 1, np.int64)
    nothing = np.empty(0, np.int32), np.empty(0, np.float32)
    unite = partial(_unite, *ways, starts, *nothing)
    each_block(unite, blocks, part(checkpoint, _TURNED, _COUNTED, "Layout"))
    np.cumsum(starts, out=starts)
    ends, weights = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    unite = partial(_unite, *ways, starts, ends, weights)
    each_block(unite, blocks, part(checkpoint, _COUNTED, 1.0, "Layout"))
    return FuzzyGraph(starts, ends, weights)


def _touch(holders: NDArray[np.int32], holds: NDArray[np.float32], first: int, last: int) -> None:
    holders[first:last] = 0
    holds[first:last] = 0.0


@njit(nogil=True, cache=True)
def _hold(neighbours, distances, target, mean, near, held, first, last):  # type: ignore[no-untyped-def]
    """How strongly each point holds on to its neighbours, these in ascending order.

    What is beyond the nearest one falls off at the width, found by bisection, at which the
    memberships add up to ``target``.
    """
    k = distances.shape[1]
    for point in range(first, last):
        row = distances[point]
        nearest = np.float32(0.0)
        for distance in row:
            if distance > 0.0:
                nearest = distance
                break
        low, high, width = 0.0, np.inf, 1.0
        for _ in range(_STEPS):
            total = 0.0
            for distance in row:
                total += math.exp(-max(distance - nearest, 0.0) / width)
            if abs(total - target) < _TOLERANCE:
                break
            if total > target:
                high = width
                width = (low + high) / 2.0
            else:
                low = width
                width = width * 2.0 if high == np.inf else (low + high) / 2.0
        around = row.sum() / (k + 1) if nearest > 0.0 else mean
        width = max(width, _LEAST_WIDTH * around)
        order = np.argsort(neighbours[point])
        for place in range(k):
            near[point, place] = neighbours[point, order[place]]
            held[point, place] = math.exp(-max(row[order[place]] - nearest, 0.0) / width)


@njit(nogil=True, cache=True)
def _count_ends(near, into, first, last):  # type: ignore[no-untyped-def]
    for point in range(first, last):
        for end in near[point]:
            into[end + 1] += 1


@njit(nogil=True, cache=True)
def _turn(near, held, free, holders, holds, first, last):  # type: ignore[no-untyped-def]
    """For each point those that hold on to it, ascending, and how strongly."""
    for point in range(first, last):
        for place in range(near.shape[1]):
            end = near[point, place]
            holders[free[end]] = point
            holds[free[end]] = held[point, place]
            free[end] += 1


@njit(nogil=True, cache=True)
def _unite(near, held, into, holders, holds, least, starts, ends, weights, first, last):  # type: ignore[no-untyped-def]
    """The fuzzy union of both directions; where ``ends`` is empty, only how many edges it has."""
    counting = len(ends) == 0
    k = near.shape[1]
    for point in range(first, last):
        ours, theirs, stop = 0, into[point], into[point + 1]
        found = 0 if counting else starts[point]
        while ours < k or theirs < stop:
            if theirs == stop or (ours < k and near[point, ours] < holders[theirs]):
                end, weight = near[point, ours], held[point, ours]
                ours += 1
            elif ours == k or holders[theirs] < near[point, ours]:
                end, weight = holders[theirs], holds[theirs]
                theirs += 1
            else:
                one, other = held[point, ours], holds[theirs]
                end, weight = near[point, ours], one + other - one * other
                ours += 1
                theirs += 1
            if weight >= least:
                if not counting:
                    ends[found] = end
                    weights[found] = weight
                found += 1
        if counting:
            starts[point + 1] = found
