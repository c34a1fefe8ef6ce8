"""The map's item shows a sample at once and refines it while the window answers."""

import time
from dataclasses import replace

import numpy as np
import pyqtgraph
import pytest
from machine import slowness
from PySide6.QtCore import QTimer

from explorer.core.health import Health, HealthCounts
from explorer.core.importance import by_importance
from explorer.core.labels import Labels
from explorer.core.listing import LoadedTable, TableListing
from explorer.core.table import Role
from explorer.export.drawing import draw_points
from explorer.export.figure import Figure, MapLabel
from explorer.render.palette import LIGHT, category_palette
from explorer.render.point_index import PointIndex
from explorer.render.raster import Raster, dots_for
from explorer.render.viewport import Viewport
from explorer.views.map import map_item, table_facts
from explorer.views.map.map_item import MapItem
from explorer.views.map.point_indexing import FEWEST, PointIndexing
from explorer.views.map.table_facts import TableReading

WIDTH, HEIGHT = 300, 200


def cloud(rows: int, seed: int = 0) -> Figure:
    xy = np.random.default_rng(seed).normal(size=(rows, 2)).astype(np.float32)
    codes = (np.arange(rows) % 9).astype(np.uint8)
    view, dots = Viewport.fitted(xy, WIDTH, HEIGHT), dots_for(rows, WIDTH, HEIGHT)
    return Figure(xy, codes, category_palette(9, LIGHT), view, dots, index=PointIndex.of(xy))


@pytest.fixture
def view(qtbot):
    view = pyqtgraph.GraphicsView(background=None)
    qtbot.addWidget(view)
    view.resize(WIDTH, HEIGHT)
    return view


@pytest.fixture
def item(view, qtbot):
    item = MapItem()
    view.addItem(item)
    with qtbot.waitExposed(view):
        view.show()
    return item


def whole(figure: Figure) -> np.ndarray:
    raster = Raster(WIDTH, HEIGHT)
    draw_points(figure, raster)
    return raster.pixels


def painted(item: MapItem) -> np.ndarray:
    item.scene().views()[0].grab()
    return item._raster.pixels


def test_that_a_picture_that_takes_long_is_refined_to_the_whole_one(item, qtbot):
    figure = cloud(400_000)
    item.budget.paced(100_000, 1.0)  # as on a slow machine
    item.show_figure(figure)
    sample = painted(item).copy()
    assert item.refining
    expected = whole(figure)
    assert not np.array_equal(sample, expected)
    assert np.abs((sample & 255).astype(int).mean() - (expected & 255).astype(int).mean()) < 4
    qtbot.waitUntil(lambda: not item.refining)
    assert np.array_equal(painted(item), expected)


def test_that_the_window_answers_while_a_picture_is_refined(item, qtbot):
    item.budget.paced(100_000, 1.0)
    item.show_figure(cloud(2_000_000))
    painted(item)
    # In time of this thread alone: what else the machine does is none of its business.
    ticks, timer = [time.thread_time()], QTimer()
    timer.timeout.connect(lambda: ticks.append(time.thread_time()))
    timer.start(0)
    qtbot.waitUntil(lambda: not item.refining)
    timer.stop()
    gaps = np.diff(ticks)
    assert len(gaps) > 5
    assert np.median(gaps) < 0.05 * slowness()


def test_that_a_new_view_ends_the_refining_of_the_old_one(item, qtbot):
    figure = cloud(400_000)
    item.budget.paced(100_000, 1.0)
    item.show_figure(figure)
    painted(item)
    assert item.refining
    closer = replace(figure, viewport=figure.viewport.zoomed_at(100, 100, 3))
    item.show_figure(closer, coarse=True)
    assert not item.refining
    painted(item)
    item.show_figure(closer)
    painted(item)
    qtbot.waitUntil(lambda: not item.refining)
    assert np.array_equal(painted(item), whole(closer))


def test_that_what_lies_above_the_points_does_not_disturb_the_refining(item, qtbot):
    figure = cloud(400_000)
    item.budget.paced(100_000, 1.0)
    item.show_figure(figure)
    painted(item)
    item.show_figure(replace(figure, hover=3), points_changed=False)
    assert item.refining
    qtbot.waitUntil(lambda: not item.refining)
    assert np.array_equal(painted(item), whole(figure))


def test_that_a_small_table_is_whole_at_once(item):
    figure = cloud(5000)
    item.show_figure(figure)
    assert np.array_equal(painted(item), whole(figure))
    assert not item.refining


def test_that_the_cursor_finds_rows_of_a_sample_and_of_the_whole(item, qtbot):
    figure = cloud(400_000)
    item.budget.paced(100_000, 1.0)
    for _ in range(2):
        item.show_figure(figure)
        painted(item)
        row = item.row_at(WIDTH / 2, HEIGHT / 2)
        assert np.hypot(*(figure.viewport.to_pixels(figure.xy[[row]])[0] - (WIDTH / 2, HEIGHT / 2))) < 6
        qtbot.waitUntil(lambda: not item.refining)


