"""UMAP's layout: points that pull at their neighbours and push others away, epoch by epoch.

After McInnes, Healy and Melville (2018), algorithm 5: along each sampled edge a point moves
towards the other end and away from five points drawn at random. Unlike umap-learn's, an epoch
computes every point from where all points were before it. So the points of an epoch can be shared
out among the cores, and the same seed gives the same picture, bit for bit, on any number of them.
Measured against umap-learn in ``benchmarks/layout.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from importlib import import_module

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.compute.cast import Cast
from explorer.compute.checkpoint import Checkpoint, between, no_checkpoint, part
from explorer.compute.costs import (
    FUZZY_GRAPH,
    GROUP_EPOCHS,
    GROUPING,
    GROUPS,
    MOST_WITHOUT_GROUPS,
    default_epochs,
)
from explorer.compute.parallel import CORES, each_block, spans
from explorer.compute.placing import place_among
from explorer.compute.umap_forces import Forces, cell
from explorer.compute.umap_graph import FuzzyGraph, fuzzy_graph
from explorer.compute.umap_groups import group
from explorer.core.layout import LayoutSettings

# Fewer points than this have no neighbourhoods to speak of: they stay as PCA put them.
_LEAST_POINTS = 4
PUSHES = 5
_LEAST_IN_BLOCK = 256
_WAIT_SECONDS = 0.05
# More rows than this are not put on the map after every epoch.
_SHOWN_EACH_EPOCH = 2_000_000
# How long placing as many rows as are laid out takes in epochs, as measured.
_PLACING_EPOCHS = 10.0
# Points that start where their groups lie have but a little way to go: longer steps would throw them out.
_LATE_RATE = 0.1
# So many epochs of the groups pass between two pictures of all their points.
_GROUPS_SHOWN_EACH = 10
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
    landmarks: NDArray[np.int64] | None = None,
    from_pca: bool = True,
    device: str = "cpu",
    out: NDArray[np.float32] | None = None,
    begin: Callable[[], None] = lambda: None,
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
    landmarks : int64 array, shape (n,), ascending, optional
        The graph's, where it has them: they are laid out, and other rows placed by the nearest of them.
    from_pca : bool
        ``start`` is scaled to UMAP's measure first; else it is gone on from as it is.
    device : str
        Where the epochs are computed: ``"cpu"``, or another device of torch's.
    out : float32 array, shape (rows, dimensions), optional
        Written to after every epoch (every few, where the rows are millions), so that the points can
        be watched while they move.
    begin : function
        Called when the points begin to move.
    checkpoint : Checkpoint

    Returns
    -------
    float32 array, shape (rows, dimensions)
        ``out``. NaN for quarantined rows.

    Raises
    ------
    Cancelled
        From the checkpoint. ``out`` then holds the last picture.
    """
    out = np.empty_like(start) if out is None else out
    out[:] = start
    prelude = part(checkpoint, 0.0, 0.0, "Layout")
    cast = Cast.of(neighbours, first_twin, start, landmarks, prelude)
    count = len(cast.points)
    if count < _LEAST_POINTS:
        return out
    epochs = settings.epochs or default_epochs(count)
    grouped = from_pca and count > MOST_WITHOUT_GROUPS
    before = GROUPING + GROUPS if grouped else 0.0
    work = FUZZY_GRAPH + before + epochs + _PLACING_EPOCHS * len(cast.rest) / count
    built, begun = FUZZY_GRAPH / work, (FUZZY_GRAPH + before) / work
    ended = begun + epochs / work
    # An edge too weak to be sampled once is left out.
    graph = fuzzy_graph(
        *cast.graph(neighbours, distances, prelude), 1.0 / epochs, part(checkpoint, 0.0, built, "Layout")
    )
    positions = start[cast.points]
    positions = _scaled_start(positions, settings.seed) if from_pca else np.nan_to_num(positions)
    cast.show(positions, out)
    begin()
    move = _epochs if device == "cpu" else _epochs_on(device, part(checkpoint, built, built, "Layout"))
    rate = 1.0
    if grouped:
        show, approach = partial(cast.show, out=out), between(checkpoint, built, begun)
        positions, rate = _from_groups(graph, positions, settings, move, show, approach), _LATE_RATE
    every = 1 + len(start) // _SHOWN_EACH_EPOCH
    moving = move(graph, positions, epochs, settings, between(checkpoint, begun, ended), rate)
    for epoch, positions in enumerate(moving, 1):
        if epoch % every == 0 or epoch == epochs:
            cast.show(positions, out)
    if len(cast.rest):
        placing = part(checkpoint, ended, 1.0, "Layout")
        cast.show_rest(place_among(positions, neighbours, cast.rest, cast.place_of, placing), out)
    return out


