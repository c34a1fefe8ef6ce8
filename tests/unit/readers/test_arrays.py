"""NumPy's own files."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile, Role
from explorer.readers import arrays

RNG = np.random.default_rng(5)


def opened(path: Path) -> OpenedFile:
    assert arrays.sniff(path, path.read_bytes()[:4096])
    return arrays.read(path)


def saved(tmp_path: Path, array: np.ndarray) -> Path:
    path = tmp_path / "vectors.npy"
    np.save(path, array, allow_pickle=True)
    return path


@pytest.mark.parametrize(
    "array",
    [
        RNG.normal(size=(7, 3)),
        RNG.normal(size=(7, 3)).astype(np.float16),
        np.asfortranarray(RNG.normal(size=(7, 3)).astype(np.float32)),
        RNG.normal(size=(7, 3)).astype(">f4"),
        RNG.normal(size=(7, 3)).astype(">f8", order="F"),
        RNG.integers(-5, 5, (7, 3)),
        RNG.integers(0, 255, (7, 3)).astype(np.uint8),
        RNG.normal(size=(1, 3)),
        RNG.normal(size=(7, 1)),
    ],
)
def test_that_an_array_is_its_table_in_its_stored_type(tmp_path, array):
    (table,) = opened(saved(tmp_path, array)).tables
    values = table.read()
    assert (table.rows, table.dim) == array.shape == values.shape
    assert table.dtype == array.dtype.newbyteorder("=").name
    assert values.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(values, array)
    assert table.labels is None
    assert table.name == "vectors"


def test_that_bfloat16_survives_numpy_not_knowing_it(tmp_path):
    array = RNG.normal(size=(4, 3)).astype(ml_dtypes.bfloat16)
    (table,) = opened(saved(tmp_path, array)).tables
    assert table.dtype == "bfloat16"
    np.testing.assert_array_equal(table.read(), array)


def test_that_headers_of_every_version_and_of_python_2_are_understood(tmp_path):
    array = np.arange(6, dtype="<f4").reshape(2, 3)
    path = tmp_path / "old.npy"
    for version in ((1, 0), (2, 0), (3, 0)):
        with path.open("wb") as file:
            np.lib.format.write_array(file, array, version)
        np.testing.assert_array_equal(opened(path).tables[0].read(), array)
    path.write_bytes(path.read_bytes().replace(b"(2, 3), }  ", b"(2L, 3L), }"))
    np.testing.assert_array_equal(opened(path).tables[0].read(), array)


@pytest.mark.parametrize(
    ("shape", "table_shape"),
    [((5,), (1, 5)), ((1, 4, 3), (4, 3)), ((4, 1, 3), (4, 3)), ((4, 2, 3), (4, 6)), ((1, 1, 3), (1, 3))],
)
def test_that_other_shapes_are_shown_as_rows(tmp_path, shape, table_shape):
    array = RNG.normal(size=shape)
    (table,) = opened(saved(tmp_path, array)).tables
    assert (table.rows, table.dim) == table_shape
    np.testing.assert_array_equal(table.read(), array.reshape(table_shape))


def test_that_a_file_larger_than_is_read_is_mapped(tmp_path):
    (table,) = opened(saved(tmp_path, np.ones((100, 10), np.float32))).tables
    assert not table.read().flags.owndata
    assert not table.read().flags.writeable


class Bomb:
    def __reduce__(self):
        return Path.touch, (Path("/tmp/embedding-explorer-was-run"),)


def test_that_objects_are_refused_without_unpickling(tmp_path):
    Path("/tmp/embedding-explorer-was-run").unlink(missing_ok=True)
    path = saved(tmp_path, np.array([[Bomb()]], object))
    with pytest.raises(ExplorerError, match="Python objects"):
        arrays.read(path)
    np.savez(tmp_path / "bomb.npz", vectors=np.array([[Bomb()]], object), good=np.ones((2, 3)))
    file = opened(tmp_path / "bomb.npz")
    assert [table.name for table in file.tables] == ["good"]
    assert "Python objects" in file.notes[0]
    assert not Path("/tmp/embedding-explorer-was-run").exists()


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", "b"]),
        np.zeros((2, 2), np.complex64),
        np.zeros((2, 2), np.bool_),
        np.zeros(3, "datetime64[s]"),
        np.zeros(3, [("a", "f4"), ("b", "f4")]),
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.float32(1),
    ],
)
def test_that_what_is_no_table_of_numbers_is_refused(tmp_path, array):
    with pytest.raises(ExplorerError):
        arrays.read(saved(tmp_path, array))


def test_that_a_cut_array_is_refused(tmp_path):
    path = saved(tmp_path, np.ones((100, 10)))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ExplorerError, match=r"cut off: its header promises 8,000 bytes of values, and 7,999"):
        arrays.read(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_that_an_archive_lists_each_matrix_and_uses_its_lists(tmp_path, save):
    vectors = RNG.normal(size=(5, 3)).astype(np.float32)
    other = RNG.normal(size=(2, 4)).astype(np.float16)
    words = np.array(["a", "né", "日本", "", "e f"])
    save(
        tmp_path / "all.npz",
        other=other,
        vectors=vectors,
        count=np.arange(5),
        words=words,
        kind=np.array(list("vwxyz")),
    )
    tables = opened(tmp_path / "all.npz").tables
    assert [(table.name, table.rows, table.dim, table.dtype) for table in tables] == [
        ("vectors", 5, 3, "float32"),
        ("other", 2, 4, "float16"),
    ]
    np.testing.assert_array_equal(tables[0].read(), vectors)
    np.testing.assert_array_equal(tables[1].read(), other)
    assert list(tables[0].labels) == words.tolist()
    assert tables[0].role is Role.TOKEN
    assert tables[0].metadata["count"].tolist() == [0, 1, 2, 3, 4]
    assert tables[0].metadata["kind"].tolist() == list("vwxyz")
    assert tables[1].labels is None


def test_that_byte_labels_are_text(tmp_path):
    np.savez(tmp_path / "all.npz", vectors=np.ones((2, 3)), words=np.array(["é".encode(), b"\xff"]))
    assert list(opened(tmp_path / "all.npz").tables[0].labels) == ["é", "\\xff"]


def test_that_a_vector_for_each_key_is_one_table(tmp_path):
    np.savez(tmp_path / "words.npz", king=np.arange(3.0), queen=np.arange(3.0) + 1)
    (table,) = opened(tmp_path / "words.npz").tables
    assert list(table.labels) == ["king", "queen"]
    assert table.read().tolist() == [[0, 1, 2], [1, 2, 3]]


def test_that_a_model_saved_as_an_archive_has_its_token_table_first(tmp_path):
    np.savez(
        tmp_path / "model.npz",
        **{
            "lm_head.weight": np.ones((9, 4), np.float32),
            "transformer.wpe.weight": np.ones((20, 4), np.float32),
            "transformer.wte.weight": np.full((9, 4), 2, np.float32),
        },
    )
    tables = opened(tmp_path / "model.npz").tables
    assert [(t.name, t.role) for t in tables] == [
        ("transformer.wte.weight", Role.TOKEN),
        ("transformer.wpe.weight", Role.POSITION),
        ("lm_head.weight", Role.OUTPUT),
    ]
    assert tables[0].read()[0, 0] == 2


def test_that_image_vectors_are_told_by_their_ids(tmp_path):
    np.savez(tmp_path / "clip.npz", features=np.ones((2, 3)), image_ids=np.array(["a.jpg", "b.jpg"]))
    assert opened(tmp_path / "clip.npz").tables[0].role is Role.IMAGES


def test_that_a_zip_bomb_is_not_unfolded(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (1 << 20, 66)}
    )
    path = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as file,
    ):
        file.write(header.getvalue())
        for _ in range(66):
            file.write(b"\0" * (4 << 20))
    with pytest.raises(ExplorerError, match="would unfold"):
        arrays.read(path)


def test_that_other_zips_are_left_to_others(tmp_path):
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"")
    assert not arrays.sniff(path, path.read_bytes())
    path.write_bytes(b"PK\x03\x04 but no zip")
    assert not arrays.sniff(path, path.read_bytes())


def good_files() -> list[bytes]:
    one, many, packed = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.save(one, np.arange(12, dtype=np.float32).reshape(4, 3))
    np.savez(many, vectors=np.arange(12.0).reshape(4, 3), words=np.array(list("abcd")))
    np.savez_compressed(packed, vectors=np.arange(12.0).reshape(4, 3))
    return [file.getvalue() for file in (one, many, packed)]


GOOD = good_files()


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(GOOD),
    st.sampled_from(["cut", "flip", "drop"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 7),
)
def test_that_damage_is_refused_or_leaves_a_table(tmp_path_factory, good, kind, first, second, bit):
    low, high = sorted((int(first * (len(good) - 1)), int(second * (len(good) - 1))))
    flipped = bytearray(good)
    flipped[low] ^= 1 << bit
    damaged = {"cut": good[:low], "flip": bytes(flipped), "drop": good[:low] + good[high:]}[kind]
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    path.write_bytes(damaged)
    if not arrays.sniff(path, damaged[:4096]):
        return
    try:
        for table in arrays.read(path).tables:
            assert table.read().shape == (table.rows, table.dim)
            assert table.labels is None or len(table.labels) == table.rows
    except ExplorerError:
        pass
