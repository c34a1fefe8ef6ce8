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
    RGB,
    Theme,
    category_palette,
    codes_of_values,
    colours_on_map,
    ends_of_scale,
    rgb,
    sequence_palette,
    with_opacity,
)

MOST_CATEGORIES = 60
"""So many get a code of their own, to be hidden and recoloured; the others one of each colour they share."""
APART = 9
MIXED = 4
"""So many of its colours stand for all that categories share."""
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
    apart : Categories, optional
        Where there are many: those that lie side by side are to look different.
    own : int
        Codes from here on stand for no one category: the first for rows in none, the next and all
        after it for categories that share a colour.
    """

    codes: NDArray[np.uint8]
    palette: NDArray[np.uint8]
    title: str
    entries: tuple[tuple[int, str], ...] = ()
    scale: tuple[str, str] | None = None
    apart: Categories | None = None
    own: int = 256

    @property
    def shared(self) -> int:
        """The code that stands in the legend for all categories without a code of their own."""
        return self.own + 1

    @property
    def listed(self) -> NDArray[np.uint8]:
        """Each row's code as the legend has it, shape (rows,)."""
        return self.codes if self.shared >= len(self.palette) else np.minimum(self.codes, self.shared)

    def colours_of(self, code: int) -> tuple[RGB, ...]:
        """The colour of a line of the legend, or several where it stands for several."""
        last = min(code + MIXED, len(self.palette)) if code == self.shared else code + 1
        red_green_blue = self.palette[code:last, :3].tolist()
        return tuple((red, green, blue) for red, green, blue in red_green_blue)


def coloured(document: Document, theme: Theme, xy: NDArray[np.float32] | None = None) -> Coloured:
    """The colours of a document, all at once; the window keeps its parts (``Colours``)."""
    found = coded(document, theme)
    if found.apart is not None and xy is not None:
        found = told_apart(found, found.apart, xy, theme, document.colouring.palette)
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
        # What is nearest, or torn, is looked for at the very ends.
        whole = by in (SIMILARITY, TRUST)
        return _along_scale(data, f"{by} · {shown}", theme, scale, whole=whole)
    if isinstance(data, Categories):
        return _by_category(document, data, shown, category_palette(_own(data), theme, kind))
    one = with_opacity(np.array([rgb(theme.categories[0])], np.uint8))
    words = "being read…" if awaited else AWAITED.get(by, "")
    return Coloured(np.zeros(table.listing.rows, np.uint8), one, f"{by}: {words}" if words else shown)


def told_apart(
    found: Coloured, categories: Categories, xy: NDArray[np.float32], theme: Theme, palette: str
) -> Coloured:
    """The same with colours that differ where categories lie side by side on the map."""
    count, own = len(categories.names), found.own
    colours, given = colours_on_map(xy, categories.codes, count, theme, KINDS[palette][0])
    none = found.palette[own : own + 1]
    if count <= own:
        return replace(found, palette=np.concatenate([with_opacity(colours[given]), none]))
    code_of = np.where(np.arange(count) < own, np.arange(count), found.shared + given)
    codes = np.append(code_of, own).astype(np.uint8)[categories.codes]  # -1, for none, is the last
    shared = f"{counted(count - own, 'other')} share {counted(len(colours), 'colour')}"
    entries = tuple((code, shared if code == found.shared else name) for code, name in found.entries)
    every = np.concatenate([with_opacity(colours[given[:own]]), none, with_opacity(colours)])
    return replace(found, codes=codes, palette=every, entries=entries)


def with_choices(found: Coloured, colouring: Colouring) -> Coloured:
    """The same with what was recoloured and hidden by hand."""
    palette = found.palette.copy()
    for code, colour in colouring.recoloured.items():
        if code < len(palette):
            palette[code, :3] = colour
    palette[[code for code in colouring.hidden if code < len(palette)], 3] = HIDDEN_OPACITY
    if found.shared in colouring.hidden:
        palette[found.shared :, 3] = HIDDEN_OPACITY
    if found.shared in colouring.recoloured:
        palette[found.shared :, :3] = colouring.recoloured[found.shared]
    return replace(found, palette=palette)


def _own(data: Categories) -> int:
    return min(len(data.names), MOST_CATEGORIES)


def _along_scale(data: Values, title: str, theme: Theme, scale: str, *, whole: bool) -> Coloured:
    values = data.values
    low, high = ends_of_scale(values, whole=whole)
    with np.errstate(invalid="ignore"):
        beyond = bool((values < low).any()), bool((values > high).any())
    return Coloured(
        codes_of_values(values, low, high),
        sequence_palette(scale, theme),
        title,
        scale=("≤ " * beyond[0] + data.text(low), "≥ " * beyond[1] + data.text(high)),
    )


def _by_category(document: Document, data: Categories, shown: str, palette: NDArray[np.uint8]) -> Coloured:
    """A code for each of the commonest categories, one for rows in none, one for all others."""
    own = _own(data)
    others = len(data.names) - own
    codes = np.where(data.codes < own, data.codes, own + 1)
    codes[data.codes < 0] = own
    entries = [(code, _entry(document, data, code)) for code in range(own)]
    if others:
        entries.append((own + 1, counted(others, "other")))
    count = int(np.count_nonzero((data.codes < 0) & document.table.health.healthy)) if document.table else 0
    if count:
        words = "in none" if document.colouring.by == CLUSTER else "no value"
        entries.append((own, f"{words} · {count:,}"))
    if others:
        palette = np.concatenate([palette, palette[-1:]])
    return Coloured(
        codes.astype(np.uint8),
        palette,
        _title(document, data, shown),
        tuple(entries),
        apart=data if own > APART else None,
        own=own,
    )


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
