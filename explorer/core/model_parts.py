"""Parts of a model's file that are looked at without running it: positions, patch filters, output layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PositionTable:
    """What a model adds to a row for its place.

    Attributes
    ----------
    name : str
        The tensor's.
    values : float32 array, shape (places, dim)
    kind : str
        How it was made, in words: ``"learned"``, ``"sines and cosines in turn"``, ``"sines, then cosines"``.
    grid : (rows, columns) or None
        Of a picture's patches, read row by row; None for a sequence.
    class_token : bool
        Whether the first place is a class token's, before the grid's.
    """

    name: str
    values: NDArray[np.float32]
    kind: str
    grid: tuple[int, int] | None = None
    class_token: bool = False


@dataclass(frozen=True)
class OutputComparison:
    """An output layer beside the token table that it could be taken for.

    Attributes
    ----------
    output, table : str
        Their tensors' names.
    tied : bool
        Whether they are one and the same.
    cosine : float
        Of row *i* of one with row *i* of the other, on average; NaN where their dims differ.
    chance : float
        The same of rows that have nothing to do with each other.
    """

    output: str
    table: str
    tied: bool
    cosine: float
    chance: float

    @property
    def sentence(self) -> str:
        """What to say of it."""
        if self.tied:
            return f"{self.output} is the output layer; it is tied to {self.table}: both are one table."
        if self.cosine != self.cosine:
            return f"{self.output} is the output layer, of another width than {self.table}."
        return (
            f"{self.output} is the output layer, not tied to {self.table}: the same rows have a cosine of "
            f"{_shown(self.cosine)} on average, rows at random {_shown(self.chance)}."
        )


@dataclass(frozen=True, eq=False)
class ModelParts:
    """Parts of a model's file that are looked at without running it.

    Attributes
    ----------
    positions : tuple of PositionTable
    filters : float32 array, shape (n, 3, height, width), or None
        A patch projection's, one for each number of a patch's vector.
    filters_name : str
        The tensor's.
    outputs : tuple of OutputComparison
    """

    positions: tuple[PositionTable, ...] = ()
    filters: NDArray[np.float32] | None = None
    filters_name: str = ""
    outputs: tuple[OutputComparison, ...] = ()


def _shown(cosine: float) -> str:
    """Two decimals, without a minus before zero."""
    return f"{round(cosine, 2) + 0.0:.2f}"
