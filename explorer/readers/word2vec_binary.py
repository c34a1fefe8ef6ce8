"""word2vec's binary form: a text header ``rows dim``, then for each row its name, a space and float32 values.

The original C program ends each row with a newline, gensim does not, and a name may begin with one. So the
whole file is read with newlines first, and without them where that does not come out even.
"""

from __future__ import annotations

import mmap
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers import word_vectors
from explorer.readers.mapped_file import MappedFile
from explorer.readers.packed_labels import INSIDE, pack

_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*\n")
_LONGEST_NAME = 4096
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_CHUNK = 1 << 14


def sniff(path: Path, head: bytes) -> bool:
    """Whether a header of two counts is followed by something other than text."""
    header = _HEADER.match(head)
    return header is not None and len(head) > header.end() and not word_vectors.sniff(path, head)


def read(path: Path) -> OpenedFile:
    """List the one table of a word2vec binary; its vectors are read when asked for.

    Raises
    ------
    ExplorerError
        The file is cut off, or does not hold what its header promises.
    """
    mapped = MappedFile(path)
    data = mapped.map()
    header = _HEADER.match(data[:_LONGEST_NAME])
    if header is None:
        raise ExplorerError(f"{path.name} has no header of a word2vec binary.")
    promised, dim = int(header[1]), int(header[2])
    if not dim or 4 * dim > mapped.size - header.end():
        raise ExplorerError(
            f"{path.name} promises rows of {dim:,} numbers, but is only {mapped.size:,} bytes long.",
            "It is cut off, or no word2vec binary.",
        )
    records = _read_records(data, header.end(), dim, path.name)
    rows = len(records.sizes)
    notes: tuple[str, ...] = ()
    if rows != promised:
        notes = (
            f"The header promises {promised:,} rows; the file holds {rows:,}, and all of them are here.",
        )
    table = EmbeddingTable(
        name=path.stem,
        rows=rows,
        dim=dim,
        dtype="float32",
        role=Role.TOKEN,
        read=lambda: _read_vectors(mapped, records.starts, dim),
        labels=pack(records.names, records.sizes, INSIDE),
    )
    return OpenedFile(path, "word2vec binary", (table,), notes)


@dataclass(frozen=True, eq=False)
class _Records:
    """Names, packed, their lengths, and where each row's values start in the file."""

    names: bytes
    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]


@dataclass(frozen=True)
class _Uneven:
    """Why the file does not come out as records, and in which row that shows."""

    row: int
    why: str


def _read_records(data: mmap.mmap, begin: int, dim: int, name: str) -> _Records:
    spaced = _walk(data, begin, dim, newlines=True)
    if isinstance(spaced, _Records):
        return spaced
    dense = _walk(data, begin, dim, newlines=False)
    if isinstance(dense, _Uneven):
        uneven = max(spaced, dense, key=lambda each: each.row)
    else:
        # Where most names begin with a newline, those are the ends of rows, and one row has none.
        starts = np.cumsum(dense.sizes[:-1]).tolist()
        if 2 * sum(dense.names[start : start + 1] == b"\n" for start in starts) <= len(starts):
            return dense
        uneven = spaced
    raise ExplorerError(
        f"Row {uneven.row} of {name} {uneven.why}.", "The file is cut off or damaged, or no word2vec binary."
    )


def _walk(data: mmap.mmap, begin: int, dim: int, *, newlines: bool) -> _Records | _Uneven:
    """All records up to the file's very end."""
    size, length = len(data), 4 * dim
    names: list[bytes] = []
    starts: list[int] = []
    position = begin
    while position < size:
        space = data.find(b" ", position, position + _LONGEST_NAME)
        row = len(names)
        if space < 0:
            return _Uneven(row, "has no name")
        name = data[position:space]
        if _NO_TEXT.search(name):
            return _Uneven(row, "has a name that is no text")
        position = space + 1 + length
        if position > size:
            return _Uneven(row, "is not complete")
        names.append(name)
        starts.append(space + 1)
        if newlines and position < size:
            if data[position] != 10:
                return _Uneven(row, "does not end where it should")
            position += 1
    if not names:
        return _Uneven(0, "is missing")
    sizes = np.fromiter(map(len, names), np.int64, len(names))
    return _Records(b"".join(names), sizes, np.array(starts, np.int64))


def _read_vectors(mapped: MappedFile, starts: NDArray[np.int64], dim: int) -> NDArray[np.float32]:
    vectors = np.empty((len(starts), dim), np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(mapped.view(0, mapped.size), 4 * dim)
    target = vectors.view(np.uint8)
    for chunk in range(0, len(starts), _CHUNK):
        target[chunk : chunk + _CHUNK] = windows[starts[chunk : chunk + _CHUNK]]
    return vectors if sys.byteorder == "little" else vectors.byteswap()
