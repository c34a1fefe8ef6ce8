"""How strongly points of a layout pull and push, by how far apart they are.

The gradient of UMAP's objective (McInnes, Healy and Melville, 2018, section 4.2). The powers in it took
half of the time of a layout, so that both forces are looked up, to better than a hundredth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import curve_fit

# Each power of two of the squared distance has 256 cells: a float's exponent and 8 bits of its mantissa.
_CELL_BITS = 15
_FIRST_CELL = int(np.float32(2.0**-40).view(np.int32)) >> _CELL_BITS
_CELLS = 64 << 8
# Keeps points that lie on each other from being pushed without bound, as in umap-learn.
NEAR = 1e-3


@dataclass(frozen=True, eq=False)
class Forces:
    """The factors by which the way to another point is multiplied, by the cell of its squared length.

    Attributes
    ----------
    pulls : float32 array, shape (cells,)
        Along an edge; negative.
    pushes : float32 array, shape (cells,)
        Away from a point drawn at random.
    """

    pulls: NDArray[np.float32]
    pushes: NDArray[np.float32]

    @classmethod
    def of(cls, min_dist: float) -> Forces:
        """The forces that a layout's ``min_dist`` asks for."""
        a, b = curve(min_dist)
        first = np.arange(_FIRST_CELL, _FIRST_CELL + _CELLS, dtype=np.int32) << _CELL_BITS
        squared = (first + (1 << (_CELL_BITS - 1))).view(np.float32).astype(np.float64)
        power = squared**b
        pulls = -2.0 * a * b * power / (squared * (a * power + 1.0))
        pushes = 2.0 * b / ((NEAR + squared) * (a * power + 1.0))
        return cls(pulls.astype(np.float32), pushes.astype(np.float32))


@njit(nogil=True, cache=True, inline="always")
def cell(squared):  # type: ignore[no-untyped-def]
    """Where a squared distance's forces are; those too small or too large have the first or the last."""
    place = (np.float32(squared).view(np.int32) >> np.int32(_CELL_BITS)) - np.int32(_FIRST_CELL)
    return min(max(place, np.int32(0)), np.int32(_CELLS - 1))


def curve(min_dist: float) -> tuple[float, float]:
    """The a and b of the curve 1 / (1 + a d^2b) by which closeness on the map falls with distance.

    Fitted to what ``min_dist`` asks for: 1 up to that distance, then an exponential fall.
    """
    distance = np.linspace(0.0, 3.0, 300)
    wanted = np.where(distance < min_dist, 1.0, np.exp(min_dist - distance))
    (a, b), _ = curve_fit(lambda d, a, b: 1.0 / (1.0 + a * d ** (2.0 * b)), distance, wanted)
    return float(a), float(b)
