"""Pictures and words in the query line, asked of the demo's index: chips, pasting, dropping, notes."""

from __future__ import annotations

from pathlib import Path

import demo_pictures as demo
import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QRect, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from window_driver import drop

from explorer.commands import Session
from explorer.core.query_text import PictureTerm
from explorer.document import Question
from explorer.views.main_window import MainWindow
from explorer.views.panels.picture_chips import PAD, THUMB
from explorer.views.panels.query_bar import QueryBar


@pytest.fixture
def bar(qtbot: QtBot, scenes: Session, window: MainWindow) -> QueryBar:
    """The window's query line, with the cursor in it."""
    qtbot.focus(window.query.field)
    return window.query


def answered(qtbot: QtBot, bar: QueryBar, text: str, pictures: int = 0) -> Question:
    """Wait for the answer to a text with so many pictures."""
    document = bar._session.document

    def is_there() -> bool:
        question = None if document.answer is None else document.answer.question
        return question is not None and question.text == text and len(question.pictures) == pictures

    qtbot.waitUntil(is_there)
    return document.answer.question


def best(bar: QueryBar) -> int:
    return int(bar._session.document.answer.result.rows[0])


def put_on_clipboard(path: Path) -> None:
    QApplication.clipboard().setImage(QImage(str(path)))


# Words


def test_that_words_stand_on_one_chip_and_are_asked_as_one_text(qtbot: QtBot, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, "a red circle")
    assert [(part.start, part.end, part.known) for part in bar.field.outline.parts] == [(0, 12, True)]
    assert not bar.popup.isVisible()  # no file is offered by its name
    question = answered(qtbot, bar, "a red circle")
    assert [term.text for term in question.texts] == ["a red circle"]


def test_that_texts_rows_and_weights_part_at_operators(qtbot: QtBot, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, 'stars + 2*"a heart" - #7')
    question = answered(qtbot, bar, 'stars + 2*"a heart" - #7')
    assert [(term.weight, term.text) for term in question.texts] == [(1, "stars"), (2, "a heart")]
    assert question.rows == (7,)
    assert bar.field.underlined == []


def test_that_the_name_of_a_file_is_offered_within_quotes_only(qtbot: QtBot, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, "scene-00")
    assert not bar.popup.isVisible()
    bar.field.selectAll()
    qtbot.keyClicks(bar.field, '"scene-005')
    assert bar.popup.isVisible()
    assert bar.popup.offers.items[0].label == "scene-0050.png"


def test_that_a_text_that_is_too_long_is_struck_out_from_where_it_was_cut(
    qtbot: QtBot, bar: QueryBar
) -> None:
    text = "a red circle above a blue square and a green star left of a yellow heart " * 4
    bar.field.set_text(text.strip(), 0)
    bar.ask()
    answered(qtbot, bar, text.strip())
    ((start, end),) = bar.field.cut_spans
    assert 100 < start < end == len(text.strip())
    formats = bar.field.document().firstBlock().layout().formats()
    struck = [(each.start, each.start + each.length) for each in formats if each.format.fontStrikeOut()]
    assert struck == [(start, end)]
    assert bar.popup.isVisible()
    assert "Only the first 48 tokens are read" in bar.popup.message.text()
    assert "Only the first 48 tokens are read" in bar.field.toolTip()
    qtbot.keyClick(bar.field, Qt.Key.Key_End)
    qtbot.keyClicks(bar.field, "!")
    assert bar.field.cut_spans == []


def test_that_what_was_cut_stays_told_after_return(qtbot: QtBot, bar: QueryBar, window: MainWindow) -> None:
    text = ("a red circle above a blue square " * 12).strip()
    qtbot.keyClicks(bar.field, text)
    answered(qtbot, bar, text)
    qtbot.focus(bar.field)
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)  # asked already, while it was typed
    assert bar.popup.isVisible()
    assert "Only the first 48 tokens are read" in bar.popup.message.text()
    assert "Only the first 48 tokens are read" in window.answer.gallery.remark.text()


