"""UMAP's layout: points that pull at their neighbours and push others away, epoch by epoch.

After McInnes, Healy and Melville (2018), algorithm 5: along each sampled edge a point moves
towards the other end and away from five points drawn at random. Unlike umap-learn's, an epoch
computes every point from where all points were before it. So the points of an epoch can be shared
out among the cores, and the same seed gives the same picture, bit for bit, on any number of them.
Measured against umap-learn in ``benchmarks/layout.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import curve_fit

from explorer.compute.checkpoint import Checkpoint, no_checkpoint, part
from explorer.compute.parallel import CORES, each_block, spans
from explorer.compute.umap_graph import FuzzyGraph, fuzzy_graph
from explorer.core.layout import LayoutSettings

# Fewer points than this have no neighbourhoods to speak of: they stay as PCA put them.
_LEAST_POINTS = 4
_MANY_POINTS = 10_000
_PUSHES = 5
_LEAST_IN_BLOCK = 256
_MOST_IN_BLOCK = 8192
# Knuth's linear congruential generator; its high bits draw the points that push.
_FACTOR = np.uint64(6364136223846793005)
_SUMMAND = np.uint64(1442695040888963407)
# Nine tenths of the points start within this distance of the middle, on each axis.
_START_REACH = 5.0
_START_LIMIT = 15.0
_START_NOISE = 1e-4


def lay_out(
    neighbours: NDArray[np.int32],
    distances: NDArray[np.float32],
    first_twin: NDArray[np.int64],
    start: NDArray[np.float32],
    settings: LayoutSettings,
    *,
    from_pca: bool = True,
    out: NDArray[np.float32] | None = None,
    checkpoint: Checkpoint = no_checkpoint,
) -> NDArray[np.float32]:
    """Lay the rows of a table out on the plane or in space.

    Parameters
    ----------
    neighbours, distances : arrays, shape (rows, k)
        A NeighbourGraph of the distinct rows; -1 in rows that take no part.
    first_twin : int64 array, shape (rows,)
        Rows that repeat an earlier one are laid on it.
    start : float32 array, shape (rows, dimensions)
        NaN for quarantined rows.
    settings : LayoutSettings
    from_pca : bool
        ``start`` is scaled to UMAP's measure first; else it is gone on from as it is.
    out : float32 array, shape (rows, dimensions), optional
        Written to after every epoch, so that the points can be watched while they move.
    checkpoint : Checkpoint

    Returns
    -------
    float32 array, shape (rows, dimensions)
        ``out``. NaN for quarantined rows.

    Raises
    ------
    Cancelled
        From the checkpoint. ``out`` then holds the last whole epoch.
    """
    out = np.empty_like(start) if out is None else out
    out[:] = start
    points = np.flatnonzero(neighbours[:, :1].max(axis=1, initial=-1) >= 0)
    if len(points) < _LEAST_POINTS:
        return out
    place_of = np.full(len(start), -1, np.int64)
    place_of[points] = np.arange(len(points))
    shown = np.flatnonzero(np.isfinite(start[:, 0]) & (place_of[first_twin] >= 0))
    place_of_shown = place_of[first_twin[shown]]

    def show(positions: NDArray[np.float32]) -> None:
        out[shown] = positions[place_of_shown]

    checkpoint(0.0, "Layout")
    near = place_of[neighbours[points]].astype(np.int32)
    graph = fuzzy_graph(near, distances[points], part(checkpoint, 0.0, 0.0, "Layout"))
    begun = _scaled_start(start[points], settings.seed) if from_pca else np.nan_to_num(start[points])
    show(begun)
    epochs = settings.epochs or default_epochs(len(points))
    with ThreadPoolExecutor(CORES, "layout") as pool:
        for positions in _epochs(graph, begun, epochs, settings, pool, checkpoint):
            show(positions)
    return out


def warm_up() -> None:
    """Compile the kernels, or load them from where they were kept."""
    count, k = 16, 3
    neighbours = (np.arange(count)[:, None] + np.arange(1, k + 1)).astype(np.int32) % count
    distances = np.tile(np.arange(1, k + 1, dtype=np.float32), (count, 1))
    start = np.random.default_rng(0).normal(size=(count, 2)).astype(np.float32)
    lay_out(neighbours, distances, np.arange(count), start, LayoutSettings(epochs=1))


def default_epochs(points: int) -> int:
    """As many as umap-learn takes: fewer for large tables."""
    return 500 if points <= _MANY_POINTS else 200


def curve(min_dist: float) -> tuple[float, float]:
    """The a and b of the curve 1 / (1 + a d^2b) by which closeness on the map falls with distance.

    Fitted to what ``min_dist`` asks for: 1 up to that distance, then an exponential fall.
    """
    distance = np.linspace(0.0, 3.0, 300)
    wanted = np.where(distance < min_dist, 1.0, np.exp(min_dist - distance))
    (a, b), _ = curve_fit(lambda d, a, b: 1.0 / (1.0 + a * d ** (2.0 * b)), distance, wanted)
    return float(a), float(b)


def _scaled_start(positions: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """The shape of the first picture at UMAP's measure, no point far out and none upon another."""
    centred = positions - np.median(positions, axis=0)
    reach = float(np.quantile(np.abs(centred), 0.9)) or float(np.abs(centred).max()) or 1.0
    scaled = np.clip(centred * (_START_REACH / reach), -_START_LIMIT, _START_LIMIT)
    noise = np.random.default_rng(abs(seed)).normal(0.0, _START_NOISE, positions.shape)
    return (scaled + noise).astype(np.float32)


