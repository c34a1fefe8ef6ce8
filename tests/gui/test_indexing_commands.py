"""Indexing a folder from the window: paused, stopped, killed and gone on with, in its real process."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import demo_pictures as demo
import numpy as np
import pytest
from PIL import Image
from processes import children_of, is_alive
from pytestqt.qtbot import QtBot

from explorer.commands import Notice, Session
from explorer.commands.index_news import words
from explorer.core.layout import LayoutSettings
from explorer.document import IndexRun
from explorer.jobs import Job
from explorer.readers.picture_index import open_index

MANY, BATCH = 400, 32


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose indexing takes some seconds."""
    folder = tmp_path_factory.mktemp("many") / "pictures"
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(MANY):
        fields = random.integers(0, 256, (4, 5, 3), dtype=np.uint8)
        Image.fromarray(fields).resize((160, 128), Image.Resampling.NEAREST).save(folder / f"{number:04}.png")
    return folder


@pytest.fixture
def indexing(encoder_worker: None, bare_session: Session) -> Iterator[Session]:
    bare_session.document.set_settings(LayoutSettings(method="pca"))
    yield bare_session
    bare_session.indexing.cancel()


@pytest.fixture
def notices(indexing: Session) -> list[Notice]:
    said: list[Notice] = []
    indexing.notices.posted.connect(said.append)
    return said


def run_of(session: Session) -> IndexRun:
    assert session.document.index_run is not None
    return session.document.index_run


def start_and_pause(qtbot: QtBot, session: Session, folder: Path, index: Path) -> Job:
    """Start a run, and have it stand still once some pictures are done."""
    with qtbot.waitSignal(session.jobs.job_started) as started:
        session.indexing.start(str(folder), str(demo.CLIP), str(index))
    demo.at_picture(session, BATCH, session.indexing.pause)
    qtbot.waitUntil(lambda: run_of(session).paused)
    return started.args[0]


def wait_for_pictures(qtbot: QtBot, session: Session, count: int) -> None:
    qtbot.waitUntil(
        lambda: run_of(session).progress.stage == "Pictures" and run_of(session).progress.done >= count
    )


def test_that_a_paused_run_stands_still_while_queries_are_answered(qtbot, indexing, many, tmp_path, notices):
    index = tmp_path / "many.index"
    job = start_and_pause(qtbot, indexing, many, index)
    assert run_of(indexing).encoder == "clip"
    qtbot.waitSignal(indexing.jobs.encoders.encode(demo.CLIP, ["a red heart"]).finished).wait()
    stood = run_of(indexing).progress.done
    qtbot.wait(500)
    # What was with the encoder at that moment is still told of.
    assert run_of(indexing).progress.done <= stood + 2 * BATCH
    stood = run_of(indexing).progress.done
    assert stood < MANY
    # The bottom line, which follows the job, tells the same as the panel, which follows the run.
    qtbot.waitUntil(lambda: job.fraction == pytest.approx(stood / MANY))
    indexing.indexing.resume()
    wait_for_pictures(qtbot, indexing, stood + 1)
    # A query goes ahead of the batches.
    qtbot.waitSignal(indexing.jobs.encoders.encode(demo.CLIP, ["a blue star"]).finished).wait()
    assert indexing.indexing.is_running
    indexing.indexing.cancel()
    qtbot.waitUntil(lambda: not indexing.indexing.is_running)
    assert indexing.document.index_run is None
    done = int(open_index(index).has_vector.sum())
    assert stood < done < MANY
    assert "was stopped" in notices[-1].text
    # It goes on where it was: what has a vector is not encoded again.
    go_on = dict(notices[-1].actions)["Go on"]
    with qtbot.waitSignal(indexing.indexing.finished) as finished:
        go_on()
    assert (finished.args[0].encoded, finished.args[0].vectors) == (MANY - done, MANY)
    demo.show(qtbot, indexing, index)
    assert indexing.document.pictures.rows == MANY


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_that_a_killed_worker_goes_on_where_it_was(qtbot, indexing, many, tmp_path, notices):
    index = tmp_path / "many.index"
    indexing.indexing.start(str(many), str(demo.CLIP), str(index))
    wait_for_pictures(qtbot, indexing, 64)
    pid = indexing.jobs.worker_pid("encoder")
    children = children_of(pid)
    assert children
    with qtbot.waitSignal(indexing.jobs.worker_restarted):
        os.kill(pid, signal.SIGKILL)
    with qtbot.waitSignal(indexing.indexing.finished) as finished:
        pass
    assert finished.args[0].vectors == MANY
    assert indexing.jobs.worker_pid("encoder") != pid
    assert any("goes on where it was" in notice.text for notice in notices)
    qtbot.waitUntil(lambda: not any(map(is_alive, children)))
    demo.show(qtbot, indexing, index)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_that_a_run_that_stood_still_does_so_in_a_new_worker(qtbot, indexing, many, tmp_path):
    start_and_pause(qtbot, indexing, many, tmp_path / "many.index")
    with qtbot.waitSignal(indexing.jobs.worker_restarted):
        os.kill(indexing.jobs.worker_pid("encoder"), signal.SIGKILL)
    qtbot.waitUntil(lambda: run_of(indexing).paused)
    # The new worker answers, and the run stands still in it.
    qtbot.waitSignal(indexing.jobs.encoders.encode(demo.CLIP, ["a red heart"]).finished).wait()
    qtbot.wait(200)
    assert run_of(indexing).paused
    assert run_of(indexing).progress.stage != "Pictures"
    indexing.indexing.resume()
    with qtbot.waitSignal(indexing.indexing.finished) as finished:
        pass
    assert finished.args[0].vectors == MANY
    demo.show(qtbot, indexing, tmp_path / "many.index")


