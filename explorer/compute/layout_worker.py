"""The layout worker: lays tables out by UMAP, and shows the points while they move.

It computes on a graphics card, too, where there is one: here a long layout holds off no loading and no
query, and a card's fault takes no table with it. Only then is torch imported.
"""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

import numpy as np

from explorer.compute.protocol import LAYOUT, LayOut, Moving, Ready, Request
from explorer.compute.service import Service, Task
from explorer.compute.sharing import SessionFolder, table_group
from explorer.core.layout import Layout


def serve(connection: Connection, folder: Path) -> NoReturn:
    """Meet requests until the session ends."""
    session = SessionFolder(folder)

    def handle(request: Request, task: Task) -> object:
        assert isinstance(request, LayOut)
        return _lay_out(request, task, session)

    service = Service(connection, session, handle, lasting=frozenset({LayOut}))

    def prepare() -> None:
        from explorer.compute.umap_layout import warm_up

        warm_up()
        service.send(Ready(LAYOUT))

    service.serve(prepare)


def _lay_out(request: LayOut, task: Task, session: SessionFolder) -> Layout:
    from explorer.compute.umap_layout import lay_out

    xy = session.blank(request.start.shape, np.float32, group=table_group(request.key))
    lay_out(
        request.neighbours,
        request.distances,
        request.first_twin,
        request.start,
        request.settings,
        landmarks=request.landmarks,
        from_pca=request.from_pca,
        device=request.device,
        out=xy,
        begin=lambda: task.send(Moving(request.id, xy)),
        checkpoint=task,
    )
    sampled = None if request.landmarks is None else len(request.landmarks)
    return Layout(xy, request.settings, sampled)
