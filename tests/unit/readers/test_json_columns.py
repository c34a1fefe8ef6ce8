"""Tables in columns: JSON Lines, arrays and objects."""

from __future__ import annotations

import json

import numpy as np
import pytest
from column_files import NAN, assert_is, one, opened, reader_of

from explorer.core.errors import ExplorerError


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
