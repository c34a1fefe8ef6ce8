"""The full picture: walked, zoomed, copied, and of any size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from shown_gallery import COLOURS, Shown, pictures_in, place

from explorer.core.labels import Labels


def test_that_the_full_picture_is_walked_zoomed_and_closed_by_keys(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.arange(32))
    shown.panel.view.setFocus()
    qtbot.keyClick(shown.panel.view, Qt.Key.Key_Return)
    viewer = shown.panel.viewer
    assert viewer is not None
    assert viewer.isVisible()
    assert not viewer.isModal()
    qtbot.waitUntil(lambda: "120 × 80" in viewer.facts.text())
    assert viewer.facts.text().startswith("1 of 32  ·  0.90")
    assert viewer.caption.text() == "caption 0"
    qtbot.keyClick(viewer, Qt.Key.Key_Right)
    assert place(shown) == 1
    assert viewer.windowTitle() == "01.png"
    qtbot.waitUntil(lambda: "80 × 120" in viewer.facts.text())
    qtbot.keyClick(viewer, Qt.Key.Key_1)
    assert viewer.canvas.percent == pytest.approx(100)
    qtbot.keyClick(viewer, Qt.Key.Key_Plus)
    assert viewer.canvas.percent == pytest.approx(125)
    qtbot.keyClick(viewer, Qt.Key.Key_0)
    qtbot.keyClick(viewer, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: viewer.canvas.loaded is not None)
    assert viewer.canvas.loaded.fault == "the file is no longer there"
    assert not viewer.grab().isNull()
    shown.answer(np.asarray([4, 5]))
    assert viewer.windowTitle() == "04.png"
    qtbot.waitUntil(lambda: viewer.canvas.loaded is not None)
    qtbot.keyClick(viewer, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().mimeData()
    assert copied.hasImage()
    assert copied.urls()[0].fileName() == "04.png"
    model = shown.panel.model
    background = replace(model.answer.result.background, counts=np.array([5000]))
    model.answer = replace(model.answer, result=replace(model.answer.result, background=background))
    viewer.show_place(1)
    assert viewer.facts.text().startswith("2 of 5,000"), "of all that are ranked, of which two are listed yet"
    qtbot.keyClick(viewer, Qt.Key.Key_Escape)
    assert not viewer.isVisible()


def test_that_zooming_keeps_the_point_under_the_cursor_and_edges_stay_outside(
    qtbot: QtBot, shown: Shown, tmp_path: Path
) -> None:
    Image.new("RGB", (3000, 2000), COLOURS[0]).save(tmp_path / "00.png")
    shown.carry(pictures_in(tmp_path, 1, known=False))
    shown.panel.view.setCurrentIndex(shown.panel.model.index(0, 0))
    shown.panel.open_full()
    viewer = shown.panel.viewer
    assert viewer is not None
    canvas = viewer.canvas
    qtbot.waitUntil(lambda: canvas.loaded is not None)
    cursor = QPointF(300, 260)
    before = (cursor - canvas.picture_rect().topLeft()) / canvas.scale
    canvas.zoom(4, cursor)
    after = (cursor - canvas.picture_rect().topLeft()) / canvas.scale
    assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()), abs=0.5)
    canvas.zoom(4, QPointF(0, 0))
    box = canvas.picture_rect()
    assert box.left() <= 0
    assert box.top() <= 0
    assert box.right() >= canvas.width()
    viewer.close()


def test_that_a_huge_picture_is_decoded_smaller_and_says_so(
    qtbot: QtBot, shown: Shown, tmp_path: Path
) -> None:
    Image.new("L", (12_000, 6_000), 90).save(tmp_path / "00.jpg")
    names = Labels.from_texts(["00.jpg"], "names")
    shown.carry(replace(pictures_in(tmp_path, 1, known=False), names=names))
    shown.panel.view.setCurrentIndex(shown.panel.model.index(0, 0))
    shown.panel.open_full()
    viewer = shown.panel.viewer
    assert viewer is not None
    qtbot.waitUntil(lambda: viewer.canvas.loaded is not None)
    loaded = viewer.canvas.loaded
    assert loaded.images[0].width() == 4096
    assert (loaded.width, loaded.height) == (12_000, 6_000)
    qtbot.keyClick(viewer, Qt.Key.Key_1)
    assert viewer.canvas.percent == pytest.approx(100)
    viewer.close()
