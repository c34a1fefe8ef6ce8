"""The gallery walked by keys, by pointing and by scrolling, as it grows."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from machine import slowness
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shown_gallery import COLOURS, Shown, colour_at, in_view, pictures_in, place, settle

from explorer.commands import Session
from explorer.core.labels import Labels
from explorer.views.panels.gallery import GalleryPanel
from explorer.views.thumbnails import Thumbnails


def test_that_keys_walk_the_lines_and_each_step_is_seen_large(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.arange(30))
    view = shown.panel.view
    view.setFocus()
    lines = view.arrangement
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert place(shown) == 1
    qtbot.keyClick(view, Qt.Key.Key_Left)
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert place(shown) == 0
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert lines.line_of(place(shown)) == 1
    below, above = lines.cell(place(shown)), lines.cell(0)
    assert below.left <= above.left + above.width
    qtbot.keyClick(view, Qt.Key.Key_Up)
    assert place(shown) == 0
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert place(shown) == 29
    assert view.viewport().rect().contains(view.visualRect(view.currentIndex()).center())
    assert shown.panel.detail.path.text() == "29.png"
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert 0 < place(shown) < 29
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert place(shown) == 0
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert lines.line_of(place(shown)) >= 1


def test_that_pointing_lights_the_row_and_the_map_lights_the_picture(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.asarray([7, 3, 0, 12]))
    settle(qtbot, shown)
    view = shown.panel.view
    spot = view.visualRect(shown.panel.model.index(1, 0)).center()
    with qtbot.waitSignal(shown.panel.hovered) as pointed:
        qtbot.mouseMove(view.viewport(), spot)
    assert pointed.args == [3]
    before = view.viewport().grab().toImage()
    shown.panel.light_row(12)
    assert view.viewport().grab().toImage() != before
    shown.panel.light_row(999)
    shown.panel.light_row(-1)


def test_that_keys_and_clicks_choose_several(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.arange(30))
    view, model = shown.panel.view, shown.panel.model

    def click(place: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        spot = view.visualRect(model.index(place, 0)).center()
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, keys, spot)

    click(1)
    click(4, Qt.KeyboardModifier.ShiftModifier)
    assert sorted(index.row() for index in view.selectedIndexes()) == [1, 2, 3, 4]
    click(2, Qt.KeyboardModifier.ControlModifier)
    assert sorted(index.row() for index in view.selectedIndexes()) == [1, 3, 4]
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert place(shown) == 3
    view.selectAll()
    assert len(view.selectedIndexes()) == 30


def test_that_control_and_wheel_make_pictures_larger_and_it_is_remembered(shown: Shown) -> None:
    view = shown.panel.view
    before = view.visualRect(shown.panel.model.index(0, 0)).height()
    middle = QPointF(view.viewport().rect().center())
    turned = QWheelEvent(
        middle,
        view.viewport().mapToGlobal(middle),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), turned)
    assert view.visualRect(shown.panel.model.index(0, 0)).height() > before
    assert shown.session.settings.picture_height == 128


def test_that_an_answer_grows_as_it_is_scrolled_without_loss_of_place(
    qtbot: QtBot, session: Session, folder: Path
) -> None:
    table = session.document.table
    assert table is not None
    rows = table.listing.rows
    session.document.set_table(replace(table, pictures=pictures_in(folder, rows)))
    session.document.set_asking(k=60)
    thumbnails = Thumbnails()
    panel = GalleryPanel(session, thumbnails)
    qtbot.addWidget(panel)
    panel.resize(320, 760)
    panel.show()
    session.asking.ask_row(0)
    qtbot.waitUntil(lambda: panel.model.answer is not None)
    assert panel.model.rowCount() == 60
    view = panel.view
    view.setCurrentIndex(panel.model.index(2, 0))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    held = view.verticalOffset()
    qtbot.waitUntil(lambda: panel.model.rowCount() == rows - 1)
    assert view.verticalOffset() == held
    assert place(Shown(session, panel, thumbnails)) == 2
    assert session.document.k == 60
    assert panel.header.count.text() == f"{rows - 1} pictures, nearest first"
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    QApplication.processEvents()
    assert panel.model.rowCount() == rows - 1
    panel.close_down()
    thumbnails.close()


def test_that_a_hundred_thousand_pictures_are_laid_out_to_the_last_and_few_are_loaded(
    qtbot: QtBot, shown: Shown, folder: Path
) -> None:
    count = 100_000
    names = Labels.from_texts(["00.png"] * count, "names")
    shown.carry(replace(pictures_in(folder, 1, known=False), names=names, texts=None, animated=None))
    view = shown.panel.view
    bar = view.verticalScrollBar()
    steps = []
    for step in range(1, 61):
        begun = time.thread_time()
        bar.setValue(bar.maximum() * step // 60)
        view.viewport().repaint()
        steps.append(time.thread_time() - begun)
    assert np.median(steps) < 0.05 * slowness(), (
        "the window must not be kept for longer than a glance: 2 ms as measured"
    )
    assert in_view(shown)[-1] == count - 1
    settle(qtbot, shown)
    assert colour_at(shown, count - 1) == COLOURS[0]
    assert shown.thumbnails.kept < 60 * 50, "no more than was ever in view, and a page below it"
