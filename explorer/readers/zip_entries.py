"""The entries of a zip archive, looked at where they lie in the file."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.readers.mapped_file import MappedFile, let_go

_LOCAL = struct.Struct("<4s5H3I2H")  # signature, ..., name length, extra length
_CHECKED = 1 << 30  # entries up to this size have their checksum compared
_CHUNK = 1 << 24
_SPARE = 256 << 20
_RATIO = 50  # and beyond that, by how much it may unpack
AGAIN = "Copy or download it again."


class ZipEntries:
    """A zip archive's entries by name.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    sizes : dict of str to int
        Bytes of each entry, unpacked.

    Raises
    ------
    ExplorerError
        The archive has no directory (it is cut off), or a damaged one.
    """

    def __init__(self, path: Path) -> None:
        self.file = MappedFile(path)
        try:
            with zipfile.ZipFile(path) as archive:
                entries = archive.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as error:
            raise ExplorerError(
                f"{path.name} is cut off or damaged: its zip directory cannot be read.", AGAIN, str(error)
            ) from error
        self._entries = {entry.filename: entry for entry in entries}
        if len(self._entries) < len(entries):
            raise self._damaged("two entries have the same name")
        self.sizes = {name: entry.file_size for name, entry in self._entries.items()}

    def read(self, name: str, spare: int = _SPARE) -> NDArray[np.uint8]:
        """One entry's bytes, read-only: memory-mapped where it is stored, else unpacked within bounds.

        Parameters
        ----------
        name : str
        spare : int
            Bytes that it may unpack to, whatever its packed size.

        Raises
        ------
        ExplorerError
            It is damaged, encrypted, packed in an unknown way, or would unpack to too much.
        """
        entry = self._entries[name]
        if entry.flag_bits & 1:
            raise ExplorerError(f"{self.file.path.name} is encrypted.", "Unpack it first.")
        packed = self.file.view(self._start_of(entry), entry.compress_size)
        if entry.compress_type == zipfile.ZIP_STORED:
            if entry.compress_size != entry.file_size:
                raise self._damaged(f"{name} has two sizes")
            data = packed
        elif entry.compress_type == zipfile.ZIP_DEFLATED:
            data = np.frombuffer(self._unpacked(entry, packed, spare), np.uint8)
        else:
            raise ExplorerError(
                f"{self.file.path.name} is packed by a method that is not read here.",
                "Unpack and save it again.",
            )
        self._check(entry, data)
        return data

    def _check(self, entry: zipfile.ZipInfo, data: NDArray[np.uint8]) -> None:
        """Compare the checksum; of very large entries, and of those without one, only where they end."""
        if entry.CRC and len(data) <= _CHECKED:  # PyTorch can be told to write none: all are zero then
            if _checksum(data) != entry.CRC:
                raise self._damaged(f"the checksum of {entry.filename} does not match")
            return
        after = self.file.view(self._start_of(entry) + entry.compress_size, 2).tobytes()
        if after != b"PK":  # the next header, or the entry's own closing record
            raise self._damaged(f"{entry.filename} does not end where the directory says")

    def _start_of(self, entry: zipfile.ZipInfo) -> int:
        """Where the entry's bytes start, as its own header says; it must agree with the directory."""
        header = self.file.view(entry.header_offset, _LOCAL.size).tobytes()
        signature, *_, name_length, extra_length = _LOCAL.unpack(header)
        start: int = entry.header_offset + _LOCAL.size + name_length + extra_length
        name = self.file.view(entry.header_offset + _LOCAL.size, name_length).tobytes()
        encoding = "utf-8" if entry.flag_bits & 0x800 else "cp437"
        if signature != b"PK\x03\x04" or name.decode(encoding, "replace") != entry.orig_filename:
            raise self._damaged(f"{entry.filename} is not where the directory says")
        return start

    def _unpacked(self, entry: zipfile.ZipInfo, packed: NDArray[np.uint8], spare: int) -> bytes:
        if entry.file_size > max(spare, _RATIO * entry.compress_size):
            raise ExplorerError(
                f"{self.file.path.name} would unpack to far more than it can hold.",
                "It looks made to fill the memory.",
                f"{entry.filename}: {entry.compress_size:,} bytes to {entry.file_size:,}",
            )
        unpacker = zlib.decompressobj(-15)
        try:
            data = unpacker.decompress(packed.data, entry.file_size + 1)
        except zlib.error as error:
            raise self._damaged(f"{entry.filename}: {error}") from error
        if len(data) != entry.file_size:
            raise self._damaged(f"{entry.filename} unpacks to another size than the directory says")
        return data

    def _damaged(self, detail: str) -> ExplorerError:
        return ExplorerError(f"{self.file.path.name} is damaged.", AGAIN, detail)


def _checksum(data: NDArray[np.uint8]) -> int:
    checksum = 0
    for start in range(0, len(data), _CHUNK):
        checksum = zlib.crc32(data[start : start + _CHUNK].data, checksum)
        let_go(data)
    return checksum
