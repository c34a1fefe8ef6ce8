"""Where the map draws each row: the document's positions, without the rows that are not shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.placement import place_query
from explorer.document import Document, LayoutStage
from explorer.views.map.kept import Kept


@dataclass(frozen=True, eq=False)
class Shown:
    """Rows on the map.

    Attributes
    ----------
    xy : float32 array, shape (rows, 2)
        NaN for rows without a place and for those hidden by an isolation.
    """

    xy: NDArray[np.float32]


class Places:
    """Keeps what follows from the positions until they, or what is shown of them, change."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._shown: Kept[Shown] = Kept()
        self._star: Kept[tuple[float, ...] | None] = Kept()

    def forget(self) -> None:
        """Let go of another table's places."""
        self._shown.forget()
        self._star.forget()

    def _moment(self) -> object:
        """Another object at each call while a layout writes into the positions that are drawn."""
        return object() if self._document.stage is LayoutStage.MOVING else None

    def shown(self) -> Shown | None:
        """Where the rows are now; the same object while nothing has changed."""
        positions, isolation = self._document.positions, self._document.isolation
        if positions is None:
            return None

        def make() -> Shown:
            if isolation is None:
                return Shown(positions)
            alone = np.full_like(positions, np.nan)
            alone[isolation.rows] = positions[isolation.rows]
            return Shown(alone)

        return self._shown.of(make, positions, isolation, self._moment())

    def star(self, shown: Shown) -> tuple[float, ...] | None:
        """Where the question of the answer shown lies; None for a question that is a row itself."""
        answer = self._document.answer
        if answer is None or answer.question.focus is not None:
            return None
        return self._star.of(lambda: place_query(shown.xy, answer.result.rows), answer, shown)
