"""Selected rows leave the window with all that is known of them, each under its own number."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from explorer.core.errors import Cancelled, ExplorerError
from explorer.core.labels import Labels
from explorer.export.rows import RowsToSave, write_rows
from explorer.readers.registry import open_file

LABELS = Labels.from_texts(["king", 'say "hi", you', None, "line\nend", "lone \udcff", "日本"], "test")
ROWS = np.array([1, 3, 4, 5])


@pytest.fixture
def data() -> RowsToSave:
    random = np.random.default_rng(5)
    positions = random.normal(size=(6, 2)).astype(np.float32)
    positions[3] = np.nan
    return RowsToSave(
        ROWS,
        LABELS,
        positions,
        {
            "year": np.arange(1990, 1996),
            "kind": np.array(list("abcdef")),
            "x": np.array([0.5] * 5 + [np.nan]),
        },
        random.normal(size=(4, 3)).astype(np.float32),
        np.array([0.25, np.nan, 0.5, 1], np.float32),
    )


def test_that_a_csv_brings_back_every_value_and_label(tmp_path: Path, data: RowsToSave) -> None:
    write_rows(tmp_path / "rows.csv", data)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as stream:
        head, *lines = csv.reader(stream)
    assert head == ["row", "label", "x", "y", "score", "year", "kind", "x (column)", "v0", "v1", "v2"]
    assert [line[0] for line in lines] == ["1", "3", "4", "5"]
    assert [line[1] for line in lines] == ['say "hi", you', "line\nend", "lone \\udcff", "日本"]
    assert [line[5:7] for line in lines] == [["1991", "b"], ["1993", "d"], ["1994", "e"], ["1995", "f"]]
    assert lines[1][2:5] == ["", "", ""]
    assert lines[3][7] == ""
    assert data.vectors is not None
    assert np.array_equal(np.array([line[8:] for line in lines], np.float32), data.vectors)


def test_that_a_parquet_file_with_vectors_is_a_table_that_opens(tmp_path: Path, data: RowsToSave) -> None:
    path = tmp_path / "rows.parquet"
    write_rows(path, data)
    stored = pq.read_table(path)
    assert stored.column_names == ["row", "label", "x", "y", "score", "year", "kind", "x (column)", "vector"]
    assert stored["row"].to_pylist() == ROWS.tolist()
    table = open_file(path).tables[0]
    assert (table.rows, table.dim) == (4, 3)
    assert table.labels is not None
    assert table.labels[3] == "日本"
    assert data.vectors is not None
    assert np.array_equal(np.asarray(table.read()), data.vectors)


def test_that_an_npz_file_holds_arrays_of_the_rows_alone(tmp_path: Path, data: RowsToSave) -> None:
    path = tmp_path / "rows.npz"
    write_rows(path, data)
    with np.load(path) as stored:
        assert stored["row"].tolist() == ROWS.tolist()
        assert stored["label"].tolist() == ['say "hi", you', "line\nend", "lone \\udcff", "日本"]
        assert data.positions is not None
        assert np.array_equal(stored["xy"], data.positions[ROWS], equal_nan=True)
        assert stored["year"].tolist() == [1991, 1993, 1994, 1995]
        assert np.array_equal(stored["vector"], data.vectors)


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.npz"])
def test_that_a_cancelled_export_leaves_the_old_file(tmp_path: Path, data: RowsToSave, name: str) -> None:
    path = tmp_path / name
    path.write_text("old")

    def cancel(_fraction: float, _stage: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        write_rows(path, data, cancel)
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert path.read_text() == "old"


def test_that_a_missing_folder_is_told_in_words(tmp_path: Path, data: RowsToSave) -> None:
    with pytest.raises(ExplorerError, match="does not exist"):
        write_rows(tmp_path / "nowhere" / "rows.parquet", data)


def test_that_rows_without_labels_or_places_have_their_numbers(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.csv", RowsToSave(np.array([2, 40_000])))
    assert (tmp_path / "rows.csv").read_text().split() == ["row,label", "2,#2", "40000,#40000"]
