"""Arrays between processes, and work in blocks."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.compute.checkpoint import part
from explorer.compute.parallel import each_block, map_blocks, spans
from explorer.compute.sharing import SessionFolder, id_of, pack, unpack
from explorer.core.errors import Cancelled, ExplorerError
from explorer.core.labels import Labels


@dataclass(frozen=True, eq=False)
class Message:
    id: int
    text: str
    arrays: dict[str, NDArray]


@pytest.fixture
def folder() -> Iterator[SessionFolder]:
    made = SessionFolder.create()
    yield made
    made.remove()
    assert not made.path.exists()


def files(folder: SessionFolder) -> list[Path]:
    return list(folder.path.rglob("*.array"))


def test_that_large_arrays_cross_as_files_and_small_ones_in_the_message(folder: SessionFolder) -> None:
    sent = Message(
        7,
        "hello",
        {
            "large": np.arange(30_000, dtype=np.float32).reshape(3, -1),
            "turned": np.arange(30_000, dtype=np.int64).reshape(3, -1).T,
            "narrow": np.arange(30_000).astype(ml_dtypes.bfloat16),
            "text": np.array(["ä" * 50, "b"] * 500),
            "small": np.arange(3),
            "empty": np.empty((0, 5), np.float32),
            "objects": np.array(["a", None], object),
        },
    )
    data = pack(sent, folder, group="one")
    assert len(data) < 4000
    assert len(files(folder)) == 4
    got = unpack(data)
    assert (id_of(data), got.text) == (7, "hello")
    for name, array in sent.arrays.items():
        assert got.arrays[name].dtype == array.dtype
        assert got.arrays[name].shape == array.shape
        assert (got.arrays[name] == array).all()
    assert isinstance(got.arrays["large"], np.memmap)
    assert not got.arrays["large"].flags.writeable


def test_that_an_array_that_came_from_a_file_is_not_written_again(folder: SessionFolder) -> None:
    got = unpack(pack(np.zeros(10_000), folder, group="one"))
    again = unpack(pack((got, got[:9000]), folder, group="two"))
    assert again[0].filename == got.filename
    assert len(files(folder)) == 2


def test_that_an_array_for_one_reader_leaves_no_file(folder: SessionFolder) -> None:
    got = unpack(pack(np.arange(10_000), folder, once=True))
    assert files(folder) == []
    assert (got == np.arange(10_000)).all()
    # Its file is gone, so that it is written anew for the next reader.
    assert (unpack(pack(got, folder, once=True)) == got).all()


def test_that_a_live_array_changes_for_all(folder: SessionFolder) -> None:
    written = folder.blank((100, 100), np.float32, group="one")
    seen = unpack(pack(written, folder))
    written[3, 4] = 5
    assert seen[3, 4] == 5
    assert unpack(pack(folder.blank((0, 2), np.float32), folder)).shape == (0, 2)


def test_that_a_dropped_group_is_gone_but_stays_readable(folder: SessionFolder) -> None:
    data = pack(np.arange(10_000), folder, group="one")
    got = unpack(data)
    folder.drop("one")
    assert got.sum() == 49_995_000
    with pytest.raises(OSError, match="No such file"):
        unpack(data)


def test_that_labels_of_a_million_rows_cross_as_files(folder: SessionFolder) -> None:
    labels = Labels.from_texts((f"word {row}" for row in range(100_000)), "made", rows=100_010)
    data = pack(labels, folder)
    assert len(data) < 2000
    assert unpack(data)[99_999] == "word 99999"
    assert unpack(data)[100_005] == "#100005"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_that_a_full_disk_is_a_sentence(folder: SessionFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SessionFolder, "_new_path", lambda self, group: Path("/dev/full"))
    with pytest.raises(ExplorerError, match="cannot be written"):
        pack(np.zeros(10_000), folder)


def test_that_a_living_sessions_folder_is_kept_and_a_dead_ones_removed() -> None:
    living = SessionFolder.create()
    dead = SessionFolder.create()
    os.close(dead._lock)
    dead._lock = None
    unmarked = living.path.with_name(living.path.name + "x")
    unmarked.mkdir()
    later = SessionFolder.create()
    assert living.path.exists()
    assert not dead.path.exists()
    assert unmarked.exists()
    os.utime(unmarked, (1, 1))
    SessionFolder(unmarked).remove_if_forsaken()
    assert not unmarked.exists()
    living.remove()
    later.remove()


@pytest.mark.parametrize("threads", [1, 3])
def test_that_blocks_are_done_once_each_and_given_in_order(threads: int) -> None:
    heard: list[float] = []
    blocks = spans(103, 10)

    def work(start: int, stop: int) -> tuple[int, int]:
        time.sleep(0.002 if start % 20 else 0.0)
        return start, stop

    found = list(map_blocks(work, blocks, lambda fraction, stage="": heard.append(fraction), threads=threads))
    assert found == blocks
    assert blocks[-1] == (100, 103)
    assert heard == pytest.approx([(place + 1) / 11 for place in range(11)])


def test_that_blocks_stop_when_cancelled_and_none_is_left_running() -> None:
    begun: list[int] = []
    ended: list[int] = []

    def work(start: int, stop: int) -> None:
        begun.append(start)
        time.sleep(0.01)
        ended.append(start)

    def cancel(fraction: float, stage: str = "") -> None:
        raise Cancelled

    with ThreadPoolExecutor(2) as pool, pytest.raises(Cancelled):
        each_block(work, spans(100, 1), cancel, threads=2, pool=pool)
    assert sorted(begun) == sorted(ended)
    assert len(begun) <= 4


def test_that_an_error_in_a_block_is_the_callers() -> None:
    def work(start: int, stop: int) -> None:
        if start == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"):
        each_block(work, spans(10, 1), threads=2)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPool")]


def test_that_a_part_of_a_work_reports_its_share() -> None:
    heard: list[tuple[float, str]] = []
    inner = part(lambda fraction, stage="": heard.append((fraction, stage)), 0.5, 0.75, "Second")
    inner(0.0)
    inner(1.0, "ignored")
    assert heard == [(0.5, "Second"), (0.75, "Second")]
