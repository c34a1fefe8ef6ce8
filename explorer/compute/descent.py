"""Neighbour graphs of large tables, nearly exact: nearest-neighbour descent from random partitions.

Points that fall on the same side of random cuts are compared with each other (Dasgupta and Freund,
"Random projection trees", 2008); then the neighbours of a point's neighbours are tried until few
are better (Dong, Charikar and Li, "Efficient k-nearest neighbor graph construction", 2011).

pynndescent does the same. This one can be watched and stopped between blocks, lets other threads
work meanwhile, and gives the same graph on any number of cores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint, part
from explorer.compute.parallel import Span, each_block, map_blocks, spans

T = TypeVar("T", np.int32, np.float32)

_PARTITIONS = 16
_LEAF_POINTS = 100
_MOST_ROUNDS = 8
# Rounds end when they improve less than this share of all neighbours.
_FEW = 0.01
# Neighbours kept beyond k, through which more of the true ones are found.
_SPARE = 6
_BLOCK_LEAVES = 16
_BLOCK_POINTS = 1024
_BLOCK_VALUES = 1 << 21
# How the work is shared between partitions and rounds, as measured: two are enough where neighbourhoods are
# plain, five or more where they have many directions.
_PARTITION_SHARE = 0.5
_USUAL_ROUNDS = 3
# Of the improvements of one round, the next makes a third at most.
_SLOWEST_FALL = 0.35
# Kept for rounds that were not expected.
_DOUBT = 0.25
# Other points' neighbours are searched for through so many partitions, then for so many rounds.
_SEARCHED_PARTITIONS = 8
_SEARCH_ROUNDS = 2


@dataclass(frozen=True, eq=False)
class Partition:
    """Points cut in halves along random directions, again and again, until few are together.

    Attributes
    ----------
    directions : float32 array, shape (dim, cuts)
        The first cut of all is along the first one, both halves are then cut along the second.
    thresholds : float32 array, shape (2**cuts - 1,)
        Of each cut, the first one first: from there on a point is in the second half.
    order : int32 array, shape (n,)
        The points, part by part.
    bounds : int64 array, shape (2**cuts + 1,)
        Where the parts begin and end.
    """

    directions: NDArray[np.float32]
    thresholds: NDArray[np.float32]
    order: NDArray[np.int32]
    bounds: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Found:
    """The nearest points of each point, nearest first, and what another point's are searched with.

    Attributes
    ----------
    rows : int32 array, shape (n, kept)
    apart : float32 array, shape (n, kept)
        Half the squared distances.
    partitions : tuple of Partition
    """

    rows: NDArray[np.int32]
    apart: NDArray[np.float32]
    partitions: tuple[Partition, ...] = ()


def nearly_nearest(
    points: NDArray[np.float32],
    k: int,
    *,
    seed: int = 0,
    searched: bool = False,
    checkpoint: Checkpoint = no_checkpoint,
) -> Found:
    """Find most of the k nearest other points of each.

    Parameters
    ----------
    points : float32 array, shape (n, dim)
        Many more than k of them.
    k : int
    seed : int
    searched : bool
        ``search`` will be asked for other points: some more neighbours than k, and some partitions, are kept.
    checkpoint : Checkpoint

    Returns
    -------
    Found

    Raises
    ------
    Cancelled
        From the checkpoint.
    """
    count, kept = len(points), k + _SPARE
    neighbours = np.full((count, kept), -1, np.int32)
    distances = np.full((count, kept), np.inf, np.float32)
    random = np.random.default_rng(seed)
    partitions = []
    for place in range(_PARTITIONS):
        share = _PARTITION_SHARE / _PARTITIONS
        start, end = place * share, (place + 1) * share
        partition = _partition(
            points, max(_LEAF_POINTS, 3 * kept), random, part(checkpoint, start, start, "Neighbours")
        )
        compare = partial(_compare_within, points, partition.order, partition.bounds, neighbours, distances)
        _run(compare, spans(len(partition.bounds) - 1, _BLOCK_LEAVES), checkpoint, start, end)
        if searched and place < _SEARCHED_PARTITIONS:
            partitions.append(partition)
    start, improved = _PARTITION_SHARE, [count * kept]
    for _ in range(_MOST_ROUNDS):
        end = start + (1.0 - start) / (_rounds_left(improved, _FEW * count * kept) + _DOUBT)
        preparing = part(checkpoint, start, start, "Neighbours")
        before, after = (neighbours, distances), (_copy(neighbours, preparing), _copy(distances, preparing))
        reverse = _reversed(neighbours, preparing)
        improve = partial(_improve, points, points, True, *before, neighbours, reverse, *after)
        better = _run(improve, spans(count, _BLOCK_POINTS), checkpoint, start, end)
        (neighbours, distances), start = after, end
        improved.append(better)
        if better < _FEW * count * kept:
            break
    kept = kept if searched else k
    return Found(neighbours[:, :kept], distances[:, :kept], tuple(partitions))


def _rounds_left(improved: list[int], few: float) -> int:
    """How many rounds are to come before one improves few neighbours, by what those before it improved.

    The first of ``improved`` is how many neighbours there are. Rounds that begin slowly soon grow quicker.
    """
    if len(improved) < 2:
        return _USUAL_ROUNDS
    before, last = improved[-2:]
    fall = min(last / before, _SLOWEST_FALL)
    return max(1, math.ceil(math.log(few / last) / math.log(fall)))


def search(
    points: NDArray[np.float32],
    found: Found,
    asked: NDArray[np.float32],
    k: int,
    *,
    checkpoint: Checkpoint = no_checkpoint,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Find most of the k nearest points of each of some other points.

    Parameters
    ----------
    points : float32 array, shape (n, dim)
    found : Found
        Of those points, ``searched``.
    asked : float32 array, shape (m, dim)
        Some hundred thousand at a time.
    k : int
        At most what ``found`` has.
    checkpoint : Checkpoint

    Returns
    -------
    int32 array and float32 array, both of shape (m, k)
        Nearest first, and half the squared distance to each.
    """
    count = len(asked)
    neighbours = np.full((count, k), -1, np.int32)
    distances = np.full((count, k), np.inf, np.float32)
    steps = len(found.partitions) + _SEARCH_ROUNDS
    for place, partition in enumerate(found.partitions):
        progress = part(checkpoint, place / steps, (place + 1) / steps, "Neighbours")
        along = _along(asked, partition.directions, part(progress, 0.0, 0.0, ""))
        leaves = np.empty(count, np.int32)
        each_block(partial(_descend, along, partition.thresholds, leaves), spans(count, _BLOCK_VALUES >> 4))
        # Those of one part follow each other, so that its points are read once.
        order = np.argsort(leaves, kind="stable")
        compare = partial(_compare_with_leaf, points, partition.order, partition.bounds, asked, leaves, order)
        each_block(partial(compare, neighbours, distances), spans(count, _BLOCK_POINTS), progress)
    nobody = np.full((count, 0), -1, np.int32)
    for place in range(len(found.partitions), steps):
        before, after = (neighbours, distances), (neighbours.copy(), distances.copy())
        improve = partial(_improve, points, asked, False, *before, found.rows, nobody, *after)
        _run(improve, spans(count, _BLOCK_POINTS), checkpoint, place / steps, (place + 1) / steps)
        neighbours, distances = after
    return neighbours, distances


