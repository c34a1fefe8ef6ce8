"""How the points are coloured: by cluster, a metadata column, length, row order, or not at all."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.core.listing import LoadedTable

CLUSTER, NORM, ORDER, SIMILARITY, TRUST, PLAIN = (
    "cluster",
    "row length",
    "row order",
    "similarity to query",
    "map trust",
    "one colour",
)


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


def choices(table: LoadedTable) -> tuple[str, ...]:
    """What a table's points can be coloured by."""
    columns = tuple(name for name in table.metadata if name not in (CLUSTER, NORM, ORDER))
    return (CLUSTER, NORM, ORDER, SIMILARITY, TRUST, *columns, PLAIN)
