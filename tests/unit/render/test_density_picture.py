"""The density picture counts rows, on a logarithmic scale."""

import numpy as np
import pytest

from explorer.render.density import density_colours, draw_density
from explorer.render.palette import DARK, LIGHT, rgb
from explorer.render.raster import Raster, ground_of
from explorer.render.viewport import Viewport

PALETTE = np.array([[1, 1, 1, 255], [1, 1, 1, 0]], np.uint8)
VIEW = Viewport(64, 48, 32, -24, 1.0)


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
