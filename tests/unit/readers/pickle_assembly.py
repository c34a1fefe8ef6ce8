"""Pickles written opcode by opcode, and the files that they can come in."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from pathlib import Path

LEGACY_HEAD = b"".join(
    pickle.dumps(part, protocol=2)
    for part in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True})
)


def text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def name(module: str, attribute: str) -> bytes:
    return f"c{module}\n{attribute}\n".encode()


def number(value: int) -> bytes:
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw


def calls(module: str, function: str, argument: str) -> dict[str, bytes]:
    """A call of ``module.function(argument)``, by every opcode that can make one."""
    target, args = name(module, function), b"(" + text(argument) + b"t"
    return {
        "reduce": b"\x80\x02" + target + args + b"R.",
        "stack global": b"\x80\x04" + text(module) + text(function) + b"\x93" + args + b"R.",
        "newobj": b"\x80\x02" + target + args + b"\x81.",
        "newobj ex": b"\x80\x04" + target + args + b"}\x92.",
        "inst": b"(" + text(argument) + f"i{module}\n{function}\n.".encode(),
        "obj": b"(" + target + text(argument) + b"o.",
        "getattr": b"\x80\x02"
        + name("builtins", "getattr")
        + name(module, function)
        + text("__call__")
        + b"\x86R"
        + args
        + b"R.",
        "map": b"\x80\x02"
        + name("builtins", "list")
        + name("builtins", "map")
        + target
        + b"("
        + text(argument)
        + b"l\x86R\x85R.",
        "nested": b"\x80\x02}" + text("embedding.weight") + b"(]" + target + args + b"Ratl.",
        "default factory": b"\x80\x02" + name("collections", "defaultdict") + target + b"\x85R.",
        "set state": b"\x80\x02"
        + name("functools", "partial")
        + target
        + b"\x85R("
        + target
        + args
        + b"}Ntb"
        + b")R.",
        "key": b"\x80\x02}" + target + args + b"RK\x01s.",
        "state": b"\x80\x02"
        + name("types", "SimpleNamespace")
        + b")\x81}"
        + text("x")
        + target
        + args
        + b"Rsb.",
    }


def as_zip(data: bytes, extra: dict[str, bytes] | None = None, compress: int = zipfile.ZIP_STORED) -> bytes:
    """A PyTorch zip file around a pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compress, compresslevel=1) as archive:
        archive.writestr("archive/data.pkl", data)
        archive.writestr("archive/version", b"3\n")
        for entry, content in (extra or {}).items():
            archive.writestr(f"archive/{entry}", content)
    return buffer.getvalue()


def as_legacy(data: bytes) -> bytes:
    """A legacy PyTorch file around a pickle, without storages."""
    return LEGACY_HEAD + data + pickle.dumps([], protocol=2)


def tensor(
    storage: str, key: str, elements: int, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0
) -> bytes:
    """A tensor as PyTorch pickles it, with whatever sizes."""
    pid = b"(" + text("storage") + name("torch", storage) + text(key) + text("cpu") + number(elements) + b"tQ"
    sizes = b"".join(b"(" + b"".join(number(n) for n in numbers) + b"t" for numbers in (shape, strides))
    rest = b"\x89" + name("collections", "OrderedDict") + b")R"
    return name("torch._utils", "_rebuild_tensor_v2") + b"(" + pid + number(offset) + sizes + rest + b"tR"


def checkpoint(entries: dict[str, bytes]) -> bytes:
    """A state dict's pickle out of pickled tensors."""
    return b"\x80\x02}(" + b"".join(text(key) + value for key, value in entries.items()) + b"u."


def write(folder: Path, data: bytes, form: str) -> Path:
    """Put a pickle into a bare, zip or legacy file."""
    wrap = {"bare": lambda d: d, "zip": as_zip, "legacy": as_legacy}[form]
    path = folder / f"model.{form}"
    path.write_bytes(wrap(data))
    return path
