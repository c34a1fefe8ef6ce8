"""Parquet: vectors as a column of lists, or a column for each dimension, with names and further columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from explorer.core.dtypes import FLOATS, name_of
from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable, OpenedFile
from explorer.readers.arrow_lists import (
    as_column,
    fill_rows,
    is_fact_type,
    is_number_type,
    is_text_type,
    is_vector_type,
    list_lengths,
)
from explorer.readers.column_plan import Kind, common_length, labels_of_column, plan_columns
from explorer.readers.packed_labels import INSIDE

_MAGIC = b"PAR1"
_FAULTS = (pa.ArrowException, OSError, ValueError, UnicodeDecodeError, MemoryError)
_FREE = 256 << 20  # bytes that a table may take, however small its file
_MOST_UNFOLDED = 100  # times the file's size, above that
_BATCH = 1 << 14


def sniff(path: Path, head: bytes) -> bool:
    """Whether the file has Parquet's mark."""
    return head.startswith(_MAGIC)


def read(path: Path) -> OpenedFile:
    """List the tables of a Parquet file; names and further columns are read here, vectors when asked for.

    Raises
    ------
    ExplorerError
        No column holds vectors, or the file is damaged.
    """
    try:
        with pq.ParquetFile(path) as file:
            return _list_tables(path, file)
    except _FAULTS as error:
        raise ExplorerError(f"{path.name} is damaged or cut off.", detail=str(error)) from error


def _list_tables(path: Path, file: pq.ParquetFile) -> OpenedFile:
    schema, rows = file.schema_arrow, file.metadata.num_rows
    unique = [name for name in schema.names if schema.names.count(name) == 1]
    plan = plan_columns({name: _kind(schema.field(name).type) for name in unique}, path.stem)
    if plan is None:
        raise ExplorerError(f"{path.name} has no column of vectors.")
    if not rows:
        raise ExplorerError(f"{path.name} is empty: its columns have no rows.")
    _check_size(path, rows * len(plan.metadata) * 8)
    metadata = {name: as_column(file.read([name]).column(0)) for name in plan.metadata}
    labels = None
    if plan.label is not None:
        labels = labels_of_column(as_column(file.read([plan.label]).column(0)), INSIDE)
        if len(labels) != rows:
            raise ExplorerError(f"{path.name} is damaged: {len(labels):,} names for {rows:,} rows.")
    tables = tuple(
        EmbeddingTable(
            name,
            rows,
            *_shape(path, file, columns, rows),
            plan.role,
            _reader(path, columns, rows, _shape(path, file, columns, rows)[0]),
            labels=labels,
            metadata=metadata,
        )
        for name, columns in plan.tables.items()
    )
    return OpenedFile(path, "Parquet columns", tables)


def _kind(kind: pa.DataType) -> Kind:
    if is_vector_type(kind):
        return Kind.VECTOR
    if is_number_type(kind):
        return Kind.NUMBER
    if is_text_type(kind):
        return Kind.TEXT
    return Kind.FACT if is_fact_type(kind) else Kind.OTHER


def _shape(path: Path, file: pq.ParquetFile, columns: tuple[str, ...], rows: int) -> tuple[int, str]:
    """A table's dim and stored type."""
    types = [file.schema_arrow.field(name).type for name in columns]
    if len(columns) > 1:
        dtype = np.result_type(*(kind.to_pandas_dtype() for kind in types))
        dim = len(columns)
    else:
        kind = types[0].storage_type if isinstance(types[0], pa.BaseExtensionType) else types[0]
        dtype = np.dtype(kind.value_type.to_pandas_dtype())
        dim = kind.list_size if pa.types.is_fixed_size_list(kind) else _first_length(file, columns[0])
    if not dim:
        raise ExplorerError(f"{columns[0]} in {path.name} has no vector in any row.")
    _check_size(path, rows * dim * dtype.itemsize)
    return dim, name_of(dtype)


def _check_size(path: Path, size: int) -> None:
    """A few bytes can claim a table of any size."""
    if size > max(_FREE, _MOST_UNFOLDED * path.stat().st_size):
        raise ExplorerError(f"{path.name} is not read: it would unfold to {size:,} bytes.")


def _first_length(file: pq.ParquetFile, column: str) -> int:
    for batch in file.iter_batches(1024, columns=[column]):
        if length := common_length(list_lengths(batch.column(0))):
            return length
    return 0


def _reader(path: Path, columns: tuple[str, ...], rows: int, dim: int) -> Callable[[], NDArray]:
    def read() -> NDArray:
        try:
            with pq.ParquetFile(path) as file:
                if len(columns) > 1:
                    return _by_dimension(path, file, columns, rows)
                return _lists(path, file, columns[0], rows, dim)
        except _FAULTS as error:
            raise ExplorerError(f"{path.name} is damaged or has changed.", detail=str(error)) from error

    return read


def _by_dimension(path: Path, file: pq.ParquetFile, columns: tuple[str, ...], rows: int) -> NDArray:
    dtype = np.result_type(*(file.schema_arrow.field(name).type.to_pandas_dtype() for name in columns))
    vectors: NDArray = np.empty((rows, len(columns)), dtype)
    for axis, name in enumerate(columns):
        values = as_column(file.read([name]).column(0))
        if values.dtype.kind == "f" and vectors.dtype.kind != "f":
            vectors = vectors.astype(np.float64)
        vectors[:, axis] = values
    return vectors


def _lists(path: Path, file: pq.ParquetFile, column: str, rows: int, dim: int) -> NDArray:
    kind = file.schema_arrow.field(column).type
    kind = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    dtype = np.dtype(kind.value_type.to_pandas_dtype())
    vectors: NDArray = np.empty((rows, dim), dtype)
    done = 0
    for batch in file.iter_batches(_BATCH, columns=[column]):
        values = batch.column(0)
        lengths = list_lengths(values)
        wrong = np.flatnonzero((lengths != dim) & (lengths != 0))
        if len(wrong):
            raise ExplorerError(
                f"Row {done + wrong[0]:,} of {column} in {path.name} has {lengths[wrong[0]]} numbers "
                f"where the others have {dim}."
            )
        if (lengths == 0).any() and name_of(vectors.dtype) not in FLOATS:
            vectors = vectors.astype(np.float64)
        fill_rows(values, vectors[done : done + len(lengths)])
        done += len(lengths)
    if done != rows:
        raise ExplorerError(f"{path.name} is cut off: {done:,} of {rows:,} rows are there.")
    return vectors
