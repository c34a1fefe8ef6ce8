"""safetensors: the size of a JSON header (8 bytes), the header, then the raw numbers of all tensors.

Read by hand because the library gives no bfloat16 or float8 to NumPy, and copies instead of mapping.
"""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile
from explorer.readers.assemble import assemble
from explorer.readers.contents import Contents, contents_of
from explorer.readers.mapped_file import MappedFile
from explorer.readers.tensors import DTYPES, Storage, Tensor, Unreadable, strided
from explorer.readers.zip_entries import AGAIN

_LARGEST_HEADER = 32 << 20
_TYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
    "C64": "complex64",
}


def sniff(path: Path, head: bytes) -> bool:
    """Whether the file starts with the size of a header and the header's brace."""
    return head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= _LARGEST_HEADER


def read(path: Path) -> OpenedFile:
    """Open a file of tensors; only its header is read.

    Raises
    ------
    ExplorerError
    """
    return assemble(path, "safetensors", read_contents(path))


def read_contents(path: Path) -> Contents:
    """What a file holds, without choosing its tables.

    Raises
    ------
    ExplorerError
    """
    file = MappedFile(path)
    header, start = _header(file)
    facts = header.pop("__metadata__", {})
    tensors = {name: _tensor(file, start, name, entry) for name, entry in header.items()}
    _check_cover(file, start, header)
    contents = contents_of(tensors)
    if isinstance(facts, dict):
        # save_model keeps one of the names of tied weights, and notes the others here.
        contents.tied = {
            name: kept for name, kept in facts.items() if kept in tensors and name not in tensors
        }
    return contents


def read_header(path: Path) -> tuple[dict[str, Any], int]:
    """A file's header as it stands there, ``__metadata__`` and all, and where the numbers start.

    The numbers need not be there.

    Raises
    ------
    ExplorerError
    """
    return _header(MappedFile(path))


def _header(file: MappedFile) -> tuple[dict[str, Any], int]:
    """The header, and where the numbers start."""
    size = int.from_bytes(file.view(0, 8).tobytes(), "little")
    if size > _LARGEST_HEADER:
        raise _damaged(file, f"a header of {size:,} bytes")
    try:
        header = json.loads(file.view(8, size).tobytes(), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise _damaged(file, f"the header is no JSON: {error}") from error
    if not isinstance(header, dict):
        raise _damaged(file, "the header is no list of tensors")
    return header, 8 + size


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a name stands twice in it")
    return entries


def _check_cover(file: MappedFile, start: int, header: dict[str, Any]) -> None:
    """The tensors must follow one another and fill the file, as the format demands; else all is shifted."""
    end = 0
    for first, last in sorted(entry["data_offsets"] for entry in header.values()):
        if first != end:
            raise _damaged(file, f"the tensors do not follow one another at byte {start + end}")
        end = last
    if start + end != file.size:
        raise _damaged(file, f"{file.size - start - end} bytes belong to no tensor")


def _tensor(file: MappedFile, start: int, name: str, entry: Any) -> Tensor | Unreadable:
    match entry:
        case {"dtype": str() as stored, "shape": [*shape], "data_offsets": [int() as first, int() as last]}:
            pass
        case _:
            raise _damaged(file, f"tensor {name} is described in an unknown way")
    if any(type(n) is not int or not 0 <= n < 1 << 62 for n in (first, last, *shape)) or first > last:
        raise _damaged(file, f"tensor {name} has impossible sizes")
    if start + last > file.size:
        raise ExplorerError(
            f"{file.path.name} is cut off: {file.size:,} bytes are there, {start + last:,} are promised.",
            AGAIN,
        )
    dtype = _TYPES.get(stored)
    if dtype is None:
        return Unreadable(f"of type {stored}")
    if prod(shape) * DTYPES[dtype].itemsize != last - first:
        raise _damaged(file, f"tensor {name} has {last - first} bytes, which is not {shape} of {stored}")
    storage = Storage(name, last - first, lambda: file.view(start + first, last - first))
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    try:
        return strided(storage, dtype, 0, shape, strides)
    except ValueError as error:
        raise _damaged(file, f"tensor {name}: {error}") from error


def _damaged(file: MappedFile, detail: str) -> ExplorerError:
    return ExplorerError(f"{file.path.name} is damaged: its header cannot be right.", AGAIN, detail)
