"""The layout worker: lays tables out by UMAP, and shows the points while they move."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from explorer.compute.protocol import LAYOUT, Ready
from explorer.compute.service import Service
from explorer.compute.sharing import SessionFolder


def serve(connection: Connection, folder: Path) -> NoReturn:
    """Meet requests until the session ends."""
    service = Service(connection, SessionFolder(folder), lambda request, task: None)
    service.serve(lambda: service.send(Ready(LAYOUT)))
