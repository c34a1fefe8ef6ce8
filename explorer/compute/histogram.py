"""Histograms of scores, however close together they lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Of the largest value: far more than float64 can tell apart, far less than float32 can.
_NARROWEST = 2.0**-40
_TINIEST = 1e-300


def histogram(
    values: NDArray[np.floating], bins: int, span: tuple[float, float] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count values in bins of equal width.

    NumPy's own refuses values between which their type has fewer steps than there are bins: cosines in a
    table whose rows all point one way, equal distances of 1e38.

    Parameters
    ----------
    values : float array
        Finite; at least one.
    bins : int
    span : (float, float), optional
        From the smallest to the largest value where not given; wider where these all but coincide.

    Returns
    -------
    int64 array, shape (bins,)
    float64 array, shape (bins + 1,)
        The bins' edges.
    """
    low, high = span if span is not None else (float(values.min()), float(values.max()))
    least = max(max(abs(low), abs(high)) * _NARROWEST, 1.0 if low == high else _TINIEST)
    if high - low < least:
        middle = low + (high - low) / 2
        low, high = middle - least / 2, middle + least / 2
    counts, edges = np.histogram(values.astype(np.float64, copy=False), bins, (low, high))
    return counts.astype(np.int64), edges.astype(np.float64)
