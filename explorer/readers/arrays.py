"""NumPy's own files: one array (``.npy``) or a zip of several (``.npz``).

The array header is parsed by NumPy as a literal; pickled objects inside are never touched. What a header
claims is checked against the bytes that are there before anything is made of it.
"""

from __future__ import annotations

import ast
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from explorer.core.dtypes import FLOATS, name_of
from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers import roles
from explorer.readers.mapped_file import MappedFile
from explorer.readers.packed_labels import INSIDE, escape
from explorer.readers.tensors import Tensor

_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 10_000  # NumPy's own limit
_TYPE = re.compile(r"[<>|=]?([iu][1248]|f[248]|[SU][1-9]\d{0,8}|V2)")
_ZIP = b"PK\x03\x04"
_FREE = 256 << 20  # bytes that a zip's member may unfold to, however small it is
_MOST_UNFOLDED = 100  # times its size, above that
_NAMING = ("label", "word", "token", "vocab", "name", "text", "title", "id", "index", "key")
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)


def sniff(path: Path, head: bytes) -> bool:
    """Whether the file has NumPy's mark, or is a zip of nothing but such files."""
    if head.startswith(_MAGIC):
        return True
    if not head.startswith(_ZIP):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except _FAULTS:
        return False
    return bool(names) and all(name.endswith(".npy") for name in names)


def read(path: Path) -> OpenedFile:
    """List the tables of an ``.npy`` or ``.npz`` file.

    Raises
    ------
    ExplorerError
        It holds no table of numbers, holds Python objects, or is cut off.
    """
    with path.open("rb") as file:
        zipped = file.read(4) == _ZIP
    if zipped:
        return _read_npz(path)
    array = _npy_array(path)
    if array.is_text:
        raise ExplorerError(f"{path.name} holds texts, not vectors.")
    return OpenedFile(path, "NumPy array", (_table(array, path.stem, _role(path.stem)),))


@dataclass(frozen=True, eq=False)
class _Array:
    """An array that a file holds, not read yet; values come in native byte order."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    read: Callable[[], NDArray]

    @property
    def is_text(self) -> bool:
        return self.dtype.kind in "US"

    @property
    def table_shape(self) -> tuple[int, int]:
        """As rows and dim: a lone vector is one row; axes after the first are one."""
        shape = self.shape
        while len(shape) > 2 and shape[0] == 1:
            shape = shape[1:]
        if len(shape) == 1:
            shape = (1, *shape)
        return shape[0], prod(shape[1:])

    @property
    def size(self) -> int:
        return prod(self.shape)

    def rows(self) -> NDArray:
        return self.read().reshape(self.table_shape)


def _npy_array(path: Path) -> _Array:
    mapped = MappedFile(path)
    with path.open("rb") as file:
        header = _header(file, path.name)
        start = file.tell()
    dtype, shape, _ = header
    size = prod(shape) * dtype.itemsize
    if start + size > mapped.size:
        raise ExplorerError(
            f"{path.name} is cut off: its header promises {size:,} bytes of values, "
            f"and {mapped.size - start:,} are there."
        )

    def read() -> NDArray:
        return _array(mapped.view(start, size), header, path.name)

    return _Array(path.stem, dtype, shape, read)


def _header(file: IO[bytes], name: str) -> tuple[np.dtype, tuple[int, ...], bool]:
    """The type, shape and order of the array that follows; refused where it can't be numbers or texts."""
    match _literal(file, name):
        case {"descr": descr, "fortran_order": bool(fortran), "shape": tuple(shape)}:
            pass
        case _:
            raise ExplorerError(f"{name} is damaged: its NumPy header does not describe an array.")
    if not all(type(size) is int and 0 <= size < 1 << 62 for size in shape):
        raise ExplorerError(f"{name} is damaged: its sizes are {shape}.")
    if not isinstance(descr, str):
        raise ExplorerError(
            f"{name} holds records of several fields.", "Save the vectors as one array of numbers."
        )
    if re.fullmatch(r"\|?O\d?", descr):
        raise ExplorerError(
            f"{name} holds Python objects, which are not read: that could run what the file holds.",
            "Save the vectors as an array of numbers.",
        )
    if not _TYPE.fullmatch(descr):
        raise ExplorerError(f"{name} holds values of type {descr!r}, not real numbers.")
    # NumPy saves bfloat16 as two raw bytes.
    dtype = FLOATS["bfloat16"] if descr.endswith("V2") else np.dtype(descr)
    return dtype, shape, fortran


