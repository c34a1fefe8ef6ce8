"""The main window, driven as a person drives it, on real worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.core.errors import ExplorerError
from explorer.core.layout import LayoutSettings
from explorer.core.query import RowTerm
from explorer.core.results import Metric
from explorer.document import LayoutStage
from explorer.document.settings import load_settings
from explorer.export.save import save_png
from explorer.jobs import Job, Jobs
from explorer.views.dialogs.quarantined import QuarantinedRows
from explorer.views.dialogs.table_picker import TablePicker
from explorer.views.main_window import MainWindow
from explorer.views.theme import apply_theme


@pytest.fixture
def window(
    qtbot: QtBot, bare_session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    """An empty window, shown."""
    import explorer.render.kernels  # noqa: F401 - else a thread of the first window loads them

    monkeypatch.setenv("EMBEDDING_EXPLORER_SETTINGS", str(tmp_path / "settings.json"))
    bare_session.document.set_settings(LayoutSettings(method="pca"))
    shown = MainWindow(bare_session)
    shown.resize(1280, 720)
    shown.show()
    qtbot.waitExposed(shown)
    yield shown
    shown.close()
    shown.deleteLater()


@pytest.fixture
def open_window(qtbot: QtBot, window: MainWindow, words_file: Path) -> MainWindow:
    """A window with the words' table on the map."""
    window.session.opening.open([str(words_file)])
    settle(qtbot, window)
    return window


def settle(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until the map stays as it is and its labels can be asked for."""
    session = window.session
    qtbot.waitUntil(
        lambda: (
            session.document.stage in (LayoutStage.DONE, LayoutStage.STOPPED)
            and session.asking.index is not None
            and session.document.trust is not None
            and session.document.clusters is not None
        ),
        timeout=60_000,
    )


def drop(window: MainWindow, *paths: Path) -> None:
    """Drag files over the middle of the window and let them go."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    how = (
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(600, 400), *how))
    assert window.map.hint.isVisibleTo(window.map)
    QApplication.sendEvent(window, QDropEvent(QPointF(600, 400), *how))
    assert not window.map.hint.isVisibleTo(window.map)


def place_of(window: MainWindow, row: int) -> QPoint:
    """Where a row is drawn, in the canvas's points."""
    figure = window.map.canvas.item.figure
    x, y = figure.viewport.to_pixels(figure.xy[row : row + 1])[0]
    return QPoint(round(x), round(y))


def test_that_a_dropped_file_is_on_the_map(qtbot: QtBot, window: MainWindow, words_file: Path) -> None:
    assert window.stack.currentWidget() is window.start
    drop(window, words_file)
    settle(qtbot, window)
    assert window.stack.currentWidget() is window.map
    assert "words.txt" in window.windowTitle()
    assert window.side.sources.tree.topLevelItem(0).text(0) == "words.txt"
    assert window.session.settings.recent == [str(words_file)]


def test_that_a_click_on_a_point_asks_for_its_row(qtbot: QtBot, open_window: MainWindow) -> None:
    document = open_window.session.document
    place = place_of(open_window, 0)
    qtbot.wait(200)
    with qtbot.waitSignal(open_window.session.jobs.job_ended, timeout=10_000):
        qtbot.mouseClick(
            open_window.map.canvas.viewport(),
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
            place,
        )
    qtbot.waitUntil(lambda: document.answer is not None, timeout=10_000)
    row = document.answer.question.focus
    figure = open_window.map.canvas.item.figure
    distance = np.linalg.norm(figure.viewport.to_pixels(figure.xy[[row]])[0] - (place.x(), place.y()))
    assert distance < 10
    assert figure.focus == row
    assert figure.links[0].rows == tuple(document.answer.result.rows[:15].tolist())


def test_that_a_composite_query_is_a_star_on_the_map(qtbot: QtBot, open_window: MainWindow) -> None:
    document = open_window.session.document
    open_window.session.asking.ask("king - man + woman")
    qtbot.waitUntil(lambda: document.answer is not None, timeout=10_000)
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


def test_that_the_copied_picture_is_on_the_clipboard(open_window: MainWindow) -> None:
    open_window.actions_by_name["copy_picture"].trigger()
    assert QGuiApplication.clipboard().image().width() == open_window.map.picture().viewport.width * 2


