"""Where a query lands on the map, and what the map's agreement with the truth is."""

import numpy as np
import pytest

from explorer.core.placement import agreement, place_query


@pytest.fixture
def positions() -> np.ndarray:
    """100 rows on a grid of 10 × 10, row 0 at the origin."""
    grid = np.stack(np.meshgrid(np.arange(10), np.arange(10)), axis=-1).reshape(-1, 2)
    return grid.astype(np.float32)


def test_that_a_query_lands_among_the_densest_of_its_nearest_rows(positions: np.ndarray) -> None:
    positions[:5] = [[2.0, 2.0], [2.1, 2.0], [2.0, 2.1], [9.0, 9.0], [0.0, 9.0]]
    place = place_query(positions, np.arange(5))
    assert place == pytest.approx((2.0333, 2.0333), abs=1e-3)


def test_that_a_query_without_a_row_on_the_map_has_no_place(positions: np.ndarray) -> None:
    positions[:3] = np.nan
    assert place_query(positions, np.arange(3)) is None


def test_that_rows_off_the_map_do_not_pull_a_query(positions: np.ndarray) -> None:
    positions[0] = np.nan
    assert place_query(positions, np.array([0, 5])) == (5.0, 0.0)


def test_that_identical_positions_place_a_query_there() -> None:
    assert place_query(np.full((4, 2), 3.0, np.float32), np.arange(4)) == (3.0, 3.0)


def test_that_a_query_lands_in_space_too() -> None:
    positions = np.eye(3, dtype=np.float32)
    assert place_query(np.full((4, 3), 3.0, np.float32), np.arange(4)) == (3.0, 3.0, 3.0)
    assert agreement(positions, (1.0, 0.0, 0.0), np.array([0, 1, 2])) == (3, 3)


def test_that_a_map_that_tells_the_truth_agrees_fully(positions: np.ndarray) -> None:
    assert agreement(positions, (0.0, 0.0), np.array([1, 10, 11]), own=(0,)) == (3, 3)


def test_that_a_neighbour_far_away_on_the_map_is_counted_as_lost(positions: np.ndarray) -> None:
    assert agreement(positions, (0.0, 0.0), np.array([1, 10, 99]), own=(0,)) == (2, 3)


def test_that_near_is_the_closest_hundredth_of_a_large_map() -> None:
    positions = np.stack([np.arange(10_000), np.zeros(10_000)], axis=1).astype(np.float32)
    assert agreement(positions, (0.0, 0.0), np.array([100, 101]), own=(0,)) == (1, 2)


def test_that_quarantined_rows_are_never_near_on_the_map(positions: np.ndarray) -> None:
    positions[1] = np.nan
    assert agreement(positions, (0.0, 0.0), np.array([1, 10]), own=(0,)) == (1, 2)


def test_that_no_neighbours_agree_on_nothing(positions: np.ndarray) -> None:
    assert agreement(positions, (0.0, 0.0), np.empty(0, np.int64)) == (0, 0)
