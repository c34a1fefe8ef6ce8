"""Gets the drawing kernels ready without keeping the window waiting.

Loading what an earlier start compiled takes a moment, in a thread. Compiling, which a first start
must, takes seconds that Python can't share: a child process does it, and the thread loads the result.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

import explorer.render


class KernelLoader(QObject):
    """Loads the kernels once.

    Signals
    -------
    ready : they can be called from now on.
    """

    ready = Signal()
    _loaded = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_ready = "explorer.render.kernels" in sys.modules
        self._thread: threading.Thread | None = None
        self._compiler: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._loaded.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Begin, unless it is done or under way."""
        if not self.is_ready and self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._load, name="kernel loader", daemon=True)
            self._thread.start()

    @property
    def compiles(self) -> bool:
        """Whether this start must compile first."""
        return not self.is_ready and not _are_compiled()

    def close(self) -> None:
        """Wait until nothing is being loaded: a thread must not be in the middle of it when Python ends."""
        self._closed = True
        if self._compiler is not None:
            self._compiler.terminate()
        if self._thread is not None:
            self._thread.join()

    def _load(self) -> None:
        if not _are_compiled():
            self._compiler = subprocess.Popen(
                [sys.executable, "-m", "explorer.render.warm"], stdin=subprocess.DEVNULL
            )
            self._compiler.wait()
        if self._closed:
            return
        import explorer.render.kernels  # noqa: F401

        with contextlib.suppress(RuntimeError):  # the window may be gone by now
            self._loaded.emit()

    def _take(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.is_ready = True
        self.ready.emit()


def _are_compiled() -> bool:
    """Whether the cache beside the kernels holds one file for each, newer than its source."""
    folder = Path(explorer.render.__file__).parent / "kernels"
    for source in folder.glob("*.py"):
        newer = [
            compiled
            for compiled in (folder / "__pycache__").glob(f"{source.stem}.*.nbi")
            if compiled.stat().st_mtime >= source.stat().st_mtime
        ]
        if len(newer) < source.read_text("utf-8").count("\n@compiled("):
            return False
    return True
