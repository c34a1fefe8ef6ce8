"""Where a worker process begins. Imports nothing heavy: the session's process imports it too."""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

_BELOW_NORMAL_PRIORITY = 0x4000
# A layout takes every core for long: an encoder that is being loaded, or a search, goes ahead of it.
_NICE, _NICE_LAYOUT = 5, 10


def run_worker(name: str, connection: Connection, folder: Path, device: str) -> NoReturn:
    """Serve requests until the session ends.

    Parameters
    ----------
    name : {"vectors", "layout", "encoder", "stages"}
    connection : Connection
    folder : Path
        The session's folder for arrays.
    device : {"auto", "cpu", "cuda", "mps"}
    """
    # Ctrl+C in a terminal reaches the whole group; the session's process decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _step_back(_NICE_LAYOUT if name == "layout" else _NICE)
    os.environ["HF_HUB_OFFLINE"] = "1"
    if name == "vectors":
        from explorer.compute.vectors_worker import serve as serve_vectors

        serve_vectors(connection, folder, device)
    elif name == "encoder":
        # Arrow's own pools never give memory back: what they hold would grow with the folder that is indexed.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        from explorer.compute.encoder_worker import serve as serve_encoder

        serve_encoder(connection, folder, device)
    elif name == "stages":
        from explorer.compute.stages_worker import serve as serve_stages

        serve_stages(connection, folder)
    else:
        from explorer.compute.layout_worker import serve as serve_layout

        serve_layout(connection, folder)


def _step_back(nice: int) -> None:
    """Let the window's process have a core whenever it wants one."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), _BELOW_NORMAL_PRIORITY)
    else:
        os.nice(nice)
