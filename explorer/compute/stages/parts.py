"""What a model's file holds that is looked at without running it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.compute.stages.outputs import compare_outputs
from explorer.compute.stages.positions import position_tables
from explorer.core.model_parts import ModelParts
from explorer.core.table import OpenedFile, Role
from explorer.readers import open_file

_CHANNELS = 3


def model_parts(path: str | Path) -> ModelParts:
    """A file's position tables, its patch projection's filters, and its output layers beside its tables.

    Raises
    ------
    ExplorerError
        The file cannot be opened.
    """
    opened = open_file(path)
    filters, name = _filters(opened)
    return ModelParts(position_tables(opened), filters, name, compare_outputs(opened))


def _filters(opened: OpenedFile) -> tuple[NDArray[np.float32] | None, str]:
    """The first patch projection whose patches are square and in colour: shape (n, 3, side, side)."""
    for table in opened.tables:
        side = math.isqrt(table.dim // _CHANNELS)
        if table.role is Role.PATCH and side > 1 and side * side * _CHANNELS == table.dim:
            values = np.asarray(table.read(), np.float32)
            return values.reshape(table.rows, _CHANNELS, side, side), table.name
    return None, ""
