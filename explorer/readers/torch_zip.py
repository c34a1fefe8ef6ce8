"""PyTorch's zip files: checkpoints since version 1.6, and TorchScript archives, whose code is never run.

Layout: ``<folder>/data.pkl`` is a pickle in which each tensor refers to an entry ``<folder>/data/<key>``
with its raw numbers. TorchScript archives hold their modules' attributes in the same way, beside ``code/``;
a frozen one has its tensors in ``constants.pkl`` and ``constants/``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile
from explorer.readers.assemble import assemble
from explorer.readers.contents import Contents, contents_of
from explorer.readers.inert_pickle import read_pickle
from explorer.readers.inert_values import BadPickleError
from explorer.readers.tensors import Storage
from explorer.readers.torch_values import TORCH, TypedStorage, parse_reference
from explorer.readers.zip_entries import AGAIN, ZipEntries

_LARGEST_PICKLE = 1 << 30
_SPARE = 32 << 20  # that a packed pickle may unpack to, however small it is


def sniff(path: Path, head: bytes) -> bool:
    """Whether the file is a zip archive with a ``data.pkl``."""
    if not head.startswith(b"PK"):
        return False
    try:
        return _folder(ZipEntries(path)) is not None
    except ExplorerError:
        return False


def read(path: Path) -> OpenedFile:
    """Open a checkpoint or TorchScript archive; the tensors' bytes are not touched.

    Raises
    ------
    ExplorerError
    """
    entries = ZipEntries(path)
    script = any(name.split("/", 1)[-1] == "constants.pkl" for name in entries.sizes)
    file_format = "TorchScript archive" if script else "PyTorch checkpoint (zip)"
    return assemble(path, file_format, _contents(entries))


def read_contents(path: Path) -> Contents:
    """What a checkpoint holds, without choosing its tables.

    Raises
    ------
    ExplorerError
    """
    return _contents(ZipEntries(path))


def _folder(entries: ZipEntries) -> str | None:
    """The archive's one folder, with its slash; the shortest where there are several."""
    folders = [name.removesuffix("data.pkl") for name in entries.sizes if name.split("/")[-1] == "data.pkl"]
    return min(folders, key=len, default=None)


def _contents(entries: ZipEntries) -> Contents:
    name, folder = entries.file.path.name, _folder(entries)
    if folder is None:
        raise ExplorerError(f"{name} is a zip archive, but no PyTorch checkpoint.")
    archive = _Archive(entries, folder)
    contents = contents_of(archive.unpickle("data"))
    if not contents.tensors and f"{folder}constants.pkl" in entries.sizes:
        constants = archive.unpickle("constants")
        if isinstance(constants, tuple):
            contents = contents_of({f"CONSTANTS.c{i}": value for i, value in enumerate(constants)})
    return contents


class _Archive:
    """Pickles of an archive, and the storages that they share."""

    def __init__(self, entries: ZipEntries, folder: str) -> None:
        self.entries = entries
        self.folder = folder
        self.storages: dict[str, Storage] = {}
        order = f"{folder}byteorder"
        self.big_endian = order in entries.sizes and entries.read(order).tobytes() == b"big"

    def unpickle(self, part: str) -> Any:
        """``data.pkl`` with ``data/``, or ``constants.pkl`` with ``constants/``."""
        name, file_name = f"{self.folder}{part}.pkl", self.entries.file.path.name
        if self.entries.sizes[name] > _LARGEST_PICKLE:
            raise ExplorerError(f"{file_name} holds a list of tensors that is too large to be one.")
        try:
            return read_pickle(
                self.entries.read(name, _SPARE).tobytes(),
                persistent=lambda pid: self.storage(pid, f"{self.folder}{part}/"),
                rebuilders=TORCH,
            )[0]
        except BadPickleError as error:
            raise ExplorerError(
                f"{file_name} is damaged: its list of tensors cannot be read.", AGAIN, str(error)
            ) from error

    def storage(self, pid: Any, folder: str) -> TypedStorage:
        """The storage that a persistent id refers to."""
        reference = parse_reference(pid)
        name = f"{folder}{reference.key}"
        storage = self.storages.get(name)
        if storage is None:
            nbytes = self.entries.sizes.get(name, 0)
            storage = Storage(reference.key, nbytes, lambda: self.entries.read(name), self.big_endian)
            self.storages[name] = storage
        if reference.nbytes > storage.nbytes:
            raise BadPickleError(
                f"storage {reference.key[:40]!r} needs {reference.nbytes} bytes, {storage.nbytes} are there"
            )
        return TypedStorage(storage, reference.dtype)
