"""Points to pixels: soft-edged discs in an image, and the row under each of its pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from explorer.render.hit import nearest_row
from explorer.render.palette import Theme, rgb
from explorer.render.points import Points
from explorer.render.viewport import Viewport

LEVELS = 16
"""Steps of coverage between outside and inside of a disc."""
PHASES = 4
"""Positions within a pixel, in each direction, that a disc's centre is rounded to."""


@dataclass(frozen=True)
class Dots:
    """How rows are drawn: radius in pixels, opacity from 0 to 1."""

    radius: float
    opacity: float

    def magnified(self, ratio: float) -> Dots:
        """The same dots in a picture with ``ratio`` times the pixels in each direction."""
        return Dots(self.radius * ratio, self.opacity)

    def for_share(self, share: float) -> Dots:
        """Dots of a part of the rows that are, where many overlap, as dark as those of all."""
        if share >= 1:
            return self
        return Dots(self.radius, 1 - (1 - min(self.opacity, 0.999)) ** (1 / max(share, 1e-9)))


@dataclass(frozen=True, eq=False)
class Layer:
    """Rows drawn once more, above the ones before.

    Attributes
    ----------
    rows : integer array
    dots : Dots
    painted : bool
        False claims the pixels for hit-testing only: something else draws these rows.
    """

    rows: NDArray[np.integer]
    dots: Dots
    painted: bool = True


@dataclass(frozen=True, eq=False)
class Disc:
    """A disc's pixels, relative to the pixel its centre lies in, for each phase of the centre.

    ``dx``, ``dy`` and ``level`` have shape (PHASES², taps); only the first ``taps[phase]`` count,
    and the first ``solid[phase]`` of these are the ones that the cursor can hit.
    """

    dx: NDArray[np.int32]
    dy: NDArray[np.int32]
    level: NDArray[np.uint8]
    taps: NDArray[np.int32]
    solid: NDArray[np.int32]
    reach: int


class Raster:
    """The map's points as pixels, with the row under each.

    Attributes
    ----------
    pixels : uint32 array, shape (height, width)
        ``0xAARRGGBB``, premultiplied: Qt's ``Format_ARGB32_Premultiplied``. The array lives as
        long as the raster, so that an image may wrap it.
    ids : int32 array, shape (height, width)
        The topmost row whose disc covers at least half of the pixel; -1 where there is none.
    """

    def __init__(self, width: int, height: int) -> None:
        self.pixels = np.zeros((max(height, 1), max(width, 1)), np.uint32)
        self.ids = np.full(self.pixels.shape, -1, np.int32)

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    def draw(
        self,
        xy: NDArray[np.float32],
        codes: NDArray[np.uint8],
        palette: NDArray[np.uint8],
        viewport: Viewport,
        dots: Dots,
        *,
        ground: int = 0,
        rows: NDArray[np.integer] | None = None,
        layers: Sequence[Layer] = (),
        step: int = 1,
        hits: bool = True,
    ) -> None:
        """Draw all rows, later ones above earlier ones, then the layers in turn.

        Parameters
        ----------
        xy : float32 array, shape (rows, 2)
            Rows that are not finite, or far outside, are left out.
        codes : uint8 array, shape (rows,)
        palette : uint8 array, shape (codes, 4)
            Red, green, blue, opacity; rows of opacity 0 are neither drawn nor hit.
        viewport : Viewport
            In this raster's pixels.
        dots : Dots
        ground : int
            The word that the picture starts from; an opaque one makes an opaque picture.
        rows : integer array, optional
            Only these rows, in this order.
        layers : sequence of Layer
        step : int
            Draw each ``step``-th row only, with an opacity that makes up for it where discs
            overlap; layers are always whole.
        hits : bool
            False leaves ``ids`` empty, which is quicker.
        """
        points = Points.all(xy, codes, step) if rows is None else Points.some(xy, codes, rows, step)
        self.clear(ground)
        self.splat(points, palette, viewport, dots.for_share(points.share), hits=hits)
        self.add(xy, codes, palette, viewport, layers, hits=hits)

    def clear(self, ground: int = 0) -> None:
        """An empty picture in which nothing can be hit."""
        self.pixels.fill(ground)
        self.ids.fill(-1)

    def add(
        self,
        xy: NDArray[np.float32],
        codes: NDArray[np.uint8],
        palette: NDArray[np.uint8],
        viewport: Viewport,
        layers: Sequence[Layer],
        *,
        hits: bool = True,
    ) -> None:
        """Draw layers over what is there."""
        for layer in layers:
            if len(layer.rows):
                points = Points.some(xy, codes, layer.rows)
                self.splat(points, palette, viewport, layer.dots, painted=layer.painted, hits=hits)

    def splat(
        self,
        points: Points,
        palette: NDArray[np.uint8],
        viewport: Viewport,
        dots: Dots,
        *,
        painted: bool = True,
        hits: bool = True,
    ) -> None:
        """Draw points over what is there; see ``draw``."""
        from explorer.render.kernels import splat

        if (max(viewport.width, 1), max(viewport.height, 1)) != (self.width, self.height):
            raise ValueError(f"viewport {viewport.width} × {viewport.height} on {self.width} × {self.height}")
        disc = disc_of(round(dots.radius * 32) / 32)
        left, top = viewport.origin
        splat(
            self.pixels.reshape(-1),
            self.ids.reshape(-1),
            self.width,
            self.height,
            points.xy,
            points.rows,
            points.spans,
            points.step,
            points.codes,
            inks(palette, dots.opacity),
            disc.dx,
            disc.dy,
            disc.level,
            disc.taps,
            disc.solid,
            disc.reach,
            viewport.scale,
            left,
            top,
            painted,
            hits,
        )

    def fade(self, ground: int, share: float) -> None:
        """Leave only so much of an opaque picture over its ground."""
        from explorer.render.kernels import fade

        fade(self.pixels.reshape(-1), np.uint32(ground), np.uint32(round(256 * share)))

    def claim(self, row: int, left: float, top: float, width: float, height: float) -> None:
        """Give a rectangle of pixels to a row, for hit-testing."""
        x0, x1 = (int(min(max(edge, 0), self.width)) for edge in (left, left + width))
        y0, y1 = (int(min(max(edge, 0), self.height)) for edge in (top, top + height))
        self.ids[y0:y1, x0:x1] = row

    def row_at(self, x: float, y: float, reach: float = 4.0) -> int:
        """The row whose disc is nearest to a pixel position, at most ``reach`` pixels away; else -1."""
        return nearest_row(self.ids, x, y, reach)


