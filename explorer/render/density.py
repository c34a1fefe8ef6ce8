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
    crowd = _by_rows(counts, 0.5)
    depth = crowd * math.pi * dots.radius**2 / (index.width * index.height * viewport.scale**2)
    cover = 1 - (1 - min(dots.opacity, 0.999)) ** min(depth, 1e6)
    return cover > (APART if before else MERGED)


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
    """Rows per pixel, counted in one go or in several."""

    def __init__(self, raster: Raster, palette: NDArray[np.uint8], viewport: Viewport) -> None:
        self._raster, self._viewport = raster, viewport
        self._counts = np.zeros(raster.pixels.shape, np.float32)
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
            self._counts,
            self._raster.ids,
        )

    def colour(
        self, colours: NDArray[np.uint8], ground: int, softness: float, most: float | None = None
    ) -> float:
        """Draw them; see ``draw_density``."""
        from explorer.render.kernels import colour_counts, spread

        # A kernel [1, 2, 1] / 4 has the variance 1/2, and variances add.
        for _ in range(round(2 * softness**2)):
            spread(self._counts)
        most = float(self._counts.max()) if most is None else most
        words = np.zeros(256, np.uint32)
        for channel, shift in enumerate((16, 8, 0)):
            words |= colours[:, channel].astype(np.uint32) << shift
        colour_counts(self._counts, words, np.uint32(ground), most, self._raster.pixels)
        return most


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
