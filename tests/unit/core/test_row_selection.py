"""How selections combine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.core.selection import Combine, combined, inverted

BEFORE = np.array([1, 3, 5], np.int64)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (Combine.NEW, [0, 3, 7]),
        (Combine.ADD, [0, 1, 3, 5, 7]),
        (Combine.REMOVE, [1, 5]),
        (Combine.INTERSECT, [3]),
    ],
)
def test_that_rows_combine_ascending_and_each_once(how: Combine, expected: list[int]) -> None:
    assert combined(BEFORE, np.array([7, 3, 0, 3]), how, 8).tolist() == expected


@pytest.mark.parametrize("how", list(Combine))
def test_that_an_empty_catch_changes_only_what_it_should(how: Combine) -> None:
    kept = BEFORE.tolist() if how in (Combine.ADD, Combine.REMOVE) else []
    assert combined(BEFORE, np.empty(0, np.int64), how, 8).tolist() == kept


def test_that_inverting_leaves_out_rows_that_cannot_be_selected_and_twice_is_none_the_less() -> None:
    able = np.array([True, True, False, True, True, True])
    once = inverted(BEFORE, able)
    assert once.tolist() == [0, 4]
    assert inverted(once, able).tolist() == [1, 3, 5]


ROW_LISTS = st.lists(st.integers(0, 39), max_size=60)


@given(ROW_LISTS, ROW_LISTS)
def test_that_selections_combine_as_sets_do(first: list[int], second: list[int]) -> None:
    selected = np.array(sorted(set(first)), np.int64)
    a, b = set(first), set(second)
    expected = {
        Combine.NEW: b,
        Combine.ADD: a | b,
        Combine.REMOVE: a - b,
        Combine.INTERSECT: a & b,
    }
    for how, rows in expected.items():
        found = combined(selected, np.array(second, np.int64), how, 40)
        assert found.tolist() == sorted(rows)
        assert found.dtype == np.int64


@given(ROW_LISTS, st.lists(st.booleans(), min_size=40, max_size=40))
def test_that_inverting_twice_leaves_the_rows_that_can_be_selected(rows: list[int], able: list[bool]) -> None:
    mask = np.array(able)
    selected = np.array(sorted(row for row in set(rows) if mask[row]), np.int64)
    assert inverted(inverted(selected, mask), mask).tolist() == selected.tolist()
    assert not set(inverted(selected, mask).tolist()) & set(selected.tolist())
