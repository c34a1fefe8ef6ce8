"""Rows' pictures on the map."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from map_driver import move, pixels, rest
from PIL import Image
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_driver import settle

from explorer.views.main_window import MainWindow

COLOURS = ((200, 30, 30), (30, 160, 60), (40, 70, 200))


@pytest.fixture(scope="module")
def pictures_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 40 rows with a picture each, but for two: one is gone, one is none; a few are wide."""
    folder = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(3)
    lines = ["path,x0,x1,x2,x3"]
    for row in range(40):
        name = f"p{row:02}.png"
        size = (120, 40) if row % 7 == 0 else (64, 64)
        if row == 5:
            (folder / name).write_text("not a picture")
        elif row != 6:
            Image.new("RGB", size, COLOURS[row % 3]).save(folder / name)
        vector = np.eye(4)[row % 3] * 4 + random.normal(0, 1, 4)
        lines.append(f"{name},{','.join(f'{value:.4f}' for value in vector)}")
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def gallery(qtbot: QtBot, window: MainWindow, pictures_file: Path) -> MainWindow:
    """The window with that table, its pictures loaded."""
    window.session.opening.open([str(pictures_file)])
    settle(qtbot, window)
    qtbot.waitUntil(lambda: len(shown(window)) > 3)
    qtbot.waitUntil(lambda: window.thumbnails.waiting == 0)
    return window


def shown(window: MainWindow) -> dict[int, object]:
    return {picture.row: picture for picture in window.map.canvas.item.figure.thumbnails}


def test_that_picture_i_stands_on_row_i_in_its_own_shape(gallery: MainWindow) -> None:
    places = pixels(gallery)
    for row, picture in shown(gallery).items():
        middle = picture.x + picture.width / 2, picture.y + picture.height / 2
        np.testing.assert_allclose(middle, places[row], atol=0.5)
        colour = picture.image.pixelColor(3, 3)
        assert (colour.red(), colour.green(), colour.blue()) == COLOURS[row % 3]
        assert picture.width / picture.height == pytest.approx(3 if row % 7 == 0 else 1, rel=0.05)
    assert not {5, 6} & set(shown(gallery)), "what is no picture stays a dot"


def test_that_more_pictures_stand_on_the_map_as_one_comes_closer(qtbot: QtBot, gallery: MainWindow) -> None:
    view = gallery.map.canvas.viewport_now
    before = shown(gallery)
    middle = pixels(gallery)[next(iter(before))]
    gallery.map.canvas.show_viewport(view.zoomed_at(*middle, 1.6))
    qtbot.waitUntil(lambda: not gallery.map.canvas.item.refining)
    now, places = shown(gallery), pixels(gallery)
    inside = gallery.map.canvas.viewport_now.contains(places, margin=30)
    covers = (QRectF(gallery.map.tools.geometry()), gallery.map.legend.layout().card)
    there = {
        row
        for row in before
        if inside[row]
        and not any(cover.adjusted(-50, -50, 50, 50).contains(*places[row]) for cover in covers)
    }
    assert there <= set(now), "those that were there stay"
    row = next(iter(before))
    assert now[row].width > before[row].width


def test_that_pictures_can_be_switched_off_by_key_and_button(qtbot: QtBot, gallery: MainWindow) -> None:
    qtbot.activate(gallery)
    assert gallery.map.tools["pictures"].isChecked()
    gallery.map.fit()
    scale = gallery.map.canvas.viewport_now.scale
    QTest.keyClick(gallery.map.canvas, Qt.Key.Key_P)
    assert not shown(gallery)
    assert not gallery.map.tools["pictures"].isChecked()
    gallery.map.fit()
    assert gallery.map.canvas.viewport_now.scale > scale, "dots need less of an edge than pictures"
    gallery.map.tools["pictures"].click()
    assert shown(gallery)


def test_that_the_hover_card_shows_the_picture_larger(qtbot: QtBot, gallery: MainWindow) -> None:
    rest(qtbot, gallery)
    row, picture = next(iter(shown(gallery).items()))
    move(gallery, QPoint(round(picture.x + picture.width / 2), round(picture.y + 4)))
    card = gallery.map.card
    assert gallery.map.pointing.row == row
    assert card.isVisible()
    assert card.picture.isVisible()
    assert not card.picture.pixmap().isNull()
    box = (picture.x, picture.y, picture.x + picture.width, picture.y + picture.height)
    place = card.geometry()
    assert place.left() > box[2] or place.right() < box[0] or place.top() > box[3] or place.bottom() < box[1]


def test_that_a_table_without_pictures_offers_none(open_window: MainWindow) -> None:
    assert not open_window.map.tools["pictures"].isVisible()
    assert not shown(open_window)


def test_that_saved_pictures_show_the_same_thumbnails(gallery: MainWindow) -> None:
    assert {picture.row for picture in gallery.map.picture().thumbnails} >= set(shown(gallery))