def _literal(file: IO[bytes], name: str) -> object:
    """The header's Python literal, of any version of the format."""
    start = file.read(8)
    sizes = {1: 2, 2: 4, 3: 4}
    if len(start) < 8 or start[:6] != _MAGIC or start[6] not in sizes:
        raise ExplorerError(f"{name} is no NumPy array, or of a newer format than is known here.")
    length = int.from_bytes(file.read(sizes[start[6]]), "little")
    if length > _LONGEST_HEADER:
        raise ExplorerError(f"{name} is damaged: its NumPy header is {length:,} bytes long.")
    text = file.read(length).decode("latin-1")
    try:
        return ast.literal_eval(re.sub(r"(\d)L\b", r"\1", text).strip())  # Python 2 wrote sizes as 10L
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        message = f"{name} is damaged: its NumPy header cannot be read."
        raise ExplorerError(message, detail=str(error)) from error


def _array(raw: NDArray[np.uint8], header: tuple[np.dtype, tuple[int, ...], bool], name: str) -> NDArray:
    """Bytes as the array that its header describes, in native byte order."""
    dtype, shape, fortran = header
    if dtype.kind == "U" and raw.size and raw.view(dtype.byteorder + "u4").max() > 0x10FFFF:
        raise ExplorerError(f"{name} is damaged: its texts are none.")
    array = raw.view(dtype).reshape(shape, order="F" if fortran else "C")
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


def _read_npz(path: Path) -> OpenedFile:
    arrays: list[_Array] = []
    notes: list[str] = []
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                try:
                    arrays.append(_member_array(path, archive, member))
                except ExplorerError as error:
                    notes.append(str(error))
    except _FAULTS as error:
        raise ExplorerError(f"{path.name} is damaged: its zip cannot be read.", detail=str(error)) from error
    tables = _tables(path, arrays)
    if not tables:
        raise ExplorerError(notes[0] if notes else f"{path.name} holds no table of numbers.")
    return OpenedFile(path, "NumPy arrays (npz)", tables, tuple(notes))


