"""Selected rows as a value, and how new ones combine with those there are."""

from __future__ import annotations

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
