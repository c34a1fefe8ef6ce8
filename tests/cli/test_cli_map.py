"""``map``: layouts as pictures, CSV and NPZ."""

from __future__ import annotations

import csv
import struct
from pathlib import Path

import numpy as np
import pytest


def pixels_of(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", data[16:24])


def test_that_npz_has_a_place_and_a_label_for_every_row(call, folder, tmp_path):
    out = tmp_path / "map.npz"
    said = call("map", folder / "faulty.npy", "-o", out, "--method", "pca", "--json")
    assert said.answer["rows"] == 12
    assert said.answer["placed"] == 9
    with np.load(out) as saved:
        assert saved["row"].dtype == np.int64
        assert saved["row"].tolist() == list(range(12))
        assert (saved["xy"].dtype, saved["xy"].shape) == (np.float32, (12, 2))
        assert np.flatnonzero(np.isnan(saved["xy"]).all(axis=1)).tolist() == [1, 2, 3]
        assert saved["xy"][5].tolist() == saved["xy"][7].tolist()
        assert saved["label"].tolist() == [f"#{row}" for row in range(12)]


def test_that_csv_has_the_same_columns(call, folder, tmp_path):
    assert call("map", folder / "glove.txt", "-o", tmp_path / "map.csv", "--method", "pca").status == 0
    assert call("map", folder / "glove.txt", "-o", tmp_path / "map.npz", "--method", "pca").status == 0
    with (tmp_path / "map.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["row", "x", "y", "label"]
    with np.load(tmp_path / "map.npz") as saved:
        assert [int(row) for row, *_ in rows] == saved["row"].tolist()
        assert np.array_equal(np.array([[x, y] for _, x, y, _ in rows], np.float32), saved["xy"])
        assert [label for *_, label in rows] == saved["label"].tolist()


def test_that_vectors_of_two_numbers_are_drawn_as_they_are(call, folder, tmp_path):
    said = call("map", folder / "plane.npy", "-o", tmp_path / "map.npz")
    assert said.out.startswith(f"{tmp_path / 'map.npz'}: 2 of 4 rows of plane, as they are\n")
    with np.load(tmp_path / "map.npz") as saved:
        assert saved["xy"][1:3].tolist() == [[1, 2], [3, 1]]
        assert np.isnan(saved["xy"][[0, 3]]).all(), "all zero, and not a number"


def test_that_a_seed_gives_the_same_umap_and_another_seed_another(call, folder, tmp_path):
    found = {}
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        path = tmp_path / f"{name}.npz"
        assert call("map", folder / "faulty.npy", "-o", path, "--seed", seed).status == 0
        with np.load(path) as saved:
            found[name] = saved["xy"]
    assert np.array_equal(found["a"], found["b"], equal_nan=True)
    assert not np.array_equal(found["a"], found["c"], equal_nan=True)
    assert np.flatnonzero(np.isnan(found["a"]).any(axis=1)).tolist() == [1, 2, 3]


@pytest.mark.parametrize("size", ["1600x1200", "641x480", "64x64", "333x1001"])
@pytest.mark.usefixtures("qapp")  # a later test's application must not be a lesser one
def test_that_a_picture_has_the_pixels_asked_for(call, folder, tmp_path, size):
    out = tmp_path / "map.png"
    said = call("map", folder / "glove.txt", "-o", out, "--method", "pca", "--size", size)
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith(f"{out}: 12 of 12 rows of ")
    assert "x".join(map(str, pixels_of(out))) == size


def test_that_what_cannot_be_written_is_said_before_any_work(call, folder, tmp_path):
    absent = folder / "absent.npy"
    assert "There is no folder" in call("map", absent, "-o", tmp_path / "no" / "map.png").sentence
    assert "cannot be used: " in call("map", absent, "-o", tmp_path / f"{'x' * 300}.png").sentence
    (tmp_path / "map.csv").mkdir()
    assert "is a folder; name a file." in call("map", absent, "-o", tmp_path / "map.csv").sentence
