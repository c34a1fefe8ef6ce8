"""Real worker processes: what they answer, and what happens when they or their session die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dying_entry
import numpy as np
import pytest
from made_pool import PATIENCE, TABLE, Listener, checkpoint_file
from made_vectors import grouped
from processes import is_alive

from explorer.compute import protocol, worker
from explorer.compute.protocol import LAYOUT, VECTORS, Source
from explorer.core.layout import LayoutSettings
from explorer.core.listing import FileListing, LoadedTable
from explorer.core.query import RowTerm
from explorer.core.results import Metric, NeighbourGraph, SearchResult

ROWS, DIM = 14_000, 96
NEAR_ROW_5 = ((RowTerm(1.0, 5),), Metric.COSINE, 10)


@pytest.fixture(scope="module")
def big_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return checkpoint_file(tmp_path_factory.mktemp("big") / "big.pt", ROWS, DIM)


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    running = Listener()
    yield running
    running.pool.close()


@pytest.fixture(scope="module")
def key(listener: Listener, big_file: str) -> int:
    assert isinstance(listener.load(big_file, 1), LoadedTable)
    return 1


def test_that_a_file_is_listed_and_loaded(listener: Listener, big_file: str, key: int) -> None:
    listing = listener.ask(protocol.OpenFile, Source(big_file))
    assert isinstance(listing, FileListing)
    assert (listing.tables[0].name, listing.tables[0].rows) == (TABLE, ROWS)
    loaded = listener.load(big_file, 2)
    rows = grouped(ROWS, DIM)
    np.testing.assert_allclose(loaded.health.norms, np.linalg.norm(rows, axis=1), rtol=1e-5)
    assert isinstance(loaded.health.norms, np.memmap)
    assert listener.ask(protocol.FetchRows, 2, np.array([3, 1])).tolist() == rows[[3, 1]].tolist()
    assert listener.ask(protocol.ReleaseTable, 2) is None
    assert "no longer loaded" in listener.ask(protocol.Project, 2).message


def test_that_a_missing_file_or_table_is_a_sentence(listener: Listener, big_file: str) -> None:
    missing = listener.ask(protocol.OpenFile, Source("/nowhere/at/all.pt"))
    assert isinstance(missing, protocol.Failed)
    assert "/nowhere/at/all.pt" in missing.message
    wrong = listener.ask(protocol.LoadTable, 3, Source(big_file), "head.weight")
    assert "head.weight" in wrong.message
    assert TABLE in wrong.hint


def test_that_an_answer_which_cannot_be_read_silences_no_other(
    listener: Listener, key: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpack = worker.unpack

    def damaged(data: bytes) -> object:
        if isinstance(message := unpack(data), protocol.Done):
            monkeypatch.undo()
            raise ValueError("cannot mmap an empty file")
        return message

    monkeypatch.setattr(worker, "unpack", damaged)
    failed = listener.ask(protocol.FetchRows, key, np.array([3]))
    assert (failed.message, failed.hint) == ("An answer could not be read.", "Ask again.")
    assert len(listener.ask(protocol.FetchRows, key, np.array([3]))) == 1


def test_that_a_query_does_not_wait_for_a_running_graph(listener: Listener, key: int) -> None:
    graph = listener.submit(protocol.BuildGraph, key, 14, Metric.COSINE)
    listener.progress_of(graph)
    answer = listener.ask(protocol.Search, key, *NEAR_ROW_5)
    assert isinstance(answer, SearchResult)
    found = listener.end_of(graph).result  # it is heard after the answer
    assert isinstance(found, NeighbourGraph)
    assert found.rows.shape == (ROWS, 14)
    assert found.rows[5, :10].tolist() == answer.rows.tolist()


def test_that_cancelled_work_stops_at_once(listener: Listener, key: int) -> None:
    graph = listener.submit(protocol.BuildGraph, key, 20, Metric.COSINE)
    waiting = listener.submit(protocol.BuildGraph, key, 21, Metric.COSINE)
    listener.progress_of(graph)
    listener.pool.cancel(graph)
    listener.pool.cancel(waiting)
    assert isinstance(listener.end_of(graph), protocol.Stopped)
    assert isinstance(listener.end_of(waiting), protocol.Stopped)


def test_that_reading_a_long_text_can_be_broken_off(listener: Listener, tmp_path: Path, key: int) -> None:
    path = tmp_path / "long.json"
    path.write_text("[" + ",".join(f"[{i}, 0.5, 0.25]" for i in range(1_500_000)) + "]")
    opening = listener.submit(protocol.OpenFile, Source(str(path)))
    listener.pool.cancel(opening)
    assert isinstance(listener.end_of(opening), protocol.Stopped | protocol.Failed)
    assert isinstance(listener.ask(protocol.Search, key, *NEAR_ROW_5), SearchResult)


def test_that_a_layout_can_be_watched_and_stopped_while_it_moves(listener: Listener) -> None:
    rows = 20_000
    random = np.random.default_rng(0)
    neighbours = random.integers(rows, size=(rows, 14)).astype(np.int32)
    distances = np.sort(random.random((rows, 14)).astype(np.float32), axis=1)
    start = random.normal(size=(rows, 2)).astype(np.float32)
    settings = LayoutSettings(epochs=10**6)
    layout = listener.submit(
        protocol.LayOut, 1, neighbours, distances, np.arange(rows), start, True, settings
    )
    xy = listener.until(lambda said: isinstance(said, protocol.Moving)).xy
    first = xy.copy()
    until = time.monotonic() + PATIENCE
    while (xy == first).all():
        assert time.monotonic() < until
        time.sleep(0.001)
    listener.pool.cancel(layout)
    assert isinstance(listener.end_of(layout), protocol.Stopped)
    last = xy.copy()
    time.sleep(0.1)
    assert (xy == last).all()
    assert np.isfinite(last).all()


def test_that_a_killed_worker_is_replaced_and_its_tables_are_there_again(
    listener: Listener, key: int
) -> None:
    before = listener.ask(protocol.Search, key, *NEAR_ROW_5)
    graph = listener.submit(protocol.BuildGraph, key, 22, Metric.COSINE)
    listener.progress_of(graph)
    pid = listener.pool.pid(VECTORS)
    os.kill(pid, signal.SIGKILL)
    lost = listener.end_of(graph)
    assert isinstance(lost, protocol.Failed)
    assert "SIGKILL" in lost.detail
    assert listener.until(lambda said: isinstance(said, protocol.Restarted)).worker == VECTORS
    assert not Path(f"/proc/{pid}").exists()
    after = listener.ask(protocol.Search, key, *NEAR_ROW_5)
    assert after.rows.tolist() == before.rows.tolist()
    assert after.scores.tolist() == before.scores.tolist()
    assert listener.pool.pid(VECTORS) != pid


def test_that_a_table_whose_file_has_changed_is_not_taken_for_the_old_one(
    listener: Listener, tmp_path: Path
) -> None:
    path = tmp_path / "training.pt"
    checkpoint_file(path, 100, 8)
    listener.load(str(path), 7)
    checkpoint_file(path, 100, 8, seed=1)
    os.kill(listener.pool.pid(VECTORS), signal.SIGKILL)
    listener.until(lambda said: isinstance(said, protocol.Restarted))
    refused = listener.ask(protocol.Search, 7, *NEAR_ROW_5)
    assert isinstance(refused, protocol.Failed)
    assert "has changed since it was opened" in refused.message
    listener.ask(protocol.ReleaseTable, 7)


def test_that_a_worker_which_never_starts_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "run_worker", dying_entry.run_worker)
    broken = Listener()
    first = broken.submit(protocol.OpenFile, Source("a.pt"))
    assert isinstance(broken.end_of(first), protocol.Failed)
    broken.until(lambda said: isinstance(said, protocol.Failed) or _restarts(broken, VECTORS) == 2)
    time.sleep(1)
    later = broken.end_of(broken.submit(protocol.OpenFile, Source("a.pt")))
    assert "status 3" in later.detail
    broken.pool.close()


def _restarts(listener: Listener, name: str) -> int:
    return sum(isinstance(said, protocol.Restarted) and said.worker == name for said in listener.heard)


SESSION = """
import queue, sys
from explorer.compute.pool import Pool
from explorer.compute.protocol import Ready

