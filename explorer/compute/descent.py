"""Neighbour graphs of large tables, nearly exact: nearest-neighbour descent from random partitions.

Points that fall on the same side of random cuts are compared with each other (Dasgupta and Freund,
"Random projection trees", 2008); then the neighbours of a point's neighbours are tried until few
are better (Dong, Charikar and Li, "Efficient k-nearest neighbor graph construction", 2011).

pynndescent does the same. This one can be watched and stopped between blocks, lets other threads
work meanwhile, and gives the same graph on any number of cores.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint, part
from explorer.compute.parallel import Span, map_blocks, spans

_PARTITIONS = 16
_LEAF_POINTS = 100
_MOST_ROUNDS = 8
# Rounds end when they improve less than this share of all neighbours.
_FEW = 0.01
# Neighbours kept beyond k, through which more of the true ones are found.
_SPARE = 6
_BLOCK_LEAVES = 16
_BLOCK_POINTS = 1024
# How the work is shared between partitions and rounds, as measured.
_PARTITION_SHARE = 0.6


def nearly_nearest(
    points: NDArray[np.float32], k: int, *, seed: int = 0, checkpoint: Checkpoint = no_checkpoint
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Find most of the k nearest other points of each.

    Parameters
    ----------
    points : float32 array, shape (n, dim)
        Many more than k of them.
    k : int
    seed : int
    checkpoint : Checkpoint

    Returns
    -------
    int32 array and float32 array, both of shape (n, k)
        The neighbours, nearest first, and half the squared distance to each.

    Raises
    ------
    Cancelled
        From the checkpoint.
    """
    count, kept = len(points), k + _SPARE
    neighbours = np.full((count, kept), -1, np.int32)
    distances = np.full((count, kept), np.inf, np.float32)
    random = np.random.default_rng(seed)
    for place in range(_PARTITIONS):
        order, bounds = _partition(points, max(_LEAF_POINTS, 3 * kept), random)
        compare = partial(_compare_within, points, order, bounds, neighbours, distances)
        share = _PARTITION_SHARE / _PARTITIONS
        _run(compare, spans(len(bounds) - 1, _BLOCK_LEAVES), checkpoint, place * share, (place + 1) * share)
    for place in range(_MOST_ROUNDS):
        before, after = (neighbours, distances), (neighbours.copy(), distances.copy())
        improve = partial(_improve, points, *before, _reverse(neighbours), *after)
        share = (1.0 - _PARTITION_SHARE) / _MOST_ROUNDS
        start = _PARTITION_SHARE + place * share
        better = _run(improve, spans(count, _BLOCK_POINTS), checkpoint, start, start + share)
        neighbours, distances = after
        if better < _FEW * count * kept:
            break
    return neighbours[:, :k], distances[:, :k]


def _run(
    work: Callable[[int, int], int], blocks: list[Span], checkpoint: Checkpoint, start: float, end: float
) -> int:
    return sum(map_blocks(work, blocks, part(checkpoint, start, end, "Neighbours")))


def _partition(
    points: NDArray[np.float32], leaf: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut the points in halves along random directions until at most ``leaf`` are together.

    Returns the points in an order in which the parts follow each other, and the bounds of the parts.
    """
    cuts = max(0, int(np.ceil(np.log2(len(points) / leaf))))
    along = points @ random.standard_normal((points.shape[1], cuts), dtype=np.float32)
    order, bounds = np.arange(len(points)), np.array([0, len(points)])
    for cut in range(cuts):
        part_of = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        order = order[np.lexsort((along[order, cut], part_of))]
        bounds = np.sort(np.concatenate([bounds, (bounds[:-1] + bounds[1:]) // 2]))
    return order, bounds


@njit(nogil=True, cache=True, fastmath=True)
def _half_square(points, one, other):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for place in range(points.shape[1]):
        difference = points[one, place] - points[other, place]
        total += difference * difference
    return np.float32(0.5) * total


@njit(nogil=True, cache=True)
def _insert(neighbours, distances, other, distance):  # type: ignore[no-untyped-def]
    """Put a point into a list of nearest ones, where it is near enough and not there yet."""
    last = len(neighbours) - 1
    if distance >= distances[last]:
        return 0
    for known in neighbours:
        if known == other:
            return 0
    place = last
    while place > 0 and distances[place - 1] > distance:
        distances[place] = distances[place - 1]
        neighbours[place] = neighbours[place - 1]
        place -= 1
    distances[place] = distance
    neighbours[place] = other
    return 1


@njit(nogil=True, cache=True)
def _compare_within(points, order, bounds, neighbours, distances, first, last):  # type: ignore[no-untyped-def]
    """Compare every point of some parts with every other of its part."""
    for leaf in range(first, last):
        for place in range(bounds[leaf], bounds[leaf + 1]):
            one = order[place]
            for later in range(place + 1, bounds[leaf + 1]):
                other = order[later]
                distance = _half_square(points, one, other)
                _insert(neighbours[one], distances[one], other, distance)
                _insert(neighbours[other], distances[other], one, distance)
    return 0


@njit(nogil=True, cache=True)
def _reverse(neighbours):  # type: ignore[no-untyped-def]
    """Points that have a point among their neighbours, at most as many as it has; -1 after the last."""
    count, kept = neighbours.shape
    found = np.full((count, kept), -1, np.int32)
    filled = np.zeros(count, np.int32)
    for place in range(kept):
        for point in range(count):
            other = neighbours[point, place]
            if other >= 0 and filled[other] < kept:
                found[other, filled[other]] = point
                filled[other] += 1
    return found


@njit(nogil=True, cache=True)
def _improve(  # type: ignore[no-untyped-def]
    points, neighbours, distances, reverse, new_neighbours, new_distances, first, last
):
    """Try the neighbours of each point's neighbours; returns how many were better."""
    better = 0
    kept = neighbours.shape[1]
    seen = np.full(len(points), -1, np.int32)
    for point in range(first, last):
        seen[point] = point
        for other in neighbours[point]:
            if other >= 0:
                seen[other] = point
        for side in (neighbours, reverse):
            for through in side[point]:
                if through < 0:
                    break
                for place in range(-1, kept):
                    other = through if place < 0 else neighbours[through, place]
                    if other < 0 or seen[other] == point:
                        continue
                    seen[other] = point
                    distance = _half_square(points, point, other)
                    better += _insert(new_neighbours[point], new_distances[point], other, distance)
    return better
