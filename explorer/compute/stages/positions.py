"""Position tables: made from sines, told from learned ones, and how alike their rows are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from explorer.core.model_parts import PositionTable
from explorer.core.table import EmbeddingTable, OpenedFile, Role

_CLOSE = 1e-3  # a table in half precision is still known


def interleaved(places: int, dim: int) -> NDArray[np.float32]:
    """Sines in even and cosines in odd columns (Vaswani et al., *Attention Is All You Need*, 2017).

    Returns
    -------
    float32 array, shape (places, dim)
    """
    rates = np.exp(np.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    angles = np.arange(places)[:, None] * rates
    table = np.empty((places, dim), np.float32)
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)[:, : dim // 2]
    return table


def halves(places: int, dim: int) -> NDArray[np.float32]:
    """A half of sines, then a half of cosines, rates falling from 1 to 1/10000 at the last column of each.

    Returns
    -------
    float32 array, shape (places, dim)
    """
    half = dim // 2
    rates = np.exp(np.arange(half) * (-math.log(10000.0) / max(1, half - 1)))
    angles = np.arange(places)[:, None] * rates
    table = np.zeros((places, dim), np.float32)
    table[:, :half] = np.sin(angles)
    table[:, half : 2 * half] = np.cos(angles)
    return table


def position_tables(opened: OpenedFile) -> tuple[PositionTable, ...]:
    """A file's position tables with how they were made."""
    return tuple(_read(table, opened) for table in opened.tables if table.role is Role.POSITION)


def similarity(values: NDArray) -> NDArray[np.float32]:
    """Cosine of each row with each other; 0 with a row of zeros or of what is no number.

    Parameters
    ----------
    values : array, shape (n, dim)

    Returns
    -------
    float32 array, shape (n, n)
    """
    rows = np.asarray(values, np.float32)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    there = (lengths > 0) & np.isfinite(lengths)
    unit = np.divide(rows, lengths, out=np.zeros_like(rows), where=there)
    found: NDArray[np.float32] = unit @ unit.T
    return found


def _read(table: EmbeddingTable, opened: OpenedFile) -> PositionTable:
    values = np.asarray(table.read(), np.float32).reshape(table.rows, table.dim)
    rows, class_token = table.rows, any(each.role is Role.CLASS_TOKEN for each in opened.tables)
    patched = any(each.role is Role.PATCH for each in opened.tables)
    side = math.isqrt(rows - class_token)
    grid = (side, side) if patched and side > 1 and side * side == rows - class_token else None
    return PositionTable(table.name, values, _kind(values), grid, class_token and grid is not None)


def _kind(values: NDArray[np.float32]) -> str:
    for kind, make in (("sines and cosines in turn", interleaved), ("sines, then cosines", halves)):
        if values.shape[1] > 1 and np.allclose(values, make(*values.shape), rtol=0, atol=_CLOSE):
            return kind
    return "learned"
