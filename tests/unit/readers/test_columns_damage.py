"""Files of columns, damaged or of any text: refused with a reason, or a table."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
from column_files import reader_of
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable
from explorer.readers.packed_labels import escape

CSV = b"".join(b"w\xc3\xa9%d,%d.5,-0.25,%d\n" % (i, i, 100 - i) for i in range(12))
JSONL = b"".join(json.dumps({"w": f"w{i}", "v": [i + 0.5, -0.25]}).encode() + b"\n" for i in range(12))


def parquet_bytes() -> bytes:
    sink = pa.BufferOutputStream()
    vectors = pa.array([[i + 0.5, -0.25] for i in range(12)], pa.list_(pa.float32()))
    pq.write_table(
        pa.table({"w": pa.array([f"w{i}" for i in range(12)]), "v": vectors}), sink, row_group_size=5
    )
    return sink.getvalue().to_pybytes()


JSON = b"[" + b",".join(JSONL.splitlines()) + b"]"
GOOD = {"rows.csv": CSV, "rows.jsonl": JSONL, "rows.json": JSON, "rows.parquet": parquet_bytes()}


def assert_sound_rows_hold(table: EmbeddingTable, text: bytes) -> None:
    """Lines that the damage spared, and that name one row only, are that row."""
    labels = list(table.labels)
    sound = {escape(line.split(b",")[0]): line for line in text.split(b"\n") if line in CSV.split(b"\n")[:-1]}
    for label, row in zip(labels, table.read().tolist(), strict=True):
        if label in sound and labels.count(label) == 1:
            assert row == [float(field) for field in sound[label].split(b",")[1:]]


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(sorted(GOOD)),
    st.sampled_from(["cut", "flip", "splice", "drop"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 7),
)
def test_that_damage_is_refused_or_leaves_a_table(tmp_path_factory, name, kind, first, second, bit):
    good = GOOD[name]
    low, high = sorted((int(first * (len(good) - 1)), int(second * (len(good) - 1))))
    flipped = bytearray(good)
    flipped[low] ^= 1 << bit
    damaged = {
        "cut": good[:low],
        "flip": bytes(flipped),
        "splice": good[:low] + good[high:] + good[low:high],
        "drop": good[:low] + good[high:],
    }[kind]
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(damaged)
    reader = reader_of(path)
    if reader is None:
        return
    try:
        for table in reader.read(path).tables:
            vectors = table.read()
            assert vectors.shape == (table.rows, table.dim)
            assert table.labels is None or len(table.labels) == table.rows
            if name == "rows.csv" and table.labels is not None:
                assert_sound_rows_hold(table, damaged)
    except ExplorerError:
        pass


@settings(max_examples=200, deadline=None)
@given(st.text('0123456789.,;\t\n\r"[]{}:eab- ', max_size=200))
def test_that_no_text_brings_it_down(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text(text, newline="")
    reader = reader_of(path)
    if reader is not None:
        try:
            for table in reader.read(path).tables:
                assert table.read().shape == (table.rows, table.dim)
        except ExplorerError:
            pass
