"""How the points are coloured: by cluster, a metadata column, length, row order, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from explorer.core.clustering import Clustering
from explorer.core.listing import LoadedTable
from explorer.core.table import MODALITY

CLUSTER, NORM, ORDER, SIMILARITY, TRUST, PLAIN = (
    "cluster",
    "row length",
    "row order",
    "similarity to query",
    "map trust",
    "one colour",
)

ZERO_SHOT = "zero-shot class"

PALETTES = ("standard", "colour-blind safe")
CROWDS = BY_ITSELF, ALWAYS, NEVER = ("by itself", "always", "never")
"""When the map shows how many rows lie where, instead of each as a dot."""
AUTOMATIC, AS_CATEGORIES, AS_SCALE = SCALES = ("automatic", "categories", "scale")


@dataclass(frozen=True)
class Colouring:
    """What the colours mean.

    Attributes
    ----------
    by : str
        One of the names above, or a metadata column's.
    hidden : frozenset of int
        Codes switched off in the legend.
    recoloured : mapping of int to (int, int, int)
        Codes whose colour was chosen by hand: red, green and blue, 0 to 255.
    palette : str
        One of ``PALETTES``.
    scale : str
        Whether numbers are coloured along a scale, or each as a category: one of ``SCALES``.
    item : str
        Of a column of lists: colour the rows that have it; blank colours by the first item.
    clustering : Clustering
        How the clusters are found.
    """

    by: str = CLUSTER
    hidden: frozenset[int] = frozenset()
    recoloured: Mapping[int, tuple[int, int, int]] = field(default_factory=dict)
    palette: str = "standard"
    scale: str = AUTOMATIC
    item: str = ""
    clustering: Clustering = field(default_factory=Clustering)


def first_colouring(table: LoadedTable | None) -> Colouring:
    """What a table's colours mean at first: its modalities, where it has several, else clusters."""
    return Colouring(by=MODALITY) if table is not None and MODALITY in table.metadata else Colouring()


def choices(table: LoadedTable) -> tuple[str, ...]:
    """What a table's points can be coloured by."""
    columns = tuple(name for name in table.metadata if name not in (CLUSTER, NORM, ORDER))
    return (CLUSTER, NORM, ORDER, SIMILARITY, TRUST, *columns, PLAIN)


def colouring_text(before: Colouring, after: Colouring) -> str:
    """What one colouring has done to another, to stand behind "Undo"."""
    if after.by != before.by:
        return f"colour by {after.by}"
    if after.hidden != before.hidden:
        return "show a category" if len(after.hidden) < len(before.hidden) else "hide a category"
    if after.recoloured != before.recoloured:
        return "recolour a category"
    if after.palette != before.palette:
        return "change the palette"
    return "change the clusters" if after.clustering != before.clustering else "change the colours"
