"""Folders of small pictures, and of everything that can be wrong with one."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image


def write_pictures(folder: Path, count: int, seed: int = 0) -> list[str]:
    """Pictures that differ from each other; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    names = [f"picture-{seed}-{number:03}.png" for number in range(count)]
    for name in names:
        write_picture(folder / name, random)
    return names


def write_picture(path: Path, random: np.random.Generator) -> None:
    """A picture of a few coloured fields."""
    fields = random.integers(0, 256, (4, 5, 3), dtype=np.uint8)
    Image.fromarray(fields).resize((80, 64), Image.Resampling.NEAREST).save(path)


def write_odd_pictures(folder: Path) -> dict[str, str]:
    """One file of each fault; returns the verdict of each by its name."""
    random = np.random.default_rng(5)
    noise = Image.fromarray(random.integers(0, 256, (64, 64, 3), dtype=np.uint8))
    noise.save(folder / "whole.jpg")
    whole = (folder / "whole.jpg").read_bytes()
    (folder / "whole.jpg").unlink()
    (folder / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "damaged.jpg").write_bytes(whole[:20] + b"\x5a" * 300 + whole[320:])
    (folder / "empty.png").touch()
    (folder / "page.jpg").write_text("<html>404</html>")
    (folder / "bomb.png").write_bytes(bomb(50_000))
    (folder / "link.jpg").symlink_to(folder / "nowhere.jpg")
    return {
        "bomb.png": "too large",
        "cut.jpg": "cut off",
        "damaged.jpg": "unreadable",
        "empty.png": "empty",
        "link.jpg": "gone",
        "page.jpg": "not a picture",
    }


def bomb(side: int) -> bytes:
    """A PNG of a few bytes that claims many pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    idat = chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + idat + chunk(b"IEND", b"")
