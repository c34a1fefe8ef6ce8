"""The density picture counts rows, on a logarithmic scale."""

import numpy as np
import pytest

from explorer.render.density import Counts, density_colours, draw_grid, fullest, prefers_density
from explorer.render.palette import DARK, LIGHT, rgb
from explorer.render.point_index import PointIndex
from explorer.render.points import Points
from explorer.render.raster import Raster, dots_for, ground_of
from explorer.render.viewport import Viewport

PALETTE = np.array([[1, 1, 1, 255], [1, 1, 1, 0]], np.uint8)
VIEW = Viewport(64, 48, 32, -24, 1.0)


def draw_density(raster, xy, codes, palette, viewport, colours, *, ground=0, softness=1.0) -> float:
    counts = Counts(raster, palette, viewport)
    counts.add(Points.all(xy, codes))
    return counts.colour(colours, ground, softness)


def density(xy, codes=None, softness=0.0, theme=LIGHT) -> tuple[Raster, float]:
    raster = Raster(64, 48)
    xy = np.asarray(xy, np.float32) * np.float32([1, -1])
    codes = np.zeros(len(xy), np.uint8) if codes is None else np.array(codes, np.uint8)
    most = draw_density(
        raster, xy, codes, PALETTE, VIEW, density_colours(theme), ground=ground_of(theme), softness=softness
    )
    return raster, most


def test_that_counts_become_colours_on_a_logarithmic_scale():
    raster, most = density([(10.5, 10.5)] * 1000 + [(20.5, 20.5)] * 31 + [(30.5, 30.5)])
    colours = density_colours(LIGHT)
    assert most == 1000
    for place, count in ((10, 1000), (20, 31), (30, 1)):
        step = int(np.log1p(count) / np.log1p(1000) * 255)
        pixel = int(raster.pixels[place, place])
        found = np.array([pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255])
        nearby = colours[max(step - 1, 0) : step + 2].astype(int)
        assert np.abs(nearby - found).max(axis=1).min() <= 2
    assert raster.pixels[40, 40] == ground_of(LIGHT)


def test_that_the_row_under_a_pixel_is_the_last_one_counted_there():
    raster, _ = density([(10.2, 10.2), (10.8, 10.8), (5.5, 5.5)])
    assert raster.ids[10, 10] == 1
    assert raster.ids[5, 5] == 2
    assert (raster.ids >= 0).sum() == 2


def test_that_spreading_loses_no_row_within_the_picture():
    raster, most = density([(30.5, 20.5)] * 256, softness=1.0)
    assert most == pytest.approx(256 * (6 / 16) ** 2), "two passes of [1, 2, 1] / 4 each way"
    assert (raster.pixels != ground_of(LIGHT)).sum() == 25


def test_that_hidden_and_outlying_rows_do_not_count():
    bad = [(np.nan, 1), (np.inf, 1), (1e30, -1e30), (-0.5, 3), (64, 3), (3, 48)]
    raster, most = density([*bad, (5.5, 5.5)], [0] * 6 + [1])
    assert most == 0
    assert (raster.pixels == ground_of(LIGHT)).all()
    assert (raster.ids == -1).all()


def test_that_crowds_stand_out_from_the_ground_in_both_themes():
    for theme in (LIGHT, DARK):
        colours, ground = density_colours(theme).astype(int), np.array(rgb(theme.map))
        distance = np.abs(colours - ground).sum(axis=1)
        assert distance[-1] > distance[0] > 60


def crowd(rows: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(rows, 2)).astype(np.float32)


def test_that_density_takes_over_where_discs_merge_and_gives_way_on_zoom():
    few, many = (PointIndex.of(crowd(rows)) for rows in (10_000, 400_000))
    view = Viewport.fitted(crowd(10_000), 300, 200)
    assert not prefers_density(few, view, dots_for(10_000, 300, 200))
    assert prefers_density(many, view, dots_for(400_000, 300, 200))
    assert not prefers_density(many, view.zoomed_at(150, 100, 40), dots_for(400_000, 300, 200, 40))


def test_that_a_little_zoom_back_and_forth_does_not_change_the_kind_of_picture():
    index, view = PointIndex.of(crowd(400_000)), Viewport.fitted(crowd(10_000), 300, 200)
    answer, answers = True, []
    zooms = np.exp(np.linspace(0, np.log(40), 80))
    for zoom in zooms:
        dots = dots_for(400_000, 300, 200, zoom)
        answer = prefers_density(index, view.zoomed_at(150, 100, zoom), dots, answer)
        answers.append(answer)
    assert answers[0]
    assert not answers[-1]
    assert answers == sorted(answers, reverse=True), "once, not back and forth"
    change = answers.index(False)
    for zoom in zooms[change - 2 : change + 1]:
        dots = dots_for(400_000, 300, 200, zoom)
        assert not prefers_density(index, view.zoomed_at(150, 100, zoom), dots, False), "no way back so near"


def test_that_few_rows_and_none_are_never_shown_as_density():
    for rows in (0, 1, 3, 60_000):
        index = PointIndex.of(np.zeros((rows, 2), np.float32))
        assert not prefers_density(index, Viewport(300, 200), dots_for(rows, 300, 200))
    nowhere = PointIndex.of(np.full((9, 2), np.nan, np.float32))
    assert not prefers_density(nowhere, Viewport(300, 200), dots_for(9, 300, 200))


