"""Choosing rows in the real window: selection, filter, isolation, clusters, regions, undo."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot
from window_driver import settle

from explorer.commands import Session
from explorer.core.clustering import HDBSCAN
from explorer.document.colouring import SIMILARITY
from explorer.document.columns import colour_data
from explorer.views.main_window import MainWindow

ROWS = 240


@pytest.fixture(scope="session")
def kinds_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three groups of 80 rows far apart, with a column of each kind."""
    random = np.random.default_rng(11)
    group = np.arange(ROWS) % 3
    vectors = (np.eye(3, 16)[group] * 5 + random.normal(0, 0.3, (ROWS, 16))).astype(np.float32)
    kinds = np.array(["bird", "fish", "tree"])[group]
    table = pa.table(
        {
            "word": [f"{kind}{row:03}" for row, kind in enumerate(kinds)],
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 16),
            "kind": kinds,
            "year": 1900 + np.arange(ROWS) % 100,
            "tags": [["wild", "small"] if row % 2 else ["small"] for row in range(ROWS)],
        }
    )
    path = tmp_path_factory.mktemp("kinds") / "kinds.parquet"
    pq.write_table(table, path)
    return path


@pytest.fixture
def rows_window(qtbot: QtBot, window: MainWindow, kinds_file: Path) -> MainWindow:
    """A window with the three groups on the map."""
    window.session.opening.open([str(kinds_file)])
    settle(qtbot, window)
    return window


def of_kind(number: int) -> np.ndarray:
    return np.arange(ROWS)[np.arange(ROWS) % 3 == number]


def placed(window: MainWindow) -> list[int]:
    return np.flatnonzero(np.isfinite(window.session.document.positions).all(axis=1)).tolist()


def test_that_selected_rows_are_listed_and_the_list_comes_and_goes(
    qtbot: QtBot, rows_window: MainWindow
) -> None:
    panel, dock = rows_window.selection, rows_window.selection_dock
    assert not dock.isVisible()
    rows_window.session.selecting.take(of_kind(0))
    assert dock.isVisible()
    assert panel.title.text() == "80 rows"
    assert panel.model.rowCount() == 80
    assert panel.model.label(1) == "bird003"
    panel.invert.click()
    assert rows_window.session.document.selection.tolist() == sorted([*of_kind(1), *of_kind(2)])
    panel.clear.click()
    assert not dock.isVisible()


def test_that_undo_brings_back_what_was_selected_filtered_and_coloured(
    qtbot: QtBot, rows_window: MainWindow
) -> None:
    document, session = rows_window.session.document, rows_window.session
    undo, redo = rows_window.actions_by_name["undo"], rows_window.actions_by_name["redo"]
    assert not undo.isEnabled()
    session.selecting.take(of_kind(0))
    session.filtering.apply("kind = fish")
    rows_window.side.colour.by.textActivated.emit("year")
    assert undo.text() == "Undo colour by year"
    undo.trigger()
    assert document.colouring.by == "cluster"
    assert undo.text() == "Undo filter kind = fish"
    undo.trigger()
    assert document.filtered is None
    assert rows_window.filter.field.text() == ""
    assert undo.text() == "Undo select 80 rows"
    undo.trigger()
    assert len(document.selection) == 0
    redo.trigger()
    redo.trigger()
    assert document.filter == "kind = fish"
    assert np.flatnonzero(document.filtered).tolist() == of_kind(1).tolist()
    assert document.selection.tolist() == of_kind(0).tolist()


