"""Starts jobs on the worker processes and brings what they say back into the window's thread."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from explorer.compute import protocol
from explorer.compute.encoders.recognise import dims_of, local_encoders
from explorer.compute.pool import Pool
from explorer.compute.protocol import Request, Source
from explorer.core.device import DeviceInfo
from explorer.core.errors import ExplorerError
from explorer.core.layout import LayoutSettings
from explorer.core.listing import LoadedTable
from explorer.core.query import RowTerm
from explorer.core.results import Metric
from explorer.jobs.job import Job, Stop
from explorer.jobs.layout_steps import LayoutSteps, Step, Steps
from explorer.jobs.pace import Pace
from explorer.jobs.stage_jobs import StageJobs
from explorer.readers.local_models import LocalModel

Path = str | PathLike[str]


@dataclass(eq=False)
class _Running:
    job: Job
    steps: Steps
    key: int | None
    identifier: int
    step: Step | None = None
    pace: Pace = field(default_factory=Pace)
    cancelled: bool = False
    lasts: bool = False  # until its worker says that it is over


@dataclass(frozen=True, eq=False)
class _Ended:
    """What a job ends with, kept for the next turn of the event loop."""

    running: _Running
    outcome: object


class Jobs(QObject):
    """The window's side of the worker processes. No method waits for them.

    Work on one table (``key``) ends as cancelled when the table is released.

    Signals
    -------
    job_started(Job), job_ended(Job)
        Around every job; ``job_ended`` after the job's own last signal.
    device_changed(DeviceInfo)
    worker_restarted(str, str) : which worker had died, and why; a new one is being started.
    ready(str) : a worker has loaded its libraries.

    Attributes
    ----------
    stages : StageJobs
        Work on models that are run stage by stage.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda", "mps"}
    parent : QObject, optional
    """

    job_started = Signal(object)
    job_ended = Signal(object)
    device_changed = Signal(object)
    worker_restarted = Signal(str, str)
    ready = Signal(str)
    _heard = Signal(object)

    def __init__(self, device: str = "auto", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ids = itertools.count(1)
        self._keys = itertools.count(1)
        self._running: dict[int, _Running] = {}
        self._asked: dict[int, _Running] = {}
        self._tables: dict[int, LoadedTable] = {}
        self._layouts = LayoutSteps(self._id, self._tables)
        self._devices: dict[str, DeviceInfo] = {}
        self._heard.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self.stages = StageJobs(self._id, lambda title, request: self._start(title, _one(request)))
        self._pool = Pool(self._hear, device)
        # The window is drawn before the workers take the processors.
        QTimer.singleShot(0, self, self._pool.start)

    def open_file(
        self,
        path: Path,
        labels: Path | None = None,
        target_labels: Path | None = None,
        header: bool | None = None,
    ) -> Job:
        """Recognise a file and list its tables: finishes with a FileListing."""
        source = _source(path, labels, target_labels, header)
        return self._start("Opening", _one(protocol.OpenFile(self._id(), source)))

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
        request = protocol.LoadTable(self._id(), key, source, table_name, scaled)
        return self._start(f"Loading {table_name}", _one(request), key=key)

    def part_table(self, key: int, rows: NDArray[np.int64]) -> Job:
        """Have some rows of a table be a table of their own, each in its place, all others unfit:
        finishes with its key. For layouts; to be released like any other.

        Parameters
        ----------
        key : int
        rows : int64 array
            Ascending.
        """
        return self._start("Choosing rows", self._part(key, rows), key=key)

    def release_table(self, key: int) -> None:
        """Forget a table; jobs on it end as cancelled."""
        for running in list(self._running.values()):
            if running.key == key:
                running.job.cancel()
        self._tables.pop(key, None)
        self._layouts.forget(key)
        self._pool.submit(protocol.ReleaseTable(self._id(), key))

    def pca(self, key: int, dimensions: int = 2, centred: bool = False) -> Job:
        """Project a table: finishes with positions, float32, shape (rows, dimensions), NaN for quarantined
        rows; ``centred`` takes each modality's mean away first."""
        return self._start("PCA", self._layouts.projection(key, dimensions, centred), key=key)

    def neighbour_graph(self, key: int, k: int, metric: Metric) -> Job:
        """Find the k nearest rows of every row: finishes with a NeighbourGraph."""
        return self._start(
            "Neighbour graph", self._layouts.graph(protocol.BuildGraph(0, key, k, metric)), key=key
        )

    def umap(self, key: int, settings: LayoutSettings, start: NDArray[np.float32] | None = None) -> Job:
        """Lay a table out: finishes with a Layout; ``moving`` gives its positions while they change.

        Cancelling keeps what is there: the moving array holds the last positions.

        Parameters
        ----------
        key : int
        settings : LayoutSettings
        start : float32 array, shape (rows, settings.dimensions), optional
            Earlier positions to go on from; None starts from the table itself.
        """
        return self._start("UMAP", self._layouts.umap(key, settings, start), key=key)

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
        request = protocol.Search(self._id(), key, terms, metric, k, all_rows, include_query, vector)
        return self._start("Search", _one(request), key=key)

    def clusters(self, key: int, count: int = 9) -> Job:
        """Group a table's rows: finishes with Clusters."""
        return self._start("Clusters", _one(protocol.FindClusters(self._id(), key, count)), key=key)

    def density_clusters(self, key: int, xy: NDArray[np.float32], smallest: int = 0) -> Job:
        """Group rows that lie close together on a map: finishes with Clusters; others are in none.

        Parameters
        ----------
        key : int
        xy : float32 array, shape (rows, 2) or (rows, 3)
        smallest : int
            How many rows make a group; 0 chooses by their number.
        """
        request = protocol.FindDensityClusters(self._id(), key, xy, smallest)
        return self._start("Clusters", _one(request), key=key)

    def regions(self, key: int, xy: NDArray[np.float32]) -> Job:
        """Find and name the dense parts of a map: finishes with a tuple of Region."""
        return self._start("Regions", _one(protocol.FindRegions(self._id(), key, xy)), key=key)

    def trust(self, key: int, xy: NDArray[np.float32], k: int = 15, metric: Metric = Metric.COSINE) -> Job:
        """Measure how far a map can be trusted: finishes with Trust."""
        request = protocol.MeasureTrust(self._id(), key, xy, k, metric)
        return self._start("Layout trust", _one(request), key=key)

    def map_agreement(self, key: int, xy: NDArray[np.float32]) -> Job:
        """Find how many of each row's true neighbours are among its neighbours on a map.

        Finishes with float32, shape (rows,): the share, NaN for rows that are not on the map. The
        neighbours are those that a layout has found already, else found now.
        """
        return self._start("Map trust", self._layouts.agreement(key, xy), key=key)

    def pair_histogram(self, key: int, metric: Metric) -> Job:
        """Count how alike pairs of rows are: finishes with a PairHistogram."""
        return self._start("Pair similarities", _one(protocol.CountPairs(self._id(), key, metric)), key=key)

    def modality_gap(self, key: int) -> Job:
        """Measure how far apart a table's two modalities lie: finishes with a float, or None without two."""
        return self._start("Modality gap", _one(protocol.MeasureGap(self._id(), key)), key=key)

    def suggest(self, key: int, text: str, count: int = 5) -> Job:
        """Find the labels closest to a text: finishes with a tuple of str. Goes ahead of longer work."""
        return self._start("Suggestions", _one(protocol.Suggest(self._id(), key, text, count)), key=key)

    def rows(self, key: int, rows: NDArray[np.int64]) -> Job:
        """Fetch the vectors of some rows: finishes with float32, shape (len(rows), dim)."""
        request = protocol.FetchRows(self._id(), key, np.asarray(rows, np.int64))
        return self._start("Rows", _one(request), key=key)

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
        request = protocol.Classify(self._id(), key, class_vectors, kind, scale, bias)
        return self._start("Zero-shot classes", _one(request), key=key)

    def open_encoder(self, path: Path, index: Path | None = None) -> Job:
        """Load an encoder: finishes with an EncoderInfo.

        Parameters
        ----------
        path : path or str
            A folder, a file, or the name of a cached model.
        index : path, optional
            The picture index that it is for: an encoder that did not make it is refused.
        """
        request = protocol.OpenEncoder(self._id(), fspath(path), None if index is None else fspath(index))
        return self._start("Loading the encoder", _one(request))

    def encode(self, path: Path, texts: Sequence[str] = (), pictures: Sequence[Path] = ()) -> Job:
        """Encode the parts of a query: finishes with EncodedParts. Goes ahead of indexing.

        Parameters
        ----------
        path : path or str
            The encoder's.
        texts : sequence of str
        pictures : sequence of path
            Picture files.
        """
        request = protocol.EncodeQuery(
            self._id(), fspath(path), tuple(texts), tuple(fspath(picture) for picture in pictures)
        )
        return self._start("Encoding", _one(request))

    def index_folder(self, folder: Path, encoder: Path, index: Path, captions: Path | None = None) -> Job:
        """Index a folder of pictures, or bring an index up to date: finishes with an IndexReport.

        It can be paused; ``told`` brings an IndexProgress. A run that is cancelled ends once all that is done
        is saved, and the same call goes on where it was.

        Parameters
        ----------
        folder, encoder, index : path
        captions : path, optional
            A list chosen by hand.
        """
        chosen = None if captions is None else fspath(captions)
        request = protocol.IndexFolder(self._id(), fspath(folder), fspath(encoder), fspath(index), chosen)
        return self._start("Indexing", _one(request), lasting=True)

    def evaluate(self, index: Path) -> Job:
        """Measure how well an index's captions find their pictures, and back: finishes with a Retrieval."""
        return self._start("Recall", _one(protocol.Evaluate(self._id(), fspath(index))))

    def local_encoders(self) -> tuple[LocalModel, ...]:
        """The models in the local cache that are encoders: only their configurations are read."""
        return local_encoders()

    def encoder_dims(self, path: Path, names: Sequence[str]) -> frozenset[int] | None:
        """How long an opened encoder's vectors may be; None where what was opened is no encoder."""
        return dims_of(path, names)

    def nearest(self, key: int, vectors: NDArray[np.float32], k: int, metric: Metric) -> Job:
        """Find the nearest rows of vectors from elsewhere: finishes with int64, shape (m, k), -1 for none."""
        return self._start(
            "Nearest", _one(protocol.FindNearest(self._id(), key, vectors, k, metric)), key=key
        )

    def shutdown(self) -> None:
        """End the workers, within about a second. Jobs that still run end as cancelled."""
        for running in list(self._running.values()):
            self._end(running, Stop())
        self._pool.close()

    def worker_pid(self, name: str) -> int | None:
        """The process id of the ``vectors``, ``layout`` or ``encoder`` worker; None while it does not run."""
        return self._pool.pid(name)

    def _part(self, whole: int, rows: NDArray[np.int64]) -> Steps:
        key = next(self._keys)
        health = yield Step(protocol.PartTable(self._id(), key, whole, rows))
        self._tables[key] = replace(self._tables[whole], key=key, health=health)
        return key

    def _id(self) -> int:
        return next(self._ids)

    def _start(self, title: str, steps: Steps, *, key: int | None = None, lasting: bool = False) -> Job:
        """Begin a job; one that is ``lasting`` can be paused, and is not over before its worker says so."""
        identifier = self._id()
        pause = (lambda paused: self._pause(identifier, paused)) if lasting else None
        job = Job(title, lambda _job: self._cancel(identifier), pause=pause)
        running = _Running(job, steps, key, identifier, lasts=lasting)
        self._running[identifier] = running
        self.job_started.emit(running.job)
        self._advance(running, None)
        return running.job

    def _advance(self, running: _Running, result: object) -> None:
        """Send a job's next request, or end it in the next turn of the event loop."""
        try:
            running.step = running.steps.send(result)
        except StopIteration as stop:
            running.step = None
            self._heard.emit(_Ended(running, stop.value))
        except ExplorerError as error:
            running.step = None
            self._heard.emit(_Ended(running, error))
        else:
            self._asked[running.step.request.id] = running
            self._pool.submit(running.step.request)

    def _cancel(self, identifier: int) -> None:
        """Stop a job: at once, save for a layout whose positions move until its worker has stopped."""
        running = self._running[identifier]
        running.cancelled = True
        if running.step is not None:
            self._pool.cancel(running.step.request)
            if running.lasts:
                return
            self._asked.pop(running.step.request.id, None)
            if isinstance(running.step.request, protocol.LoadTable):
                self._pool.submit(protocol.ReleaseTable(self._id(), running.step.request.key))
        self._heard.emit(_Ended(running, Stop()))

    def _pause(self, identifier: int, paused: bool) -> None:
        step = self._running[identifier].step
        if step is not None:
            (self._pool.pause if paused else self._pool.resume)(step.request)

    def _hear(self, message: object) -> None:
        """In a thread of the pool's: have a message taken up in this object's thread."""
        # The object is gone before the pool where the program ends without shutdown.
        with suppress(RuntimeError):
            self._heard.emit(message)

    def _take(self, message: object) -> None:
        """Take up what a worker has said, in the window's thread."""
        match message:
            case _Ended(running, outcome):
                self._end(running, outcome)
            case protocol.Ready(worker):
                self.ready.emit(worker)
            case protocol.Restarted(worker, reason):
                self.worker_restarted.emit(worker, reason)
            case protocol.DeviceChanged(info, worker):
                self._devices[worker] = info
                self.device_changed.emit(_together(list(self._devices.values())))
            case protocol.Reply(identifier) if identifier in self._asked:
                self._take_reply(self._asked[identifier], message)

    def _take_reply(self, running: _Running, reply: protocol.Reply) -> None:
        step = running.step
        assert step is not None
        if isinstance(reply, protocol.Progress):
            if not running.cancelled:
                self._report(running, step, reply)
        elif isinstance(reply, protocol.Told):
            if not running.cancelled:
                running.job.told.emit(reply.news)
        elif isinstance(reply, protocol.Moving):
            running.lasts = True
            running.job.moving.emit(reply.xy)
        else:
            del self._asked[reply.id]
            if running.cancelled or isinstance(reply, protocol.Stopped):
                self._end(running, Stop())
            elif isinstance(reply, protocol.Failed):
                self._end(running, reply.error)
            elif isinstance(reply, protocol.Done):
                if isinstance(reply.result, LoadedTable):
                    self._tables[reply.result.key] = reply.result
                self._advance(running, reply.result)

    def _report(self, running: _Running, step: Step, reply: protocol.Progress) -> None:
        """Tell how far a job is as a whole."""
        whole, left = running.pace.left(step.start, step.end, reply.fraction, reply.seconds_left)
        running.job.report_progress(whole, reply.stage, left)

    def _end(self, running: _Running, outcome: object) -> None:
        if self._running.pop(running.identifier, None) is None:
            return
        running.steps.close()
        running.job.end(Stop() if running.cancelled else outcome)
        self.job_ended.emit(running.job)


def _together(devices: list[DeviceInfo]) -> DeviceInfo:
    """The device as the session uses it: the memory that all workers hold on the first one's kind."""
    kind = devices[0].kind
    return replace(devices[0], used_bytes=sum(each.used_bytes for each in devices if each.kind == kind))


def _one(request: Request) -> Steps:
    return (yield Step(request))


def _source(path: Path, labels: Path | None, target_labels: Path | None, header: bool | None) -> Source:
    return Source(
        fspath(path),
        None if labels is None else fspath(labels),
        None if target_labels is None else fspath(target_labels),
        header,
    )
