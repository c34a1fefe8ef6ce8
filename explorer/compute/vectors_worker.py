"""The vectors worker: opens files, owns the tables on the device, answers queries.

Files are opened without torch, so that a file dropped at once on a window that has just started
is listed while torch is still being imported.
"""

from __future__ import annotations

import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from explorer.compute import protocol
from explorer.compute.files import Files
from explorer.compute.protocol import VECTORS, OpenFile, Ready, Request
from explorer.compute.service import Service, Task
from explorer.compute.sharing import SessionFolder

if TYPE_CHECKING:
    from explorer.compute.tables import Tables


def serve(connection: Connection, folder: Path, device: str) -> NoReturn:
    """Meet requests until the session ends."""
    worker = _VectorsWorker(connection, folder, device)
    worker.service.serve(worker.prepare)


class _VectorsWorker:
    def __init__(self, connection: Connection, folder: Path, device: str) -> None:
        self._device = device
        self._files = Files()
        self._tables: Tables | None = None
        self._prepared = threading.Event()
        self.service = Service(
            connection,
            SessionFolder(folder),
            self._handle,
            short=frozenset({protocol.Search, protocol.FindNearest, protocol.Suggest, protocol.FetchRows}),
            breakable=frozenset({protocol.OpenFile, protocol.LoadTable}),
            lasting=frozenset(
                {protocol.LoadTable, protocol.PartTable, protocol.Project, protocol.BuildGraph}
            ),
        )

    def prepare(self) -> None:
        """Import torch; said to be ready after that."""
        from explorer.compute.tables import Tables

        self._tables = Tables(self._files, self._device, self.service.send)
        self._prepared.set()
        self.service.send(Ready(VECTORS))

    def _handle(self, request: Request, task: Task) -> object:
        if isinstance(request, OpenFile):
            return self._files.listing(request.source)
        self._prepared.wait()
        assert self._tables is not None
        return self._tables.handle(request, task)
