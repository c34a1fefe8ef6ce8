"""An index of pictures: every row on its own picture, whatever the folder holds and whenever a run ends."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from encoders.made_models import save_clip
from picture_folders import write_odd_pictures, write_picture, write_pictures
from PIL import Image
from safetensors.numpy import load_file

from explorer.compute import index_store
from explorer.compute.encoders.base import Encoder
from explorer.compute.encoders.opening import open_encoder
from explorer.compute.indexing import update_index
from explorer.compute.retrieval import encode_picture
from explorer.core.errors import Cancelled, ExplorerError
from explorer.core.index import IndexProgress, IndexReport
from explorer.core.pictures import Verdict
from explorer.readers import open_file
from explorer.readers.index_files import VECTORS
from explorer.readers.picture_index import PictureIndex, open_index, state_notes
from explorer.readers.pictures import read_picture


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "clip"
    save_clip(folder)
    return folder


@pytest.fixture(scope="module")
def encoder(clip: Path) -> Iterator[Encoder]:
    # Of a model this small, threads cost more than they bring.
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield open_encoder(clip, device="cpu")
    torch.set_num_threads(before)


@pytest.fixture
def update(encoder: Encoder, tmp_path: Path) -> Callable[..., IndexReport]:
    """Bring the index of ``pictures`` up to date."""

    def run(**options: object) -> IndexReport:
        options = {"processes": 1, **options}
        return update_index(tmp_path / "pictures", encoder, tmp_path / "index", **options)

    return run


def expect_every_row_on_its_picture(index: PictureIndex, encoder: Encoder) -> None:
    vectors = index.vectors()
    assert vectors.shape == (len(index), encoder.dim)
    for row in range(len(index)):
        if index.verdict(row) is Verdict.OK:
            expected = encode_picture(encoder, read_picture(index.file(row)))
            assert np.abs(vectors[row] - expected).max() < 1e-5
            assert (index.thumbnail(row) or b"").startswith(b"\xff\xd8")
        else:
            assert np.isnan(vectors[row]).all()
            assert index.reason(row) or index.verdict(row) is Verdict.PENDING


def test_that_a_folder_becomes_an_index_of_open_files(tmp_path, update, encoder):
    names = write_pictures(tmp_path / "pictures", 5) + [
        f"deep/er/{name}" for name in write_pictures(tmp_path / "pictures" / "deep" / "er", 3, seed=1)
    ]
    (tmp_path / "pictures" / "notes.md").write_text("no picture")
    (tmp_path / "pictures" / ".hidden.png").write_bytes(b"hidden")
    said: list[IndexProgress] = []
    report = update(tell=said.append)
    assert (report.rows, report.vectors, report.encoded, report.added) == (8, 8, 8, 8)
    assert [(s.done, s.total) for s in said if s.stage == "Pictures"][-1] == (8, 8)
    index = open_index(tmp_path / "index")
    assert [index.name(row) for row in range(8)] == names
    expect_every_row_on_its_picture(index, encoder)

    # Other programs read the same from the same files.
    tensors = load_file(tmp_path / "index" / "vectors.safetensors")
    assert np.array_equal(tensors["image_vectors"], index.vectors())
    rows = pq.read_table(tmp_path / "index" / "rows.parquet").to_pydict()
    assert [path.decode() for path in rows["path"]] == names
    assert rows["verdict"] == ["ok"] * 8
    assert (index.manifest.encoder.fingerprint, index.manifest.complete) == (encoder.fingerprint, True)


def test_that_every_odd_picture_keeps_its_row_with_a_verdict_and_no_vector(tmp_path, update, encoder):
    write_pictures(tmp_path / "pictures", 6)
    verdicts = write_odd_pictures(tmp_path / "pictures")
    report = update()
    assert (report.rows, report.vectors) == (12, 6)
    index = open_index(tmp_path / "index")
    found = {index.name(row): str(index.verdict(row)) for row in range(12)}
    assert {name: verdict for name, verdict in found.items() if verdict != "ok"} == verdicts
    expect_every_row_on_its_picture(index, encoder)
    assert any("6 pictures of 12 could not be used" in note for note in report.notes)
    # What cannot change is not decoded again.
    assert update().unchanged == 10


def test_that_another_run_encodes_only_what_is_new_or_changed(tmp_path, update, encoder):
    folder = tmp_path / "pictures"
    names = write_pictures(folder, 6)
    update()
    before = open_index(tmp_path / "index").vectors().copy()
    random = np.random.default_rng(9)
    write_picture(folder / names[1], random)
    (folder / names[2]).unlink()
    os.utime(folder / names[3], ns=(0, 0))
    write_picture(folder / "added.png", random)
    report = update()
    assert (report.encoded, report.added, report.changed, report.gone) == (2, 1, 1, 1)
    assert report.unchanged == 4
    index = open_index(tmp_path / "index")
    assert [index.name(row) for row in range(7)] == [*names, "added.png"]
    assert [str(index.verdict(row)) for row in range(7)] == ["ok", "ok", "gone", "ok", "ok", "ok", "ok"]
    expect_every_row_on_its_picture(index, encoder)
    kept = [0, 3, 4, 5]
    assert np.array_equal(index.vectors()[kept], before[kept])
    assert np.isnan(load_file(tmp_path / "index" / "vectors.safetensors")["image_vectors"][2]).all()
    again = update()
    assert (again.encoded, again.changed, again.gone, again.unchanged) == (0, 0, 0, 6)

    write_picture(folder / names[2], random)
    assert update().encoded == 1
    index = open_index(tmp_path / "index")
    assert len(index) == 7
    expect_every_row_on_its_picture(index, encoder)


def test_that_a_run_makes_anew_what_an_index_has_lost(tmp_path, update, encoder):
    write_pictures(tmp_path / "pictures", 4)
    update()
    before = open_index(tmp_path / "index").vectors()
    (tmp_path / "index" / VECTORS).unlink()
    report = update()
    assert report.encoded == 4
    assert report.notes == (
        "The index was damaged (the vectors of 4 pictures); what it had lost was made anew.",
    )
    np.testing.assert_allclose(open_index(tmp_path / "index").vectors(), before, atol=1e-6)
    assert update().encoded == 0
    os.truncate(tmp_path / "index" / "rows.parquet", 1000)
    (tmp_path / "index" / "manifest.json").write_text("garbage")
    report = update()
    assert (report.encoded, report.notes[0].split(";")[0]) == (4, "The index was damaged (rows.parquet)")
    expect_every_row_on_its_picture(open_index(tmp_path / "index"), encoder)


def test_that_duplicates_are_told_by_content(tmp_path, update):
    folder = tmp_path / "pictures"
    names = write_pictures(folder, 4)
    shutil.copy(folder / names[2], folder / "zz-copy.png")
    shutil.copy(folder / names[2], folder / "zzz-copy.png")
    (folder / names[0]).write_bytes(b"")
    shutil.copy(folder / names[0], folder / "zzzz-empty.png")
    report = update()
    index = open_index(tmp_path / "index")
    assert index.first_twin.tolist() == [0, 1, 2, 3, 2, 2, 6]
    assert index.duplicates.tolist() == [4, 5]
    assert "2 pictures are the same as an earlier one and counted once." in report.notes


def test_that_captions_are_encoded_once_and_follow_their_list(tmp_path, update, encoder):
    names = write_pictures(tmp_path / "pictures", 3)
    lines = [f"{names[0]},a dog", f"{names[0]},a brown dog", f"{names[2]},a dog", "absent.png,nothing"]
    (tmp_path / "pictures" / "captions.txt").write_text("\n".join(["image,caption", *lines]))
    assert update().captions == 3
    index = open_index(tmp_path / "index")
    vectors, owners = index.caption_vectors()
    assert owners.tolist() == [0, 0, 2]
    expected = encoder.encode_text(["a dog", "a brown dog", "a dog"]).vectors
    assert np.abs(vectors - expected).max() < 1e-5
    assert index.manifest.unmatched_captions == ("absent.png",)
    assert len(load_file(tmp_path / "index" / "vectors.safetensors")["caption_vectors"]) == 2

    lines[2] = f"{names[1]},a red boat"
    (tmp_path / "pictures" / "captions.txt").write_text("\n".join(["image,caption", *lines]))
    assert update().encoded == 0
    index = open_index(tmp_path / "index")
    vectors, owners = index.caption_vectors()
    assert (owners.tolist(), index.captions(1)) == ([0, 0, 1], ("a red boat",))
    assert np.abs(vectors - encoder.encode_text(["a dog", "a brown dog", "a red boat"]).vectors).max() < 1e-5


@pytest.mark.parametrize("error", [Cancelled, KeyboardInterrupt])
def test_that_a_stopped_run_is_taken_up_where_it_was(tmp_path, update, encoder, error):
    write_pictures(tmp_path / "pictures", 40)

    def stop(progress: IndexProgress) -> None:
        if progress.stage == "Pictures" and progress.done >= 32:
            raise error

    with pytest.raises(error):
        update(tell=stop)
    # What is done can be searched at once.
    index = open_index(tmp_path / "index")
    assert (len(index), index.has_vector.sum(), index.manifest.complete) == (40, 32, False)
    expect_every_row_on_its_picture(index, encoder)
    report = update()
    assert (report.encoded, report.vectors) == (8, 40)
    expect_every_row_on_its_picture(open_index(tmp_path / "index"), encoder)


@pytest.mark.parametrize("write", range(12))
def test_that_a_run_that_dies_at_any_write_loses_nothing(tmp_path, update, encoder, monkeypatch, write):
    """Whichever write is the last one, the index can be read, and the next run makes it whole."""
    folder = tmp_path / "pictures"
    names = write_pictures(folder, 5)
    (folder / "captions.txt").write_text(f"image,caption\n{names[0]},a dog\n{names[1]},a cat\n")
    update()
    write_pictures(folder, 3, seed=2)
    write_picture(folder / names[1], np.random.default_rng(8))
    (folder / names[4]).unlink()
    (folder / "captions.txt").write_text(f"image,caption\n{names[0]},a dog\n{names[2]},a boat\n")
    real, writes = Path.replace, iter(range(1000))

    def replace_until_killed(self: Path, target: Path) -> Path:
        if next(writes) == write:
            raise KeyboardInterrupt
        return real(self, target)

    # Each file takes its place by a rename; a process that dies before one has done those before it.
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_until_killed)
        try:
            update()
            finished = True
        except KeyboardInterrupt:
            finished = False
    assert finished == (next(writes) <= write)
    index = open_index(tmp_path / "index")
    for row in (0, 2, 3):
        assert (
            np.abs(index.vectors()[row] - encode_picture(encoder, read_picture(index.file(row)))).max() < 1e-5
        )
    update()
    index = open_index(tmp_path / "index")
    assert [str(index.verdict(row)) for row in range(8)] == ["ok"] * 4 + ["gone"] + ["ok"] * 3
    expect_every_row_on_its_picture(index, encoder)
    vectors, owners = index.caption_vectors()
    assert owners.tolist() == [0, 2]
    assert np.abs(vectors - encoder.encode_text(["a dog", "a boat"]).vectors).max() < 1e-5
    left = [path.name for path in (tmp_path / "index").rglob("*") if path.is_file()]
    assert sorted(left) == sorted(
        {"lock", "manifest.json", "rows.parquet", "vectors.safetensors"}
        | {name for name in left if name.endswith(".bin")}
    )


def test_that_an_index_of_another_encoder_is_refused_by_name(tmp_path, update, encoder):
    write_pictures(tmp_path / "pictures", 2)
    update()
    other = replace(encoder, name="other-clip", fingerprint="f" * 32)
    with pytest.raises(ExplorerError, match=r"made by the encoder clip .*not by other-clip"):
        update_index(tmp_path / "pictures", other, tmp_path / "index")
    trained_on = replace(encoder, fingerprint="e" * 32)
    with pytest.raises(ExplorerError, match=r"The encoder clip .*has changed since it made the index index"):
        update_index(tmp_path / "pictures", trained_on, tmp_path / "index")
    assert open_index(tmp_path / "index").manifest.encoder.name == "clip"


def test_that_an_index_of_another_folder_is_refused_but_moved_ones_are_known(tmp_path, update, encoder):
    write_pictures(tmp_path / "pictures", 3)
    write_pictures(tmp_path / "others", 2)
    update()
    with pytest.raises(ExplorerError, match="belongs to the folder"):
        update_index(tmp_path / "others", encoder, tmp_path / "index")
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "pictures").rename(moved / "pictures")
    (tmp_path / "index").rename(moved / "index")
    index = open_index(moved / "index")
    assert index.file(0) == moved / "pictures" / index.name(0)
    assert state_notes(index) == []
    (moved / "pictures").rename(moved / "elsewhere")
    assert state_notes(open_index(moved / "index")) == [
        f"The pictures' folder {tmp_path / 'pictures'} is not there any more."
    ]
    (moved / "elsewhere").rename(moved / "pictures")
    report = update_index(moved / "pictures", encoder, moved / "index", processes=1)
    assert (report.encoded, report.unchanged) == (0, 3)


def test_that_what_would_spoil_something_is_refused(tmp_path, update, encoder):
    with pytest.raises(ExplorerError, match="There is no folder"):
        update()
    (tmp_path / "pictures").mkdir()
    with pytest.raises(ExplorerError, match="holds no pictures"):
        update()
    assert not (tmp_path / "index").exists()
    names = write_pictures(tmp_path / "pictures", 2)
    (tmp_path / "file").touch()
    with pytest.raises(ExplorerError, match=r"The index .*inside/it cannot be written to: Not a directory"):
        update_index(tmp_path / "pictures", encoder, tmp_path / "file" / "inside" / "it")
    update()
    for name in names:  # a network drive that is gone looks like this
        (tmp_path / "pictures" / name).unlink()
    with pytest.raises(ExplorerError, match="holds no pictures"):
        update()
    assert open_index(tmp_path / "index").has_vector.all()
    with pytest.raises(ExplorerError, match="cannot be the folder of pictures itself"):
        update_index(tmp_path / "pictures", encoder, tmp_path / "pictures")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(ExplorerError, match="is no index, and not empty"):
        update_index(tmp_path / "pictures", encoder, tmp_path / "full")
    with pytest.raises(ExplorerError, match="sees no pictures"):
        update_index(tmp_path / "pictures", replace(encoder, image=None), tmp_path / "new")


def test_that_two_runs_do_not_write_to_one_index(tmp_path, update):
    write_pictures(tmp_path / "pictures", 2)

    def start_another(progress: IndexProgress) -> None:
        if progress.stage == "Pictures":
            update()

    with pytest.raises(ExplorerError, match="Another process is writing"):
        update(tell=start_another)
    assert update().vectors == 2


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_that_names_that_are_no_text_survive(tmp_path, update, encoder):
    folder = tmp_path / "pictures"
    write_pictures(folder, 1)
    odd = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9\n.png"))
    write_picture(odd, np.random.default_rng(4))
    (folder / "日本.png").write_bytes(odd.read_bytes()[:-20])
    update()
    index = open_index(tmp_path / "index")
    assert index.file(0) == odd
    expect_every_row_on_its_picture(index, encoder)
    assert open_file(tmp_path / "index").tables[0].labels[0] == "caf\udce9\n.png"
    assert update().encoded == 0


def test_that_an_index_opens_as_tables(tmp_path, update):
    names = write_pictures(tmp_path / "pictures", 3)
    (tmp_path / "pictures" / names[1]).write_bytes(b"")
    (tmp_path / "pictures" / "picture-0-000.txt").write_text("a dog")
    update()
    opened = open_file(tmp_path / "index")
    images, captions, both = opened.tables
    assert (images.role, images.rows, list(images.labels)) == ("image vectors", 3, names)
    assert images.metadata["verdict"].tolist() == ["ok", "empty", "ok"]
    assert np.isnan(images.read()).all(axis=1).tolist() == [False, True, False]
    assert (list(captions.labels), captions.read().shape) == (["a dog"], (1, 40))
    assert (both.role, list(both.labels)) == ("pictures and captions", [*names, "a dog"])
    assert both.metadata["modality"].tolist() == ["picture"] * 3 + ["caption"]
    np.testing.assert_array_equal(both.read(), np.concatenate([images.read(), captions.read()]))
    assert opened.manifest.complete


def test_that_every_table_of_an_index_knows_its_rows_pictures(tmp_path, update):
    names = write_pictures(tmp_path / "pictures", 4)
    folder = tmp_path / "pictures"
    (folder / names[1]).write_bytes(b"")
    (folder / names[3]).write_bytes((folder / names[0]).read_bytes())
    (folder / "picture-0-002.txt").write_text("a dog\na small dog")
    update()
    images, captions, both = (table.pictures() for table in open_file(tmp_path / "index").tables)
    assert [images.file(row) for row in range(4)] == [folder / name for name in names]
    assert [captions.file(row) for row in range(2)] == [folder / names[2]] * 2
    assert [both.picture(row) for row in range(6)] == [0, 1, 2, 3, 2, 2]
    assert images.captions(2) == both.captions(5) == ("a dog", "a small dog")
    assert (images.captions(0), images.reason(0), images.reason(1)) == ((), "", "the file is empty")
    assert images.first_twin.tolist() == [0, 1, 2, 0]
    index = open_index(tmp_path / "index")
    assert [images.thumbnail(row) for row in range(4)] == [index.thumbnail(row) for row in range(4)]
    assert images.thumbnail(1) is None
    np.testing.assert_allclose(images.shapes(np.arange(4)), [80 / 64, np.nan, 80 / 64, 80 / 64])
    shutil.rmtree(tmp_path / "index" / "thumbnails")
    assert images.thumbnail(0) is None


def test_that_a_picture_that_kills_its_decoder_costs_no_other_row(tmp_path, update, encoder):
    names = write_pictures(tmp_path / "pictures", 12)
    # No picture known here kills Pillow; one that its process is killed at stands in for it.
    Image.new("RGB", (9000, 9000)).save(tmp_path / "pictures" / names[5], compress_level=1)
    import signal
    import threading
    import time

    from explorer.compute.decoders import Decoders
    from explorer.compute.decoding import Task

    tasks = [Task(row, str(tmp_path / "pictures" / name)) for row, name in enumerate(names)]
    with Decoders(encoder.preprocessing, 12, 1) as decoders:

        def kill_when_stuck() -> None:
            while not decoders._children or len(decoders._children[0].in_hand) == 0:
                time.sleep(0.01)
            stuck = decoders._children[0]
            while stuck.in_hand[0][1].row != 5:
                time.sleep(0.01)
            os.kill(stuck.process.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_when_stuck)
        killer.start()
        (batch,) = list(decoders.batches(tasks))
        killer.join()
    verdicts = [each.verdict for each in batch.decoded]
    assert [each.row for each in batch.decoded] == list(range(12))
    assert verdicts.count(Verdict.OK) == 11
    assert verdicts[5] is Verdict.UNREADABLE
    assert "signal 9" in batch.decoded[5].reason


def test_that_decoders_that_cannot_start_end_the_run(tmp_path, encoder, monkeypatch):
    from explorer.compute import decoders

    write_pictures(tmp_path / "pictures", 3)
    monkeypatch.setattr(decoders, "run_decoder", os._exit)
    with pytest.raises(ExplorerError, match="decode pictures end at once"):
        update_index(tmp_path / "pictures", encoder, tmp_path / "index", processes=1)
    assert index_store.journal_files(tmp_path / "index", "pictures") == []


def test_that_an_extremely_long_picture_is_encoded_in_bounded_memory(tmp_path, update, encoder):
    (tmp_path / "pictures").mkdir()
    Image.new("RGB", (60_000, 2), (200, 30, 30)).save(tmp_path / "pictures" / "long.png")
    assert update().vectors == 1
