"""Where the map draws each row: the document's positions as they are seen, without the rows not shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.camera import Camera
from explorer.core.placement import place_query
from explorer.document import Document, LayoutStage
from explorer.render.camera import middle, project
from explorer.render.sample import Sample, spread_out
from explorer.views.map.kept import Kept

Centre = tuple[float, float, float]
NEARLY_ALL = 0.999
"""This share of the rows shapes the first view of three dimensions."""
MOST_TURNING = 250_000
"""So many rows are turned at each step of a drag; all of them once it rests."""


@dataclass(frozen=True, eq=False)
class Shown:
    """Rows on the map.

    Attributes
    ----------
    xy : float32 array, shape (rows, 2)
        NaN for rows without a place and for those hidden by an isolation.
    positions : float32 array, shape (rows, 2 or 3)
        The same before they were turned.
    depth : float32 array, shape (rows,), or None
        How near to the viewer, in three dimensions.
    sample : Sample, optional
        All that is up to date of many rows that are being turned, but for rows that were named.
    """

    xy: NDArray[np.float32]
    positions: NDArray[np.float32]
    depth: NDArray[np.float32] | None = None
    sample: Sample | None = None


class Places:
    """Keeps what follows from the positions until they, or what is shown of them, change."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._alone: Kept[NDArray[np.float32]] = Kept()
        self._centre: Kept[Centre] = Kept()
        self._shown: Kept[Shown] = Kept()
        self._star: Kept[tuple[float, ...] | None] = Kept()
        self._sample: Kept[tuple[NDArray[np.int64], NDArray[np.float32], float]] = Kept()
        self._out: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None

    def forget(self) -> None:
        """Let go of another table's places."""
        for kept in (self._alone, self._centre, self._shown, self._star, self._sample):
            kept.forget()
        self._out = None

    @property
    def camera(self) -> Camera:
        """How three dimensions are turned."""
        return self._document.look.camera

    @property
    def turns(self) -> bool:
        """Whether the positions have three dimensions."""
        positions = self._document.positions
        return positions is not None and positions.shape[1] == 3

    def _moment(self) -> object:
        """Another object at each call while a layout writes into the positions that are drawn."""
        return object() if self._document.stage is LayoutStage.MOVING else None

    def shown(self) -> Shown | None:
        """Where the rows are now; the same object while nothing has changed."""
        alone, moment = self._not_hidden(), self._moment()
        if alone is None:
            return None
        if not self.turns:
            return self._shown.of(lambda: Shown(alone, alone), alone, moment)
        return self._shown.of(lambda: self._projected(alone), alone, self.camera, moment)

    def turning(self, rows: NDArray[np.int64]) -> Shown | None:
        """Where rows are now, while they are turned: of many, only a sample and those named here."""
        alone = self._not_hidden()
        if alone is None or not self.turns or len(alone) <= MOST_TURNING:
            return self.shown()
        self._shown.forget()  # its arrays are written into
        centre = self._middle(alone)
        xy, depth = project(alone, self.camera, self._room_for(alone), centre, rows)
        chosen, places, share = self._sample.of(lambda: self._chosen(alone), alone, self._moment())
        sample = Sample(chosen, *project(places, self.camera, centre=centre), share)
        return Shown(xy, alone, depth, sample)

    def _not_hidden(self) -> NDArray[np.float32] | None:
        """The positions, without those of rows that an isolation hides."""
        positions, isolation = self._document.positions, self._document.isolation
        if positions is None:
            return None

        def isolated() -> NDArray[np.float32]:
            if isolation is None:
                return positions
            alone = np.full_like(positions, np.nan)
            alone[isolation.rows] = positions[isolation.rows]
            return alone

        return self._alone.of(isolated, positions, isolation, self._moment())

    def _chosen(self, places: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32], float]:
        """The rows of a sample, their places, and how much of all shown they are."""
        isolation = self._document.isolation
        count = len(places) if isolation is None else len(isolation.rows)
        rows = spread_out(count, MOST_TURNING)
        share = len(rows) / max(count, 1)
        rows = rows if isolation is None else isolation.rows[rows]
        return rows, places[rows], share

    def _room_for(self, positions: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        if self._out is None or len(self._out[1]) != len(positions):
            rows = len(positions)
            self._out = np.full((rows, 2), np.nan, np.float32), np.full(rows, np.nan, np.float32)
        return self._out

    def _projected(self, positions: NDArray[np.float32]) -> Shown:
        xy, depth = project(positions, self.camera, self._room_for(positions), self._middle(positions))
        return Shown(xy, positions, depth)

    def _middle(self, positions: NDArray[np.float32]) -> Centre:
        # Of a layout that moves, its first: about a middle that moves too, nothing would be seen to turn.
        return self._centre.of(lambda: middle(positions), positions)

    def located(self, shown: Shown, places: NDArray[np.floating]) -> NDArray[np.float32]:
        """Places among the positions, shape (n, 2 or 3), as they are seen, shape (n, 2)."""
        return self.seen(shown, places)[0]

    def seen(
        self, shown: Shown, places: NDArray[np.floating]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The same, and how near each is, shape (n,): equally near in two dimensions."""
        if shown.depth is None:
            return np.asarray(places, np.float32), np.zeros(len(places), np.float32)
        return project(places, self.camera, centre=self._middle(shown.positions))

    def star(self, shown: Shown) -> tuple[float, float] | None:
        """Where the question of the answer shown is seen; None for a question that is a row itself."""
        answer = self._document.answer
        if answer is None or answer.question.focus is not None:
            return None
        rows, moment = answer.result.rows, self._moment()
        place = self._star.of(lambda: place_query(shown.positions, rows), answer, shown.positions, moment)
        if place is None:
            return None
        x, y = self.located(shown, np.array([place]))[0]
        return float(x), float(y)

    def around(self, shown: Shown) -> NDArray[np.float32]:
        """What a view of all rows must show: the rows or, where they turn, a circle around them."""
        if shown.depth is None:
            return shown.xy
        x, y, z = self._middle(shown.positions)
        sample = shown.positions[:: max(len(shown.positions) // 50_000, 1)]
        apart = np.linalg.norm(sample - np.array([x, y, z], np.float32), axis=1)
        apart = apart[np.isfinite(apart)]
        reach = float(np.quantile(apart, NEARLY_ALL)) if len(apart) else 1.0
        return np.array(
            [(x - reach, y), (x + reach, y), (x, y - reach), (x, y + reach)],
            np.float32,
        )