def _member_array(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> _Array:
    name = member.filename.removesuffix(".npy")
    shown = f"{name} in {path.name}"
    try:
        with archive.open(member) as file:
            header = _header(file, shown)
            start = file.tell()
    except _FAULTS as error:
        raise ExplorerError(f"{shown} is damaged.", detail=str(error)) from error
    dtype, shape, _ = header
    size = prod(shape) * dtype.itemsize
    if start + size > member.file_size or member.compress_size > path.stat().st_size:
        raise ExplorerError(f"{shown} is cut off.")
    if size > max(_FREE, _MOST_UNFOLDED * member.compress_size):
        raise ExplorerError(
            f"{shown} would unfold {member.compress_size:,} bytes to {size:,}; it is not read."
        )

    def read() -> NDArray:
        raw = np.empty(size, np.uint8)
        try:
            with zipfile.ZipFile(path) as again, again.open(member) as file:
                file.read(start)
                done = 0
                while done < size and (chunk := file.read(min(1 << 24, size - done))):
                    raw[done : done + len(chunk)] = np.frombuffer(chunk, np.uint8)
                    done += len(chunk)
                if done < size or file.read(1) != b"":  # the end is where the checksum is compared
                    raise ExplorerError(f"{shown} is cut off.")
        except _FAULTS as error:
            raise ExplorerError(f"{shown} is damaged.", detail=str(error)) from error
        return _array(raw, header, shown)

    return _Array(name, dtype, shape, read)


def _tables(path: Path, arrays: list[_Array]) -> tuple[EmbeddingTable, ...]:
    """Matrices are tables; lists of their length name their rows or describe them."""
    numbers = [array for array in arrays if not array.is_text and array.size]
    matrices = [array for array in numbers if len(array.shape) > 1 and array.table_shape[1] > 1]
    if not matrices:
        return _vectors_by_name(path, [array for array in numbers if len(array.shape) == 1])
    columns = [array for array in arrays if len(array.shape) == 1]
    if len(matrices) > 1 and any("." in array.name for array in matrices):
        return tuple(_model_tables(matrices))
    matrices.sort(key=lambda array: (name_of(array.dtype) not in FLOATS, -array.size))
    return tuple(_described(array, columns) for array in matrices)


def _vectors_by_name(path: Path, vectors: list[_Array]) -> tuple[EmbeddingTable, ...]:
    """Vectors of one length are the rows of one table, named by their keys; others are tables of one row."""
    if len(vectors) > 1 and len({(array.shape, array.dtype) for array in vectors}) == 1:
        labels = Labels.from_texts((array.name for array in vectors), INSIDE)
        first = vectors[0]
        dtype = first.dtype.newbyteorder("=")
        stack: Callable[[], NDArray] = lambda: np.stack([array.read() for array in vectors])  # noqa: E731
        shape = len(vectors), first.shape[0]
        return (EmbeddingTable(path.stem, *shape, name_of(dtype), Role.TOKEN, stack, labels),)
    return tuple(_table(array, array.name, _role(array.name)) for array in vectors)


def _model_tables(matrices: list[_Array]) -> list[EmbeddingTable]:
    """A model's tensors under their names: the roles are told by those."""
    by_name = {array.name: array for array in matrices}
    tensors = {name: Tensor(name_of(a.dtype), a.shape, a.read, name) for name, a in by_name.items()}
    return [
        _table(by_name[found.names[0]], found.names[0], found.role) for found in roles.find_tables(tensors)
    ]


def _described(array: _Array, columns: list[_Array]) -> EmbeddingTable:
    """A matrix with the lists that have an entry for each of its rows."""
    rows = array.table_shape[0]
    fitting = {column.name: column for column in columns if column.shape[0] == rows}
    texts = [name for name, column in fitting.items() if column.is_text]
    texts.sort(key=_naming_rank)
    metadata: dict[str, NDArray] = {}
    labels = None
    for name in texts + [name for name in fitting if name not in texts]:
        values = fitting[name].read()
        if fitting[name].is_text:
            values = np.array([escape(v) if isinstance(v, bytes) else v for v in values.tolist()], object)
            if labels is None:
                labels = Labels.from_texts(values.tolist(), INSIDE)
                continue
        metadata[name] = values
    role = Role.IMAGES if any("image" in name.lower() for name in fitting) else _role(array.name)
    if role is Role.OTHER and labels is not None:
        role = Role.TOKEN
    return _table(array, array.name, role, labels, metadata)


def _naming_rank(name: str) -> int:
    """How likely a list of this name holds the rows' names; 0 is the likeliest."""
    return next((rank for rank, word in enumerate(_NAMING) if word in name.lower()), len(_NAMING))


def _table(
    array: _Array,
    name: str,
    role: Role,
    labels: Labels | None = None,
    metadata: Mapping[str, NDArray] | None = None,
) -> EmbeddingTable:
    if not array.size or not array.shape:
        raise ExplorerError(f"{array.name} holds no vector: its shape is {array.shape}.")
    rows, dim = array.table_shape
    notes: tuple[str, ...] = ()
    if len(array.shape) > 2 and (rows, dim) != array.shape[-2:]:
        shape = " × ".join(map(str, array.shape))
        notes = (f"Its shape is {shape}; each of the {rows:,} rows holds {dim:,} numbers.",)
    dtype = name_of(array.dtype)
    return EmbeddingTable(
        name, rows, dim, dtype, role, array.rows, labels, metadata=metadata or {}, notes=notes
    )


def _role(name: str) -> Role:
    lower = name.lower()
    return Role.IMAGES if "image" in lower or "img" in lower else Role.OTHER
