"""Worker processes, asked and listened to without Qt."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import torch
from made_vectors import grouped

from explorer.compute import protocol
from explorer.compute.pool import Pool
from explorer.core.listing import LoadedTable

TABLE = "embedding.weight"
PATIENCE = 300.0


def checkpoint_file(path: Path, rows: int, dim: int, *, seed: int = 0) -> str:
    """A checkpoint with one token table."""
    torch.save({TABLE: torch.from_numpy(grouped(rows, dim, seed=seed))}, path)
    return str(path)


class Listener:
    """A pool, and everything it has said."""

    def __init__(self) -> None:
        self._said: queue.Queue[Any] = queue.Queue()
        self.heard: list[Any] = []
        self.pool = Pool(self._said.put, "cpu")
        self._ids = count(1)
        self.pool.start()

    def submit(self, kind: Callable[..., protocol.Request], *values: object) -> protocol.Request:
        """Send a request of a kind."""
        request = kind(next(self._ids), *values)
        self.pool.submit(request)
        return request

    def until(self, wanted: Callable[[Any], bool], timeout: float = PATIENCE) -> Any:
        """Listen until something wanted is said."""
        until = time.monotonic() + timeout
        while True:
            message = self._said.get(timeout=max(0.0, until - time.monotonic()))
            self.heard.append(message)
            if wanted(message):
                return message

    def end_of(self, request: protocol.Request, timeout: float = PATIENCE) -> Any:
        """A request's last reply."""
        final = (protocol.Done, protocol.Failed, protocol.Stopped)
        return self.until(lambda said: isinstance(said, final) and said.id == request.id, timeout)

    def progress_of(self, request: protocol.Request) -> protocol.Progress:
        """Some sign that a request is being met."""
        return self.until(lambda said: isinstance(said, protocol.Progress) and said.id == request.id)

    def ask(self, kind: Callable[..., protocol.Request], *values: object) -> Any:
        """A request's result, or why there is none."""
        reply = self.end_of(self.submit(kind, *values))
        return reply.result if isinstance(reply, protocol.Done) else reply

    def load(self, path: str, key: int) -> LoadedTable:
        """Load the table of a checkpoint."""
        return self.ask(protocol.LoadTable, key, protocol.Source(path), TABLE)
