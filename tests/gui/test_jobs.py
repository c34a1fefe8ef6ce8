"""Jobs, on real worker processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from machine import slowness
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from explorer.core.errors import ExplorerError
from explorer.core.layout import Layout, LayoutSettings
from explorer.core.listing import LoadedTable
from explorer.core.query import RowTerm
from explorer.core.results import Metric
from explorer.jobs import Job, Jobs

NAME = "embedding.weight"


class Ends(QObject):
    """What a job's signals have said."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.heard: list[tuple[str, object]] = []
        self.progress: list[tuple[float, str, float]] = []
        job.finished.connect(lambda result: self.heard.append(("finished", result)))
        job.failed.connect(lambda error: self.heard.append(("failed", error)))
        job.cancelled.connect(lambda: self.heard.append(("cancelled", None)))
        job.progressed.connect(lambda *said: self.progress.append(said))


def end_of(qtbot: QtBot, job: Job) -> tuple[str, object]:
    """How a job ends: it does so once, and not before the call that started it has returned."""
    ends = Ends(job)
    qtbot.waitUntil(lambda: bool(ends.heard))
    assert len(ends.heard) == 1
    assert not job.running
    return ends.heard[0]


def result_of(qtbot: QtBot, job: Job) -> object:
    kind, result = end_of(qtbot, job)
    assert kind == "finished", getattr(result, "detail", result)
    return result


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(3)
    centres = 3 * random.normal(size=(6, 32))
    rows = (centres[random.integers(6, size=3000)] + random.normal(size=(3000, 32))).astype(np.float32)
    rows[17] = np.nan
    rows[[40, 41]] = rows[39]
    made = tmp_path_factory.mktemp("jobs") / "model.pt"
    torch.save({NAME: torch.from_numpy(rows)}, made)
    return made


@pytest.fixture
def table(qtbot: QtBot, jobs: Jobs, path: Path) -> Iterator[LoadedTable]:
    loaded = result_of(qtbot, jobs.load_table(path, NAME))
    assert isinstance(loaded, LoadedTable)
    yield loaded
    jobs.release_table(loaded.key)


def test_that_a_table_goes_from_file_to_layout(qtbot: QtBot, jobs: Jobs, path: Path) -> None:
    started: list[Job] = []
    ended: list[Job] = []
    jobs.job_started.connect(started.append)
    jobs.job_ended.connect(ended.append)
    listing = result_of(qtbot, jobs.open_file(path))
    table = result_of(qtbot, jobs.load_table(path, listing.tables[0].name))
    assert (table.health.counts.nan, table.health.counts.duplicates) == (1, 2)
    first = result_of(qtbot, jobs.pca(table.key))

    job = jobs.umap(table.key, LayoutSettings(epochs=300))
    ends = Ends(job)
    with qtbot.waitSignal(job.moving) as moving:
        pass
    live = moving.args[0]
    qtbot.waitUntil(lambda: bool(ends.heard))
    kind, layout = ends.heard[0]
    assert kind == "finished"
    assert isinstance(layout, Layout)
    assert layout.xy.shape == first.shape == (3000, 2)
    # What moved is what it came to.
    np.testing.assert_array_equal(live, layout.xy)
    assert np.flatnonzero(np.isnan(layout.xy).any(axis=1)).tolist() == [17]
    assert (layout.xy[[40, 41]] == layout.xy[39]).all()
    fractions = [fraction for fraction, _, _ in ends.progress]
    assert fractions == sorted(fractions)
    stages = {stage for _, stage, _ in ends.progress if not re.fullmatch(r"epoch \d+ of \d+", stage)}
    assert stages <= {"PCA", "Neighbours", "Layout"}
    # A job of a session that is closed may end now, too.
    assert [job.title for job in ended if job in started] == [job.title for job in started]
    assert [job.title for job in started] == ["Opening", f"Loading {NAME}", "PCA", "UMAP"]

    again = result_of(qtbot, jobs.umap(table.key, LayoutSettings(epochs=300)))
    assert np.array_equal(again.xy, layout.xy, equal_nan=True)
    trust = result_of(qtbot, jobs.trust(table.key, layout.xy))
    assert trust.trustworthiness > result_of(qtbot, jobs.trust(table.key, first)).trustworthiness
    jobs.release_table(table.key)


