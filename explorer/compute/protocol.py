"""What is said between the window's process and its workers: small frozen values, no arrays by value.

Every array of more than a few kilobytes crosses as a file that both sides map (``sharing``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.core.device import DeviceInfo
from explorer.core.errors import ExplorerError, WorkerLost
from explorer.core.health import Health
from explorer.core.layout import LayoutSettings
from explorer.core.query import RowTerm
from explorer.core.results import Metric

VECTORS = "vectors"
LAYOUT = "layout"
ENCODER = "encoder"
STAGES = "stages"


@dataclass(frozen=True)
class Request:
    """Asks a worker for one result; ``id`` comes back with every reply to it."""

    id: int


@dataclass(frozen=True)
class Source:
    """Which file to open, and how its rows are named."""

    path: str
    labels: str | None = None
    target_labels: str | None = None
    header: bool | None = None


@dataclass(frozen=True)
class OpenFile(Request):
    """For a FileListing."""

    source: Source


@dataclass(frozen=True)
class LoadTable(Request):
    """For a LoadedTable: reads the vectors into the worker under ``key``."""

    key: int
    source: Source
    table: str
    scaled: bool = False


@dataclass(frozen=True, eq=False)
class RestoreTable(Request):
    """For None: reads a table again after the worker has died; refused where the file has changed.

    ``health`` is what the first reading found, to tell by.
    """

    load: LoadTable
    health: Health


@dataclass(frozen=True, eq=False)
class PartTable(Request):
    """For the Health of a table of some rows alone (ascending), each in its place, under a new ``key``."""

    key: int
    whole: int
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class ReleaseTable(Request):
    """For None: forgets a table."""

    key: int


@dataclass(frozen=True)
class Project(Request):
    """For positions by PCA, float32, shape (rows, dimensions); ``centred``: without each modality's mean."""

    key: int
    dimensions: int = 2
    centred: bool = False


@dataclass(frozen=True)
class BuildGraph(Request):
    """For a NeighbourGraph; ``distinct`` leaves out rows that repeat an earlier one.

    Where more than ``most`` rows take part, or than memory is there for, ``seed`` draws landmarks.
    ``centred`` takes each modality's mean away first.
    """

    key: int
    k: int
    metric: Metric
    distinct: bool = False
    most: int | None = None
    seed: int = 0
    centred: bool = False


@dataclass(frozen=True, eq=False)
class Search(Request):
    """For a SearchResult: of the weighted rows, of a vector from elsewhere, or of the sum of both.

    With a vector, the rows are scaled to unit length whatever the metric, as its own parts were.
    """

    key: int
    terms: tuple[RowTerm, ...]
    metric: Metric
    k: int
    all_rows: bool = False
    include_query: bool = False
    vector: NDArray[np.floating] | None = None


@dataclass(frozen=True)
class Suggest(Request):
    """For a tuple of the labels closest to a text."""

    key: int
    text: str
    count: int


@dataclass(frozen=True, eq=False)
class FetchRows(Request):
    """For the vectors of some rows, float32, shape (len(rows), dim)."""

    key: int
    rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FindNearest(Request):
    """For the nearest rows of vectors from elsewhere: int64, shape (m, k), -1 where a vector has none.

    Attributes
    ----------
    vectors : float32 array, shape (m, dim)
    """

    key: int
    vectors: NDArray[np.float32]
    k: int
    metric: Metric


@dataclass(frozen=True)
class FindClusters(Request):
    """For Clusters."""

    key: int
    count: int


@dataclass(frozen=True, eq=False)
class FindDensityClusters(Request):
    """For Clusters of positions, float32, shape (rows, dimensions); ``smallest`` 0 chooses by size."""

    key: int
    xy: NDArray[np.float32]
    smallest: int


@dataclass(frozen=True, eq=False)
class FindRegions(Request):
    """For a tuple of Region: the dense parts of positions, float32, shape (rows, 2)."""

    key: int
    xy: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class MeasureTrust(Request):
    """For Trust of positions, float32, shape (rows, 2) or (rows, 3)."""

    key: int
    xy: NDArray[np.float32]
    k: int
    metric: Metric


@dataclass(frozen=True, eq=False)
class CompareNeighbours(Request):
    """For the share of each row's ``neighbours`` (a graph's rows) that the map has kept, float32."""

    key: int
    neighbours: NDArray[np.int32]
    xy: NDArray[np.float32]
    first_twin: NDArray[np.int64]


@dataclass(frozen=True)
class CountPairs(Request):
    """For a PairHistogram."""

    key: int
    metric: Metric


@dataclass(frozen=True)
class MeasureGap(Request):
    """For the modality gap of a table of two modalities, a float; None for other tables."""

    key: int


@dataclass(frozen=True, eq=False)
class Classify(Request):
    """For Classified: the class that each row is nearest to, and its probability.

    Attributes
    ----------
    key : int
    class_vectors : float32 array, shape (classes, dim)
    kind : {"softmax", "sigmoid"} or None
        How the encoder turns a cosine into a probability; None keeps the cosine.
    scale, bias : float
    """

    key: int
    class_vectors: NDArray[np.float32]
    kind: str | None
    scale: float = 1.0
    bias: float = 0.0


