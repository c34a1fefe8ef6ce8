"""Rows sorted into the cells of a grid: what a view shows is found at once, and a fair sample of it.

Made once for a layout that rests. A picture of ten million rows then costs what is seen of them, and
a moving picture what its time allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from explorer.render.viewport import Viewport, extent

ROWS_PER_CELL = 32
MOST_LINES = 256
FINE_SIDE, COARSE_SIDE = 1024, 128
SEED = 42
SAMPLED = 1 / 16
MOST_MIXED = 2_000_000
"""Of larger tables, the mean colours of the sample will do."""
SAMPLE_FROM = 250_000
"""Smaller tables lie close enough together."""

_NONE = np.empty(0, np.int32)
Bounds = tuple[int, int, int, int]


@dataclass(eq=False)
class PointIndex:
    """Rows by cell, in random order within each, so that the first few of a cell stand for all of it.

    Rows without a place are in no cell. Memory: 12 bytes a row, one more for colour codes and four
    for an order of importance, where these are asked for.

    Attributes
    ----------
    rows : int32 array, shape (placed,)
    xy : float32 array, shape (placed, 2)
        The rows' positions, in the same order.
    starts : int64 array, shape (lines × columns + 1,)
        Where each cell begins in ``rows``, line by line from the bottom.
    table_rows : int
        How many rows the table has.
    columns, lines : int
    left, bottom, width, height : float
        The first cell's corner and size, in data units. Cells at the grid's edge reach on for ever.
    grids : tuple of float32 arrays, shapes (m, m), (m / 2, m / 2), …
        How many rows lie in each of m × m parts of the grid's whole area, much finer than the cells,
        and in each of half as many; none for small tables.
    sample : PointIndex, optional
        The first ``SAMPLED`` of each cell once more, close together in memory: walking over a little
        of each cell of ten million rows would take as long as walking over half of them.
    """

    rows: NDArray[np.int32]
    xy: NDArray[np.float32]
    starts: NDArray[np.int64]
    table_rows: int
    columns: int
    lines: int
    left: float
    bottom: float
    width: float
    height: float
    grids: tuple[NDArray[np.float32], ...] = ()
    sample: PointIndex | None = None
    _codes: tuple[object, NDArray[np.uint8]] | None = field(default=None, repr=False)
    _ranks: tuple[object, NDArray[np.int32]] | None = field(default=None, repr=False)
    _cells: tuple[object, bytes, NDArray[np.float32]] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, xy: NDArray[np.floating], seed: int = SEED) -> PointIndex:
        """Sort the rows of a layout: 0.02 s for each million; the GIL is let go.

        Parameters
        ----------
        xy : float array, shape (rows, 2)
            Fewer than 2³¹ rows.
        seed : int
            The same seed gives the same order.
        """
        from explorer.render.kernels import sort_into_cells

        with np.errstate(over="ignore"):
            places = np.ascontiguousarray(xy, np.float32)
        left, bottom, right, top = extent(places)
        side = max(min(int((len(places) / ROWS_PER_CELL) ** 0.5), MOST_LINES), 1)
        width, height = (right - left) / side or 1.0, (top - bottom) / side or 1.0
        starts = np.zeros(side * side + 1, np.int64)
        rows, sorted_xy = np.empty(len(places), np.int32), np.empty_like(places)
        sort_into_cells(places, left, bottom, 1 / width, 1 / height, side, seed, starts, rows, sorted_xy)
        placed = int(starts[-1])
        index = cls(
            rows[:placed], sorted_xy[:placed], starts, len(places), side, side, left, bottom, width, height
        )
        if placed <= SAMPLE_FROM:
            return index
        return replace(index, grids=index.count_finely(), sample=index.first_of_each_cell(SAMPLED))

    def count_finely(self, side: int = FINE_SIDE) -> tuple[NDArray[np.float32], ...]:
        """How many rows lie in each of side × side equal parts of the grid's area, and in coarser ones."""
        from explorer.render.kernels import count_rows

        counts, ids = np.zeros((side, side), np.float32), np.empty((side, side), np.int32)
        whole = np.array([[0, len(self.xy)]], np.int64)
        wide, high = self.width * self.columns / side, self.height * self.lines / side
        # The kernel knows one scale for both directions: heights are counted in columns' widths.
        stretched = self.xy * np.array([1, wide / high], np.float32)
        count_rows(
            stretched,
            self.rows,
            whole,
            1,
            np.zeros(len(self.xy), np.uint8),
            np.ones(256, np.bool_),
            1 / wide,
            -self.left / wide,
            side + self.bottom / high,
            np.float32(1),
            counts,
            ids,
        )
        grids = [np.ascontiguousarray(counts[::-1])]
        while len(grids[-1]) > COARSE_SIDE:
            half = len(grids[-1]) // 2
            grids.append(grids[-1].reshape(half, 2, half, 2).sum(axis=(1, 3)))
        return tuple(grids)

    def first_of_each_cell(self, share: float) -> PointIndex:
        """An index of a part of each cell's rows."""
        spans = self.spans((0, self.columns - 1, 0, self.lines - 1), share)
        sizes = spans[:, 1] - spans[:, 0]
        ends = np.cumsum(sizes)
        taken = np.arange(ends[-1]) + np.repeat(spans[:, 0] - ends + sizes, sizes)
        starts = np.zeros_like(self.starts)
        starts[1:] = np.cumsum(np.ceil(np.diff(self.starts) * share).astype(np.int64))
        return replace(self, rows=self.rows[taken], xy=self.xy[taken], starts=starts, _codes=None)

    def codes_of(self, codes: NDArray[np.integer]) -> NDArray[np.uint8]:
        """The rows' colour codes in the index's order; kept until other ones are asked for.

        Raises
        ------
        ValueError
            Where there is not one for each row of the table.
        """
        if len(codes) != self.table_rows:
            raise ValueError(f"{len(codes)} colour codes for {self.table_rows} rows")
        kept = self._codes
        if kept is None or kept[0] is not codes:
            # A picture that is being saved may ask for others at the same time.
            kept = self._codes = codes, np.ascontiguousarray(codes, np.uint8)[self.rows]
        return kept[1]

    def has_codes(self, codes: NDArray[np.integer]) -> bool:
        """Whether ``codes_of`` would answer at once."""
        kept = self._codes
        return kept is not None and kept[0] is codes

    def sort_codes(self, codes: NDArray[np.integer], slice_rows: int) -> Iterator[None]:
        """Prepare ``codes_of``, pausing after so many rows: all ten million take 80 ms."""
        if self.has_codes(codes):
            return
        by_row, found = np.ascontiguousarray(codes, np.uint8), np.empty(len(self.rows), np.uint8)
        for begin in range(0, len(found), slice_rows):
            end = begin + slice_rows
            found[begin:end] = by_row[self.rows[begin:end]]
            yield
        self._codes = codes, found

    def ranks_of(self, order: NDArray[np.integer]) -> NDArray[np.int32]:
        """Each row's place in an order of importance, shape (table rows,); -1 for rows not in it.

        Kept until another order is asked for.
        """
        if self._ranks is None or self._ranks[0] is not order:
            rank = np.full(self.table_rows, -1, np.int32)
            rank[order] = np.arange(len(order), dtype=np.int32)
            self._ranks = order, rank
        return self._ranks[1]

    def cell_colours(self, codes: NDArray[np.integer], palette: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The mean red, green and blue of each cell's rows, and the share that is not hidden.

        Shape (lines, columns, 4). A cell is mixed a little with those around it, which lend their
        colours to cells without rows. Kept until other colours are asked for.
        """
        key = palette.tobytes()
        if self._cells is None or self._cells[0] is not codes or self._cells[1] != key:
            from explorer.render.kernels import colours_of_cells

            counted = self if self.sample is None or len(self.rows) <= MOST_MIXED else self.sample
            sums = np.zeros((self.lines * self.columns, 5), np.float32)
            colours_of_cells(counted.codes_of(codes), counted.starts, weighted_inks(palette), sums)
            grid = sums.reshape(self.lines, self.columns, 5)
            rim = np.pad(grid, ((1, 1), (1, 1), (0, 0)))
            found = 2 * grid
            for line in range(3):
                for column in range(3):
                    found += rim[line : line + self.lines, column : column + self.columns]
            cells = found[:, :, :4] / np.maximum(found[:, :, 3:4], 1e-9)
            cells[:, :, 3] = found[:, :, 3] / np.maximum(found[:, :, 4], 1e-9)
            self._cells = codes, key, np.ascontiguousarray(cells)
        return self._cells[2]

    def bounds(self, viewport: Viewport, reach: float = 0.0) -> Bounds:
        """First and last column, first and last line of the cells that a view meets.

        Parameters
        ----------
        viewport : Viewport
        reach : float
            How far around the view, in its pixels.
        """
        wide, high = ((side / 2 + reach) / viewport.scale for side in (viewport.width, viewport.height))
        ends = []
        for middle, half, start, size, count in (
            (viewport.x, wide, self.left, self.width, self.columns),
            (viewport.y, high, self.bottom, self.height, self.lines),
        ):
            # One cell more on each side: positions are float32, and their cell may be rounded.
            for end, more in ((middle - half, -1), (middle + half, 1)):
                ends.append(int(min(max(np.floor((end - start) / size) + more, 0), count - 1)))
        return ends[0], ends[1], ends[2], ends[3]

    def spans(self, bounds: Bounds, share: float = 1.0) -> NDArray[np.int64]:
        """Begin and end, in the index's order, of what lies in the cells; shape (n, 2).

        Parameters
        ----------
        bounds : tuple of int
            As from ``bounds``.
        share : float
            Only so much of each cell, but at least one row: single rows stay where a crowd thins.
        """
        first, last, low, high = bounds
        if share >= 1:
            lines = np.arange(low, high + 1) * self.columns
            found = np.stack([self.starts[lines + first], self.starts[lines + last + 1]], axis=1)
        else:
            lines, columns = np.arange(low, high + 1)[:, None], np.arange(first, last + 1)
            cells = (lines * self.columns + columns).reshape(-1)
            begin = self.starts[cells]
            taken = np.ceil((self.starts[cells + 1] - begin) * share).astype(np.int64)
            found = np.stack([begin, begin + taken], axis=1)
        return np.ascontiguousarray(found[found[:, 1] > found[:, 0]])

    def count(self, bounds: Bounds) -> int:
        """How many rows lie in the cells."""
        spans = self.spans(bounds)
        return int((spans[:, 1] - spans[:, 0]).sum())

    def counts(self, bounds: Bounds) -> NDArray[np.int64]:
        """How many rows each of the cells holds, shape (lines, columns)."""
        first, last, low, high = bounds
        every = np.diff(self.starts).reshape(self.lines, self.columns)
        return every[low : high + 1, first : last + 1]


def weighted_inks(palette: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Red, green, blue and 1 of each code, all 0 for hidden and unused ones; shape (256, 4)."""
    inks = np.zeros((256, 4), np.float32)
    shown = np.flatnonzero(palette[:, 3] > 0)
    inks[shown, :3] = palette[shown, :3]
    inks[shown, 3] = 1
    return inks


def split(spans: NDArray[np.int64], most: int) -> list[NDArray[np.int64]]:
    """Cut spans into groups of at most ``most`` rows each, in their order."""
    groups: list[list[tuple[int, int]]] = [[]]
    room = most
    for begin, end in spans.tolist():
        while end > begin:
            if not room:
                groups.append([])
                room = most
            taken = min(room, end - begin)
            groups[-1].append((begin, begin + taken))
            begin, room = begin + taken, room - taken
    return [np.array(group, np.int64).reshape(-1, 2) for group in groups]