def test_that_a_screen_of_many_pixels_moves_at_half_its_resolution(item, monkeypatch):
    monkeypatch.setattr(map_item, "MOST_MOVING_PIXELS", 10_000)
    figure = cloud(5000)
    item.show_figure(figure, coarse=True)
    assert painted(item).shape == (HEIGHT // 2, WIDTH // 2)
    item.show_figure(figure)
    assert painted(item).shape == (HEIGHT, WIDTH)
    row = item.row_at(WIDTH / 2, HEIGHT / 2)
    assert np.hypot(*(figure.viewport.to_pixels(figure.xy[[row]])[0] - (WIDTH / 2, HEIGHT / 2))) < 9


def test_that_the_cursor_finds_rows_of_a_small_table_while_it_moves(item):
    figure = cloud(5000)
    item.show_figure(figure, coarse=True)
    painted(item)
    assert item.row_at(WIDTH / 2, HEIGHT / 2) >= 0


def test_that_moving_pictures_of_a_large_table_are_samples_within_the_budget(item):
    figure = cloud(400_000)
    for turn in range(4):
        item.show_figure(replace(figure, viewport=figure.viewport.panned(turn, 0)), coarse=True)
        painted(item)
        assert not item.refining
    assert item.budget.rows < 400_000


@pytest.fixture
def indexing(qtbot):
    indexing = PointIndexing()
    yield indexing
    indexing.close()


def test_that_positions_at_rest_are_sorted_and_those_of_few_rows_are_not(indexing, qtbot):
    xy = np.random.default_rng(0).normal(size=(FEWEST + 1000, 2)).astype(np.float32)
    with qtbot.waitSignal(indexing.ready):
        assert indexing.index_of(xy) is None
    index = indexing.index_of(xy)
    assert index is not None
    assert index.table_rows == len(xy)
    assert indexing.index_of(xy) is index
    assert indexing.index_of(xy.copy()) is index, "the same positions, elsewhere"
    assert indexing.index_of(xy[:1000]) is None


def test_that_positions_that_move_in_place_are_sorted_only_once_they_rest(indexing, qtbot):
    xy = np.random.default_rng(0).normal(size=(FEWEST, 2)).astype(np.float32)
    ready = []
    indexing.ready.connect(lambda: ready.append(True))
    assert indexing.index_of(xy) is None
    for _ in range(3):
        xy += 0.01
        indexing._rest.timeout.emit()  # by hand: a clock would find them at rest on a machine that stalls
        assert indexing.index_of(xy) is None
        assert indexing._thread is None
    qtbot.waitUntil(lambda: bool(ready))
    index = indexing.index_of(xy)
    assert index is not None
    assert np.array_equal(index.xy, xy[index.rows])
    xy += 0.01
    assert indexing.index_of(xy) is None, "moved again"


def test_that_it_ends_with_the_window_while_it_sorts(qtbot):
    indexing = PointIndexing()
    indexing.index_of(np.random.default_rng(0).normal(size=(1_000_000, 2)).astype(np.float32))
    qtbot.wait(250)
    indexing.close()


@pytest.fixture
def reading(qtbot, monkeypatch):
    monkeypatch.setattr(table_facts, "AT_ONCE", 100)
    reading = TableReading()
    yield reading
    reading.close()


def table_of(rows: int, twins: int = 0) -> LoadedTable:
    first = np.arange(rows)
    first[:twins] = 0
    health = Health(
        np.zeros(rows, np.uint8), np.ones(rows, np.float32), first, HealthCounts(duplicates=twins)
    )
    labels = Labels.from_texts(("..." if row % 3 else f"word{row}" for row in range(rows)), "made")
    listing = TableListing("made", rows, 4, "float32", Role.OTHER)
    return LoadedTable(1, "made", listing, labels, health, scaled=False, device="cpu")


def test_that_a_large_table_is_looked_through_beside_the_window_and_only_the_last_one_counts(reading, qtbot):
    reading.take_up(table_of(200))
    assert (reading.facts.shown, len(reading.facts.order)) == (200, 0)
    last = table_of(300, twins=5)
    with qtbot.waitSignal(reading.ready):
        reading.take_up(last)
    assert reading.facts.twins == {0: 5}
    assert np.array_equal(reading.facts.order, by_importance(last.labels))
    reading.take_up(table_of(90, twins=2))
    assert (reading.facts.shown, reading.facts.twins) == (90, {0: 2}), "a small one at once"
    reading.take_up(None)
    assert reading.facts.shown == 0


def test_that_labels_new_to_the_map_come_a_few_at_a_time_the_most_important_first(item, qtbot):
    labels = tuple(MapLabel(row, f"word{row}", 10.0 * row, 20.0) for row in range(3 * map_item.NEW_LABELS))
    item.show_figure(replace(cloud(5000), labels=labels))
    painted(item)
    kept = item.cache.kept
    assert 0 < kept < len(labels)
    qtbot.waitUntil(lambda: item.cache.kept == len(labels))
    assert [key[0] for key in item.cache._images] == [label.text for label in labels]
