"""A picture as the model sees it, its patches in a grid, and over it a share for each patch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.core.stages import Patches
from explorer.export.array_image import array_image
from explorer.views.theme import current_colours

_SIDE = 288
_SHADE = 0.82
"""How dark the patch with the smallest share is."""


class PatchPicture(QWidget):
    """Shows a picture's patches.

    Signals
    -------
    chosen(int) : a patch was clicked, counted from 0 without the class token.
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._patches: Patches | None = None
        self._shares: NDArray[np.float32] | None = None
        self._marked = -1
        self.setMouseTracking(True)
        self.setAccessibleName("The picture's patches")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_patches(
        self, patches: Patches | None, shares: NDArray[np.float32] | None = None, marked: int = -1
    ) -> None:
        """Show a picture.

        Parameters
        ----------
        patches : Patches or None
        shares : float32 array, shape (patches,), optional
            Drawn over it: the patch with the largest in its own colours, that with the smallest in shade.
        marked : int
            A patch in a frame; -1 for none.
        """
        self._patches, self._shares, self._marked = patches, shares, marked
        self.setVisible(patches is not None)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        if self._patches is None:
            return QSize(_SIDE, 0)
        height, width = self._patches.pixels.shape[:2]
        return QSize(_SIDE, round(_SIDE * height / max(width, 1)))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    @property
    def frame(self) -> QRectF:
        """Where the picture is: as large as there is room, in the middle."""
        if self._patches is None:
            return QRectF()
        height, width = self._patches.pixels.shape[:2]
        scale = min(self.width() / width, self.height() / height)
        size = (width * scale, height * scale)
        return QRectF((self.width() - size[0]) / 2, (self.height() - size[1]) / 2, *size)

    def cell(self, patch: int) -> QRectF:
        """Where a patch is."""
        assert self._patches is not None
        frame = self.frame
        row, column = divmod(patch, self._patches.columns)
        wide, high = frame.width() / self._patches.columns, frame.height() / self._patches.rows
        return QRectF(frame.left() + column * wide, frame.top() + row * high, wide, high)

    def patch_at(self, place: QPointF) -> int:
        """The patch under a place; -1 for none."""
        frame = self.frame
        if self._patches is None or not frame.contains(place):
            return -1
        row = min(
            int((place.y() - frame.top()) / frame.height() * self._patches.rows), self._patches.rows - 1
        )
        column = int((place.x() - frame.left()) / frame.width() * self._patches.columns)
        return row * self._patches.columns + min(column, self._patches.columns - 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._patches is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(self.frame, array_image(self._patches.pixels))
        if self._shares is not None:
            self._paint_shares(painter, self._shares)
        if self._marked >= 0:
            painter.setPen(QPen(QColor(current_colours().accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.cell(self._marked))

    def _paint_shares(self, painter: QPainter, shares: NDArray[np.float32]) -> None:
        """Shade each patch the more, the smaller its share: its own colours stay what they are."""
        low, high = float(np.nanmin(shares)), float(np.nanmax(shares))
        part = (shares - low) / (high - low) if high > low else np.ones_like(shares)
        shade = np.rint(255 * _SHADE * (1 - np.nan_to_num(part))).astype(np.uint8)
        assert self._patches is not None
        grid = np.zeros((self._patches.rows, self._patches.columns, 4), np.uint8)
        grid[..., 3] = shade.reshape(grid.shape[:2])
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        painter.drawImage(self.frame, array_image(grid))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        patch = self.patch_at(event.position())
        if patch < 0 or self._patches is None:
            QToolTip.hideText()
            return
        row, column = divmod(patch, self._patches.columns)
        words = f"patch {row + 1},{column + 1}"
        if self._shares is not None:
            words += f": {self._shares[patch]:.3g}"
        QToolTip.showText(event.globalPosition().toPoint(), words, self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        patch = self.patch_at(event.position())
        if patch >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(patch)
