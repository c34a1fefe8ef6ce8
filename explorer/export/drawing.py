"""A figure's points into a raster: whole, as quickly as a moving picture must, or a slice at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.export.figure import DIMMED, FOCUS_RADIUS, RESULT_RADIUS, Figure
from explorer.render.density import Counts, density_colours, draw_grid, fullest
from explorer.render.points import Points, by_depth, reach_of, sample_by_depth
from explorer.render.raster import Dots, Layer, Raster, ground_of
from explorer.render.viewport import Viewport

SELECTED_GAIN = 1.6
Parts = Iterator[tuple[Points, Dots]]
DEPTH_BANDS = 6
SORTED_FROM = 500_000
GATHERED = 4
"""So much quicker are codes sorted than rows drawn."""
FAR_RADIUS, NEAR_RADIUS = 0.7, 1.25
FAR_OPACITY, NEAR_OPACITY = 0.35, 1.0


def draw_points(
    figure: Figure,
    raster: Raster,
    ratio: float = 1.0,
    *,
    step: int = 1,
    hits: bool = True,
    most: int | None = None,
) -> int:
    """Draw the figure's points into a raster of ``ratio`` times its size.

    The ringed rows (results, focus) and the thumbnails are the painter's; here they only claim
    their pixels, so that the cursor finds them.

    Parameters
    ----------
    figure : Figure
    raster : Raster
        Of the size of ``figure.viewport.magnified(ratio)``.
    ratio : float
    step, hits
        As in ``Raster.draw``.
    most : int, optional
        Draw a sample of about so many rows, in dots that make up for the others.

    Returns
    -------
    int
        How many rows were drawn.
    """
    return sum(draw_in_slices(figure, raster, ratio, step=step, hits=hits, most=most))


def draw_in_slices(
    figure: Figure,
    raster: Raster,
    ratio: float = 1.0,
    *,
    step: int = 1,
    hits: bool = True,
    most: int | None = None,
    slice_rows: int | None = None,
) -> Iterator[int]:
    """The same, pausing after each ``slice_rows`` rows; it yields how many were drawn since the last pause.

    The raster shows the figure once the iterator has ended.
    """
    view, ground = figure.viewport.magnified(ratio), ground_of(figure.theme)
    if figure.index is not None and slice_rows is not None and rows_to_draw(figure) > SORTED_FROM:
        for _ in figure.index.sort_codes(figure.codes, GATHERED * slice_rows):
            yield 0
    dots, index = figure.dots.magnified(ratio), figure.index
    dims = figure.dims_all or len(figure.selected) > 0
    faint = Dots(dots.radius, dots.opacity * DIMMED) if dims else dots
    parts = _everything(figure, view, faint, step, most, slice_rows)
    if not figure.density:
        raster.clear(ground)
        yield from _draw_discs(figure, raster, view, parts, slice_rows, hits)
    elif most is not None and index is not None and index.grids:
        colours = density_colours(figure.theme)
        draw_grid(raster, index, figure.codes, figure.palette, view, colours, ground)
    else:
        yield from _draw_crowds(figure, raster, view, ratio, parts, slice_rows)
    if figure.density and dims:
        raster.fade(ground, DIMMED)
    selected = _selected(figure, dots, step, most, slice_rows)
    yield from _draw_discs(figure, raster, view, selected, None, hits)
    if hits:
        raster.add(figure.xy, figure.codes, figure.palette, view, _claims(figure, ratio))
        for picture in reversed(figure.thumbnails):
            box = (picture.x, picture.y, picture.width, picture.height)
            raster.claim(picture.row, *(ratio * side for side in box))


def rows_to_draw(figure: Figure) -> int:
    """About how many rows the figure's points are: those in view, where an index knows."""
    drawn = figure.sample if figure.sample is not None else figure.order
    if drawn is not None:
        return len(drawn) + len(figure.selected)
    if figure.index is None or figure.depth is not None:
        return len(figure.xy) + len(figure.selected)
    seen = figure.index.count(figure.index.bounds(figure.viewport))
    return seen + min(len(figure.selected), seen)


