"""Picture files that a table's names or a column speak of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.core.labels import Labels
from explorer.readers.table_pictures import pictures_of

NAMES = ["a.jpg", "b.PNG", "sub/c.webp"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / "images" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "images" / name).touch()
    (tmp_path / "vectors.npy").touch()
    return tmp_path / "vectors.npy"


def test_that_labels_that_name_files_beside_the_table_are_its_pictures(table):
    found = pictures_of(table, Labels.from_texts(NAMES, "names"), {}, 3)
    assert [found.file(row) for row in range(3)] == [table.parent / "images" / name for name in NAMES]
    assert (found.rows, found.captions(0), found.thumbnail(0), found.reason(0)) == (3, (), None, "")


def test_that_a_column_can_name_them_and_a_row_without_has_none(table):
    labels = Labels.from_texts(["one", "two", "three"], "names")
    column = np.array([str(table.parent / "images" / "a.jpg"), "", "b.PNG"], object)
    found = pictures_of(table, labels, {"score": np.arange(3), "file_name": column}, 3)
    assert (found.picture(0), found.picture(1), found.file(1)) == (0, None, None)
    assert found.file(0) == table.parent / "images" / "a.jpg"


def test_that_words_and_files_that_are_nowhere_are_no_pictures(table):
    assert pictures_of(table, Labels.from_texts(["king", "queen", "a.jpg"], "words"), {}, 3) is None
    assert pictures_of(table, Labels.from_texts(["x.jpg", "y.jpg", None], "names"), {}, 3) is None
    assert pictures_of(table, None, {"path": np.array([1.0, 2.0, 3.0])}, 3) is None
    assert pictures_of(table, None, {}, 0) is None
