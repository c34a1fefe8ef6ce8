"""How alike pairs of rows are: what learning has made of vectors that were all equally far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.histogram import histogram
from explorer.compute.parallel import map_blocks, spans
from explorer.compute.vectors import Vectors
from explorer.core.errors import ExplorerError
from explorer.core.results import Metric, PairHistogram

_SAMPLE_ROWS = 2000
_BLOCK_ROWS = 250
_BINS = 100


def pair_histogram(
    vectors: Vectors, metric: Metric, *, seed: int = 0, checkpoint: Checkpoint = no_checkpoint
) -> PairHistogram:
    """Count how alike pairs of different healthy rows are.

    Parameters
    ----------
    vectors : Vectors
    metric : Metric
    seed : int
        Draws 2,000 rows of a larger table; all their pairs are counted.
    checkpoint : Checkpoint

    Returns
    -------
    PairHistogram
        Cosines in bins from -1 to 1; other metrics in bins over the values found.

    Raises
    ------
    ExplorerError
        Fewer than two healthy rows.
    Cancelled
        From the checkpoint.
    """
    places = np.flatnonzero(vectors.health.healthy)
    if len(places) < 2:
        raise ExplorerError("A table of fewer than two healthy rows has no pairs to compare.")
    if len(places) > _SAMPLE_ROWS:
        places = np.sort(np.random.default_rng(seed).choice(places, _SAMPLE_ROWS, replace=False))
    rows = vectors.fetch(places).astype(np.float64)
    if metric is Metric.COSINE:
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    elif metric is Metric.EUCLIDEAN:
        rows -= rows.mean(axis=0)
    squares = np.square(rows).sum(axis=1)

    def work(start: int, stop: int) -> NDArray[np.float64]:
        found = rows[start:stop] @ rows[start:].T
        if metric is Metric.EUCLIDEAN:
            found = np.sqrt(np.maximum(squares[start:stop, None] + squares[start:] - 2 * found, 0.0))
        return found[np.triu_indices(stop - start, 1, len(rows) - start)]

    values = np.concatenate(list(map_blocks(work, spans(len(rows), _BLOCK_ROWS), checkpoint, "Pairs")))
    if metric is Metric.COSINE:
        values = np.clip(values, -1.0, 1.0)
    counts, edges = histogram(values, _BINS, (-1.0, 1.0) if metric is Metric.COSINE else None)
    return PairHistogram(
        counts=counts,
        edges=edges,
        mean=float(values.mean()),
        std=float(values.std()),
        pairs=len(values),
        metric=metric,
    )