def dots_for(rows: int, width: float, height: float, zoom: float = 1.0) -> Dots:
    """Dots that suit a density: small and faint where many rows share the picture.

    Parameters
    ----------
    rows : int
    width, height : float
        The picture's size in points.
    zoom : float
        How much larger than the fitted view: rows thin out as one comes closer.

    Returns
    -------
    Dots
        Radius in points.
    """
    room = max(width * height, 1.0) / max(rows, 1) * max(zoom, 1.0) ** 2
    ease = room / 53.0  # 12,000 rows on 840 × 760 points, as in the window's drawing
    return Dots(
        radius=min(max(2.1 * ease**0.2, 0.75), 4.5),
        opacity=min(max(0.42 * ease**0.25, 0.12), 0.9),
    )


@lru_cache(maxsize=64)
def disc_of(radius: float) -> Disc:
    """A disc whose edge is one pixel soft: a pixel's coverage falls from 1 to 0 as its centre's
    distance from the disc's goes from ``radius - 0.5`` to ``radius + 0.5``."""
    radius = max(radius, 0.25)
    reach = math.ceil(radius + 0.5) + 1
    offsets = np.arange(-reach, reach + 1) + 0.5
    centres = (np.arange(PHASES) + 0.5) / PHASES
    found = []
    for centre_y in centres:
        for centre_x in centres:
            distance = np.hypot(offsets[:, None] - centre_y, offsets[None, :] - centre_x)
            cover = np.rint(np.clip(radius + 0.5 - distance, 0.0, 1.0) * LEVELS).astype(np.uint8)
            line, column = np.nonzero(cover)
            best_first = np.argsort(-cover[line, column].astype(int), kind="stable")
            found.append(
                (column[best_first] - reach, line[best_first] - reach, cover[line, column][best_first])
            )
    most = max(len(levels) for _, _, levels in found)
    dx, dy = np.zeros((2, len(found), most), np.int32)
    level = np.zeros((len(found), most), np.uint8)
    solid = np.zeros(len(found), np.int32)
    for phase, (column, line, levels) in enumerate(found):
        dx[phase, : len(levels)], dy[phase, : len(levels)], level[phase, : len(levels)] = column, line, levels
        solid[phase] = np.count_nonzero(levels >= levels[0] / 2)
    return Disc(dx, dy, level, np.array([len(levels) for *_, levels in found], np.int32), solid, reach)


def inks(palette: NDArray[np.uint8], opacity: float) -> NDArray[np.uint32]:
    """Premultiplied words by code and level of coverage, shape (256, LEVELS + 1); unused codes are empty."""
    share = np.zeros((256, LEVELS + 1))
    share[: len(palette)] = palette[:, 3:].astype(np.float64) / 255 * opacity * np.arange(LEVELS + 1) / LEVELS
    colours = np.zeros((256, 3))
    colours[: len(palette)] = palette[:, :3]
    words = np.rint(share * 255).astype(np.uint32) << 24
    for channel, shift in enumerate((16, 8, 0)):
        words |= np.rint(colours[:, channel, None] * share).astype(np.uint32) << shift
    return np.ascontiguousarray(words, np.uint32)


def ground_of(theme: Theme) -> int:
    """The theme's map ground as an opaque pixel."""
    red, green, blue = rgb(theme.map)
    return 0xFF000000 | red << 16 | green << 8 | blue
