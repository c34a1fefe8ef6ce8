"""What the gallery shows, before and after a question, and where it says why there is nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shown_gallery import COLOURS, Shown, colour_at, pictures_in, place, settle

from explorer.commands import Session
from explorer.views.panels.answer import AnswerPanel
from explorer.views.panels.gallery_tile import paint_picture
from explorer.views.theme import apply_theme, current_colours
from explorer.views.thumbnails import Thumbnails


def test_that_without_an_answer_all_pictures_stand_in_the_order_of_the_rows(
    qtbot: QtBot, shown: Shown
) -> None:
    panel = shown.panel
    assert panel.header.title.text() == "Pictures"
    assert panel.header.count.text() == "310 pictures"
    assert panel.header.measure.text() == "type what you want to see"
    assert panel.model.rows.tolist() == [*range(310)]
    assert not panel.detail.isVisible()
    settle(qtbot, shown)
    assert [colour_at(shown, place) for place in range(3)] == [*COLOURS[:3]]
    # Captions' rows are no pictures.
    shown.carry(replace(shown.session.document.pictures, of_row=np.arange(310) // 5))
    assert panel.header.count.text() == "310 rows"


def test_that_an_answer_stands_ranked_with_the_best_one_large(qtbot: QtBot, shown: Shown) -> None:
    answer = shown.answer(np.asarray([7, 3, 0, 12]))
    panel = shown.panel
    assert panel.header.title.text() == "circles"
    assert panel.header.measure.text() == "cosine"
    assert [panel.model.score_text(each) for each in range(4)] == ["0.90", "0.63", "0.37", "0.10"]
    assert place(shown) == 0
    assert panel.detail.isVisible()
    assert "0.90" in panel.detail.score.text()
    assert f"+{answer.deviations[0]:.1f}σ" in panel.detail.score.text()
    assert panel.detail.caption.text() == "caption 7 (+1)"
    assert panel.detail.path.text() == "07.png"
    qtbot.waitUntil(lambda: panel.detail.size_label.text() == "80 × 120")
    large = panel.detail.picture.grab().toImage()
    assert QColor(large.pixel(large.width() // 2, large.height() // 2)).name() == COLOURS[1]


def test_that_a_picture_that_cannot_be_shown_says_why(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.asarray([30, 31]))
    fault = shown.panel.detail.fault
    qtbot.waitUntil(lambda: fault.text() == "The file ends before the picture does.")
    settle(qtbot, shown)
    shown.panel.view.setCurrentIndex(shown.panel.model.index(1, 0))
    qtbot.waitUntil(lambda: fault.text() == "The file is no longer there.")
    assert not shown.panel.grab().isNull()


def test_that_tables_without_pictures_and_empty_answers_say_what_to_do(shown: Shown) -> None:
    shown.answer(np.zeros(0))
    assert shown.panel.empty.text().startswith("No pictures are left to compare with.")
    table = shown.session.document.table
    shown.session.document.set_table(replace(table, health=table.health.only(np.empty(0, np.int64))))
    shown.answer(np.zeros(0))
    assert shown.panel.empty.text().startswith("None of the pictures has a vector to compare.")
    shown.carry(None)
    assert shown.panel.empty.text() == "This table's rows carry no pictures."
    assert not shown.panel.split.isVisible()
    shown.session.document.set_table(None)
    assert shown.panel.empty.text() == "Open an index of pictures, or drop a folder of them."


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_that_a_picture_as_light_or_dark_as_the_panel_has_an_edge(qapp: QApplication, scheme: str) -> None:
    apply_theme(qapp, scheme)
    panel = QColor(current_colours().panel)
    canvas, picture = (QImage(60, 60, QImage.Format.Format_RGB32) for _ in range(2))
    canvas.fill(panel)
    picture.fill(panel)
    painter = QPainter(canvas)
    paint_picture(painter, QRectF(10, 10, 40, 40), picture)
    painter.end()
    assert abs(canvas.pixelColor(10, 30).lightness() - panel.lightness()) >= 10
    assert canvas.pixelColor(30, 30) == panel
    apply_theme(qapp, "light")


def test_that_the_chosen_picture_stands_beside_the_others_where_there_is_width(shown: Shown) -> None:
    shown.answer(np.arange(30))
    panel = shown.panel
    assert panel.detail.geometry().bottom() < panel.view.geometry().top()
    panel.resize(900, 500)
    QApplication.processEvents()
    assert panel.detail.geometry().right() < panel.view.geometry().left()
    assert panel.view.arrangement.width < 600
    panel.resize(320, 760)
    QApplication.processEvents()
    assert panel.detail.geometry().bottom() < panel.view.geometry().top()


def test_that_a_hidden_gallery_loads_nothing_and_follows_once_it_is_seen(qtbot: QtBot, shown: Shown) -> None:
    settle(qtbot, shown)
    shown.panel.hide()
    shown.answer(np.arange(20, 28))
    QApplication.processEvents()
    assert shown.thumbnails.loaded(0) is not None
    assert shown.panel.model.rowCount() == 310
    shown.panel.show()
    assert shown.panel.model.rows.tolist() == [*range(20, 28)]


def test_that_list_and_gallery_take_turns_and_the_wish_is_remembered(
    qtbot: QtBot, session: Session, folder: Path
) -> None:
    thumbnails = Thumbnails()
    dock = AnswerPanel(session, thumbnails)
    qtbot.addWidget(dock)
    dock.show()
    assert dock.currentWidget() is dock.neighbours
    assert not dock.neighbours.header.as_gallery.isVisible()
    table = session.document.table
    assert table is not None
    session.document.set_table(replace(table, pictures=pictures_in(folder, 310)))
    assert dock.currentWidget() is dock.gallery
    dock.gallery.header.as_list.click()
    assert dock.currentWidget() is dock.neighbours
    assert session.settings.pictures_as_list
    assert dock.neighbours.header.as_list.isChecked()
    dock.neighbours.header.as_gallery.click()
    assert dock.currentWidget() is dock.gallery
    assert dock.gallery.header.as_gallery.isChecked()
    dock.close_down()
    thumbnails.close()
