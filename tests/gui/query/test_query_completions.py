"""What is offered below the query line."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeyEvent
from pytestqt.qtbot import QtBot
from query_driver import answered, offered

from explorer.commands import Session
from explorer.views.panels.query_bar import QueryBar


def test_that_completions_open_below_and_leave_the_keys_to_the_field(qtbot: QtBot, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, "man + pr")
    assert offered(bar) == ["prince", "princess"]
    assert bar.field.hasFocus()
    assert bar.popup.geometry().top() >= bar.geometry().bottom()
    qtbot.keyClick(bar.field, Qt.Key.Key_Down)
    qtbot.keyClick(bar.field, Qt.Key.Key_Down)
    qtbot.keyClick(bar.field, Qt.Key.Key_Tab)
    assert bar.field.text() == "man + princess"
    assert not bar.popup.isVisible()
    assert bar.field.hasFocus()


def test_that_return_takes_a_marked_completion_and_asks_it(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    qtbot.keyClicks(bar.field, "pr")
    qtbot.keyClick(bar.field, Qt.Key.Key_Down)
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    answered(qtbot, session, "prince")
    assert session.settings.queries == ["prince"]


def test_that_a_label_on_several_rows_is_taken_by_its_row(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    qtbot.keyClicks(bar.field, "ban")
    assert [(offer.label, offer.row) for offer in bar.popup.offers.items] == [("bank", 8), ("bank", 309)]
    qtbot.keyClick(bar.field, Qt.Key.Key_Down)
    qtbot.keyClick(bar.field, Qt.Key.Key_Down)
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    answered(qtbot, session, "#309")


def test_that_escape_closes_the_list_first_and_is_then_the_windows(qtbot: QtBot, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, "pr")
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert not bar.popup.isVisible()
    second = QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    bar.field.keyPressEvent(second)
    assert not second.isAccepted()


def test_that_a_press_elsewhere_closes_the_list(qtbot: QtBot, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, "pr")
    qtbot.mouseClick(bar.field.viewport(), Qt.MouseButton.LeftButton)
    assert bar.popup.isVisible()
    qtbot.mouseClick(bar.window(), Qt.MouseButton.LeftButton, pos=QPoint(600, 400))
    assert not bar.popup.isVisible()


def test_that_an_unknown_word_gets_the_closest_labels_and_a_click_takes_one(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    qtbot.keyClicks(bar.field, "qeuen - man")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "queen" in offered(bar))
    assert "qeuen" in bar.popup.message.text()
    place = [offer.label for offer in bar.popup.offers.items].index("queen")
    spot = bar.popup.list.visualRect(bar.popup.offers.index(place, 0)).center()
    qtbot.mouseClick(bar.popup.list.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert bar.field.text() == "queen - man"
    answered(qtbot, session, "queen - man")


def test_that_an_unknown_word_is_told_without_asking_once_typing_pauses(qtbot: QtBot, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, "kinxg")
    qtbot.waitUntil(lambda: "king" in offered(bar))
    assert bar.popup.message.text() == "No row has the label “kinxg”."


def test_that_a_text_that_is_no_query_is_explained(qtbot: QtBot, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, "king - ")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.popup.isVisible()
    assert "follows the -" in bar.popup.message.text()
