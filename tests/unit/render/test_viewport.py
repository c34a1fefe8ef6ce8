"""What the first view shows, and that moving it keeps the data under the cursor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.render.viewport import LARGEST_SCALE, Insets, Viewport

RNG = np.random.default_rng(5)
CLOUD = RNG.normal(size=(500, 2)).astype(np.float32)


def inside(view: Viewport, xy: np.ndarray, insets: Insets) -> np.ndarray:
    x, y = view.to_pixels(xy).T
    across = (x >= insets.left - 0.01) & (x <= view.width - insets.right + 0.01)
    return across & (y >= insets.top - 0.01) & (y <= view.height - insets.bottom + 0.01)


def test_that_a_fitted_view_holds_every_row_and_uses_the_room():
    insets = Insets(10, 20, 70, 40)
    view = Viewport.fitted(CLOUD, 800, 600, insets)
    assert inside(view, CLOUD, insets).all()
    x, y = view.to_pixels(CLOUD).T
    assert np.ptp(x) == pytest.approx(720, abs=0.1) or np.ptp(y) == pytest.approx(540, abs=0.1)
    assert x.max() + x.min() == pytest.approx(10 + 730, abs=0.1), "in the middle of the room"
    assert y.max() + y.min() == pytest.approx(20 + 560, abs=0.1)


def test_that_up_in_the_data_is_up_on_the_screen():
    view = Viewport.fitted(CLOUD, 800, 600)
    low, high = view.to_pixels(np.array([[0.0, 0.0], [0.0, 1.0]]))[:, 1]
    assert high < low


@pytest.mark.parametrize(
    "bad", [[np.nan, 0], [0, np.nan], [np.inf, 0], [0, -np.inf], [1e30, 0], [-1e30, 1e30], [3e38, -3e38]]
)
def test_that_one_bad_row_does_not_spoil_the_view_of_the_others(bad):
    xy = np.vstack([CLOUD, [bad]]).astype(np.float32)
    assert Viewport.fitted(xy, 800, 600) == Viewport.fitted(CLOUD, 800, 600)


@pytest.mark.parametrize("count", [3, 4, 5, 10])
def test_that_few_rows_stay_apart_beside_an_outlier(count):
    xy = np.array([[i, i % 2] for i in range(count - 1)] + [[1e30, 0]], np.float32)
    view = Viewport.fitted(xy, 800, 600)
    x = view.to_pixels(xy[:-1])[:, 0]
    assert np.ptp(x) > 100 or (count == 3 and np.ptp(x) > 1)


@pytest.mark.parametrize(
    "xy",
    [
        np.empty((0, 2), np.float32),
        np.full((3, 2), np.nan, np.float32),
        np.zeros((1, 2), np.float32),
        np.full((40, 2), 7.5, np.float32),
        np.array([[1e30, 1e30]], np.float32),
    ],
    ids=["none", "all NaN", "one", "identical", "one far out"],
)
def test_that_a_view_of_no_extent_has_the_rows_in_its_middle(xy):
    view = Viewport.fitted(xy, 800, 600, Insets(0, 0, 0, 0))
    assert np.isfinite([view.x, view.y, view.scale]).all()
    assert view.scale > 0
    shown = view.to_pixels(xy)
    assert np.allclose(shown[np.isfinite(shown).all(1)], (400, 300))


def test_that_a_few_hundred_rows_around_a_dense_crowd_are_in_view():
    crowd, ring = RNG.normal(0, 0.001, (9000, 2)), RNG.uniform(-1, 1, (100, 2))
    xy = np.vstack([crowd, ring]).astype(np.float32)
    view = Viewport.fitted(xy, 800, 600)
    assert view.contains(view.to_pixels(xy)).all()


def test_that_three_rows_keep_their_proportions():
    xy = np.array([[0, 0], [1, 0], [90, 0]], np.float32)
    view = Viewport.fitted(xy, 800, 600)
    assert view.contains(view.to_pixels(xy)).all()


def test_that_rows_on_a_line_fill_the_width():
    xy = np.array([[0, 5], [10, 5], [4, 5]], np.float32)
    view = Viewport.fitted(xy, 800, 600, Insets(0, 0, 0, 0))
    assert view.scale == pytest.approx(80)


def test_that_many_copies_of_few_rows_are_all_in_view():
    xy = np.repeat(RNG.normal(size=(7, 2)), 50, axis=0).astype(np.float32)
    view = Viewport.fitted(xy, 800, 600)
    assert view.contains(view.to_pixels(xy)).all()


def test_that_insets_wider_than_the_window_leave_a_view():
    view = Viewport.fitted(CLOUD, 50, 40, Insets(100, 100, 100, 100))
    assert view.scale > 0
    assert np.isfinite(view.x)


views = st.builds(
    Viewport,
    width=st.integers(1, 5000),
    height=st.integers(1, 5000),
    x=st.floats(-1e6, 1e6),
    y=st.floats(-1e6, 1e6),
    scale=st.floats(1e-3, 1e6),
)
pixels = st.floats(-5000, 5000)


@given(views, pixels, pixels)
def test_that_pixels_and_data_are_each_others_inverse(view, px, py):
    back = view.to_pixels(view.to_data(np.array([[px, py]])))
    assert back == pytest.approx(np.array([[px, py]]), abs=1e-3 + view.scale * 1e-9)


@given(views, pixels, pixels, st.floats(0.01, 100))
def test_that_zooming_keeps_the_point_under_the_cursor(view, px, py, factor):
    place = np.array([[px, py]])
    zoomed = view.zoomed_at(px, py, factor)
    assert zoomed.scale == pytest.approx(view.scale * factor)
    assert zoomed.to_pixels(view.to_data(place)) == pytest.approx(place, abs=1e-3 + zoomed.scale * 1e-9)


@given(views, pixels, pixels)
def test_that_panning_drags_the_data_along(view, dx, dy):
    moved = view.panned(dx, dy).to_pixels(np.array([[0.0, 0.0]])) - view.to_pixels(np.array([[0.0, 0.0]]))
    assert moved == pytest.approx(np.array([[dx, dy]]), abs=1e-3 + view.scale * 1e-9)


def test_that_endless_zooming_stays_finite():
    view = Viewport(800, 600)
    for _ in range(400):
        view = view.zoomed_at(10, 10, 2)
    assert view.scale == LARGEST_SCALE
    for _ in range(800):
        view = view.zoomed_at(10, 10, 0.5)
    assert view.scale > 0
    assert np.isfinite([view.x, view.y]).all()


def test_that_a_magnified_view_shows_the_same_data_in_more_pixels():
    view = Viewport.fitted(CLOUD, 801, 600)
    double = view.magnified(2)
    assert (double.width, double.height) == (1602, 1200)
    assert double.to_pixels(CLOUD) == pytest.approx(view.to_pixels(CLOUD) * 2)


def test_that_the_origin_is_where_zero_lies():
    view = Viewport.fitted(CLOUD, 801, 600)
    assert view.to_pixels(np.zeros((1, 2)))[0] == pytest.approx(view.origin)
