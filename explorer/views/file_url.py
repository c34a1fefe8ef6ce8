"""A file's address for other programs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl


def file_url(path: str | Path) -> QUrl:
    """The ``file:`` address of an absolute path, whose name need not be text: Qt would drop such bytes."""
    return QUrl.fromEncoded(Path(path).as_uri().encode("ascii"))
