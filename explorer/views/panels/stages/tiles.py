"""Many small pictures in a grid: a patch projection's filters, or a grid of grids."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.export.array_image import array_image
from explorer.render.palette import sequence_palette
from explorer.views.theme import current_colours

_GAP = 2
_SIDE = 300
MOST_TILES = 1024


class Tiles(QWidget):
    """Small pictures of one size, row by row."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tiles: NDArray[np.uint8] = np.zeros((0, 1, 1, 3), np.uint8)
        self._columns = 1
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_tiles(self, tiles: NDArray[np.uint8], columns: int | None = None) -> None:
        """Show tiles.

        Parameters
        ----------
        tiles : uint8 array, shape (n, height, width, 3)
            The first thousand are shown.
        columns : int, optional
            A square of them where not given.
        """
        self._tiles = tiles[:MOST_TILES]
        self._columns = columns or max(1, math.ceil(math.sqrt(len(self._tiles))))
        self.setAccessibleDescription(f"{len(tiles):,} tiles")
        self.updateGeometry()
        self.update()

    @property
    def _rows(self) -> int:
        return math.ceil(len(self._tiles) / self._columns)

    def sizeHint(self) -> QSize:
        return QSize(_SIDE, round(_SIDE * self._rows / self._columns))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        side = min(self.width() / self._columns, self.height() / max(self._rows, 1))
        for number, tile in enumerate(self._tiles):
            row, column = divmod(number, self._columns)
            place = QRectF(column * side, row * side, side - _GAP, side - _GAP)
            painter.drawImage(place, array_image(tile))


def filter_tiles(filters: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Filters as pictures in colour, each from its own lowest to its highest value about its middle.

    Parameters
    ----------
    filters : float32 array, shape (n, 3, height, width)

    Returns
    -------
    uint8 array, shape (n, height, width, 3)
    """
    values = np.nan_to_num(filters[:MOST_TILES])
    reach = np.abs(values).max(axis=(1, 2, 3), keepdims=True)
    scaled = np.divide(values, 2 * reach, out=np.zeros_like(values), where=reach > 0) + 0.5
    found: NDArray[np.uint8] = np.rint(scaled.transpose(0, 2, 3, 1) * 255).astype(np.uint8)
    return found


def grids(alike: NDArray[np.float32], rows: int, columns: int) -> NDArray[np.uint8]:
    """For each place a picture of its similarity to all places, where they lie.

    Parameters
    ----------
    alike : float32 array, shape (rows * columns, rows * columns)
    rows, columns : int

    Returns
    -------
    uint8 array, shape (rows * columns, rows, columns, 3)
    """
    low, high = float(np.nanmin(alike)), float(np.nanmax(alike))
    share = np.nan_to_num((alike - low) / (high - low) if high > low else np.zeros_like(alike))
    palette = sequence_palette("viridis", current_colours())[:, :3]
    coloured = palette[np.rint(share * 254).astype(np.intp)]
    found: NDArray[np.uint8] = coloured.reshape(len(alike), rows, columns, 3)
    return found
