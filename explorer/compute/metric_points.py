"""Rows as points of which half the squared distance orders the neighbours, by any metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint, part
from explorer.compute.matrix import threads_for
from explorer.compute.parallel import each_block, map_blocks, spans
from explorer.compute.vectors import Vectors, power_of_two
from explorer.core.results import Metric

_BLOCK_VALUES = 1 << 21


@dataclass(frozen=True, eq=False)
class MetricFrame:
    """How a table's rows become points.

    For cosine a point is the row scaled to unit length: half its squared distance is 1 - cosine. For
    Euclidean distance points are centred, which takes away what all rows have in common and products
    would lose digits to, and measured in units in which none overflows.

    Attributes
    ----------
    vectors : Vectors
    metric : Metric
        Cosine or Euclidean.
    unit : float
        A Euclidean distance between points, in the table's measure.
    mean : tensor, shape (dim,)
        Taken off for Euclidean distance, in the points' unit.
    """

    vectors: Vectors
    metric: Metric
    unit: float
    mean: torch.Tensor

    @classmethod
    def of(
        cls,
        vectors: Vectors,
        places: NDArray[np.int64],
        metric: Metric,
        checkpoint: Checkpoint = no_checkpoint,
    ) -> MetricFrame:
        """The frame of some healthy rows."""
        mean = torch.zeros(vectors.dim, device=vectors.device)
        if metric is Metric.COSINE or not len(places):
            return cls(vectors, metric, 1.0, mean)
        unit = power_of_two(float(vectors.norms[places].max()))

        def total(start: int, stop: int) -> NDArray[np.float64]:
            rows = vectors.take(places[start:stop]) / unit
            return rows.sum(dim=0).cpu().numpy().astype(np.float64)

        totals = list(_over(total, vectors, len(places), part(checkpoint, 0.0, 0.0, "Neighbours")))
        mean += torch.from_numpy((np.sum(totals, axis=0) / len(places)).astype(np.float32)).to(mean.device)
        return cls(vectors, metric, unit, mean)

    def points(self, places: NDArray[np.int64], checkpoint: Checkpoint = no_checkpoint) -> torch.Tensor:
        """Some healthy rows as points, float32, shape (len(places), dim), on the table's device."""
        points = torch.empty((len(places), self.vectors.dim), device=self.vectors.device)

        def fill(start: int, stop: int) -> None:
            rows = self.vectors.take(places[start:stop])
            if self.metric is Metric.COSINE:
                rows = rows / rows.abs().amax(dim=1, keepdim=True)
                rows /= torch.linalg.vector_norm(rows, dim=1, keepdim=True)
            else:
                rows = rows / self.unit - self.mean
            points[start:stop] = rows

        blocks = spans(len(places), max(1, _BLOCK_VALUES // self.vectors.dim))
        progress = part(checkpoint, 0.0, 0.0, "Neighbours")
        each_block(fill, blocks, progress, threads=threads_for(self.vectors.device))
        return points

    def distances(self, half_squares: NDArray[np.float32]) -> NDArray[np.float32]:
        """Half the squared distances of points as distances of rows."""
        if self.metric is Metric.COSINE:
            return half_squares
        return np.sqrt(2 * half_squares) * np.float32(self.unit)


def metric_points(
    vectors: Vectors, places: NDArray[np.int64], metric: Metric, checkpoint: Checkpoint = no_checkpoint
) -> torch.Tensor:
    """Some healthy rows as points of which half the squared distance orders the neighbours."""
    return MetricFrame.of(vectors, places, metric, checkpoint).points(places, checkpoint)


def _over(
    work: Callable[[int, int], NDArray[np.float64]], vectors: Vectors, count: int, checkpoint: Checkpoint
) -> list[NDArray[np.float64]]:
    blocks = spans(count, max(1, _BLOCK_VALUES // vectors.dim))
    return list(map_blocks(work, blocks, checkpoint, threads=threads_for(vectors.device)))