def test_that_an_unfinished_index_can_be_shown_and_is_offered_to_go_on(
    qtbot, indexing, many, tmp_path, notices
):
    index = tmp_path / "many.index"
    start_and_pause(qtbot, indexing, many, index)
    # What there is can be looked at and asked while the run lasts.
    demo.show(qtbot, indexing, index)
    assert indexing.document.pictures.rows == MANY
    assert indexing.document.table.health.counts.nan > 0
    indexing.indexing.cancel()
    qtbot.waitUntil(lambda: not indexing.indexing.is_running)
    indexing.opening.close_source(str(index))
    notices.clear()
    demo.show(qtbot, indexing, index)
    offered = next(notice for notice in notices if "not indexed yet" in notice.text)
    with qtbot.waitSignal(indexing.indexing.finished):
        dict(offered.actions)["Go on"]()
    qtbot.waitUntil(lambda: indexing.document.table.health.counts.nan == 0)


def test_that_a_damaged_index_is_indexed_again_from_the_bar(qtbot, indexing, many, tmp_path, notices):
    (tmp_path / "few").mkdir()
    for number in range(3):
        shutil.copy(many / f"{number:04}.png", tmp_path / "few")
    with qtbot.waitSignal(indexing.indexing.finished):
        indexing.indexing.start(str(tmp_path / "few"), str(demo.CLIP), str(tmp_path / "few.index"))
    demo.show(qtbot, indexing, tmp_path / "few.index")
    vectors = open_index(tmp_path / "few.index").vectors().copy()
    for damaged, lost in (("vectors.safetensors", 3), ("manifest.json", 0)):
        index = Path(shutil.copytree(tmp_path / "few.index", tmp_path / f"{lost}.index"))
        os.truncate(index / damaged, 300)
        notices.clear()
        indexing.opening.open([str(index)])
        qtbot.waitUntil(lambda: any(notice.serious for notice in notices))
        told = next(notice for notice in notices if notice.serious)
        assert told.text.startswith(f"The index {index.name} is damaged: {damaged} cannot be read.")
        with qtbot.waitSignal(indexing.indexing.finished) as finished:
            dict(told.actions)["Index again"]()
        assert finished.args[0].encoded == lost
        np.testing.assert_allclose(open_index(index).vectors(), vectors, atol=1e-5)


def test_that_a_second_folder_waits_for_the_first(qtbot, indexing, many, tmp_path, notices):
    indexing.indexing.start(str(many), str(demo.CLIP), str(tmp_path / "many.index"))
    indexing.indexing.start(str(demo.SCENES), str(demo.CLIP), str(tmp_path / "scenes.index"))
    assert "Another folder is being indexed" in notices[-1].text
    indexing.indexing.cancel()
    qtbot.waitUntil(lambda: not indexing.indexing.is_running)
    assert not (tmp_path / "scenes.index").exists()


def test_that_a_folder_without_pictures_is_a_sentence(qtbot, indexing, tmp_path, notices):
    (tmp_path / "empty").mkdir()
    indexing.indexing.start(str(tmp_path / "empty"), str(demo.CLIP))
    qtbot.waitUntil(lambda: not indexing.indexing.is_running)
    assert "holds no pictures" in notices[-1].text


def test_that_the_state_of_an_index_is_told_in_good_english() -> None:
    assert words("a.index", 1, 0, 0, 0) == "1 of 1 picture in a.index has a vector."
    assert words("a.index", 3, 0, 3, 0) == "0 of 3 pictures in a.index have a vector; 3 could not be used."
    assert words("a.index", 9, 1, 0, 1) == (
        "8 of 9 pictures in a.index have a vector; 1 is the same as an earlier one. "
        "1 picture is not indexed yet."
    )
    assert words("a.index", 2, 0, 0, 0, 3) == (
        "2 of 2 pictures in a.index have a vector. 3 names in the captions belong to no picture."
    )


def test_that_a_run_that_ends_leaves_another_table_where_it_is(
    qtbot: QtBot, encoder_worker: None, session: Session, tmp_path: Path
) -> None:
    told: list[Notice] = []
    session.notices.posted.connect(told.append)
    shown = session.document.table
    with qtbot.waitSignal(session.indexing.finished):
        session.indexing.start(str(demo.SCENES), str(demo.CLIP), str(tmp_path / "made.index"))
    assert session.document.table is shown
    offer = told[-1]
    assert "60 pictures" in offer.text
    name, act = offer.actions[0]
    assert name == "Show them"
    with qtbot.waitSignal(session.opening.table_loaded):
        act()
    assert session.document.table.path == str(tmp_path / "made.index")
