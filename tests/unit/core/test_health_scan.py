"""The pass over a table's rows, against a plain reading of the same rule."""

from __future__ import annotations

import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from explorer.core.dtypes import FLOATS
from explorer.core.health import RowState
from explorer.core.health_scan import examine, row_blocks

ODD_VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-30, 3e38, np.nan, np.inf, -np.inf])


def plain_reading(table: np.ndarray, padding: int) -> tuple[list[int], list[int]]:
    """States and first twins, row by row."""
    states, twins, seen = [], [], {}
    for number, row in enumerate(table.astype(np.float64).tolist()):
        length = sum(value * value for value in row) ** 0.5
        if any(value != value for value in row):
            state = RowState.NAN
        elif length > 3.4028236e38:
            state = RowState.INFINITE
        elif not any(row):
            state = RowState.ZERO
        elif number >= len(table) - padding:
            state = RowState.PADDING
        else:
            state = RowState.HEALTHY
        states.append(int(state))
        key = tuple(row)
        twins.append(seen.setdefault(key, number) if state is RowState.HEALTHY else number)
    return states, twins


@settings(deadline=None)
@given(
    st.data(),
    st.integers(0, 12),
    st.integers(1, 7),
    st.integers(0, 3),
    st.lists(st.integers(1, 5), min_size=1, max_size=12),
)
def test_that_every_row_is_judged_as_by_a_plain_reading(data, rows, dim, padding, cuts):
    table = data.draw(arrays(np.float32, (rows, dim), elements=ODD_VALUES.map(np.float32), fill=st.nothing()))
    blocks, start = [], 0
    while start < rows:
        step = cuts[len(blocks) % len(cuts)]
        blocks.append(table[start : start + step])
        start += step
    health = examine(blocks, rows, padding)
    states, twins = plain_reading(table, padding)
    assert health.states.tolist() == states
    assert health.first_twin.tolist() == twins
    assert health.counts.nan == states.count(RowState.NAN)
    assert health.counts.inf == states.count(RowState.INFINITE)
    assert health.counts.zero == states.count(RowState.ZERO)
    assert health.counts.padding == states.count(RowState.PADDING)
    assert health.counts.duplicates == sum(twin != row for row, twin in enumerate(twins))


@pytest.mark.parametrize("dtype", FLOATS.values(), ids=FLOATS.keys())
def test_that_every_stored_type_is_judged_by_its_values(dtype):
    table = np.array([[1, -2, 0, 3], [0, 0, -0.0, 0], [np.nan, 1, 1, 1], [1, -2, -0.0, 3]], np.float32)
    health = examine([table.astype(dtype)], 4)
    assert health.states.tolist() == [RowState.HEALTHY, RowState.ZERO, RowState.NAN, RowState.HEALTHY]
    assert health.first_twin[3] == 0
    assert health.norms[0] == pytest.approx(14**0.5)


def test_that_big_endian_rows_are_read_as_what_they_are():
    table = np.array([[1.0, 2.0], [3.0, 4.0]], ">f4")
    assert examine([table], 2).norms.tolist() == pytest.approx([5**0.5, 5.0])


def test_that_a_value_float32_cannot_hold_is_infinite_and_one_it_can_is_not():
    table = np.array([[1e300, 1.0], [1e-300, 0.0], [2e38, 2e38], [3e38, 3e38], [1e-40, 0.0]])
    health = examine([table], 5)
    expected = [RowState.INFINITE, RowState.ZERO, RowState.HEALTHY, RowState.INFINITE, RowState.HEALTHY]
    assert health.states.tolist() == expected
    assert health.norms[2] == pytest.approx(2e38 * 2**0.5)


def test_that_float64_rows_which_differ_past_float32_are_not_twins():
    table = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0 + 1e-12], [1.0, 2.0, 3.0]])
    assert examine([table], 3).first_twin.tolist() == [0, 1, 0]


def test_that_fifty_copies_of_seven_rows_are_seven_twins():
    rng = np.random.default_rng(0)
    origin = rng.permutation(np.repeat(np.arange(7), 50))
    health = examine([rng.normal(size=(7, 40)).astype(np.float32)[origin]], 350)
    assert health.counts.duplicates == 343
    firsts = [int(np.flatnonzero(origin == kind)[0]) for kind in origin]
    assert health.first_twin.tolist() == firsts


def test_that_rows_which_differ_in_signs_alone_are_told_apart():
    rng = np.random.default_rng(1)
    table = np.sign(rng.normal(size=(20_000, 64))).astype(ml_dtypes.bfloat16)
    assert examine(row_blocks(table), 20_000).counts.duplicates == 0


def test_that_padding_is_counted_once_and_after_other_faults():
    table = np.ones((5, 3), np.float32)
    table[4] = 0
    health = examine([table], 5, padding=2)
    assert health.states.tolist() == [0, 0, 0, RowState.PADDING, RowState.ZERO]
    assert (health.counts.zero, health.counts.padding, health.counts.duplicates) == (1, 1, 2)
    assert health.healthy.tolist() == [True, True, True, False, False]


@pytest.mark.parametrize("promised", [2, 4])
def test_that_a_wrong_count_of_rows_is_refused(promised):
    with pytest.raises(ValueError, match="promised"):
        examine([np.ones((3, 2), np.float32)], promised)


def test_that_memory_does_not_grow_with_the_table():
    rows, dim = 4_000, 2_000

    def blocks():
        rng = np.random.default_rng(2)
        for _ in range(0, rows, 500):
            yield rng.normal(size=(500, dim)).astype(np.float16)

    examine([np.ones((1, 2), np.float32)], 1)
    tracemalloc.start()
    try:
        examine(blocks(), rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30e6, "the table itself would be 32 MB as float32, one block with its float64 draws 10 MB"
