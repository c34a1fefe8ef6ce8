"""Checkpoints of any size that take no room: the numbers are holes in the file, which read as zeros."""

from __future__ import annotations

import json
import struct
import zlib
from math import prod
from pathlib import Path

from pickle_assembly import checkpoint, tensor

_SIZES = {"F32": 4, "F16": 2, "BF16": 2}


def sparse_safetensors(path: Path, shapes: dict[str, tuple[int, ...]], dtype: str = "F32") -> None:
    header, end = {}, 0
    for name, shape in shapes.items():
        start, end = end, end + prod(shape) * _SIZES[dtype]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    raw = json.dumps(header).encode()
    raw += b" " * (-len(raw) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(raw)) + raw)
        file.truncate(8 + len(raw) + end)


def sparse_torch_zip(path: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    """A zip64 archive as PyTorch writes it without checksums, of float32."""
    entries = {}
    for i, (name, shape) in enumerate(shapes.items()):
        strides = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
        entries[name] = tensor("FloatStorage", str(i), prod(shape), shape, strides)
    records: list[tuple[str, bytes | int]] = [("m/data.pkl", checkpoint(entries))]
    records += [(f"m/data/{i}", 4 * prod(shape)) for i, shape in enumerate(shapes.values())]
    with path.open("wb") as file:
        directory = b""
        for name, content in records:
            offset, raw = file.tell(), name.encode()
            size = content if isinstance(content, int) else len(content)
            checksum = 0 if isinstance(content, int) else zlib.crc32(content)
            sizes = struct.pack("<HHQQ", 1, 16, size, size)
            common = struct.pack(
                "<HHHHHIIIHH", 45, 0, 0, 0, 0, checksum, 0xFFFFFFFF, 0xFFFFFFFF, len(raw), len(sizes)
            )
            file.write(b"PK\x03\x04" + common + raw + sizes)
            if isinstance(content, int):
                file.seek(content, 1)
            else:
                file.write(content)
            extra = struct.pack("<HHQQQ", 1, 24, size, size, offset)
            central = struct.pack(
                "<HHHHHHIIIHHHHHII",
                45,
                45,
                0,
                0,
                0,
                0,
                checksum,
                0xFFFFFFFF,
                0xFFFFFFFF,
                len(raw),
                len(extra),
                0,
                0,
                0,
                0,
                0xFFFFFFFF,
            )
            directory += b"PK\x01\x02" + central + raw + extra
        start, count = file.tell(), len(records)
        file.write(directory)
        file.write(
            b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, len(directory), start)
        )
        file.write(b"PK\x06\x07" + struct.pack("<IQI", 0, start + len(directory), 1))
        file.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
