"""Rows in the order in which they are drawn: all of a table, some of them, or what a view shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from explorer.render._arrays import as_points, as_rows
from explorer.render.point_index import SAMPLED, PointIndex, split
from explorer.render.sample import Sample
from explorer.render.viewport import Viewport

SELDOM = 0.25
MOST_ASKED = 50_000

_IN_PLACE = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class Points:
    """What a kernel walks over.

    Attributes
    ----------
    xy : float32 array, shape (n, 2)
    codes : uint8 array, shape (n,)
    rows : int32 array, shape (n,)
        The row at each position; empty where row *i* is at position *i*.
    spans : int64 array, shape (k, 2)
        Begin and end of the positions to draw.
    step : int
        Of each span, only every so-manieth position.
    share : float
        How much of what is there is drawn, 0 to 1.
    """

    xy: NDArray[np.float32]
    codes: NDArray[np.uint8]
    rows: NDArray[np.int32]
    spans: NDArray[np.int64]
    step: int = 1
    share: float = 1.0

    @classmethod
    def all(cls, xy: NDArray[np.floating], codes: NDArray[np.integer], step: int = 1) -> Points:
        """Every ``step``-th row of a table, in its own order."""
        places, colours = as_points(xy, codes)
        whole = np.array([[0, len(places)]], np.int64)
        return cls(places, colours, _IN_PLACE, whole, step, 1 / step)

    @classmethod
    def some(
        cls, xy: NDArray[np.floating], codes: NDArray[np.integer], rows: NDArray[np.integer], step: int = 1
    ) -> Points:
        """Some rows, in that order."""
        places, colours = as_points(xy, codes)
        found = as_rows(rows, len(places))
        whole = np.array([[0, len(found)]], np.int64)
        return cls(places[found], colours[found], found.astype(np.int32), whole, step, 1 / step)

    @classmethod
    def seen(
        cls,
        index: PointIndex,
        codes: NDArray[np.integer],
        viewport: Viewport,
        reach: float = 0.0,
        most: int | None = None,
    ) -> Points:
        """What a view shows, or a fair sample of about ``most`` rows of it."""
        if len(codes) != index.table_rows:
            raise ValueError(f"{len(codes)} colour codes for {index.table_rows} rows")
        bounds = index.bounds(viewport, reach)
        count = index.count(bounds)
        share = 1.0 if most is None or count <= most else most / count
        of_sample = share
        if index.sample is not None and share <= SAMPLED:
            index, of_sample = index.sample, share / SAMPLED
        spans = index.spans(bounds, of_sample)
        sizes = spans[:, 1] - spans[:, 0]
        if index.has_codes(codes) or sizes.sum() > SELDOM * len(index.rows):
            return cls(index.xy, index.codes_of(codes), index.rows, spans, 1, share)
        # After new colours, sorting all codes would take longer than gathering these few.
        ends = np.cumsum(sizes)
        taken = np.arange(sizes.sum()) + np.repeat(spans[:, 0] - ends + sizes, sizes)
        rows, whole = index.rows[taken], np.array([[0, len(taken)]], np.int64)
        return cls(index.xy[taken], np.ascontiguousarray(codes[rows], np.uint8), rows, whole, 1, share)

    def __len__(self) -> int:
        """How many positions are drawn."""
        return int((-((self.spans[:, 0] - self.spans[:, 1]) // self.step)).sum())

    def in_slices(self, most: int) -> list[Points]:
        """The same in parts of about ``most`` positions each, one to be drawn after the other."""
        return [replace(self, spans=spans) for spans in split(self.spans, most * self.step)]


def by_depth(
    xy: NDArray[np.floating],
    codes: NDArray[np.integer],
    depth: NDArray[np.floating],
    bands: int,
    step: int = 1,
    rows: NDArray[np.integer] | None = None,
    reach: tuple[float, float] | None = None,
) -> list[Points]:
    """Rows in bands of equal thickness, the farthest band first; inside of a band in their own order.

    Parameters
    ----------
    xy, codes : arrays
        As in ``Raster.draw``.
    depth : float array, shape (rows,)
        How near; rows where it is not finite are left out.
    bands : int
    step : int
        Only every ``step``-th row.
    rows : integer array, optional
        Only these rows.
    reach : two floats, optional
        From where to where the bands are; without it, ``reach_of(depth)``.
    """
    from explorer.render.kernels import sort_by_depth

    places, colours = as_points(xy, codes)
    near = np.ascontiguousarray(depth, np.float32)
    if len(near) != len(places):
        raise ValueError(f"{len(near)} depths for {len(places)} rows")
    chosen = np.arange(0, len(places), step) if rows is None else as_rows(rows[::step], len(places))
    order, starts = np.empty(len(chosen), np.int32), np.zeros(bands + 1, np.int64)
    low, high = reach_of(near) if reach is None else reach
    sort_by_depth(near, chosen, low, high, bands, order, starts)
    order = order[: starts[-1]]
    sorted_xy, sorted_codes = places[order], colours[order]
    spans = [np.array([[starts[band], starts[band + 1]]], np.int64) for band in range(bands)]
    return [Points(sorted_xy, sorted_codes, order, span, 1, 1 / step) for span in spans]


def reach_of(depth: NDArray[np.floating]) -> tuple[float, float]:
    """From where to where rows lie, by a sample of them; some may lie a little beyond."""
    sample = depth[:: max(len(depth) // MOST_ASKED, 1)]
    sample = sample[np.isfinite(sample)]
    return (float(sample.min()), float(sample.max())) if len(sample) else (0.0, 0.0)


def sample_by_depth(
    sample: Sample, codes: NDArray[np.integer], bands: int, most: int | None = None
) -> list[Points]:
    """The same of a sample, or of about ``most`` rows of it."""
    step = 1 if most is None else max(-(-len(sample) // max(most, 1)), 1)
    rows = sample.rows[::step]
    found = by_depth(sample.xy[::step], codes[rows], sample.depth[::step], bands)
    named = rows.astype(np.int32)[found[0].rows]
    return [replace(points, rows=named, share=sample.share / step) for points in found]
