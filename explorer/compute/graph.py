"""Neighbour graphs: the k nearest rows of every row.

Exact, by blocked matrix products on the device, up to the size where that takes some seconds; beyond,
nearly exact, by ``descent``.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.matrix import Buffers, product, threads_for
from explorer.compute.parallel import each_block, spans
from explorer.compute.vectors import Vectors, power_of_two
from explorer.core.errors import ExplorerError
from explorer.core.results import Metric, NeighbourGraph

# Scores of one block: small enough for a processor's cache and for a prompt checkpoint.
_CPU_SCORES = 1 << 22
_GPU_SCORES = 1 << 28
# Rows squared times dim. Measured: 30,522 × 384 (3.6e11) takes 9 seconds of one core exactly and 7 nearly,
# 91,566 × 384 (3.2e12) 84 and 19.
_MOST_EXACT_WORK = 4e11
_GPU_GAIN = 100
# Candidates beyond k that are measured anew, so that rounding in the products changes no neighbour.
_SPARE = 8


def neighbour_graph(
    vectors: Vectors,
    k: int,
    metric: Metric,
    *,
    distinct: bool = False,
    checkpoint: Checkpoint = no_checkpoint,
) -> NeighbourGraph:
    """Find the k nearest rows of every healthy row, the row itself left out.

    The products of all rows choose the candidates; distances to these are then taken from the
    differences of the rows, so that twins are at distance 0 and near-twins keep their order. Tables
    of more than some 36,000 rows of 300 dimensions (360,000 on a GPU) get most of their nearest
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
    k = max(0, min(k, len(places) - 1))
    exact = True
    rows = np.full((vectors.rows, k), -1, np.int32)
    distances = np.full((vectors.rows, k), np.inf, np.float32)
    if k > 0:
        points, unit = metric_points(vectors, places, metric)
        exact = len(places) ** 2 * vectors.dim <= _MOST_EXACT_WORK * (1 if vectors.on_cpu else _GPU_GAIN)
        find = _nearest if exact else _nearly_nearest
        found, apart = find(points, k, checkpoint)
        rows[places] = places[found]
        distances[places] = apart if metric is Metric.COSINE else np.sqrt(2 * apart) * np.float32(unit)
    return NeighbourGraph(rows, distances, metric, exact)


def participants(vectors: Vectors, *, distinct: bool) -> NDArray[np.int64]:
    """Healthy rows, or the first of each set of equal ones."""
    taken = vectors.health.healthy
    if distinct:
        taken &= vectors.health.first_twin == np.arange(vectors.rows)
    return np.flatnonzero(taken)


def metric_points(vectors: Vectors, places: NDArray[np.int64], metric: Metric) -> tuple[torch.Tensor, float]:
    """The rows as points of which half the squared distance orders the neighbours, and their unit.

    For cosine that is the row scaled to unit length: half its squared distance is 1 - cosine. For
    Euclidean distance the points are centred, which takes away what all rows have in common and
    products would lose digits to, and measured in units in which none overflows.
    """
    points = torch.empty((len(places), vectors.dim), device=vectors.device)
    for start, stop in spans(len(places), max(1, _CPU_SCORES // vectors.dim)):
        points[start:stop] = vectors.take(places[start:stop])
    if metric is Metric.COSINE:
        points /= points.abs().amax(dim=1, keepdim=True)
        points /= torch.linalg.vector_norm(points, dim=1, keepdim=True)
        return points, 1.0
    unit = power_of_two(float(points.abs().amax()))
    points /= unit
    points -= points.mean(dim=0)
    return points, unit


def _nearly_nearest(
    points: torch.Tensor, k: int, checkpoint: Checkpoint
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    # Compiles its kernels, so that it is imported where it is needed alone.
    from explorer.compute.descent import nearly_nearest

    found, apart = nearly_nearest(points.cpu().numpy(), k, checkpoint=checkpoint)
    return found.astype(np.int64), apart


def _nearest(
    points: torch.Tensor, k: int, checkpoint: Checkpoint
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k nearest other points of each, nearest first, and half the squared distance to them."""
    count = len(points)
    candidates = min(k + _SPARE, count - 1)
    half_squares = 0.5 * points.square().sum(dim=1)
    scores = _CPU_SCORES if points.device.type == "cpu" else _GPU_SCORES
    step = max(16, scores // count)
    buffers = Buffers(step * count, points.device)
    found = torch.empty((count, k), dtype=torch.int64, device=points.device)
    apart = torch.empty((count, k), device=points.device)

    def work(start: int, stop: int) -> None:
        own = torch.arange(start, stop, device=points.device)
        # x·y - |y|²/2 falls as the distance of x to y grows.
        closeness = product(points[start:stop], points, buffers.get(stop - start, count)).sub_(half_squares)
        closeness[own - start, own] = -torch.inf
        near = torch.topk(closeness, candidates, dim=1, sorted=False).indices.sort(dim=1).values
        difference = points[near] - points[start:stop, None]
        half = 0.5 * torch.linalg.vector_norm(difference, dim=2) ** 2
        half, order = half.sort(dim=1, stable=True)
        found[start:stop] = near.gather(1, order[:, :k])
        apart[start:stop] = half[:, :k]

    each_block(work, spans(count, step), checkpoint, "Neighbours", threads=threads_for(points.device))
    return found.cpu().numpy(), apart.cpu().numpy()
