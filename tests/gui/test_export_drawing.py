"""A figure's points: whole, in samples, in slices, by depth; what lies on top is what the cursor finds."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.export.drawing import draw_in_slices, draw_points, rows_to_draw
from explorer.export.figure import Figure
from explorer.render.palette import LIGHT, category_palette
from explorer.render.point_index import PointIndex
from explorer.render.raster import Dots, Raster, dots_for
from explorer.render.viewport import Viewport

WIDTH, HEIGHT = 320, 240


def cloud(rows: int = 20_000, **more) -> Figure:
    xy = np.random.default_rng(0).normal(size=(rows, 2)).astype(np.float32)
    codes = (np.arange(rows) % 9).astype(np.uint8)
    view = more.pop("viewport", Viewport.fitted(xy, WIDTH, HEIGHT))
    return Figure(xy, codes, category_palette(9, LIGHT), view, dots_for(rows, WIDTH, HEIGHT), **more)


def drawn(figure: Figure, **how) -> Raster:
    raster = Raster(WIDTH, HEIGHT)
    draw_points(figure, raster, **how)
    return raster


def channels(raster: Raster) -> np.ndarray:
    return np.stack([(raster.pixels >> shift) & 255 for shift in (16, 8, 0)], axis=-1).astype(int)


def stack_at(*codes: int, **more) -> Figure:
    """Rows at one place, in the middle."""
    xy = np.zeros((len(codes), 2), np.float32)
    view = Viewport(WIDTH, HEIGHT, 0, 0, 1.0)
    dots = Dots(3.0, 1.0)
    return Figure(xy, np.array(codes, np.uint8), category_palette(9, LIGHT), view, dots, **more)


def test_that_an_index_changes_nothing_but_the_order_within_a_crowd():
    figure = cloud()
    plain, indexed = (channels(drawn(f)) for f in (figure, replace(figure, index=PointIndex.of(figure.xy))))
    assert np.abs(plain.mean(axis=(0, 1)) - indexed.mean(axis=(0, 1))).max() < 0.3
    blocks = [image.reshape(24, 10, 32, 10, 3).mean(axis=(1, 3)) for image in (plain, indexed)]
    assert np.abs(blocks[0] - blocks[1]).max() < 16


@pytest.mark.parametrize("indexed", [False, True])
def test_that_a_sample_draws_about_as_many_rows_as_asked_for_and_is_about_as_dark(indexed):
    figure = cloud(60_000)
    index = PointIndex.of(figure.xy)
    figure = replace(figure, index=index if indexed else None)
    raster = Raster(WIDTH, HEIGHT)
    count = draw_points(figure, raster, most=15_000)
    assert count == 15_000 or (indexed and count < 15_000 + index.columns * index.lines)
    whole, sample = channels(drawn(figure)), channels(raster)
    assert sample.mean() == pytest.approx(whole.mean(), rel=0.02)


def test_that_a_sample_of_a_selection_is_a_sample_too():
    figure = cloud(60_000, selected=np.arange(0, 60_000, 2))
    raster = Raster(WIDTH, HEIGHT)
    assert draw_points(figure, raster, most=10_000) <= 20_000
    assert draw_points(figure, raster) == 90_000


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"density": True},
        {"selected": np.arange(0, 20_000, 3), "results": np.arange(5), "focus": 7},
        {"order": np.arange(0, 20_000, 7)[::-1]},
        {"depth": np.random.default_rng(1).normal(size=20_000).astype(np.float32)},
    ],
    ids=["plain", "density", "selected", "order", "depth"],
)
@pytest.mark.parametrize("indexed", [False, True])
def test_that_slices_make_up_the_same_picture(more, indexed):
    figure = cloud(**more)
    figure = replace(figure, index=PointIndex.of(figure.xy) if indexed else None)
    raster = Raster(WIDTH, HEIGHT)
    slices = list(draw_in_slices(figure, raster, slice_rows=700))
    assert max(slices) <= 700
    assert len(slices) >= sum(slices) / 700
    whole = drawn(figure)
    assert np.array_equal(raster.pixels, whole.pixels)
    assert np.array_equal(raster.ids, whole.ids)


def test_that_the_rows_to_draw_are_those_in_view():
    figure = cloud(100_000)
    figure = replace(figure, index=PointIndex.of(figure.xy))
    assert rows_to_draw(figure) == 100_000
    closer = replace(figure, viewport=figure.viewport.zoomed_at(160, 120, 30))
    assert 0 < rows_to_draw(closer) < 10_000
    assert rows_to_draw(replace(figure, order=np.arange(10))) == 10


def test_that_importance_decides_what_lies_on_top():
    """Rows 0 to 4 at one place: the focus above the best result above the others above the selected."""
    middle = HEIGHT // 2, WIDTH // 2
    every = {"results": np.array([1, 2]), "selected": np.array([3, 0, 1, 2]), "focus": 0}
    for left_out, top in (((), 0), (("focus",), 1), (("focus", "results"), 3), (tuple(every), 4)):
        figure = stack_at(0, 1, 2, 3, 4, **{key: rows for key, rows in every.items() if key not in left_out})
        if "results" in left_out and "selected" not in left_out:
            figure = replace(figure, selected=np.array([3]))
        assert drawn(figure).ids[middle] == top


def test_that_a_selection_stands_out_and_lies_above_with_and_without_an_index():
    figure = stack_at(1, 0, 1, 1, selected=np.array([1]))
    for index in (None, PointIndex.of(figure.xy)):
        raster = drawn(replace(figure, index=index))
        assert raster.ids[HEIGHT // 2, WIDTH // 2] == 1
        blue = np.array([0x38, 0x67, 0xD6])
        assert np.abs(channels(raster)[HEIGHT // 2, WIDTH // 2] - blue).max() <= 3


def test_that_near_rows_hide_far_ones_and_are_larger():
    figure = stack_at(0, 1, depth=np.array([1.0, -1.0], np.float32))
    raster = drawn(figure)
    assert raster.ids[HEIGHT // 2, WIDTH // 2] == 0
    apart = replace(figure, xy=np.array([[-40, 0], [40, 0]], np.float32))
    ids = drawn(apart).ids
    assert (ids == 0).sum() > 1.5 * (ids == 1).sum()
    ink = np.abs(channels(drawn(apart)) - channels(drawn(stack_at()))).sum(axis=-1)
    assert ink[HEIGHT // 2, WIDTH // 2 - 40] > 1.5 * ink[HEIGHT // 2, WIDTH // 2 + 40]


def test_that_rows_without_a_depth_are_not_drawn():
    depth = np.array([np.nan, 1.0, np.inf], np.float32)
    assert set(np.unique(drawn(stack_at(0, 1, 2, depth=depth)).ids)) == {-1, 1}


@pytest.mark.parametrize("most", [None, 5000])
def test_that_a_selection_stands_out_from_crowds_too(most):
    figure = cloud(50_000, density=True)
    left = np.flatnonzero(figure.xy[:, 0] < 0)
    for index in (None, PointIndex.of(figure.xy)):
        crowd, some = (
            channels(drawn(replace(figure, index=index, selected=rows), most=most))
            for rows in (left[:0], left)
        )
        ground = np.array([252, 252, 253])
        before, after = (np.abs(image - ground).sum(axis=-1) for image in (crowd, some))
        assert after[90:150, 170:240].mean() < 0.35 * before[90:150, 170:240].mean()
        assert after[90:150, 80:150].mean() > 0.9 * before[90:150, 80:150].mean()
    raster = drawn(replace(figure, selected=left))
    found = raster.ids[90:150, 80:150]
    assert set(np.unique(found[found >= 0]).tolist()) <= set(left.tolist())


def test_that_fading_mixes_with_the_ground():
    raster = Raster(2, 1)
    raster.pixels[0] = [0xFF0080FF, 0xFFFFFFFF]
    raster.fade(0xFF000000, 0.25)
    assert np.abs(channels(raster)[0] - [[0, 32, 63], [63, 63, 63]]).max() <= 1
    assert (raster.pixels >> 24 == 255).all()


def test_that_a_moving_density_picture_looks_like_the_still_one(monkeypatch):
    monkeypatch.setattr("explorer.render.point_index.SAMPLE_FROM", 10_000)
    figure = cloud(400_000, density=True)
    figure = replace(figure, index=PointIndex.of(figure.xy))
    still, moving = (channels(drawn(figure, most=most)) for most in (None, 1000))
    inside = slice(60, 180), slice(80, 240)
    assert np.abs(still[inside] - moving[inside]).mean() < 8
    hidden = figure.palette.copy()
    hidden[:8, 3] = 0
    figure = replace(figure, palette=hidden)
    still, moving = (channels(drawn(figure, most=most)) for most in (None, 200_000))
    assert np.abs(still[inside] - moving[inside]).mean() < 10, "hidden rows are hidden while moving, too"


@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("density", [False, True])
def test_that_tiny_and_placeless_tables_are_drawn(rows, density):
    xy = np.full((rows, 2), np.nan, np.float32)
    figure = replace(cloud(9), xy=xy, codes=np.zeros(rows, np.uint8), density=density)
    for index in (None, PointIndex.of(xy)):
        raster = drawn(replace(figure, index=index), most=100)
        assert (raster.ids == -1).all()
        assert len(np.unique(raster.pixels)) == 1


def test_that_255_categories_are_drawn_each_in_its_colour():
    xy = np.column_stack([np.arange(255) % 16 * 16 + 20, -(np.arange(255) // 16 * 13 + 15)]).astype(
        np.float32
    )
    palette = category_palette(254, LIGHT)
    view = Viewport(WIDTH, HEIGHT, WIDTH / 2, -HEIGHT / 2, 1.0)
    figure = Figure(xy, np.arange(255).astype(np.uint8), palette, view, Dots(4.0, 1.0))
    image = channels(drawn(figure))
    for row, (x, y) in enumerate(view.to_pixels(xy).astype(int)):
        assert np.abs(image[y, x] - palette[row, :3].astype(int)).max() <= 3
