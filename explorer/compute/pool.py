"""All worker processes of a session, the folder they share, and what they must be told again."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable

from explorer.compute.protocol import (
    ENCODER,
    LAYOUT,
    STAGES,
    VECTORS,
    Cancel,
    Done,
    Failed,
    LoadTable,
    Pause,
    ReleaseTable,
    Request,
    RestoreTable,
    Resume,
    Stopped,
)
from explorer.compute.sharing import SessionFolder, table_group
from explorer.compute.worker import NOBODY, Worker
from explorer.core.listing import LoadedTable


class Pool:
    """The ``vectors`` and the ``layout`` worker; ``encoder`` and ``stages`` once there is something to do.

    Parameters
    ----------
    listen : function of a message
        Called in the pool's threads with every reply (``protocol.Reply``), and with Ready,
        Restarted and DeviceChanged.
    device : {"auto", "cpu", "cuda", "mps"}
    """

    def __init__(self, listen: Callable[[object], None], device: str = "auto") -> None:
        self.folder = SessionFolder.create()
        atexit.register(self.close)
        self._listen = listen
        self._guard = threading.Lock()
        self._loads: dict[int, LoadTable] = {}
        self._loaded: dict[int, RestoreTable] = {}
        self._workers = {
            name: Worker(name, self.folder, device, self._hear, restore)
            for name, restore in ((VECTORS, self._to_restore), (LAYOUT, list))
        }
        self._workers[ENCODER] = Worker(
            ENCODER, self.folder, device, self._hear, list, has_children=True, quit_seconds=2.5
        )
        self._workers[STAGES] = Worker(STAGES, self.folder, device, self._hear, list)

    def start(self) -> None:
        """Begin to start the workers; two wait for their first request, as their libraries are large.

        They end with this process at the latest.
        """
        for name in (VECTORS, LAYOUT):
            self.start_worker(name)

    def start_worker(self, name: str) -> None:
        """Begin to start one of the workers, unless that was done before."""
        self._workers[name].start()

    def submit(self, request: Request) -> None:
        """Put a request in line at the worker that answers its kind."""
        with self._guard:
            if isinstance(request, LoadTable):
                self._loads[request.id] = request
            elif isinstance(request, ReleaseTable):
                self._loaded.pop(request.key, None)
                self._loads = {i: load for i, load in self._loads.items() if load.key != request.key}
        if isinstance(request, ReleaseTable):
            self.folder.drop(table_group(request.key))
        worker = self._workers[request.worker]
        worker.start()
        worker.send(request)

    def cancel(self, request: Request) -> None:
        """Ask for a request to stop; its worker answers Stopped, or Done where it was quicker."""
        self._workers[request.worker].send(Cancel(request.id))

    def pause(self, request: Request) -> None:
        """Have a request stand still at its next checkpoint."""
        self._workers[request.worker].send(Pause(request.id))

    def resume(self, request: Request) -> None:
        """Let a paused request go on."""
        self._workers[request.worker].send(Resume(request.id))

    def pid(self, name: str) -> int | None:
        """The process id of a worker."""
        return self._workers[name].pid

    def close(self) -> None:
        """End the workers and remove the session's folder: within a second, or three where a run is saved."""
        atexit.unregister(self.close)
        for worker in self._workers.values():
            worker.begin_close()
        for worker in self._workers.values():
            worker.close()
        self.folder.remove()

    def _hear(self, message: object) -> None:
        if isinstance(message, Done | Failed | Stopped):
            with self._guard:
                load = self._loads.pop(message.id, None)
                if load is not None and isinstance(message, Done) and isinstance(message.result, LoadedTable):
                    self._loaded[load.key] = RestoreTable(NOBODY, load, message.result.health)
        self._listen(message)

    def _to_restore(self) -> list[Request]:
        with self._guard:
            return list(self._loaded.values())