def test_that_colours_stay_when_the_map_is_dragged():
    index, view = PointIndex.of(crowd(50_000)), Viewport.fitted(crowd(50_000), 300, 200)
    assert fullest(index, view) == fullest(index, view.panned(90, 40))
    assert fullest(index, view) > fullest(index, view.zoomed_at(0, 0, 2))


def test_that_counts_from_a_sample_are_about_those_of_all_rows():
    xy, codes = crowd(300_000), np.zeros(300_000, np.uint8)
    index, view = PointIndex.of(xy), Viewport.fitted(xy, 300, 200)
    found = []
    for points in (Points.all(xy, codes), Points.seen(index, codes, view, most=60_000)):
        counts = Counts(Raster(300, 200), PALETTE[:1], view)
        counts.add(points)
        found.append(counts.array.reshape(20, 10, 30, 10).sum(axis=(1, 3))[5:15, 8:22])
    whole, sampled = found
    assert np.abs(sampled - whole).mean() < 0.08 * whole.mean()


RED_BLUE = np.array([[200, 0, 0, 255], [0, 0, 200, 255], [9, 9, 9, 0]], np.uint8)


def mixed(xy, codes) -> np.ndarray:
    """Red, green, blue as int, shape (48, 64, 3)."""
    raster = Raster(64, 48)
    places = np.asarray(xy, np.float32) * np.float32([1, -1])
    colours, ground = density_colours(LIGHT), ground_of(LIGHT)
    draw_density(raster, places, np.array(codes), RED_BLUE, VIEW, colours, ground=ground, softness=0)
    return np.stack([(raster.pixels >> shift) & 255 for shift in (16, 8, 0)], axis=-1).astype(int)


def test_that_crowds_of_several_colours_have_their_mean_stronger_where_they_are_fuller():
    places = [(10.5, 10.5)] * 900 + [(20.5, 10.5)] * 300 + [(30.5, 10.5)] * 10
    image = mixed(places, [0] * 900 + [0, 1, 1] * 100 + [1] * 10)
    assert image[10, 10] == pytest.approx([200, 0, 0], abs=3), "the fullest"
    red, green, blue = image[10, 20]
    assert red < blue
    assert green < 60
    faint = image[10, 30]
    assert faint[2] > faint[0] > image[10, 20][0]
    assert image[30, 30] == pytest.approx(rgb(LIGHT.map))


def test_that_hidden_rows_lend_no_colour_to_a_crowd():
    image = mixed([(10.5, 10.5)] * 30, [0, 1, 2] * 10)
    without = mixed([(10.5, 10.5)] * 20, [0, 1] * 10)
    assert np.array_equal(image, without)


def test_that_the_last_row_of_a_mixed_crowd_is_under_the_cursor():
    raster = Raster(64, 48)
    xy = np.float32([[5.5, -5.5], [5.5, -5.5], [9.5, -9.5]])
    draw_density(raster, xy, np.array([0, 1, 2], np.uint8), RED_BLUE, VIEW, density_colours(LIGHT))
    assert raster.ids[5, 5] == 1
    assert raster.ids[9, 9] == -1


def test_that_cells_know_their_mean_colour_and_what_is_hidden():
    xy = crowd(40_000)
    codes = np.where(xy[:, 0] > 0, 1, 0).astype(np.uint8)
    codes[::4] = 2
    index = PointIndex.of(xy)
    cells = index.cell_colours(codes, RED_BLUE)
    assert index.cell_colours(codes, RED_BLUE) is cells
    middle = index.lines // 2
    column = int((1.0 - index.left) / index.width)
    assert cells[middle, column, :3] == pytest.approx([0, 0, 200])
    column = int((-1.0 - index.left) / index.width)
    assert cells[middle, column, :3] == pytest.approx([200, 0, 0])
    assert cells[middle - 5 : middle + 5, middle - 5 : middle + 5, 3].mean() == pytest.approx(0.75, abs=0.1)
    swapped = index.cell_colours(codes, RED_BLUE[[1, 0, 2]])
    assert swapped[middle, column, :3] == pytest.approx([0, 0, 200])


def seen(raster: Raster) -> np.ndarray:
    return np.stack([(raster.pixels >> shift) & 255 for shift in (16, 8, 0)], axis=-1).astype(int)


@pytest.mark.parametrize("palette", [PALETTE[:1], RED_BLUE], ids=["one colour", "several"])
@pytest.mark.parametrize("zoom", [0.3, 1, 4])
def test_that_the_grid_s_picture_is_about_that_of_all_rows(monkeypatch, palette, zoom):
    monkeypatch.setattr("explorer.render.point_index.SAMPLE_FROM", 10_000)
    xy = crowd(300_000)
    codes = np.where(xy[:, 0] > 0, 1, 0).astype(np.uint8) if len(palette) > 1 else np.zeros(300_000, np.uint8)
    codes[::5] = len(palette) - 1
    index, view = PointIndex.of(xy), Viewport.fitted(xy, 300, 200).zoomed_at(150, 100, zoom)
    colours, ground = density_colours(LIGHT), ground_of(LIGHT)
    whole, grid = Raster(300, 200), Raster(300, 200)
    counts = Counts(whole, palette, view)
    counts.add(Points.all(xy, codes))
    counts.colour(colours, ground, 1.0, fullest(index, view))
    draw_grid(grid, index, codes, palette, view, colours, ground)
    one, other = (seen(raster).reshape(20, 10, 30, 10, 3).mean(axis=(1, 3)) for raster in (whole, grid))
    assert np.abs(one - other).mean() < 6
    assert (grid.ids == -1).all()
