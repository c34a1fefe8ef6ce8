"""Which rows' pictures stand on the map: few of a crowd, more as one comes closer, none over another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.render._arrays import as_rows
from explorer.render.viewport import Viewport

SIDE = 52.0
"""Side in points of a square picture; others have the same area."""
LONGEST = 3.0
"""Pictures longer than so many times their breadth are shown as if they were not."""
SPACING = 5.0
MOST = 500


@dataclass(frozen=True, eq=False)
class PicturePlacement:
    """Pictures that found a place.

    Attributes
    ----------
    rows : int64 array, shape (n,)
        In the order they were placed.
    boxes : float64 array, shape (n, 4)
        Left, top, width, height in the viewport's pixels, around each row's place.
    scale : float
        The viewport's.
    """

    rows: NDArray[np.int64]
    boxes: NDArray[np.float64]
    scale: float


def place_thumbnails(
    xy: NDArray[np.float32],
    viewport: Viewport,
    aspects: NDArray[np.floating],
    rows: NDArray[np.integer] | None = None,
    previous: PicturePlacement | None = None,
    *,
    side: float = SIDE,
    spacing: float = SPACING,
    obstacles: NDArray[np.float64] | None = None,
    most: int = MOST,
) -> PicturePlacement:
    """Place the rows' pictures in turn, each where no other one is.

    While one zooms in, pictures only move apart: those that are there stay. Zooming out starts
    afresh, so that the same view always shows the same pictures.

    Parameters
    ----------
    xy : float32 array, shape (table rows, 2)
    viewport : Viewport
    aspects : float array, shape (table rows,)
        Width over height; where it is not a positive number, the row has no picture.
    rows : integer array, optional
        Rows to try, the most important first; all in their own order without it.
    previous : PicturePlacement, optional
        What the last view showed.
    side, spacing : float
        In the viewport's pixels.
    obstacles : float64 array, shape (m, 4), optional
        Left, top, width, height of what must not be covered.
    most : int
        Place no more than so many.
    """
    from explorer.render.kernels import place_pictures

    if len(aspects) != len(xy):
        raise ValueError(f"{len(aspects)} pictures for {len(xy)} rows")
    order = np.arange(len(xy)) if rows is None else as_rows(rows, len(xy))
    if previous is not None and viewport.scale >= previous.scale * (1 - 1e-9):
        stay = previous.rows[previous.rows < len(xy)]
        if rows is not None:
            stay = stay[np.isin(stay, order)]
        order = np.concatenate([stay, order])  # a row that comes a second time finds its place taken
    found, boxes = np.empty(most, np.int64), np.empty((most, 4))
    count = place_pictures(
        np.ascontiguousarray(xy, np.float32),
        order.astype(np.int64, copy=False),
        np.ascontiguousarray(aspects, np.float32),
        viewport.scale,
        *viewport.origin,
        viewport.width,
        viewport.height,
        side,
        LONGEST,
        spacing,
        np.zeros((0, 4)) if obstacles is None else np.ascontiguousarray(obstacles, np.float64),
        found,
        boxes,
    )
    return PicturePlacement(found[:count].copy(), boxes[:count].copy(), viewport.scale)
