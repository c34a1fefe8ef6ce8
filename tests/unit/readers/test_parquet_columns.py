"""Tables in columns: Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from column_files import NAN, assert_is, opened

from explorer.core.errors import ExplorerError
from explorer.core.table import Role


def parquet(tmp_path: Path, **arrays: pa.Array) -> Path:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(arrays), path, row_group_size=2)
    return path


VALUES = [[0.5, 1, 2], [3, 4, 5], [6, 7, 8.25]]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
@pytest.mark.parametrize("length", [-1, 3])
def test_that_lists_of_any_float_are_a_table_in_their_type(tmp_path, kind, length):
    lists = pa.array([[np.float16(x) for x in row] for row in VALUES], pa.list_(kind, length))
    (table,) = opened(
        parquet(tmp_path, word=pa.array(["a", "né", None]), vector=lists, n=pa.array([1, None, 3]))
    ).tables
    assert_is(table, ["a", "né", "#2"], VALUES)
    assert table.dtype == {"halffloat": "float16", "float": "float32", "double": "float64"}[str(kind)]
    assert table.read().dtype == np.dtype(table.dtype)
    np.testing.assert_array_equal(table.metadata["n"], [1, NAN, 3])


def test_that_rows_without_a_vector_are_nan(tmp_path):
    for kind in (pa.list_(pa.float32()), pa.list_(pa.float32(), 2), pa.large_list(pa.float64())):
        lists = pa.array([None, [1, 2], [3, None], None, [5, 6]], kind)
        (table,) = opened(parquet(tmp_path, id=pa.array(range(5)), v=lists)).tables
        assert_is(table, list("01234"), [[NAN, NAN], [1, 2], [3, NAN], [NAN, NAN], [5, 6]])


def test_that_a_parquet_column_for_each_dimension_is_a_table(tmp_path):
    path = parquet(
        tmp_path,
        title=pa.array(["a", "b"]).dictionary_encode(),
        x0=pa.array([1.0, None]),
        x1=pa.array([3.0, 4]),
    )
    assert_is(opened(path).tables[0], ["a", "b"], [[1, 3], [NAN, 4]])


def test_that_small_integers_keep_their_type(tmp_path):
    (table,) = opened(parquet(tmp_path, v=pa.array([[1, 2], [-3, 4]], pa.list_(pa.int8())))).tables
    assert table.dtype == "int8"
    assert_is(table, None, [[1, 2], [-3, 4]])


def test_that_ragged_lists_are_refused_with_their_row(tmp_path):
    path = parquet(tmp_path, v=pa.array([[1.0, 2], [3, 4], [5, 6], [7, 8, 9]]))
    (table,) = opened(path).tables
    with pytest.raises(ExplorerError, match=r"Row 3 of v in rows\.parquet has 3 numbers"):
        table.read()


def test_that_parquet_without_vectors_says_so(tmp_path):
    with pytest.raises(ExplorerError, match="no column of vectors"):
        opened(parquet(tmp_path, word=pa.array(["a"]), n=pa.array([1])))


def test_that_parquet_without_rows_says_so(tmp_path):
    with pytest.raises(ExplorerError, match="is empty: its columns have no rows"):
        opened(parquet(tmp_path, v=pa.array([], pa.list_(pa.float32(), 4))))


def test_that_image_vectors_are_told_by_their_columns(tmp_path):
    path = parquet(tmp_path, image_path=pa.array(["a.jpg"]), v=pa.array([[1.0, 2]]))
    assert opened(path).tables[0].role is Role.IMAGES
