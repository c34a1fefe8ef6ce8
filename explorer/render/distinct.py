"""Colours that can be told apart, by those who see few colours as well, and who gets which.

Distances are taken in OKLab (Björn Ottosson, 2020), in which equal steps look about equally large;
colour blindness is simulated as by Machado, Oliveira and Fernandes (2009), at full severity.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from explorer.render.viewport import extent

Floats = NDArray[np.float64]

PROTAN = np.array(
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
)
DEUTAN = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
SIMULATED_WEIGHT = 1.3
"""How much smaller a distance may be to eyes with two kinds of cones."""
GROUND_WEIGHT = 0.8
LIGHTNESSES = {False: (0.42, 0.78), True: (0.58, 0.9)}
"""For light and dark grounds."""
LEAST_CHROMA, MOST_CHROMA = 0.06, 0.19
ALIKE = 0.06
"""A colour at this distance from another is a third as bad a neighbour as the same one."""
MOST_DISTINCT = 18
"""As many as a legend lists."""
CELLS_PER_CATEGORY, FEWEST_CELLS, MOST_CELLS = 4, 40, 200
"""The last two are of a side of the grid."""
MOST_OF_CELL = 4
ROWS_PER_CATEGORY, FEWEST_ROWS, MOST_ROWS = 20, 30_000, 120_000


def oklab(colours: NDArray[np.integer]) -> Floats:
    """Lightness (0 to 1) and two colour axes of sRGB colours, shape (n, 3)."""
    return _lab_of_linear(_linear(colours))


def from_oklab(lab: Floats) -> Floats:
    """sRGB from 0 to 255, shape (n, 3), beyond these where a screen has no such colour."""
    linear = (lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_CONES).T
    small = linear <= 0.0031308
    powers = 1.055 * np.where(small, 0.0, linear) ** (1 / 2.4) - 0.055
    return np.asarray(255 * np.where(small, 12.92 * linear, powers))


def least_distances(one: NDArray[np.integer], other: NDArray[np.integer]) -> Floats:
    """How far apart colours look to whoever sees them as most alike, shape (len(one), len(other))."""
    found = _apart(oklab(one), oklab(other))
    for seen in (PROTAN, DEUTAN):
        ours, theirs = (_lab_of_linear(np.clip(_linear(colours) @ seen.T, 0, 1)) for colours in (one, other))
        found = np.minimum(found, SIMULATED_WEIGHT * _apart(ours, theirs))
    return found


@lru_cache(maxsize=8)
def distinct_colours(count: int, ground: tuple[int, int, int]) -> NDArray[np.uint8]:
    """Colours as far apart as can be, each as far as possible from all before it; shape (count, 3).

    Parameters
    ----------
    count : int
        Up to about 30 can be told apart.
    ground : three ints
        What they are seen on; they keep away from it.
    """
    dark = oklab(np.array([ground]))[0, 0] < 0.5
    low, high = LIGHTNESSES[bool(dark)]
    lightness, chroma, hue = (
        each.reshape(-1)
        for each in np.meshgrid(
            np.linspace(low, high, 7),
            np.linspace(LEAST_CHROMA, MOST_CHROMA, 6),
            np.radians(np.arange(0, 360, 6)),
        )
    )
    every = from_oklab(np.column_stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)]))
    shown = ((every >= 0) & (every <= 255)).all(axis=1)
    candidates = np.rint(every[shown]).astype(np.uint8)
    nearest = GROUND_WEIGHT * least_distances(candidates, np.array([ground], np.uint8))[:, 0]
    found: list[NDArray[np.uint8]] = []
    # The first is a clear blue, as that of the window.
    first = np.array([[0x38, 0x67, 0xD6] if not dark else [0x7A, 0xA2, 0xF7]], np.uint8)
    best = int(np.argmin(least_distances(candidates, first)))
    for _ in range(count):
        found.append(candidates[best])
        nearest = np.minimum(nearest, least_distances(candidates, candidates[best : best + 1])[:, 0])
        best = int(np.argmax(nearest))
    return np.array(found, np.uint8).reshape(-1, 3)


def given_on_map(
    xy: NDArray[np.floating],
    categories: NDArray[np.integer],
    count: int,
    colours: NDArray[np.uint8],
    distinct: int = MOST_DISTINCT,
) -> NDArray[np.int32]:
    """A colour for each category, such that those side by side on the map look as different as can be.

    It is a greedy colouring of the graph of neighbours, the commonest category first: rows are counted
    in a grid of cells, and categories are neighbours where they are among the commonest of a cell or
    of the cells around it. Where there are more categories than colours, these repeat.

    Parameters
    ----------
    xy : float array, shape (rows, 2)
    categories : integer array, shape (rows,)
        The commonest first; others than 0 to ``count - 1`` are left out.
    count : int
    colours : uint8 array, shape (n, 3)
        At least one, where there is a category.
    distinct : int
        So many of the first categories never share a colour with each other, as far as there are colours.

    Returns
    -------
    int32 array, shape (count,)
        Places in ``colours``.
    """
    from explorer.render.kernels import give_colours

    given = np.full(count, -1, np.int32)
    if not count:
        return given
    side = int(min(max((CELLS_PER_CATEGORY * count) ** 0.5, FEWEST_CELLS), MOST_CELLS))
    cells, members, weights = _commonest_of_cells(xy, categories, count, side)
    own = np.argsort(members, kind="stable")
    give_colours(
        np.searchsorted(cells, np.arange((side + 2) ** 2 + 1)),
        members,
        weights,
        cells,
        np.searchsorted(members[own], np.arange(count + 1)),
        own,
        np.exp(-least_distances(colours, colours) / ALIKE),
        side + 2,
        len(colours) if count <= len(colours) else min(distinct, len(colours)),
        given,
    )
    return given


def _commonest_of_cells(
    xy: NDArray[np.floating], categories: NDArray[np.integer], count: int, side: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Cell, category and how many rows: the few commonest categories of each cell, by cell.

    The cells are those of a square grid of ``side`` with a rim of empty ones.
    """
    step = max(len(xy) // min(max(ROWS_PER_CATEGORY * count, FEWEST_ROWS), MOST_ROWS), 1)
    places, codes = np.asarray(xy[::step], np.float64), np.asarray(categories[::step], np.int64)
    used = np.isfinite(places).all(axis=1) & (codes >= 0) & (codes < count)
    places, codes = places[used], codes[used]
    left, bottom, right, top = extent(places)
    size = max(right - left, top - bottom) / side or 1.0
    column, line = (
        np.clip((places[:, axis] - start) / size, 0, side - 1).astype(np.int64)
        for axis, start in ((0, left), (1, bottom))
    )
    found, rows = np.unique(((line + 1) * (side + 2) + column + 1) * count + codes, return_counts=True)
    cells, members = found // count, found % count
    order = np.lexsort((-rows, cells))
    cells, members, rows = cells[order], members[order], rows[order]
    chosen = np.arange(len(cells)) - np.searchsorted(cells, cells) < MOST_OF_CELL
    return cells[chosen], members[chosen].astype(np.int32), rows[chosen].astype(np.float32)


def _linear(colours: NDArray[np.integer]) -> Floats:
    share = np.asarray(colours, np.float64) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def _lab_of_linear(linear: Floats) -> Floats:
    return np.asarray(np.cbrt(linear @ _TO_CONES.T) @ _TO_LAB.T)


def _apart(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.linalg.norm(one[:, None] - other[None], axis=2))
