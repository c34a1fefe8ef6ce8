"""Puts pictures on the clipboard in the forms that other programs take, and lets go of it at the end."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QGuiApplication, QImage

SHARED_BY_THE_DESKTOP = frozenset({"xcb", "wayland", "windows", "cocoa"})
"""Platforms of Qt with a clipboard that other programs read."""


def put_picture(image: QImage, urls: list[QUrl]) -> None:
    """Put a picture on the clipboard, for editors, together with its file, for file managers and mail."""
    data = QMimeData()
    if not image.isNull():
        data.setImageData(image)
    data.setUrls(urls)
    QGuiApplication.clipboard().setMimeData(data)


def let_go() -> None:
    """Empty a clipboard that is Qt's own, at the program's end.

    Qt frees what lies on it when the process ends, and ours would need the interpreter that is gone by then.
    """
    if QGuiApplication.platformName() not in SHARED_BY_THE_DESKTOP:
        QGuiApplication.clipboard().clear()
