"""The loaded tables in the vectors worker, and what can be asked of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute import protocol
from explorer.compute.agreement import share_kept
from explorer.compute.centring import centred, modality_gap
from explorer.compute.checkpoint import Checkpoint
from explorer.compute.clusters import find_clusters
from explorer.compute.density_clusters import find_density_clusters
from explorer.compute.device import choose_device, describe
from explorer.compute.files import Files, mappable, table_listing
from explorer.compute.graph import neighbour_graph
from explorer.compute.landmarks import most_in_memory
from explorer.compute.pairs import pair_histogram
from explorer.compute.projection import positions_of
from explorer.compute.regions import find_regions
from explorer.compute.search import find_neighbours
from explorer.compute.trust import measure_trust
from explorer.compute.vectors import Vectors
from explorer.compute.zero_shot import classify
from explorer.core.errors import ExplorerError
from explorer.core.health import Health
from explorer.core.health_scan import examine, row_blocks
from explorer.core.label_index import LabelIndex
from explorer.core.labels import Labels
from explorer.core.listing import LoadedTable
from explorer.core.pictures import Pictures
from explorer.core.regions import Region
from explorer.core.results import Clusters, NeighbourGraph, PairHistogram, SearchResult, Trust
from explorer.core.retrieval import Classified
from explorer.core.table import MODALITY, EmbeddingTable
from explorer.readers.index_tables import CAPTION, FILE_NAMES, PICTURE
from explorer.readers.table_pictures import pictures_of


@dataclass(eq=False)
class Table:
    """One loaded table."""

    vectors: Vectors
    labels: Labels | None
    first_twin: NDArray | None = None
    groups: NDArray[np.int16] | None = None
    names: Labels | None = None
    """What groups of rows are named by: captions, where the labels are the names of picture files."""

    @cached_property
    def index(self) -> LabelIndex | None:
        """Made when first asked for."""
        return LabelIndex(self.labels) if self.labels is not None else None

    def seen(self, without_means: bool) -> Vectors:
        """The rows as a layout sees them: as they are, or each less the mean of its modality."""
        return centred(self.vectors, self.groups) if without_means else self.vectors


class Tables:
    """All loaded tables, by key.

    Parameters
    ----------
    files : Files
    device : {"auto", "cpu", "cuda", "mps"}
    tell : function of a message
        Sends a message that answers no request.
    """

    def __init__(self, files: Files, device: str, tell: Callable[[object], None]) -> None:
        self._files = files
        self._wish = device
        self._tell = tell
        self._tables: dict[int, Table] = {}
        self._lost: dict[int, ExplorerError] = {}
        self._handlers: dict[type, Callable[..., object]] = {
            protocol.LoadTable: self._load,
            protocol.RestoreTable: self._restore,
            protocol.PartTable: self._part,
            protocol.ReleaseTable: self._release,
            protocol.Project: self._project,
            protocol.BuildGraph: self._build_graph,
            protocol.Search: self._search,
            protocol.FetchRows: self._fetch_rows,
            protocol.FindNearest: self._find_nearest,
            protocol.Suggest: self._suggest,
            protocol.FindClusters: self._find_clusters,
            protocol.FindDensityClusters: self._find_density_clusters,
            protocol.FindRegions: self._find_regions,
            protocol.MeasureTrust: self._measure_trust,
            protocol.CompareNeighbours: self._compare_neighbours,
            protocol.CountPairs: self._count_pairs,
            protocol.MeasureGap: self._measure_gap,
            protocol.Classify: self._classify,
        }
        # The first use of a device can take seconds.
        self._tell_device()

    def handle(self, request: protocol.Request, checkpoint: Checkpoint) -> object:
        """Meet any request but OpenFile.

        Raises
        ------
        ExplorerError
        Cancelled
        """
        return self._handlers[type(request)](request, checkpoint)

    def _of(self, key: int) -> Table:
        if key in self._lost:
            raise self._lost[key]
        if key not in self._tables:
            raise ExplorerError("This table is no longer loaded.", "Open its file again.")
        return self._tables[key]

    def _load(self, request: protocol.LoadTable, checkpoint: Checkpoint) -> LoadedTable:
        device = choose_device(self._wish)
        checkpoint(-1.0, "Reading")
        table, values = self._files.table(request.source, request.table)
        padding = table.labels.padding if table.labels is not None else 0
        health = examine(_watched(values, checkpoint), table.rows, padding)
        checkpoint(-1.0, f"Moving to {device}")
        scale = math.sqrt(table.dim) if request.scaled else 1.0
        vectors = Vectors(values, health, device, scale)
        self._tables[request.key] = Table(
            vectors, table.labels, table.first_twin, _groups_of(table), _names_of(table)
        )
        self._lost.pop(request.key, None)
        self._tell_device()
        return LoadedTable(
            key=request.key,
            path=request.source.path,
            listing=table_listing(table, values),
            labels=table.labels,
            health=replace(health, norms=vectors.norms),
            scaled=request.scaled,
            device=str(device),
            metadata=mappable(table.metadata),
            pictures=_pictures_of(request.source.path, table),
            encoder=table.encoder,
            first_twin=table.first_twin,
        )

    def _restore(self, request: protocol.RestoreTable, checkpoint: Checkpoint) -> None:
        key = request.load.key
        try:
            loaded = self._load(request.load, checkpoint)
            if not _same(loaded.health, request.health):
                del self._tables[key]
                raise ExplorerError(
                    f"{request.load.source.path} has changed since it was opened.", "Open it again."
                )
        except ExplorerError as error:
            self._lost[key] = error

    def _part(self, request: protocol.PartTable, checkpoint: Checkpoint) -> Health:
        whole = self._of(request.whole)
        part = replace(whole, vectors=whole.vectors.only(request.rows))
        self._tables[request.key] = part
        return part.vectors.health

    def _release(self, request: protocol.ReleaseTable, checkpoint: Checkpoint) -> None:
        self._tables.pop(request.key, None)
        self._lost.pop(request.key, None)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self._tell_device()

    def _project(self, request: protocol.Project, checkpoint: Checkpoint) -> NDArray[np.float32]:
        vectors = self._of(request.key).seen(request.centred)
        return positions_of(vectors, request.dimensions, checkpoint=checkpoint)

    def _build_graph(self, request: protocol.BuildGraph, checkpoint: Checkpoint) -> NeighbourGraph:
        vectors = self._of(request.key).seen(request.centred)
        graph = neighbour_graph(
            vectors,
            request.k,
            request.metric,
            distinct=request.distinct,
            most=None if request.most is None else min(request.most, most_in_memory(vectors)),
            seed=request.seed,
            checkpoint=checkpoint,
        )
        self._tell_device()
        return graph

    def _search(self, request: protocol.Search, checkpoint: Checkpoint) -> SearchResult:
        table = self._of(request.key)
        return find_neighbours(
            table.vectors,
            request.metric,
            request.k,
            terms=request.terms,
            vector=request.vector,
            special=table.labels.special if table.labels is not None else None,
            first_twin=table.first_twin,
            all_rows=request.all_rows,
            include_query=request.include_query,
        )

    def _fetch_rows(self, request: protocol.FetchRows, checkpoint: Checkpoint) -> NDArray[np.float32]:
        vectors = self._of(request.key).vectors
        if len(request.rows) and not 0 <= request.rows.min() <= request.rows.max() < vectors.rows:
            raise ExplorerError(f"This table has rows #0 to #{vectors.rows - 1}.")
        return vectors.fetch(request.rows)

    def _find_nearest(self, request: protocol.FindNearest, checkpoint: Checkpoint) -> NDArray[np.int64]:
        table = self._of(request.key)
        special = table.labels.special if table.labels is not None else None
        found = np.full((len(request.vectors), min(request.k, table.vectors.rows)), -1, np.int64)
        for nearest, vector in zip(found, request.vectors, strict=True):
            if np.isfinite(vector).all() and vector.any():
                rows = find_neighbours(
                    table.vectors, request.metric, len(nearest), vector=vector, special=special
                ).rows
                nearest[: len(rows)] = rows
        return found

    def _suggest(self, request: protocol.Suggest, checkpoint: Checkpoint) -> tuple[str, ...]:
        index = self._of(request.key).index
        if index is None:
            return ()
        return tuple(index.labels[row] for row in index.closest(request.text, request.count))

    def _find_clusters(self, request: protocol.FindClusters, checkpoint: Checkpoint) -> Clusters:
        table = self._of(request.key)
        return find_clusters(table.vectors, request.count, labels=table.names, checkpoint=checkpoint)

    def _find_density_clusters(
        self, request: protocol.FindDensityClusters, checkpoint: Checkpoint
    ) -> Clusters:
        labels = self._of(request.key).names
        return find_density_clusters(request.xy, request.smallest, labels=labels, checkpoint=checkpoint)

    def _find_regions(self, request: protocol.FindRegions, checkpoint: Checkpoint) -> tuple[Region, ...]:
        return find_regions(request.xy, labels=self._of(request.key).names, checkpoint=checkpoint)

    def _measure_trust(self, request: protocol.MeasureTrust, checkpoint: Checkpoint) -> Trust:
        vectors = self._of(request.key).vectors
        return measure_trust(vectors, request.xy, request.k, metric=request.metric, checkpoint=checkpoint)

    def _compare_neighbours(
        self, request: protocol.CompareNeighbours, checkpoint: Checkpoint
    ) -> NDArray[np.float32]:
        return share_kept(request.neighbours, request.xy, request.first_twin, checkpoint=checkpoint)

    def _measure_gap(self, request: protocol.MeasureGap, checkpoint: Checkpoint) -> float | None:
        table = self._of(request.key)
        if table.groups is None or table.groups.max(initial=0) != 1:
            return None
        return modality_gap(table.vectors, table.groups)

    def _count_pairs(self, request: protocol.CountPairs, checkpoint: Checkpoint) -> PairHistogram:
        return pair_histogram(self._of(request.key).vectors, request.metric, checkpoint=checkpoint)

    def _classify(self, request: protocol.Classify, checkpoint: Checkpoint) -> Classified:
        vectors = self._of(request.key).vectors
        return classify(vectors, request.class_vectors, request.kind, request.scale, request.bias, checkpoint)

    def _tell_device(self) -> None:
        try:
            self._tell(protocol.DeviceChanged(describe(choose_device(self._wish))))
        except ExplorerError:
            # Said when a table is to be loaded.
            self._tell(protocol.DeviceChanged(describe(choose_device("cpu"))))


def _pictures_of(path: str, table: EmbeddingTable) -> Pictures | None:
    """What pictures a table's rows carry: those that its file knows, else those that its names speak of."""
    if table.pictures is not None:
        return table.pictures()
    return pictures_of(Path(path), table.labels, table.metadata, table.rows)


