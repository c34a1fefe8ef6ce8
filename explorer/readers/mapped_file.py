"""A file whose bytes are looked at where they lie, without reading all of it."""

from __future__ import annotations

import mmap
import os
import weakref
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError


class MappedFile:
    """A file mapped into memory when first read, for as long as anything read from it lives.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    path : Path
    size : int
        Bytes in the file when it was opened.

    Raises
    ------
    ExplorerError
        The file is missing or can't be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            stat = path.stat()
        except OSError as error:
            raise ExplorerError(f"{path} cannot be read.", detail=str(error)) from error
        self.size = stat.st_size
        self._stamp = (stat.st_size, stat.st_mtime_ns)
        self._alive: weakref.ref[mmap.mmap] | None = None

    def map(self) -> mmap.mmap:
        """The whole file, read-only.

        Raises
        ------
        ExplorerError
            The file is gone, empty, or has changed since it was opened: what is known of it no longer holds.
        """
        mapped = self._alive() if self._alive is not None else None
        if mapped is not None:
            return mapped
        try:
            with self.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                if (stat.st_size, stat.st_mtime_ns) != self._stamp:
                    raise ExplorerError(
                        f"{self.path.name} has changed since it was opened.",
                        "Open it again to read what it holds now.",
                    )
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise ExplorerError(f"{self.path} cannot be read.", detail=str(error)) from error
        self._alive = weakref.ref(mapped)
        return mapped

    def view(self, offset: int, count: int) -> NDArray[np.uint8]:
        """Bytes ``offset`` to ``offset + count`` as they lie in the file, shape ``(count,)``.

        Raises
        ------
        ExplorerError
            They are not all there.
        """
        if offset < 0 or count < 0 or offset + count > self.size:
            raise ExplorerError(f"{self.path.name} is cut off.", "Copy or download it again.")
        if count == 0:
            return np.zeros(0, np.uint8)
        return np.frombuffer(self.map(), np.uint8, count, offset)


def let_go(array: NDArray) -> None:
    """Let the memory go that the pages of a file under an array take; they are read again when touched.

    A pass over a mapped file that calls this now and then takes no more memory than it reads between.
    Does nothing for other arrays, and on systems that cannot.
    """
    if array.flags.writeable or not hasattr(mmap, "MADV_DONTNEED"):
        return
    base: object = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    if base is not None:
        with suppress(OSError, ValueError):
            base.madvise(mmap.MADV_DONTNEED)
