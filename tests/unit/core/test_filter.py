"""Conditions: what they mean, which rows they hold for, what is said of those that mean nothing."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine import slowness

from explorer.core.columns import Column, Columns, label_column
from explorer.core.filter_completion import completions
from explorer.core.filter_query import EXAMPLES, FilterError, as_typed, columns_in, parse_filter, tokens_of
from explorer.core.filter_rows import rows_fitting
from explorer.core.labels import Labels

LABELS = ["king", "queen", "New York", "running", None, "and", "Ring/ing", "dog"]
COLUMNS: dict[str, Column] = {
    "label": label_column(Labels.from_texts(LABELS, "test")),
    **Columns(
        {
            "year": np.array([1990, 1985, 2001, 1990, 1970, 2020, 1999, 1990]),
            "kind": np.array(["noun", "noun", "name", "verb", "", "or", "Noun", "noun"]),
            "release date": np.array(
                [
                    "2020-01-31",
                    "2020-02-01",
                    "2019-12-31",
                    "2020-05-05",
                    "",
                    "2021-01-01",
                    "2020-12-31",
                    "2020-06-01",
                ]
            ),
            "good": np.array(["yes", "no", "yes", "", "yes", "no", "no", "yes"]),
            "tags": np.array(["a|b", "b", "a|c", "c", "a|b", "b", "c|a", "b|c"]),
            "caption": np.array(
                [f"A picture, the {number}th, of a very long-winded Dog no {number}" for number in range(8)]
            ),
            "score": np.array([0.5, np.nan, 0.7, -0.2, 0.1, np.nan, 0.9, 0.3]),
        }
    ),
}


def fitting(text: str) -> list[int]:
    condition = parse_filter(text)
    assert condition is not None
    return np.flatnonzero(rows_fitting(condition, COLUMNS, len(LABELS))).tolist()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("year >= 1990 and kind = noun", [0, 7]),
        ("year >= 1990 AND KIND = noun", [0, 7]),
        ("kind = NOUN and year > 1988", [0, 6, 7]),
        ("kind = noun", [0, 1, 7]),
        ("kind != noun", [2, 3, 4, 5, 6]),
        ("kind == verb", [3]),
        ('kind = "or"', [5]),
        ("kind in (verb, name)", [2, 3]),
        ("not kind in (verb, name)", [0, 1, 4, 5, 6, 7]),
        ("kind is missing", [4]),
        ("kind is known and year < 1986", [1]),
        ("kind is not missing and year < 1986", [1]),
        ("score > 0.5", [2, 6]),
        ("score > -1", [0, 2, 3, 4, 6, 7]),
        ("score is missing", [1, 5]),
        ("score = .5", [0]),
        ("score < -1e-1", [3]),
        ("label ~ /ing$/", [0, 3, 6]),
        ("label !~ /ing$/", [1, 2, 4, 5, 7]),
        ("label ~ ing$", [0, 3, 6]),
        ("label ~ /^new/i", [2]),
        ("label ~ /^new/", []),
        ("/ing$/", [0, 3, 6]),
        (r"/g\/i/", [6]),
        ('"new york"', [2]),
        ("'new york'", [2]),
        ('label = "new york"', [2]),
        ("new york", [2]),
        ("new and york", [2]),
        ("RING", [6]),
        ('"and"', [5]),
        ("dog year > 1980", [7]),
        ("dog or king", [0, 7]),
        ("dog or king and year > 2000", [7]),
        ("(dog or king) and year > 2000", []),
        ("not (dog or king) and year = 1990", [3]),
        ("not not dog", [7]),
        ("caption contains dog", list(range(8))),
        ('caption contains "dog no 3"', [3]),
        ('"release date" < 2020-01-31', [2]),
        ('"release date" <= 2020-01-31', [0, 2]),
        ('"release date" = 2020-01', [0]),
        ('"release date" = 2020', [0, 1, 3, 6, 7]),
        ('"release date" > 2020', [5]),
        ('"release date" >= 2020-12', [5, 6]),
        ('"release date" is missing', [4]),
        ("good = true", [0, 2, 4, 7]),
        ("good != yes", [1, 3, 5, 6]),
        ("tags = a", [0, 2, 4, 6]),
        ("tags != a", [1, 3, 5, 7]),
        ("tags in (a, c)", [0, 2, 3, 4, 6, 7]),
        ('tags contains "a|b"', [0, 4]),
        ("year=1990", [0, 3, 7]),
        ("year>1990and", None),
    ],
)
def test_that_a_condition_holds_for_the_right_rows(text: str, rows: list[int] | None) -> None:
    if rows is None:
        with pytest.raises(FilterError):
            fitting(text)
    else:
        assert fitting(text) == rows


@pytest.mark.parametrize(
    ("text", "words", "start"),
    [
        ("year >=", "Position 8: a value is missing after >=.", 7),
        ('kind = "no', "this quotation mark is not closed", 7),
        ("(year > 3", "this bracket is not closed", 0),
        ("year > 3)", "Position 9: ) does not belong here.", 8),
        ("year > abc", "abc is not a number, as year is.", 7),
        ("kynd = noun", "There is no column kynd. Did you mean kind?", 0),
        ("zzzzz = 1", "There is no column zzzzz.", 0),
        ("kind = nown", "No row has nown as its kind. Did you mean noun?", 7),
        ('kind = ""', 'No row has "" as its kind. For rows without one write: kind is missing.', 7),
        ("kind > 3", "neither less nor more", 7),
        ("good = 7", "good is yes or no; 7 is neither", 7),
        ('"release date" > soon', "soon is not a date. Write a year", 17),
        ('"release date" > 2021-02-30', "2021-02-30 is not a date", 17),
        ("label ~ /(?<=a)b/", "Lookaround and backreferences are not known", 8),
        (r"label ~ /(a)\1/", "regular expression", 8),
        ("label ~ /(/", 'no regular expression that can be used: missing ) in "(".', 8),
        ("label ~ /ing", "this pattern is not closed", 8),
        ("year and", "a condition is missing", 8),
        ("year or or 3", "or stands alone", 8),
        ("and", "and stands alone", 0),
        ("not", "a condition is missing", 3),
        ("= 3", "= stands alone", 0),
        ("kind in noun", "a list in brackets", 8),
        ("kind in (noun", "this list is not closed", 13),
        ("kind in ()", "a value is missing after (", 9),
        ("kind is odd", 'after "is" comes', 8),
        ("year = /a/", "a pattern goes with ~", 7),
        ("(" * 400, "nested too deeply", 100),
        ("not " * 4000 + "dog", "nested too deeply", 400),
    ],
)
def test_that_a_fault_is_a_sentence_with_its_place(text: str, words: str, start: int) -> None:
    with pytest.raises(FilterError) as fault:
        fitting(text)
    assert words in str(fault.value)
    assert fault.value.start == start
    assert fault.value.start <= fault.value.end <= len(text)


def test_that_a_table_without_labels_says_so() -> None:
    columns = {name: column for name, column in COLUMNS.items() if name != "label"}
    condition = parse_filter("dog")
    assert condition is not None
    with pytest.raises(FilterError, match="This table has no labels"):
        rows_fitting(condition, columns, len(LABELS))


def test_that_blank_is_no_condition() -> None:
    assert parse_filter("  ") is None


@given(st.text(max_size=40))
def test_that_any_text_is_understood_or_refused_in_words(text: str) -> None:
    fault = None
    try:
        condition = parse_filter(text)
        if condition is not None:
            assert rows_fitting(condition, COLUMNS, len(LABELS)).shape == (len(LABELS),)
    except FilterError as refused:
        fault = refused
    assert fault is None or 0 <= fault.start <= fault.end <= len(text)


@given(st.text(max_size=20))
def test_that_a_value_typed_as_proposed_is_that_value(value: str) -> None:
    tokens = tokens_of(f"kind = {as_typed(value)}")
    assert [token.text for token in tokens] == ["kind", "=", value, ""]


SIMPLE = st.sampled_from(
    ["year > 1989", "kind = noun", "good = yes", "tags = a", "score < 0.4", "/ing/", "dog"]
)


@given(SIMPLE, SIMPLE)
def test_that_conditions_combine_as_sets_do(first: str, second: str) -> None:
    a, b, everything = set(fitting(first)), set(fitting(second)), set(range(len(LABELS)))
    assert set(fitting(f"{first} and {second}")) == a & b
    assert set(fitting(f"{first} or {second}")) == a | b
    assert set(fitting(f"not ({first})")) == everything - a
    assert fitting(f"not ({first} or {second})") == fitting(f"not ({first}) and not ({second})")


def test_that_no_regular_expression_runs_away() -> None:
    labels = Labels.from_texts(["a" * 10_000 + "b"] * 100, "test")
    condition = parse_filter(r"label ~ /^(a+)+(a|aa)*$/")
    assert condition is not None
    began = time.process_time()
    assert not rows_fitting(condition, {"label": label_column(labels)}, 100).any()
    assert time.process_time() - began < 5 * slowness()


def test_that_a_condition_names_its_columns() -> None:
    assert columns_in(parse_filter("score > 0.5 or not (dog and kind = noun)")) == {"score", "label", "kind"}
    assert columns_in(None) == set()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("ye", ("year",)),
        ("rel", ('"release date"',)),
        ('"rel', ('"release date"',)),
        ("kind = n", ("noun", "name", "Noun")),
        ("kind in (verb, n", ("noun", "name", "Noun")),
        ("kind = ver", ("verb",)),
        ("good = ", ("yes", "no")),
        ("year ", (">=", "<=", "=", ">", "<", "!=", "is missing")),
        ("year > 1990 an", ("and",)),
        ("year > 1990 and ki", ("kind",)),
    ],
)
def test_that_names_values_and_operators_are_proposed(text: str, options: tuple[str, ...]) -> None:
    found = completions(text, len(text), COLUMNS)
    assert found.options[: len(options)] == options
    assert found.end == len(text)


def test_that_numbers_are_compared_as_exactly_as_they_are_stored() -> None:
    tenths, large = np.arange(100, dtype=np.float32) / 10, 2**62 + np.arange(4)
    columns = Columns({"tenth": tenths, "half": tenths.astype(np.float16), "id": large})

    def rows(text: str) -> list[int]:
        condition = parse_filter(text)
        assert condition is not None
        return np.flatnonzero(rows_fitting(condition, columns, 100 if "id" not in text else 4)).tolist()

    assert rows("tenth = 0.3") == rows("half = 0.3") == [3]
    assert rows("tenth <= 0.3") == rows("half < 0.4") == [0, 1, 2, 3]
    assert rows("tenth in (0.1, 0.7)") == [1, 7]
    assert rows("half > 1e9") == []
    assert rows(f"id = {2**62 + 2}") == [2]
    assert rows(f"id > {2**62 + 1}") == [2, 3]
    assert rows(f"id < {2**70}") == [0, 1, 2, 3]
    assert rows("id > 0.5") == [0, 1, 2, 3]
    assert columns["tenth"].categories.names[:3] == ("0", "0.1", "0.2")
    assert columns["id"].categories.names[0] == str(2**62)


def test_that_a_text_is_looked_for_in_values_as_they_are_read() -> None:
    days = np.array(["1700-01-31", "2020-05-17", "NaT"], "datetime64[D]")
    columns = Columns({"day": days, "good": np.array([True, False, True]), "year": np.array([1990, 17, 3])})
    for text, expected in (
        ("day contains 17", [0, 1]),
        ("day ~ /^17/", [0]),
        ("day is missing", [2]),
        ("good contains y", [0, 2]),
        ("year ~ /^1/", [0, 1]),
    ):
        condition = parse_filter(text)
        assert condition is not None
        assert np.flatnonzero(rows_fitting(condition, columns, 3)).tolist() == expected


def test_that_a_list_without_items_is_missing() -> None:
    columns = Columns({"tags": np.array(['["a"]', "[]", '[null, ""]', ""])})
    condition = parse_filter("tags is missing")
    assert condition is not None
    assert rows_fitting(condition, columns, 4).tolist() == [False, True, True, True]


def test_that_a_column_that_was_not_read_is_asked_for_before_what_follows_it() -> None:
    columns = {**COLUMNS, "kind": None}
    for text in ("kind ", "year > 1990 and KIND = n", "kind in (noun, "):
        assert completions(text, len(text), columns).awaits == "kind"
        assert not completions(text, len(text), columns).options
    for text in ("ki", "year ", "kind = noun and ye"):
        assert completions(text, len(text), columns).options
        assert not completions(text, len(text), columns).awaits


def test_that_values_of_ten_thousand_are_proposed_as_quickly_as_one_types() -> None:
    columns = {"place": Column("place", np.array([f"no {row % 10_000}" for row in range(30_000)]))}
    assert completions("place = 77", 10, columns).options[:2] == ('"no 77"', '"no 177"')
    times = []
    for _ in range(5):
        began = time.process_time()
        completions("place = 77", 10, columns)
        times.append(time.process_time() - began)
    assert min(times) < 0.05 * slowness()


@pytest.mark.parametrize("text", [text for text, _ in EXAMPLES])
def test_that_the_examples_shown_are_conditions(text: str) -> None:
    for condition in re.split(r", (?![^(]*\))", text):
        assert parse_filter(condition) is not None
