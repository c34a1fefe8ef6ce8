"""Which rows of a table UMAP lays out, and where the others go with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.parallel import each_block, spans

_BLOCK_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class Cast:
    """The points of a layout, the rows placed by these, and the rows shown.

    Attributes
    ----------
    points : int64 array, shape (n,), ascending
        The rows that are laid out.
    place_of : int64 array, shape (rows,)
        Each row's place among them; that of the nearest one for a row of ``rest``, -1 for others.
    rest : int64 array, ascending
        Rows to be placed by landmarks.
    shown : int64 array
        Rows that have a place on the map: these, and those that repeat them.
    first_twin : int64 array, shape (rows,)
    """

    points: NDArray[np.int64]
    place_of: NDArray[np.int64]
    rest: NDArray[np.int64]
    shown: NDArray[np.int64]
    first_twin: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        neighbours: NDArray[np.int32],
        first_twin: NDArray[np.int64],
        start: NDArray[np.float32],
        landmarks: NDArray[np.int64] | None,
        checkpoint: Checkpoint = no_checkpoint,
    ) -> Cast:
        """As a neighbour graph and the first picture have it: a row of -1 or NaN takes no part."""
        rows = len(neighbours)
        takes_part, has_place = np.zeros(rows, np.bool_), np.zeros(rows, np.bool_)

        def look(first: int, last: int) -> None:
            takes_part[first:last] = neighbours[first:last, :1].max(axis=1, initial=-1) >= 0
            has_place[first:last] = np.isfinite(start[first:last, 0])

        each_block(look, spans(rows, _BLOCK_ROWS), checkpoint, threads=1)
        points = np.flatnonzero(takes_part) if landmarks is None else np.array(landmarks)
        place_of = np.full(rows, -1, np.int64)
        place_of[points] = np.arange(len(points))
        takes_part[points] = False
        rest = np.flatnonzero(takes_part)

        def follow(first: int, last: int) -> None:
            some = rest[first:last]
            place_of[some] = place_of[neighbours[some, 0]]

        each_block(follow, spans(len(rest), _BLOCK_ROWS), checkpoint, threads=1)
        shown = np.flatnonzero(has_place & (place_of[first_twin] >= 0))
        return cls(points, place_of, rest, shown, np.array(first_twin))

    def graph(
        self,
        neighbours: NDArray[np.int32],
        distances: NDArray[np.float32],
        checkpoint: Checkpoint = no_checkpoint,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The neighbour graph of the points alone, by their places."""
        shape = len(self.points), neighbours.shape[1]
        near, apart = np.empty(shape, np.int32), np.empty(shape, np.float32)

        def work(first: int, last: int) -> None:
            rows = self.points[first:last]
            near[first:last] = self.place_of[neighbours[rows]]
            apart[first:last] = distances[rows]

        each_block(work, spans(len(self.points), _BLOCK_ROWS), checkpoint, threads=1)
        return near, apart

    def show(self, positions: NDArray[np.float32], out: NDArray[np.float32]) -> None:
        """Put all rows where their points are, the rest where the nearest ones are."""
        if len(self.points) == len(out):
            out[:] = positions
        else:
            out[self.shown] = positions[self.place_of[self.first_twin[self.shown]]]

    def show_rest(self, placed: NDArray[np.float32], out: NDArray[np.float32]) -> None:
        """Put the rest, and rows that repeat it, where they were placed."""
        out[self.rest] = placed
        twins = np.flatnonzero(self.first_twin != np.arange(len(out)))
        out[twins] = out[self.first_twin[twins]]
