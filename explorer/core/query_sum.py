"""The parts of a query as one vector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError

_LEAST = 1e-6  # of what went into a sum; less is rounding's


def weighted_sum(
    parts: Sequence[tuple[float, NDArray[np.floating]]], *, may_cancel: bool = False
) -> NDArray[np.float64]:
    """The sum of weighted vectors, each scaled to unit length first, float64, shape (dim,).

    Parameters
    ----------
    parts : sequence of (float, array of shape (dim,))
        At least one.
    may_cancel : bool
        Whether nothing may be left: where more is to be added.

    Raises
    ------
    ExplorerError
        A part has no direction, parts are of different lengths, or they cancel out.
    """
    dims = {len(vector) for _, vector in parts}
    if len(dims) > 1:
        raise ExplorerError(f"The parts of the query have different dimensions: {sorted(dims)}.")
    total = np.sum([weight * _unit(vector) for weight, vector in parts], axis=0, dtype=np.float64)
    if not may_cancel and np.linalg.norm(total) <= _LEAST * sum(abs(weight) for weight, _ in parts):
        raise ExplorerError("The query's terms cancel out: nothing is left to compare with.")
    return np.asarray(total)


def _unit(vector: NDArray[np.floating]) -> NDArray[np.float64]:
    exact = np.asarray(vector, np.float64)
    length = float(np.linalg.norm(exact))
    if not np.isfinite(length) or length == 0:
        raise ExplorerError("A part of the query has no vector that can be compared.")
    return exact / length
