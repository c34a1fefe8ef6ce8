"""How many rows a moving picture may draw, learnt from how long the last ones took."""

from __future__ import annotations

FEWEST = 50_000
"""A picture of fewer rows would say too little, however slow the machine is."""
CALM = 0.85
"""The number grows only while pictures take less than this share of their time."""
FASTEST_GROWTH, FASTEST_FALL = 1.2, 0.3
FIRST_RATE = 35e-9
"""Seconds a row, until one has been measured."""


class FrameBudget:
    """Follows the time that pictures take: at once where they are late, slowly where there is room.

    Parameters
    ----------
    seconds : float
        What the points of a picture may take.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._rows = max(seconds / FIRST_RATE, FEWEST)
        self._rate = FIRST_RATE

    @property
    def rows(self) -> int:
        """How many rows the next moving picture may draw."""
        return int(self._rows)

    def spent(self, rows: int, seconds: float) -> None:
        """Learn that a picture of so many rows took so long.

        Parameters
        ----------
        rows : int
            Drawn, which may be fewer than allowed: a picture of few rows that was quick says nothing.
        seconds : float
        """
        if rows < FEWEST / 2:
            return
        self.paced(rows, seconds)
        ratio = self.seconds / max(seconds, 1e-9)
        if ratio < 1:
            self._rows = max(min(rows, self._rows) * max(ratio, FASTEST_FALL), FEWEST)
        elif rows >= 0.9 * self._rows and ratio * CALM > 1:
            self._rows *= min(ratio * CALM, FASTEST_GROWTH)

    def paced(self, rows: int, seconds: float) -> None:
        """Learn the pace from a picture that was allowed any number of rows."""
        if rows >= FEWEST / 2:
            self._rate += (seconds / rows - self._rate) / 4

    def time_for(self, rows: int) -> float:
        """How many seconds so many rows will take, by the pace of the last pictures."""
        return rows * self._rate

    def rows_in(self, seconds: float) -> int:
        """How many rows can be drawn in so many seconds."""
        return max(int(seconds / self._rate), 1)
