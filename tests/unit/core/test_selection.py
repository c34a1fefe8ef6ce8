"""How selections combine."""

from __future__ import annotations

import numpy as np
import pytest

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
