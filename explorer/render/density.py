"""Where millions of discs would merge: how many rows each pixel holds, on a logarithmic scale."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from explorer.render.palette import Theme, sequence
from explorer.render.point_index import PointIndex
from explorer.render.points import Points
from explorer.render.raster import Dots, Raster
from explorer.render.viewport import Viewport

FIRST_BITS, LAST_BITS = (int(np.float32(end).view(np.uint32)) >> 16 for end in (0.004, 2.0**32))
"""Between these, the upper bits of a float32 say which count it is; fewer rows are none."""
FEWEST = 100_000
"""Fewer rows in view are always shown one by one."""
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
    """Rows per pixel, counted in one go or in several.

    Attributes
    ----------
    array : float32 array, shape (height, width)
    """

    def __init__(self, raster: Raster, palette: NDArray[np.uint8], viewport: Viewport) -> None:
        self._raster, self._viewport = raster, viewport
        self.array = np.zeros(raster.pixels.shape, np.float32)
        self._codes = len(palette)
        self._shown = np.zeros(256, np.bool_)
        self._shown[: len(palette)] = palette[:, 3] > 0
        raster.ids.fill(-1)

    def add(self, points: Points) -> None:
        """Count points; where they are a part of the rows, each counts for several."""
        from explorer.render.kernels import count_rows

        count_rows(
            points.xy,
            points.rows,
            points.spans,
            points.step,
            points.codes,
            self._shown,
            self._viewport.scale,
            *self._viewport.origin,
            np.float32(1 / points.share),
            self.array,
            self._raster.ids,
        )

    def add_grid(self, index: PointIndex) -> None:
        """Take the counts of an index's grids instead: as quick for any number of rows, but coarser."""
        from explorer.render.kernels import magnify

        view = self._viewport
        whole = index.width * index.columns, index.height * index.lines
        sides = [min(whole) / len(grid) * view.scale for grid in index.grids]
        grid = next(
            (each for each, side in zip(index.grids, sides, strict=True) if side >= 1), index.grids[-1]
        )
        wide, high = (size / len(grid) for size in whole)
        magnify(
            grid,
            (view.x - view.width / 2 / view.scale - index.left) / wide,
            (view.y - view.height / 2 / view.scale - index.bottom) / high,
            1 / (view.scale * wide),
            1 / (view.scale * high),
            1 / (view.scale**2 * wide * high),
            self.array,
        )

    @property
    def shows_all(self) -> bool:
        """Whether no code is hidden."""
        return bool(self._shown[: self._codes].all())

    def colour(
        self, colours: NDArray[np.uint8], ground: int, softness: float, most: float | None = None
    ) -> float:
        """Draw them; see ``draw_density``."""
        from explorer.render.kernels import colour_counts, spread

        # A kernel [1, 2, 1] / 4 has the variance 1/2, and variances add.
        for _ in range(round(2 * softness**2)):
            spread(self.array)
        most = float(self.array.max()) if most is None else most
        words = _words_by_bits(colours, ground, most)
        colour_counts(self.array.view(np.uint32), words, np.uint32(FIRST_BITS), self._raster.pixels)
        return most


def _words_by_bits(colours: NDArray[np.uint8], ground: int, most: float) -> NDArray[np.uint32]:
    """The pixel of each count, by the upper 16 bits of its float32: a logarithm of 7 bits' precision.

    Less than one row fades into the ground.
    """
    counts = (np.arange(FIRST_BITS, LAST_BITS, dtype=np.uint32) << 16).view(np.float32).astype(np.float64)
    step = np.log1p(counts) * (255 / np.log1p(most)) if most > 0 else np.zeros(len(counts))
    colour = colours[np.clip(step, 0, 255).astype(np.intp)]
    share = np.minimum(1, 2 * np.sqrt(counts))[:, None]
    below = np.array([ground >> shift & 255 for shift in (16, 8, 0)])
    mixed = np.rint(colour * share + below * (1 - share)).astype(np.uint32)
    alpha = np.rint(255 * share[:, 0] + (ground >> 24) * (1 - share[:, 0])).astype(np.uint32)
    words = alpha << 24 | mixed[:, 0] << 16 | mixed[:, 1] << 8 | mixed[:, 2]
    words[0] = ground
    return np.ascontiguousarray(words, np.uint32)


def draw_density(
    raster: Raster,
    xy: NDArray[np.float32],
    codes: NDArray[np.uint8],
    palette: NDArray[np.uint8],
    viewport: Viewport,
    colours: NDArray[np.uint8],
    *,
    ground: int = 0,
    softness: float = 1.0,
) -> float:
    """Draw the density of the rows instead of the rows.

    Parameters
    ----------
    raster : Raster
        Its ``ids`` become the last row whose centre lies in the pixel.
    xy, codes, palette, viewport, ground
        As in ``Raster.draw``; rows of opacity 0 do not count.
    colours : uint8 array, shape (256, 3)
        From ``density_colours``.
    softness : float
        Pixels that a row spreads over: the standard deviation, 0 for none.

    Returns
    -------
    float
        Rows in the fullest pixel, after spreading; the last colour stands for it.
    """
    counts = Counts(raster, palette, viewport)
    counts.add(Points.all(xy, codes))
    return counts.colour(colours, ground, softness)
