"""Row health: which rows cannot take part, and why. A bad row is quarantined, never dropped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class RowState(IntEnum):
    """Why a row is, or is not, fit for search and layout."""

    HEALTHY = 0
    NAN = 1
    INFINITE = 2
    ZERO = 3
    PADDING = 4


@dataclass(frozen=True)
class HealthCounts:
    """Rows by fault; each row is counted once, in the order of the fields (NaN first).

    ``duplicates`` counts healthy rows equal to an earlier healthy row.
    """

    nan: int = 0
    inf: int = 0
    zero: int = 0
    duplicates: int = 0
    padding: int = 0


@dataclass(frozen=True, eq=False)
class Health:
    """What a pass over a table found.

    Attributes
    ----------
    states : uint8 array, shape (rows,)
        A RowState per row.
    norms : float32 array, shape (rows,)
        Euclidean length; NaN or infinite where the row is.
    first_twin : int64 array, shape (rows,)
        The first row with the same values (itself where there is none before it).
    counts : HealthCounts
    """

    states: NDArray[np.uint8]
    norms: NDArray[np.float32]
    first_twin: NDArray[np.int64]
    counts: HealthCounts

    @property
    def healthy(self) -> NDArray[np.bool_]:
        """Rows that take part in search and layout, shape (rows,)."""
        return np.equal(self.states, RowState.HEALTHY)

    def only(self, rows: NDArray[np.int64]) -> Health:
        """As if all other rows were unfit: for work on some rows of a table alone.

        Parameters
        ----------
        rows : int64 array
            Ascending.
        """
        states = np.full(len(self.states), RowState.PADDING, np.uint8)
        states[rows] = self.states[rows]
        fit = rows[states[rows] == RowState.HEALTHY]
        first_twin = np.arange(len(states))
        _, first, twins = np.unique(self.first_twin[fit], return_index=True, return_inverse=True)
        first_twin[fit] = fit[first[twins]]
        counts = replace(self.counts, duplicates=int(np.count_nonzero(first_twin[fit] != fit)))
        return replace(self, states=states, first_twin=first_twin, counts=counts)
