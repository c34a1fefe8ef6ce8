"""What was dropped or pasted: pictures, by their file or their pixels, and everything else."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QMimeData
from PySide6.QtGui import QImage


def paths_in(data: QMimeData) -> list[str]:
    """The local files and folders that are named."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]


def picture_file_in(data: QMimeData) -> str | None:
    """The file, where exactly one picture is named."""
    paths = paths_in(data)
    return paths[0] if len(paths) == 1 and is_picture(paths[0]) else None


def picture_files_in(data: QMimeData) -> list[str]:
    """The files, where nothing but pictures is named."""
    paths = paths_in(data)
    return paths if all(map(is_picture, paths)) else []


def holds_pixels(data: QMimeData) -> bool:
    """Whether there is a picture that no file here holds; text that comes with it counts for more."""
    return data.hasImage() and not paths_in(data) and (data.hasUrls() or not data.hasText())


def is_picture(path: str) -> bool:
    """Whether a path is that of a picture file."""
    # Imports Pillow, which most sessions do not need.
    from explorer.readers.pictures import is_picture_file

    return Path(path).is_file() and is_picture_file(Path(path))


def png_bytes(image: QImage) -> bytes:
    """An image as a PNG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImage(image).save(buffer, "PNG")
    return bytes(buffer.data())
