"""Names on the figure: measured here, placed by ``explorer.render.labels``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.export.figure import FOCUS_RADIUS, RESULT_RADIUS, STAR_RADIUS, Figure, MapLabel
from explorer.export.legend import legend_layout
from explorer.export.text import TextCache, shown_text
from explorer.render.labels import LabelDensity, Placement, candidates, fully_shown, in_turn, kept, place

MOST_RESULTS = 60
MOST_NEW_MOVING, MOST_FRESH_MOVING = 100, 600
MOST_TWINS = 200
"""Where more rows than this stand for several, they are nothing special."""


def with_labels(
    figure: Figure,
    name: Callable[[int], str],
    cache: TextCache,
    *,
    density: LabelDensity = LabelDensity.FIT,
    order: NDArray[np.int64] | None = None,
    twins: Mapping[int, int] | None = None,
    obstacles: NDArray[np.float64] | None = None,
    previous: Placement | None = None,
    moving: bool = False,
) -> tuple[Figure, Placement]:
    """The figure with as many names as fit: focus and results first, then twins, then by importance.

    Parameters
    ----------
    figure : Figure
    name : callable
        A row's label.
    cache : TextCache
    density : LabelDensity
        ``NONE`` still names the focus and the results.
    order : int64 array, optional
        Rows by importance; the table's own order without it.
    twins : mapping of int to int, optional
        How many equal rows a row's point stands for.
    obstacles : float64 array, shape (m, 4), optional
        Left, top, width, height, in points, of what lies over the map (tools, a hover card).
        Legend, title, stars and ringed points are known already.
    previous : Placement, optional
        What the last call gave: its labels stay, as long as the view is not zoomed out.
    moving : bool
        Try only some labels that were not there before: the view goes on moving, the frame is short.

    Returns
    -------
    Figure, Placement
    """
    twins = twins or {}
    previous = previous if previous is not None and previous.density is density else None
    focus = np.array([] if figure.focus is None else [figure.focus], np.int64)
    firm = in_turn(focus, figure.results[:MOST_RESULTS])
    few = twins if len(twins) <= MOST_TWINS else {}
    many = np.array(sorted(few, key=lambda row: -few[row]), np.int64)
    free = candidates(figure.xy, figure.codes, figure.palette, figure.viewport, density, order, figure.index)
    stay = kept(previous, figure.viewport)
    if moving:
        free = free[~np.isin(free, stay)][: MOST_NEW_MOVING if len(stay) else MOST_FRESH_MOVING]
    many, stay = (_shown(figure, rows) for rows in (many, stay))
    rows = in_turn(firm, many, stay, free)
    bold = np.arange(len(rows)) < len(firm)
    texts = [shown_text(name(int(row))) for row in rows]
    counts = [twins.get(int(row), 1) for row in rows]
    sizes = np.array(
        [cache.size(text, bool(b), n) for text, b, n in zip(texts, bold, counts, strict=True)]
    ).reshape(-1, 2)
    gaps = np.where(bold, RESULT_RADIUS + 4.0, figure.dots.radius + 3.0)
    gaps[: len(focus)] = FOCUS_RADIUS + 4.0
    spacing = np.where(bold[:, None], (3.0, 0.0), density.spacing)
    placement = _place(figure, rows, (sizes, gaps, spacing), len(focus), obstacles, previous)
    at = {int(row): i for i, row in enumerate(rows)}
    labels = []
    for row, (left, top, _, _) in zip(placement.rows.tolist(), placement.boxes.tolist(), strict=True):
        i = at[row]
        labels.append(MapLabel(row, texts[i], left, top, bool(bold[i]), counts[i]))
    return replace(figure, labels=tuple(labels)), replace(placement, density=density)


def _place(
    figure: Figure,
    rows: NDArray[np.int64],
    measures: tuple[NDArray[np.float64], ...],
    firsts: int,
    over_map: NDArray[np.float64] | None,
    previous: Placement | None,
) -> Placement:
    """Place the first rows, the focus, over ringed points where need be; then the others around them."""
    firm, rings = _obstacles(figure, over_map)
    everything = np.concatenate([firm, rings])
    found: list[Placement] = []
    for some, ways in ((slice(0, firsts), (everything, firm)), (slice(firsts, None), (everything,))):
        for boxes in ways:
            taken = np.concatenate([boxes, *(done.boxes for done in found)])
            sizes, gaps, spacing = (measure[some] for measure in measures)
            placed = place(rows[some], figure.xy, sizes, gaps, spacing, figure.viewport, taken, previous)
            if len(placed.rows):
                break
        found.append(placed)
    first, rest = found
    return replace(
        rest,
        rows=np.concatenate([first.rows, rest.rows]),
        boxes=np.concatenate([first.boxes, rest.boxes]),
        sides=np.concatenate([first.sides, rest.sides]),
    )


def _shown(figure: Figure, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    rows = rows[rows < len(figure.codes)]
    return rows[fully_shown(figure.palette)[figure.codes[rows]]]


def _obstacles(
    figure: Figure, more: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Boxes that no label may cover, and those of the ringed points."""
    boxes = [np.zeros((0, 4))] if more is None else [np.asarray(more, np.float64).reshape(-1, 4)]
    layout = legend_layout(figure)
    if layout is not None:
        card = layout.card
        boxes.append(np.array([[card.left() - 4, card.top() - 4, card.width() + 8, card.height() + 8]]))
    if figure.title or figure.subtitle:
        boxes.append(np.array([[0.0, 0.0, 360.0, 58.0]]))
    stars = figure.viewport.to_pixels(np.array(figure.stars, np.float64).reshape(-1, 2))
    ringed = figure.viewport.to_pixels(figure.xy[figure.results])
    boxes.append(_around(stars, STAR_RADIUS))
    return np.concatenate(boxes), _around(ringed, RESULT_RADIUS)


def _around(centres: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    return np.column_stack([centres - reach, np.full(centres.shape, 2 * reach)])
