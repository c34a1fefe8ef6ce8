"""JSON Lines: an object a row, one of whose values is the vector. Or one object, ``{word: vector}``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as arrow_json
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers.arrow_lists import as_column, fill_rows, list_lengths
from explorer.readers.column_plan import (
    Kind,
    Plan,
    common_length,
    labels_of_column,
    missing_note,
    plan_columns,
)
from explorer.readers.packed_labels import INSIDE, escape
from explorer.readers.vector_blocks import whole_lines
from explorer.readers.vector_lines import BOM
from explorer.readers.word_vectors import sample_lines

_RECORDS = 50
_LARGEST = 1 << 30
_WORD = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*[-\d]')


def sniff(path: Path, head: bytes) -> bool:
    """Whether the first lines are objects, one of which at least holds a list of numbers."""
    if not head.removeprefix(BOM).lstrip().startswith(b"{") or b"\0" in head:
        return False
    if _WORD.match(head.removeprefix(BOM)) and _by_word(path) is not None:
        return True
    try:
        return _plan(path) is not None
    except ExplorerError:
        return False


def read(path: Path) -> OpenedFile:
    """Open a file of JSON Lines; all of it is parsed here.

    A row without a vector stays in its place as NaN.

    Raises
    ------
    ExplorerError
        A line is no object, or its vector is of another length; it is named.
    """
    with path.open("rb") as file:
        by_word = _by_word(path) if _WORD.match(file.read(4096).removeprefix(BOM)) else None
    if by_word is not None:
        return OpenedFile(path, "JSON", (by_word,))
    plan = _plan(path)
    if plan is None:
        raise ExplorerError(f"{path.name} has no list of numbers in its first lines.")
    read = _by_arrow(path, plan)
    columns, matrices = read if read is not None else _by_hand(path, plan)
    labels = labels_of_column(columns[plan.label], INSIDE) if plan.label is not None else None
    tables: list[EmbeddingTable] = []
    notes: list[str] = []
    for name, vectors in matrices.items():
        rows, dim = vectors.shape
        notes += missing_note(name, int(np.isnan(vectors).all(axis=1).sum()), rows)
        metadata = {column: columns[column] for column in plan.metadata}
        tables.append(
            EmbeddingTable(
                name, rows, dim, "float32", plan.role, _giving(vectors), labels=labels, metadata=metadata
            )
        )
    return OpenedFile(path, "JSON Lines", tuple(tables), tuple(notes))


def _giving(vectors: NDArray[np.float32]) -> Callable[[], NDArray[np.float32]]:
    return lambda: vectors


def _by_word(path: Path) -> EmbeddingTable | None:
    """The table of a file that is one object of vectors by their names; None where it is not."""
    if path.stat().st_size > _LARGEST:
        return None
    try:
        pairs = json.loads(escape(path.read_bytes().removeprefix(BOM)), object_pairs_hook=list)
        rows = [
            (word, np.array(numbers, np.float64)) for word, numbers in pairs if _kind(numbers) is Kind.VECTOR
        ]
    except (ValueError, TypeError, RecursionError, OverflowError):
        return None
    dims = {len(vector) for _, vector in rows}
    if len(rows) != len(pairs) or len(rows) < 2 or len(dims) != 1:
        return None
    with np.errstate(over="ignore"):
        vectors = np.stack([vector for _, vector in rows]).astype(np.float32)
    labels = Labels.from_texts((word for word, _ in rows), INSIDE)
    count, dim = vectors.shape
    return EmbeddingTable(path.stem, count, dim, "float32", Role.TOKEN, _giving(vectors), labels=labels)


def _plan(path: Path) -> Plan | None:
    """What the keys of the first lines are for; ExplorerError where a line is no object."""
    kinds: dict[str, Kind] = {}
    for number, line in enumerate(sample_lines(path).removeprefix(BOM).split(b"\n"), 1):
        if number > _RECORDS:
            break
        if not line.strip():
            continue
        for key, value in _object(line, number, path.name).items():
            kind = _kind(value)
            if kind is not None and kinds.get(key) is not Kind.VECTOR:
                kinds[key] = kind if kinds.get(key, kind) is kind or kind is Kind.VECTOR else Kind.TEXT
    plan = plan_columns(kinds, path.stem)
    if plan is None or any(len(columns) > 1 for columns in plan.tables.values()):
        return None
    return plan


def _kind(value: Any) -> Kind | None:
    if value is None or value == []:
        return None
    if isinstance(value, list):
        return Kind.VECTOR if all(_is_number(item) or item is None for item in value) else Kind.OTHER
    if _is_number(value):
        return Kind.NUMBER
    return Kind.TEXT if isinstance(value, str) else Kind.OTHER


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _object(line: bytes, number: int, name: str) -> dict[str, Any]:
    try:
        value = json.loads(escape(line))
    except (ValueError, RecursionError) as error:
        raise ExplorerError(f"Line {number} of {name} is not JSON.", detail=str(error)) from error
    if not isinstance(value, dict):
        raise ExplorerError(f"Line {number} of {name} is not a JSON object.")
    return value


_Columns = tuple[dict[str, NDArray], dict[str, NDArray[np.float32]]]


def _by_arrow(path: Path, plan: Plan) -> _Columns | None:
    """Columns and matrices, fast; None where the lines are not all alike."""
    others = [*plan.metadata, *([plan.label] if plan.label is not None else [])]
    fields = [(name, pa.list_(pa.float32())) for name in plan.tables]
    try:
        table = arrow_json.read_json(
            path,
            arrow_json.ReadOptions(block_size=1 << 24),
            arrow_json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="infer"),
        )
    except (pa.ArrowException, OSError):
        return None
    if not set(others) <= set(table.column_names) or _count_rows(path) != table.num_rows:
        return None
    matrices = {}
    for name in plan.tables:
        lists = table.column(name).combine_chunks()
        lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
        lengths = list_lengths(lists)
        dim = common_length(lengths)
        if not dim or np.any((lengths != dim) & (lengths != 0)):
            return None
        matrices[name] = np.empty((len(lengths), dim), np.float32)
        fill_rows(lists, matrices[name])
    return {name: as_column(table.column(name)) for name in others}, matrices


def _count_rows(path: Path) -> int:
    return sum(1 for _ in _lines(path))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, with their numbers."""
    number = 0
    with path.open("rb") as file:
        for block in whole_lines(file, path.name):
            for line in block[:-1].split(b"\n"):
                number += 1
                line = line.removeprefix(BOM) if number == 1 else line
                if line.strip():
                    yield number, line