def test_that_a_script_without_words_is_told_under_the_line(qtbot: QtBot, bar: QueryBar) -> None:
    bar.field.set_text("красный круг", 0)
    bar.ask()
    answered(qtbot, bar, "красный круг")
    assert "no words for Cyrillic letters" in bar.popup.message.text()
    assert bar.field.notes[0].kind == "unknown script"
    bar.grab()


# Pictures


def test_that_a_dropped_picture_is_a_chip_and_finds_itself(
    qtbot: QtBot, bar: QueryBar, window: MainWindow
) -> None:
    drop(window, demo.scene(17))
    answered(qtbot, bar, "", pictures=1)
    assert best(bar) == 17
    (chip,) = bar.field.chips.chips
    assert chip.isVisible()
    assert chip.accessibleName() == "With the picture scene-0017.png"
    qtbot.waitUntil(lambda: chip.image is not None)
    assert bar.field.viewportMargins().left() > chip.width()
    assert len(window.session.document.sources) == 1


def test_that_too_many_pictures_are_told_in_one_sentence(
    qtbot: QtBot, bar: QueryBar, window: MainWindow
) -> None:
    drop(window, *(demo.scene(number) for number in range(9)))
    assert window.notice.text.text() == (
        "9 pictures are too many for one question. To index them, drop their folder."
    )
    assert window.session.document.query_pictures == ()


def test_that_a_picture_and_a_text_are_asked_together_and_each_can_go(qtbot: QtBot, bar: QueryBar) -> None:
    bar._session.asking.ask_picture(str(demo.scene(17)))
    answered(qtbot, bar, "", pictures=1)
    qtbot.keyClicks(bar.field, "a star")
    both = answered(qtbot, bar, "a star", pictures=1)
    assert [term.text for term in both.texts] == ["a star"]
    qtbot.mouseClick(bar.field.chips.chips[0], Qt.MouseButton.LeftButton)
    answered(qtbot, bar, "a star")
    assert bar.field.chips.isHidden()
    assert bar.field.viewportMargins().left() == 0
    bar._session.asking.go(-1)
    answered(qtbot, bar, "a star", pictures=1)
    assert len(bar.field.chips.chips) == 1


def test_that_backspace_at_the_start_takes_the_last_picture(qtbot: QtBot, bar: QueryBar) -> None:
    bar._session.asking.ask_picture(str(demo.scene(17)), text="a star")
    qtbot.keyClicks(bar.field, "ab")
    qtbot.keyClick(bar.field, Qt.Key.Key_Backspace)
    assert (bar.field.text(), len(bar.field.chips.pictures)) == ("a", 1)
    bar.field.set_text("a", 0)
    qtbot.keyClick(bar.field, Qt.Key.Key_Backspace)
    assert (bar.field.text(), bar.field.chips.pictures) == ("a", ())


def test_that_a_subtracted_picture_is_asked_with_its_sign(qtbot: QtBot, bar: QueryBar) -> None:
    bar._session.asking.ask_picture(str(demo.scene(17)))
    answered(qtbot, bar, "", pictures=1)
    bar.field.chips.chips[0].turned.emit()
    qtbot.waitUntil(
        lambda: bar._session.document.answer.question.pictures == (PictureTerm(-1, str(demo.scene(17))),)
    )
    assert best(bar) != 17
    assert bar.field.chips.chips[0].accessibleName() == "Without the picture scene-0017.png"
    bar.grab()


def test_that_a_pasted_picture_is_kept_for_the_session_and_no_longer(
    qtbot: QtBot, bar: QueryBar, window: MainWindow
) -> None:
    put_on_clipboard(demo.scene(23))
    bar.field.paste()
    question = answered(qtbot, bar, "", pictures=1)
    assert best(bar) == 23
    file = Path(question.pictures[0].path)
    assert np.array_equal(pixels(file), pixels(demo.scene(23)))
    # Another takes its place, and is shown.
    put_on_clipboard(demo.scene(24))
    window.map.canvas.setFocus()
    window.actions_by_name["paste_picture"].trigger()
    qtbot.waitUntil(lambda: best(bar) == 24)
    (chip,) = bar.field.chips.chips
    assert chip.isVisible()
    assert chip.width() > 20
    assert bar.field.chips.width() >= chip.width()
    window.session.close()
    assert not file.exists()


