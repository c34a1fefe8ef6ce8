"""The answer as a list, its distribution, and what is said of it."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.commands import Notice, Session
from explorer.core.labels import Labels
from explorer.core.query import RowTerm
from explorer.core.results import Background, Metric, SearchResult
from explorer.document import Answer, LayoutStage, Question
from explorer.views.label_text import shown_label
from explorer.views.panels.answer_words import remark, trust_sentence
from explorer.views.panels.neighbour_model import bar_span, decimals_for, signed
from explorer.views.panels.neighbours import NeighboursPanel
from explorer.views.thumbnails import Thumbnails


@pytest.fixture
def panel(qtbot: QtBot, session: Session) -> NeighboursPanel:
    made = NeighboursPanel(session, Thumbnails())
    qtbot.addWidget(made)
    made.resize(310, 620)
    made.show()
    return made


def ask(qtbot: QtBot, session: Session, text: str) -> Answer:
    session.asking.ask(text)
    qtbot.waitUntil(lambda: asked(session) == text)
    assert session.document.answer is not None
    return session.document.answer


def asked(session: Session) -> str:
    answer = session.document.answer
    return "" if answer is None else answer.question.text


def made_answer(scores: np.ndarray, metric: Metric = Metric.COSINE, *, rows: int | None = None) -> Answer:
    """An answer whose background is its own scores."""
    counts, edges = np.histogram(scores, 32)
    background = Background(float(scores.mean()), float(scores.std()), counts, edges)
    places = np.arange(len(scores) if rows is None else rows)
    result = SearchResult(places, scores[: len(places)].astype(np.float32), metric, background)
    return Answer(Question("made", (RowTerm(1.0, 0),), metric=metric), result)


def shown(panel: NeighboursPanel, count: int = 3) -> list[tuple[int, str, str, str]]:
    entries = [panel.model.entry(place) for place in range(count)]
    return [(entry.rank, entry.label, entry.value, entry.above) for entry in entries]


# The list


def test_that_neighbours_stand_with_rank_label_score_and_deviations(
    qtbot: QtBot, session: Session, panel: NeighboursPanel
) -> None:
    answer = ask(qtbot, session, "king - man + woman")
    result = answer.result
    assert panel.header.title.text() == "king − man + woman"
    assert panel.header.count.text() == "50 nearest"
    assert panel.model.rowCount() == 50
    rank, label, value, above = shown(panel, 1)[0]
    assert (rank, label) == (1, "queen")
    assert value == f"{result.scores[0]:.{panel.model.decimals}f}"
    assert above == f"+{(result.scores[0] - result.background.mean) / result.background.std:.1f}σ"


def test_that_a_click_and_return_walk_on_and_arrows_only_point(
    qtbot: QtBot, session: Session, panel: NeighboursPanel
) -> None:
    ask(qtbot, session, "king - man + woman")
    spot = panel.list.visualRect(panel.model.index(0, 0)).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    qtbot.waitUntil(lambda: panel.header.title.text() == "queen")
    panel.activateWindow()
    panel.list.setFocus()
    with qtbot.waitSignal(panel.hovered) as pointed:
        qtbot.keyClick(panel.list, Qt.Key.Key_Down)
    assert session.document.answer is not None
    assert pointed.args == [int(session.document.answer.result.rows[panel.list.currentIndex().row()])]
    assert panel.header.title.text() == "queen"
    wanted = panel.model.label(panel.list.currentIndex().row())
    panel.list.actions()[0].trigger()
    qtbot.waitUntil(lambda: panel.header.title.text() == wanted)


def test_that_back_and_forward_go_through_the_questions(
    qtbot: QtBot, session: Session, panel: NeighboursPanel
) -> None:
    assert not panel.header.back.isEnabled()
    ask(qtbot, session, "king")
    ask(qtbot, session, "woman")
    assert panel.header.back.isEnabled()
    assert not panel.header.forward.isEnabled()
    panel.header.back.click()
    qtbot.waitUntil(lambda: panel.header.title.text() == "king")
    assert panel.header.forward.isEnabled()
    panel.header.forward.click()
    qtbot.waitUntil(lambda: panel.header.title.text() == "woman")


def test_that_pointing_at_a_line_names_its_row_and_leaving_takes_it_back(
    qtbot: QtBot, session: Session, panel: NeighboursPanel
) -> None:
    answer = ask(qtbot, session, "king")
    spot = panel.list.visualRect(panel.model.index(2, 0)).center()
    with qtbot.waitSignal(panel.hovered) as pointed:
        qtbot.mouseMove(panel.list.viewport(), spot + QPoint(1, 1))
    assert pointed.args == [int(answer.result.rows[2])]
    with qtbot.waitSignal(panel.hovered) as left:
        QApplication.sendEvent(panel.list.viewport(), QEvent(QEvent.Type.Leave))
    assert left.args == [-1]


def test_that_a_million_neighbours_are_listed_to_the_last(session: Session, panel: NeighboursPanel) -> None:
    count = 1_000_000
    assert session.document.table is not None
    session.document.table = replace(session.document.table, labels=None)
    session.document.set_answer(made_answer(np.linspace(0.9, -0.4, count)))
    assert panel.model.rowCount() == count
    panel.list.scrollToBottom()
    bottom = panel.list.indexAt(QPoint(20, panel.list.viewport().height() - 4))
    assert bottom.row() == count - 1
    assert not panel.grab().isNull()


def test_that_equal_labels_and_blanks_can_be_told_apart() -> None:
    assert [shown_label(each) for each in ("king", " the", "\n", "", "a\tb", "\udcff", "x\x00")] == [
        "king",
        "␣the",
        "⏎",
        "(empty)",
        "a⇥b",
        "\\xff",
        "x␀",
    ]


# Bars and numbers


@pytest.mark.parametrize(
    ("metric", "scores", "span"),
    [
        (Metric.COSINE, [0.9, 0.5], (0.0, 1.0)),
        (Metric.COSINE, [0.9, -0.25], (-0.25, 1.0)),
        (Metric.DOT, [12.0, 3.0], (0.0, 12.0)),
        (Metric.DOT, [-1.0, -4.0], (-4.0, 0.0)),
        (Metric.EUCLIDEAN, [1.0, 2.0], (0.0, 2.0)),
    ],
)
def test_that_bars_start_at_zero_and_their_track_says_what_it_spans(
    metric: Metric, scores: list[float], span: tuple[float, float]
) -> None:
    assert bar_span(made_answer(np.asarray(scores), metric)) == pytest.approx(span)


def test_that_a_negative_similarity_runs_left_from_zero(session: Session, panel: NeighboursPanel) -> None:
    session.document.set_answer(made_answer(np.asarray([0.5, -0.25])))
    first, last = panel.model.entry(0), panel.model.entry(1)
    assert first.start == last.end == pytest.approx(0.2)
    assert last.start == pytest.approx(0.0)
    assert last.negative
    assert not first.negative
    assert (first.value, last.value) == ("0.50", "−0.25")


def test_that_the_nearest_row_has_the_shortest_euclidean_bar(
    qtbot: QtBot, session: Session, panel: NeighboursPanel
) -> None:
    session.document.set_asking(metric=Metric.EUCLIDEAN)
    ask(qtbot, session, "king")
    ends = [panel.model.entry(place).end for place in range(50)]
    assert ends == sorted(ends)
    assert panel.model.entry(0).above.startswith("+")
    assert panel.histogram_title.text() == "All distances to this query"


@pytest.mark.parametrize(
    ("scores", "decimals"),
    [([0.77, 0.60], 2), ([0.771, 0.769], 4), ([0.9], 2), ([0.99999, 0.99998], 4), ([], 2)],
)
def test_that_close_scores_are_told_apart(scores: list[float], decimals: int) -> None:
    assert decimals_for(np.asarray(scores), Metric.COSINE) == decimals


def test_that_no_minus_stands_before_zero() -> None:
    assert [signed(-0.001, 2), signed(-0.5, 1), signed(0.04, 1, plus=True)] == ["0.00", "−0.5", "0.0"]


# Copying and saving


def test_that_the_selected_or_all_are_copied(qtbot: QtBot, session: Session, panel: NeighboursPanel) -> None:
    ask(qtbot, session, "king - man + woman")
    panel.copy()
    lines = QApplication.clipboard().text().splitlines()
    assert len(lines) == 51
    assert lines[0] == "rank\tlabel\tscore\trow"
    assert lines[1].startswith("1\tqueen\t")
    panel.list.selectRow(1)
    panel.copy()
    assert len(QApplication.clipboard().text().splitlines()) == 2
    panel.copy_label()
    assert QApplication.clipboard().text() == panel.model.label(1)


def test_that_all_neighbours_are_saved_as_csv(
    qtbot: QtBot, session: Session, panel: NeighboursPanel, tmp_path: Path
) -> None:
    answer = ask(qtbot, session, "king")
    panel.save_csv(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [int(line["row"]) for line in lines] == answer.result.rows.tolist()
    assert np.allclose([float(line["score"]) for line in lines], answer.result.scores)
    assert lines[0]["label"] == panel.model.label(0)


def test_that_a_file_that_cannot_be_written_is_told(
    qtbot: QtBot, session: Session, panel: NeighboursPanel, tmp_path: Path
) -> None:
    ask(qtbot, session, "king")
    told: list[Notice] = []
    session.notices.posted.connect(told.append)
    panel.save_csv(tmp_path / "nowhere" / "out.csv")
    assert told[0].serious
    assert "nowhere" in told[0].text


# What is said


def test_that_nothing_standing_out_is_said_for_tables_large_enough() -> None:
    random = np.random.default_rng(0)
    noise = -np.sort(-random.uniform(0.0, 0.2, 2000))
    assert remark(made_answer(noise, rows=10)).startswith("Nothing stands out: the best match is only 1.7σ")
    almost = made_answer(np.concatenate([np.zeros(9), [1.0]]).repeat(30)[::-1])
    assert almost.deviations[0] == pytest.approx(3.0)

    def lower(by: float) -> str:
        return remark(replace(almost, result=replace(almost.result, scores=almost.result.scores - by)))

    assert lower(0.001) == "", "the list shows 3.0σ, so the sentence must not call it less"
    assert lower(0.03) == "Nothing stands out: the best match is only 2.9σ above the table's background."
    clear = made_answer(np.concatenate([[0.9], noise]), rows=10)
    assert remark(clear) == ""
    assert remark(made_answer(noise[::20], rows=10)) == "", "of 100 rows the best are much of the background"
    alike = -np.sort(-random.uniform(0.4, 1.0, 2000))
    assert remark(made_answer(alike, rows=10)) == "", "where much is alike the very picture cannot stand out"


def test_that_notes_of_the_reading_are_said_first() -> None:
    answer = made_answer(np.asarray([0.9, 0.1]))
    told = replace(
        answer, question=replace(answer.question, matched="case-folded", notes=("Found as King.",))
    )
    assert remark(told) == "Found as King."


def test_that_the_trust_sentence_counts_rows_near_on_the_map() -> None:
    random = np.random.default_rng(1)
    positions = random.normal(0, 50, (400, 2)).astype(np.float32)
    positions[:12] = random.normal(0, 0.1, (12, 2))
    question = Question("row", (RowTerm(1.0, 0),))
    far = np.argsort(np.linalg.norm(positions - positions[0], axis=1))[-4:]
    result = replace(made_answer(np.linspace(1, 0, 15)).result, rows=np.asarray([*range(1, 12), *far]))
    assert trust_sentence(Answer(question, result), positions) == (
        "Map trust here: 11 of the 15 nearest rows are also near on the map."
    )


def test_that_no_trust_is_told_of_rows_that_are_not_on_the_map() -> None:
    answer = made_answer(np.linspace(1, 0, 5))
    nowhere = np.full((5, 2), np.nan, np.float32)
    assert trust_sentence(answer, nowhere) == "Map trust here: none of the nearest rows is on the map."


def test_that_trust_waits_until_the_map_has_settled(
    qtbot: QtBot, session: Session, panel: NeighboursPanel
) -> None:
    ask(qtbot, session, "king")
    assert " of the 15 nearest rows " in panel.trust.text()
    positions = session.document.positions
    session.document.set_positions(positions, LayoutStage.MOVING)
    assert panel.trust.text() == "Map trust here: known once the map has settled."
    session.document.set_positions(positions, LayoutStage.STOPPED)
    assert " of the 15 nearest rows " in panel.trust.text()


def test_that_an_empty_panel_says_what_to_do(qtbot: QtBot, session: Session, panel: NeighboursPanel) -> None:
    assert panel.empty.text() == "Click a point or type a word."
    assert panel.empty.isVisible()
    empty = replace(made_answer(np.linspace(1, 0, 3)).result, rows=np.zeros(0, np.int64), scores=np.zeros(0))
    session.document.set_answer(Answer(Question("x", (RowTerm(1.0, 0),)), empty))
    assert panel.empty.text().startswith("No rows are left to compare with.")
    session.document.set_table(None)
    assert panel.empty.text() == "Open a file to ask it for neighbours."
    assert not panel.list.isVisible()
    assert not panel.histogram.isVisible()


# The distribution


def test_that_the_distribution_marks_the_results_and_where_one_hot_rows_stand(
    qtbot: QtBot, session: Session, panel: NeighboursPanel
) -> None:
    answer = ask(qtbot, session, "king - man + woman")
    histogram = panel.histogram
    best = float(answer.result.scores[0])
    assert histogram.x_of(best) == pytest.approx(histogram.width() - 5)
    assert histogram.value_at(histogram.x_of(0.3)) == pytest.approx(0.3)
    assert 5 < histogram.x_of(0.0) < histogram.x_of(best)
    image = histogram.grab().toImage()
    dots = image.height() - 14 - 12 + 6
    blue = image.pixelColor(QPoint(int(histogram.x_of(best)), dots)).name()
    assert blue == "#2563eb"
    panel.light_row(int(answer.result.rows[0]))
    image = histogram.grab().toImage()
    assert image.pixelColor(QPoint(int(histogram.x_of(best)), dots)).name() == "#1c2430"


def test_that_labels_of_all_kinds_can_be_shown(session: Session, panel: NeighboursPanel) -> None:
    table = session.document.table
    assert table is not None
    names = ["\n", "", " x", "\udcff", "שלום", "a" * 500, None]
    rest = [f"w{row}" for row in range(table.listing.rows - len(names))]
    session.document.table = replace(table, labels=Labels.from_texts([*names, *rest], "test"))
    session.document.set_answer(made_answer(np.linspace(1, 0, 7)))
    assert [panel.model.entry(place).label for place in (0, 6)] == ["⏎", "#6"]
    assert not panel.grab().isNull()


def test_that_a_shown_label_is_cut_and_turns_nothing_around():
    long = shown_label("😀" * 10_000)
    assert len(long) == 300
    assert long.endswith("…")
    assert shown_label("\u202eab\u2066") == "·ab·"
