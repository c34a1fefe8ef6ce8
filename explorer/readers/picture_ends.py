"""What kind of picture some bytes are, and whether they end before the picture does."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_BRANDS = {b"avif": "AVIF", b"avis": "AVIF"}
_BRANDS |= dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"), "HEIC")
_STRIP_OFFSETS, _STRIP_SIZES, _TILE_OFFSETS, _TILE_SIZES = 273, 279, 324, 325
_SHORT, _LONG = 3, 4


def kind_of(data: bytes) -> str | None:
    """The kind of picture that the first bytes (32 are enough) promise; None where they promise none."""
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WebP"
    if data.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
        return "TIFF"
    if data.startswith(b"BM") and data[6:10] == b"\0\0\0\0":
        return "BMP"
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12])
    return None


def is_cut_off(data: bytes) -> bool:
    """Whether the file ends before the picture in it does, as far as its own structure tells."""
    match kind_of(data):
        case "JPEG":
            return b"\xff\xd9" not in data[-4096:]
        case "PNG":
            return b"IEND" not in data[-4096:]
        case "GIF":
            return not data.rstrip(b"\0").endswith(b";")
        case "WebP":
            return 8 + int.from_bytes(data[4:8], "little") > len(data)
        case "BMP":
            return int.from_bytes(data[2:6], "little") > len(data)
        case "AVIF" | "HEIC":
            return any(end > len(data) for end in _box_ends(data))
        case "TIFF":
            return _tiff_end(data) > len(data)
    return False


def _box_ends(data: bytes) -> Iterator[int]:
    """Where each box of the file's first level ends."""
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if size == 1:
            size = int.from_bytes(data[at + 8 : at + 16], "big")
        if size < 8:  # 0: up to the end of the file
            return
        at += size
        yield at


def _tiff_end(data: bytes) -> int:
    """Where the first directory and its pixels end; 0 where the structure is none that is known."""
    order = "<" if data.startswith(b"II") else ">"
    if data[2:4] not in (b"*\0", b"\0*"):
        return 0
    (start,) = _numbers(data, 4, 1, order + "I") or (len(data) + 1,)
    (count,) = _numbers(data, start, 1, order + "H") or (0,)
    end = start + 2 + 12 * count
    if end > len(data):
        return end
    found: dict[int, tuple[int, ...]] = {}
    for at in range(start + 2, end, 12):
        tag, kind, length = struct.unpack_from(order + "HHI", data, at)
        if tag in (_STRIP_OFFSETS, _STRIP_SIZES, _TILE_OFFSETS, _TILE_SIZES) and kind in (_SHORT, _LONG):
            code, width = ("H", 2) if kind == _SHORT else ("I", 4)
            place = at + 8 if width * length <= 4 else struct.unpack_from(order + "I", data, at + 8)[0]
            if place + width * length > len(data):
                return int(place + width * length)
            found[tag] = _numbers(data, place, length, order + code)
    for offsets, sizes in ((_STRIP_OFFSETS, _STRIP_SIZES), (_TILE_OFFSETS, _TILE_SIZES)):
        pairs = zip(found.get(offsets, ()), found.get(sizes, ()), strict=False)
        end = max([end, *(offset + size for offset, size in pairs)])
    return end


def _numbers(data: bytes, at: int, count: int, code: str) -> tuple[int, ...]:
    """Some whole numbers of one type; none where they would lie past the end."""
    width = struct.calcsize(code)
    if at + width * count > len(data):
        return ()
    return struct.unpack_from(f"{code[0]}{count}{code[1]}", data, at)
