"""The query line: asking, and following what is asked elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from query_driver import answered, best, history

from explorer.commands import Session
from explorer.core.labels import Labels
from explorer.core.results import Metric
from explorer.views.panels.query_bar import QueryBar


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


def test_that_what_is_typed_while_a_table_is_on_its_way_is_asked_of_it(
    qtbot: QtBot, session: Session, bar: QueryBar, words_file: Path
) -> None:
    document, first = session.document, session.document.table
    qtbot.keyClicks(bar.field, "king")
    answered(qtbot, session, "king")
    session.opening.open([str(words_file)])
    qtbot.keyClicks(bar.field, " - man")
    qtbot.waitUntil(lambda: document.table is not first)
    answered(qtbot, session, "king - man")
    assert bar.field.text() == "king - man"
    session.opening.open([str(words_file)])
    qtbot.waitUntil(lambda: bar.field.text() == "")


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
