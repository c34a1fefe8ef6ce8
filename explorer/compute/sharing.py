"""Arrays between processes: files in a session's own folder, mapped by both sides, never pickled."""

from __future__ import annotations

import io
import itertools
import os
import pickle
import shutil
import struct
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError

_PREFIX = "embedding-explorer-session-"
_LOCK = "lock"
# Smaller arrays travel inside the message: a file each would cost more.
_INLINE_BYTES = 8192
_FORSAKEN_SECONDS = 3600
_ID = struct.Struct("<q")


@dataclass(frozen=True)
class SharedArray:
    """Where an array lies.

    Attributes
    ----------
    path : str
    shape : tuple of int
    dtype : dtype
    once : bool
        For one reader only: the file's name is removed as soon as it is mapped.
    """

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype
    once: bool = False

    def map(self, *, writable: bool = False) -> NDArray[Any]:
        """The array, mapped; changes by any process show in all."""
        mapped = np.memmap(self.path, self.dtype, "r+" if writable else "r", shape=self.shape)
        if self.once:
            # Windows keeps the name until the session ends.
            with suppress(OSError):
                os.unlink(self.path)
        return mapped


class SessionFolder:
    """The temporary folder in which one session's arrays lie.

    Its owner holds a lock in it for as long as it lives, so that what a killed session has left
    is known and removed: by its own workers at once, or by the next session.

    Parameters
    ----------
    path : Path
        An existing folder, made by ``create`` in the session's main process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None
        self._count = itertools.count()

    @classmethod
    def create(cls) -> SessionFolder:
        """Make and lock a new folder, and remove those of sessions that are no more."""
        for forsaken in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            cls(forsaken).remove_if_forsaken()
        folder = cls(Path(tempfile.mkdtemp(prefix=_PREFIX)))
        folder._lock = os.open(folder.path / _LOCK, os.O_RDWR | os.O_CREAT)
        _try_lock(folder._lock)
        return folder

    def put(self, array: NDArray[Any], *, group: str = "", once: bool = False) -> SharedArray:
        """Write an array, or say where it lies if it is the whole of one of this folder's files.

        Parameters
        ----------
        array : array of numbers
        group : str
            Arrays of a group are dropped together.
        once : bool
            For one reader only.
        """
        known = self._place_of(array)
        if known is not None:
            return known
        path = self._new_path(group)
        try:
            with path.open("wb") as file:
                np.ascontiguousarray(array).tofile(file)
        except OSError as error:
            raise _disk_error(path, array.nbytes, error) from error
        return SharedArray(str(path), array.shape, array.dtype, once)

    def blank(self, shape: tuple[int, ...], dtype: type, *, group: str = "") -> NDArray[Any]:
        """A new writable mapped array of zeros, its disk space reserved."""
        return self.put(np.zeros(shape, dtype), group=group).map(writable=True)

    def drop(self, group: str) -> None:
        """Remove a group's files; what is mapped stays readable where the system allows it."""
        shutil.rmtree(self.path / group, ignore_errors=True)

    def remove(self) -> None:
        """Remove the folder and release its lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        shutil.rmtree(self.path, ignore_errors=True)

    def remove_if_forsaken(self) -> None:
        """Remove the folder where its owner has ended, however it ended."""
        with suppress(OSError):
            try:
                lock = os.open(self.path / _LOCK, os.O_RDWR)
            except FileNotFoundError:
                # Its owner may be about to lock it.
                if time.time() - self.path.stat().st_mtime < _FORSAKEN_SECONDS:
                    return
            else:
                free = _try_lock(lock)
                os.close(lock)
                if not free:
                    return
            shutil.rmtree(self.path, ignore_errors=True)

    def _new_path(self, group: str) -> Path:
        folder = self.path / group
        folder.mkdir(exist_ok=True)
        return folder / f"{os.getpid()}-{next(self._count)}.array"

    def _place_of(self, array: NDArray[Any]) -> SharedArray | None:
        if not isinstance(array, np.memmap) or not array.flags.c_contiguous:
            return None
        path = Path(str(array.filename))
        if self.path not in path.parents or not path.exists() or path.stat().st_size != array.nbytes:
            return None
        return SharedArray(str(path), array.shape, array.dtype)


def pack(message: object, folder: SessionFolder, *, group: str = "", once: bool = False) -> bytes:
    """Pickle a message, its larger arrays left out and put into the session's folder.

    Parameters
    ----------
    message : object
    folder : SessionFolder
    group : str
        To which group its arrays belong.
    once : bool
        Its arrays are for this one message's reader only.

    Raises
    ------
    ExplorerError
        Where the disk is full.
    """
    buffer = io.BytesIO()
    buffer.write(_ID.pack(getattr(message, "id", 0)))
    _Packer(buffer, folder, group, once).dump(message)
    return buffer.getvalue()


def unpack(data: bytes) -> Any:
    """A message as it was packed, its arrays mapped.

    Raises
    ------
    OSError
        Where an array's file is gone.
    """
    return _Unpacker(io.BytesIO(data[_ID.size :])).load()


def id_of(data: bytes) -> int:
    """The ``id`` of a packed message, even of one that cannot be unpacked; 0 where it has none."""
    return int(_ID.unpack_from(data)[0])


class _Packer(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, folder: SessionFolder, group: str, once: bool) -> None:
        super().__init__(buffer, protocol=5)
        self._folder, self._group, self._once = folder, group, once

    def persistent_id(self, value: object) -> SharedArray | None:
        if not isinstance(value, np.ndarray) or value.dtype.hasobject:
            return None
        # One that is mapped may change while it is read, however small it is; an empty file can't be mapped.
        if value.nbytes < (1 if isinstance(value, np.memmap) else _INLINE_BYTES):
            return None
        return self._folder.put(value, group=self._group, once=self._once)


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, place: SharedArray) -> NDArray[Any]:
        return place.map()


def table_group(key: int) -> str:
    """The group of a table's arrays."""
    return f"table-{key}"


def _try_lock(descriptor: int) -> bool:
    """Take an exclusive lock that the system drops when the process ends; False where it is taken."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _disk_error(path: Path, size: int, error: OSError) -> ExplorerError:
    return ExplorerError(
        f"{size / 1e6:,.0f} MB cannot be written to {path.parent.parent}.",
        "Free some space on that disk, or point TMPDIR to another.",
        str(error),
    )
