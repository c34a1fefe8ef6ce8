"""Neighbour graphs: the k nearest rows of every row.

Exact, by blocked matrix products on the device, up to the size where that takes some seconds; beyond,
nearly exact, by ``descent``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint, part
from explorer.compute.landmarks import choose_landmarks
from explorer.compute.matrix import Buffers, product, threads_for
from explorer.compute.metric_points import MetricFrame
from explorer.compute.parallel import each_block, spans
from explorer.compute.vectors import Vectors
from explorer.core.errors import ExplorerError
from explorer.core.results import Metric, NeighbourGraph

# Scores of one block: small enough for a processor's cache and for a prompt checkpoint.
_CPU_SCORES = 1 << 22
_GPU_SCORES = 1 << 28
# Rows asked for times rows among which they are sought times dim. Measured: 30,522 × 384 (3.6e11) takes
# 9 seconds of one core exactly and 7 nearly, 91,566 × 384 (3.2e12) 84 and 19.
_MOST_EXACT_WORK = 4e11
# By the product rates of graphics cards, 1,000,000 × 384 (3.8e14) is a matter of half a minute there.
_GPU_GAIN = 2500
# Candidates beyond k that are measured anew, so that rounding in the products changes no neighbour.
_SPARE = 8
_ASKED_AT_ONCE = 1 << 18
_BLOCK_ENTRIES = 1 << 16

Nearest = tuple[NDArray[np.int64] | NDArray[np.int32], NDArray[np.float32]]
"""Places of the nearest points, nearest first, and half the squared distances; both of shape (n, k)."""
Search = Callable[[torch.Tensor, Checkpoint], Nearest]
"""The nearest points of other points."""


def neighbour_graph(
    vectors: Vectors,
    k: int,
    metric: Metric,
    *,
    distinct: bool = False,
    most: int | None = None,
    seed: int = 0,
    checkpoint: Checkpoint = no_checkpoint,
) -> NeighbourGraph:
    """Find the k nearest rows of every healthy row, the row itself left out.

    The products of all rows choose the candidates; distances to these are then taken from the
    differences of the rows, so that twins are at distance 0 and near-twins keep their order. Tables
    of more than some 36,000 rows of 300 dimensions (1,800,000 on a GPU) get most of their nearest
    rows instead of all: nine in ten.

    Parameters
    ----------
    vectors : Vectors
    k : int
        Cut to one less than the rows that take part.
    metric : Metric
        Cosine (distance 1 - cosine) or Euclidean.
    distinct : bool
        Rows that repeat an earlier row take no part.
    most : int, optional
        Where more rows than that take part, the neighbours are sought among so many of them only.
    seed : int
        Draws these.
    checkpoint : Checkpoint

    Returns
    -------
    NeighbourGraph

    Raises
    ------
    ExplorerError
        For the dot product, which is not a distance.
    Cancelled
        From the checkpoint.
    """
    if metric is Metric.DOT:
        raise ExplorerError("A neighbour graph needs a distance.", "Choose cosine or Euclidean.")
    places = participants(vectors, distinct=distinct)
    landmarks = choose_landmarks(places, most, seed) if most is not None else None
    among = places if landmarks is None else landmarks
    k = max(0, min(k, len(among) - 1))
    limit = _MOST_EXACT_WORK * (1 if vectors.on_cpu else _GPU_GAIN)
    exact = len(places) * len(among) * vectors.dim <= limit
    rows = np.full((vectors.rows, k), -1, np.int32)
    distances = np.full((vectors.rows, k), np.inf, np.float32)
    if k > 0:
        frame = MetricFrame.of(vectors, among, metric, checkpoint)
        share = len(among) / len(places)

        def enter(whose: NDArray[np.int64], nearest: Nearest, progress: Checkpoint) -> None:
            def work(start: int, stop: int) -> None:
                rows[whose[start:stop]] = among[nearest[0][start:stop]]
                distances[whose[start:stop]] = frame.distances(nearest[1][start:stop])

            each_block(work, spans(len(whose), _BLOCK_ENTRIES), progress, threads=1)

        find = _nearest if exact else _nearly_nearest
        nearest, search = find(
            frame.points(among, checkpoint),
            k,
            landmarks is not None,
            part(checkpoint, 0.0, share, "Neighbours"),
        )
        enter(among, nearest, part(checkpoint, share, share, "Neighbours"))
        if landmarks is not None:
            rest = np.setdiff1d(places, landmarks, assume_unique=True)
            for start, stop in spans(len(rest), _ASKED_AT_ONCE):
                begun, ended = (share + (1.0 - share) * place / len(rest) for place in (start, stop))
                progress = part(checkpoint, begun, begun, "Neighbours")
                asked = frame.points(rest[start:stop], progress)
                enter(rest[start:stop], search(asked, part(checkpoint, begun, ended, "Neighbours")), progress)
    return NeighbourGraph(rows, distances, metric, exact, landmarks)


def participants(vectors: Vectors, *, distinct: bool) -> NDArray[np.int64]:
    """Healthy rows, or the first of each set of equal ones."""
    taken = vectors.health.healthy
    if distinct:
        taken &= vectors.health.first_twin == np.arange(vectors.rows)
    return np.flatnonzero(taken)


def _nearly_nearest(
    points: torch.Tensor, k: int, searched: bool, checkpoint: Checkpoint
) -> tuple[Nearest, Search]:
    # Compiles its kernels, so that it is imported where it is needed alone.
    from explorer.compute.descent import nearly_nearest, search

    there = points.cpu().numpy()
    found = nearly_nearest(there, k, searched=searched, checkpoint=checkpoint)

    def nearly(asked: torch.Tensor, progress: Checkpoint) -> Nearest:
        return search(there, found, asked.cpu().numpy(), k, checkpoint=progress)

    return (found.rows[:, :k], found.apart[:, :k]), nearly


def _nearest(points: torch.Tensor, k: int, searched: bool, checkpoint: Checkpoint) -> tuple[Nearest, Search]:
    blocks = spans(len(points), _BLOCK_ENTRIES)
    half_squares = torch.cat([0.5 * points[start:stop].square().sum(dim=1) for start, stop in blocks])
    nearest = partial(_exactly_nearest, points, half_squares, k)
    return nearest(None, checkpoint), nearest


def _exactly_nearest(
    points: torch.Tensor,
    half_squares: torch.Tensor,
    k: int,
    asked: torch.Tensor | None,
    checkpoint: Checkpoint,
) -> Nearest:
    """The k nearest points of each asked one, or the k nearest others of each point."""
    count = len(points)
    theirs = points if asked is None else asked
    candidates = min(k + _SPARE, count - (asked is None))
    scores = _CPU_SCORES if points.device.type == "cpu" else _GPU_SCORES
    step = max(16, scores // count)
    buffers = Buffers(step * count, points.device)
    found = torch.empty((len(theirs), k), dtype=torch.int64, device=points.device)
    apart = torch.empty((len(theirs), k), device=points.device)

    def work(start: int, stop: int) -> None:
        # x·y - |y|²/2 falls as the distance of x to y grows.
        closeness = product(theirs[start:stop], points, buffers.get(stop - start, count)).sub_(half_squares)
        if asked is None:
            own = torch.arange(start, stop, device=points.device)
            closeness[own - start, own] = -torch.inf
        near = torch.topk(closeness, candidates, dim=1, sorted=False).indices.sort(dim=1).values
        difference = points[near] - theirs[start:stop, None]
        half = 0.5 * torch.linalg.vector_norm(difference, dim=2) ** 2
        half, order = half.sort(dim=1, stable=True)
        found[start:stop] = near.gather(1, order[:, :k])
        apart[start:stop] = half[:, :k]

    blocks = spans(len(theirs), step)
    each_block(work, blocks, checkpoint, "Neighbours", threads=threads_for(points.device))
    return found.cpu().numpy(), apart.cpu().numpy()
