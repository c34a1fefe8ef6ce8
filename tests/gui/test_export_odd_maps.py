"""Maps of no rows, of one, of equal ones, of some without a place: to pixels, in every way of drawing."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QImage

from explorer.export.drawing import draw_points
from explorer.export.figure import Figure, RegionLabel
from explorer.export.labelling import with_labels
from explorer.export.save import to_image
from explorer.export.text import TextCache
from explorer.render.density import prefers_density
from explorer.render.palette import LIGHT, category_palette, colours_on_map, rgb, with_opacity
from explorer.render.point_index import PointIndex
from explorer.render.raster import Raster, dots_for
from explorer.render.viewport import Viewport

pytestmark = pytest.mark.usefixtures("qapp")

WIDTH, HEIGHT = 320, 240
NAN, INF = float("nan"), float("inf")
WAYS = ["plain", "indexed", "dense", "dense and indexed", "turned"]


def figure(xy: np.ndarray, way: str = "plain", codes: np.ndarray | None = None) -> Figure:
    xy = np.asarray(xy, np.float32).reshape(-1, 2)
    codes = (np.arange(len(xy)) % 9).astype(np.uint8) if codes is None else codes
    view, dots = Viewport.fitted(xy, WIDTH, HEIGHT), dots_for(len(xy), WIDTH, HEIGHT)
    made = Figure(xy, codes, category_palette(9, LIGHT), view, dots, density="dense" in way)
    if "indexed" in way:
        made = replace(made, index=PointIndex.of(xy))
    if way == "turned":
        made = replace(made, depth=np.linspace(-1, 1, len(xy)).astype(np.float32))
    return made


def pixels(of: Figure) -> np.ndarray:
    of, _ = with_labels(of, lambda row: "", TextCache())
    image = to_image(of).convertToFormat(QImage.Format.Format_RGB32)
    words = np.frombuffer(image.constBits(), np.uint32).reshape(HEIGHT, WIDTH)
    return np.stack([(words >> shift) & 255 for shift in (16, 8, 0)], axis=-1).astype(int)


def rows_hit(of: Figure) -> set[int]:
    raster = Raster(WIDTH, HEIGHT)
    draw_points(of, raster)
    return set(np.unique(raster.ids).tolist()) - {-1}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "xy", [np.empty((0, 2)), np.full((50, 2), NAN), np.full((50, 2), INF)], ids=["empty", "nan", "inf"]
)
def test_that_a_map_without_a_place_is_only_ground(way, xy):
    of = figure(xy, way)
    assert (pixels(of) == rgb(LIGHT.map)).all()
    assert rows_hit(of) == set()


@pytest.mark.parametrize("way", WAYS)
def test_that_one_row_lies_in_the_middle_and_can_be_hit(way):
    of = figure(np.array([[3.0, 7.0]]), way)
    lines, columns = np.nonzero(np.abs(pixels(of) - rgb(LIGHT.map)).max(axis=-1) > 20)
    assert (lines.mean(), columns.mean()) == pytest.approx((HEIGHT / 2, WIDTH / 2), abs=1.5)
    assert rows_hit(of) == {0}


@pytest.mark.parametrize("way", WAYS)
def test_that_equal_rows_are_one_point(way):
    of = figure(np.tile([[3.0, 7.0]], (60_000, 1)), way)
    assert (np.abs(pixels(of) - rgb(LIGHT.map)).max(axis=-1) > 20).sum() < 120
    assert len(rows_hit(of)) == 1
    if of.index is not None:
        assert not prefers_density(of.index, of.viewport, of.dots)


@pytest.mark.parametrize("way", ["plain", "turned"])
@pytest.mark.parametrize("bad", [(INF, 0), (0, -INF), (NAN, 1), (1e38, -1e38)])
def test_that_one_row_far_away_or_nowhere_moves_no_other(way, bad):
    xy = np.random.default_rng(0).normal(size=(1000, 2))
    whole = figure(xy, way)
    xy[7] = bad
    spoiled = figure(xy, way)
    without = replace(whole, order=np.delete(np.arange(1000), 7), viewport=spoiled.viewport)
    assert spoiled.viewport.scale == pytest.approx(whole.viewport.scale, rel=0.05)
    assert np.array_equal(pixels(spoiled), pixels(without))


@pytest.mark.parametrize("way", ["indexed", "dense", "dense and indexed"])
def test_that_a_row_without_a_place_is_no_trouble_to_an_index_or_a_crowd(way):
    xy = np.random.default_rng(0).normal(size=(1000, 2))
    xy[7] = (INF, 0)
    of = figure(xy, way)
    found = rows_hit(of)
    assert len(found) > 300
    assert 7 not in found


def test_that_ten_thousand_categories_are_all_coloured():
    rng = np.random.default_rng(0)
    categories = np.concatenate([np.arange(10_000), rng.integers(0, 30, 20_000)])
    xy = rng.normal(size=(len(categories), 2)).astype(np.float32)
    colours, given = colours_on_map(xy, categories, 10_000, LIGHT, "distinct")
    of = replace(figure(xy, "indexed", given[categories].astype(np.uint8)), palette=with_opacity(colours))
    assert len(np.unique(pixels(of).reshape(-1, 3), axis=0)) > 100


def test_that_regions_and_answers_of_rows_without_a_place_are_left_out():
    xy = np.random.default_rng(0).normal(size=(100, 2))
    xy[3] = NAN
    of = figure(xy)
    spoiled = replace(of, focus=3, results=np.array([3]), hover=3, regions=(RegionLabel("x", NAN, 0),))
    assert np.array_equal(pixels(spoiled), pixels(of))
