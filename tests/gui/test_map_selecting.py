"""Selecting rows on the map with the mouse and the keyboard."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from map_driver import box_around, drag, move, pixels, rest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot
from window_driver import place_of

from explorer.export.drawing import draw_points
from explorer.export.figure import Figure
from explorer.render.raster import Raster
from explorer.views.main_window import MainWindow
from explorer.views.map.canvas import Tool

SHIFT, ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


def inside(window: MainWindow, corners: tuple[QPoint, QPoint]) -> set[int]:
    """The rows between two corners, worked out from where they are drawn."""
    x, y = pixels(window).T
    left, right = sorted((corners[0].x(), corners[1].x()))
    top, bottom = sorted((corners[0].y(), corners[1].y()))
    return set(np.flatnonzero((x > left) & (x < right) & (y > top) & (y < bottom)).tolist())


@pytest.fixture
def halves(open_window: MainWindow) -> tuple[tuple[QPoint, QPoint], tuple[QPoint, QPoint]]:
    """Two boxes that share the middle of the map."""
    x, y = pixels(open_window).T
    left, right = int(np.quantile(x, 0.2)), int(np.quantile(x, 0.8))
    middle, top, bottom = int(np.quantile(x, 0.6)), int(np.quantile(y, 0.2)), int(np.quantile(y, 0.8))
    start = int(np.quantile(x, 0.4))
    return (QPoint(left, top), QPoint(middle, bottom)), (QPoint(start, top), QPoint(right, bottom))


def test_that_a_lasso_takes_what_it_encloses_and_dims_the_rest(qtbot: QtBot, open_window: MainWindow) -> None:
    document, canvas = open_window.session.document, open_window.map.canvas
    qtbot.activate(open_window)
    canvas.setFocus()
    QTest.keyClick(canvas, Qt.Key.Key_L)
    assert canvas.tool is Tool.LASSO
    assert open_window.map.tools["lasso"].isChecked()
    first, last = box_around(open_window, range(5))
    ring = [first, QPoint(last.x(), first.y()), last, QPoint(first.x(), last.y())]
    drag(open_window, ring, let_go=False)
    assert canvas.outline.isVisible()
    drag(open_window, [ring[-1]])
    assert not canvas.outline.isVisible()
    assert set(range(5)) <= set(document.selection.tolist()) == inside(open_window, (first, last))
    assert canvas.item.figure.selected.tolist() == document.selection.tolist()
    assert open_window.map.selection.count.text().startswith(f"{len(document.selection)} of 310")


def test_that_boxes_combine_as_the_keys_say(
    open_window: MainWindow, halves: tuple[tuple[QPoint, QPoint], tuple[QPoint, QPoint]]
) -> None:
    document = open_window.session.document
    open_window.map.use_tool(Tool.BOX)
    left, right = (inside(open_window, half) for half in halves)
    assert left & right
    assert left - right
    assert right - left
    for keys, expected in (
        (Qt.KeyboardModifier.NoModifier, right),
        (SHIFT, left | right),
        (ALT, left - right),
        (SHIFT | ALT, left & right),
    ):
        drag(open_window, halves[0])
        assert set(document.selection.tolist()) == left
        drag(open_window, halves[1], keys=keys)
        assert set(document.selection.tolist()) == expected


def test_that_the_card_chooses_how_boxes_combine_without_a_key(
    open_window: MainWindow, halves: tuple[tuple[QPoint, QPoint], tuple[QPoint, QPoint]]
) -> None:
    open_window.map.tools["box-select"].click()
    drag(open_window, halves[0])
    open_window.map.selection.modes["remove"].click()
    drag(open_window, halves[1])
    left, right = (inside(open_window, half) for half in halves)
    assert set(open_window.session.document.selection.tolist()) == left - right


def test_that_an_answer_a_filter_and_a_category_combine_as_chosen(
    qtbot: QtBot, open_window: MainWindow
) -> None:
    session, actions, card = open_window.session, open_window.actions_by_name, open_window.map.selection
    session.asking.ask("king")
    qtbot.waitUntil(lambda: session.document.answer is not None)
    session.filtering.apply("row < 200")
    answer, left = set(session.document.answer.result.rows.tolist()), set(range(200))
    code = open_window.map.colours.entries[0][0]
    alike = set(np.flatnonzero(open_window.map.colours.codes == code).tolist())
    modes = actions.menus["combine"]

    def choose(number: int) -> None:
        modes.aboutToShow.emit()
        modes.actions()[number].trigger()
        modes.aboutToShow.emit()
        assert [action.isChecked() for action in modes.actions()] == [each == number for each in range(4)]

    for number, mode, expected in (
        (1, "add", lambda before, rows: before | rows),
        (2, "remove", lambda before, rows: before - rows),
        (3, "intersect", lambda before, rows: before & rows),
    ):
        for rows, take in (
            (answer, actions["select_answer"].trigger),
            (left, open_window.filter.select.click),
            (alike, lambda mode=mode: open_window.map.legend.select(code, mode)),
        ):
            session.selecting.take(before := np.arange(150, 250))
            choose(number)
            take()
            assert set(session.document.selection.tolist()) == expected(set(before.tolist()), rows)
    session.selecting.clear()
    assert card.mode == "new", "a choice that cannot be seen is none"
    session.isolating.isolate(np.arange(50))
    open_window.map.legend.select(code)
    assert set(session.document.selection.tolist()) == alike & set(range(50))


def test_that_every_key_named_beside_a_button_is_one(open_window: MainWindow) -> None:
    keys = {key.toString() for action in open_window.actions() for key in action.shortcuts()}
    keys |= {"Esc", "Shift", "Alt", "Shift+Alt", "Shift and drag"}
    open_window.session.selecting.take(np.arange(3))
    named = [
        (button.toolTip(), key)
        for button in open_window.findChildren(QAbstractButton)
        if (found := re.search(r"\(([^()]+)\)$", button.toolTip()))
        for key in found[1].split("; ")
    ]
    assert len(named) >= 10
    assert [each for each in named if each[1] not in keys] == []


def test_that_shift_and_drag_draws_a_lasso_while_the_pointer_is_in_use(open_window: MainWindow) -> None:
    first, last = box_around(open_window, (0, 1))
    before = open_window.map.canvas.viewport_now
    ring = [first, QPoint(last.x(), first.y()), last, QPoint(first.x(), last.y())]
    drag(open_window, ring, keys=SHIFT)
    assert {0, 1} <= set(open_window.session.document.selection.tolist())
    assert open_window.map.canvas.viewport_now == before, "the map stays where it is"


def test_that_a_click_with_control_takes_a_row_in_and_out(qtbot: QtBot, open_window: MainWindow) -> None:
    document, canvas = open_window.session.document, open_window.map.canvas
    rest(qtbot, open_window)
    row = canvas.item.row_at(*(place := place_of(open_window, 3)).toTuple())
    for expected in ([row], []):
        qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, CONTROL, place)
        assert document.selection.tolist() == expected
    assert document.answer is None, "no question was asked"


def test_that_hidden_rows_are_not_caught(open_window: MainWindow) -> None:
    document = open_window.session.document
    hidden = int(open_window.map.canvas.item.figure.codes[0])
    document.set_colouring(type(document.colouring)(hidden=frozenset({hidden})))
    open_window.map.use_tool(Tool.BOX)
    size = open_window.map.canvas.size()
    drag(open_window, [QPoint(1, 1), QPoint(size.width() - 2, size.height() - 2)])
    codes = open_window.map.canvas.item.figure.codes
    assert document.selection.tolist() == np.flatnonzero(codes != hidden).tolist()


def test_that_escape_takes_back_drawing_then_selection_then_tool(open_window: MainWindow) -> None:
    document, canvas = open_window.session.document, open_window.map.canvas
    open_window.map.use_tool(Tool.BOX)
    corners = box_around(open_window, range(20))
    drag(open_window, corners)
    selected = document.selection
    assert len(selected)
    drag(open_window, [QPoint(50, 50), QPoint(90, 90)], let_go=False)
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert not canvas.outline.isVisible()
    assert document.selection is selected
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert not len(document.selection)
    assert canvas.tool is Tool.BOX
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert canvas.tool is Tool.POINTER
    assert not open_window.map.selection.isVisible()


def test_that_inverting_twice_changes_nothing_and_the_answer_can_be_selected(
    qtbot: QtBot, open_window: MainWindow
) -> None:
    document = open_window.session.document
    open_window.session.asking.ask("king")
    qtbot.waitUntil(lambda: document.answer is not None)
    open_window.actions_by_name["select_answer"].trigger()
    answer = sorted(document.answer.result.rows.tolist())
    assert document.selection.tolist() == answer
    open_window.actions_by_name["invert_selection"].trigger()
    assert len(document.selection) == 310 - len(answer)
    open_window.map.selection.invert.click()
    assert document.selection.tolist() == answer


def test_that_the_keyboard_walks_from_row_to_row_selects_and_asks(
    qtbot: QtBot, open_window: MainWindow
) -> None:
    view, document = open_window.map, open_window.session.document
    view.canvas.setFocus()
    QTest.keyClick(view.canvas, Qt.Key.Key_Right, CONTROL)
    first = view.pointing.row
    assert view.card.isVisible()
    assert document.table.labels[first] in view.canvas.accessibleDescription()
    QTest.keyClick(view.canvas, Qt.Key.Key_Right, CONTROL)
    second = view.pointing.row
    assert pixels(open_window)[second, 0] > pixels(open_window)[first, 0]
    assert view.canvas.item.figure.hover == second
    QTest.keyClick(view.canvas, Qt.Key.Key_Up, CONTROL)
    assert pixels(open_window)[view.pointing.row, 1] < pixels(open_window)[second, 1]
    QTest.keyClick(view.canvas, Qt.Key.Key_Space, CONTROL)
    assert document.selection.tolist() == [view.pointing.row]
    QTest.keyClick(view.canvas, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: document.answer is not None)
    assert document.answer.question.focus == view.pointing.row


def test_that_space_or_the_other_button_moves_the_map_whatever_the_tool(open_window: MainWindow) -> None:
    canvas = open_window.map.canvas
    open_window.map.use_tool(Tool.LASSO)
    before = canvas.viewport_now
    drag(open_window, [QPoint(300, 300), QPoint(340, 320)], button=Qt.MouseButton.RightButton)
    moved = canvas.viewport_now
    assert moved.x == pytest.approx(before.x - 40 / before.scale)
    QTest.keyPress(canvas, Qt.Key.Key_Space)
    drag(open_window, [QPoint(300, 300), QPoint(260, 280)])
    QTest.keyRelease(canvas, Qt.Key.Key_Space)
    assert canvas.viewport_now.x == pytest.approx(before.x)
    assert not len(open_window.session.document.selection)


def test_that_selected_rows_are_shown_alone_and_all_come_back(qtbot: QtBot, open_window: MainWindow) -> None:
    card = open_window.map.selection
    open_window.session.selecting.take(np.arange(20))
    whole = open_window.map.canvas.viewport_now
    card.alone.click()
    shown = np.isfinite(open_window.map.canvas.item.figure.xy).all(axis=1)
    assert np.flatnonzero(shown).tolist() == list(range(20))
    assert open_window.map.canvas.viewport_now.scale >= whole.scale, "the map comes closer"
    open_window.session.selecting.clear()
    assert card.isVisible()
    assert "Only 20 of 310" in card.count.text()
    card.all.click()
    assert np.isfinite(open_window.map.canvas.item.figure.xy).all()
    assert not card.isVisible()


def test_that_what_a_filter_leaves_out_is_dimmed(open_window: MainWindow) -> None:
    open_window.session.filtering.apply("row < 30")
    assert open_window.map.canvas.item.figure.selected.tolist() == list(range(30))
    open_window.session.selecting.take(np.arange(20, 50))
    assert open_window.map.canvas.item.figure.selected.tolist() == list(range(20, 30))
    labels = {label.row for label in open_window.map.canvas.item.figure.labels}
    assert labels
    assert labels <= set(range(20, 30)), "what stands out is named"


def test_that_the_menu_of_a_row_asks_and_selects(qtbot: QtBot, open_window: MainWindow) -> None:
    document = open_window.session.document
    rest(qtbot, open_window)
    place = place_of(open_window, 3)
    row = open_window.map.canvas.item.row_at(*place.toTuple())
    qtbot.mouseClick(open_window.map.canvas.viewport(), Qt.MouseButton.RightButton, pos=place)
    menu = QApplication.activePopupWidget()
    actions = {action.text(): action for action in menu.actions()}
    actions["Add to the selection"].trigger()
    assert document.selection.tolist() == [row]
    actions["Ask for its neighbours"].trigger()
    menu.close()
    qtbot.waitUntil(lambda: document.answer is not None)
    assert document.answer.question.focus == row


def ink(figure: Figure) -> float:
    """How far the points' picture is from its ground."""
    raster = Raster(figure.viewport.width, figure.viewport.height)
    draw_points(figure, raster)
    pixels = raster.pixels.view(np.uint8).reshape(*raster.pixels.shape, 4)[..., :3].astype(float)
    return float(np.abs(pixels - pixels[0, 0]).sum())


def test_that_a_filter_that_fits_nothing_dims_everything(open_window: MainWindow) -> None:
    open_window.session.filtering.apply("row < 0")
    figure = open_window.map.canvas.item.figure
    assert not figure.labels
    for crowds in (False, True):
        assert ink(replace(figure, density=crowds)) < 0.5 * ink(
            replace(figure, density=crowds, dims_all=False)
        )
    open_window.session.filtering.clear()
    assert not open_window.map.canvas.item.figure.dims_all


def test_that_a_drag_whose_end_another_window_has_seen_is_dropped(open_window: MainWindow) -> None:
    canvas = open_window.map.canvas
    drag(open_window, [QPoint(300, 300), QPoint(340, 320)], let_go=False)
    here = canvas.viewport_now
    move(open_window, QPoint(500, 500))
    assert canvas.viewport_now == here, "the map hangs on the cursor no longer"
    drag(open_window, [QPoint(300, 300), QPoint(260, 280)])
    assert canvas.viewport_now.x == pytest.approx(here.x + 40 / here.scale)