def _run(
    work: Callable[[int, int], int], blocks: list[Span], checkpoint: Checkpoint, start: float, end: float
) -> int:
    return sum(map_blocks(work, blocks, part(checkpoint, start, end, "Neighbours")))


def _partition(
    points: NDArray[np.float32], leaf: int, random: np.random.Generator, checkpoint: Checkpoint
) -> Partition:
    """Cut the points in halves along random directions until at most ``leaf`` are together."""
    cuts = max(0, int(np.ceil(np.log2(len(points) / leaf))))
    directions = random.standard_normal((points.shape[1], cuts), dtype=np.float32)
    along = _along(points, directions, checkpoint)
    order, bounds = np.arange(len(points), dtype=np.int32), np.array([0, len(points)])
    thresholds = np.full(2**cuts - 1, np.inf, np.float32)
    for cut in range(cuts):
        parts = len(bounds) - 1
        halve = partial(_halve, along, cut, order, bounds, thresholds[parts - 1 :])
        each_block(halve, spans(parts, parts // 64 + 1), checkpoint)
        bounds = np.sort(np.concatenate([bounds, (bounds[:-1] + bounds[1:]) // 2]))
    return Partition(directions, thresholds, order, bounds)


def _copy(array: NDArray[T], checkpoint: Checkpoint, fill: int | None = None) -> NDArray[T]:
    """A copy, or as large an array filled with a number."""
    copy = np.empty_like(array)

    def work(start: int, stop: int) -> None:
        copy[start:stop] = array[start:stop] if fill is None else fill

    each_block(work, spans(len(array), _BLOCK_VALUES // array.shape[1]), checkpoint, threads=1)
    return copy


def _along(
    points: NDArray[np.float32], directions: NDArray[np.float32], checkpoint: Checkpoint
) -> NDArray[np.float32]:
    """How far each point lies along each direction, shape (directions, n)."""
    along = np.empty((directions.shape[1], len(points)), np.float32)

    def project(start: int, stop: int) -> None:
        np.matmul(directions.T, points[start:stop].T, out=along[:, start:stop])

    each_block(project, spans(len(points), _BLOCK_VALUES // points.shape[1]), checkpoint)
    return along


@njit(nogil=True, cache=True)
def _halve(along, cut, order, bounds, thresholds, first, last):  # type: ignore[no-untyped-def]
    """Bring the lower half of each part before the upper one (Hoare's quickselect)."""
    for place in range(first, last):
        own = order[bounds[place] : bounds[place + 1]]
        if len(own) < 2:
            continue
        keys = along[cut][own]
        middle, low, high = len(own) // 2, 0, len(own) - 1
        while low < high:
            pivot = keys[(low + high) // 2]
            left, right = low, high
            while left <= right:
                while keys[left] < pivot:
                    left += 1
                while keys[right] > pivot:
                    right -= 1
                if left <= right:
                    keys[left], keys[right] = keys[right], keys[left]
                    own[left], own[right] = own[right], own[left]
                    left += 1
                    right -= 1
            if middle <= right:
                high = right
            elif middle >= left:
                low = left
            else:
                break
        thresholds[place] = keys[middle]


@njit(nogil=True, cache=True)
def _descend(along, thresholds, leaves, first, last):  # type: ignore[no-untyped-def]
    """The part into which each point falls."""
    for point in range(first, last):
        place = 0
        for cut in range(len(along)):
            place = 2 * place + (along[cut, point] >= thresholds[(1 << cut) - 1 + place])
        leaves[point] = place


@njit(nogil=True, cache=True, fastmath=True)
def _half_square(one, other):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for place in range(len(one)):
        difference = one[place] - other[place]
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
                distance = _half_square(points[one], points[other])
                _insert(neighbours[one], distances[one], other, distance)
                _insert(neighbours[other], distances[other], one, distance)
    return 0


@njit(nogil=True, cache=True)
def _compare_with_leaf(  # type: ignore[no-untyped-def]
    points, order, bounds, asked, leaves, turn, neighbours, distances, first, last
):
    """Compare each asked point with every point of the part into which it falls."""
    for place in range(first, last):
        one = turn[place]
        for there in range(bounds[leaves[one]], bounds[leaves[one] + 1]):
            other = order[there]
            _insert(neighbours[one], distances[one], other, _half_square(asked[one], points[other]))


def _reversed(neighbours: NDArray[np.int32], checkpoint: Checkpoint) -> NDArray[np.int32]:
    """Points that have a point among their neighbours, at most as many as it has; -1 after the last."""
    found = _copy(neighbours, checkpoint, -1)
    filled = np.zeros(len(neighbours), np.int32)
    for place in range(neighbours.shape[1]):
        reverse = partial(_reverse, neighbours, place, found, filled)
        # In one thread: who comes first is in.
        each_block(reverse, spans(len(neighbours), _BLOCK_VALUES), checkpoint, threads=1)
    return found


@njit(nogil=True, cache=True)
def _reverse(neighbours, place, found, filled, first, last):  # type: ignore[no-untyped-def]
    for point in range(first, last):
        other = neighbours[point, place]
        if other >= 0 and filled[other] < found.shape[1]:
            found[other, filled[other]] = point
            filled[other] += 1


@njit(nogil=True, cache=True)
def _improve(  # type: ignore[no-untyped-def]
    points,
    asked,
    themselves,
    neighbours,
    distances,
    known,
    reverse,
    new_neighbours,
    new_distances,
    first,
    last,
):
    """Try the known neighbours of each asked point's neighbours; returns how many were better.

    The asked points are the points themselves, or others.
    """
    better = 0
    seen = np.full(len(points), -1, np.int32)
    for point in range(first, last):
        if themselves:
            seen[point] = point
        for other in neighbours[point]:
            if other >= 0:
                seen[other] = point
        for side in (neighbours, reverse):
            for through in side[point]:
                if through < 0:
                    break
                for place in range(-1, known.shape[1]):
                    other = through if place < 0 else known[through, place]
                    if other < 0 or seen[other] == point:
                        continue
                    seen[other] = point
                    distance = _half_square(asked[point], points[other])
                    better += _insert(new_neighbours[point], new_distances[point], other, distance)
    return better
