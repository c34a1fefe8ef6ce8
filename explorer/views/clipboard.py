"""Puts pictures on the clipboard in the forms that other programs take."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QGuiApplication, QImage


def put_picture(image: QImage, urls: list[QUrl]) -> None:
    """Put a picture on the clipboard, for editors, together with its file, for file managers and mail."""
    data = QMimeData()
    if not image.isNull():
        data.setImageData(image)
    data.setUrls(urls)
    QGuiApplication.clipboard().setMimeData(data)