def test_that_a_table_is_laid_out_in_space(qtbot: QtBot, jobs: Jobs, table: LoadedTable) -> None:
    settings = LayoutSettings(epochs=30, dimensions=3)
    assert result_of(qtbot, jobs.pca(table.key, 3)).shape == (3000, 3)
    assert result_of(qtbot, jobs.pca(table.key)).shape == (3000, 2)
    job = jobs.umap(table.key, settings)
    with qtbot.waitSignal(job.moving) as moving:
        pass
    assert moving.args[0].shape == (3000, 3)
    layout = result_of(qtbot, job)
    assert layout.xy.shape == (3000, 3)
    assert result_of(qtbot, jobs.trust(table.key, layout.xy)).trustworthiness > 0.8
    kind, error = end_of(qtbot, jobs.umap(table.key, LayoutSettings(), start=layout.xy))
    assert (kind, error.message) == ("failed", "A layout in 2-D can't go on from one in 3-D.")


def test_that_a_large_table_is_laid_out_by_some_of_its_rows(
    qtbot: QtBot, jobs: Jobs, table: LoadedTable
) -> None:
    job = jobs.umap(table.key, LayoutSettings(epochs=30, most_rows=1000))
    ends = Ends(job)
    layout = result_of(qtbot, job)
    assert layout.sampled == 1000
    assert np.flatnonzero(np.isnan(layout.xy).any(axis=1)).tolist() == [17]
    assert (layout.xy[[40, 41]] == layout.xy[39]).all()
    fractions = [fraction for fraction, _, _ in ends.progress]
    assert fractions == sorted(fractions)
    assert result_of(qtbot, jobs.umap(table.key, LayoutSettings(epochs=30))).sampled is None


def test_that_what_the_map_has_kept_is_told_beside_any_graph(
    qtbot: QtBot, jobs: Jobs, table: LoadedTable
) -> None:
    first = result_of(qtbot, jobs.pca(table.key))
    result_of(qtbot, jobs.neighbour_graph(table.key, 6, Metric.COSINE))
    result_of(qtbot, jobs.umap(table.key, LayoutSettings(epochs=5, most_rows=500)))
    shares = result_of(qtbot, jobs.map_agreement(table.key, first))
    assert np.flatnonzero(np.isnan(shares)).tolist() == [17]
    assert 0.0 < np.nanmean(shares) < 1.0


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="POSIX signals")
def test_that_a_layout_is_stopped_at_once_whatever_its_worker_does_and_the_next_one_follows(
    qtbot: QtBot, jobs: Jobs, table: LoadedTable
) -> None:
    job = jobs.umap(table.key, LayoutSettings(epochs=100_000))
    ends = Ends(job)
    with qtbot.waitSignal(job.moving) as moving:
        pass
    live = moving.args[0]
    worker = jobs.worker_pid("layout")
    os.kill(worker, signal.SIGSTOP)
    try:
        job.cancel()
        job.cancel()
        qtbot.waitUntil(lambda: bool(ends.heard))
        kept = live.copy()
    finally:
        os.kill(worker, signal.SIGCONT)
    assert np.isfinite(np.delete(kept, 17, axis=0)).all()
    settings = LayoutSettings(epochs=5)
    assert result_of(qtbot, jobs.umap(table.key, settings)).settings == settings
    assert ends.heard == [("cancelled", None)]
    stopped = live.copy()
    qtbot.wait(50)
    assert np.array_equal(live, stopped, equal_nan=True)


def test_that_a_graph_is_found_once_and_answers_as_a_search_does(
    qtbot: QtBot, jobs: Jobs, table: LoadedTable
) -> None:
    graph = result_of(qtbot, jobs.neighbour_graph(table.key, 6, Metric.COSINE))
    assert result_of(qtbot, jobs.neighbour_graph(table.key, 6, Metric.COSINE)) is graph
    answer = result_of(qtbot, jobs.search(table.key, (RowTerm(1.0, 3),), Metric.COSINE, 6))
    assert graph.rows[3].tolist() == answer.rows.tolist()
    assert (graph.rows[17] == -1).all()
    everything = result_of(qtbot, jobs.search(table.key, (RowTerm(1.0, 3),), Metric.COSINE, 10**9))
    assert len(everything.rows) == 2998


def test_that_smaller_questions_are_answered(qtbot: QtBot, jobs: Jobs, table: LoadedTable) -> None:
    clusters = result_of(qtbot, jobs.clusters(table.key, 6))
    assert clusters.codes.shape == (3000,)
    assert clusters.codes[17] == -1
    assert result_of(qtbot, jobs.pair_histogram(table.key, Metric.DOT)).pairs > 10**6
    vector = result_of(qtbot, jobs.rows(table.key, [5, 2]))[0]
    found = result_of(qtbot, jobs.search(table.key, (), Metric.EUCLIDEAN, 1, vector=vector))
    assert found.rows.tolist() == [5]
    assert result_of(qtbot, jobs.suggest(table.key, "king")) == ()


