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
SPARING = 1e-4
CELLS = 40
MOST_ROWS = 30_000


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


def side_by_side(xy: NDArray[np.floating], codes: NDArray[np.integer], count: int) -> Floats:
    """How much any two codes lie next to each other on the map, 0 to 1; shape (count, count).

    Rows are counted in a grid of cells; codes meet where they share a cell or its neighbours.
    """
    step = max(len(xy) // MOST_ROWS, 1)
    places, their_codes = np.asarray(xy[::step], np.float64), np.asarray(codes[::step], np.int64)
    used = np.isfinite(places).all(axis=1) & (their_codes < count)
    places, their_codes = places[used], their_codes[used]
    if not len(places):
        return np.zeros((count, count))
    left, bottom, right, top = extent(places)
    size = max(right - left, top - bottom) / CELLS or 1.0
    column, line = (
        np.clip((places[:, axis] - start) / size, 0, CELLS - 1).astype(np.int64)
        for axis, start in ((0, left), (1, bottom))
    )
    cells = ((line + 1) * (CELLS + 2) + column + 1) * count + their_codes
    counted = np.bincount(cells, minlength=(CELLS + 2) ** 2 * count).astype(np.float32)
    grid = counted.reshape(CELLS + 2, CELLS + 2, count)
    around = sum(grid[dy : dy + CELLS, dx : dx + CELLS] for dy in range(3) for dx in range(3))
    here = grid[1:-1, 1:-1].reshape(-1, count)
    meet = here.T @ np.minimum(np.asarray(around).reshape(-1, count), here.sum(axis=1, keepdims=True))
    meet += meet.T
    own = np.sqrt(np.maximum(np.diag(meet), 1e-9))
    together: Floats = np.clip(meet / own[:, None] / own[None, :], 0, 1).astype(np.float64)
    np.fill_diagonal(together, 0)
    return together


def coloured_apart(together: Floats, colours: NDArray[np.uint8]) -> NDArray[np.intp]:
    """A colour for each code, such that codes next to each other on the map look as different as can be.

    Where there are more codes than colours they repeat, far from each other. Codes get colours in
    their own order, the commonest first.

    Parameters
    ----------
    together : float array, shape (count, count)
        From ``side_by_side``.
    colours : uint8 array, shape (n, 3)

    Returns
    -------
    int array, shape (count,)
        Places in ``colours``.
    """
    alike = np.exp(-least_distances(colours, colours) / 0.06)
    count = len(together)
    given = np.full(count, -1, np.intp)
    used = np.zeros(len(colours))
    for code in range(count):
        # A colour costs what it has in common with those of the neighbours; of equal ones, take a new one.
        cost = together[code, :code] @ alike[given[:code]] + SPARING * used
        if count <= len(colours):
            cost[used > 0] = np.inf
        given[code] = int(np.argmin(cost))
        used[given[code]] += 1
    return given


def _linear(colours: NDArray[np.integer]) -> Floats:
    share = np.asarray(colours, np.float64) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def _lab_of_linear(linear: Floats) -> Floats:
    return np.asarray(np.cbrt(linear @ _TO_CONES.T) @ _TO_LAB.T)


def _apart(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.linalg.norm(one[:, None] - other[None], axis=2))