def warm_up() -> None:
    """Compile the kernels, or load them from where they were kept."""
    count, k = 16, 3
    neighbours = (np.arange(count)[:, None] + np.arange(1, k + 1)).astype(np.int32) % count
    distances = np.tile(np.arange(1, k + 1, dtype=np.float32), (count, 1))
    start = np.random.default_rng(0).normal(size=(count, 2)).astype(np.float32)
    lay_out(neighbours, distances, np.arange(count), start, LayoutSettings(epochs=1))
    group(fuzzy_graph(neighbours, distances), 0, 0.0)


def _scaled_start(positions: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """The shape of the first picture at UMAP's measure, no point far out and none upon another."""
    centred = positions - np.median(positions, axis=0)
    reach = float(np.quantile(np.abs(centred), 0.9)) or float(np.abs(centred).max()) or 1.0
    scaled = np.clip(centred * (_START_REACH / reach), -_START_LIMIT, _START_LIMIT)
    noise = np.random.default_rng(abs(seed)).normal(0.0, _START_NOISE, positions.shape)
    return (scaled + noise).astype(np.float32)


def _from_groups(
    graph: FuzzyGraph,
    positions: NDArray[np.float32],
    settings: LayoutSettings,
    move: Callable[..., Iterator[NDArray[np.float32]]],
    show: Callable[[NDArray[np.float32]], None],
    checkpoint: Checkpoint,
) -> NDArray[np.float32]:
    """Lay groups of neighbouring points out, and start the points where these lie."""
    seed, laid = settings.seed, GROUPING / (GROUPING + GROUPS)
    groups = group(graph, seed, 1.0 / GROUP_EPOCHS, part(checkpoint, 0.0, laid, "groups"))
    middles = _scaled_start(groups.middles(positions), seed)

    def report(fraction: float, stage: str = "") -> None:
        checkpoint(laid + (1.0 - laid) * fraction, f"groups, {stage}")

    moving = move(groups.graph, middles, GROUP_EPOCHS, settings, report)
    for epoch, middles in enumerate(moving, 1):
        if epoch % _GROUPS_SHOWN_EACH == 0:
            show(groups.strewn(middles, seed))
    return groups.strewn(middles, seed)


def _epochs_on(device: str, checkpoint: Checkpoint) -> Callable[..., Iterator[NDArray[np.float32]]]:
    """The layout worker has no torch before a graphics card calls for it; the import can take seconds."""
    pool = ThreadPoolExecutor(1, "import")
    imported = pool.submit(import_module, "explorer.compute.umap_device")
    pool.shutdown(wait=False)
    while wait([imported], _WAIT_SECONDS).not_done:
        checkpoint(0.0)
    return partial(imported.result().epochs_on, device)


def _epochs(
    graph: FuzzyGraph,
    positions: NDArray[np.float32],
    epochs: int,
    settings: LayoutSettings,
    checkpoint: Checkpoint,
    first_rate: float = 1.0,
) -> Iterator[NDArray[np.float32]]:
    """The positions after each epoch; the arrays take turns. Steps grow smaller from ``first_rate`` on."""
    forces = Forces.of(settings.min_dist)
    interval = 1.0 / graph.weights
    due = interval.copy()
    before, after = positions, np.empty_like(positions)
    blocks = spans(len(positions), min(_MOST_IN_BLOCK, len(positions) // (4 * CORES) + _LEAST_IN_BLOCK))
    seed = np.uint64(settings.seed % 2**64)
    with ThreadPoolExecutor(CORES, "layout") as pool:
        for epoch in range(epochs):
            rate = np.float32(first_rate * (1.0 - epoch / epochs))
            edges = graph.starts, graph.ends, interval, due
            move = partial(_move, before, after, *edges, epoch, rate, forces.pulls, forces.pushes, seed)
            stage = f"epoch {epoch + 1} of {epochs}"
            each_block(move, blocks, part(checkpoint, epoch / epochs, (epoch + 1) / epochs, stage), pool=pool)
            before, after = after, before
            yield before


@njit(nogil=True, cache=True, fastmath=True)
def _move(before, after, starts, ends, interval, due, epoch, rate, pulls, pushes, seed, first, last):  # type: ignore[no-untyped-def]
    """Move the points from ``first`` to ``last`` by one epoch, on the plane (z stays 0) or in space."""
    count = np.uint64(len(before))
    deep = before.shape[1] > 2
    limit, zero = np.float32(4.0), np.float32(0.0)
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
            squared = dx * dx + dy * dy + dz * dz
            strength = pulls[cell(squared)]
            x += rate * min(max(strength * dx, -limit), limit)
            y += rate * min(max(strength * dy, -limit), limit)
            z += rate * min(max(strength * dz, -limit), limit)
            # The pushes are computed from one place and so do not wait for each other.
            away_x, away_y, away_z = zero, zero, zero
            for _ in range(PUSHES):
                state = state * _FACTOR + _SUMMAND
                drawn = ((state >> np.uint64(32)) * count) >> np.uint64(32)
                dx, dy = x - before[drawn, 0], y - before[drawn, 1]
                dz = z - before[drawn, 2] if deep else zero
                squared = dx * dx + dy * dy + dz * dz
                strength = pushes[cell(squared)]
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
