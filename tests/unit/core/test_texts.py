"""A metadata column of texts costs what its texts are long, and is read as any other column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from explorer.core.columns import Column, Kind
from explorer.core.texts import Texts, texts_of
from explorer.export.rows import RowsToSave, write_rows

LONG = "ä" * 10_000


def test_that_one_long_text_does_not_widen_every_row() -> None:
    texts = texts_of([LONG, *["short"] * 9_999])
    assert isinstance(texts, Texts)
    assert texts.blob.nbytes + texts.offsets.nbytes < 200_000
    assert texts[0] == LONG
    assert texts[np.int64(9_999)] == "short"


def test_that_texts_of_like_lengths_stay_an_array() -> None:
    texts = texts_of(["red", "green", ""])
    assert isinstance(texts, np.ndarray)
    assert texts.tolist() == ["red", "green", ""]
    assert len(texts_of([])) == 0


def test_that_picked_rows_keep_their_texts() -> None:
    texts = Texts.of(["a", "", "\ud800", "日本"])
    assert texts[np.array([3, 0])].tolist() == ["日本", "a"]
    assert texts[2] == "\\ud800"
    assert texts[np.empty(0, np.int64)].tolist() == []


def test_that_packed_columns_are_recognised_as_others_are() -> None:
    wide = "2020-01-01" + " " * 500
    for values, kind in (
        (["1", "2.5", "", "1e3"], Kind.NUMBER),
        (["yes", "no", "None", "yes"], Kind.BOOLEAN),
        ([wide, "2021-05", "", "1999-12-31"], Kind.DATE),
        (['["a", "b"]', "[]", '["b"]', ""], Kind.LIST),
        (["red", LONG, "red", "red"], Kind.CATEGORY),
    ):
        packed, plain = Column("c", Texts.of(values)), Column("c", np.array(values))
        assert packed.kind is plain.kind is kind
        assert packed.texts.to_pylist() == plain.texts.to_pylist()
        assert packed.categories.names == plain.categories.names
        assert np.array_equal(packed.categories.codes, plain.categories.codes)
    assert Column("c", Texts.of(["1", "", "3"])).numbers[[0, 2]].tolist() == [1.0, 3.0]


def test_that_packed_columns_are_saved_in_every_format(tmp_path: Path) -> None:
    rows = np.array([0, 2])
    data = RowsToSave(rows, metadata={"text": Texts.of([LONG, "no", ""])})
    for name in ("rows.csv", "rows.parquet", "rows.npz"):
        write_rows(tmp_path / name, data)
    assert pq.read_table(tmp_path / "rows.parquet")["text"].to_pylist() == [LONG, ""]
    assert f"0,#0,{LONG}\r\n2,#2,\r\n" in (tmp_path / "rows.csv").read_bytes().decode()
    with np.load(tmp_path / "rows.npz") as saved:
        assert Texts(saved["text.utf8"], saved["text.offsets"]).tolist() == [LONG, ""]
        assert saved["row"].tolist() == [0, 2]
