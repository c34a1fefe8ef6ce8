"""Names on the figure: measured here, placed by ``explorer.render.labels``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.export.figure import FOCUS_RADIUS, RESULT_RADIUS, STAR_RADIUS, Figure
from explorer.export.legend import legend_layout
from explorer.export.marks import MapLabel, RegionLabel
from explorer.export.text import TextCache, shown_text
from explorer.render.labels import LabelDensity, Placement, candidates, fully_shown, in_turn, kept, place

MOST_RESULTS = 60
MOST_NEW_MOVING, MOST_FRESH_MOVING = 40, 150
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
    figure = replace(figure, regions=_regions_apart(figure, cache, obstacles))
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
    pictures = {picture.row: max(picture.width, picture.height) / 2 for picture in figure.thumbnails}
    if pictures:
        gaps = np.array([pictures.get(int(row), 0.0) + gap for row, gap in zip(rows, gaps, strict=True)])
    spacing = np.where(bold[:, None], (3.0, 0.0), density.spacing)
    firm_boxes, soft_boxes = _obstacles(figure, obstacles, cache)
    placement = _place(figure, rows, (sizes, gaps, spacing), len(focus), firm_boxes, soft_boxes, previous)
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
    firm: NDArray[np.float64],
    soft: NDArray[np.float64],
    previous: Placement | None,
) -> Placement:
    """Place the first rows, the focus, over soft boxes where need be; then the others around them."""
    everything = np.concatenate([firm, soft])
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
    figure: Figure, more: NDArray[np.float64] | None, cache: TextCache
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Boxes that no label may cover, and those (ringed points, pictures, regions' names) of lesser weight."""
    stars = figure.viewport.to_pixels(np.array(figure.stars, np.float64).reshape(-1, 2))
    ringed = figure.viewport.to_pixels(figure.xy[figure.results])
    pictures = [(each.x, each.y, each.width, each.height) for each in figure.thumbnails]
    regions = [region_box(figure, region, cache) for region in figure.regions]
    soft = np.array([*pictures, *regions], np.float64).reshape(-1, 4)
    return (
        np.concatenate([_over_map(figure, more), _around(stars, STAR_RADIUS)]),
        np.concatenate([_around(ringed, RESULT_RADIUS), soft]),
    )


def _over_map(figure: Figure, more: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Boxes of what lies over the map: tools, legend, title."""
    boxes = [np.zeros((0, 4))] if more is None else [np.asarray(more, np.float64).reshape(-1, 4)]
    layout = legend_layout(figure)
    if layout is not None:
        card = layout.card
        boxes.append(np.array([[card.left() - 4, card.top() - 4, card.width() + 8, card.height() + 8]]))
    if figure.title or figure.subtitle:
        boxes.append(np.array([[0.0, 0.0, 360.0, 58.0]]))
    return np.concatenate(boxes)


def region_box(figure: Figure, region: RegionLabel, cache: TextCache) -> tuple[float, float, float, float]:
    """Left, top, width and height in points of a region's name; nothing, far away, where it has no place."""
    middle = figure.to_points(region.x, region.y)
    if middle is None:
        return -1e9, -1e9, 0.0, 0.0
    width, height = cache.region_size(region)
    return middle[0] - width / 2, middle[1] - height / 2, width, height


def _regions_apart(
    figure: Figure, cache: TextCache, over_map: NDArray[np.float64] | None
) -> tuple[RegionLabel, ...]:
    """The regions whose names are whole in view, clear of the tools and of those before them."""
    taken = _over_map(figure, over_map).tolist() if figure.regions else []
    found = []
    for region in figure.regions:
        left, top, width, height = region_box(figure, region, cache)
        inside = left >= 0 and top >= 0 and left + width <= figure.viewport.width
        if not inside or top + height > figure.viewport.height or not width:
            continue
        if all(
            left + width <= x or left >= x + wide or top + height <= y or top >= y + high
            for x, y, wide, high in taken
        ):
            found.append(region)
            taken.append([left - 8, top - 4, width + 16, height + 8])
    return tuple(found)


def _around(centres: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    return np.column_stack([centres - reach, np.full(centres.shape, 2 * reach)])
