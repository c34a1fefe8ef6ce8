"""The gallery in the window, on an index of real pictures made by the demo's own encoder."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot
from window_driver import place_of, settle

from explorer.commands import Session
from explorer.views.main_window import MainWindow


@pytest.fixture
def pictures_window(qtbot: QtBot, window: MainWindow, scenes: Session) -> MainWindow:
    """A window with an index of the demo's pictures, and the encoder that made it."""
    settle(qtbot, window)
    qtbot.waitUntil(lambda: scenes.document.encoder is not None)
    return window


def test_that_typed_words_rank_real_pictures_and_lead_on_to_captions(
    qtbot: QtBot, pictures_window: MainWindow
) -> None:
    window, session = pictures_window, pictures_window.session
    gallery = window.answer.gallery
    assert window.docks[1].windowTitle() == "Pictures"
    assert gallery.header.count.text() == f"{session.document.pictures.rows} pictures"
    session.asking.ask("blue triangle on green")
    qtbot.waitUntil(lambda: gallery.model.answer is not None)
    assert gallery.header.title.text() == "blue triangle on green"
    best = gallery.model.row_at(0)
    caption = gallery.model.captions(0)[0]
    assert gallery.detail.caption.text().startswith(caption)
    image = None

    def painted() -> bool:
        nonlocal image
        image = window.thumbnails.image(best)
        return image is not None

    qtbot.waitUntil(painted)
    tile = gallery.view.visualRect(gallery.model.index(0, 0)).center()
    shown = gallery.view.viewport().grab().toImage().pixelColor(tile - QPoint(0, 9))
    middle = QColor(image.pixel(image.width() // 2, image.height() // 2))
    assert abs(shown.lightness() - middle.lightness()) < 40

    captions = next(each for each in gallery.menu().actions() if each.text() == "Captions like this picture")
    captions.trigger()
    listed = window.answer.neighbours
    qtbot.waitUntil(lambda: listed.isVisible() and listed.model.rowCount() > 0)
    own = listed.model.label(0)
    owner = session.document.pictures.name(listed.model.row_at(0))
    assert own in session.document.pictures.captions(listed.model.row_at(0))
    assert owner.startswith("scene-")


def test_that_pointing_on_the_map_rings_the_picture_and_back(
    qtbot: QtBot, pictures_window: MainWindow
) -> None:
    window = pictures_window
    gallery = window.answer.gallery
    qtbot.waitUntil(lambda: window.thumbnails.waiting == 0 and window.thumbnails.loaded(1) is not None)
    spot = gallery.view.visualRect(gallery.model.index(1, 0)).center()
    qtbot.mouseMove(gallery.view.viewport(), spot)
    qtbot.waitUntil(lambda: window.map.canvas.item.figure.hover == 1)
    qtbot.mouseMove(window.map.canvas.viewport(), QPoint(3, 3))
    before = gallery.view.viewport().grab().toImage()
    qtbot.mouseMove(window.map.canvas.viewport(), place_of(window, 2))
    qtbot.waitUntil(lambda: gallery.view.viewport().grab().toImage() != before)


def test_that_panels_are_walked_to_the_gallery(qtbot: QtBot, pictures_window: MainWindow) -> None:
    window = pictures_window
    qtbot.activate(window)
    window.map.canvas.setFocus()
    for _ in range(8):
        window.go_to_panel(1)
        if window.answer.gallery.view.hasFocus():
            break
    assert window.answer.gallery.view.hasFocus()
    qtbot.keyClick(window.answer.gallery.view, Qt.Key.Key_Right)
    assert window.answer.gallery.detail.isVisible()
