"""Tables in columns: CSV and TSV."""

from __future__ import annotations

import numpy as np
import pytest
from column_files import NAN, assert_is, one, opened, reader_of

from explorer.core.errors import ExplorerError
from explorer.core.table import Role


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
