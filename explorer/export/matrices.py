"""A run's stages, or one matrix of it, as CSV and NPZ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.stages import Stages
from explorer.export.files import replacing
from explorer.export.tables import write_rows_csv


@dataclass(frozen=True, eq=False)
class Matrix:
    """Values that are looked at.

    Attributes
    ----------
    name : str
    values : float32 array, shape (n, m)
    rows, columns : sequence of str
        Their names; empty for none.
    """

    name: str
    values: NDArray[np.float32]
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()


def write_matrix(path: Path, matrix: Matrix) -> None:
    """Write a matrix in the form that the path's ending asks for.

    Parameters
    ----------
    path : Path
        With ``.npz``: arrays ``values``, ``rows`` and ``columns`` (names, where there are some). Else CSV,
        whose first line names the columns and whose first column names the rows, by numbers where they have
        no names; a value has the digits that bring the same float32 back.
    matrix : Matrix

    Raises
    ------
    ExplorerError
        The file cannot be written.
    """
    values = matrix.values
    if path.suffix.lower() == ".npz":
        rows, columns = _texts(matrix.rows), _texts(matrix.columns)
        with replacing(path) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, values=values, rows=rows, columns=columns)
        return
    names = _named(matrix.rows, len(values))
    lines = ((name, *map(str, row)) for name, row in zip(names, values, strict=True))
    write_rows_csv(path, ("", *_named(matrix.columns, values.shape[1])), lines)


def write_stages(path: Path, stages: Stages) -> None:
    """Write all matrices of a run as NPZ: ``tokens`` and one array a stage, under its name.

    The tokens of a sentence that a decoder looked at are ``source``.

    Raises
    ------
    ExplorerError
        The file cannot be written.
    """
    arrays = {each.name: each.values for each in stages.stages if each.values is not None}
    labels = _texts([token.label for token in stages.tokens])
    if stages.source:
        arrays["source"] = _texts([token.label for token in stages.source])
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, allow_pickle=False, tokens=labels, **arrays)


def _named(names: Sequence[str], count: int) -> list[str]:
    """So many names; numbers stand for those that are missing."""
    return [*names[:count], *map(str, range(len(names), count))]


def _texts(names: Sequence[str]) -> NDArray[np.str_]:
    return np.array([name.encode("utf-8", "backslashreplace").decode() for name in names], np.str_)