def test_that_a_typed_condition_filters_and_its_rows_can_be_selected(
    qtbot: QtBot, rows_window: MainWindow
) -> None:
    bar, document = rows_window.filter, rows_window.session.document
    rows_window.activateWindow()
    rows_window.actions_by_name["filter"].trigger()
    assert bar.isVisible()
    qtbot.keyClicks(bar.field, "kin")
    assert [offer.label for offer in bar.popup.offers.items] == ["kind"]
    qtbot.keyClick(bar.field, Qt.Key.Key_Tab)
    qtbot.keyClicks(bar.field, "= tre")
    qtbot.keyClick(bar.field, Qt.Key.Key_Tab)
    assert bar.field.text() == "kind = tree "
    qtbot.keyClicks(bar.field, "and year < 1910")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    expected = [row for row in of_kind(2).tolist() if row % 100 < 10]
    assert np.flatnonzero(document.filtered).tolist() == expected
    assert bar.count.text() == f"{len(expected)} of 240 rows"
    bar.select.click()
    assert document.selection.tolist() == expected
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert document.filtered is None


def test_that_a_large_tables_column_is_read_beside_the_window_before_its_values_are_proposed(
    qtbot: QtBot, rows_window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.commands.filtering.AT_ONCE", 100)
    bar, filtering = rows_window.filter, rows_window.session.filtering
    qtbot.activate(rows_window)
    bar.open_bar()
    qtbot.waitUntil(bar.field.hasFocus)
    with qtbot.waitSignal(filtering.column_read) as read:
        qtbot.keyClicks(bar.field, "tags = ")
        assert not bar.popup.offers.items
    assert read.args == ["tags"]
    assert [offer.label for offer in bar.popup.offers.items] == ["small", "wild"]
    bar.close_bar()


def test_that_a_wrong_condition_is_told_and_changes_nothing(qtbot: QtBot, rows_window: MainWindow) -> None:
    bar, document = rows_window.filter, rows_window.session.document
    rows_window.session.filtering.apply("kind = fish")
    bar.open_bar()
    bar.field.setText("kind = fsh")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.problem.text() == "Position 8: No row has fsh as its kind. Did you mean fish?"
    assert bar.field.width() > bar.width() / 2, "the words take no room from what is typed"
    assert document.filter == "kind = fish"
    assert bar.select.isHidden()


def test_that_a_condition_on_the_score_follows_the_question(qtbot: QtBot, rows_window: MainWindow) -> None:
    session, document = rows_window.session, rows_window.session.document
    session.filtering.apply("score > 0.5")
    assert not document.filtered.any()
    session.asking.ask("bird000")
    qtbot.waitUntil(lambda: document.similarities is not None)
    assert np.flatnonzero(document.filtered).tolist() == of_kind(0).tolist()
    session.asking.ask("fish001")
    qtbot.waitUntil(lambda: bool(document.filtered[1]))
    assert np.flatnonzero(document.filtered).tolist() == of_kind(1).tolist()


def test_that_similarity_colours_all_rows_not_the_nearest_alone(
    qtbot: QtBot, rows_window: MainWindow
) -> None:
    session, document = rows_window.session, rows_window.session.document
    rows_window.side.colour.by.textActivated.emit(SIMILARITY)
    session.asking.ask("bird000")
    qtbot.waitUntil(lambda: document.similarities is not None)
    assert np.isfinite(colour_data(document).values).all()


def test_that_rows_shown_alone_are_laid_out_and_all_come_back_where_they_were(
    qtbot: QtBot, rows_window: MainWindow
) -> None:
    session, document = rows_window.session, rows_window.session.document
    before = document.positions.copy()
    fish = of_kind(1)
    session.selecting.take(fish)
    rows_window.actions_by_name["show_only"].trigger()
    assert document.isolation.rows.tolist() == fish.tolist()
    assert rows_window.selection.alone.text() == "Only 80 rows shown"
    session.selecting.invert()
    assert len(document.selection) == 0
    rows_window.actions_by_name["undo"].trigger()
    rows_window.actions_by_name["lay_out_alone"].trigger()
    qtbot.waitUntil(lambda: session.mapping.settled and placed(rows_window) == fish.tolist())
    assert not np.allclose(document.positions[fish], before[fish])
    rows_window.actions_by_name["show_all"].trigger()
    assert document.isolation is None
    np.testing.assert_array_equal(document.positions, before)
    rows_window.actions_by_name["undo"].trigger()
    qtbot.waitUntil(lambda: session.mapping.settled and placed(rows_window) == fish.tolist())
    rows_window.actions_by_name["undo"].trigger()
    np.testing.assert_array_equal(document.positions, before)


def test_that_hidden_rows_are_the_selected_ones(rows_window: MainWindow) -> None:
    rows_window.session.selecting.take(of_kind(0))
    rows_window.actions_by_name["hide_selected"].trigger()
    shown = rows_window.session.document.isolation.rows
    assert shown.tolist() == sorted([*of_kind(1), *of_kind(2)])


def test_that_groups_are_found_by_density_in_the_number_asked_for(
    qtbot: QtBot, rows_window: MainWindow
) -> None:
    document, colour = rows_window.session.document, rows_window.side.colour
    first = document.clusters
    colour.count.setValue(3)
    qtbot.waitUntil(lambda: document.clusters is not first)
    assert len(document.clusters.names) == 3
    second = document.clusters
    colour.method.textActivated.emit(HDBSCAN)
    qtbot.waitUntil(lambda: document.clusters is not second)
    kinds = [set(document.clusters.codes[of_kind(kind)].tolist()) - {-1} for kind in range(3)]
    assert all(len(codes) >= 1 for codes in kinds)
    assert sum(map(len, kinds)) == len(set().union(*kinds)), "no group has rows of two kinds"
    rows_window.actions_by_name["undo"].trigger()
    qtbot.waitUntil(lambda: len(document.clusters.names) == 3)


def test_that_regions_are_found_on_a_map_at_rest_and_keep_given_names(
    qtbot: QtBot, rows_window: MainWindow
) -> None:
    session, document = rows_window.session, rows_window.session.document
    qtbot.waitUntil(lambda: len(document.regions) == 3)
    assert sum(region.rows for region in document.regions) > 200
    assert {region.name[:4] for region in document.regions} == {"bird", "fish", "tree"}
    document.name_region(0, "mine")
    counts: list[int] = []
    document.regions_changed.connect(lambda: counts.append(len(document.regions)))
    session.mapping.start()
    qtbot.waitUntil(lambda: counts[-1:] == [3])
    assert counts == [0, 3], "gone with the old map, found anew on the new one"
    assert "mine" in {region.name for region in document.regions}


def test_that_the_mean_of_selected_rows_is_asked_for(qtbot: QtBot, rows_window: MainWindow) -> None:
    session, document = rows_window.session, rows_window.session.document
    session.selecting.take(of_kind(2)[:20])
    rows_window.selection.mean.click()
    qtbot.waitUntil(lambda: document.answer is not None)
    assert document.answer.question.text == "mean of 20 rows"
    assert set(document.answer.result.rows.tolist()) <= set(of_kind(2).tolist())
    session.selecting.take(np.array([0, 3]))
    rows_window.selection.mean.click()
    qtbot.waitUntil(lambda: document.answer.question.text == "bird000 + bird003")


def test_that_the_nearest_selected_rows_come_first_where_wished(
    qtbot: QtBot, rows_window: MainWindow
) -> None:
    session, panel = rows_window.session, rows_window.selection
    session.selecting.take(np.arange(30))
    session.asking.ask("bird000")
    qtbot.waitUntil(lambda: session.document.answer is not None)
    panel.order.setCurrentText("Nearest first")
    panel.order.activated.emit(1)
    qtbot.waitUntil(lambda: panel.model.scores is not None and np.isfinite(panel.model.scores).all())
    assert panel.model.label(0) == "bird000"
    assert (np.diff(panel.model.scores) <= 0).all()
    assert sorted(panel.model.rows.tolist()) == list(range(30))


def test_that_selected_rows_are_exported_with_their_vectors(
    qtbot: QtBot, rows_window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "chosen"
    monkeypatch.setattr(
        QFileDialog,
        "getSaveFileName",
        lambda *_: (str(target), "Comma-separated values with vectors (*.csv)"),
    )
    told: list = []
    rows_window.session.notices.posted.connect(told.append)
    rows_window.session.selecting.take(np.array([5, 7]))
    rows_window.selection.export.click()
    qtbot.waitUntil(lambda: bool(told))
    with (tmp_path / "chosen.csv").open(encoding="utf-8", newline="") as stream:
        head, *lines = csv.reader(stream)
    assert [line[:2] for line in lines] == [["5", "tree005"], ["7", "fish007"]]
    assert head[2:7] == ["x", "y", "kind", "year", "tags"]
    assert len(head) == 7 + 16


def test_that_asking_for_a_row_of_the_list_leaves_its_mark_there(
    qtbot: QtBot, rows_window: MainWindow
) -> None:
    panel, document = rows_window.selection, rows_window.session.document
    rows_window.session.selecting.take(of_kind(0))
    place = panel.model.index(40)
    panel.list.setCurrentIndex(place)
    panel.list.scrollTo(place)
    scrolled = panel.list.verticalScrollBar().value()
    assert scrolled > 0
    qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: document.answer is not None)
    assert document.answer.question.text == "bird120"
    assert panel.list.currentIndex().row() == 40
    assert panel.list.verticalScrollBar().value() == scrolled
    rows_window.activateWindow()
    panel.list.setFocus()
    qtbot.keyClick(panel.list, Qt.Key.Key_Delete)
    assert 120 not in document.selection
    assert len(document.selection) == 79


def test_that_labels_are_copied_a_line_each(rows_window: MainWindow) -> None:
    rows_window.session.selecting.take(np.array([0, 1]))
    rows_window.actions_by_name["copy_labels"].trigger()
    assert QGuiApplication.clipboard().text() == "bird000\nfish001"


def test_that_the_wheel_scrolls_past_a_choice_and_does_not_change_it(
    qtbot: QtBot, rows_window: MainWindow
) -> None:
    by = rows_window.side.colour.by
    rows_window.map.canvas.setFocus()
    place = QPointF(by.rect().center())
    wheel = QWheelEvent(
        place,
        QPointF(by.mapToGlobal(by.rect().center())),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(by, wheel)
    assert rows_window.session.document.colouring.by == "cluster"
    qtbot.focus(by)
    QApplication.sendEvent(by, wheel)
    assert rows_window.session.document.colouring.by == "row length"


def test_that_the_panel_looked_at_before_comes_back_with_the_last_row_gone(qtbot, rows_window):
    _, neighbours, lookup, *_ = rows_window.docks
    for dock in (neighbours, lookup):
        dock.raise_()
        qtbot.waitUntil(lambda dock=dock: not dock.visibleRegion().isEmpty())
        for _ in range(3):
            rows_window.session.selecting.take(np.arange(3))
            rows_window.session.selecting.clear()
        qtbot.wait(50)
        assert not dock.visibleRegion().isEmpty()


def test_that_a_row_of_a_label_too_long_to_type_is_asked_for_by_number(
    qtbot: QtBot, bare_session: Session, tmp_path: Path
) -> None:
    labels = ["x" * 200, "x" * 201, "two\nlines", "plain"]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.eye(4, dtype=np.float32).ravel()), 4)
    pq.write_table(pa.table({"label": labels, "vector": vectors}), tmp_path / "long.parquet")
    with qtbot.waitSignal(bare_session.asking.index_ready):
        bare_session.opening.open([str(tmp_path / "long.parquet")])
    assert [bare_session.asking.text_for(row) for row in range(4)] == [labels[0], "#1", "#2", "plain"]
    bare_session.asking.ask_row(1)
    qtbot.waitUntil(lambda: bare_session.document.answer is not None)
    assert bare_session.document.answer.question.focus == 1
