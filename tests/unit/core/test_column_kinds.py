"""Metadata columns are told apart by their values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.core.columns import Categories, Column, Columns, Kind, date_text, label_column
from explorer.core.labels import Labels


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.array([1, 2, 3]), Kind.NUMBER),
        (np.array([1.5, np.nan], np.float32), Kind.NUMBER),
        (np.array([True, False]), Kind.BOOLEAN),
        (np.array(["2020-01-01", "NaT"], "datetime64[D]"), Kind.DATE),
        (np.array(["1", "2.5", "", "1e3", "-4"]), Kind.NUMBER),
        (np.array(["1990", "2001", "None"]), Kind.NUMBER),
        (np.array(["1_000", "2_000"]), Kind.CATEGORY),
        (np.array(["1", "2", "many"]), Kind.CATEGORY),
        (np.array(["true", "False", "", "TRUE"]), Kind.BOOLEAN),
        (np.array(["yes", "no"]), Kind.BOOLEAN),
        (np.array(["2020-01-02", "2021-03-04", "None"]), Kind.DATE),
        (np.array(["2020-01", "2021-03"]), Kind.DATE),
        (np.array(["2020-01-02 10:00:00", "2020-01-02T12:30"]), Kind.DATE),
        (np.array(["2021-02-30", "2021-02-28"]), Kind.CATEGORY),
        (np.array(["noun", "verb", "noun"]), Kind.CATEGORY),
        (np.array(["['a', 'b']", "[]", '["c"]']), Kind.LIST),
        (np.array(["Action|Comedy", "Comedy", "Action", "Action|Drama", "Drama|Comedy"]), Kind.LIST),
        (np.array([f"what is said in sentence {number}; and more" for number in range(60)]), Kind.TEXT),
        (np.array(["", "None", "nan"]), Kind.CATEGORY),
        (np.array([], "<U1"), Kind.CATEGORY),
    ],
)
def test_that_a_columns_kind_is_told_from_its_values(values: np.ndarray, kind: Kind) -> None:
    assert Column("column", values).kind is kind


def test_that_one_value_out_of_many_makes_a_column_of_numbers_one_of_names() -> None:
    values = np.array([str(number) for number in range(50_000)])
    assert Column("column", values).kind is Kind.NUMBER
    values[31_337] = "x"
    assert Column("column", values).kind is Kind.TEXT


def test_that_numbers_dates_and_truth_are_read_and_missing_ones_are_nan() -> None:
    assert np.array_equal(
        Column("x", np.array(["1", " 2.5 ", "none", "+3", "1e3"])).numbers,
        [1, 2.5, np.nan, 3, 1000],
        equal_nan=True,
    )
    dates = Column("x", np.array(["1970-01-02", "", "1969-12-31", "1970-01-01 00:01"])).numbers
    assert np.array_equal(dates, [86400, np.nan, -86400, 60], equal_nan=True)
    zoned = Column("x", np.array(["1970-01-01T00:00:00Z", "1970-01-01T02:00:00+02:00", "None"])).numbers
    assert np.array_equal(zoned, [0, 0, np.nan], equal_nan=True)
    assert np.array_equal(Column("x", np.array(["yes", "", "NO"])).numbers, [1, np.nan, 0], equal_nan=True)


def test_that_categories_are_counted_the_commonest_first() -> None:
    found = Column("x", np.array(["b", "a", "c", "a", "", "a", "c"])).categories
    assert found.names == ("a", "c", "b")
    assert found.counts.tolist() == [3, 2, 1]
    assert found.codes.tolist() == [2, 0, 1, 0, -1, 0, 1]


def test_that_lists_keep_commas_and_quotation_marks_inside_their_items() -> None:
    cells = [
        "['a', 'Paris, France']",
        '["a"]',
        "[]",
        '["it\'s", "a"]',
        "[1, 2]",
        '[null, "a", "x\\"y"]',
        "[None, 'a']",
    ]
    items = Column("x", np.array(cells)).items
    rows = [
        [items.names[code] for code in items.codes[items.starts[row] : items.starts[row + 1]]]
        for row in range(len(cells))
    ]
    assert rows == [["a", "Paris, France"], ["a"], [], ["it's", "a"], ["1", "2"], ["a", 'x"y'], ["a"]]
    assert items.rows_with(np.array([name == "a" for name in items.names])).tolist() == [
        True,
        True,
        False,
        True,
        False,
        True,
        True,
    ]
    deep = Column("x", np.array(["[" * 5000 + "]" * 5000] * 2))
    assert len(deep.items.names) == 1, "a list within lists without end is read as it stands"


def test_that_dates_are_known_from_the_first_year_on() -> None:
    column = Column("x", np.array(["0001-01-01", "1066-10-14", "", "2020-02-29"]))
    assert column.kind is Kind.DATE
    assert [date_text(value) for value in column.numbers[[1, 3]]] == ["1066-10-14", "2020-02-29"]
    assert np.isnan(column.numbers[2])


def test_that_a_list_is_coloured_by_its_first_item() -> None:
    column = Column("x", np.array(["['b', 'a']", "[]", "['a']", "['b']"]))
    assert column.categories.names == ("b", "a")
    assert column.categories.codes.tolist() == [0, -1, 1, 0]


def test_that_few_whole_numbers_stand_for_categories() -> None:
    assert Column("digit", np.arange(100) % 10).is_coded
    assert not Column("year", np.arange(1900, 2000)).is_coded
    assert not Column("share", np.array([0.5, 1.0])).is_coded
    assert not Column("far apart", np.array([0.0, 1e300])).is_coded
    assert not Column("endless", np.array([np.inf, 1.0])).is_coded


@given(st.lists(st.integers(-1, 6), max_size=60))
def test_that_every_row_keeps_its_category(codes: list[int]) -> None:
    names = tuple("abcdefg")
    found = Categories.of(np.array(codes, np.int64), names)
    assert [None if code < 0 else found.names[code] for code in found.codes] == [
        None if code < 0 else names[code] for code in codes
    ]
    assert found.counts.tolist() == sorted(found.counts.tolist(), reverse=True)
    assert [int((found.codes == code).sum()) for code in range(len(found.names))] == found.counts.tolist()


def test_that_labels_are_a_column_whose_missing_ones_are_missing() -> None:
    labels = Labels.from_texts(["king", None, "日本", ""], "here", rows=5)
    assert label_column(labels).texts.to_pylist() == ["king", None, "日本", "", None]


def test_that_dates_beyond_the_calendar_are_no_error() -> None:
    assert date_text(1e18) == "?"
    assert date_text(0) == "1970-01-01"
    assert date_text(3660) == "1970-01-01 01:01"


def test_that_columns_are_recognised_once() -> None:
    columns = Columns({"kind": np.array(["a", "b"])})
    assert columns["kind"] is columns["kind"]
    assert list(columns) == ["kind"]
