"""How child processes are started: spawned, and never importing what lies in the working folder."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import explorer

SPAWN = multiprocessing.get_context("spawn")
_STARTING = threading.Lock()


@contextmanager
def safe_path() -> Iterator[None]:
    """Start a process so that it never imports a module that lies in the working folder.

    A spawned interpreter looks there first of all, and then takes over its parent's ``sys.path``. One
    thread at a time.
    """
    with _STARTING:
        before = sys.path
        here, home = Path.cwd(), Path(explorer.__file__).parents[1]
        sys.path = [entry for entry in before if Path(entry or ".").resolve() != here or home == here]
        set_before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            yield
        finally:
            sys.path = before
            if set_before is None:
                del os.environ["PYTHONSAFEPATH"]
            else:
                os.environ["PYTHONSAFEPATH"] = set_before
