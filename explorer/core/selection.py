"""Selected rows as a value, and how new ones combine with those there are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

NO_ROWS: NDArray[np.int64] = np.empty(0, np.int64)


class Combine(StrEnum):
    """What becomes of the rows selected before."""

    NEW = "new"
    ADD = "add"
    REMOVE = "remove"
    INTERSECT = "intersect"


def combined(
    selected: NDArray[np.int64], rows: NDArray[np.integer], how: Combine, total: int
) -> NDArray[np.int64]:
    """The selection after taking rows in.

    Parameters
    ----------
    selected : int64 array
        Rows selected so far.
    rows : integer array
        In any order; a row may come twice.
    how : Combine
    total : int
        How many rows the table has.

    Returns
    -------
    int64 array
        Ascending, each row once.
    """
    if how is Combine.NEW:
        selected, how = NO_ROWS, Combine.ADD
    taken = np.zeros(total, np.bool_)
    if how is Combine.INTERSECT:
        taken[rows] = True
        return selected[taken[selected]]
    taken[selected] = True
    taken[rows] = how is Combine.ADD
    return np.flatnonzero(taken)


def inverted(selected: NDArray[np.int64], able: NDArray[np.bool_]) -> NDArray[np.int64]:
    """All rows that can be selected and are not, ascending.

    Parameters
    ----------
    selected : int64 array
    able : bool array, shape (rows,)
        Which rows can be selected at all.
    """
    left = able.copy()
    left[selected] = False
    return np.flatnonzero(left)


def mask_of(rows: NDArray[np.integer], total: int) -> NDArray[np.bool_]:
    """True at the rows given, shape (total,)."""
    mask = np.zeros(total, np.bool_)
    mask[rows] = True
    return mask


@dataclass(frozen=True, eq=False)
class PackedRows:
    """A set of rows at a bit a row of the table, or four bytes a row of the set, whichever is less.

    Attributes
    ----------
    data : uint8 or int32 array
    count : int
        How many rows it holds.
    total : int
        How many rows the table has.
    """

    data: NDArray
    count: int
    total: int

    @classmethod
    def of(cls, rows: NDArray[np.int64], total: int) -> PackedRows:
        """Pack rows, ascending."""
        if 4 * len(rows) <= total // 8:
            return cls(rows.astype(np.int32), len(rows), total)
        return cls(np.packbits(mask_of(rows, total)), len(rows), total)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows, ascending."""
        if self.data.dtype == np.uint8:
            return np.flatnonzero(np.unpackbits(self.data, count=self.total))
        return self.data.astype(np.int64)

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.data.nbytes
