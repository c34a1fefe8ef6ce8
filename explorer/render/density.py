"""Where millions of discs would merge: how many rows each pixel holds, on a logarithmic scale."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from explorer.render.palette import Theme, sequence
from explorer.render.point_index import PointIndex, weighted_inks
from explorer.render.points import Points
from explorer.render.raster import Dots, Raster
from explorer.render.viewport import Viewport

FIRST_BITS, LAST_BITS = (int(np.float32(end).view(np.uint32)) >> 16 for end in (0.004, 2.0**32))
"""Between these, the upper bits of a float32 say which count it is; fewer rows are none."""
FEWEST = 100_000
"""Fewer rows in view are always shown one by one."""
FAINTEST = 0.25
"""Opacity of a single row among crowds of several colours."""
MERGED, APART = 0.95, 0.85
"""Discs have merged where they cover this share of what lies below them; they are apart below the other."""


def density_colours(theme: Theme, name: str = "viridis") -> NDArray[np.uint8]:
    """Colours from few rows to many, shape (256, 3), all of them apart from the theme's ground.

    Light themes go from light to dark, dark ones from dark to light, so that crowds stand out.
    """
    table = sequence(name)
    ends = (60, 255) if theme.dark else (215, 0)
    return table[np.rint(np.linspace(*ends, 256)).astype(np.intp)]


def prefers_density(index: PointIndex, viewport: Viewport, dots: Dots, before: bool = False) -> bool:
    """Whether half of the rows in view would lie where discs merge.

    It takes a count of the index's cells, well under a millisecond. Between ``APART`` and
    ``MERGED`` it stays as it was, so that it does not flicker while one zooms.

    Parameters
    ----------
    index : PointIndex
    viewport : Viewport
    dots : Dots
        As they would be drawn, in the viewport's pixels.
    before : bool
        What the last answer was.
    """
    counts = index.counts(index.bounds(viewport)).reshape(-1)
    if counts.sum() < FEWEST * (APART if before else 1):
        return False
    crowd = _by_rows(counts, 0.5)
    depth = crowd * math.pi * dots.radius**2 / (index.width * index.height * viewport.scale**2)
    cover = 1 - (1 - min(dots.opacity, 0.999)) ** min(depth, 1e6)
    return bool(cover > (APART if before else MERGED))


def fullest(index: PointIndex, viewport: Viewport) -> float:
    """Rows a pixel where the layout is fullest, but for the fullest thousandth of its rows.

    It does not depend on what part of the layout is seen: colours stay when the map is dragged.
    """
    crowd = _by_rows(np.diff(index.starts), 0.999)
    return max(crowd / (index.width * index.height * viewport.scale**2), 3.0)


def _by_rows(counts: NDArray[np.int64], share: float) -> float:
    """The size of cell that so many of the rows do not exceed."""
    sizes = np.bincount(np.minimum(counts, 1_000_000))
    rows = np.cumsum(sizes * np.arange(len(sizes)))
    return float(np.searchsorted(rows, share * rows[-1])) if len(rows) and rows[-1] else 0.0


class Counts:
    """Rows per pixel, counted in one go or in several, and the colours that they have together.

    Where rows have several colours, a crowd has their mean, stronger the more rows there are; where
    they all have one, the number of rows is shown as a colour itself.

    Parameters
    ----------
    raster : Raster
        Drawn into by ``colour``; its ``ids`` become the last row whose centre lies in the pixel.
    palette : uint8 array, shape (codes, 4)
        Rows of opacity 0 do not count.
    viewport : Viewport
        In the raster's pixels.

    Attributes
    ----------
    array : float32 array, shape (height, width) or (height, width, 4)
        Rows; with several colours the sums of red, green and blue, then rows.
    """

    def __init__(self, raster: Raster, palette: NDArray[np.uint8], viewport: Viewport) -> None:
        self._raster, self._viewport, self._palette = raster, viewport, palette
        self._shown = np.zeros(256, np.bool_)
        self._shown[: len(palette)] = palette[:, 3] > 0
        self.coloured = _are_several(palette)
        shape = raster.pixels.shape
        self.array = np.zeros((*shape, 4) if self.coloured else shape, np.float32)
        raster.ids.fill(-1)

    def add(self, points: Points) -> None:
        """Count points; where they are a part of the rows, each counts for several."""
        from explorer.render.kernels import count_colours, count_rows

        where = points.xy, points.rows, points.spans, points.step, points.codes
        place = self._viewport.scale, *self._viewport.origin, np.float32(1 / points.share)
        if self.coloured:
            count_colours(*where, weighted_inks(self._palette), *place, self.array, self._raster.ids)
        else:
            count_rows(*where, self._shown, *place, self.array, self._raster.ids)

    def colour(
        self, colours: NDArray[np.uint8], ground: int, softness: float, most: float | None = None
    ) -> float:
        """Draw them.

        Parameters
        ----------
        colours : uint8 array, shape (256, 3)
            From ``density_colours``; for rows of one colour.
        ground : int
            The word below; an opaque one for rows of several colours.
        softness : float
            Pixels that a row spreads over: the standard deviation, 0 for none.
        most : float, optional
            Rows in a pixel that the strongest colour stands for; without it, those in the fullest.

        Returns
        -------
        float
            The same.
        """
        from explorer.render.kernels import colour_counts, shade, spread, spread_colours

        # A kernel [1, 2, 1] / 4 has the variance 1/2, and variances add.
        for _ in range(round(2 * softness**2)):
            (spread_colours if self.coloured else spread)(self.array)
        if most is None:
            most = float((self.array[:, :, 3] if self.coloured else self.array).max())
        first = np.uint32(FIRST_BITS)
        if self.coloured:
            shade(self.array, _opacities_by_bits(most), first, np.uint32(ground), self._raster.pixels)
        else:
            words = _words_by_bits(colours, ground, most)
            colour_counts(self.array.view(np.uint32), words, first, self._raster.pixels)
        return most


def draw_grid(
    raster: Raster,
    index: PointIndex,
    codes: NDArray[np.integer],
    palette: NDArray[np.uint8],
    viewport: Viewport,
    colours: NDArray[np.uint8],
    ground: int,
) -> None:
    """Draw the counts of an index's grids: as quick for any number of rows, but coarser; nothing is hit.

    Parameters
    ----------
    raster : Raster
    index : PointIndex
        One with grids.
    codes, palette, viewport, colours, ground
        As in ``Raster.draw`` and ``Counts.colour``.
    """
    from explorer.render.kernels import colour_counts, magnify, tint

    whole = index.width * index.columns, index.height * index.lines
    sides = [min(whole) / len(grid) * viewport.scale for grid in index.grids]
    grid = next((each for each, side in zip(index.grids, sides, strict=True) if side >= 1), index.grids[-1])
    counts, most = np.empty(raster.pixels.shape, np.float32), fullest(index, viewport)
    wide, high = (size / len(grid) for size in whole)
    weight = 1 / (viewport.scale**2 * wide * high)
    magnify(grid, *_corner(index, viewport, wide, high), weight, counts)
    first, word = np.uint32(FIRST_BITS), np.uint32(ground)
    raster.ids.fill(-1)
    if _are_several(palette):
        place, cells = _corner(index, viewport, index.width, index.height), index.cell_colours(codes, palette)
        tint(counts, cells, *place, _opacities_by_bits(most), first, word, raster.pixels)
    else:
        words = _words_by_bits(colours, ground, most)
        colour_counts(counts.view(np.uint32), words, first, raster.pixels)


def _corner(index: PointIndex, view: Viewport, wide: float, high: float) -> tuple[float, float, float, float]:
    """The view's left and bottom, and a pixel's sides, in parts of the index's area of that size."""
    left = (view.x - view.width / 2 / view.scale - index.left) / wide
    bottom = (view.y - view.height / 2 / view.scale - index.bottom) / high
    return left, bottom, 1 / view.scale / wide, 1 / view.scale / high


