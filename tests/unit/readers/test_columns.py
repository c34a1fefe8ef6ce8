"""Files of columns: CSV, TSV, JSON Lines, Parquet."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers import delimited, json_file, json_lines, parquet_file
from explorer.readers.packed_labels import escape

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


# CSV and TSV


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_that_a_column_for_each_dimension_is_a_table(tmp_path, delimiter, end, bom):
    lines = ["word,count,d0,d1,d2", "king,3,0.5,-1,2e-1", "né,4,1,2,3"]
    table = one(tmp_path, bom + end.join(line.replace(",", delimiter) for line in lines) + end)
    assert_is(table, ["king", "né"], [[0.5, -1, np.float32(0.2)], [1, 2, 3]])
    assert table.metadata["count"].tolist() == [3, 4]
    assert (table.name, table.role, table.dtype) == ("vectors", Role.TOKEN, "float32")


def test_that_a_file_without_a_header_opens(tmp_path):
    assert_is(one(tmp_path, "king,0.5,1.5\nqueen,2,3\n"), ["king", "queen"], [[0.5, 1.5], [2, 3]])
    assert_is(one(tmp_path, "king,0.5,1.5"), ["king"], [[0.5, 1.5]])
    assert_is(one(tmp_path, "7,0.5,1.5\n3,2.5,3\n"), ["7", "3"], [[0.5, 1.5], [2.5, 3]])
    assert_is(one(tmp_path, "0.25,0.5,1.5\n1,2.5,3\n"), None, [[0.25, 0.5, 1.5], [1, 2.5, 3]])


def test_that_pandas_own_header_of_numbers_is_no_row(tmp_path):
    assert_is(one(tmp_path, ",0,1\nking,0.5,1.5\nqueen,2,3\n"), ["king", "queen"], [[0.5, 1.5], [2, 3]])
    assert_is(one(tmp_path, "0,1,2,3\n0.5,1.5,1,1\n2,3,4,5\n"), None, [[0.5, 1.5, 1, 1], [2, 3, 4, 5]])


def test_that_dimensions_are_put_in_the_order_of_their_numbers(tmp_path):
    table = one(tmp_path, "d10,d9,name,d8\n10,9,a,8\n1,2,b,3\n")
    assert_is(table, ["a", "b"], [[8, 9, 10], [3, 2, 1]])


def test_that_columns_without_numbers_are_dimensions_unless_they_say_otherwise(tmp_path):
    table = one(tmp_path, "id,title,x,y,z,year\n1,a,0.5,1,2,1999\n2,b,3,4,5,2001\n")
    assert_is(table, ["a", "b"], [[0.5, 1, 2], [3, 4, 5]]) if table.dim == 3 else pytest.fail(str(table))
    assert table.metadata["year"].tolist() == [1999, 2001]
    assert table.metadata["id"].tolist() == [1, 2]


def test_that_quoted_fields_hold_commas_quotes_and_line_ends(tmp_path):
    text = 'word,d0,d1\n"a, b",1,2\n"say ""hi""",3,4\n"two\nlines",5,6\n"",7,8\n'
    assert_is(one(tmp_path, text), ["a, b", 'say "hi"', "two\nlines", ""], [[1, 2], [3, 4], [5, 6], [7, 8]])


def test_that_a_quote_is_a_word_in_tsv(tmp_path):
    text = 'word\td0\td1\nking\t1\t2\n"\t3\t4\nqueen\t5\t6\n"\t7\t8\n'
    assert_is(one(tmp_path, text), ["king", '"', "queen", '"'], [[1, 2], [3, 4], [5, 6], [7, 8]])


def test_that_words_which_look_missing_are_words(tmp_path):
    text = "word,d0,d1\nNA,1,2\nnull,3,4\nnan,5,6\nNone,7,8\n"
    assert list(one(tmp_path, text).labels) == ["NA", "null", "nan", "None"]


@pytest.mark.parametrize("missing", ["", "NA", "nan", "null"])
def test_that_empty_cells_are_nan_and_their_row_stays(tmp_path, missing):
    path = tmp_path / "holes.csv"
    path.write_text(f"word,d0,d1\na,1,2\nb,{missing},{missing}\nc,{missing},6\n")
    file = opened(path)
    assert_is(file.tables[0], ["a", "b", "c"], [[1, 2], [NAN, NAN], [NAN, 6]])
    assert "1 of the 3 rows" in file.notes[0]


