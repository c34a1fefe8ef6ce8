"""From a table to positions on the plane, in this process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.cli.opening import health_of
from explorer.cli.options import Options
from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.clusters import find_clusters
from explorer.compute.device import choose_device
from explorer.compute.graph import neighbour_graph
from explorer.compute.landmarks import most_in_memory
from explorer.compute.projection import positions_of
from explorer.compute.trust import measure_trust
from explorer.compute.vectors import Vectors
from explorer.core.health import Health
from explorer.core.layout import LayoutSettings
from explorer.core.results import Clusters, Trust
from explorer.core.table import EmbeddingTable

_LEAST_FOR_TRUST = 4


@dataclass(frozen=True, eq=False)
class LaidOut:
    """A table's positions, and what a picture says of them.

    Attributes
    ----------
    xy : float32 array, shape (rows, 2)
        NaN for quarantined rows.
    health : Health
    clusters : Clusters or None
    trust : Trust or None
    """

    xy: NDArray[np.float32]
    health: Health
    clusters: Clusters | None = None
    trust: Trust | None = None


def lay_out(
    table: EmbeddingTable,
    settings: LayoutSettings,
    options: Options,
    *,
    for_picture: bool,
    checkpoint: Checkpoint = no_checkpoint,
) -> LaidOut:
    """Lay a table out as the window does: PCA, and UMAP from there; 2-D vectors as they are.

    Parameters
    ----------
    table : EmbeddingTable
    settings : LayoutSettings
    options : Options
    for_picture : bool
        Clusters and trust are wanted, too.
    checkpoint : Checkpoint

    Raises
    ------
    ExplorerError
    """
    checkpoint(-1.0, "Reading")
    values = table.read()
    health = health_of(table, values)
    scale = table.dim**0.5 if options.scaled else 1.0
    vectors = Vectors(values, health, choose_device(options.device), scale)
    xy = positions_of(vectors, settings.dimensions, checkpoint=checkpoint)
    if settings.method == "umap" and table.dim > settings.dimensions:
        # numba takes a second to import: not for a first picture.
        from explorer.compute.umap_layout import lay_out as umap

        graph = neighbour_graph(
            vectors,
            settings.neighbours - 1,
            settings.metric,
            distinct=True,
            most=min(settings.most_rows, most_in_memory(vectors)),
            seed=settings.seed,
            checkpoint=checkpoint,
        )
        found, twins = (graph.rows, graph.distances), health.first_twin
        xy = umap(*found, twins, xy, settings, landmarks=graph.landmarks, checkpoint=checkpoint)
    if not for_picture:
        return LaidOut(xy, health)
    enough = np.count_nonzero(health.healthy) >= _LEAST_FOR_TRUST
    return LaidOut(
        xy,
        health,
        find_clusters(vectors, labels=table.labels, checkpoint=checkpoint),
        measure_trust(vectors, xy, checkpoint=checkpoint) if enough else None,
    )