def _are_several(palette: NDArray[np.uint8]) -> bool:
    """Whether shown codes have more than one colour."""
    return len(np.unique(palette[palette[:, 3] > 0, :3], axis=0)) > 1


def _steps_by_bits(most: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By the upper 16 bits of a count's float32: its logarithm from 0 to 1, and how far it is seen at all.

    These bits are a logarithm of 7 bits' precision. Less than one row fades into the ground.
    """
    counts = (np.arange(FIRST_BITS, LAST_BITS, dtype=np.uint32) << 16).view(np.float32).astype(np.float64)
    step = np.log1p(counts) / np.log1p(most) if most > 0 else np.zeros(len(counts))
    seen = np.minimum(1, 2 * np.sqrt(counts))
    seen[0] = 0
    return np.clip(step, 0, 1), seen


def _words_by_bits(colours: NDArray[np.uint8], ground: int, most: float) -> NDArray[np.uint32]:
    step, seen = _steps_by_bits(most)
    colour, share = colours[(255 * step).astype(np.intp)], seen[:, None]
    below = np.array([ground >> shift & 255 for shift in (16, 8, 0)])
    mixed = np.rint(colour * share + below * (1 - share)).astype(np.uint32)
    alpha = np.rint(255 * seen + (ground >> 24) * (1 - seen)).astype(np.uint32)
    words = alpha << 24 | mixed[:, 0] << 16 | mixed[:, 1] << 8 | mixed[:, 2]
    words[0] = ground
    return np.ascontiguousarray(words, np.uint32)


def _opacities_by_bits(most: float) -> NDArray[np.float32]:
    step, seen = _steps_by_bits(most)
    return ((FAINTEST + (1 - FAINTEST) * step) * seen).astype(np.float32)