def _epochs(
    graph: FuzzyGraph,
    positions: NDArray[np.float32],
    epochs: int,
    settings: LayoutSettings,
    pool: ThreadPoolExecutor,
    checkpoint: Checkpoint,
) -> Iterator[NDArray[np.float32]]:
    """The positions after each epoch; the arrays take turns."""
    a, b = curve(settings.min_dist)
    # An edge too weak to be sampled once is left out.
    strongest = graph.weights.max()
    kept = graph.weights * epochs >= strongest
    starts = np.concatenate([[0], np.cumsum(kept)])[graph.starts]
    ends = graph.ends[kept]
    interval = strongest / graph.weights[kept]
    due = interval.copy()
    before, after = positions, np.empty_like(positions)
    blocks = spans(len(positions), min(_MOST_IN_BLOCK, len(positions) // (4 * CORES) + _LEAST_IN_BLOCK))
    seed = np.uint64(settings.seed % 2**64)
    for epoch in range(epochs):
        forces = np.array([1.0 - epoch / epochs, a, b], np.float32)
        move = partial(_move, before, after, starts, ends, interval, due, epoch, forces, seed)
        stage = f"epoch {epoch + 1} of {epochs}"
        progress = part(checkpoint, epoch / epochs, (epoch + 1) / epochs, stage)
        each_block(move, blocks, progress, pool=pool)
        before, after = after, before
        yield before


@njit(nogil=True, cache=True, fastmath=True)
def _move(before, after, starts, ends, interval, due, epoch, forces, seed, first, last):  # type: ignore[no-untyped-def]
    """Move the points from ``first`` to ``last`` by one epoch, on the plane (z stays 0) or in space."""
    rate, a, b = forces
    count = np.uint64(len(before))
    deep = before.shape[1] > 2
    limit, least = np.float32(4.0), np.float32(1e-12)
    near = np.float32(1e-3)
    pull, push = np.float32(-2.0) * a * b, np.float32(2.0) * b
    zero, one = np.float32(0.0), np.float32(1.0)
    for point in range(first, last):
        x, y = before[point, 0], before[point, 1]
        z = before[point, 2] if deep else zero
        state = _mixed(seed + _mixed(np.uint64(epoch) << np.uint64(32) ^ np.uint64(point)))
        for edge in range(starts[point], starts[point + 1]):
            if due[edge] > epoch:
                continue
            due[edge] += interval[edge]
            other = ends[edge]
            dx, dy = x - before[other, 0], y - before[other, 1]
            dz = z - before[other, 2] if deep else zero
            squared = dx * dx + dy * dy + dz * dz + least
            power = squared**b
            strength = pull * power / (squared * (a * power + one))
            x += rate * min(max(strength * dx, -limit), limit)
            y += rate * min(max(strength * dy, -limit), limit)
            z += rate * min(max(strength * dz, -limit), limit)
            # The pushes are computed from one place and so do not wait for each other.
            away_x, away_y, away_z = zero, zero, zero
            for _ in range(_PUSHES):
                state = state * _FACTOR + _SUMMAND
                drawn = ((state >> np.uint64(32)) * count) >> np.uint64(32)
                dx, dy = x - before[drawn, 0], y - before[drawn, 1]
                dz = z - before[drawn, 2] if deep else zero
                squared = dx * dx + dy * dy + dz * dz
                strength = push / ((near + squared) * (a * squared**b + one))
                away_x += min(max(strength * dx, -limit), limit)
                away_y += min(max(strength * dy, -limit), limit)
                away_z += min(max(strength * dz, -limit), limit)
            x += rate * away_x
            y += rate * away_y
            z += rate * away_z
        after[point, 0] = x
        after[point, 1] = y
        if deep:
            after[point, 2] = z


@njit(nogil=True, cache=True)
def _mixed(bits):  # type: ignore[no-untyped-def]
    """64 bits mixed so that no pattern is left (Steele, Lea and Flood's SplitMix64, 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
