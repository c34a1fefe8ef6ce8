"""What stands in the query line: chips, underlines, texts from elsewhere."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QUrl
from PySide6.QtGui import QColor, QInputMethodEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from query_driver import answered

from explorer.commands import Session
from explorer.views.panels.query_bar import QueryBar
from explorer.views.theme import apply_theme, current_colours


def ground_of(bar: QueryBar, part: int) -> QColor:
    """The colour just left of a part's first letter, where its chip has its edge."""
    field = bar.field
    field.textCursor().clearSelection()
    chip = field._chip(field.outline.parts[part])
    image = field.viewport().grab().toImage()
    return image.pixelColor(QPoint(int(chip.left()) + 3, int(chip.center().y())))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_what_is_understood_stands_on_chips(
    qtbot: QtBot, qapp: QApplication, bar: QueryBar, theme: str
) -> None:
    apply_theme(qapp, theme)
    qtbot.keyClicks(bar.field, "king - kxng + woman")
    colours = current_colours()
    assert [part.known for part in bar.field.outline.parts] == [True, False, True]
    assert ground_of(bar, 0).name() == colours.accent_ground
    assert ground_of(bar, 1).name() == colours.panel
    assert ground_of(bar, 2).name() == colours.accent_ground


def underlined(bar: QueryBar) -> list[str]:
    return [part.label for part in bar.field.underlined]


def test_that_an_unknown_word_is_underlined_but_not_while_it_may_become_a_known_one(
    qtbot: QtBot, bar: QueryBar
) -> None:
    qtbot.keyClicks(bar.field, "kin")
    assert underlined(bar) == []
    qtbot.keyClicks(bar.field, " + wom")
    assert underlined(bar) == ["kin"]
    qtbot.keyClicks(bar.field, "xx")
    assert underlined(bar) == ["kin", "womxx"]
    image = bar.field.viewport().grab().toImage()
    left, right = (int(bar.field._x(place)) for place in (0, 3))
    seen = [image.pixelColor(x, y) for x in range(left, right) for y in range(20, 30)]
    assert any(colour.red() > colour.green() + 40 for colour in seen)


def test_that_nothing_is_called_unknown_before_the_labels_are_read(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    session.asking.begin()
    assert session.asking.index is None
    session.document.table_changed.emit()
    qtbot.keyClicks(bar.field, "king - womxx")
    assert underlined(bar) == []
    qtbot.waitUntil(lambda: underlined(bar) == ["womxx"])


def test_that_chips_stand_right_after_letters_beyond_the_basic_plane(qtbot: QtBot, bar: QueryBar) -> None:
    bar.field.insertPlainText("😀😀 + king")
    assert bar.field.cursor == len("😀😀 + king")
    assert ground_of(bar, 1).name() == current_colours().accent_ground
    assert underlined(bar) == ["😀😀"]


def test_that_an_input_method_can_compose_in_the_field(qtbot: QtBot, session: Session, bar: QueryBar) -> None:
    QApplication.sendEvent(bar.field, QInputMethodEvent("k", []))
    assert bar.field.text() == ""
    event = QInputMethodEvent("", [])
    event.setCommitString("king")
    QApplication.sendEvent(bar.field, event)
    answered(qtbot, session, "king")


def test_that_typing_can_be_undone(qtbot: QtBot, session: Session, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, "king")
    answered(qtbot, session, "king")
    session.asking.ask_row(1)
    answered(qtbot, session, "queen")
    assert bar.field.text() == "queen"
    bar.field.undo()
    assert bar.field.text() == "king"


def test_that_pasted_lines_become_one_and_dropped_files_are_left_to_the_window(bar: QueryBar) -> None:
    lines, files = QMimeData(), QMimeData()
    lines.setText("king\n+ man\r\n")
    bar.field.insertFromMimeData(lines)
    assert bar.field.text() == "king + man"
    files.setUrls([QUrl.fromLocalFile("/x/y.pth")])
    files.setText("/x/y.pth")
    assert not bar.field.canInsertFromMimeData(files)
