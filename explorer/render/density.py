"""Where millions of discs would merge: how many rows each pixel holds, on a logarithmic scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.render.palette import Theme, sequence
from explorer.render.points import Points
from explorer.render.raster import Raster
from explorer.render.viewport import Viewport


def density_colours(theme: Theme, name: str = "viridis") -> NDArray[np.uint8]:
    """Colours from few rows to many, shape (256, 3), all of them apart from the theme's ground.

    Light themes go from light to dark, dark ones from dark to light, so that crowds stand out.
    """
    table = sequence(name)
    ends = (60, 255) if theme.dark else (215, 0)
    return table[np.rint(np.linspace(*ends, 256)).astype(np.intp)]


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
    from explorer.render.kernels import colour_counts, count_rows, spread

    shown = np.zeros(256, np.bool_)
    shown[: len(palette)] = palette[:, 3] > 0
    counts = np.zeros(raster.pixels.shape, np.float32)
    raster.clear(ground)
    points = Points.all(xy, codes)
    count_rows(
        points.xy,
        points.rows,
        points.spans,
        points.step,
        points.codes,
        shown,
        viewport.scale,
        *viewport.origin,
        np.float32(1),
        counts,
        raster.ids,
    )
    # A kernel [1, 2, 1] / 4 has the variance 1/2, and variances add.
    for _ in range(round(2 * softness**2)):
        spread(counts)
    most = float(counts.max())
    words = np.zeros(256, np.uint32)
    for channel, shift in enumerate((16, 8, 0)):
        words |= colours[:, channel].astype(np.uint32) << shift
    colour_counts(counts, words, np.uint32(ground), most, raster.pixels)
    return most