@dataclass(frozen=True)
class OpenEncoder(Request):
    """For an EncoderInfo, on the encoder worker.

    Attributes
    ----------
    path : str
        A folder, a file, or the name of a cached model.
    index : str or None
        The picture index that it is for: an encoder that did not make it is refused.
    """

    path: str
    index: str | None = None


@dataclass(frozen=True)
class EncodeQuery(Request):
    """For EncodedParts, on the encoder worker: ``path`` names the encoder, ``pictures`` are files."""

    path: str
    texts: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True)
class IndexFolder(Request):
    """For an IndexReport, on the encoder worker: a folder of pictures to an index, or one brought up to date.

    Attributes
    ----------
    folder, encoder, index : str
        Paths.
    captions : str or None
        A list chosen by hand.
    """

    folder: str
    encoder: str
    index: str
    captions: str | None = None


@dataclass(frozen=True)
class Evaluate(Request):
    """For a Retrieval of an index's captions and pictures, on the encoder worker."""

    index: str


@dataclass(frozen=True)
class StageRequest(Request):
    """What the stages worker answers, of the model in ``source``; see ``stages.open_stage_model``."""

    source: Source
    heads: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class OpenStageModel(StageRequest):
    """For a StageModelInfo."""


@dataclass(frozen=True)
class RunStages(StageRequest):
    """For a StageRun of a text, ids or a picture (a file); see ``stages.base.StageModel.run``."""

    text: str = ""
    ids: tuple[int, ...] | None = None
    picture: str | None = None
    side: str | None = None
    special: bool | None = None


@dataclass(frozen=True)
class FetchAttention(StageRequest):
    """For the weights of one layer of a run, float32, shape (heads, queries, keys)."""

    run: int
    name: str
    layer: int


@dataclass(frozen=True)
class FetchParts(StageRequest):
    """For ModelParts; the file need hold no model that can be run."""


@dataclass(frozen=True)
class EncodePhrases(StageRequest):
    """For Phrases."""

    phrases: tuple[str, ...]
    side: str | None = None


@dataclass(frozen=True)
class CompareWord(StageRequest):
    """For a tuple of TokenComparison."""

    first: str
    second: str
    word: str
    side: str | None = None


@dataclass(frozen=True, eq=False)
class LayOut(Request):
    """For a Layout by UMAP, on the layout worker.

    Attributes
    ----------
    key : int
        The table's; the layout worker knows nothing else of it.
    neighbours, distances : arrays, shape (rows, k)
        A NeighbourGraph of the distinct rows.
    first_twin : int64 array, shape (rows,)
    start : float32 array, shape (rows, dimensions)
        Where the points start; NaN for quarantined rows.
    from_pca : bool
        ``start`` is a PCA projection, to be scaled for UMAP; else earlier positions to go on from.
    landmarks : int64 array, shape (n,), or None
        The graph's.
    device : str
        Where the epochs are computed: ``"cpu"``, ``"cuda"`` or ``"mps"``.
    """

    key: int
    neighbours: NDArray[np.int32]
    distances: NDArray[np.float32]
    first_twin: NDArray[np.int64]
    start: NDArray[np.float32]
    from_pca: bool
    settings: LayoutSettings
    landmarks: NDArray[np.int64] | None = None
    device: str = "cpu"


@dataclass(frozen=True)
class Cancel:
    """Asks for a running or waiting request to stop."""

    id: int


@dataclass(frozen=True)
class Pause:
    """Has a running or waiting request stand still at its next checkpoint."""

    id: int


@dataclass(frozen=True)
class Resume:
    """Lets a request go on that was paused."""

    id: int


@dataclass(frozen=True)
class Quit:
    """Asks the worker to end."""


@dataclass(frozen=True)
class Reply:
    """Answers the request of the same ``id``."""

    id: int


@dataclass(frozen=True)
class Progress(Reply):
    """How far a request is: ``fraction`` 0 to 1, ``seconds_left`` from the pace so far; -1 is unknown."""

    fraction: float
    stage: str
    seconds_left: float


@dataclass(frozen=True, eq=False)
class Moving(Reply):
    """The live positions of a layout, mapped: they change while the request runs."""

    xy: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Told(Reply):
    """Something that the work has to say of itself on its way, e.g. an IndexProgress."""

    news: object


@dataclass(frozen=True, eq=False)
class Done(Reply):
    """The result."""

    result: object


@dataclass(frozen=True)
class Stopped(Reply):
    """The request was cancelled."""


@dataclass(frozen=True)
class Failed(Reply):
    """The request could not be met; for the person at the window. ``lost``: its worker has died."""

    message: str
    hint: str = ""
    detail: str = ""
    lost: bool = False

    @property
    def error(self) -> ExplorerError:
        return (WorkerLost if self.lost else ExplorerError)(self.message, self.hint, self.detail)


Final = Done | Stopped | Failed
"""One of these ends every request."""


@dataclass(frozen=True)
class Ready:
    """A worker has loaded its libraries; sent again after a restart."""

    worker: str


@dataclass(frozen=True)
class Restarted:
    """A worker had died, for ``reason``, and a new one is being started."""

    worker: str
    reason: str


@dataclass(frozen=True)
class DeviceChanged:
    """The device's memory as it is now, as a worker sees it."""

    info: DeviceInfo
    worker: str = VECTORS
