"""The fitted view shows every row, and as few as can be behind the legend."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from explorer.render.thumbnails import place_thumbnails
from explorer.render.viewport import Viewport
from explorer.views.map.fitting import FEW, INSETS, PICTURE_INSETS, SMALLEST, fitted_view

WIDTH, HEIGHT = 900, 800
LEGEND = QRectF(14, 500, 200, 286)


def cloud(rows: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(rows, 2)).astype(np.float32)


def inside(view: Viewport, positions: np.ndarray) -> bool:
    return bool(view.contains(view.to_pixels(positions)).all())


def behind(view: Viewport, positions: np.ndarray) -> float:
    x, y = view.to_pixels(positions).T
    return float(((x < LEGEND.right()) & (y > LEGEND.top())).mean())


def test_that_without_a_legend_the_rows_fill_the_map():
    positions = cloud(5000)
    assert fitted_view(positions, WIDTH, HEIGHT, None) == Viewport.fitted(positions, WIDTH, HEIGHT, INSETS)


@pytest.mark.parametrize("rows", [300, 5000, 200_000])
def test_that_every_row_is_in_view_and_few_are_behind_the_legend(rows):
    positions = np.random.default_rng(0).uniform(-1, 1, (rows, 2)).astype(np.float32)
    view = fitted_view(positions, WIDTH, HEIGHT, LEGEND)
    assert inside(view, positions)
    assert behind(view, positions) <= 2 * FEW
    assert view.scale < Viewport.fitted(positions, WIDTH, HEIGHT, INSETS).scale


def test_that_lone_rows_of_a_large_table_are_in_view():
    positions = cloud(400_000)
    positions[7] = (0, 14)
    positions[11] = (13, 0)
    assert inside(fitted_view(positions, WIDTH, HEIGHT, LEGEND), positions)


def test_that_a_map_clear_of_the_legend_is_as_large_as_without():
    positions = cloud(5000)
    positions = positions[(positions > -1).any(axis=1)]
    assert fitted_view(positions, WIDTH, HEIGHT, QRectF(14, 780, 60, 6)) == Viewport.fitted(
        positions, WIDTH, HEIGHT, INSETS
    )


def test_that_a_legend_that_fills_the_map_does_not_shrink_it():
    positions = cloud(5000)
    view = fitted_view(positions, WIDTH, HEIGHT, QRectF(0, 0, WIDTH, HEIGHT))
    whole = Viewport.fitted(positions, WIDTH, HEIGHT, INSETS)
    assert view == whole
    assert view.scale >= SMALLEST * whole.scale


@pytest.mark.parametrize(
    "positions", [np.empty((0, 2)), np.zeros((1, 2)), np.zeros((9, 2)), np.full((9, 2), np.nan)]
)
def test_that_odd_maps_have_a_view(positions):
    view = fitted_view(positions.astype(np.float32), WIDTH, HEIGHT, LEGEND)
    assert np.isfinite([view.x, view.y, view.scale]).all()
    assert view.scale > 0


@pytest.mark.parametrize("aspect", [0.05, 0.4, 1.0, 2.5, 20.0])
def test_that_pictures_of_any_shape_at_the_edge_are_seen_whole(aspect):
    positions = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)], np.float32)
    aspects = np.full(4, aspect, np.float32)
    view = fitted_view(positions, WIDTH, HEIGHT, None, PICTURE_INSETS)
    left, top, width, height = place_thumbnails(positions, view, aspects).boxes.T
    edges = np.concatenate([left, top, WIDTH - left - width, HEIGHT - top - height])
    assert len(edges) == 16
    assert edges.min() >= 0
