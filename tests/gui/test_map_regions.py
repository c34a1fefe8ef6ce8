"""Names of dense parts of the map."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from map_driver import pixels, rest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from window_driver import settle

from explorer.export.labelling import region_box
from explorer.views.main_window import MainWindow

ANIMALS, PLANTS, TOOLS = "cat dog horse", "oak elm birch", "saw nail file"


@pytest.fixture(scope="module")
def groups_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three groups of 200 words, far apart, each word of a group beginning alike."""
    random = np.random.default_rng(5)
    lines = []
    for group, words in enumerate((ANIMALS, PLANTS, TOOLS)):
        for number in range(200):
            name = f"{words.split()[number % 3]}{number:03}"
            vector = np.eye(3, 6)[group] * 8 + random.normal(0, 1, 6)
            lines.append(f"{name} {' '.join(f'{value:.4f}' for value in vector)}")
    path = tmp_path_factory.mktemp("groups") / "groups.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def regions(qtbot: QtBot, window: MainWindow, groups_file: Path) -> MainWindow:
    """The window with that table, its regions found and named on the map."""
    window.session.opening.open([str(groups_file)])
    settle(qtbot, window)
    qtbot.waitUntil(lambda: bool(window.map.canvas.item.figure.regions))
    return window


def middle_of(window: MainWindow, place: int) -> QPoint:
    item = window.map.canvas.item
    return QRectF(*region_box(item.figure, item.figure.regions[place], item.cache)).center().toPoint()


def test_that_regions_are_named_from_afar_and_give_way_from_near(regions: MainWindow) -> None:
    canvas = regions.map.canvas
    named = {region.text for region in canvas.item.figure.regions}
    assert named <= {region.name for region in regions.session.document.regions}
    view = canvas.viewport_now
    canvas.show_viewport(view.zoomed_at(view.width / 2, view.height / 2, 40))
    assert not canvas.item.figure.regions
    regions.map.fit()
    assert {region.text for region in canvas.item.figure.regions} == named


def test_that_a_region_whose_rows_are_hidden_is_not_named(regions: MainWindow) -> None:
    document, canvas = regions.session.document, regions.map.canvas
    named = {region.text for region in canvas.item.figure.regions}
    for number, _name in regions.map.colours.entries:
        regions.map.legend.show_alone(number)
        left = {region.text for region in canvas.item.figure.regions}
        assert left < named
        alone = document.positions[regions.map.colours.codes == number]
        for region in document.regions:
            if not (np.hypot(*(alone - (region.x, region.y)).T) <= region.size).any():
                assert region.name not in left
    document.set_colouring(replace(document.colouring, hidden=frozenset()))
    assert {region.text for region in canvas.item.figure.regions} == named


def test_that_a_double_click_renames_a_region_in_its_place(qtbot: QtBot, regions: MainWindow) -> None:
    document, canvas = regions.session.document, regions.map.canvas
    view = canvas.viewport_now
    old = canvas.item.figure.regions[0].text
    for click in (QTest.mouseClick, QTest.mouseDClick):
        click(canvas.viewport(), Qt.MouseButton.LeftButton, pos=middle_of(regions, 0))
    editor = regions.map.gestures.region_editor
    assert editor.isVisible()
    assert editor.text() == old
    QTest.keyClicks(editor, "my own")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert not editor.isVisible()
    assert "my own" in [region.name for region in document.regions]
    assert "my own" in [region.text for region in canvas.item.figure.regions]
    assert canvas.viewport_now == view
    qtbot.wait(QApplication.doubleClickInterval() + 100)
    assert document.answer is None, "the points beneath are not asked for"
    document.undo()
    assert old in [region.text for region in canvas.item.figure.regions]


def test_that_a_name_is_changed_by_key_and_escape_keeps_the_old_one(
    qtbot: QtBot, regions: MainWindow
) -> None:
    document, canvas = regions.session.document, regions.map.canvas
    before = document.regions
    qtbot.activate(regions)
    canvas.setFocus()
    QTest.keyClick(canvas, Qt.Key.Key_F2)
    editor = regions.map.gestures.region_editor
    assert editor.isVisible()
    QTest.keyClicks(editor, "nothing")
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor.isVisible()
    assert document.regions is before
    assert QApplication.focusWidget() is canvas
    QTest.keyClick(canvas, Qt.Key.Key_F2)
    QTest.keyClicks(editor, "elsewhere")
    regions.map.zoom(1.2)
    assert not editor.isVisible(), "the name is not where it was"
    assert "elsewhere" in [region.name for region in document.regions]
    QTest.keyClick(canvas, Qt.Key.Key_F2)
    document.set_regions(())
    assert not editor.isVisible()


def test_that_one_click_on_a_name_asks_for_the_point_beneath(qtbot: QtBot, regions: MainWindow) -> None:
    document, canvas = regions.session.document, regions.map.canvas
    rest(qtbot, regions)
    box = QRectF(*region_box(canvas.item.figure, canvas.item.figure.regions[0], canvas.item.cache))
    inside = [row for row, place in enumerate(pixels(regions)) if box.contains(*place)]
    place = QPoint(*np.rint(pixels(regions)[inside[0]]).astype(int).tolist())
    row = canvas.item.row_at(*place.toTuple())
    QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: document.answer is not None)
    assert document.answer.question.focus == row
    assert canvas.item.figure.regions == (), "the answer's names have the room"
    document.set_answer(None)
    assert canvas.item.figure.regions
