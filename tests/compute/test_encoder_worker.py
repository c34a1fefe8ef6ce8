"""The real encoder process: what it encodes, and what is left when it or its session dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from made_pool import PATIENCE, Listener
from picture_folders import write_pictures
from processes import children_of, is_alive

from explorer.compute import protocol
from explorer.compute.protocol import ENCODER, Told
from explorer.core.encoder_info import EncodedParts, EncoderInfo
from explorer.core.index import IndexProgress, IndexReport
from explorer.core.resources import resource_path
from explorer.readers.picture_index import open_index

CLIP = str(resource_path("demo", "clip"))
SCENES = resource_path("demo", "pictures")


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    running = Listener()
    assert running.pool.pid(ENCODER) is None  # nobody has asked for an encoder
    assert isinstance(running.ask(protocol.OpenEncoder, CLIP), EncoderInfo)
    yield running
    running.pool.close()


def test_that_an_encoder_says_what_it_is_and_encodes_parts_in_order(listener: Listener) -> None:
    info = listener.ask(protocol.OpenEncoder, CLIP)
    assert (info.name, info.dim, info.has_text, info.has_images) == ("clip", 128, True, True)
    assert (info.similarity_kind, info.context_length, info.image_size) == ("softmax", 48, (64, 64))
    scene = str(SCENES / "scene-0000.png")
    found = listener.ask(protocol.EncodeQuery, CLIP, ("a red heart", "a " * 60), (scene,))
    assert isinstance(found, EncodedParts)
    assert found.vectors.shape == (3, 128)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
    assert [len(notes) for notes in found.notes] == [0, 1]
    alone = listener.ask(protocol.EncodeQuery, CLIP, (), (scene,))
    np.testing.assert_allclose(alone.vectors[0], found.vectors[2], atol=1e-6)


def test_that_what_cannot_be_encoded_is_a_sentence(listener: Listener, tmp_path: Path) -> None:
    (tmp_path / "page.jpg").write_text("<html>")
    (tmp_path / "empty").mkdir()
    for request, values in (
        (protocol.OpenEncoder, ("/nowhere/at/all",)),
        (protocol.EncodeQuery, (CLIP, (), (str(tmp_path / "page.jpg"),))),
        (protocol.Evaluate, (str(tmp_path),)),
        (protocol.IndexFolder, (str(tmp_path / "empty"), CLIP, str(tmp_path / "index"))),
    ):
        failed = listener.ask(request, *values)
        assert isinstance(failed, protocol.Failed)
        assert failed.message.endswith(".")
        assert not failed.detail.startswith("Traceback"), failed.detail


def test_that_a_run_tells_how_far_it_is_and_can_be_evaluated(listener: Listener, tmp_path: Path) -> None:
    request = listener.submit(protocol.IndexFolder, str(SCENES), CLIP, str(tmp_path / "index"))
    report = listener.end_of(request).result
    assert isinstance(report, IndexReport)
    assert (report.vectors, report.captions) == (60, 300)
    told = [said.news for said in listener.heard if isinstance(said, Told) and said.id == request.id]
    assert isinstance(told[0], EncoderInfo)
    stages = [news.stage for news in told if isinstance(news, IndexProgress)]
    assert list(dict.fromkeys(stages)) == ["Looking through the folder", "Pictures", "Captions", "Saving"]
    assert listener.ask(protocol.Evaluate, str(tmp_path / "index")).text_to_image.queries == 300
    # Of three encoders that were used, two stay loaded; the first one is loaded anew.
    for number in range(2):
        (tmp_path / f"clip-{number}").symlink_to(CLIP)
        assert isinstance(listener.ask(protocol.OpenEncoder, str(tmp_path / f"clip-{number}")), EncoderInfo)
    assert listener.ask(protocol.EncodeQuery, CLIP, ("a star",)).vectors.shape == (1, 128)


SESSION = """
import sys, time
from made_pool import Listener
from explorer.compute import protocol

if __name__ == "__main__":
    listener = Listener()
    request = listener.submit(protocol.IndexFolder, *sys.argv[1:4])
    listener.until(
        lambda said: isinstance(said, protocol.Told)
        and getattr(said.news, "stage", "") == "Pictures"
        and said.news.done >= 32
    )
    print(listener.pool.pid("encoder"), flush=True)
    if sys.argv[4] == "close":
        listener.pool.close()
        print("closed", flush=True)
    else:
        time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("end", ["kill", "close"])
def test_that_no_process_outlives_its_session_and_what_is_done_is_kept(tmp_path: Path, end: str) -> None:
    write_pictures(tmp_path / "pictures", 500)
    script = tmp_path / "session.py"
    script.write_text(SESSION)
    session = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "pictures"), CLIP, str(tmp_path / "index"), end],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        worker = int(session.stdout.readline())
        family = [worker, *children_of(worker)]
        assert len(family) > 1  # decoders
        saved = open_index(tmp_path / "index").has_vector.sum()
        if end == "kill":
            session.kill()
        else:
            assert session.stdout.readline() == "closed\n"
        session.wait(PATIENCE)
        until = time.monotonic() + PATIENCE
        while any(map(is_alive, family)):
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        session.kill()
        session.wait()
        session.stdout.close()
    index = open_index(tmp_path / "index")
    assert not index.manifest.complete
    # A slow machine does not save the last seconds' work before it is ended.
    assert max(saved, 1) <= index.has_vector.sum() < 500


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
def test_that_a_killed_worker_is_replaced_when_it_is_asked_again(listener: Listener) -> None:
    os.kill(listener.pool.pid(ENCODER), signal.SIGKILL)
    restarted = listener.until(lambda said: isinstance(said, protocol.Restarted))
    assert restarted.worker == ENCODER
    assert isinstance(listener.ask(protocol.EncodeQuery, CLIP, ("a star",)), EncodedParts)
