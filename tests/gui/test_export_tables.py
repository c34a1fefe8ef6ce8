"""Layouts and neighbours as files that other programs read back without loss."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.export.tables import write_layout_csv, write_layout_npz, write_neighbours_csv

ROWS = np.array([0, 1, 7], np.int64)
XY = np.array([[0.1, -2.5e-8], [np.nan, np.nan], [3e38, 16777217]], np.float32)
LABELS = ['=HYPERLINK("x")', 'a,\n"b"', "\udcff é"]


def read(path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_that_a_layout_comes_back_from_csv_bit_for_bit(tmp_path):
    write_layout_csv(tmp_path / "map.csv", ROWS, XY, LABELS)
    header, *rows = read(tmp_path / "map.csv")
    assert header == ["row", "x", "y", "label"]
    assert [row[0] for row in rows] == ["0", "1", "7"]
    back = np.array([[float(v) if v else np.nan for v in row[1:3]] for row in rows], np.float32)
    assert np.array_equal(back, XY, equal_nan=True)
    assert rows[1][1:3] == ["", ""]
    assert [row[3] for row in rows] == ['=HYPERLINK("x")', 'a,\n"b"', "\\udcff é"]


def test_that_a_layout_comes_back_from_npz(tmp_path):
    write_layout_npz(tmp_path / "map.npz", ROWS, XY, LABELS)
    with np.load(tmp_path / "map.npz", allow_pickle=False) as file:
        assert sorted(file) == ["label", "row", "xy"]
        assert (file["row"].dtype, file["xy"].dtype, file["label"].dtype.kind) == (np.int64, np.float32, "U")
        assert np.array_equal(file["row"], ROWS)
        assert np.array_equal(file["xy"], XY, equal_nan=True)
        assert file["label"].tolist() == ['=HYPERLINK("x")', 'a,\n"b"', "\\udcff é"]


def test_that_a_layout_of_three_dimensions_has_three_columns(tmp_path):
    xyz = np.array([[1, 2, 3], [np.nan] * 3, [4, 5, 6]], np.float32)
    write_layout_csv(tmp_path / "map.csv", ROWS, xyz, LABELS)
    write_layout_npz(tmp_path / "map.npz", ROWS, xyz, LABELS)
    header, *rows = read(tmp_path / "map.csv")
    assert header == ["row", "x", "y", "z", "label"]
    assert rows[2][:4] == ["7", "4.0", "5.0", "6.0"]
    with np.load(tmp_path / "map.npz") as file:
        assert np.array_equal(file["xy"], xyz, equal_nan=True)


def test_that_an_empty_layout_has_its_columns(tmp_path):
    write_layout_csv(tmp_path / "map.csv", ROWS[:0], XY[:0], [])
    write_layout_npz(tmp_path / "map.npz", ROWS[:0], XY[:0], [])
    assert read(tmp_path / "map.csv") == [["row", "x", "y", "label"]]
    with np.load(tmp_path / "map.npz") as file:
        assert file["xy"].shape == (0, 2)
        assert file["label"].shape == (0,)


def test_that_neighbours_are_ranked_from_one(tmp_path):
    scores = np.array([0.9, -0.25, np.nan], np.float32)
    write_neighbours_csv(tmp_path / "n.csv", ROWS, LABELS, scores, [5.25, 1.0, 0.0])
    header, *rows = read(tmp_path / "n.csv")
    assert header == ["rank", "row", "label", "score", "above"]
    assert [row[:2] for row in rows] == [["1", "0"], ["2", "1"], ["3", "7"]]
    assert [row[3] for row in rows] == ["0.9", "-0.25", ""]
    assert rows[0][4] == "5.2500"
    write_neighbours_csv(tmp_path / "n.csv", ROWS, LABELS, scores)
    assert read(tmp_path / "n.csv")[0] == ["rank", "row", "label", "score"]


@pytest.mark.parametrize("write", [write_layout_csv, write_layout_npz])
def test_that_columns_of_unequal_length_are_refused_and_leave_no_file(tmp_path, write):
    with pytest.raises(ValueError, match=r"argument|labels"):
        write(tmp_path / "map", ROWS, XY, LABELS[:2])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [write_layout_csv, write_layout_npz])
def test_that_a_missing_folder_is_said(tmp_path, write):
    with pytest.raises(ExplorerError, match="does not exist"):
        write(tmp_path / "missing" / "map", ROWS, XY, LABELS)


@settings(max_examples=60, deadline=None)
@given(labels=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=8))
def test_that_any_label_survives(tmp_path_factory, labels):
    folder = tmp_path_factory.mktemp("tables")
    rows, xy = np.arange(len(labels)), np.zeros((len(labels), 2), np.float32)
    write_layout_csv(folder / "map.csv", rows, xy, labels)
    assert [row[3] for row in read(folder / "map.csv")[1:]] == labels
