"""Rows that are alone on the map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Isolation:
    """The rows that the map shows, while it hides all others.

    Attributes
    ----------
    rows : int64 array
        Ascending.
    before : float32 array, shape (rows of the table, 2 or 3), or None
        Where all rows lay before these were laid out alone; None where they lie as they did.
    """

    rows: NDArray[np.int64]
    before: NDArray[np.float32] | None = None

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.rows.nbytes + (0 if self.before is None else self.before.nbytes)
