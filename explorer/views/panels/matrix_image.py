"""Matrices as images of few enough pixels, coloured by a table of 256 colours."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage, qRgb

from explorer.render.palette import Theme, rgb, sequence_palette

FAR = 0.995
"""A single far value must not wash out all others."""
_SAMPLE = 1 << 15
_MIDDLE, _STEPS = 128, 127
_NO_NUMBER = 0


def reach_of(values: NDArray[np.float32]) -> float:
    """The size that all but a few values stay below, from a sample of many."""
    flat = values.ravel()
    some = np.abs(flat[:: max(1, len(flat) // _SAMPLE)])
    sizes = some[np.isfinite(some)]
    return float(np.quantile(sizes, FAR)) if sizes.size else 0.0


def thinned(values: NDArray[np.float32], most_rows: int) -> NDArray[np.float32]:
    """Rows spread evenly over a matrix of more than can be drawn."""
    if len(values) <= most_rows:
        return values
    return values[np.linspace(0, len(values) - 1, most_rows).astype(np.intp)]


def matrix_image(
    values: NDArray[np.float32], reach: float, theme: Theme, *, shares: bool = False, most_rows: int = 640
) -> QImage:
    """A pixel for each value.

    Parameters
    ----------
    values : float32 array, shape (n, m)
    reach : float
        Values from -reach to reach are told apart.
    theme : Theme
    shares : bool
        From 0 to reach instead.
    most_rows : int
        Of more, some are left out.
    """
    few = thinned(values, most_rows)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = few * np.float32((254 if shares else _STEPS) / (reach or 1.0))
    scaled += np.float32(1 if shares else _MIDDLE)
    finite = np.isfinite(few)
    np.clip(scaled, 1, 255, out=scaled)
    places = np.rint(np.where(finite, scaled, _NO_NUMBER)).astype(np.uint8)
    image = QImage(places.data, places.shape[1], len(places), places.shape[1], QImage.Format.Format_Indexed8)
    image.setColorTable(_share_colours(theme) if shares else _signed_colours(theme))
    return image.convertToFormat(QImage.Format.Format_RGB32)  # a copy: the array's memory is not the image's


def diverging(values: NDArray[np.float32], reach: float, theme: Theme) -> NDArray[np.uint8]:
    """Colours of values, uint8, shape (*values.shape, 3): orange below zero, blue above.

    Values without a number have the theme's quiet colour.
    """
    low, middle, high = (
        np.asarray(rgb(colour), np.float32) for colour in (theme.categories[1], theme.ground, theme.accent)
    )
    share = np.clip(values / (reach or 1.0), -1, 1)[..., None]
    mixed = middle + np.abs(share) * (np.where(share < 0, low, high) - middle)
    mixed = np.where(np.isfinite(share), mixed, np.asarray(rgb(theme.quiet), np.float32))
    return np.rint(mixed).astype(np.uint8)


@lru_cache(maxsize=4)
def _signed_colours(theme: Theme) -> list[int]:
    ramp = (np.arange(256, dtype=np.float32) - _MIDDLE) / _STEPS
    ramp[_NO_NUMBER] = np.nan
    return [qRgb(*colour) for colour in diverging(ramp, 1.0, theme).tolist()]


@lru_cache(maxsize=4)
def _share_colours(theme: Theme) -> list[int]:
    palette = sequence_palette("viridis", theme)[:, :3]
    places = np.rint(np.linspace(0, len(palette) - 2, 255)).astype(np.intp)
    return [qRgb(*palette[-1].tolist()), *(qRgb(*colour) for colour in palette[places].tolist())]
