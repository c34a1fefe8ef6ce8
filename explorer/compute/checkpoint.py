"""The pause between two blocks of long work: tells how far it is, and is where it can be stopped."""

from __future__ import annotations

from typing import Protocol


class Checkpoint(Protocol):
    """Called by long work between its blocks, every few tens of milliseconds."""

    def __call__(self, fraction: float, stage: str = "") -> None:
        """Report progress.

        Parameters
        ----------
        fraction : float
            How much of the whole work is done, 0 to 1; -1 where unknown.
        stage : str
            What is being done, in words.

        Raises
        ------
        Cancelled
            Where the person has asked for the work to stop.
        """


def no_checkpoint(fraction: float, stage: str = "") -> None:
    """For work that nobody watches."""


def between(checkpoint: Checkpoint, start: float, end: float) -> Checkpoint:
    """As ``part``, for work that names its own stages."""

    def report(fraction: float, stage: str = "") -> None:
        checkpoint(start + (end - start) * max(fraction, 0.0), stage)

    return report


def part(checkpoint: Checkpoint, start: float, end: float, stage: str) -> Checkpoint:
    """A checkpoint for one stage of a longer work, which takes it from ``start`` to ``end``."""

    name = stage

    def report(fraction: float, stage: str = "") -> None:
        checkpoint(start + (end - start) * max(fraction, 0.0), name)

    return report
