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
    key : int or None
        Names the table of these rows alone to the workers, where they are laid out anew.
    before : float32 array, shape (rows of the table, dimensions), or None
        Where all rows lay before that.
    """

    rows: NDArray[np.int64]
    key: int | None = None
    before: NDArray[np.float32] | None = None

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.rows.nbytes + (0 if self.before is None else self.before.nbytes)
