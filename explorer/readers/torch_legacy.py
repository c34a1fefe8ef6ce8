"""PyTorch's files from before version 1.6 (still written on request): pickles, then raw numbers.

Layout: a magic number, a protocol version, facts of the writing machine, the saved object and the list of
its storages' keys, each a pickle of its own; then for each key the count of elements (8 bytes) and the
elements, one after the other.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile
from explorer.readers.assemble import assemble
from explorer.readers.contents import Contents, contents_of
from explorer.readers.inert_pickle import read_pickle
from explorer.readers.inert_values import BadPickleError, Global
from explorer.readers.mapped_file import MappedFile
from explorer.readers.tensors import Storage
from explorer.readers.torch_values import TORCH, StorageReference, TypedStorage, parse_reference
from explorer.readers.zip_entries import AGAIN

if TYPE_CHECKING:
    from explorer.readers.inert_pickle import Machine

View: TypeAlias = Callable[[int, int], NDArray[np.uint8]]

MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_MAGIC_BYTES = MAGIC.to_bytes(10, "little")


def sniff(path: Path, head: bytes) -> bool:
    """Whether the file starts with the magic number's pickle (in any protocol)."""
    return head.startswith(b"\x80") and _MAGIC_BYTES in head[:32]


def read(path: Path) -> OpenedFile:
    """Open a checkpoint; the tensors' bytes are not touched.

    Raises
    ------
    ExplorerError
    """
    return assemble(path, "PyTorch checkpoint (legacy)", read_contents(path))


def read_contents(path: Path) -> Contents:
    """What a checkpoint holds, without choosing its tables.

    Raises
    ------
    ExplorerError
    """
    file = MappedFile(path)
    try:
        return contents_of(_Reader(file.map(), file.view).run())
    except BadPickleError as error:
        raise ExplorerError(f"{path.name} is cut off or damaged.", AGAIN, str(error)) from error


def storage_from_bytes(machine: Machine, args: tuple[Any, ...]) -> Any:
    """``torch.storage._load_from_bytes(data)``: how a plain pickle holds a tensor's numbers."""
    (data,) = args
    if type(data) is not bytes:
        raise TypeError("a storage is made from something that is no bytes")
    machine.charge(1000 + 4 * len(data))
    return _Reader(data, lambda start, count: np.frombuffer(data, np.uint8, count, start)).run()


@dataclass(eq=False)
class _Run:
    """A storage's bytes; where in the file they start is known only once the pickles are read."""

    reference: StorageReference
    view: View
    start: int = -1

    def part(self, first: int, count: int, big_endian: bool) -> Storage:
        """Some of its bytes."""
        return Storage(self.reference.key, count, lambda: self.view(self.start + first, count), big_endian)


class _Reader:
    """One pass over a file.

    Parameters
    ----------
    data : mmap or bytes
    view : callable
        Gives ``count`` bytes from ``start`` later on, when ``data`` is no longer held.
    """

    def __init__(self, data: mmap.mmap | bytes, view: View) -> None:
        self.data = data
        self.view = view
        self.position = 0
        self.big_endian = False
        self.runs: dict[str, _Run] = {}
        self.parts: dict[tuple[str, int, int], Storage] = {}

    def run(self) -> Any:
        """The saved object, once every storage is found."""
        if self._next() != MAGIC or self._next() != _PROTOCOL:
            raise BadPickleError("the magic number is not PyTorch's")
        facts = self._next()
        self.big_endian = isinstance(facts, dict) and facts.get("little_endian") is False
        root, keys = self._next(), self._next()
        if not isinstance(keys, list):
            raise BadPickleError("the list of storages is missing")
        self._locate(keys)
        return root

    def _next(self) -> Any:
        value, self.position = read_pickle(
            self.data, self.position, persistent=self._persistent, rebuilders=TORCH
        )
        return value

    def _persistent(self, pid: Any) -> TypedStorage | Global:
        match pid:
            case ("module", Global() as cls, *_):  # a class, with its source text
                return cls
        return self._storage(pid)

    def _storage(self, pid: Any) -> TypedStorage:
        reference = parse_reference(pid)
        run = self.runs.get(reference.key)
        if run is None:
            # How many bytes are there is known only after the pickle; more than the file has, there can't be.
            if reference.nbytes > len(self.data) - self.position:
                raise BadPickleError(f"storage {reference.key[:40]!r} needs {reference.nbytes} bytes")
            run = self.runs[reference.key] = _Run(reference, self.view)
        elif (run.reference.dtype, run.reference.elements) != (reference.dtype, reference.elements):
            raise BadPickleError(f"storage {reference.key[:40]!r} is described in two ways")
        first, count = reference.view[1:] if reference.view else (0, reference.elements)
        bounds = (reference.key, first * reference.itemsize, count * reference.itemsize)
        if bounds not in self.parts:
            self.parts[bounds] = run.part(*bounds[1:], self.big_endian)
        return TypedStorage(self.parts[bounds], reference.dtype)

    def _locate(self, keys: list[Any]) -> None:
        """Hop from storage to storage; each must have the size that its tensors were promised."""
        for key in keys:
            run = self.runs.get(key) if isinstance(key, str) else None
            if run is None or run.start >= 0 or not run.reference.itemsize:
                raise BadPickleError("a storage belongs to no tensor, or is of an unknown type")
            count = self.data[self.position : self.position + 8]
            elements = int.from_bytes(count, "big" if self.big_endian else "little")
            if elements != run.reference.elements:
                raise BadPickleError(
                    f"storage {key[:40]!r} has {elements} elements, not {run.reference.elements}"
                )
            run.start = self.position + 8
            self.position = run.start + run.reference.nbytes
            if self.position > len(self.data):
                raise BadPickleError(f"storage {key[:40]!r} breaks off")
        if any(run.start < 0 for run in self.runs.values()):
            raise BadPickleError("a storage is missing")
