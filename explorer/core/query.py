"""The query line's grammar: ``2*paris - france + "new york"``, ``#123``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """One term as typed.

    Attributes
    ----------
    weight : float
        Sign and factor together.
    text : str or None
        The label asked for; None where a row is named.
    row : int or None
        The row of ``#row``.
    quoted : bool
        Written in quotes: taken to the letter.
    start, end : int
        Where the term (without its operator) stands in the query text.
    """

    weight: float
    text: str | None
    row: int | None
    quoted: bool
    start: int
    end: int


@dataclass(frozen=True)
class RowTerm:
    """A term whose row is known."""

    weight: float
    row: int