def test_that_written_out_vectors_are_read(tmp_path):
    text = 'text,embedding\n"a, b","[0.5, -1]"\nb,"[2 3e0]"\nc,\n'
    path = tmp_path / "lists.csv"
    path.write_text(text)
    file = opened(path)
    assert_is(file.tables[0], ["a, b", "b", "c"], [[0.5, -1], [2, 3], [NAN, NAN]])
    assert "1 of the 3 rows of embedding have no vector" in file.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word,d0,d1\na,1,2\nb,3\nc,5,6\n", "Line 3 of bad.csv has 2 fields where the others have 3"),
        ("word,d0,d1\na,1,2\nb,3,4,5\nc,5,6\n", "Line 3 of bad.csv has 4 fields"),
        ('word,d0,d1\n"a\nb",1,2\nb,3\nc,5,6\nd,7,8\n', "Line 4 of bad.csv has 2 fields"),
        ("word,d0,d1\na,1,2\nb,3,x\nc,5,6\nd,7,8\n", "Line 3 of bad.csv has “x” where a number"),
        ("word;d0;d1\na;0,5;1,5\nb;2,5;3,5\n", "Line 2 of bad.csv is written with decimal commas"),
        ("a;0,5;1,5\nb;2,5;3,5\n", "Line 1 of bad.csv is written with decimal commas"),
        ("word\td0\td1\na\t0.5\t1\nb\t2\t3,5\nc\t1\t2\n", "Line 3 of bad.csv is written with decimal commas"),
        (
            't,v\na,"[1, 2]"\nb,"[1, 2, 3]"\nc,"[1, 2]"\n',
            "Line 3 of bad.csv has 3 numbers where the others have 2",
        ),
        ('t,v\na,"[1, 2]"\nb,"[1, x]"\nc,"[1, 2]"\n', "Line 3 of bad.csv has no vector"),
    ],
)
def test_that_a_line_which_does_not_fit_is_named(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ExplorerError) as caught:
        opened(path)
    assert message in str(caught.value)


def test_that_a_bad_cell_far_into_a_file_is_named(tmp_path):
    lines = [f"w{i},{i}.5,0.25\n" for i in range(20_000)]
    lines[12_345] = "w,0.5,oops\n"
    path = tmp_path / "long.csv"
    path.write_text("word,d0,d1\n" + "".join(lines))
    with pytest.raises(ExplorerError, match=r"Line 12347 of long\.csv has “oops”"):
        opened(path)


def test_that_plus_signs_do_not_matter(tmp_path):
    assert_is(one(tmp_path, "word,d0,d1\na,+1,2\nb,3,+4e0\n"), ["a", "b"], [[1, 2], [3, 4]])


def test_that_bytes_which_are_not_utf8_are_escaped(tmp_path):
    assert list(one(tmp_path, b"word,d0,d1\ncaf\xe9,1,2\ncaf\xe8,3,4\n").labels) == ["caf\\xe9", "caf\\xe8"]


def test_that_two_series_of_columns_are_two_tables(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("word,in_0,in_1,out_0,out_1\na,1,2,3,4\nb,5,6,7,8\n")
    tables = opened(path).tables
    assert [(table.name, table.read().tolist()) for table in tables] == [
        ("in", [[1, 2], [5, 6]]),
        ("out", [[3, 4], [7, 8]]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "image,caption\n1.jpg,a dog\n2.jpg,a cat\n",
        "word,count\nthe,100\nof,90\n",
        "",
        "a\nb\n",
        "hello, world\n",
        "1,the,100\n2,of,90\n",
        '{"a": 1}',
    ],
)
def test_that_columns_without_vectors_are_left_to_others(tmp_path, text):
    path = tmp_path / "other.csv"
    path.write_text(text)
    assert reader_of(path) is None


# JSON Lines


def test_that_json_lines_open(tmp_path):
    text = '{"word": "king", "n": 1, "v": [0.5, 1]}\n\n{"v": [2, 3], "word": "n\\u00e9 ", "n": 2}\n'
    table = one(tmp_path, text, "rows.jsonl")
    assert_is(table, ["king", "né "], [[0.5, 1], [2, 3]])
    assert table.metadata["n"].tolist() == [1, 2]
    assert table.name == "v"


@pytest.mark.parametrize("indent", [None, 1])
def test_that_one_object_of_vectors_by_word_is_a_table(tmp_path, indent):
    text = json.dumps({"king": [0.5, 1], "né": [2, 3], "": [4, 5.25]}, indent=indent)
    table = one(tmp_path, text.replace('""', '"king"'), "words.json")
    assert_is(table, ["king", "né", "king"], [[0.5, 1], [2, 3], [4, 5.25]])


def test_that_a_line_without_a_vector_keeps_its_row(tmp_path):
    path = tmp_path / "holes.jsonl"
    path.write_text(
        '{"w":"a"}\n{"w":"b","v":[1,2]}\n{"w":"c","v":null}\n{"w":"d","v":[]}\n{"w":"e","v":[3,null]}\n'
    )
    file = opened(path)
    assert_is(file.tables[0], list("abcde"), [[NAN, NAN], [1, 2], [NAN, NAN], [NAN, NAN], [3, NAN]])
    assert "3 of the 5 rows of v have no vector" in file.notes[0]


def test_that_nan_and_mixed_values_are_read(tmp_path):
    text = '{"w":"a","v":[NaN,1]}\n{"w":7,"v":[-Infinity,2]}\n{"w":null,"v":[1,2.5]}\n'
    assert_is(one(tmp_path, text, "rows.jsonl"), ["a", "7", "#2"], [[NAN, 1], [-np.inf, 2], [1, 2.5]])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ['{"w":"a","v":[1,2]}', "", '{"w":"b","v":[1,2,3]}', '{"w":"c","v":[1,2]}'],
            "Line 3 of bad.jsonl has 3 numbers",
        ),
        (['{"w":"a","v":[1,2]}', '{"w":"b","v":[1,"x"]}'], "Line 2 of bad.jsonl has no list of numbers"),
        (['{"w":"a","v":[1,2]}'] * 60 + ['{"w":"b","v":'], "Line 61 of bad.jsonl is not JSON"),
        (['{"w":"a","v":[1,2]}'] * 60 + ["[1, 2]"], "Line 61 of bad.jsonl is not a JSON object"),
    ],
)
def test_that_a_json_line_which_does_not_fit_is_named(tmp_path, lines, message):
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ExplorerError) as caught:
        opened(path)
    assert message in str(caught.value)