def test_that_a_file_without_a_table_is_told_in_the_bar_and_nothing_is_lost(
    qtbot: QtBot, open_window: MainWindow, tmp_path: Path
) -> None:
    shown = open_window.session.document.table
    bad = tmp_path / "page.pt"
    bad.write_text("<!DOCTYPE html><html><body>Sign in</body></html>")
    drop(open_window, bad)
    qtbot.waitUntil(open_window.notice.isVisible, timeout=20_000)
    assert "page.pt" in open_window.notice.text.text()
    assert open_window.session.document.table is shown


def test_that_a_file_with_several_tables_offers_the_picker(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "two.npz"
    rng = np.random.default_rng(0)
    np.savez(path, first=rng.normal(size=(40, 8)), second=rng.normal(size=(30, 6)))
    drop(window, path)
    qtbot.waitUntil(lambda: window.session.document.stage is LayoutStage.DONE, timeout=30_000)
    qtbot.waitUntil(window.notice.isVisible, timeout=5_000)
    button = next(b for b in window.notice.findChildren(QPushButton) if b.text() == "Choose table…")
    button.click()
    picker = window.findChild(TablePicker)
    names = [picker.tables.item(row, 0).text() for row in range(picker.tables.rowCount())]
    assert sorted(names) == ["first", "second"]
    picker.tables.selectRow(names.index("second"))
    assert picker.preview.item(0, 0).text() == "0"
    assert picker.preview.item(picker.preview.rowCount() - 1, 0).text() == "29"
    picker.accept()
    qtbot.waitUntil(lambda: window.session.document.table.listing.name == "second", timeout=20_000)


def test_that_bad_rows_are_listed_with_their_reason(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    vectors[3] = np.nan
    vectors[7] = 0
    vectors[9, 2] = np.inf
    path = tmp_path / "bad.npy"
    np.save(path, vectors)
    drop(window, path)
    qtbot.waitUntil(lambda: window.session.document.stage is LayoutStage.DONE, timeout=30_000)
    assert window.side.table.quarantined.text() == "1 zero, 1 NaN, 1 infinite"
    window.side.table.quarantined.click()
    model = window.findChild(QuarantinedRows).list.model()
    rows = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert rows == ["3", "7", "9"]


@pytest.mark.parametrize("shape", [(1, 5), (2, 5), (3, 5), (20, 1), (20, 2), (20, 3)])
def test_that_small_and_flat_tables_are_drawn(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, shape: tuple[int, int]
) -> None:
    path = tmp_path / "small.npy"
    np.save(path, np.random.default_rng(1).normal(size=shape).astype(np.float32))
    window.session.document.set_settings(LayoutSettings(method="umap"))
    drop(window, path)
    qtbot.waitUntil(lambda: window.session.document.stage is LayoutStage.DONE, timeout=60_000)
    positions = window.session.document.positions
    assert positions.shape == (shape[0], 2)
    assert np.isfinite(positions).all()
    window.grab()
    qtbot.wait(300)
    assert window.notice.isHidden(), window.notice.text.text()


def test_that_equal_rows_are_one_dot_with_their_count(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "copies.npy"
    np.save(path, np.repeat(np.random.default_rng(2).normal(size=(7, 16)), 50, axis=0).astype(np.float32))
    window.session.document.set_settings(LayoutSettings(method="umap"))
    drop(window, path)
    qtbot.waitUntil(lambda: window.session.document.stage is LayoutStage.DONE, timeout=60_000)
    positions = window.session.document.positions
    assert len(np.unique(positions, axis=0)) == 7
    labels = window.map.canvas.item.figure.labels
    assert sorted(label.count for label in labels if label.count > 1) == [50] * 7


def test_that_the_layout_moves_stops_is_kept_and_comes_back(qtbot: QtBot, open_window: MainWindow) -> None:
    session, document = open_window.session, open_window.session.document
    session.mapping.keep()
    first = document.positions.copy()
    session.mapping.change(method="umap", epochs=5000)
    session.mapping.start()
    qtbot.waitUntil(lambda: document.stage is LayoutStage.MOVING, timeout=60_000)
    session.mapping.stop()
    qtbot.waitUntil(lambda: document.stage is LayoutStage.STOPPED, timeout=5_000)
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


def test_that_a_checkpoint_and_its_vocabulary_come_in_one_drop(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    vectors, names = tmp_path / "vectors.npy", tmp_path / "elsewhere" / "names.txt"
    names.parent.mkdir()
    np.save(vectors, np.random.default_rng(3).normal(size=(30, 6)).astype(np.float32))
    names.write_text("\n".join(f"name{row}" for row in range(30)) + "\n")
    drop(window, names, vectors)
    document = window.session.document
    qtbot.waitUntil(lambda: document.table is not None and document.table.labels is not None, timeout=30_000)
    assert document.table.labels[29] == "name29"


def test_that_labels_of_another_length_are_refused_with_a_way_on(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    vectors, names = tmp_path / "vectors.npy", tmp_path / "elsewhere" / "names.txt"
    names.parent.mkdir()
    np.save(vectors, np.random.default_rng(3).normal(size=(30, 6)).astype(np.float32))
    names.write_text("\n".join(f"name{row}" for row in range(31)) + "\n")
    drop(window, vectors)
    qtbot.waitUntil(lambda: window.session.document.stage is LayoutStage.DONE, timeout=30_000)
    window.session.opening.join_labels(str(vectors), str(names))
    qtbot.waitUntil(window.notice.isVisible, timeout=10_000)
    assert "31" in window.notice.text.text()
    texts = [button.text() for button in window.notice.findChildren(QPushButton)]
    assert "First line is a header" in texts
    next(b for b in window.notice.findChildren(QPushButton) if b.text() == "First line is a header").click()
    document = window.session.document
    qtbot.waitUntil(lambda: document.table is not None and document.table.labels is not None, timeout=30_000)
    assert document.table.labels[0] == "name1"


def test_that_keys_work_while_only_the_map_is_shown(qtbot: QtBot, open_window: MainWindow) -> None:
    only_map = open_window.actions_by_name["only_map"]
    open_window.activateWindow()
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
    open_window.activateWindow()
    open_window.session.asking.ask("king")
    qtbot.waitUntil(lambda: open_window.session.document.answer is not None)
    seen = []
    open_window.query.focus_query()
    for _ in range(4):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6)
        seen.append(QApplication.focusWidget())
    assert seen == [
        open_window.map.canvas,
        open_window.neighbours.list,
        open_window.side.sources.tree,
        open_window.query.field,
    ]
    assert not open_window.map.ring.isVisible()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6)
    assert open_window.map.ring.isVisible(), "what the keyboard has reached is seen"


def test_that_the_side_panel_is_never_wider_than_its_dock(qtbot: QtBot, open_window: MainWindow) -> None:
    session, side = open_window.session, open_window.side
    session.mapping.change(method="umap", epochs=5000)
    session.mapping.start()
    qtbot.waitUntil(lambda: session.document.stage is LayoutStage.MOVING, timeout=60_000)
    session.mapping.keep()
    qtbot.waitUntil(lambda: "epoch" in side.layout_section.progress.text())
    assert side.widget().width() <= side.viewport().width()
    session.mapping.stop()
    settle(qtbot, open_window)
    assert side.layout_section.progress.text() == "stopped"
    assert side.widget().width() <= side.viewport().width()


def test_that_the_table_of_a_file_closed_while_it_loads_does_not_come(
    qtbot: QtBot, open_window: MainWindow, tmp_path: Path
) -> None:
    opening, document = open_window.session.opening, open_window.session.document
    shown = document.table
    path = tmp_path / "late.npy"
    np.save(path, np.ones((1000, 8), np.float32))
    with qtbot.waitSignal(open_window.session.jobs.job_started, check_params_cb=_is_loading, timeout=30_000):
        opening.open([str(path)])
    opening.close_source(str(path))
    with qtbot.assertNotEmitted(opening.table_loaded, wait=500):
        pass
    assert document.table is shown
    assert document.source_at(str(path)) is None


def _is_loading(job: Job) -> bool:
    return job.title.startswith("Loading")


def test_that_the_start_page_is_busy_until_the_table_has_come(
    qtbot: QtBot, window: MainWindow, words_file: Path
) -> None:
    busy = []

    def look(_job: Job) -> None:
        busy.append(window.start.busy.isVisibleTo(window.start))

    window.session.jobs.job_ended.connect(look)
    with qtbot.waitSignal(window.session.opening.table_loaded, timeout=30_000):
        window.session.opening.open([str(words_file)])
    window.session.jobs.job_ended.disconnect(look)
    assert busy[0], "the file is listed; its table is still loading"
    qtbot.waitUntil(lambda: not window.start.busy.isVisibleTo(window.start), timeout=30_000)


def test_that_a_first_picture_that_failed_can_be_tried_again(
    qtbot: QtBot, open_window: MainWindow, words_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_window.session
    with monkeypatch.context() as patched:
        patched.setattr(session.jobs, "pca", lambda key: _failing(session.jobs))
        with qtbot.waitSignal(session.notices.posted, timeout=30_000):
            session.opening.choose_table(str(words_file), session.document.table.listing.name)
    assert session.document.stage is LayoutStage.WAITING
    without_map = ("copy_picture", "save_picture", "save_layout", "keep")
    assert not any(open_window.actions_by_name[name].isEnabled() for name in without_map)
    assert not open_window.copy.isEnabled()
    again = next(
        button for button in open_window.notice.findChildren(QPushButton) if button.text() == "Try again"
    )
    again.click()
    settle(qtbot, open_window)
    assert all(open_window.actions_by_name[name].isEnabled() for name in without_map)


def _failing(jobs: Jobs) -> Job:
    """A real job that fails in its worker: the table is not there."""
    return jobs.search(10**9, (RowTerm(1.0, 0),), Metric.COSINE, 1)


def test_that_a_table_without_a_healthy_row_says_why_the_map_is_empty(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "nan.npy"
    np.save(path, np.full((20, 4), np.nan, np.float32))
    window.session.opening.open([str(path)])
    qtbot.waitUntil(lambda: "quarantined" in window.map.waiting.text(), timeout=30_000)
    assert window.map.waiting.isVisible()


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
        qtbot.waitUntil(lambda: not section.stop.isEnabled(), timeout=30_000)
        assert section.progress.text() == "stopped"
    settle(qtbot, open_window)


def test_that_one_row_is_not_spoken_of_as_several(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "one.npy"
    np.save(path, np.ones((1, 4), np.float32))
    window.session.opening.open([str(path)])
    qtbot.waitUntil(lambda: window.session.document.clusters is not None, timeout=30_000)
    qtbot.waitUntil(lambda: window.map.canvas.item.figure is not None, timeout=30_000)
    assert window.map.canvas.item.figure.legend.title == "1 cluster · 1 row shown"


def test_that_escape_closes_the_message_and_then_leads_to_the_map(
    qtbot: QtBot, open_window: MainWindow
) -> None:
    open_window.activateWindow()
    open_window.query.focus_query()
    open_window.session.notices.error(ExplorerError("One file is damaged."))
    qtbot.keyClick(open_window.query.field, Qt.Key.Key_Escape)
    assert open_window.notice.isHidden()
    qtbot.keyClick(open_window.query.field, Qt.Key.Key_Escape)
    assert open_window.map.canvas.hasFocus()


def test_that_a_file_opens_while_a_large_table_looks_for_its_neighbours(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, words_file: Path
) -> None:
    large = tmp_path / "large.npy"
    np.save(large, np.random.default_rng(6).normal(size=(60_000, 64)).astype(np.float32))
    session, document = window.session, window.session.document
    document.set_settings(LayoutSettings(method="umap"))
    drop(window, large)
    qtbot.waitUntil(lambda: document.stage is LayoutStage.FIRST, timeout=60_000)
    drop(window, tmp_path / "missing.npy")
    qtbot.waitUntil(window.notice.isVisible, timeout=10_000)
    qtbot.waitUntil(lambda: document.stage is LayoutStage.FIRST or session.mapping.settled, timeout=10_000)
    document.set_settings(LayoutSettings(method="pca"))
    drop(window, words_file)
    qtbot.waitUntil(lambda: document.table.path == str(words_file), timeout=10_000)
    settle(qtbot, window)
