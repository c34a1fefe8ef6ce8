"""Where pictures of many shapes lie in lines of equal width: worked out once, asked for a line at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

GAP = 6
NARROWEST, WIDEST = 0.4, 2.5
"""Shapes beyond these are shown inside a cell of this shape."""


@dataclass(frozen=True)
class Cell:
    """One picture's place, in pixels: the picture alone, without what is written below it."""

    place: int
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, eq=False)
class GalleryLayout:
    """Justified lines of pictures.

    Attributes
    ----------
    width : int
        Of every full line.
    below : int
        What is kept free under each picture.
    starts : int64 array, shape (lines + 1,)
        The first place of each line; at the end the number of pictures.
    tops : float64 array, shape (lines + 1,)
        Where each line begins; at the end the height of all.
    heights : float64 array, shape (lines,)
        Of each line's pictures.
    edges : float64 array, shape (pictures + 1,)
        The shapes (width / height) added up.
    """

    width: int = 0
    below: int = 0
    starts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    tops: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))
    heights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    edges: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))

    @property
    def count(self) -> int:
        """How many pictures there are."""
        return int(self.starts[-1])

    @property
    def total_height(self) -> int:
        """From the first line's top to the last one's end."""
        return round(float(self.tops[-1]))

    def line_of(self, place: int) -> int:
        """The line that a picture lies in."""
        return int(np.searchsorted(self.starts, place, "right")) - 1

    def line_at(self, y: float) -> int:
        """The line at a height, the first or last where it lies outside."""
        return min(max(int(np.searchsorted(self.tops, y, "right")) - 1, 0), len(self.heights) - 1)

    def cells(self, line: int) -> list[Cell]:
        """A line's pictures, from the left."""
        first, end = self.starts[line : line + 2].tolist()
        height, top = float(self.heights[line]), float(self.tops[line])
        edges = (self.edges[first : end + 1] - self.edges[first]) * height
        lefts = edges[:-1] + GAP * np.arange(end - first)
        widths = np.diff(edges)
        return [
            Cell(place, left, top, width, height)
            for place, left, width in zip(range(first, end), lefts.tolist(), widths.tolist(), strict=True)
        ]

    def cell(self, place: int) -> Cell:
        """One picture's place."""
        line = self.line_of(place)
        return self.cells(line)[place - int(self.starts[line])]

    def between(self, top: float, bottom: float) -> list[Cell]:
        """The pictures of all lines that are seen, wholly or in part, between two heights."""
        lines = self._lines_between(top, bottom)
        return [cell for line in lines for cell in self.cells(line)]

    def places_between(self, top: float, bottom: float) -> range:
        """The places of those pictures, which is quicker to know."""
        lines = self._lines_between(top, bottom)
        return range(int(self.starts[lines.start]), int(self.starts[lines.stop])) if lines else range(0)

    def _lines_between(self, top: float, bottom: float) -> range:
        if not self.count or bottom < 0 or top >= self.tops[-1]:
            return range(0)
        return range(self.line_at(top), self.line_at(bottom) + 1)

    def at(self, x: float, y: float) -> int:
        """The picture at a point, what is written below it included; -1 where there is none."""
        if not self.count or not 0 <= y < self.tops[-1]:
            return -1
        for cell in self.cells(self.line_at(y)):
            if cell.left <= x < cell.left + cell.width and y < cell.top + cell.height + self.below:
                return cell.place
        return -1

    def beside(self, place: int, lines: int, x: float) -> int:
        """The picture nearest to ``x``, so many lines below (or, below zero, above) another."""
        line = self.line_of(place)
        there = min(max(line + lines, 0), len(self.heights) - 1)
        if there == line:
            return place
        return min(self.cells(there), key=lambda cell: max(cell.left - x, x - cell.left - cell.width)).place


def justified(shapes: NDArray[np.floating], width: int, height: int, below: int) -> GalleryLayout:
    """Put pictures into lines of one width, each line about as high as is wished.

    Lines are filled from the first picture on, so more pictures at the end leave all lines but the last
    as they were. The last line is as high as wished, and stays open.

    Parameters
    ----------
    shapes : float array, shape (pictures,)
        Width / height; NaN where it is not known, for which a square is kept.
    width, height : int
        Of a line, and of its pictures as far as possible.
    below : int
        Kept free under each picture.
    """
    known = np.clip(np.nan_to_num(np.asarray(shapes, np.float64), nan=1.0), NARROWEST, WIDEST)
    edges = np.concatenate(([0.0], np.cumsum(known)))
    starts = _breaks(edges * height + GAP * np.arange(len(edges)), width + GAP)
    firsts, ends = starts[:-1], starts[1:]
    sums = edges[ends] - edges[firsts]
    heights = (width - GAP * (ends - firsts - 1)) / np.maximum(sums, NARROWEST)
    if len(heights):
        heights[-1] = min(heights[-1], height)
    # A narrow panel holds less than the widest picture, never less than nothing.
    heights = np.maximum(heights, 1.0)
    tops = np.concatenate(([0.0], np.cumsum(heights + below + GAP)))
    return GalleryLayout(width, below, starts, tops, heights, edges)


def _breaks(along: NDArray[np.float64], room: float) -> NDArray[np.int64]:
    """Where lines begin, for pictures laid one after the other at the wished height.

    ``along`` says where each one begins; a line ends where its height comes closest to the wished one.
    """
    count = len(along) - 1
    firsts = np.arange(count)
    targets = along[:-1] + room
    ends = np.clip(np.searchsorted(along, targets), firsts + 1, count)
    shorter = (ends - firsts > 1) & (along[ends] - targets > targets - along[ends - 1])
    following = (ends - shorter).tolist()
    starts = [0]
    while starts[-1] < count:
        starts.append(following[starts[-1]])
    return np.asarray(starts, np.int64)