def test_that_json_lines_may_have_a_number_for_each_dimension(tmp_path):
    lines = ['{"word":"a","d0":1,"d1":-2.5}', '{"word":"b","d0":null,"d1":4}', '{"word":"c","d0":5,"d1":6}']
    for text in ("\n".join(lines), "\n".join([*lines, '{"word":"d","d1":NaN,"d0":7}'])):
        table = one(tmp_path, text, "rows.jsonl")
        expected = [[1, -2.5], [NAN, 4], [5, 6], [7, NAN]][: table.rows]
        assert_is(table, list("abcd")[: table.rows], expected)
        assert table.name == "rows"


def test_that_a_line_without_one_of_its_dimensions_is_named(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"word":"a","d0":1,"d1":2}\n' * 60 + '{"word":"b","d0":"x","d1":2}\n')
    with pytest.raises(ExplorerError, match=r"Line 61 of bad\.jsonl"):
        opened(path)


@pytest.mark.parametrize("indent", [None, 1])
def test_that_an_array_of_json_records_has_a_row_for_each(tmp_path, indent):
    records = [{"id": "a,b", "v": [1, 2.5]}, {"id": "né", "v": None}, {"id": "c", "v": [3, 4]}]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(records, indent=indent))
    file = opened(path)
    assert_is(file.tables[0], ["a,b", "né", "c"], [[1, 2.5], [NAN, NAN], [3, 4]])
    assert "1 of the 3 rows" in file.notes[0]


@pytest.mark.parametrize("indent", [None, 1])
def test_that_an_array_of_json_vectors_has_a_row_for_each(tmp_path, indent):
    table = one(tmp_path, json.dumps([[1, 2.5], [3, -4], [5, 6e-3]], indent=indent), "rows.json")
    assert table.labels is None
    np.testing.assert_array_equal(table.read(), np.float32([[1, 2.5], [3, -4], [5, 6e-3]]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"w": "a", "n": 1}, {"w": "b", "n": 2}]', "is JSON, but holds no vectors"),
        ('[{"w": "a", "v": [1, 2]}, {"w": "b", "v": [1, 2', "no sound JSON"),
        ("[[1, 2], [3, 4]", "no sound JSON"),
        ("[[1, 2], [3], [4, 5]]", "Entry 2 of bad.json has 1 numbers where the others have 2"),
        ('[[1, 2], [3, "x"]]', "Entry 2 of bad.json has no list of numbers"),
        ('[[1, 2], {"v": [3, 4]}]', "Entry 2 of bad.json is of another kind"),
        ("[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]", None),
        ('["a", "b"]', None),
    ],
)
def test_that_a_json_array_is_never_read_as_columns(tmp_path, text, message):
    path = tmp_path / "bad.json"
    path.write_text(text)
    if message is None:
        assert reader_of(path) is None
        return
    with pytest.raises(ExplorerError) as caught:
        opened(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ['{"model_type": "clip", "sizes": {"a": [1, 2]}}', '{\n "a": [1, 2]\n}', '{"the": 0, "of": 1}\n']
)
def test_that_other_json_is_left_to_others(tmp_path, text):
    path = tmp_path / "config.json"
    path.write_text(text)
    assert reader_of(path) is None


# Parquet


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


def test_that_image_vectors_are_told_by_their_columns(tmp_path):
    path = parquet(tmp_path, image_path=pa.array(["a.jpg"]), v=pa.array([[1.0, 2]]))
    assert opened(path).tables[0].role is Role.IMAGES


# All of them, damaged

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
