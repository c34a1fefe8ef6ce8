"""A fair part of the rows, close together in memory: what a moving picture of ten million rows draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEED = 42


@dataclass(frozen=True, eq=False)
class Sample:
    """Some of the rows, as they are seen.

    Attributes
    ----------
    rows : int64 array, shape (n,)
        Ascending.
    xy : float32 array, shape (n, 2)
    depth : float32 array, shape (n,)
        How near each is to the viewer.
    share : float
        How much of what is there these are, 0 to 1.
    """

    rows: NDArray[np.int64]
    xy: NDArray[np.float32]
    depth: NDArray[np.float32]
    share: float

    def __len__(self) -> int:
        return len(self.rows)


def spread_out(count: int, most: int, seed: int = SEED) -> NDArray[np.int64]:
    """Some of ``count`` rows, ascending: one at random of each of ``most`` runs of about equal length.

    All of them, where they are no more than ``most``.
    """
    if count <= most:
        return np.arange(count)
    begins = np.arange(most + 1) * count // most
    share = np.random.default_rng(seed).random(most)
    return begins[:-1] + (share * np.diff(begins)).astype(np.int64)
