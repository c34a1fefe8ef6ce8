"""A damaged index: what is whole is kept, what is lost is made anew, no row takes another one's vector."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

from explorer.compute.decoding import Decoded
from explorer.compute.index_mending import check_places, mend
from explorer.compute.index_store import IndexStore, empty_rows, open_store
from explorer.core.errors import ExplorerError
from explorer.core.index import EncoderIdentity, Manifest
from explorer.core.pictures import Verdict, digest
from explorer.readers.index_files import IndexDamaged, caption_digest, is_index, recovered_manifest
from explorer.readers.picture_index import PictureIndex, open_index
from explorer.readers.safetensors_file import read_header

ROWS, DIM = 12, 8
BAD = 5  # no picture
GOOD = [row for row in range(ROWS) if row != BAD]
RENEWED = 3
JPEG = b"\xff\xd8thumbnail"


def manifest_of(path: Path, encoder: str = "clip") -> Manifest:
    identity = EncoderIdentity(encoder, "CLIP", f"/models/{encoder}", encoder * 3, DIM)
    folder = str(path.parent / "pictures")
    return Manifest(folder, "../pictures", identity, {"size": (64, 64)}, (255, 255, 255), complete=True)


def units(count: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, DIM))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def add(store: IndexStore, rows: list[int], seed: int) -> None:
    """Pictures into the journal, as a run that has decoded and encoded them."""
    found = []
    for row in rows:
        bad = row == BAD
        verdict, thumbnail = (Verdict.NOT_A_PICTURE, b"") if bad else (Verdict.OK, JPEG)
        content = digest(f"content {row} {seed}".encode())
        found.append(
            Decoded(row, verdict, "" if not bad else "none", False, 100, 0, content, 64, 48, False, thumbnail)
        )
    vectors = units(ROWS, seed)[rows]
    vectors[[each.verdict is not Verdict.OK for each in found]] = np.nan
    store.add_pictures(found, vectors)


def make_index(path: Path, seed: int = 0, encoder: str = "clip") -> Path:
    """An index that a run has ended: of made vectors, one of its files no picture, and with captions."""
    with open_store(path, manifest_of(path, encoder), new=True) as store:
        names = [f"{seed}-{row:02}.png".encode() for row in range(ROWS)]
        rows = empty_rows(names, [0] * ROWS, [0] * ROWS)
        texts = [f"caption {seed} {row}" for row in range(ROWS)]
        at = rows.schema.get_field_index("captions")
        store.write_rows(rows.set_column(at, rows.schema.field(at), [[[text] for text in texts]]))
        for start in (0, 6):
            add(store, list(range(start, start + 6)), seed)
        store.add_captions([caption_digest(text) for text in texts], units(ROWS, seed + 100))
        store.fold()
        store.describe(complete=True)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("whole") / "index")


@pytest.fixture
def index(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "index"))


def mended(path: Path) -> tuple[list[str], PictureIndex]:
    """What a run says is damaged, and the index as it leaves it for the encoder."""
    old = recovered_manifest(path)
    with open_store(path, manifest_of(path), new=False) as store:
        faults = mend(store, vouched=old is not None)
        assert mend(store, vouched=True) == [], "what is mended is whole"
        return faults, store.read()


def expect_no_vector_of_another_row(path: Path, seed: int = 0) -> None:
    """A search is refused in a sentence that says what to do, or finds each row as it was."""
    refusal = ""
    try:
        opened = open_index(path)
        vectors = opened.vectors()
    except IndexDamaged as error:
        refusal = str(error)
    if refusal:
        assert refusal.startswith("The index index is damaged: ")
        assert refusal.endswith("Index its folder again to mend it.")
    else:
        assert opened.name(0) == "0-00.png"
        np.testing.assert_array_equal(vectors[GOOD], units(ROWS, seed)[GOOD])


def cut(name: str, share: float) -> Callable[[Path], object]:
    return lambda path: os.truncate(path / name, int((path / name).stat().st_size * share))


def overwritten(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda path: (path / name).write_bytes(data)


def of_another(name: str, **another: object) -> Callable[[Path], object]:
    def damage(path: Path) -> None:
        other = make_index(path.parent / "other", **another)
        shutil.copy(other / name, path / name)

    return damage


def scratched(path: Path) -> None:
    """The vectors of rows 2 and 3 are no vectors any more; one of them is finite."""
    file = path / "vectors.safetensors"
    header, start = read_header(file)
    with file.open("r+b") as opened:
        opened.seek(start + header["image_vectors"]["data_offsets"][0] + 2 * 4 * DIM)
        opened.write(np.array([[7.0] * DIM, [np.inf] * DIM], "<f4").tobytes())


def shaped_otherwise(path: Path) -> None:
    file = path / "vectors.safetensors"
    save_file(load_file(file) | {"image_vectors": np.zeros((ROWS, DIM + 1), np.float32)}, file)


def of_earlier(path: Path) -> None:
    """The file of vectors is a copy from before a picture was changed."""
    file = path / "vectors.safetensors"
    before = file.read_bytes()
    with open_store(path, manifest_of(path), new=False) as store:
        add(store, [RENEWED], seed=7)
        store.fold()
        store.describe(complete=True)
    file.write_bytes(before)


NO_ROWS: list[int] = []
VECTORS, PARQUET, MANIFEST = "vectors.safetensors", "rows.parquet", "manifest.json"
DAMAGE = {
    "no vectors": (lambda path: (path / VECTORS).unlink(), NO_ROWS, "the vectors of 11 pictures"),
    "empty vectors": (overwritten(VECTORS, b""), NO_ROWS, VECTORS),
    "vectors of letters": (overwritten(VECTORS, b"garbage " * 500), NO_ROWS, VECTORS),
    "vectors cut off in their header": (cut(VECTORS, 0.1), NO_ROWS, VECTORS),
    "vectors of another shape": (shaped_otherwise, NO_ROWS, VECTORS),
    "another index's vectors": (of_another(VECTORS, seed=1), NO_ROWS, "the vectors of 11 pictures"),
    "another encoder's vectors": (of_another(VECTORS, encoder="siglip"), NO_ROWS, VECTORS),
    "some vectors scratched": (scratched, [row for row in GOOD if row not in (2, 3)], "of 2 pictures"),
    "vectors from before": (of_earlier, [row for row in GOOD if row != RENEWED], "of 1 picture"),
    "no manifest": (lambda path: (path / MANIFEST).unlink(), GOOD, ""),
    "empty manifest": (overwritten(MANIFEST, b""), GOOD, ""),
    "manifest cut off": (cut(MANIFEST, 0.5), GOOD, ""),
    "manifest of another kind": (overwritten(MANIFEST, b"[1, 2]"), GOOD, ""),
    "manifest without an encoder": (
        lambda path: (path / MANIFEST).write_text(
            json.dumps(json.loads((path / MANIFEST).read_text()) | {"encoder": "clip"})
        ),
        GOOD,
        "",
    ),
    "neither manifest nor vectors": (
        lambda path: [(path / name).unlink() for name in (MANIFEST, VECTORS)],
        NO_ROWS,
        MANIFEST,
    ),
    "thumbnails gone": (
        lambda path: (path / "thumbnails/000001.bin").unlink(),
        [0, 1, 2, 3, 4],
        "thumbnails",
    ),
    "thumbnails cut off": (cut("thumbnails/000000.bin", 0.5), [0, 1, *range(6, ROWS)], "thumbnails"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_that_a_damaged_index_keeps_what_is_whole_and_each_row_its_own(name: str, index: Path) -> None:
    damage, kept, fault = DAMAGE[name]
    damage(index)
    assert is_index(index)
    if name != "some vectors scratched":  # which only a run looks for
        expect_no_vector_of_another_row(index)
    faults, mended_index = mended(index)
    assert fault in ", ".join(faults)
    vectors, verdicts = mended_index.vectors(), [mended_index.verdict(row) for row in range(ROWS)]
    expected = units(ROWS, 0)
    assert [mended_index.name(row) for row in range(ROWS)] == [f"0-{row:02}.png" for row in range(ROWS)]
    for row in GOOD:
        assert verdicts[row] == (Verdict.OK if row in kept else Verdict.PENDING)
        if row in kept:
            assert vectors[row].tolist() == expected[row].tolist()
            assert mended_index.thumbnail(row) == JPEG
    assert verdicts[BAD] is Verdict.NOT_A_PICTURE


@pytest.mark.parametrize("share", [0.3, 0.6, 0.75, 0.9, 0.999])
def test_that_of_vectors_that_are_cut_off_the_first_ones_are_kept(index: Path, share: float) -> None:
    header, start = read_header(index / VECTORS)
    first = start + header["image_vectors"]["data_offsets"][0]
    cut(VECTORS, share)(index)
    whole_rows = ((index / VECTORS).stat().st_size - first) // (4 * DIM)
    expect_no_vector_of_another_row(index)
    with pytest.raises(IndexDamaged, match=r"vectors\.safetensors cannot be read"):
        open_index(index).vectors()
    faults, mended_index = mended(index)
    kept = [row for row in GOOD if row < whole_rows]
    assert np.flatnonzero(mended_index.has_vector).tolist() == kept
    assert mended_index.vectors()[kept].tolist() == units(ROWS, 0)[kept].tolist()
    vectors, _ = mended_index.caption_vectors()
    known = np.isfinite(vectors).all(axis=1)
    assert vectors[known].tolist() == units(ROWS, 100)[known].tolist()
    assert faults[0] == VECTORS


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: (path / PARQUET).unlink(),
        overwritten(PARQUET, b""),
        overwritten(PARQUET, b"PAR1 and no more"),
        *(cut(PARQUET, share) for share in (0.1, 0.5, 0.99)),
        lambda path: pq.write_table(pa.table({"path": ["a.png"]}), path / PARQUET),
        lambda path: pq.write_table(pa.concat_tables([pq.read_table(path / PARQUET)] * 2), path / PARQUET),
    ],
)
def test_that_without_its_rows_an_index_trusts_no_vector_but_the_captions(index: Path, damage) -> None:
    damage(index)
    with pytest.raises(IndexDamaged, match=r"rows\.parquet|of 24 are missing"):
        open_index(index).vectors()
    faults, mended_index = mended(index)
    assert faults == [PARQUET]
    assert len(mended_index) == 0
    digests, vectors = next(mended_index.caption_sources())
    assert vectors[digests.index(caption_digest("caption 0 4"))].tolist() == units(ROWS, 100)[4].tolist()


def test_that_another_index_s_rows_get_no_vector_of_this_one(index: Path) -> None:
    of_another(PARQUET, seed=1)(index)
    with pytest.raises(
        IndexDamaged, match=r"vectors of 11 pictures of 12 are missing in vectors\.safetensors"
    ):
        open_index(index).vectors()
    _, mended_index = mended(index)
    assert not mended_index.has_vector.any()


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: os.truncate(file, file.stat().st_size // 2),
        lambda file: file.write_bytes(b""),
        lambda file: pq.write_table(pq.read_table(file).drop(["vector"]), file),
        lambda file: pq.write_table(
            (table := pq.read_table(file)).set_column(0, "row", pa.array([ROWS] * len(table))), file
        ),
    ],
)
def test_that_a_damaged_journal_costs_its_own_pictures_alone(index: Path, damage) -> None:
    with open_store(index, manifest_of(index), new=False) as store:
        add(store, [0, 1], seed=7)
        add(store, [2], seed=7)
    damage(index / "journal" / "pictures-000000.parquet")
    faults, mended_index = mended(index)
    assert faults == ["pictures-000000.parquet"]
    vectors = mended_index.vectors()
    assert vectors[2].tolist() == units(ROWS, 7)[2].tolist()
    others = [row for row in GOOD if row != 2]
    assert vectors[others].tolist() == units(ROWS, 0)[others].tolist()


def test_that_captions_whose_vectors_are_none_are_encoded_again(index: Path) -> None:
    header, start = read_header(index / VECTORS)
    with (index / VECTORS).open("r+b") as file:
        file.seek(start + header["caption_vectors"]["data_offsets"][0])
        file.write(b"\x77" * 4 * DIM)
    faults, mended_index = mended(index)
    assert faults == ["the vectors of 1 caption"]
    vectors, owners = mended_index.caption_vectors()
    assert np.isnan(vectors[0]).all()
    assert vectors[1:].tolist() == units(ROWS, 100)[1:].tolist()
    assert owners.tolist() == list(range(ROWS))


@pytest.mark.parametrize("name", [MANIFEST, PARQUET, VECTORS, "lock", "journal", "thumbnails"])
def test_that_a_folder_in_a_file_s_place_is_named(index: Path, name: str) -> None:
    place = index / name
    if place.is_dir():
        shutil.rmtree(place)
        place.touch()
        kind = "file"
    else:
        place.unlink()
        place.mkdir()
        kind = "folder"
    if name in (MANIFEST, PARQUET, VECTORS):
        expect_no_vector_of_another_row(index)
    with pytest.raises(
        ExplorerError, match=rf"cannot be written to: {name} in it is a {kind}\. Move that away"
    ):
        check_places(index)


def test_that_an_index_of_an_earlier_version_keeps_its_vectors(index: Path) -> None:
    file = index / VECTORS
    tensors = load_file(file)
    del tensors["image_digests"]
    save_file(tensors, file, {"made_by": "Embedding Explorer"})
    expect_no_vector_of_another_row(index)
    faults, mended_index = mended(index)
    assert faults == []
    assert np.flatnonzero(mended_index.has_vector).tolist() == GOOD


def test_that_a_folder_with_some_of_the_names_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "rows.parquet").touch()
    assert not is_index(tmp_path)
