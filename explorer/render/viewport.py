"""The window onto the plane: which part of the data is seen, and how large."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

SMALLEST_SCALE, LARGEST_SCALE = 1e-36, 1e36
SAMPLE = 25_000
FAR_OF_NEARLY_ALL, FAR_OF_MOST = 100.0, 10_000.0
"""A row does not shape the first view where it lies further from the median than so many times the
deviation that 99.5 % of the rows keep within, or than so many times that of half of them."""


@dataclass(frozen=True)
class Insets:
    """Space kept free of points at each edge, in pixels."""

    left: float = 24.0
    top: float = 24.0
    right: float = 24.0
    bottom: float = 24.0


@dataclass(frozen=True)
class Viewport:
    """A similarity from data (y up) to pixels (y down, the origin at the top left corner).

    Attributes
    ----------
    width, height : int
        Size in pixels; whose pixels (the screen's or the figure's points) is the caller's choice.
    x, y : float
        The data point in the middle.
    scale : float
        Pixels per data unit, the same in both directions.
    """

    width: int
    height: int
    x: float = 0.0
    y: float = 0.0
    scale: float = 1.0

    @classmethod
    def fitted(
        cls, xy: NDArray[np.floating], width: int, height: int, insets: Insets | None = None
    ) -> Viewport:
        """The view that shows all rows, or all but a few that lie absurdly far from the others.

        Parameters
        ----------
        xy : float array, shape (rows, 2)
            Rows with a NaN or infinite coordinate are left out; none at all gives a unit view.
        width, height : int
        insets : Insets, optional
        """
        insets = insets or Insets()
        left, bottom, right, top = extent(xy)
        free_width = max(width - insets.left - insets.right, 0.25 * width, 1.0)
        free_height = max(height - insets.top - insets.bottom, 0.25 * height, 1.0)
        room = [
            free / span for free, span in ((free_width, right - left), (free_height, top - bottom)) if span
        ]
        scale = min(max(min(room, default=1.0), SMALLEST_SCALE), LARGEST_SCALE)
        dx = (insets.left - insets.right) / 2 / scale
        dy = (insets.bottom - insets.top) / 2 / scale
        return cls(width, height, (left + right) / 2 - dx, (bottom + top) / 2 - dy, scale)

    @property
    def origin(self) -> tuple[float, float]:
        """Where the data's (0, 0) lies, in pixels."""
        return self.width / 2 - self.x * self.scale, self.height / 2 + self.y * self.scale

    def to_pixels(self, xy: NDArray[np.floating]) -> NDArray[np.float64]:
        """Data positions as pixels, shape (n, 2); a position that is not finite stays so."""
        with np.errstate(over="ignore", invalid="ignore"):
            pixels = (np.asarray(xy, np.float64) - (self.x, self.y)) * (self.scale, -self.scale)
            pixels += (self.width / 2, self.height / 2)
        return pixels

    def to_data(self, pixels: NDArray[np.floating]) -> NDArray[np.float64]:
        """Pixel positions as data, shape (n, 2)."""
        offset = np.asarray(pixels, np.float64) - (self.width / 2, self.height / 2)
        return offset / (self.scale, -self.scale) + (self.x, self.y)

    def zoomed_at(self, px: float, py: float, factor: float) -> Viewport:
        """Larger (factor > 1) or smaller, the data point under the pixel staying under it."""
        scale = min(max(self.scale * factor, SMALLEST_SCALE), LARGEST_SCALE)
        shift = 1 / self.scale - 1 / scale
        return replace(
            self,
            x=self.x + (px - self.width / 2) * shift,
            y=self.y - (py - self.height / 2) * shift,
            scale=scale,
        )

    def panned(self, dx: float, dy: float) -> Viewport:
        """The picture moved by so many pixels, as when dragged."""
        return replace(self, x=self.x - dx / self.scale, y=self.y + dy / self.scale)

    def magnified(self, ratio: float) -> Viewport:
        """The same picture with ``ratio`` times the pixels in each direction (high DPI, exports)."""
        return replace(
            self,
            width=round(self.width * ratio),
            height=round(self.height * ratio),
            scale=self.scale * ratio,
        )

    def contains(self, pixels: NDArray[np.floating], margin: float = 0.0) -> NDArray[np.bool_]:
        """Which pixel positions lie inside, shape (n,)."""
        x, y = pixels[:, 0], pixels[:, 1]
        inside = (x >= margin) & (x <= self.width - margin) & (y >= margin) & (y <= self.height - margin)
        return np.asarray(inside)


def extent(xy: NDArray[np.floating]) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of the rows that shape a view (see ``FAR_OF_NEARLY_ALL``)."""
    columns = [np.ascontiguousarray(xy[:, axis]) for axis in (0, 1)]
    finite = np.isfinite(columns[0]) & np.isfinite(columns[1])
    if not finite.all():
        columns = [column[finite] for column in columns]
    if not len(columns[0]):
        return 0.0, 0.0, 0.0, 0.0
    (left, right), (bottom, top) = (_range(column) for column in columns)
    return left, bottom, right, top


def _range(column: NDArray[np.floating]) -> tuple[float, float]:
    low, high = float(column.min()), float(column.max())
    sample = np.sort(column[:: max(len(column) // SAMPLE, 1)].astype(np.float64))
    middle = float(sample[(len(sample) - 1) // 2] + sample[len(sample) // 2]) / 2
    deviations = np.sort(np.abs(sample - middle))
    reach = min(
        FAR_OF_NEARLY_ALL * _deviation(deviations, (0.995, 1.0)),
        FAR_OF_MOST * _deviation(deviations, (0.5, 0.75, 0.9, 0.95, 0.995, 1.0)),
    )
    if low < middle - reach or high > middle + reach:
        near = column[np.abs(column.astype(np.float64) - middle) <= reach]
        low, high = float(near.min()), float(near.max())
    return low, high


def _deviation(deviations: NDArray[np.float64], quantiles: tuple[float, ...]) -> float:
    """The first of the quantiles that is not zero: where many rows share a place, all others."""
    values = (float(deviations[int(quantile * (len(deviations) - 1))]) for quantile in quantiles)
    return next((value for value in values if value > 0), 0.0)
