"""The main window, driven as a person drives it, on real worker processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from map_driver import rest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot
from window_driver import lay_out_for_ever, place_of, settle

from explorer.core.errors import ExplorerError
from explorer.document import LayoutStage
from explorer.document.settings import load_settings
from explorer.export.save import save_png
from explorer.views.main_window import MainWindow
from explorer.views.theme import apply_theme


def test_that_a_click_on_a_point_asks_for_its_row(qtbot: QtBot, open_window: MainWindow) -> None:
    document = open_window.session.document
    rest(qtbot, open_window)
    place = place_of(open_window, 0)
    qtbot.mouseClick(open_window.map.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: document.answer is not None)
    row = document.answer.question.focus
    figure = open_window.map.canvas.item.figure
    distance = np.linalg.norm(figure.viewport.to_pixels(figure.xy[[row]])[0] - (place.x(), place.y()))
    assert distance < 10
    assert figure.focus == row
    assert figure.links[0].rows == tuple(document.answer.result.rows[:15].tolist())


def test_that_a_composite_query_is_a_star_on_the_map(qtbot: QtBot, open_window: MainWindow) -> None:
    document = open_window.session.document
    open_window.session.asking.ask("king - man + woman")
    qtbot.waitUntil(lambda: document.answer is not None)
    assert document.table.labels[int(document.answer.result.rows[0])] == "queen"
    figure = open_window.map.canvas.item.figure
    assert len(figure.stars) == 1
    assert figure.focus is None


def test_that_tab_on_the_map_hides_all_but_the_map_and_brings_it_back(
    qtbot: QtBot, open_window: MainWindow
) -> None:
    open_window.map.canvas.setFocus()
    qtbot.keyClick(open_window.map.canvas, Qt.Key.Key_Tab)
    assert not any(dock.isVisible() for dock in open_window.docks)
    assert not open_window.status.isVisible()
    qtbot.keyClick(open_window.map.canvas, Qt.Key.Key_Tab)
    assert open_window.docks[0].isVisible()
    assert open_window.status.isVisible()


def test_that_the_saved_picture_has_the_pixels_asked_for(open_window: MainWindow, tmp_path: Path) -> None:
    figure = open_window.map.picture()
    for scale in (1, 2, 4):
        path = tmp_path / f"map-{scale}.png"
        save_png(figure, path, scale)
        image = QImage(str(path))
        assert image.width() == figure.viewport.width * scale
    assert figure.title.startswith("words.txt")


def test_that_the_saved_picture_has_the_labels_that_are_seen(qtbot: QtBot, open_window: MainWindow) -> None:
    view = open_window.map
    view.zoom(3)
    view.zoom(1 / 2)
    rest(qtbot, open_window)
    seen = {label.row for label in view.canvas.item.figure.labels}
    saved = {label.row for label in view.picture().labels}
    assert len(seen) > 5
    assert len(seen ^ saved) <= 0.2 * len(seen)


def test_that_the_layout_moves_stops_is_kept_and_comes_back(qtbot: QtBot, open_window: MainWindow) -> None:
    session, document = open_window.session, open_window.session.document
    session.mapping.keep()
    first = document.positions.copy()
    lay_out_for_ever(qtbot, session)
    session.mapping.stop()
    qtbot.waitUntil(lambda: document.stage is LayoutStage.STOPPED)
    assert not np.allclose(document.positions, first)
    session.mapping.show_kept(0)
    np.testing.assert_array_equal(document.positions, first)


def test_that_closing_the_file_brings_the_start_page_back(open_window: MainWindow) -> None:
    open_window.actions_by_name["close_file"].trigger()
    assert open_window.stack.currentWidget() is open_window.start
    assert not open_window.actions_by_name["save_picture"].isEnabled()


def test_that_theme_and_recent_files_are_remembered(
    open_window: MainWindow, words_file: Path, qapp: QApplication
) -> None:
    open_window.actions_by_name.menus["theme"].actions()[2].trigger()
    assert open_window.grab().toImage().pixelColor(5, 300).lightness() < 60
    open_window.close()
    stored = load_settings()
    assert stored.theme == "dark"
    assert stored.recent == [str(words_file)]
    assert stored.geometry
    apply_theme(qapp, "light")


def test_that_every_menu_command_has_a_handler_and_no_two_share_a_key(window: MainWindow) -> None:
    keys = [
        key.toString() for action in window.actions_by_name.by_name.values() for key in action.shortcuts()
    ]
    assert len(keys) == len(set(keys))
    assert {"Ctrl+F", "/", "Ctrl+O", "Ctrl+S"} <= set(keys)


def test_that_a_legend_click_hides_its_rows(qtbot: QtBot, open_window: MainWindow) -> None:
    from explorer.export.legend import legend_layout

    figure = open_window.map.canvas.item.figure
    line = legend_layout(figure).lines[0]
    qtbot.mouseClick(
        open_window.map.canvas.viewport(), Qt.MouseButton.LeftButton, pos=line.center().toPoint()
    )
    assert open_window.session.document.colouring.hidden
    assert open_window.map.canvas.item.figure.legend.entries[0].hidden


def test_that_keys_work_while_only_the_map_is_shown(qtbot: QtBot, open_window: MainWindow) -> None:
    only_map = open_window.actions_by_name["only_map"]
    qtbot.activate(open_window)
    canvas = open_window.map.canvas

    def press(key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        canvas.setFocus()
        qtbot.keyClick(canvas, key, held)

    press(Qt.Key.Key_F9)
    assert only_map.isChecked()
    assert not open_window.menuBar().isVisible()
    press(Qt.Key.Key_F9)
    assert not only_map.isChecked(), "F9 leads back, too"
    press(Qt.Key.Key_F9)
    press(Qt.Key.Key_Escape)
    assert not only_map.isChecked(), "Escape leads back"
    press(Qt.Key.Key_F9)
    press(Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert open_window.query.isVisible()
    assert open_window.query.field.hasFocus()


def test_that_one_key_walks_through_all_parts_that_are_shown(qtbot: QtBot, open_window: MainWindow) -> None:
    qtbot.activate(open_window)
    open_window.session.asking.ask("king")
    qtbot.waitUntil(lambda: open_window.session.document.answer is not None)
    seen = []
    open_window.query.focus_query()
    for _ in range(4):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6)
        seen.append(QApplication.focusWidget())
    assert seen == [
        open_window.map.canvas,
        open_window.answer.neighbours.list,
        open_window.side.sources.tree,
        open_window.query.field,
    ]
    assert not open_window.map.ring.isVisible()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6)
    assert open_window.map.ring.isVisible(), "what the keyboard has reached is seen"


def test_that_an_answer_behind_another_panel_is_noticed(qtbot: QtBot, open_window: MainWindow) -> None:
    session, news = open_window.session, open_window.answer_news
    _, neighbours, lookup, *_ = open_window.docks
    qtbot.waitUntil(neighbours.isVisible)
    lookup.raise_()
    qtbot.waitUntil(lambda: not lookup.panel.visibleRegion().isEmpty())
    session.asking.ask("king")
    qtbot.waitUntil(lambda: news.is_marked)
    assert news._dot.isVisible()
    assert neighbours.panel.visibleRegion().isEmpty(), "what was put in front stays there"
    neighbours.raise_()
    qtbot.waitUntil(lambda: not news.is_marked)
    assert not news._dot.isVisible()


def test_that_the_side_panel_is_never_wider_than_its_dock(qtbot: QtBot, open_window: MainWindow) -> None:
    session, side = open_window.session, open_window.side
    lay_out_for_ever(qtbot, session)
    session.mapping.keep()
    qtbot.waitUntil(lambda: "epoch" in side.layout_section.progress.text())
    assert side.widget().width() <= side.viewport().width()
    session.mapping.stop()
    settle(qtbot, open_window)
    assert side.layout_section.progress.text() == "stopped"
    assert side.widget().width() <= side.viewport().width()


def test_that_an_error_is_not_pushed_away_by_what_comes_right_after(window: MainWindow) -> None:
    notices, bar = window.session.notices, window.notice
    notices.error(ExplorerError("One file is damaged."))
    notices.error(ExplorerError("Another is empty."))
    notices.clear()
    notices.tell("The third is open.")
    assert bar.text.text() == "One file is damaged.\nAnother is empty.\nThe third is open."
    bar.shut.click()
    notices.tell("Saved.")
    assert bar.text.text() == "Saved."


def test_that_very_many_errors_at_once_leave_room_for_the_map(window: MainWindow) -> None:
    notices, bar = window.session.notices, window.notice
    for number in range(40):
        notices.error(ExplorerError(f"File {number} is damaged."), ("Try again", window.map.fit))
    lines = ["37 earlier messages: see Details.", *(f"File {number} is damaged." for number in (37, 38, 39))]
    assert bar.text.text().splitlines() == lines
    assert [each.text() for each in bar.findChildren(QPushButton) if each.isVisible()].count("Try again") == 1
    assert bar.sizeHint().height() < 120
    bar.more.click()
    assert "File 36 is damaged." in bar.detail.text()


def test_that_a_restarted_layout_can_be_stopped_before_it_moves(
    qtbot: QtBot, open_window: MainWindow
) -> None:
    mapping, section = open_window.session.mapping, open_window.side.layout_section
    for method in ("umap", "pca"):
        mapping.change(method=method)
        section.start.click()
        section.start.click()
        assert section.stop.isEnabled()
        section.stop.click()
        qtbot.waitUntil(lambda: not section.stop.isEnabled())
        assert section.progress.text() == "stopped"
    settle(qtbot, open_window)


def test_that_escape_closes_the_message_and_then_leads_to_the_map(
    qtbot: QtBot, open_window: MainWindow
) -> None:
    qtbot.activate(open_window)
    open_window.query.focus_query()
    open_window.session.notices.error(ExplorerError("One file is damaged."))
    qtbot.keyClick(open_window.query.field, Qt.Key.Key_Escape)
    assert open_window.notice.isHidden()
    qtbot.keyClick(open_window.query.field, Qt.Key.Key_Escape)
    assert open_window.map.canvas.hasFocus()
