"""Arrow's columns as NumPy arrays: lists of numbers as a matrix, with NaN where a row has none."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def is_vector_type(kind: pa.DataType) -> bool:
    """Whether a column of this type holds a list of numbers in each row."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(lists and is_number_type(kind.value_type))


def is_number_type(kind: pa.DataType) -> bool:
    """Whether a column of this type holds real numbers."""
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def is_text_type(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts, maybe each stored once."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_fact_type(kind: pa.DataType) -> bool:
    """Whether a column of this type says yes or no, a date, or several texts in each row."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return is_text_type(kind.value_type)
    return bool(pa.types.is_boolean(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def list_lengths(column: pa.Array) -> NDArray[np.int64]:
    """The length of each row's list; 0 where there is none."""
    lengths = pc.fill_null(pc.list_value_length(_storage(column)), 0)
    return np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64)


def fill_rows(column: pa.Array, target: NDArray) -> int:
    """Write lists into a matrix; rows without one become NaN.

    Parameters
    ----------
    column : pyarrow.Array
        Of lists, all of them of the matrix's width or missing.
    target : array, shape (len(column), dim)

    Returns
    -------
    int
        How many rows have no vector.
    """
    column = _storage(column)
    present = list_lengths(column) > 0
    values = pc.list_flatten(column.filter(pa.array(present))).to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore", invalid="ignore"):
        target[present] = values.reshape(-1, target.shape[1])
    if not present.all():
        target[~present] = np.nan
    return int((~present).sum())


def as_column(column: pa.ChunkedArray) -> NDArray:
    """Numbers as they are (NaN where missing), texts and all else as objects (None where missing).

    Truth is ``true`` and ``false``, a date ISO 8601, a list of texts JSON.
    """
    if is_number_type(column.type):
        return np.asarray((column.cast(pa.float64()) if column.null_count else column).to_numpy())
    if is_fact_type(column.type):
        return _facts(column)
    values = np.empty(len(column), object)
    values[:] = column.to_pylist()
    return values


def _facts(column: pa.ChunkedArray) -> NDArray:
    """A column of facts as texts."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        texts = [
            None if value is None else json.dumps(value, ensure_ascii=False) for value in column.to_pylist()
        ]
    else:
        texts = column.cast(pa.string()).to_pylist()
    values = np.empty(len(column), object)
    values[:] = texts
    return values


def _storage(column: pa.Array) -> pa.Array:
    return column.storage if isinstance(column, pa.ExtensionArray) else column
