"""The largest rectangle of a shape inside another."""

from __future__ import annotations

from PySide6.QtCore import QRectF


def fit(box: QRectF, width: float, height: float) -> QRectF:
    """The largest rectangle of a shape in the middle of a box."""
    scale = min(box.width() / max(width, 1), box.height() / max(height, 1))
    fitted = QRectF(0, 0, max(width * scale, 1), max(height * scale, 1))
    fitted.moveCenter(box.center())
    return fitted
