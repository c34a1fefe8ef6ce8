"""What every worker and its session say to each other: requests, replies, news."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.core.device import DeviceInfo
from explorer.core.errors import ExplorerError, WorkerLost

VECTORS = "vectors"
LAYOUT = "layout"
ENCODER = "encoder"
STAGES = "stages"


@dataclass(frozen=True)
class Request:
    """Asks the worker of a name for one result; ``id`` comes back with every reply to it."""

    worker: ClassVar[str] = VECTORS

    id: int


@dataclass(frozen=True)
class Source:
    """Which file to open, and how its rows are named."""

    path: str
    labels: str | None = None
    target_labels: str | None = None
    header: bool | None = None


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
