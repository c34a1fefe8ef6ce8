"""Columns that say yes or no, a date or several texts describe rows, and never name them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from explorer.compute.files import mappable
from explorer.core.columns import Columns, Kind
from explorer.readers.registry import open_file

VECTORS = np.arange(12, dtype=np.float32).reshape(3, 4)


def columns_of(path: Path) -> Columns:
    table = open_file(path).tables[0]
    assert (table.rows, table.dim) == (3, 4)
    assert table.labels is not None
    assert list(table.labels) == ["a", "b", "c"]
    return Columns(mappable(table.metadata))


def test_that_truth_dates_and_lists_in_parquet_are_metadata(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(
        pa.table(
            {
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), 4),
                "label": [True, None, False],
                "seen": [date(2020, 1, 31), None, date(1969, 12, 31)],
                "made": pa.array([datetime(2020, 1, 1, 12, tzinfo=UTC)] * 3, pa.timestamp("ns", "UTC")),
                "tags": [["é, f", "g"], None, []],
                "word": ["a", "b", "c"],
            }
        ),
        path,
    )
    columns = columns_of(path)
    assert {name: column.kind for name, column in columns.items()} == {
        "label": Kind.BOOLEAN,
        "seen": Kind.DATE,
        "made": Kind.DATE,
        "tags": Kind.LIST,
    }
    assert np.array_equal(columns["label"].numbers, [1, np.nan, 0], equal_nan=True)
    assert columns["seen"].numbers[2] == -86400
    assert columns["made"].numbers[0] == datetime(2020, 1, 1, 12, tzinfo=UTC).timestamp()
    assert columns["tags"].items.names == ("é, f", "g")
    assert columns["tags"].items.starts.tolist() == [0, 2, 2, 2]


def test_that_truth_and_lists_in_json_lines_are_metadata(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    records = [
        {"word": word, "vector": vector, "good": good, "tags": tags}
        for word, vector, good, tags in zip(
            "abc", VECTORS.tolist(), (True, False, None), (["x"], ["é", "x"], []), strict=True
        )
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    columns = columns_of(path)
    assert columns["good"].kind is Kind.BOOLEAN
    assert np.array_equal(columns["good"].numbers, [1, 0, np.nan], equal_nan=True)
    assert columns["tags"].kind is Kind.LIST
    assert columns["tags"].categories.names == ("x", "é")