if __name__ == "__main__":
    # As python -c and python -m have it: the working folder comes first.
    sys.path.insert(0, "")
    said = queue.Queue()
    pool = Pool(said.put, "cpu")
    pool.start()
    awaited = set(sys.argv[1:])
    while awaited:
        message = said.get(timeout=600)
        if isinstance(message, Ready):
            awaited.discard(message.worker)
    print(pool.pid("vectors"), pool.pid("layout"), pool.folder.path, flush=True)
    sys.stdin.readline()
"""


def start_session(script_folder: Path, working_folder: Path, *awaited: str) -> subprocess.Popen[str]:
    """A session in a process of its own, which prints its workers and the folder of its arrays."""
    script = script_folder / "session.py"
    script.write_text(SESSION)
    return subprocess.Popen(
        [sys.executable, str(script), *awaited],
        cwd=working_folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check_that_nothing_is_left(line: str) -> None:
    """The workers and the folder of a session go by themselves."""
    first, second, folder = line.split()
    until = time.monotonic() + PATIENCE
    while is_alive(int(first)) or is_alive(int(second)) or Path(folder).exists():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_that_workers_of_a_killed_session_end_and_leave_nothing(tmp_path: Path) -> None:
    with start_session(tmp_path, tmp_path, LAYOUT) as session:
        line = session.stdout.readline()
        assert is_alive(int(line.split()[0])), session.stderr.read()
        session.kill()
        check_that_nothing_is_left(line)
        assert session.stderr.read() == ""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_that_a_session_imports_nothing_from_its_working_folder_and_ends_clean(tmp_path: Path) -> None:
    working_folder = tmp_path / "work"
    working_folder.mkdir()
    for name in ("torch", "numba", "scipy", "threadpoolctl", "ctypes", "runpy", "random", "statistics"):
        (working_folder / f"{name}.py").write_text(f"open('imported', 'a').write('{name} ')")
    with start_session(tmp_path, working_folder, VECTORS, LAYOUT) as session:
        line = session.stdout.readline()
        _, errors = session.communicate("\n", timeout=PATIENCE)
        assert errors == ""
        assert session.returncode == 0
        check_that_nothing_is_left(line)
        assert not (working_folder / "imported").exists()
