"""From what the colours mean to a colour code per row, a palette and a legend."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from explorer.core.columns import Categories, Values
from explorer.core.wording import counted
from explorer.document import Document
from explorer.document.colouring import CLUSTER, SIMILARITY, TRUST, ZERO_SHOT, Colouring
from explorer.document.columns import colour_data
from explorer.render.palette import (
    Theme,
    category_palette,
    codes_of_values,
    palette_on_map,
    rgb,
    sequence_palette,
    with_opacity,
)

MOST_CATEGORIES = 60
"""So many get a colour of their own; where they are more than the colours, far ones share one."""
APART = 9
SAMPLE = 200_000
"""So many rows tell what lies side by side."""
HIDDEN_OPACITY = 0
KINDS = {"standard": ("theme", "viridis"), "colour-blind safe": ("okabe-ito", "cividis")}
"""For each palette that a person chooses: its categories and its scale."""
AWAITED = {SIMILARITY: "ask first", TRUST: "not measured yet", CLUSTER: "looking for them…"}


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
    apart : bool
        Whether the palette looks to which categories lie side by side.
    own : int
        Codes from here on stand for no one category: those that share a colour, and rows in none.
    """

    codes: NDArray[np.uint8]
    palette: NDArray[np.uint8]
    title: str
    entries: tuple[tuple[int, str], ...] = ()
    scale: tuple[str, str] | None = None
    apart: bool = False
    own: int = 256


def coloured(document: Document, theme: Theme, xy: NDArray[np.float32] | None = None) -> Coloured:
    """The colours of a document, all at once; the window keeps its parts (``Colours``)."""
    found = coded(document, theme)
    if found.apart and xy is not None:
        found = told_apart(found, xy, theme, document.colouring.palette)
    return with_choices(found, document.colouring)


def coded(document: Document, theme: Theme, *, awaited: bool = False) -> Coloured:
    """Colour the rows of the document's table by what its colouring names.

    Where what is asked for is not there yet (clusters, an answer, trust), all rows have one colour.

    Parameters
    ----------
    document : Document
    theme : Theme
    awaited : bool
        A column's values are still being read.
    """
    table = document.table
    if table is None:
        return Coloured(np.zeros(0, np.uint8), with_opacity(np.array([rgb(theme.accent)], np.uint8)), "")
    healthy, isolation = table.health.healthy, document.isolation
    alone = healthy if isolation is None else healthy[isolation.rows]
    shown = f"{counted(int(np.count_nonzero(alone)), 'row')} shown"
    by, data = document.colouring.by, None if awaited else colour_data(document)
    kind, scale = KINDS[document.colouring.palette]
    if isinstance(data, Values):
        return _along_scale(data, f"{by} · {shown}", theme, scale)
    if isinstance(data, Categories):
        return _by_category(document, data, shown, category_palette(_own(data), theme, kind))
    one = with_opacity(np.array([rgb(theme.categories[0])], np.uint8))
    words = "being read…" if awaited else AWAITED.get(by, "")
    return Coloured(np.zeros(table.listing.rows, np.uint8), one, f"{by}: {words}" if words else shown)


def told_apart(found: Coloured, xy: NDArray[np.float32], theme: Theme, palette: str) -> Coloured:
    """The same with colours that differ where categories lie side by side on the map."""
    count = len(found.palette) - 2
    step = max(1, len(xy) // SAMPLE)
    apart = palette_on_map(xy[::step], found.codes[::step], count, theme, KINDS[palette][0])
    return replace(found, palette=np.concatenate([apart, apart[-1:]]))


def with_choices(found: Coloured, colouring: Colouring) -> Coloured:
    """The same with what was recoloured and hidden by hand."""
    palette = found.palette.copy()
    for code, colour in colouring.recoloured.items():
        if code < len(palette):
            palette[code, :3] = colour
    palette[[code for code in colouring.hidden if code < len(palette)], 3] = HIDDEN_OPACITY
    return replace(found, palette=palette)


def _own(data: Categories) -> int:
    return min(len(data.names), MOST_CATEGORIES)


def _along_scale(data: Values, title: str, theme: Theme, scale: str) -> Coloured:
    values = data.values
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    return Coloured(
        codes_of_values(values, low, high),
        sequence_palette(scale, theme),
        title,
        scale=(data.text(low), data.text(high)),
    )


def _by_category(document: Document, data: Categories, shown: str, palette: NDArray[np.uint8]) -> Coloured:
    """A code for each of the commonest categories, one for all others, one for rows in none."""
    own = _own(data)
    others = len(data.names) - own
    none = own + bool(others)
    missing = data.codes < 0
    codes = np.minimum(data.codes, own).astype(np.uint8)
    codes[missing] = none
    entries = [(code, _entry(document, data, code)) for code in range(own)]
    if others:
        entries.append((own, counted(others, "other")))
    count = int(np.count_nonzero(missing & document.table.health.healthy)) if document.table else 0
    if count:
        words = "in none" if document.colouring.by == CLUSTER else "no value"
        entries.append((none, f"{words} · {count:,}"))
    # The last colour but one is the others', the last that of rows in none.
    palette = np.concatenate([palette, palette[-1:]])
    return Coloured(codes, palette, _title(document, data, shown), tuple(entries), apart=own > APART, own=own)


def _title(document: Document, data: Categories, shown: str) -> str:
    by = document.colouring.by
    if by == CLUSTER:
        return f"{counted(len(data.names), 'cluster')} · {shown}"
    if by == ZERO_SHOT and document.zero_shot is not None:
        measure = "probability" if document.zero_shot.trained else "cosine"
        return f"class · mean {measure} · {shown}"
    return f"{by} · {shown}"


def _entry(document: Document, data: Categories, code: int) -> str:
    """A line of the legend; a typed class's says how sure its rows are of it."""
    shot = document.zero_shot
    if document.colouring.by != ZERO_SHOT or shot is None:
        return data.names[code]
    mean = float(shot.probability[data.codes == code].mean())
    return f"{data.names[code]} · {_short(mean)}"


def _short(value: float) -> str:
    """A number between -1 and 1 to two places, or to as many as a small one needs."""
    return f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.1g}"