def _names_of(table: EmbeddingTable) -> Labels | None:
    """A name of each row that says what it shows: a picture file's name does not, a caption does."""
    labels, captions = table.labels, table.metadata.get(CAPTION)
    if labels is None or not labels.source.startswith(FILE_NAMES):
        return labels
    if captions is not None and any(captions):
        return Labels.from_texts((str(text) or None for text in captions), "captions")
    kinds = table.metadata.get(MODALITY)
    return labels if kinds is None else replace(labels, missing=labels.missing | (kinds == PICTURE))


def _groups_of(table: EmbeddingTable) -> NDArray[np.int16] | None:
    """Numbers for the rows' modalities, where the table has several."""
    column = table.metadata.get(MODALITY)
    return None if column is None else np.unique(column, return_inverse=True)[1].astype(np.int16)


def _watched(values: NDArray, checkpoint: Checkpoint) -> Iterator[NDArray]:
    """The rows in blocks, with a checkpoint at each."""
    done = 0
    for block in row_blocks(values):
        checkpoint(done / len(values), "Reading")
        yield block
        done += len(block)


def _same(found: Health, before: Health) -> bool:
    """Whether two readings found the same rows."""
    return np.array_equal(found.states, before.states) and np.array_equal(
        found.norms, before.norms, equal_nan=True
    )