def test_that_a_copied_file_is_asked_by_its_path(qtbot: QtBot, bar: QueryBar) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(demo.scene(31)))])
    QApplication.clipboard().setMimeData(data)
    bar.field.paste()
    assert answered(qtbot, bar, "", pictures=1).pictures[0].path == str(demo.scene(31))
    assert bar.field.text() == ""


def test_that_several_pictures_are_one_question(qtbot: QtBot, bar: QueryBar, window: MainWindow) -> None:
    drop(window, demo.scene(17), demo.scene(31))
    question = answered(qtbot, bar, "", pictures=2)
    assert [Path(term.path).name for term in question.pictures] == ["scene-0017.png", "scene-0031.png"]
    assert {int(row) for row in window.session.document.answer.result.rows[:2]} == {17, 31}
    first, second = bar.field.chips.chips
    assert first.geometry().right() < second.geometry().left()
    qtbot.keyClick(bar.field, Qt.Key.Key_Backspace)
    answered(qtbot, bar, "", pictures=1)
    assert best(bar) == 17


def test_that_a_picture_dragged_from_a_page_is_asked_by_its_pixels(
    qtbot: QtBot, bar: QueryBar, window: MainWindow
) -> None:
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/scene.png")])
    data.setImageData(QImage(str(demo.scene(9))))
    assert window.query.pictures.take(data)
    answered(qtbot, bar, "", pictures=1)
    assert best(bar) == 9


def test_that_text_is_still_pasted_as_text(qtbot: QtBot, bar: QueryBar) -> None:
    QApplication.clipboard().setText("two\nstars")
    bar.field.paste()
    assert bar.field.text() == "two stars"
    assert bar.field.chips.pictures == ()


def test_that_a_damaged_picture_is_refused_in_the_line(
    qtbot: QtBot, bar: QueryBar, window: MainWindow, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.png"
    cut.write_bytes(demo.scene(5).read_bytes()[:300])
    drop(window, cut)
    qtbot.waitUntil(lambda: "cut.png" in bar.popup.message.text())
    assert window.session.document.answer is None
    (chip,) = bar.field.chips.chips
    qtbot.waitUntil(lambda: bool(chip.fault))
    middle = chip.grab(QRect(PAD, PAD, THUMB, THUMB).adjusted(5, 5, -5, -5)).toImage()
    colours = {middle.pixel(x, y) for x in range(middle.width()) for y in range(middle.height())}
    assert len(colours) > 1, "a mark stands where its picture would"


def test_that_a_picture_without_an_index_says_what_to_open_first(
    qtbot: QtBot, open_window: MainWindow
) -> None:
    drop(open_window, demo.scene(1))
    assert "Open an index of pictures first" in open_window.notice.text.text()
    assert open_window.session.document.query_pictures == ()
    put_on_clipboard(demo.scene(1))
    open_window.query.field.paste()
    assert open_window.query.field.chips.pictures == ()
    QApplication.clipboard().setText("no picture")
    open_window.actions_by_name["paste_picture"].trigger()
    assert open_window.notice.text.text() == "There is no picture on the clipboard."


def test_that_keys_reach_a_chip_and_take_it_away(qtbot: QtBot, bar: QueryBar) -> None:
    bar._session.asking.ask_picture(str(demo.scene(2)))
    chip = bar.field.chips.chips[0]
    chip.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(chip, Qt.Key.Key_Space)
    assert bar.field.chips.pictures == ()
    assert bar.field.hasFocus()


def pixels(path: Path) -> np.ndarray:
    image = QImage(str(path)).convertToFormat(QImage.Format.Format_RGB888)
    return np.frombuffer(image.constBits(), np.uint8, image.sizeInBytes()).copy()
