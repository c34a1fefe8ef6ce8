"""What it takes to lay a table out: first picture, neighbour graph, layout; and what has been found of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.compute import protocol
from explorer.compute.costs import layout_costs
from explorer.compute.protocol import BuildGraph
from explorer.core.errors import ExplorerError
from explorer.core.layout import LayoutSettings
from explorer.core.listing import LoadedTable
from explorer.core.results import Metric, NeighbourGraph
from explorer.jobs.steps import Step, Steps

# So many rows can be laid out on any machine.
_SURELY_FIT = 200_000
# Fewer are laid out by the processor before a graphics card has been got going.
_LEAST_ON_CARD = 100_000
_MAP_NEIGHBOURS = 14


class LayoutSteps:
    """The steps of jobs on layouts. Graphs and first pictures are kept, and asked for once.

    Parameters
    ----------
    number : callable
        Gives a new request's number.
    tables : mapping
        The loaded tables, by key.
    """

    def __init__(self, number: Callable[[], int], tables: Mapping[int, LoadedTable]) -> None:
        self._number = number
        self._tables = tables
        self._graphs: dict[BuildGraph, NeighbourGraph] = {}
        self._projections: dict[tuple[int, int, bool], NDArray[np.float32]] = {}

    def forget(self, key: int) -> None:
        """Let go of what was found of a table."""
        self._graphs = {asked: graph for asked, graph in self._graphs.items() if asked.key != key}
        self._projections = {asked: found for asked, found in self._projections.items() if asked[0] != key}

    def projection(self, key: int, dimensions: int, centred: bool, end: float = 1.0) -> Steps:
        """Ends with positions by PCA."""
        asked = (key, dimensions, centred)
        if asked not in self._projections:
            self._projections[asked] = yield Step(protocol.Project(self._number(), *asked), end=end)
        return self._projections[asked]

    def graph(self, asked: BuildGraph, start: float = 0.0, end: float = 1.0) -> Steps:
        """Ends with a NeighbourGraph; the number of what is asked does not matter."""
        asked = replace(asked, id=0)
        if asked not in self._graphs:
            self._graphs[asked] = yield Step(replace(asked, id=self._number()), start, end)
        return self._graphs[asked]

    def agreement(self, key: int, xy: NDArray[np.float32]) -> Steps:
        """Ends with each row's share of neighbours kept, by any graph that is there already."""
        health = self._tables[key].health
        distinct, found = health.counts.duplicates > 0, 0.0
        for asked, graph in self._graphs.items():
            same = (asked.key, asked.distinct, asked.centred) == (key, distinct, False)
            if same and graph.landmarks is None:
                break
        else:
            found = 0.8
            asked = BuildGraph(0, key, _MAP_NEIGHBOURS, Metric.COSINE, distinct)
            graph = yield from self.graph(asked, end=found)
        request = protocol.CompareNeighbours(self._number(), key, graph.rows, xy, health.first_twin)
        return (yield Step(request, start=found))

    def umap(self, key: int, settings: LayoutSettings, start: NDArray[np.float32] | None) -> Steps:
        """Ends with a Layout."""
        if settings.metric is Metric.DOT:
            raise ExplorerError("UMAP needs a distance.", "Choose cosine or Euclidean for the layout.")
        if key not in self._tables:
            raise ExplorerError("This table is no longer loaded.", "Open its file again.")
        if start is not None and start.shape[1] != settings.dimensions:
            raise ExplorerError(
                f"A layout in {settings.dimensions}-D can't go on from one in {start.shape[1]}-D."
            )
        table = self._tables[key]
        health, device = table.health, table.device.partition(":")[0]
        taking_part = int(health.healthy.sum()) - health.counts.duplicates
        asked = BuildGraph(
            0,
            key,
            settings.neighbours - 1,
            settings.metric,
            distinct=health.counts.duplicates > 0,
            # Memory may be there for fewer.
            most=settings.most_rows if taking_part > min(settings.most_rows, _SURELY_FIT) else None,
            seed=settings.seed if taking_part > settings.most_rows else 0,
            centred=settings.centred,
        )
        costs = layout_costs(taking_part, table.listing.dim, settings, on_cpu=device == "cpu")
        shape = settings.dimensions, settings.centred
        first = 0.0 if (key, *shape) in self._projections else costs.projection
        second = 0.0 if asked in self._graphs else costs.graph
        whole = first + second + costs.layout
        begun, found = first / whole, (first + second) / whole
        projected = yield from self.projection(key, *shape, begun)
        graph = yield from self.graph(asked, begun, found)
        request = protocol.LayOut(
            self._number(),
            key=key,
            neighbours=graph.rows,
            distances=graph.distances,
            first_twin=health.first_twin,
            start=projected if start is None else start,
            from_pca=start is None,
            settings=settings,
            landmarks=graph.landmarks,
            device=device if taking_part >= _LEAST_ON_CARD else "cpu",
        )
        return (yield Step(request, start=found))
