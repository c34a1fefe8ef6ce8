"""The query line, asked with real workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QColor, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.core.labels import Labels, label_of
from explorer.core.results import Metric
from explorer.views.panels.query_bar import QueryBar
from explorer.views.theme import apply_theme, current_colours


@pytest.fixture
def bar(qtbot: QtBot, session: Session) -> Iterator[QueryBar]:
    """A query bar at the top of a window, with the cursor in it."""
    window = QWidget()
    made = QueryBar(session)
    column = QVBoxLayout(window)
    column.addWidget(made)
    column.addStretch(1)
    window.resize(640, 420)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    made.field.setFocus()
    qtbot.waitUntil(made.field.hasFocus)
    yield made
    window.close()


def answered(qtbot: QtBot, session: Session, text: str) -> None:
    """Wait until a question stands answered."""
    qtbot.waitUntil(
        lambda: session.document.answer is not None and session.document.answer.question.text == text
    )


def best(session: Session) -> str:
    """The label of the nearest neighbour."""
    document = session.document
    assert document.answer is not None
    assert document.table is not None
    return label_of(document.table.labels, int(document.answer.result.rows[0]))


def history(session: Session) -> list[str]:
    return [question.text for question in session.document.questions.items]


def offered(bar: QueryBar) -> list[str]:
    return [offer.label for offer in bar.popup.offers.items] if bar.popup.isVisible() else []


# Asking


def test_that_return_asks_and_remembers(qtbot: QtBot, session: Session, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, "king - man + woman")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    answered(qtbot, session, "king - man + woman")
    assert best(session) == "queen"
    assert session.settings.queries == ["king - man + woman"]


def test_that_a_pause_asks_what_is_understood_but_does_not_remember_it(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    qtbot.keyClicks(bar.field, "king")
    answered(qtbot, session, "king")
    assert session.settings.queries == []
    assert bar.field.hint == ""
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert session.settings.queries == ["king"]
    assert bar.field.hint == "↑ earlier queries"


def test_that_a_text_typed_with_pauses_is_one_step_of_the_history(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    for typed in ("king", " - man", " + woman"):
        qtbot.keyClicks(bar.field, typed)
        answered(qtbot, session, bar.field.text())
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert history(session) == ["king - man + woman"]
    session.asking.ask_row(0)
    answered(qtbot, session, "king")
    assert history(session) == ["king - man + woman", "king"]


def test_that_nothing_is_asked_while_something_is_unknown(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    qtbot.keyClicks(bar.field, "king - mzzn")
    qtbot.wait(400)
    assert session.document.answer is None


def test_that_clearing_the_field_clears_the_answer_and_back_brings_it_again(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    qtbot.keyClicks(bar.field, "king")
    answered(qtbot, session, "king")
    bar.field.selectAll()
    qtbot.keyClick(bar.field, Qt.Key.Key_Delete)
    assert session.document.answer is None
    assert session.asking.can_go(-1)
    session.asking.go(-1)
    answered(qtbot, session, "king")
    assert bar.field.text() == "king"


@pytest.mark.parametrize(
    ("metric", "smallest_first"), [(Metric.DOT, False), (Metric.EUCLIDEAN, True), (Metric.COSINE, False)]
)
def test_that_options_ask_again(
    qtbot: QtBot, session: Session, bar: QueryBar, metric: Metric, smallest_first: bool
) -> None:
    qtbot.keyClicks(bar.field, "king")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    answered(qtbot, session, "king")
    bar.metrics.setCurrentText(str(metric))
    bar.k.setValue(7)
    bar.include_query.setChecked(True)

    def arrived() -> bool:
        answer = session.document.answer
        return answer is not None and answer.question.include_query and len(answer.result.rows) == 7

    qtbot.waitUntil(arrived)
    assert session.document.answer is not None
    result = session.document.answer.result
    assert result.metric is metric
    assert 0 in result.rows
    assert bool(result.scores[0] < result.scores[-1]) is smallest_first
    assert history(session) == ["king"]


def test_that_options_set_elsewhere_are_shown(session: Session, bar: QueryBar) -> None:
    session.document.set_asking(metric=Metric.DOT, k=1_000_000, all_rows=True)
    assert (bar.metrics.currentText(), bar.k.text(), bar.all_rows.isChecked()) == ("dot", "k 1,000,000", True)


# Chips


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


# Completions


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


# Following and earlier queries


def test_that_the_text_follows_an_answer_from_elsewhere(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    session.asking.ask_row(7)
    answered(qtbot, session, '"new york"')
    assert bar.field.text() == '"new york"'
    session.asking.ask_row(309)
    answered(qtbot, session, "#309")
    session.asking.go(-1)
    answered(qtbot, session, '"new york"')
    assert bar.field.text() == '"new york"'


def test_that_an_answer_does_not_overwrite_what_is_being_typed(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    qtbot.keyClicks(bar.field, "king")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    qtbot.keyClicks(bar.field, " - ma")
    answered(qtbot, session, "king")
    assert bar.field.text() == "king - ma"


def test_that_up_walks_earlier_queries_and_down_comes_back_to_what_was_typed(
    qtbot: QtBot, session: Session, bar: QueryBar
) -> None:
    session.settings.queries = ["queen", "king + man"]
    qtbot.keyClicks(bar.field, "Par")
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    texts = []
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down):
        qtbot.keyClick(bar.field, key)
        bar.popup.hide()
        texts.append(bar.field.text())
    assert texts == ["queen", "king + man", "king + man", "queen", "Par"]


def test_that_a_match_that_was_not_exact_is_told(qtbot: QtBot, session: Session, bar: QueryBar) -> None:
    qtbot.keyClicks(bar.field, "king + PARIS")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    answered(qtbot, session, "king + PARIS")
    assert bar.field.hint == "matched case-folded: Paris"
    assert "“PARIS” was found as “Paris”" in bar.field.toolTip()


def test_that_labels_of_the_last_table_are_not_taken_for_those_of_the_next(
    session: Session, bar: QueryBar
) -> None:
    table = session.document.table
    assert table is not None
    seen = []
    session.document.table_changed.connect(lambda: seen.append((session.asking.index, bar.field.is_waiting)))
    names = Labels.from_texts(["other", *(f"w{row}" for row in range(table.listing.rows - 1))], "test")
    session.document.set_table(replace(table, labels=names))
    assert seen == [(None, True)]


def test_that_another_table_empties_the_field(
    qtbot: QtBot, session: Session, bar: QueryBar, words_file: Path
) -> None:
    qtbot.keyClicks(bar.field, "king")
    answered(qtbot, session, "king")
    session.opening.open([str(words_file)])
    qtbot.waitUntil(lambda: session.document.answer is None)
    assert bar.field.text() == ""


def test_that_going_to_the_field_selects_its_text(session: Session, bar: QueryBar) -> None:
    bar.field.set_text("king")
    bar.k.setFocus()
    bar.focus_query()
    assert bar.field.hasFocus()
    assert bar.field.textCursor().selectedText() == "king"


def test_that_nothing_is_cut_in_a_narrow_window(qtbot: QtBot, session: Session, bar: QueryBar) -> None:
    session.document.set_asking(metric=Metric.EUCLIDEAN, k=1_000_000)
    bar.window().resize(480, 300)
    qtbot.waitUntil(lambda: bar.width() <= 480)
    for part in (bar.field, bar.metrics, bar.k, bar.more):
        assert bar.rect().contains(part.geometry())
        assert part.width() >= part.minimumSizeHint().width()
    assert bar.field.width() >= 180
