"""Work in threads ends as jobs do: once, in the window's thread, with its result, its error or its cancel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QThread
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.core.errors import ExplorerError
from explorer.jobs import Job, Jobs
from explorer.jobs.threads import Threads


@pytest.fixture
def threads(qapp: QApplication, jobs: Jobs) -> Threads:
    return Threads(jobs)


def outcomes_of(job: Job) -> list[tuple[str, object]]:
    heard: list[tuple[str, object]] = []
    job.finished.connect(lambda result: heard.append(("finished", result)))
    job.failed.connect(lambda error: heard.append(("failed", error)))
    job.cancelled.connect(lambda: heard.append(("cancelled", None)))
    return heard


def test_that_a_result_comes_in_the_windows_thread_and_the_job_is_shown(
    qtbot: QtBot, jobs: Jobs, threads: Threads, qapp: QApplication
) -> None:
    started: list[Job] = []
    ended: list[Job] = []
    jobs.job_started.connect(started.append)
    jobs.job_ended.connect(ended.append)
    where: list[bool] = []
    job = threads.run("Work", lambda _report: threading.current_thread() is threading.main_thread())
    job.finished.connect(lambda _result: where.append(QThread.currentThread() is qapp.thread()))
    heard = outcomes_of(job)
    qtbot.waitUntil(lambda: job in ended)
    assert heard == [("finished", False)]
    assert where == [True]
    assert started == [job]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (ExplorerError("The disk is full.", "Choose another."), "The disk is full. Choose another."),
        (ZeroDivisionError("oops"), "An unexpected error stopped this work: oops"),
    ],
)
def test_that_a_fault_is_told_in_words(qtbot: QtBot, threads: Threads, fault: Exception, words: str) -> None:
    def work(_report: Callable) -> None:
        raise fault

    heard = outcomes_of(threads.run("Work", work))
    qtbot.waitUntil(lambda: bool(heard))
    assert heard[0][0] == "failed"
    assert str(heard[0][1]) == words


def test_that_work_reports_and_stops_where_it_is_cancelled(qtbot: QtBot, threads: Threads) -> None:
    left = threading.Event()

    def work(report: Callable) -> None:
        try:
            for step in range(10_000):
                report(step / 10_000, "Counting")
                time.sleep(0.002)
        finally:
            left.set()

    job = threads.run("Work", work)
    heard = outcomes_of(job)
    qtbot.waitUntil(lambda: job.fraction > 0)
    assert job.stage == "Counting"
    job.cancel()
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [("cancelled", None)]
    assert left.is_set()


def test_that_closing_waits_for_the_work_and_ends_it_as_cancelled(threads: Threads) -> None:
    def work(report: Callable) -> None:
        while True:
            report(0.5, "")
            time.sleep(0.001)

    heard = outcomes_of(threads.run("Work", work))
    threads.close()
    assert heard == [("cancelled", None)]
