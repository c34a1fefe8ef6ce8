"""An index holds each placed row once, finds what a view shows, and samples it fairly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.render import point_index
from explorer.render.labels import LabelDensity, candidates
from explorer.render.point_index import PointIndex, split
from explorer.render.points import Points
from explorer.render.raster import Dots, Raster
from explorer.render.viewport import Viewport

PALETTE = np.array([[200, 0, 0, 255], [0, 0, 200, 255], [0, 0, 0, 0]], np.uint8)


def cloud(rows: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(rows, 2)) * (3, 1) + (5, -2)).astype(np.float32)


def drawn(points: Points, view: Viewport, dots: Dots) -> Raster:
    raster = Raster(view.width, view.height)
    raster.clear()
    raster.splat(points, PALETTE, view, dots)
    return raster


def rows_of(points: Points) -> np.ndarray:
    return np.concatenate([points.rows[begin:end] for begin, end in points.spans] or [points.rows[:0]])


def test_that_each_row_with_a_place_is_held_once_with_its_position():
    xy = cloud(5000)
    xy[::7, 1], xy[3::7, 0], xy[5::70] = np.nan, np.inf, 1e30
    index = PointIndex.of(xy)
    placed = np.flatnonzero(np.isfinite(xy).all(axis=1))
    assert sorted(index.rows.tolist()) == placed.tolist()
    assert np.array_equal(index.xy, xy[index.rows])
    assert index.starts[0] == 0
    assert index.starts[-1] == len(placed)
    assert (np.diff(index.starts) >= 0).all()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 1000),
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.sampled_from([1e-30, 0.01, 1.0, 30.0, 1e3, 1e6, 1e30]),
    st.floats(0, 30),
)
def test_that_no_row_in_view_is_missed(seed, x, y, scale, reach):
    xy = cloud(800, seed)
    xy[:3] = [[1e9, -1e9], [-1e30, 3], [np.nan, 0]]
    index, view = PointIndex.of(xy), Viewport(120, 80, 5 + 3 * x, y - 2, scale)
    pixels = view.to_pixels(xy)
    inside = (np.abs(pixels - (60, 40)) <= (60 + reach, 40 + reach)).all(axis=1)
    found = rows_of(Points.seen(index, np.zeros(800, np.uint8), view, reach))
    assert set(np.flatnonzero(inside).tolist()) <= set(found.tolist())
    assert len(found) == len(set(found.tolist()))


def test_that_a_closer_view_walks_over_fewer_rows():
    xy = np.random.default_rng(0).uniform(0, 1, (100_000, 2)).astype(np.float32)
    index, codes = PointIndex.of(xy), np.zeros(100_000, np.uint8)
    view = Viewport.fitted(xy, 400, 400)
    whole, part = (len(Points.seen(index, codes, v)) for v in (view, view.zoomed_at(200, 200, 20)))
    assert whole == 100_000
    assert 250 < part < 2_500


def test_that_a_picture_from_the_index_is_that_of_the_table_but_for_the_order():
    xy = cloud(3000)
    codes = np.zeros(3000, np.uint8)
    view = Viewport.fitted(xy, 200, 150)
    for dots in (Dots(1.4, 1.0), Dots(2.0, 0.3)):
        table = drawn(Points.all(xy, codes), view, dots)
        indexed = drawn(Points.seen(PointIndex.of(xy), codes, view, 3), view, dots)
        assert np.array_equal(table.ids >= 0, indexed.ids >= 0)
        for shift in (0, 8, 16, 24):
            one, other = ((raster.pixels >> shift & 255).astype(int) for raster in (table, indexed))
            assert np.abs(one - other).max() <= 4


def test_that_rows_under_pixels_are_the_table_s_rows():
    xy = cloud(3000)
    view, codes = Viewport.fitted(xy, 300, 200), np.zeros(3000, np.uint8)
    ids = drawn(Points.seen(PointIndex.of(xy), codes, view, 3), view, Dots(1.0, 1.0)).ids
    lines, columns = np.nonzero(ids >= 0)
    away = view.to_pixels(xy[ids[lines, columns]]) - np.column_stack([columns + 0.5, lines + 0.5])
    assert np.hypot(*away.T).max() < 2.5


def test_that_codes_follow_their_rows_and_must_be_as_many():
    xy = cloud(1000)
    index, codes = PointIndex.of(xy), np.arange(1000).astype(np.uint8)
    assert np.array_equal(index.codes_of(codes), codes[index.rows])
    assert index.codes_of(codes) is index.codes_of(codes)
    assert np.array_equal(index.codes_of(codes[::-1]), codes[::-1][index.rows])
    for wrong in (index.codes_of, lambda some: Points.seen(index, some, Viewport(9, 9))):
        with pytest.raises(ValueError, match="999 colour codes for 1000 rows"):
            wrong(codes[1:])


def test_that_codes_sorted_a_slice_at_a_time_are_the_same():
    xy = cloud(1000)
    index, codes = PointIndex.of(xy), np.arange(1000).astype(np.uint8)
    assert len(list(index.sort_codes(codes, 300))) == 4
    assert index.has_codes(codes)
    assert np.array_equal(index.codes_of(codes), codes[index.rows])
    assert not list(index.sort_codes(codes, 300))


def test_that_few_rows_after_new_colours_have_theirs_without_sorting_all():
    xy = np.random.default_rng(0).uniform(0, 1, (50_000, 2)).astype(np.float32)
    index, view = PointIndex.of(xy), Viewport.fitted(xy, 400, 400).zoomed_at(100, 100, 8)
    codes = (np.arange(50_000) % 3).astype(np.uint8)
    few = Points.seen(index, codes, view, 2)
    assert not index.has_codes(codes)
    assert np.array_equal(few.codes, codes[few.rows])
    assert np.array_equal(few.xy, xy[few.rows])
    index.codes_of(codes)
    again = Points.seen(index, codes, view, 2)
    assert again.xy is index.xy
    assert np.array_equal(rows_of(few), rows_of(again))


def test_that_the_same_seed_gives_the_same_order_and_another_another():
    xy = cloud(20_000)
    first = PointIndex.of(xy).rows
    assert np.array_equal(first, PointIndex.of(xy).rows)
    assert not np.array_equal(first, PointIndex.of(xy, seed=7).rows)


def test_that_a_sample_is_as_large_as_asked_for_fair_and_part_of_any_larger_one():
    xy = np.random.default_rng(0).uniform(0, 1, (200_000, 2)).astype(np.float32)
    codes = (np.arange(200_000) < 60_000).astype(np.uint8)  # not spread over the table: the first rows
    index, view = PointIndex.of(xy), Viewport.fitted(xy, 400, 400)
    small, large = (Points.seen(index, codes, view, most=most) for most in (20_000, 60_000))
    for points, most in ((small, 20_000), (large, 60_000)):
        assert most <= len(points) < most + index.columns * index.lines
        rows = rows_of(points)
        assert codes[rows].mean() == pytest.approx(0.3, abs=0.02)
        assert xy[rows].mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.01)
        assert points.share == pytest.approx(most / 200_000)
    assert set(rows_of(small).tolist()) <= set(rows_of(large).tolist())


def test_that_lone_rows_stay_in_every_sample():
    crowd = np.random.default_rng(0).normal(0, 0.1, (50_000, 2))
    lone = np.array([[9.0, 9.0], [-9.0, 9.0], [9.0, -9.0]])
    xy = np.concatenate([crowd, lone]).astype(np.float32)
    view = Viewport.fitted(xy, 400, 400)
    points = Points.seen(PointIndex.of(xy), np.zeros(len(xy), np.uint8), view, most=500)
    assert {50_000, 50_001, 50_002} <= set(rows_of(points).tolist())


def test_that_the_compact_sample_of_a_large_table_is_the_first_of_each_cell(monkeypatch):
    monkeypatch.setattr(point_index, "SAMPLE_FROM", 10_000)
    xy = cloud(100_000)
    index, codes = PointIndex.of(xy), (np.arange(100_000) % 3).astype(np.uint8)
    assert index.sample is not None
    spans = index.spans((0, index.columns - 1, 0, index.lines - 1), point_index.SAMPLED)
    expected = np.concatenate([index.rows[begin:end] for begin, end in spans])
    assert np.array_equal(index.sample.rows, expected)
    assert np.array_equal(index.sample.xy, xy[expected])
    view = Viewport.fitted(xy, 400, 300)
    points = Points.seen(index, codes, view, most=2000)
    assert points.xy is index.sample.xy
    assert np.array_equal(points.codes, codes[points.rows])
    assert points.share == pytest.approx(0.02)
    assert len(points) < 2000 + index.columns * index.lines


def test_that_the_fine_grid_counts_rows_where_they_lie(monkeypatch):
    monkeypatch.setattr(point_index, "SAMPLE_FROM", 10_000)
    xy = cloud(50_000)
    index = PointIndex.of(xy)
    side = point_index.FINE_SIDE
    edges = [
        start + np.arange(side + 1) * size * index.columns / side
        for start, size in ((index.left, index.width), (index.bottom, index.height))
    ]
    expected, _, _ = np.histogram2d(xy[:, 1], xy[:, 0], bins=edges[::-1])
    fine, *coarser = index.grids
    assert fine.sum() >= 49_990, "all but those on the very edge"
    assert np.abs(fine - expected).sum() < 50, "rows between two parts may be rounded to either"
    assert [len(grid) for grid in coarser] == [512, 256, 128]
    assert coarser[0][3, 7] == fine[6:8, 14:16].sum()
    assert coarser[-1].sum() == fine.sum()


@pytest.mark.parametrize(
    "xy",
    [
        np.empty((0, 2)),
        np.array([[3.0, 4.0]]),
        np.tile([[3.0, 4.0]], (70_000, 1)),
        np.full((100, 2), np.nan),
        np.concatenate([np.random.default_rng(0).normal(size=(500, 2)), [[np.inf, 0.0]]]),
        np.column_stack([np.arange(500.0), np.zeros(500)]),
    ],
    ids=["empty", "one", "equal", "nan", "infinite", "line"],
)
def test_that_odd_layouts_are_sorted_and_drawn(xy):
    xy = xy.astype(np.float32)
    index, codes = PointIndex.of(xy), np.zeros(len(xy), np.uint8)
    placed = np.flatnonzero(np.isfinite(xy).all(axis=1))
    assert sorted(index.rows.tolist()) == placed.tolist()
    view = Viewport.fitted(xy, 200, 100)
    assert set(np.unique(drawn(Points.seen(index, codes, view), view, Dots(2.0, 1.0)).ids)) - {-1} <= set(
        placed.tolist()
    )
    assert (drawn(Points.seen(index, codes, view), view, Dots(2.0, 1.0)).ids >= 0).any() == bool(len(placed))
    assert len(Points.seen(index, codes, view, most=10)) <= 10 + index.columns * index.lines


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(1, 25))
def test_that_slices_are_bounded_and_make_up_the_whole(sizes, most):
    ends = np.cumsum(sizes, dtype=np.int64)
    spans = np.stack([ends - sizes, ends], axis=1).reshape(-1, 2)
    groups = split(spans, most)
    walked = [at for group in groups for begin, end in group for at in range(begin, end)]
    assert walked == list(range(sum(sizes)))
    assert all((group[:, 1] - group[:, 0]).sum() <= most for group in groups)


def test_that_slices_drawn_in_turn_give_the_whole_picture():
    xy = cloud(5000)
    view, codes = Viewport.fitted(xy, 200, 150), (np.arange(5000) % 2).astype(np.uint8)
    points = Points.seen(PointIndex.of(xy), codes, view, 3)
    whole, sliced = drawn(points, view, Dots(1.5, 0.5)), Raster(200, 150)
    sliced.clear()
    for part in points.in_slices(333):
        assert len(part) <= 333
        sliced.splat(part, PALETTE, view, Dots(1.5, 0.5))
    assert np.array_equal(whole.pixels, sliced.pixels)
    assert np.array_equal(whole.ids, sliced.ids)


@pytest.mark.parametrize("ordered", [False, True])
def test_that_labels_found_by_the_index_are_those_found_by_walking_the_table(ordered):
    xy = cloud(20_000)
    codes = (np.arange(20_000) % 3).astype(np.uint8)
    order = np.random.default_rng(1).permutation(20_000)[:15_000] if ordered else None
    view = Viewport.fitted(xy, 700, 500).zoomed_at(350, 200, 3)
    table = candidates(xy, codes, PALETTE, view, LabelDensity.FIT, order)
    indexed = candidates(xy, codes, PALETTE, view, LabelDensity.FIT, order, PointIndex.of(xy))
    assert len(table) > 100
    assert np.array_equal(table, indexed)


def test_that_labels_of_a_great_crowd_are_those_of_its_most_important_rows(monkeypatch):
    monkeypatch.setattr("explorer.render.labels.MOST_LOOKED_THROUGH", 3000)
    xy = cloud(20_000)
    codes, view = np.zeros(20_000, np.uint8), Viewport.fitted(xy, 700, 500)
    order = np.arange(20_000)[::-1].copy()
    for given_order, firsts in ((None, range(3000)), (order, range(17_000, 20_000))):
        found = candidates(xy, codes, PALETTE, view, LabelDensity.FIT, given_order, PointIndex.of(xy))
        assert len(found) > 50
        assert set(found.tolist()) <= set(firsts)