def _by_hand(path: Path, plan: Plan) -> _Columns:
    """The same line by line: says which line does not fit, or reads what Arrow is too strict for."""
    others = [*plan.metadata, *([plan.label] if plan.label is not None else [])]
    numbers: list[int] = []
    values: dict[str, list[Any]] = {name: [] for name in others}
    vectors: dict[str, list[NDArray[np.float32] | None]] = {name: [] for name in plan.tables}
    for number, line in _lines(path):
        entry = _object(line, number, path.name)
        numbers.append(number)
        for name in others:
            values[name].append(entry.get(name))
        for name in plan.tables:
            vectors[name].append(_vector(entry.get(name), number, path.name))
    columns = {name: _column(column) for name, column in values.items()}
    return columns, {name: _stacked(rows, numbers, path.name) for name, rows in vectors.items()}


def _vector(value: Any, number: int, name: str) -> NDArray[np.float32] | None:
    if value is None or value == []:
        return None
    if not isinstance(value, list) or not all(_is_number(item) or item is None for item in value):
        raise ExplorerError(f"Line {number} of {name} has no list of numbers where its vector should stand.")
    try:
        exact = np.array([np.nan if item is None else item for item in value], np.float64)
    except OverflowError as error:
        raise ExplorerError(f"Line {number} of {name} has a number that is too large.") from error
    with np.errstate(over="ignore"):
        return exact.astype(np.float32)


def _stacked(rows: list[NDArray[np.float32] | None], numbers: list[int], name: str) -> NDArray[np.float32]:
    lengths = np.fromiter((0 if row is None else len(row) for row in rows), np.int64, len(rows))
    dim = common_length(lengths)
    if not dim:
        raise ExplorerError(f"{name} has no vector in any line.")
    vectors = np.full((len(rows), dim), np.nan, np.float32)
    for index, row in enumerate(rows):
        if row is not None:
            if len(row) != dim:
                raise ExplorerError(
                    f"Line {numbers[index]} of {name} has {len(row)} numbers where the others have {dim}."
                )
            vectors[index] = row
    return vectors


def _column(values: list[Any]) -> NDArray:
    """Numbers as an array of numbers, all else as texts."""
    if all(_is_number(value) for value in values):
        return np.array(values, np.float64 if any(isinstance(value, float) for value in values) else np.int64)
    column = np.empty(len(values), object)
    column[:] = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return column
