"""The view that shows all rows, none of them behind the legend where that can be had."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF

from explorer.render.viewport import Insets, Viewport, extent

INSETS = Insets(left=32, top=32, right=72, bottom=32)
PICTURE_INSETS = Insets(left=50, top=50, right=90, bottom=50)
"""For a map with pictures in place of dots: half of the longest, so that none at the edge is cut."""
FEW = 0.002
"""This share of the rows may lie behind the legend."""
GAP = 12
SAMPLE = 10_000
SMALLEST = 0.4
"""A map is not made smaller than this for the legend's sake."""
HALVINGS = 8


def fitted_view(
    positions: NDArray[np.float32], width: int, height: int, legend: QRectF | None, insets: Insets = INSETS
) -> Viewport:
    """Fit the rows into the map; if they would lie behind the legend, up and to the right of it.

    Parameters
    ----------
    positions : float32 array, shape (rows, 2)
    width, height : int
        Of the map, in points.
    legend : QRectF or None
        The legend's card, at the map's bottom left.
    insets : Insets

    Returns
    -------
    Viewport
        The largest that keeps the legend clear, found by halving.
    """
    whole = Viewport.fitted(positions, width, height, insets)
    sample = positions[:: max(1, len(positions) // SAMPLE)]
    if legend is None or _share_behind(whole, sample, legend) <= FEW:
        return whole
    _, _, right, top = extent(positions)

    def in_corner(factor: float) -> Viewport:
        scale = whole.scale * factor
        x = right - (width / 2 - insets.right) / scale
        y = top + (insets.top - height / 2) / scale
        return Viewport(width, height, x, y, scale)

    small, large = SMALLEST, 1.0
    if _share_behind(in_corner(small), sample, legend) > FEW:
        return whole
    for _ in range(HALVINGS):
        middle = (small + large) / 2
        if _share_behind(in_corner(middle), sample, legend) <= FEW:
            small = middle
        else:
            large = middle
    return in_corner(small)


def _share_behind(view: Viewport, positions: NDArray[np.float32], legend: QRectF) -> float:
    x, y = view.to_pixels(positions).T
    # Rows without a place are NaN, which is behind nothing.
    behind = (x < legend.right() + GAP) & (y > legend.top() - GAP)
    return float(np.count_nonzero(behind)) / max(1, len(positions))
