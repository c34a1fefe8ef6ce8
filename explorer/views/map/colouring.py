"""From what the colours mean to a colour code per row, a palette and a legend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.listing import LoadedTable
from explorer.document import Document
from explorer.document.colouring import CLUSTER, NORM, ORDER, SIMILARITY, TRUST
from explorer.render.palette import (
    Theme,
    category_palette,
    codes_of_categories,
    codes_of_values,
    rgb,
    sequence_palette,
    with_opacity,
)

MOST_CATEGORIES = 18
HIDDEN_OPACITY = 0


@dataclass(frozen=True, eq=False)
class Coloured:
    """A colour code per row and what each code stands for.

    Attributes
    ----------
    codes : uint8 array, shape (rows,)
    palette : uint8 array, shape (codes, 4)
        Hidden codes have no opacity.
    title : str
        The legend's first line.
    entries : tuple of (int, str)
        Code and name of each category, the commonest first.
    scale : tuple of (str, str) or None
        Lowest and highest value, where the colours are a sequence.
    """

    codes: NDArray[np.uint8]
    palette: NDArray[np.uint8]
    title: str
    entries: tuple[tuple[int, str], ...] = ()
    scale: tuple[str, str] | None = None


def coloured(document: Document, theme: Theme) -> Coloured:
    """Colour the rows of the document's table as its colouring says.

    Where what is asked for is not there yet (clusters, an answer, trust), all rows have one colour.
    """
    table = document.table
    if table is None:
        return Coloured(np.zeros(0, np.uint8), with_opacity(np.array([rgb(theme.accent)], np.uint8)), "")
    shown = f"{_counted(int(np.count_nonzero(table.health.healthy)), 'row')} shown"
    by = document.colouring.by
    if by == CLUSTER and document.clusters is not None:
        names = document.clusters.names
        found = _categories(
            document.clusters.codes, names, f"{_counted(len(names), 'cluster')} · {shown}", theme
        )
    elif by in table.metadata and table.metadata[by].dtype.kind not in "fiu":
        names, codes = np.unique([str(value) for value in table.metadata[by]], return_inverse=True)
        found = _categories(codes.astype(np.int64), tuple(map(str, names)), f"{by} · {shown}", theme)
    else:
        values = _values(by, document, table)
        if values is None:
            one = with_opacity(np.array([rgb(theme.categories[0])], np.uint8))
            title = f"{by}: ask first" if by == SIMILARITY else shown
            return Coloured(np.zeros(table.listing.rows, np.uint8), one, title)
        found = _sequence(values, f"{by} · {shown}", theme)
    palette = found.palette.copy()
    for code, colour in document.colouring.recoloured.items():
        if code < len(palette):
            palette[code, :3] = colour
    palette[[code for code in document.colouring.hidden if code < len(palette)], 3] = HIDDEN_OPACITY
    return Coloured(found.codes, palette, found.title, found.entries, found.scale)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _values(by: str, document: Document, table: LoadedTable) -> NDArray | None:
    if by == NORM:
        return table.health.norms
    if by == ORDER:
        return np.arange(table.listing.rows, dtype=np.float32)
    if by == TRUST and document.trust is not None:
        return document.trust.per_row
    if by == SIMILARITY and document.answer is not None:
        values = np.full(table.listing.rows, np.nan, np.float32)
        values[document.answer.result.rows] = document.answer.result.scores
        return values
    return table.metadata.get(by)


def _sequence(values: NDArray, title: str, theme: Theme) -> Coloured:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    return Coloured(
        codes_of_values(np.asarray(values, np.float32), low, high),
        sequence_palette("viridis", theme),
        title,
        scale=(f"{low:.4g}", f"{high:.4g}"),
    )


def _categories(categories: NDArray, names: tuple[str, ...], title: str, theme: Theme) -> Coloured:
    codes, kept = codes_of_categories(categories, MOST_CATEGORIES)
    entries = [(code, names[category]) for code, category in enumerate(kept)]
    left = len(names) - len(kept)
    if left > 0:
        entries.append((len(kept), f"{left:,} others"))
    return Coloured(codes, category_palette(len(kept), theme), title, tuple(entries))
