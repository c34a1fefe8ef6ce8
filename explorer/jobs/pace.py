"""How long a job of several steps will take yet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Pace:
    """The seconds that the whole of a job takes as it goes now; -1 is unknown."""

    seconds: float = -1.0

    def left(self, start: float, end: float, fraction: float, seconds_left: float) -> tuple[float, float]:
        """How far a job is as a whole, and how many seconds it has left.

        The steps to come are taken to go as this one does, and one that has just begun as the last did.

        Parameters
        ----------
        start, end : float
            The part of the job that the step at work takes it through, 0 to 1.
        fraction : float
            How much of the step is done, 0 to 1; -1 is unknown.
        seconds_left : float
            That the step has left at its present pace; -1 is unknown.

        Returns
        -------
        (float, float)
            -1 where unknown.
        """
        if fraction < 0:
            return -1.0, -1.0
        to_come = (end - start) * (1.0 - fraction)
        if seconds_left >= 0 and to_come > 0:
            self.seconds = seconds_left / to_come
        whole = start + (end - start) * fraction
        return whole, self.seconds * (1.0 - whole) if self.seconds >= 0 else -1.0
