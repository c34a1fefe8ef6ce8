"""What the legend's lines do, by mouse and by key."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from explorer.views.main_window import MainWindow

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


def line(window: MainWindow, place: int) -> QPoint:
    return window.map.legend.layout().lines[place].center().toPoint()


def act(menu: QMenu, *path: str) -> None:
    """Trigger an entry of a menu, through its submenus."""
    top, *between, last = menu, *path
    for name in between:
        menu = next(child for child in menu.findChildren(QMenu) if child.title() == name)
    next(action for action in menu.actions() if action.text() == last).trigger()
    top.close()


def open_menu() -> QMenu:
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def test_that_a_click_hides_a_line_and_a_double_click_shows_it_alone(open_window: MainWindow) -> None:
    viewport, document = open_window.map.canvas.viewport(), open_window.session.document
    codes = [code for code, _ in open_window.map.colours.entries]
    QTest.mouseClick(viewport, LEFT, pos=line(open_window, 1))
    assert document.colouring.hidden == {codes[1]}
    QTest.mouseClick(viewport, LEFT, pos=line(open_window, 1))
    assert not document.colouring.hidden
    for expected in (frozenset(codes) - {codes[2]}, frozenset()):
        QTest.mouseClick(viewport, LEFT, pos=line(open_window, 2))
        QTest.mouseDClick(viewport, LEFT, pos=line(open_window, 2))
        assert document.colouring.hidden == expected


def test_that_the_menu_of_a_line_selects_and_recolours(open_window: MainWindow) -> None:
    viewport, document = open_window.map.canvas.viewport(), open_window.session.document
    code = open_window.map.colours.entries[1][0]
    QTest.mouseClick(viewport, RIGHT, pos=line(open_window, 1))
    act(open_menu(), "Select its rows")
    np.testing.assert_array_equal(document.selection, np.flatnonzero(open_window.map.colours.codes == code))
    QTest.mouseClick(viewport, RIGHT, pos=line(open_window, 1))
    act(open_menu(), "Colour", "Pink")
    pink = document.colouring.recoloured[code]
    assert tuple(open_window.map.canvas.item.figure.palette[code, :3].tolist()) == pink
    assert open_window.map.canvas.item.figure.legend.entries[1].colour == pink


def test_that_all_of_it_is_reached_by_key(qtbot: QtBot, open_window: MainWindow) -> None:
    document = open_window.session.document
    code = open_window.map.colours.entries[0][0]
    qtbot.activate(open_window)
    QTest.keyClick(open_window.map.canvas, Qt.Key.Key_G)
    menu = open_menu()
    assert len(menu.actions()) == len(open_window.map.colours.entries)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right):
        QTest.keyClick(menu, key)
    inner = open_menu()
    assert inner is not menu
    QTest.keyClick(inner, Qt.Key.Key_Return)
    assert document.colouring.hidden == {code}


@pytest.mark.parametrize("place", [QPoint(2, 2), QPoint(400, 300)])
def test_that_a_click_elsewhere_leaves_the_legend_alone(open_window: MainWindow, place: QPoint) -> None:
    QTest.mouseClick(open_window.map.canvas.viewport(), RIGHT, pos=place)
    assert QApplication.activePopupWidget() is None
    assert not open_window.session.document.colouring.hidden
