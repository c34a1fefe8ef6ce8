"""Which rows a lasso and a box hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.render.point_index import PointIndex
from explorer.render.selection import rows_in_polygon

SQUARE = np.array([[0, 0], [10, 0], [10, 10], [0, 10]], float)


def inside_by_hand(x: float, y: float, corners: np.ndarray) -> bool:
    crossings = 0
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if (y0 <= y < y1) or (y1 <= y < y0):
            crossings += x < x0 + (y - y0) * (x1 - x0) / (y1 - y0)
    return crossings % 2 == 1


def test_that_a_square_holds_what_lies_in_it():
    xy = np.array([[5, 5], [11, 5], [5, -1], [9.99, 9.99], [-0.01, 5]], np.float32)
    assert rows_in_polygon(xy, SQUARE).tolist() == [0, 3]


def test_that_rows_without_a_place_are_in_no_lasso():
    bad = [[np.nan, 5], [5, np.nan], [np.inf, 5], [5, -np.inf], [1e30, 1e30]]
    xy = np.array([*bad, [5, 5]], np.float32)
    assert rows_in_polygon(xy, SQUARE).tolist() == [5]


def test_that_a_hole_made_by_crossing_is_not_inside():
    star = np.array([[np.cos(a), np.sin(a)] for a in np.arange(5) * 4 * np.pi / 5])
    assert rows_in_polygon(np.array([[0, 0], [0.7, 0]], np.float32), star).tolist() == [1]


@pytest.mark.parametrize("corners", [[], [[1, 1]], [[0, 0], [9, 9]], [[0, 0], [9, 9], [np.nan, 1]]])
def test_that_what_encloses_nothing_holds_nothing(corners):
    xy = np.array([[5, 5], [1, 1]], np.float32)
    assert not len(rows_in_polygon(xy, np.array(corners, float).reshape(-1, 2)))


def test_that_a_lasso_drawn_flat_holds_nothing():
    xy = np.array([[1, 5], [5, 5]], np.float32)
    assert not len(rows_in_polygon(xy, np.array([[0, 5], [4, 5], [9, 5]], float)))


whole = st.integers(-6, 6).map(float)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(whole, whole), min_size=3, max_size=40),
    st.lists(st.tuples(whole, whole), min_size=1, max_size=30),
)
def test_that_a_lasso_agrees_with_counting_crossings_one_by_one(corners, places):
    ring, xy = np.array(corners), np.array(places, np.float32)
    expected = [row for row, (x, y) in enumerate(places) if inside_by_hand(x, y, ring)]
    assert rows_in_polygon(xy, ring).tolist() == expected


def test_that_neighbouring_lassos_share_no_row_and_lose_none():
    rng = np.random.default_rng(0)
    xy = rng.integers(0, 20, (2000, 2)).astype(np.float32) / 2
    left = np.array([[0, 0], [5, 0], [5, 10], [0, 10]], float)
    right = left + np.array([5, 0])
    parts = np.concatenate([rows_in_polygon(xy, left), rows_in_polygon(xy, right)])
    assert np.array_equal(np.sort(parts), rows_in_polygon(xy, SQUARE))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(3, 12),
    st.sampled_from([0.01, 0.3, 1.0, 5.0, 100.0, 1e4, 1e9, 1e30]),
    st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
)
def test_that_an_index_changes_no_lasso(seed, corners, size, middle):
    rng = np.random.default_rng(seed)
    xy = rng.normal(size=(3000, 2)).astype(np.float32)
    xy[:6] = [[np.nan, 0], [0, np.inf], [1e9, -1e9], [-1e30, 1e30], [0, 0], [3, 3]]
    ring = np.array(middle) + size * rng.normal(size=(corners, 2))
    assert np.array_equal(rows_in_polygon(xy, ring), rows_in_polygon(xy, ring, PointIndex.of(xy)))


@pytest.mark.parametrize("xy", [np.empty((0, 2)), np.zeros((900, 2)), np.full((9, 2), np.nan)])
def test_that_an_index_of_an_odd_layout_changes_no_lasso(xy):
    xy = xy.astype(np.float32)
    for ring in (SQUARE, SQUARE - 5, SQUARE * 1e-9):
        assert np.array_equal(rows_in_polygon(xy, ring), rows_in_polygon(xy, ring, PointIndex.of(xy)))
