"""How far a map can be trusted: are a row's neighbours on the map its neighbours in the table?

Trustworthiness and continuity after Venna and Kaski, "Neighborhood preservation in nonlinear
projection methods" (2001), over a sample of rows, each ranked against all others.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint, part
from explorer.compute.matrix import threads_for
from explorer.compute.metric_points import metric_points
from explorer.compute.parallel import map_blocks, spans
from explorer.compute.vectors import Vectors
from explorer.core.errors import ExplorerError
from explorer.core.results import Metric, Trust

# Rows measured times rows in the table.
_MOST_RANKED = 120_000_000
_LEAST_SAMPLE = 400
# Of more rows than this evenly spaced ones stand for all: as points they take as much memory again.
_MOST_AMONG = 1_000_000
_BLOCK_RANKED = 1 << 20
# The table is read anew for every block.
_LEAST_IN_BLOCK = 2


def measure_trust(
    vectors: Vectors,
    xy: NDArray[np.float32],
    k: int = 15,
    *,
    metric: Metric = Metric.COSINE,
    checkpoint: Checkpoint = no_checkpoint,
) -> Trust:
    """Compare neighbours on a map with neighbours in the table.

    Parameters
    ----------
    vectors : Vectors
    xy : float32 array, shape (rows, 2) or (rows, 3)
        Rows without a place (NaN) take no part.
    k : int
        Cut to what the measure is defined for: under half the rows.
    metric : Metric
        Cosine or Euclidean, for the table's side.
    checkpoint : Checkpoint

    Returns
    -------
    Trust
        Over all rows where they are some 11,000 or fewer, over an evenly spaced sample beyond, ranked
        against all others, or a million of them.

    Raises
    ------
    ExplorerError
        The map is of another table, or has fewer than 3 rows on it.
    Cancelled
        From the checkpoint.
    """
    if xy.ndim != 2 or len(xy) != vectors.rows:
        raise ExplorerError("This map belongs to another table.")
    places = np.flatnonzero(vectors.health.healthy & np.isfinite(xy).all(axis=1))
    places = places[:: max(1, -(-len(places) // _MOST_AMONG))]
    count = len(places)
    k = min(k, (count - 1) // 2)
    if k < 1:
        raise ExplorerError("A map of fewer than 3 rows has no neighbourhoods to measure.")
    sample = int(min(count, max(_LEAST_SAMPLE, _MOST_RANKED // count)))
    chosen = np.linspace(0, count - 1, sample).astype(np.int64)
    device = vectors.device
    points = metric_points(vectors, places, metric, part(checkpoint, 0.0, 0.0, "Layout trust"))
    half_squares = torch.empty(count, device=device)
    for start, stop in spans(count, _BLOCK_RANKED // vectors.dim + 1):
        half_squares[start:stop] = 0.5 * points[start:stop].square().sum(dim=1)
    flat = torch.from_numpy(np.ascontiguousarray(xy[places].T, np.float32)).to(device)
    flat /= flat.abs().amax().clamp(min=1e-30)

    def work(start: int, stop: int) -> tuple[float, float, NDArray[np.float32]]:
        rows = torch.from_numpy(chosen[start:stop]).to(device)
        own = torch.arange(stop - start, device=device), rows
        in_table = half_squares - points[rows] @ points.T
        on_map = torch.zeros_like(in_table)
        for axis in flat:
            on_map += (axis[rows, None] - axis).square_()
        in_table[own] = on_map[own] = torch.inf
        table_near = torch.topk(in_table, k, dim=1, largest=False).indices
        map_near = torch.topk(on_map, k, dim=1, largest=False).indices
        table_ranks = _ranks(in_table, in_table.gather(1, map_near))
        map_ranks = _ranks(on_map, on_map.gather(1, table_near))
        strangers, lost = np.maximum(table_ranks + 1 - k, 0), np.maximum(map_ranks + 1 - k, 0)
        return float(strangers.sum()), float(lost.sum()), (lost == 0).mean(axis=1)

    blocks = spans(sample, max(_LEAST_IN_BLOCK, _BLOCK_RANKED // count))
    parts = list(map_blocks(work, blocks, checkpoint, "Layout trust", threads=threads_for(device)))
    worst = sample * k * (2 * count - 3 * k - 1) / 2
    per_row = np.full(vectors.rows, np.nan, np.float32)
    per_row[places[chosen]] = np.concatenate([kept for _, _, kept in parts])
    return Trust(
        trustworthiness=1.0 - sum(strangers for strangers, _, _ in parts) / worst,
        continuity=1.0 - sum(lost for _, lost, _ in parts) / worst,
        sample=sample,
        per_row=per_row,
        k=k,
    )


def _ranks(distances: torch.Tensor, asked: torch.Tensor) -> NDArray[np.int64]:
    """How many distances of its row are smaller than each asked one (equal ones are not)."""
    if distances.device.type != "cpu":
        return torch.searchsorted(distances.sort(dim=1).values, asked).cpu().numpy()
    ordered = np.sort(distances.numpy(), axis=1)
    return np.stack(
        [np.searchsorted(row, values) for row, values in zip(ordered, asked.numpy(), strict=True)]
    )
