"""A moving picture's rows follow the machine's pace."""

import pytest

from explorer.render.budget import FEWEST, FrameBudget


def frames(budget: FrameBudget, seconds_a_row: float, times: int, there: int = 10**7, fixed: float = 0.0):
    taken = []
    for _ in range(times):
        rows = min(budget.rows, there)
        taken.append(fixed + rows * seconds_a_row)
        budget.spent(rows, taken[-1])
    return taken


@pytest.mark.parametrize("pace", [5e-9, 3e-8, 1e-7])
def test_that_frames_end_up_within_their_time_and_use_most_of_it(pace):
    budget = FrameBudget(0.008)
    last = frames(budget, pace, 60)[30:]
    assert max(last) <= 0.008
    assert min(last) >= 0.5 * 0.008


def test_that_a_late_frame_is_the_last_one_of_its_size():
    budget = FrameBudget(0.008)
    late, next_one = frames(budget, 5e-8, 2)
    assert late > 0.008
    assert next_one <= 0.0081


def test_that_rows_do_not_jump_about_at_a_steady_pace():
    budget = FrameBudget(0.008)
    frames(budget, 3e-8, 40)
    before = budget.rows
    frames(budget, 3e-8, 10)
    assert budget.rows == pytest.approx(before, rel=0.01)


def test_that_quick_pictures_of_few_rows_do_not_raise_the_number():
    budget = FrameBudget(0.008)
    before = budget.rows
    frames(budget, 1e-9, 20, there=60_000)
    assert budget.rows == before


def test_that_some_rows_are_drawn_on_the_slowest_machine():
    budget = FrameBudget(0.008)
    frames(budget, 1e-5, 30)
    assert budget.rows == FEWEST
    budget.spent(0, 1.0)
    assert budget.rows == FEWEST


def test_that_one_hiccup_is_forgotten():
    budget = FrameBudget(0.008)
    frames(budget, 3e-8, 30)
    settled = budget.rows
    budget.spent(settled, 0.2)
    assert budget.rows < settled
    frames(budget, 3e-8, 15)
    assert budget.rows > 0.9 * settled


def test_that_the_pace_tells_how_long_a_picture_takes():
    budget = FrameBudget(0.008)
    frames(budget, 2e-8, 30)
    assert budget.time_for(1_000_000) == pytest.approx(0.02, rel=0.02)
    assert budget.rows_in(0.01) == pytest.approx(500_000, rel=0.02)
