"""Files whose columns are to be read, opened."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from explorer.core.table import EmbeddingTable, OpenedFile
from explorer.readers import delimited, json_file, json_lines, parquet_file

NAN = float("nan")


def reader_of(path: Path):
    head = path.read_bytes()[:4096]
    claiming = [each for each in (parquet_file, json_file, json_lines, delimited) if each.sniff(path, head)]
    # One line of words and vectors could be a row of several vectors: they are asked in this order.
    assert len(claiming) < 2 or claiming == [json_file, json_lines]
    return claiming[0] if claiming else None


def opened(path: Path) -> OpenedFile:
    reader = reader_of(path)
    assert reader is not None
    return reader.read(path)


def one(tmp_path: Path, text: str | bytes, name: str = "vectors.csv") -> EmbeddingTable:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    (table,) = opened(path).tables
    assert table.read().shape == (table.rows, table.dim)
    return table


def assert_is(table: EmbeddingTable, labels: list[str] | None, rows: list[list[float]]) -> None:
    np.testing.assert_array_equal(table.read(), np.array(rows, table.read().dtype))
    assert (None if table.labels is None else list(table.labels)) == labels
