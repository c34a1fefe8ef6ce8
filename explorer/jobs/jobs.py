"""What the window can ask of the worker processes: each method starts a job."""

from __future__ import annotations

import itertools
from dataclasses import replace
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray

from explorer.compute import protocol
from explorer.compute.protocol import Source
from explorer.core.layout import LayoutSettings
from explorer.core.listing import LoadedTable
from explorer.core.query import RowTerm
from explorer.core.results import Metric
from explorer.jobs.encoder_jobs import EncoderJobs
from explorer.jobs.job import Job
from explorer.jobs.layout_steps import LayoutSteps
from explorer.jobs.runner import Runner
from explorer.jobs.stage_jobs import StageJobs
from explorer.jobs.steps import Step, Steps

Path = str | PathLike[str]


class Jobs:
    """The window's side of the worker processes. No method waits for them.

    Work on one table (``key``) ends as cancelled when the table is released.

    Attributes
    ----------
    job_started, job_ended, device_changed, worker_restarted, ready : Signal
        See ``Runner``.
    encoders : EncoderJobs
        Work on encoders.
    stages : StageJobs
        Work on models that are run stage by stage.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda", "mps"}
    """

    def __init__(self, device: str = "auto") -> None:
        self._runner = runner = Runner(device)
        self.job_started = runner.job_started
        self.job_ended = runner.job_ended
        self.device_changed = runner.device_changed
        self.worker_restarted = runner.worker_restarted
        self.ready = runner.ready
        self.encoders = EncoderJobs(runner)
        self.stages = StageJobs(runner)
        self._keys = itertools.count(1)
        self._tables: dict[int, LoadedTable] = {}
        self._layouts = LayoutSteps(runner.number, self._tables)

    def open_file(
        self,
        path: Path,
        labels: Path | None = None,
        target_labels: Path | None = None,
        header: bool | None = None,
    ) -> Job:
        """Recognise a file and list its tables: finishes with a FileListing."""
        source = _source(path, labels, target_labels, header)
        return self._runner.ask("Opening", protocol.OpenFile(self._runner.number(), source))

    def load_table(
        self,
        path: Path,
        table_name: str,
        labels: Path | None = None,
        target_labels: Path | None = None,
        header: bool | None = None,
        scaled: bool = False,
    ) -> Job:
        """Read a table into the vectors worker: finishes with a LoadedTable, whose arrays are mapped."""
        source = _source(path, labels, target_labels, header)
        key = next(self._keys)
        request = protocol.LoadTable(self._runner.number(), key, source, table_name, scaled)
        return self._runner.start(f"Loading {table_name}", self._load(request), key=key)

    def part_table(self, key: int, rows: NDArray[np.int64]) -> Job:
        """Have some rows of a table be a table of their own, each in its place, all others unfit:
        finishes with its key. For layouts; to be released like any other.

        Parameters
        ----------
        key : int
        rows : int64 array
            Ascending.
        """
        return self._runner.start("Choosing rows", self._part(key, rows), key=key)

    def release_table(self, key: int) -> None:
        """Forget a table; jobs on it end as cancelled."""
        self._runner.cancel_all_on(key)
        self._tables.pop(key, None)
        self._layouts.forget(key)
        self._runner.send(protocol.ReleaseTable(self._runner.number(), key))

    def pca(self, key: int, dimensions: int = 2, centred: bool = False) -> Job:
        """Project a table: finishes with positions, float32, shape (rows, dimensions), NaN for quarantined
        rows; ``centred`` takes each modality's mean away first."""
        return self._runner.start("PCA", self._layouts.projection(key, dimensions, centred), key=key)

    def neighbour_graph(self, key: int, k: int, metric: Metric) -> Job:
        """Find the k nearest rows of every row: finishes with a NeighbourGraph."""
        return self._runner.start(
            "Neighbour graph", self._layouts.graph(protocol.BuildGraph(0, key, k, metric)), key=key
        )

    def umap(self, key: int, settings: LayoutSettings, start: NDArray[np.float32] | None = None) -> Job:
        """Lay a table out: finishes with a Layout; ``moving`` gives its positions while they change.

        Cancelling is answered at once. The moving array then holds the last positions; its worker may write
        an epoch more, so that they are kept by a copy.

        Parameters
        ----------
        key : int
        settings : LayoutSettings
        start : float32 array, shape (rows, settings.dimensions), optional
            Earlier positions to go on from; None starts from the table itself.
        """
        return self._runner.start("UMAP", self._layouts.umap(key, settings, start), key=key)

    def search(
        self,
        key: int,
        terms: tuple[RowTerm, ...],
        metric: Metric,
        k: int,
        *,
        all_rows: bool = False,
        include_query: bool = False,
        vector: NDArray[np.floating] | None = None,
    ) -> Job:
        """Find nearest neighbours: finishes with a SearchResult. Goes ahead of longer work.

        Parameters
        ----------
        key : int
        terms : tuple of RowTerm
            The query's rows; empty where a vector is given.
        metric : Metric
        k : int
            More than there are gives all.
        all_rows : bool
            Special and padding rows take part.
        include_query : bool
            The query's own rows take part.
        vector : float array, shape (dim,), optional
            Asked for instead of rows, or together with them: then the rows are scaled to unit length.
        """
        request = protocol.Search(
            self._runner.number(), key, terms, metric, k, all_rows, include_query, vector
        )
        return self._runner.ask("Search", request, key=key)

    def clusters(self, key: int, count: int = 9) -> Job:
        """Group a table's rows: finishes with Clusters."""
        return self._runner.ask("Clusters", protocol.FindClusters(self._runner.number(), key, count), key=key)

    def density_clusters(self, key: int, xy: NDArray[np.float32], smallest: int = 0) -> Job:
        """Group rows that lie close together on a map: finishes with Clusters; others are in none.

        Parameters
        ----------
        key : int
        xy : float32 array, shape (rows, 2) or (rows, 3)
        smallest : int
            How many rows make a group; 0 chooses by their number.
        """
        request = protocol.FindDensityClusters(self._runner.number(), key, xy, smallest)
        return self._runner.ask("Clusters", request, key=key)

    def regions(self, key: int, xy: NDArray[np.float32]) -> Job:
        """Find and name the dense parts of a map: finishes with a tuple of Region."""
        return self._runner.ask("Regions", protocol.FindRegions(self._runner.number(), key, xy), key=key)

    def trust(self, key: int, xy: NDArray[np.float32], k: int = 15, metric: Metric = Metric.COSINE) -> Job:
        """Measure how far a map can be trusted: finishes with Trust."""
        request = protocol.MeasureTrust(self._runner.number(), key, xy, k, metric)
        return self._runner.ask("Layout trust", request, key=key)

    def map_agreement(self, key: int, xy: NDArray[np.float32]) -> Job:
        """Find how many of each row's true neighbours are among its neighbours on a map.

        Finishes with float32, shape (rows,): the share, NaN for rows that are not on the map. The
        neighbours are those that a layout has found already, else found now.
        """
        return self._runner.start("Map trust", self._layouts.agreement(key, xy), key=key)

    def pair_histogram(self, key: int, metric: Metric) -> Job:
        """Count how alike pairs of rows are: finishes with a PairHistogram."""
        return self._runner.ask(
            "Pair similarities", protocol.CountPairs(self._runner.number(), key, metric), key=key
        )

    def modality_gap(self, key: int) -> Job:
        """Measure how far apart a table's two modalities lie: finishes with a float, or None without two."""
        return self._runner.ask("Modality gap", protocol.MeasureGap(self._runner.number(), key), key=key)

    def suggest(self, key: int, text: str, count: int = 5) -> Job:
        """Find the labels closest to a text: finishes with a tuple of str. Goes ahead of longer work."""
        return self._runner.ask(
            "Suggestions", protocol.Suggest(self._runner.number(), key, text, count), key=key
        )

    def rows(self, key: int, rows: NDArray[np.int64]) -> Job:
        """Fetch the vectors of some rows: finishes with float32, shape (len(rows), dim)."""
        request = protocol.FetchRows(self._runner.number(), key, np.asarray(rows, np.int64))
        return self._runner.ask("Rows", request, key=key)

    def classify(
        self,
        key: int,
        class_vectors: NDArray[np.float32],
        kind: str | None = None,
        scale: float = 1.0,
        bias: float = 0.0,
    ) -> Job:
        """Find the class that each row is nearest to: finishes with Classified.

        Parameters
        ----------
        key : int
        class_vectors : float32 array, shape (classes, dim)
        kind, scale, bias
            An encoder's ``similarity_kind``, ``similarity_scale`` and ``similarity_bias``.
        """
        request = protocol.Classify(self._runner.number(), key, class_vectors, kind, scale, bias)
        return self._runner.ask("Zero-shot classes", request, key=key)

    def nearest(self, key: int, vectors: NDArray[np.float32], k: int, metric: Metric) -> Job:
        """Find the nearest rows of vectors from elsewhere: finishes with int64, shape (m, k), -1 for none."""
        return self._runner.ask(
            "Nearest", protocol.FindNearest(self._runner.number(), key, vectors, k, metric), key=key
        )

    def shutdown(self) -> None:
        """End the workers, within about a second. Jobs that still run end as cancelled."""
        self._runner.shutdown()

    def worker_pid(self, name: str) -> int | None:
        """The process id of the ``vectors``, ``layout`` or ``encoder`` worker; None while it does not run."""
        return self._runner.worker_pid(name)

    def _load(self, request: protocol.LoadTable) -> Steps:
        release = protocol.ReleaseTable(self._runner.number(), request.key)
        self._tables[request.key] = table = yield Step(request, undone_by=release)
        return table

    def _part(self, whole: int, rows: NDArray[np.int64]) -> Steps:
        key = next(self._keys)
        health = yield Step(protocol.PartTable(self._runner.number(), key, whole, rows))
        self._tables[key] = replace(self._tables[whole], key=key, health=health)
        return key


def _source(path: Path, labels: Path | None, target_labels: Path | None, header: bool | None) -> Source:
    return Source(
        fspath(path),
        None if labels is None else fspath(labels),
        None if target_labels is None else fspath(target_labels),
        header,
    )
