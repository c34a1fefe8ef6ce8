"""The view that shows all rows, none of them behind the legend where that can be had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF

from explorer.render.viewport import Insets, Viewport

INSETS = Insets(left=32, top=32, right=72, bottom=32)
FEW = 0.002
"""This share of the rows may lie behind the legend."""
GAP = 16
SAMPLE = 20_000


def fitted_view(positions: NDArray[np.float32], width: int, height: int, legend: QRectF | None) -> Viewport:
    """Fit the rows into the map, beside or above the legend if they would lie behind it.

    Parameters
    ----------
    positions : float32 array, shape (rows, 2)
    width, height : int
        Of the map, in points.
    legend : QRectF or None
        The legend's card, at the map's bottom left.

    Returns
    -------
    Viewport
        Of the views that keep the legend clear, the one with the larger scale.
    """
    whole = Viewport.fitted(positions, width, height, INSETS)
    if legend is None or _share_behind(whole, positions, legend) <= FEW:
        return whole
    beside = replace(INSETS, left=legend.right() + GAP)
    above = replace(INSETS, bottom=height - legend.top() + GAP)
    views = [Viewport.fitted(positions, width, height, insets) for insets in (beside, above)]
    return max(views, key=lambda view: view.scale)


def _share_behind(view: Viewport, positions: NDArray[np.float32], legend: QRectF) -> float:
    sample = positions[:: max(1, len(positions) // SAMPLE)]
    x, y = view.to_pixels(sample).T
    behind = (x >= legend.left()) & (x <= legend.right()) & (y >= legend.top()) & (y <= legend.bottom())
    return float(np.count_nonzero(behind)) / max(1, len(sample))