def _draw_crowds(
    figure: Figure, raster: Raster, view: Viewport, ratio: float, parts: Parts, slice_rows: int | None
) -> Iterator[int]:
    """How many rows lie where."""
    index, counts = figure.index, Counts(raster, figure.palette, view)
    for points, _ in parts:
        for part in [points] if slice_rows is None else points.in_slices(slice_rows):
            counts.add(part)
            yield len(part)
    crowd = None if index is None else fullest(index, view)
    counts.colour(density_colours(figure.theme), ground_of(figure.theme), ratio, crowd)


def _draw_discs(
    figure: Figure, raster: Raster, view: Viewport, parts: Parts, slice_rows: int | None, hits: bool
) -> Iterator[int]:
    for points, dots in parts:
        for part in [points] if slice_rows is None else points.in_slices(slice_rows):
            raster.splat(part, figure.palette, view, dots.for_share(part.share), hits=hits)
            yield len(part)


def _selected(figure: Figure, dots: Dots, step: int, most: int | None, slice_rows: int | None) -> Parts:
    """The selected rows once more, a slice at a time."""
    strong = Dots(dots.radius, min(dots.opacity * SELECTED_GAIN, 1.0))
    every = step if most is None else max(step, -(-len(figure.selected) // max(most, 1)))
    rows = figure.selected[::every]
    at_once = slice_rows or max(len(rows), 1)
    for begin in range(0, len(rows), at_once):
        points = Points.some(figure.xy, figure.codes, rows[begin : begin + at_once])
        yield replace(points, share=1 / every), strong


def _everything(
    figure: Figure, view: Viewport, dots: Dots, step: int, most: int | None, slice_rows: int | None
) -> Parts:
    flat = figure.depth is None or (figure.density and figure.sample is None)
    if figure.index is not None and figure.order is None and flat:
        yield Points.seen(figure.index, figure.codes, view, dots.radius + 1, most), dots
        return
    count = len(figure.xy) if figure.order is None else len(figure.order)
    step = step if most is None else max(step, -(-count // max(most, 1)))
    if figure.depth is not None:
        yield from _in_depth(figure, figure.depth, dots, step, most, slice_rows)
    elif figure.order is not None:
        yield Points.some(figure.xy, figure.codes, figure.order, step), dots
    else:
        yield Points.all(figure.xy, figure.codes, step), dots


def _in_depth(
    figure: Figure,
    depth: NDArray[np.float32],
    dots: Dots,
    step: int,
    most: int | None,
    slice_rows: int | None,
) -> Parts:
    """Far rows below near ones; they are sorted a slice at a time, before any is drawn."""
    slices: list[list[Points]] = []
    if figure.sample is not None:
        slices.append(sample_by_depth(figure.sample, figure.codes, DEPTH_BANDS, most))
    elif slice_rows is None or figure.order is not None:
        slices.append(by_depth(figure.xy, figure.codes, depth, DEPTH_BANDS, step, figure.order))
    else:
        reach = reach_of(depth)
        for begin in range(0, len(depth), slice_rows):
            rows = np.arange(begin, min(begin + slice_rows, len(depth)))
            slices.append(by_depth(figure.xy, figure.codes, depth, DEPTH_BANDS, step, rows, reach))
            yield replace(slices[-1][0], spans=slices[-1][0].spans[:0]), dots
    for band, near in enumerate(np.linspace(0, 1, DEPTH_BANDS)):
        radius = dots.radius * (FAR_RADIUS + (NEAR_RADIUS - FAR_RADIUS) * near)
        opacity = dots.opacity * (FAR_OPACITY + (NEAR_OPACITY - FAR_OPACITY) * near)
        for bands in slices:
            yield bands[band], Dots(radius, opacity)


def _claims(figure: Figure, ratio: float) -> list[Layer]:
    ringed = Dots((RESULT_RADIUS + 0.5) * ratio, 1.0)
    layers = [Layer(figure.results[::-1], ringed, painted=False)]
    if figure.focus is not None:
        rows: NDArray[np.int64] = np.array([figure.focus], np.int64)
        layers.append(Layer(rows, Dots((FOCUS_RADIUS + 0.5) * ratio, 1.0), painted=False))
    return layers
