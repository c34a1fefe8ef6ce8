"""Pictures on the map never overlap, stay while one comes closer, and in the end all are there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.render.thumbnails import LONGEST, SIDE, SPACING, place_thumbnails
from explorer.render.viewport import Viewport


def cloud(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, 2)).astype(np.float32)


def aspects(rows: int, seed: int = 0) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(0, 0.8, rows))


def overlaps(boxes: np.ndarray, spacing: float) -> int:
    left, top, wide, high = boxes.T
    x, y = left + wide / 2, top + high / 2
    near_x = np.abs(x[:, None] - x) < (wide[:, None] + wide) / 2 + spacing - 1e-6
    near_y = np.abs(y[:, None] - y) < (high[:, None] + high) / 2 + spacing - 1e-6
    return int(np.triu(near_x & near_y, 1).sum())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1.0, 3.0, 20.0, 300.0]), st.floats(8, 90))
def test_that_no_picture_lies_on_another(seed, zoom, side):
    xy = cloud(3000, seed)
    view = Viewport.fitted(xy, 900, 700).zoomed_at(450, 350, zoom)
    placed = place_thumbnails(xy, view, aspects(3000, seed), side=side)
    assert overlaps(placed.boxes, SPACING) == 0
    centres = placed.boxes[:, :2] + placed.boxes[:, 2:] / 2
    assert np.allclose(centres, view.to_pixels(xy[placed.rows]), atol=1e-3)


def test_that_a_picture_is_left_out_only_where_an_earlier_one_is():
    xy = cloud(2000)
    view = Viewport.fitted(xy, 900, 700)
    placed = place_thumbnails(xy, view, np.ones(2000))
    for row in np.setdiff1d(np.arange(2000), placed.rows)[:300]:
        x, y = view.to_pixels(xy[row : row + 1])[0]
        earlier = placed.boxes[placed.rows < row]
        away = np.abs(earlier[:, :2] + SIDE / 2 - (x, y)).max(axis=1)
        assert away.min() < SIDE + SPACING


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10_000),
    st.lists(st.tuples(st.floats(0, 900), st.floats(0, 700), st.floats(1, 3)), min_size=1, max_size=5),
)
def test_that_pictures_stay_while_one_comes_closer(seed, steps):
    xy, ratios = cloud(1500, seed), aspects(1500)
    view = Viewport.fitted(xy, 900, 700)
    before = place_thumbnails(xy, view, ratios)
    for px, py, factor in steps:
        view = view.zoomed_at(px, py, factor)
        after = place_thumbnails(xy, view, ratios, previous=before)
        inside = view.contains(view.to_pixels(xy[before.rows]))
        assert set(before.rows[inside].tolist()) <= set(after.rows.tolist())
        assert len(after.rows) == len(set(after.rows.tolist()))
        before = after


def test_that_zooming_out_gives_what_a_fresh_view_gives():
    xy, ratios = cloud(1500), aspects(1500)
    view = Viewport.fitted(xy, 900, 700)
    near = place_thumbnails(xy, view.zoomed_at(300, 300, 4), ratios)
    again = place_thumbnails(xy, view, ratios, previous=near)
    assert np.array_equal(again.rows, place_thumbnails(xy, view, ratios).rows)


def test_that_few_stand_for_all_from_afar_and_all_are_there_from_near():
    xy = cloud(400)
    view = Viewport.fitted(xy, 900, 700)
    far = place_thumbnails(xy, view, np.ones(400))
    assert 20 < len(far.rows) < 150
    near = view.zoomed_at(450, 350, 400)
    inside = np.flatnonzero(near.contains(near.to_pixels(xy)))
    assert set(inside.tolist()) <= set(place_thumbnails(xy, near, np.ones(400)).rows.tolist())


def test_that_importance_decides_and_rows_left_out_are_not_shown():
    xy = cloud(2000)
    view, order = Viewport.fitted(xy, 900, 700), np.arange(2000)[::-2].copy()
    placed = place_thumbnails(xy, view, np.ones(2000), order)
    assert placed.rows[0] == 1999
    assert (placed.rows % 2 == 1).all()
    everything = place_thumbnails(xy, view, np.ones(2000))
    kept = place_thumbnails(xy, view, np.ones(2000), order, everything)
    assert (kept.rows % 2 == 1).all()


@pytest.mark.parametrize("aspect", [0.001, 1 / 3, 1.0, 2.0, 1e6])
def test_that_pictures_of_any_shape_have_the_same_area_and_are_never_a_line(aspect):
    placed = place_thumbnails(np.zeros((1, 2), np.float32), Viewport(300, 200), np.array([aspect]))
    wide, high = placed.boxes[0, 2:]
    assert wide * high == pytest.approx(SIDE**2)
    assert wide / high == pytest.approx(min(max(aspect, 1 / LONGEST), LONGEST), rel=1e-5)


def test_that_rows_without_a_picture_or_a_place_have_none():
    xy = np.array([[0, 0], [1, 1], [np.nan, 0], [np.inf, 0], [1e30, 1e30], [2, 2]], np.float32)
    ratios = np.array([1.0, np.nan, 1, 1, 1, 0])
    assert place_thumbnails(xy, Viewport(900, 700, 0, 0, 100.0), ratios).rows.tolist() == [0]
    assert not len(place_thumbnails(xy[:0], Viewport(900, 700), ratios[:0]).rows)
    with pytest.raises(ValueError, match="5 pictures for 6 rows"):
        place_thumbnails(xy, Viewport(900, 700), ratios[:5])


def test_that_obstacles_are_left_free_and_the_number_is_bounded():
    xy = cloud(3000)
    view, wall = Viewport.fitted(xy, 900, 700), np.array([[200.0, 100, 400, 400]])
    boxes = place_thumbnails(xy, view, np.ones(3000), obstacles=wall, side=20).boxes
    inside = (boxes[:, 0] + boxes[:, 2] > 200) & (boxes[:, 0] < 600) & (boxes[:, 1] + boxes[:, 3] > 100)
    assert not (inside & (boxes[:, 1] < 500)).any()
    assert len(place_thumbnails(xy, view, np.ones(3000), side=20, most=30).rows) == 30


def test_that_equal_places_show_one_picture():
    xy = np.zeros((5000, 2), np.float32)
    assert place_thumbnails(xy, Viewport(300, 200), np.ones(5000)).rows.tolist() == [0]
