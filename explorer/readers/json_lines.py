"""JSON Lines: an object a row, with the vector as one value, or one value for each dimension."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as arrow_json
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile
from explorer.readers.arrow_lists import as_column, fill_rows, list_lengths
from explorer.readers.column_plan import Plan, common_length
from explorer.readers.json_records import (
    Columns,
    described_by,
    opened_records,
    plan_records,
    read_records,
)
from explorer.readers.packed_labels import escape
from explorer.readers.vector_blocks import whole_lines
from explorer.readers.vector_lines import BOM
from explorer.readers.word_vectors import sample_lines

_RECORDS = 50


def sniff(path: Path, head: bytes) -> bool:
    """Whether the first lines are objects that hold vectors."""
    if not head.removeprefix(BOM).lstrip().startswith(b"{") or b"\0" in head:
        return False
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
    plan = _plan(path)
    if plan is None:
        raise ExplorerError(f"{path.name} has no vectors in its first lines.")
    columns = _by_arrow(path, plan)
    if columns is None:
        # Says which line does not fit, or reads what Arrow is too strict for.
        records = ((number, _object(line, number, path.name)) for number, line in _lines(path))
        columns = read_records(records, plan, path.name, "Line")
    return opened_records(path, "JSON Lines", plan, columns)


def _plan(path: Path) -> Plan | None:
    """What the keys of the first lines are for; ExplorerError where a line is no object."""
    lines = sample_lines(path).removeprefix(BOM).split(b"\n")[:_RECORDS]
    return plan_records(
        (_object(line, number, path.name) for number, line in enumerate(lines, 1) if line.strip()),
        path.stem,
    )


def _object(line: bytes, number: int, name: str) -> dict[str, Any]:
    try:
        value = json.loads(escape(line))
    except (ValueError, RecursionError) as error:
        raise ExplorerError(f"Line {number} of {name} is not JSON.", detail=str(error)) from error
    if not isinstance(value, dict):
        raise ExplorerError(f"Line {number} of {name} is not a JSON object.")
    return value


def _by_arrow(path: Path, plan: Plan) -> Columns | None:
    """Columns and matrices, fast; None where the lines are not all alike."""
    others = described_by(plan)
    schema = pa.schema(
        (key, pa.float32() if len(keys) > 1 else pa.list_(pa.float32()))
        for keys in plan.tables.values()
        for key in keys
    )
    try:
        table = arrow_json.read_json(
            path,
            arrow_json.ReadOptions(block_size=1 << 24),
            arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer"),
        )
    except (pa.ArrowException, OSError):
        return None
    if not set(others) <= set(table.column_names) or _count_rows(path) != table.num_rows:
        return None
    matrices = {}
    for name, keys in plan.tables.items():
        matrix = _spread(table, keys) if len(keys) > 1 else _listed(table.column(keys[0]))
        if matrix is None:
            return None
        matrices[name] = matrix
    return {name: as_column(table.column(name)) for name in others}, matrices


def _spread(table: pa.Table, keys: tuple[str, ...]) -> NDArray[np.float32]:
    vectors = np.empty((table.num_rows, len(keys)), np.float32)
    for axis, key in enumerate(keys):
        vectors[:, axis] = table.column(key).to_numpy()
    return vectors


def _listed(column: pa.ChunkedArray) -> NDArray[np.float32] | None:
    lists = column.combine_chunks()
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    lengths = list_lengths(lists)
    dim = common_length(lengths)
    if not dim or np.any((lengths != dim) & (lengths != 0)):
        return None
    vectors = np.empty((len(lengths), dim), np.float32)
    fill_rows(lists, vectors)
    return vectors


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
