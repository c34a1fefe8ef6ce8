"""Tables as the vectors worker holds them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.compute.vectors import Vectors
from explorer.core.health_scan import examine


def vectors_of(array: NDArray, *, padding: int = 0, scale: float = 1.0) -> Vectors:
    """An array as the vectors worker holds it."""
    return Vectors(array, examine([array], len(array), padding), scale=scale)


def grouped(rows: int, dim: int, *, groups: int = 8, seed: int = 0) -> NDArray[np.float32]:
    """Rows around a few centres: a table with neighbourhoods in it."""
    random = np.random.default_rng(seed)
    centres = 3 * random.normal(size=(groups, dim))
    return (centres[random.integers(groups, size=rows)] + random.normal(size=(rows, dim))).astype(np.float32)
