"""Labels never overlap, never leave the window, and stay while one comes closer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.render.labels import LabelDensity, Placement, candidates, in_turn, kept, place
from explorer.render.viewport import Viewport

PALETTE = np.array([[1, 1, 1, 255], [1, 1, 1, 0], [1, 1, 1, 90]], np.uint8)


def cloud(rows: int = 3000, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, 2)).astype(np.float32)


def labelled(xy, viewport, density=LabelDensity.FIT, previous=None, obstacles=None, codes=None) -> Placement:
    codes = np.zeros(len(xy), np.uint8) if codes is None else codes
    rows = in_turn(kept(previous, viewport), candidates(xy, codes, PALETTE, viewport, density))
    widths = 20 + (rows * 37 % 50)
    sizes = np.column_stack([widths, np.full(len(rows), 14)]).astype(float)
    spacing = np.tile(density.spacing, (len(rows), 1))
    return place(rows, xy, sizes, np.full(len(rows), 5.0), spacing, viewport, obstacles, previous)


def apart(one: np.ndarray, other: np.ndarray, sideways: float = 0, upright: float = 0) -> bool:
    return bool(
        one[0] + one[2] + sideways <= other[0] + 1e-9
        or other[0] + other[2] + sideways <= one[0] + 1e-9
        or one[1] + one[3] + upright <= other[1] + 1e-9
        or other[1] + other[3] + upright <= one[1] + 1e-9
    )


@pytest.mark.parametrize("density", [LabelDensity.FEW, LabelDensity.FIT, LabelDensity.MANY])
def test_that_labels_keep_their_distance_and_stay_inside(density):
    xy = cloud()
    placement = labelled(xy, Viewport.fitted(xy, 800, 600), density)
    assert len(placement.rows) > 10
    for i, box in enumerate(placement.boxes):
        assert all(apart(box, other, *density.spacing) for other in placement.boxes[:i])
        assert box[0] >= 0
        assert box[1] >= 0
        assert box[0] + box[2] <= 800
        assert box[1] + box[3] <= 600


def test_that_density_says_how_many():
    xy = cloud()
    view = Viewport.fitted(xy, 800, 600)
    few, fit, many = (len(labelled(xy, view, LabelDensity(name)).rows) for name in ("few", "fit", "many"))
    assert 0 < few < fit < many
    assert not len(candidates(xy, np.zeros(3000, np.uint8), PALETTE, view, LabelDensity.NONE))


def test_that_the_most_important_row_in_view_has_a_label():
    xy = cloud()
    view = Viewport.fitted(xy, 800, 600).zoomed_at(300, 200, 3)
    inside = np.flatnonzero(view.contains(view.to_pixels(xy), margin=80))
    assert inside[0] in labelled(xy, view).rows


def test_that_importance_may_be_another_order_than_the_rows():
    xy = cloud()
    view, codes = Viewport.fitted(xy, 800, 600), np.zeros(3000, np.uint8)
    order = np.arange(3000)[::-1].copy()
    found = candidates(xy, codes, PALETTE, view, LabelDensity.FIT, order)
    assert found[0] == 2999
    assert (np.diff(found) < 0).all()


def test_that_labels_spread_over_the_map_instead_of_naming_one_crowd():
    crowd = np.random.default_rng(0).normal(0, 0.01, (5000, 2))
    sparse = np.random.default_rng(1).uniform(-1, 1, (60, 2))
    xy = np.vstack([crowd, sparse]).astype(np.float32)
    assert (labelled(xy, Viewport.fitted(xy, 800, 600)).rows >= 5000).sum() > 25


def test_that_obstacles_are_left_free():
    xy = cloud()
    obstacles = np.array([[10, 400, 200, 190], [700, 10, 90, 200]], float)
    placement = labelled(xy, Viewport.fitted(xy, 800, 600), LabelDensity.MANY, obstacles=obstacles)
    assert len(placement.rows)
    assert all(apart(box, obstacle) for box in placement.boxes for obstacle in obstacles)


def test_that_hidden_and_dimmed_rows_and_rows_without_a_place_have_no_label():
    xy = cloud(300)
    codes = (np.arange(300) % 3).astype(np.uint8)
    xy[::9] = np.nan
    xy[3::9] = 1e30
    rows = labelled(xy, Viewport.fitted(xy, 800, 600), LabelDensity.MANY, codes=codes).rows
    assert len(rows)
    assert (codes[rows] == 0).all()
    assert np.isfinite(xy[rows]).all()
    assert (np.abs(xy[rows]) < 1e3).all()


def test_that_a_label_lies_beside_its_point_at_the_gap_given():
    xy = np.zeros((1, 2), np.float32)
    size, free = np.array([[40.0, 14.0]]), np.zeros((1, 2))
    view = Viewport(200, 100)
    [box] = place(np.array([0]), xy, size, np.array([6.0]), free, view).boxes
    assert box.tolist() == [106, 43, 40, 14]
    wall = np.array([[105, 0, 95, 100]], float)
    [box] = place(np.array([0]), xy, size, np.array([6.0]), free, view, wall).boxes
    assert box.tolist() == [54, 43, 40, 14]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(list(LabelDensity)[:3]),
    st.lists(st.tuples(st.floats(0, 800), st.floats(0, 600), st.floats(1, 3)), min_size=1, max_size=5),
)
def test_that_a_label_stays_while_one_comes_closer(seed, density, steps):
    xy = cloud(400, seed)
    view = Viewport.fitted(xy, 800, 600)
    before = labelled(xy, view, density)
    for px, py, factor in steps:
        view = view.zoomed_at(px, py, factor)
        after = labelled(xy, view, density, before)
        anchors = view.to_pixels(xy[before.rows])
        wholly_inside = view.contains(anchors, margin=90)
        assert set(before.rows[wholly_inside].tolist()) <= set(after.rows.tolist())
        sides = dict(zip(after.rows.tolist(), after.sides.tolist(), strict=True))
        for row, side in zip(
            before.rows[wholly_inside].tolist(), before.sides[wholly_inside].tolist(), strict=True
        ):
            assert sides[row] == side
        before = after


def test_that_labels_stay_while_the_map_is_dragged():
    xy = cloud()
    view = Viewport.fitted(xy, 800, 600).zoomed_at(400, 300, 4)
    before = labelled(xy, view)
    moved = view.panned(-60, 35)
    inside = moved.contains(moved.to_pixels(xy[before.rows]), margin=90)
    assert inside.any()
    assert set(before.rows[inside].tolist()) <= set(labelled(xy, moved, previous=before).rows.tolist())


def test_that_zooming_out_gives_what_a_fresh_view_gives():
    xy = cloud()
    view = Viewport.fitted(xy, 800, 600)
    near = labelled(xy, view.zoomed_at(200, 200, 5))
    again = labelled(xy, view, previous=near)
    assert set(again.rows.tolist()) == set(labelled(xy, view).rows.tolist())


def test_that_the_same_view_gives_the_same_labels():
    xy = cloud()
    view = Viewport.fitted(xy, 800, 600)
    one, other = labelled(xy, view), labelled(xy, view)
    assert np.array_equal(one.rows, other.rows)
    assert np.array_equal(one.boxes, other.boxes)


@pytest.mark.parametrize("scale", [1e-36, 1e36])
def test_that_extreme_zoom_is_safe(scale):
    xy = cloud(100)
    for x in (0.0, 1e30):
        labelled(xy, Viewport(800, 600, x, x, scale), LabelDensity.MANY)


def test_that_an_empty_table_has_no_labels():
    placement = labelled(np.empty((0, 2), np.float32), Viewport(800, 600))
    assert placement.boxes.shape == (0, 4)


def test_that_groups_follow_each_other_without_repeats():
    groups = [np.array([5, 2]), np.array([], np.int64), np.array([2, 9, 5, 1])]
    assert in_turn(*groups).tolist() == [5, 2, 9, 1]


def test_that_an_order_of_another_table_is_refused():
    xy, codes = cloud(10), np.zeros(10, np.uint8)
    for order in ([10], [-1]):
        with pytest.raises(ValueError, match="outside of 0 to 9"):
            candidates(xy, codes, PALETTE, Viewport(800, 600), LabelDensity.FIT, np.array(order))
    with pytest.raises(ValueError, match="9 colour codes"):
        candidates(xy, codes[1:], PALETTE, Viewport(800, 600), LabelDensity.FIT)
