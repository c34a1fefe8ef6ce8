"""Files on the window: opened, refused, named, closed, on real worker processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from map_driver import rest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from window_driver import drop, settle

from explorer.core.layout import LayoutSettings
from explorer.core.query import RowTerm
from explorer.core.results import Metric
from explorer.document import LayoutStage
from explorer.jobs import Job, Jobs
from explorer.views.dialogs.quarantined import QuarantinedRows
from explorer.views.dialogs.table_picker import TablePicker
from explorer.views.main_window import MainWindow


def test_that_a_dropped_file_is_on_the_map(qtbot: QtBot, window: MainWindow, words_file: Path) -> None:
    assert window.stack.currentWidget() is window.start
    drop(window, words_file)
    settle(qtbot, window)
    assert window.stack.currentWidget() is window.map
    assert "words.txt" in window.windowTitle()
    assert window.side.sources.tree.topLevelItem(0).text(0) == "words.txt"
    assert window.session.settings.recent == [str(words_file)]


def test_that_a_file_without_a_table_is_told_in_the_bar_and_nothing_is_lost(
    qtbot: QtBot, open_window: MainWindow, tmp_path: Path
) -> None:
    shown = open_window.session.document.table
    bad = tmp_path / "page.pt"
    bad.write_text("<!DOCTYPE html><html><body>Sign in</body></html>")
    drop(open_window, bad)
    qtbot.waitUntil(open_window.notice.isVisible)
    assert "page.pt" in open_window.notice.text.text()
    assert open_window.session.document.table is shown


def test_that_a_file_with_several_tables_offers_the_picker(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "two.npz"
    rng = np.random.default_rng(0)
    np.savez(path, first=rng.normal(size=(40, 8)), second=rng.normal(size=(30, 6)))
    drop(window, path)
    qtbot.waitUntil(lambda: window.session.document.stage is LayoutStage.DONE)
    qtbot.waitUntil(window.notice.isVisible)
    button = next(b for b in window.notice.findChildren(QPushButton) if b.text() == "Choose table…")
    button.click()
    picker = window.findChild(TablePicker)
    names = [picker.tables.item(row, 0).text() for row in range(picker.tables.rowCount())]
    assert sorted(names) == ["first", "second"]
    picker.tables.selectRow(names.index("second"))
    assert picker.preview.item(0, 0).text() == "0"
    assert picker.preview.item(picker.preview.rowCount() - 1, 0).text() == "29"
    picker.accept()
    qtbot.waitUntil(lambda: window.session.document.table.listing.name == "second")


def test_that_bad_rows_are_listed_with_their_reason(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    vectors[3] = np.nan
    vectors[7] = 0
    vectors[9, 2] = np.inf
    path = tmp_path / "bad.npy"
    np.save(path, vectors)
    drop(window, path)
    qtbot.waitUntil(lambda: window.session.document.stage is LayoutStage.DONE)
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
    qtbot.waitUntil(lambda: window.session.document.stage is LayoutStage.DONE)
    positions = window.session.document.positions
    assert positions.shape == (shape[0], 2)
    assert np.isfinite(positions).all()
    window.grab()
    # What else is worked out of the rows comes, or the reason why not, before the answer to a later question.
    qtbot.waitSignal(window.session.jobs.rows(window.session.document.table.key, [0]).finished).wait()
    assert window.notice.isHidden(), window.notice.text.text()


def test_that_equal_rows_are_one_dot_with_their_count(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "copies.npy"
    np.save(path, np.repeat(np.random.default_rng(2).normal(size=(7, 16)), 50, axis=0).astype(np.float32))
    window.session.document.set_settings(LayoutSettings(method="umap"))
    drop(window, path)
    qtbot.waitUntil(lambda: window.session.document.stage is LayoutStage.DONE)
    positions = window.session.document.positions
    assert len(np.unique(positions, axis=0)) == 7
    rest(qtbot, window)
    labels = window.map.canvas.item.figure.labels
    assert sorted(label.count for label in labels if label.count > 1) == [50] * 7


def test_that_a_checkpoint_and_its_vocabulary_come_in_one_drop(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    vectors, names = tmp_path / "vectors.npy", tmp_path / "elsewhere" / "names.txt"
    names.parent.mkdir()
    np.save(vectors, np.random.default_rng(3).normal(size=(30, 6)).astype(np.float32))
    names.write_text("\n".join(f"name{row}" for row in range(30)) + "\n")
    drop(window, names, vectors)
    document = window.session.document
    qtbot.waitUntil(lambda: document.table is not None and document.table.labels is not None)
    assert document.table.labels[29] == "name29"


def test_that_labels_of_another_length_are_refused_with_a_way_on(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    vectors, names = tmp_path / "vectors.npy", tmp_path / "elsewhere" / "names.txt"
    names.parent.mkdir()
    np.save(vectors, np.random.default_rng(3).normal(size=(30, 6)).astype(np.float32))
    names.write_text("\n".join(f"name{row}" for row in range(31)) + "\n")
    drop(window, vectors)
    qtbot.waitUntil(lambda: window.session.document.stage is LayoutStage.DONE)
    window.session.opening.join_labels(str(vectors), str(names))
    qtbot.waitUntil(window.notice.isVisible)
    assert "31" in window.notice.text.text()
    texts = [button.text() for button in window.notice.findChildren(QPushButton)]
    assert "First line is a header" in texts
    next(b for b in window.notice.findChildren(QPushButton) if b.text() == "First line is a header").click()
    document = window.session.document
    qtbot.waitUntil(lambda: document.table is not None and document.table.labels is not None)
    assert document.table.labels[0] == "name1"


def test_that_the_table_of_a_file_closed_while_it_loads_does_not_come(
    qtbot: QtBot, open_window: MainWindow, tmp_path: Path
) -> None:
    opening, document = open_window.session.opening, open_window.session.document
    shown = document.table
    path = tmp_path / "late.npy"
    np.save(path, np.ones((1000, 8), np.float32))
    with qtbot.waitSignal(open_window.session.jobs.job_started, check_params_cb=_is_loading):
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

    def look(job: Job) -> None:
        if job.title == "Opening":
            busy.append(window.start.busy.isVisibleTo(window.start))

    window.session.jobs.job_ended.connect(look)
    with qtbot.waitSignal(window.session.opening.table_loaded):
        window.session.opening.open([str(words_file)])
    window.session.jobs.job_ended.disconnect(look)
    assert busy == [True], "the file is listed; its table is still loading"
    qtbot.waitUntil(lambda: not window.start.busy.isVisibleTo(window.start))


def test_that_a_first_picture_that_failed_can_be_tried_again(
    qtbot: QtBot, open_window: MainWindow, words_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_window.session
    with monkeypatch.context() as patched:
        patched.setattr(session.jobs, "pca", lambda *_asked: _failing(session.jobs))
        with qtbot.waitSignal(session.notices.posted):
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
    qtbot.waitUntil(lambda: "quarantined" in window.map.waiting.text())
    assert window.map.waiting.isVisible()


def test_that_one_row_is_not_spoken_of_as_several(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "one.npy"
    np.save(path, np.ones((1, 4), np.float32))
    window.session.opening.open([str(path)])
    qtbot.waitUntil(lambda: window.session.document.clusters is not None)
    qtbot.waitUntil(lambda: window.map.canvas.item.figure is not None)
    assert window.map.canvas.item.figure.legend.title == "1 cluster · 1 row shown"


def test_that_a_file_opens_while_a_large_table_looks_for_its_neighbours(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, words_file: Path
) -> None:
    large = tmp_path / "large.npy"
    np.save(large, np.random.default_rng(6).normal(size=(60_000, 64)).astype(np.float32))
    session, document = window.session, window.session.document
    document.set_settings(LayoutSettings(method="umap"))
    layouts: list[Job] = []
    session.jobs.job_started.connect(lambda job: layouts.append(job) if job.title == "UMAP" else None)
    drop(window, large)
    qtbot.waitUntil(lambda: len(layouts) == 1)
    session.opening.open([str(tmp_path / "missing.npy")])
    qtbot.waitUntil(lambda: len(layouts) == 2)
    assert not layouts[0].running, "it made way, and another was begun when no table came"
    assert "missing.npy" in window.notice.text.text()
    document.set_settings(LayoutSettings(method="pca"))
    drop(window, words_file)
    qtbot.waitUntil(lambda: document.table.path == str(words_file))
    settle(qtbot, window)
