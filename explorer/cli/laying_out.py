"""From a table to positions on the plane, in this process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.cli.opening import health_of
from explorer.cli.options import Options
from explorer.compute.device import choose_device
from explorer.compute.graph import neighbour_graph
from explorer.compute.projection import positions_of
from explorer.compute.vectors import Vectors
from explorer.core.health import Health
from explorer.core.layout import LayoutSettings
from explorer.core.results import Clusters
from explorer.core.table import EmbeddingTable


@dataclass(frozen=True, eq=False)
class LaidOut:
    """A table's positions, and what colours them.

    Attributes
    ----------
    xy : float32 array, shape (rows, 2)
        NaN for quarantined rows.
    health : Health
    clusters : Clusters or None
    """

    xy: NDArray[np.float32]
    health: Health
    clusters: Clusters | None


def lay_out(table: EmbeddingTable, settings: LayoutSettings, options: Options) -> LaidOut:
    """Lay a table out as the window does: PCA, and UMAP from there; 2-D vectors as they are.

    Raises
    ------
    ExplorerError
    """
    values = table.read()
    health = health_of(table, values)
    vectors = Vectors(
        values, health, choose_device(options.device), table.dim**0.5 if options.scaled else 1.0
    )
    xy = positions_of(vectors)
    if settings.method == "umap" and table.dim > 2:
        # numba takes a second to import: not for a first picture.
        from explorer.compute.umap_layout import lay_out as umap

        graph = neighbour_graph(vectors, settings.neighbours - 1, settings.metric, distinct=True)
        xy = umap(graph.rows, graph.distances, health.first_twin, xy, settings)
    return LaidOut(xy, health, None)
