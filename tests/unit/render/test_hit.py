"""What the cursor meets."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.render.hit import nearest_row

IDS = np.full((20, 30), -1, np.int32)
IDS[5, 7] = 3
IDS[5, 9] = 4
IDS[0, 0] = 8


def test_that_the_pixel_under_the_cursor_wins():
    assert nearest_row(IDS, 7.1, 5.9, 3) == 3
    assert nearest_row(IDS, 9.0, 5.0, 3) == 4


def test_that_the_nearest_of_two_wins():
    assert nearest_row(IDS, 8.4, 5.5, 3) == 3
    assert nearest_row(IDS, 8.6, 5.5, 3) == 4


def test_that_nothing_is_found_beyond_reach():
    assert nearest_row(IDS, 7.5, 8.6, 3) == -1
    assert nearest_row(IDS, 7.5, 8.4, 3) == 3
    assert nearest_row(IDS, 8.5, 5.5, 0) == -1


@pytest.mark.parametrize("place", [(-1.0, 0.5), (0.5, -1.0)])
def test_that_a_cursor_just_outside_still_reaches_in(place):
    assert nearest_row(IDS, *place, 3) == 8


@pytest.mark.parametrize("place", [(-9, 3), (math.nan, 3), (3, math.inf), (1e30, -1e30), (40, 40)])
def test_that_a_cursor_far_outside_meets_nothing(place):
    assert nearest_row(IDS, *place, 4) == -1


@given(st.integers(0, 2**32 - 1), st.floats(-3, 33), st.floats(-3, 23), st.floats(0, 9))
def test_that_the_answer_is_as_near_as_a_search_of_all_pixels_says(seed, x, y, reach):
    rng = np.random.default_rng(seed)
    ids = np.where(rng.random((20, 30)) < 0.02, rng.integers(0, 1000, (20, 30)), -1).astype(np.int32)
    found = nearest_row(ids, x, y, reach)
    lines, columns = np.nonzero(ids >= 0)
    distance = np.hypot(columns + 0.5 - x, lines + 0.5 - y)
    near = distance[distance <= reach]
    if 0 <= x < 30 and 0 <= y < 20 and ids[int(y), int(x)] >= 0:
        assert found == ids[int(y), int(x)]
    elif not len(near):
        assert found == -1
    else:
        assert found in ids[lines, columns][distance == near.min()]
