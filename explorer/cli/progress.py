"""How far a long command is, on a terminal's standard error; silent anywhere else."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_EVERY_SECONDS = 0.1
_CLEAR_LINE = "\r\x1b[K"


class Progress:
    """A line that tells stage and share done; a checkpoint for compute, and gone at the end."""

    def __init__(self) -> None:
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._told = 0.0

    def __enter__(self) -> Progress:
        return self

    def __call__(self, fraction: float, stage: str = "") -> None:
        """Tell how far the work is: 0 to 1, or -1 where that is unknown."""
        now = time.monotonic()
        if self._shown and now - self._told >= _EVERY_SECONDS:
            self._told = now
            share = f" {fraction:.0%}" if fraction >= 0 else " …"
            print(f"{_CLEAR_LINE}{stage}{share}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            print(_CLEAR_LINE, end="", file=sys.stderr, flush=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
