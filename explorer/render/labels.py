"""Which rows get a label, and where: greedy by importance, without overlap, steady while zooming."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from explorer.render._arrays import as_points, as_rows
from explorer.render.point_index import Bounds, PointIndex
from explorer.render.viewport import Viewport

_ALL = np.empty(0, np.int64)
MOST_CANDIDATES = 3000
PER_CELL = 2
MOST_LOOKED_THROUGH = 150_000


class LabelDensity(StrEnum):
    """How much of the map is named."""

    FIT = "fit"
    FEW = "few"
    MANY = "many"
    NONE = "none"

    @property
    def spacing(self) -> tuple[float, float]:
        """Free space around a label, sideways and up and down, in points."""
        return {"fit": (16.0, 9.0), "few": (64.0, 44.0), "many": (5.0, 1.0), "none": (0.0, 0.0)}[self.value]


@dataclass(frozen=True, eq=False)
class Placement:
    """Labels that found a place.

    Attributes
    ----------
    rows : int64 array, shape (n,)
        In the order they were placed.
    boxes : float64 array, shape (n, 4)
        Left, top, width, height in the viewport's pixels.
    sides : int8 array, shape (n,)
        0 right of the point, 1 left, 2 above, 3 below.
    scale : float
        The viewport's.
    density : LabelDensity, optional
        What they were placed for.
    """

    rows: NDArray[np.int64]
    boxes: NDArray[np.float64]
    sides: NDArray[np.int8]
    scale: float
    density: LabelDensity | None = None


def candidates(
    xy: NDArray[np.float32],
    codes: NDArray[np.uint8],
    palette: NDArray[np.uint8],
    viewport: Viewport,
    density: LabelDensity,
    order: NDArray[np.int64] | None = None,
    index: PointIndex | None = None,
    quick: bool = False,
) -> NDArray[np.int64]:
    """The rows in view worth trying, most important first: the first few in each cell of a grid.

    Parameters
    ----------
    xy, codes, palette : arrays
        As in ``Raster.draw``; hidden rows (opacity 0) are left out, dimmed ones too.
    viewport : Viewport
    density : LabelDensity
    order : int64 array, optional
        Rows by importance; the table's own order (most vocabularies: by frequency) without it.
    index : PointIndex, optional
        Of ``xy``. With it, where more than ``MOST_LOOKED_THROUGH`` rows are in view, only so many
        of the table's most important rows are tried, and where fewer are, only those in view.
    quick : bool
        Without an index too, try only so many of the most important rows.
    """
    from explorer.render.kernels import first_in_cells

    if density is LabelDensity.NONE or not len(xy):
        return _ALL
    places, colours = as_points(xy, codes)
    firsts = _ALL if order is None else np.asarray(order, np.int64)
    if index is not None and index.table_rows == len(xy):
        bounds = index.bounds(viewport)
        if index.count(bounds) <= MOST_LOOKED_THROUGH:
            return _best_in_view(index, bounds, colours, palette, viewport, density, order)
        quick = True
    if quick:
        firsts = firsts[:MOST_LOOKED_THROUGH]
        if order is None:
            places, colours = places[:MOST_LOOKED_THROUGH], colours[:MOST_LOOKED_THROUGH]
    found = np.empty(MOST_CANDIDATES, np.int64)
    count = first_in_cells(
        places,
        colours,
        fully_shown(palette),
        as_rows(firsts, len(xy)),
        viewport.scale,
        *viewport.origin,
        viewport.width,
        viewport.height,
        *_cell(density),
        PER_CELL,
        found,
    )
    return found[:count]


def _best_in_view(
    index: PointIndex,
    bounds: Bounds,
    codes: NDArray[np.uint8],
    palette: NDArray[np.uint8],
    viewport: Viewport,
    density: LabelDensity,
    order: NDArray[np.int64] | None,
) -> NDArray[np.int64]:
    from explorer.render.kernels import best_in_cells

    wide, high = _cell(density)
    cells = (int(viewport.width / wide) + 2) * (int(viewport.height / high) + 2)
    rows, ranks = np.full((cells, PER_CELL), -1, np.int32), np.zeros((cells, PER_CELL), np.int32)
    best_in_cells(
        index.xy,
        index.rows,
        index.spans(bounds),
        codes,
        fully_shown(palette),
        np.empty(0, np.int32) if order is None else index.ranks_of(order),
        viewport.scale,
        *viewport.origin,
        viewport.width,
        viewport.height,
        wide,
        high,
        rows,
        ranks,
    )
    taken = rows >= 0
    by_rank = np.argsort(ranks[taken], kind="stable")[:MOST_CANDIDATES]
    return rows[taken][by_rank].astype(np.int64)


def _cell(density: LabelDensity) -> tuple[float, float]:
    sideways, upright = density.spacing
    return 40 + sideways, 16 + upright


def fully_shown(palette: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which codes are neither hidden nor dimmed, shape (256,)."""
    shown = np.zeros(256, np.bool_)
    shown[: len(palette)] = palette[:, 3] == 255
    return shown


def place(
    rows: NDArray[np.int64],
    xy: NDArray[np.float32],
    sizes: NDArray[np.float64],
    gaps: NDArray[np.float64],
    spacing: NDArray[np.float64],
    viewport: Viewport,
    obstacles: NDArray[np.float64] | None = None,
    previous: Placement | None = None,
) -> Placement:
    """Give each row in turn the first free side of its point: right, left, above, below.

    Parameters
    ----------
    rows : int64 array, shape (n,)
        Most important first.
    xy : float32 array, shape (table rows, 2)
    sizes : float64 array, shape (n, 2)
        Width and height of each row's label in pixels.
    gaps : float64 array, shape (n,)
        Distance from the point to its label.
    spacing : float64 array, shape (n, 2)
        Distance kept from labels placed before.
    viewport : Viewport
    obstacles : float64 array, shape (m, 4), optional
        Left, top, width, height of what must not be covered.
    previous : Placement, optional
        Its labels keep their sides where they can, unless the view has since been zoomed out.
    """
    from explorer.render.kernels import place_boxes

    wanted = np.full(len(rows), -1, np.int8)
    if previous is not None and len(kept(previous, viewport)) and len(rows):
        sorter = np.argsort(previous.rows, kind="stable")
        at = np.minimum(np.searchsorted(previous.rows, rows, sorter=sorter), len(sorter) - 1)
        same = previous.rows[sorter[at]] == rows
        wanted[same] = previous.sides[sorter[at[same]]]
    placed, sides = np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.int8)
    boxes = np.zeros((len(rows), 4))
    place_boxes(
        viewport.to_pixels(xy[rows]),
        np.ascontiguousarray(sizes, np.float64),
        np.ascontiguousarray(gaps, np.float64),
        np.ascontiguousarray(spacing, np.float64),
        wanted,
        np.zeros((0, 4)) if obstacles is None else np.ascontiguousarray(obstacles, np.float64),
        float(viewport.width),
        float(viewport.height),
        placed,
        sides,
        boxes,
    )
    return Placement(rows[placed], boxes[placed], sides[placed], viewport.scale)


def kept(previous: Placement | None, viewport: Viewport) -> NDArray[np.int64]:
    """The rows whose labels go first: those shown before, unless the view has since been zoomed out."""
    if previous is None or viewport.scale < previous.scale * (1 - 1e-9):
        return _ALL
    return previous.rows


def in_turn(*groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The groups one after the other, each row only where it first occurs."""
    rows = np.concatenate([np.asarray(group, np.int64) for group in groups])
    _, first = np.unique(rows, return_index=True)
    return rows[np.sort(first)]
