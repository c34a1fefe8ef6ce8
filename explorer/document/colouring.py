"""How the points are coloured: by cluster, a metadata column, length, row order, or not at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.listing import LoadedTable
from explorer.core.results import Clusters

CLUSTER, NORM, ORDER, SIMILARITY, PLAIN = "cluster", "norm", "row order", "similarity", "one colour"
MOST_CATEGORIES = 9
STEPS = 256


@dataclass(frozen=True)
class Colouring:
    """What the colours mean.

    Attributes
    ----------
    by : str
        One of the names above, or a metadata column's.
    hidden : frozenset of int
        Codes switched off in the legend.
    """

    by: str = CLUSTER
    hidden: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Coloured:
    """A colour code per row and what each code stands for.

    Attributes
    ----------
    codes : uint8 array, shape (rows,)
        Categories count from 0; a sequence uses 0 ... 255.
    kind : {"categories", "sequence", "plain"}
    names : tuple of str
        Names of the categories; for a sequence the lowest and the highest value.
    title : str
        The legend's first line.
    """

    codes: NDArray[np.uint8]
    kind: str
    names: tuple[str, ...]
    title: str


def choices(table: LoadedTable) -> tuple[str, ...]:
    """What a table's points can be coloured by."""
    return (CLUSTER, NORM, ORDER, SIMILARITY, *table.metadata, PLAIN)


def colour(
    by: str, table: LoadedTable, clusters: Clusters | None, similarity: NDArray[np.float32] | None = None
) -> Coloured:
    """Give every row a colour code.

    Parameters
    ----------
    by : str
        One of ``choices(table)``.
    table : LoadedTable
    clusters : Clusters or None
        None while they are not there yet: one colour for all.
    similarity : float32 array, shape (rows,), optional
        The rows' scores for the present question.

    Returns
    -------
    Coloured
    """
    rows = table.listing.rows
    shown = f"{int(np.count_nonzero(table.health.healthy)):,} rows shown"
    if by == CLUSTER and clusters is not None:
        codes = np.where(clusters.codes < 0, 0, clusters.codes).astype(np.uint8)
        return Coloured(codes, "categories", clusters.names, f"{len(clusters.names)} clusters · {shown}")
    if by == NORM:
        return _sequence(table.health.norms, f"length of the row · {shown}")
    if by == ORDER:
        return _sequence(np.arange(rows), f"row, first to last · {shown}")
    if by == SIMILARITY and similarity is not None:
        return _sequence(similarity, f"similarity to the query · {shown}")
    if by in table.metadata:
        return _column(table.metadata[by], f"{by} · {shown}")
    return Coloured(np.zeros(rows, np.uint8), "plain", (), shown)


def _sequence(values: NDArray, title: str) -> Coloured:
    values = np.asarray(values, np.float64)
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return Coloured(np.zeros(len(values), np.uint8), "plain", (), title)
    low, high = float(finite.min()), float(finite.max())
    span = (high - low) or 1.0
    scaled = np.clip(np.nan_to_num((values - low) / span, nan=0.0, posinf=1.0, neginf=0.0), 0, 1)
    return Coloured((scaled * (STEPS - 1)).astype(np.uint8), "sequence", (f"{low:.4g}", f"{high:.4g}"), title)


def _column(values: NDArray, title: str) -> Coloured:
    if values.dtype.kind in "fiu":
        return _sequence(values, title)
    texts = np.asarray([str(value) for value in values], dtype=object)
    names, codes, counts = np.unique(texts, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    if len(names) <= MOST_CATEGORIES:
        return Coloured(place[codes].astype(np.uint8), "categories", tuple(names[order]), title)
    rest = len(names) - (MOST_CATEGORIES - 1)
    kept = (*names[order[: MOST_CATEGORIES - 1]], f"{rest} others")
    return Coloured(np.minimum(place[codes], MOST_CATEGORIES - 1).astype(np.uint8), "categories", kept, title)