def test_that_what_cannot_be_done_is_a_sentence(qtbot: QtBot, jobs: Jobs, table: LoadedTable) -> None:
    for start in (
        lambda: jobs.open_file("/nowhere/at/all.pt"),
        lambda: jobs.load_table("/nowhere/at/all.pt", NAME),
        lambda: jobs.search(table.key, (RowTerm(1.0, 17),), Metric.COSINE, 5),
        lambda: jobs.umap(table.key, LayoutSettings(metric=Metric.DOT)),
        lambda: jobs.umap(999_999, LayoutSettings()),
        lambda: jobs.rows(table.key, [-1]),
        lambda: jobs.pca(999_999),
    ):
        kind, error = end_of(qtbot, start())
        assert kind == "failed"
        assert isinstance(error, ExplorerError)
        assert error.message.endswith(".")


def test_that_work_on_a_released_table_is_cancelled(qtbot: QtBot, jobs: Jobs, path: Path) -> None:
    table = result_of(qtbot, jobs.load_table(path, NAME))
    graph = Ends(jobs.neighbour_graph(table.key, 9, Metric.COSINE))
    layout = Ends(jobs.umap(table.key, LayoutSettings(epochs=100_000)))
    jobs.release_table(table.key)
    qtbot.waitUntil(lambda: bool(graph.heard) and bool(layout.heard))
    assert graph.heard == layout.heard == [("cancelled", None)]
    kind, error = end_of(qtbot, jobs.pca(table.key))
    assert (kind, str(error)) == ("failed", "This table is no longer loaded. Open its file again.")


def test_that_a_loading_that_was_cancelled_leaves_nothing_loaded(
    qtbot: QtBot, jobs: Jobs, path: Path
) -> None:
    job = jobs.load_table(path, NAME)
    job.cancel()
    assert end_of(qtbot, job) == ("cancelled", None)
    # The next one is not held up.
    loaded = result_of(qtbot, jobs.load_table(path, NAME, scaled=True))
    assert loaded.scaled
    unscaled = result_of(qtbot, jobs.load_table(path, NAME))
    np.testing.assert_allclose(loaded.health.norms, unscaled.health.norms * np.sqrt(32), rtol=1e-6)
    jobs.release_table(loaded.key)
    jobs.release_table(unscaled.key)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
def test_that_the_session_outlives_its_workers(qtbot: QtBot, jobs: Jobs, table: LoadedTable) -> None:
    job = jobs.umap(table.key, LayoutSettings(epochs=100_000))
    with qtbot.waitSignal(job.moving):
        pass
    ends = Ends(job)
    with qtbot.waitSignal(jobs.worker_restarted) as restarted:
        os.kill(jobs.worker_pid("layout"), signal.SIGKILL)
    assert restarted.args[0] == "layout"
    assert "SIGKILL" in restarted.args[1]
    qtbot.waitUntil(lambda: bool(ends.heard))
    assert isinstance(ends.heard[0][1], ExplorerError)
    assert result_of(qtbot, jobs.umap(table.key, LayoutSettings(epochs=10))).xy.shape == (3000, 2)


LIGHT_START = """
import json, sys, time
from PySide6.QtWidgets import QApplication
from explorer.jobs import Jobs

if __name__ == "__main__":
    app = QApplication([])
    begun = time.process_time()
    jobs = Jobs("cpu")
    made = time.process_time()
    waited = set()
    jobs.ready.connect(lambda worker: (waited.add(worker), len(waited) == 2 and app.quit()))
    app.exec()
    before = time.process_time()
    jobs.shutdown()
    print(json.dumps({
        "heavy": [name for name in ("torch", "umap", "numba", "scipy", "sklearn") if name in sys.modules],
        "seconds": made - begun,
        "shutdown": time.process_time() - before,
    }))
"""


def test_that_the_windows_process_stays_light(tmp_path: Path) -> None:
    script = tmp_path / "light.py"
    script.write_text(LIGHT_START)
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["heavy"] == []
    # A few milliseconds as measured.
    assert found["seconds"] < 0.2 * slowness()
    assert found["shutdown"] < 0.2 * slowness()
