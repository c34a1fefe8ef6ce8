"""Records of JSON, an object a row: what their keys are for, and the columns and vectors they hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable, OpenedFile
from explorer.readers.column_plan import (
    Kind,
    Plan,
    common_length,
    labels_of_column,
    missing_note,
    plan_columns,
)
from explorer.readers.packed_labels import INSIDE

Columns: TypeAlias = tuple[dict[str, NDArray], dict[str, NDArray[np.float32]]]


def plan_records(records: Iterable[Mapping[str, Any]], name: str) -> Plan | None:
    """What the keys of some records are for; None where they hold no vectors.

    A number is a dimension only where every record has it. A lone object may be a file of settings or a
    vocabulary: there only lists that are no whole numbers are vectors.

    Parameters
    ----------
    records : iterable of mapping
        The file's first.
    name : str
        What to call a table whose dimensions are keys.
    """
    kinds: dict[str, Kind] = {}
    everywhere: set[str] | None = None
    record: Mapping[str, Any] = {}
    count = 0
    for record in records:
        count += 1
        everywhere = set(record) if everywhere is None else everywhere & set(record)
        for key, value in record.items():
            kind = kind_of(value)
            if kind is not None and kinds.get(key) is not Kind.VECTOR:
                kinds[key] = kind if kinds.get(key, kind) is kind or kind is Kind.VECTOR else Kind.TEXT
    plan = plan_columns(kinds, name)
    if plan is None:
        return None
    if count < 2:
        return plan if all(_is_real(record.get(key)) for key in plan.tables) else None
    dimensions = {key for keys in plan.tables.values() if len(keys) > 1 for key in keys}
    return plan if dimensions <= (everywhere or set()) else None


def kind_of(value: Any) -> Kind | None:
    """What a value is; None for a missing one."""
    if value is None or value == []:
        return None
    if isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            return Kind.FACT
        return Kind.VECTOR if all(_is_number(item) or item is None for item in value) else Kind.OTHER
    if _is_number(value):
        return Kind.NUMBER
    if isinstance(value, bool):
        return Kind.FACT
    return Kind.TEXT if isinstance(value, str) else Kind.OTHER


def described_by(plan: Plan) -> list[str]:
    """The keys that name or describe rows."""
    return [*plan.metadata, *([plan.label] if plan.label is not None else [])]


def read_records(
    records: Iterable[tuple[int, Mapping[str, Any]]], plan: Plan, name: str, unit: str
) -> Columns:
    """Columns and matrices, record by record.

    Parameters
    ----------
    records : iterable of (int, mapping)
        With their numbers as messages give them.
    plan : Plan
    name : str
        The file's name.
    unit : str
        What a record is in the file: "Line" or "Entry".

    Raises
    ------
    ExplorerError
        A vector is none, or of another length than the others; its record is named.
    """
    places: list[str] = []
    values: dict[str, list[Any]] = {key: [] for key in described_by(plan)}
    vectors: dict[str, list[NDArray[np.float32] | None]] = {table: [] for table in plan.tables}
    for number, record in records:
        places.append(f"{unit} {number} of {name}")
        for key, column in values.items():
            column.append(record.get(key))
        for table, keys in plan.tables.items():
            whole = record.get(keys[0]) if len(keys) == 1 else [record.get(key) for key in keys]
            vectors[table].append(_vector(whole, places[-1]))
    columns = {key: _column(column) for key, column in values.items()}
    return columns, {table: _stacked(rows, places, name) for table, rows in vectors.items()}


def opened_records(path: Path, form: str, plan: Plan, read: Columns) -> OpenedFile:
    """The tables of what was read."""
    columns, matrices = read
    labels = labels_of_column(columns[plan.label], INSIDE) if plan.label is not None else None
    metadata = {key: columns[key] for key in plan.metadata}
    tables: list[EmbeddingTable] = []
    notes: list[str] = []
    for name, vectors in matrices.items():
        rows, dim = vectors.shape
        notes += missing_note(name, int(np.isnan(vectors).all(axis=1).sum()), rows)
        tables.append(
            EmbeddingTable(
                name,
                rows,
                dim,
                "float32",
                plan.role,
                _giving(vectors),
                labels=labels,
                metadata=metadata,
            )
        )
    return OpenedFile(path, form, tuple(tables), tuple(notes))


def _is_real(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, float) for item in value)


def _giving(vectors: NDArray[np.float32]) -> Callable[[], NDArray[np.float32]]:
    return lambda: vectors


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _vector(value: Any, place: str) -> NDArray[np.float32] | None:
    if value is None or (isinstance(value, list) and all(item is None for item in value)):
        return None
    if not isinstance(value, list) or not all(_is_number(item) or item is None for item in value):
        raise ExplorerError(f"{place} has no list of numbers where its vector should stand.")
    try:
        exact = np.array([np.nan if item is None else item for item in value], np.float64)
    except OverflowError as error:
        raise ExplorerError(f"{place} has a number that is too large.") from error
    with np.errstate(over="ignore"):
        return exact.astype(np.float32)


def _stacked(rows: list[NDArray[np.float32] | None], places: list[str], name: str) -> NDArray[np.float32]:
    lengths = np.fromiter((0 if row is None else len(row) for row in rows), np.int64, len(rows))
    dim = common_length(lengths)
    if not dim:
        raise ExplorerError(f"{name} has no vector in any row.")
    vectors = np.full((len(rows), dim), np.nan, np.float32)
    for index, row in enumerate(rows):
        if row is not None:
            if len(row) != dim:
                raise ExplorerError(f"{places[index]} has {len(row)} numbers where the others have {dim}.")
            vectors[index] = row
    return vectors


def _column(values: list[Any]) -> NDArray:
    """Numbers as an array of numbers, all else as texts."""
    if all(_is_number(value) for value in values):
        return np.array(values, np.float64 if any(isinstance(value, float) for value in values) else np.int64)
    column = np.empty(len(values), object)
    column[:] = [
        value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in values
    ]
    return column
