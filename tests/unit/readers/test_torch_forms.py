"""Forms that PyTorch no longer writes, or writes elsewhere: old views, other byte orders, plain pickles."""

from __future__ import annotations

import io
import pickle
import struct
import time
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import torch
from machine import slowness
from pickle_assembly import LEGACY_HEAD, as_zip, checkpoint, name, number, tensor, text

from explorer.core.dtypes import as_float32
from explorer.core.errors import ExplorerError
from explorer.readers import open_file

VALUES = np.arange(24, dtype=np.float32)


def legacy_tensor(
    view: bytes, storage: str = "FloatStorage", elements: int = 24, shape: tuple = (4, 3)
) -> bytes:
    """A tensor whose storage is a view of another, as PyTorch before 0.4 pickled it."""
    pid = (
        b"("
        + text("storage")
        + name("torch", storage)
        + text("k")
        + text("cpu")
        + number(elements)
        + view
        + b"tQ"
    )
    sizes = b"K%cK%c\x86K%cK\x01\x86" % (shape[0], shape[1], shape[1])
    rest = b"\x89" + name("collections", "OrderedDict") + b")R"
    return name("torch._utils", "_rebuild_tensor_v2") + b"(" + pid + b"K\x00" + sizes + rest + b"tR"


def legacy_file(
    entries: dict[str, bytes], data: bytes, elements: int, head: bytes = LEGACY_HEAD, order: str = "<"
) -> bytes:
    keys = pickle.dumps(["k"], protocol=2)
    return head + checkpoint(entries) + keys + struct.pack(f"{order}q", elements) + data


def test_that_an_old_view_reads_its_own_part_of_a_storage(tmp_path: Path) -> None:
    view = b"(" + text("v") + number(6) + number(12) + b"t"
    entries = {"embedding.weight": legacy_tensor(view), "wpe.weight": legacy_tensor(b"N", shape=(8, 3))}
    (tmp_path / "old.pt").write_bytes(legacy_file(entries, VALUES.tobytes(), 24))
    token, position = open_file(tmp_path / "old.pt").tables
    np.testing.assert_array_equal(token.read(), VALUES[6:18].reshape(4, 3))
    np.testing.assert_array_equal(position.read(), VALUES.reshape(8, 3))


@pytest.mark.parametrize("view", [(20, 12), (-1, 4), (0, 25), (1 << 62, 4)])
def test_that_a_view_beyond_its_storage_is_refused(tmp_path: Path, view: tuple[int, int]) -> None:
    part = b"(" + text("v") + number(view[0]) + number(view[1]) + b"t"
    data = legacy_file({"embedding.weight": legacy_tensor(part)}, VALUES.tobytes(), 24)
    (tmp_path / "old.pt").write_bytes(data)
    with pytest.raises(ExplorerError, match="cut off or damaged"):
        open_file(tmp_path / "old.pt")


@pytest.mark.parametrize("storage", ["FloatStorage", "DoubleStorage", "HalfStorage", "BFloat16Storage"])
def test_that_files_of_machines_with_the_other_byte_order_read_right(tmp_path: Path, storage: str) -> None:
    dtype = np.dtype({"F": np.float32, "D": np.float64, "H": np.float16, "B": ml_dtypes.bfloat16}[storage[0]])
    values = VALUES.astype(dtype)
    swapped = values.view(f"u{dtype.itemsize}").byteswap().tobytes()
    facts = {"protocol_version": 1001, "little_endian": False}
    head = b"".join(pickle.dumps(part, protocol=2) for part in (0x1950A86A20F9469CFC6C, 1001, facts))
    entries = {"embedding.weight": legacy_tensor(b"N", storage, shape=(8, 3))}
    (tmp_path / "big.pt").write_bytes(legacy_file(entries, swapped, 24, head, ">"))
    data = checkpoint({"embedding.weight": tensor(storage, "0", 24, (8, 3), (3, 1))})
    (tmp_path / "zip.pt").write_bytes(as_zip(data, {"data/0": swapped, "byteorder": b"big"}))
    for path in (tmp_path / "big.pt", tmp_path / "zip.pt"):
        (table,) = open_file(path).tables
        found = table.read()
        assert found.dtype == dtype
        assert found.dtype.isnative
        np.testing.assert_array_equal(as_float32(found), VALUES.reshape(8, 3))


def test_that_packed_archives_open_wherever_their_folder_lies(tmp_path: Path) -> None:
    """Archives that a person unpacked and packed again."""
    buffer = io.BytesIO()
    torch.save({"embedding.weight": torch.from_numpy(VALUES.reshape(8, 3))}, buffer)
    for folder in ("", "my model/archive/"):
        path = tmp_path / "again.pt"
        with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in old.namelist():
                new.writestr(folder + entry.split("/", 1)[1], old.read(entry))
        np.testing.assert_array_equal(open_file(path).tables[0].read(), VALUES.reshape(8, 3))


def test_that_an_archive_packed_by_another_method_says_so(tmp_path: Path) -> None:
    data = checkpoint({"embedding.weight": tensor("FloatStorage", "0", 24, (8, 3), (3, 1))})
    (tmp_path / "m.pt").write_bytes(as_zip(data, {"data/0": VALUES.tobytes()}, compress=zipfile.ZIP_BZIP2))
    with pytest.raises(ExplorerError, match="method that is not read here"):
        open_file(tmp_path / "m.pt")


def test_that_an_archive_with_two_entries_of_one_name_is_refused(tmp_path: Path) -> None:
    data = checkpoint({"embedding.weight": tensor("FloatStorage", "0", 24, (8, 3), (3, 1))})
    path = tmp_path / "m.pt"
    path.write_bytes(as_zip(data, {"data/0": VALUES.tobytes()}))
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("archive/data/0", bytes(96))
    with pytest.raises(ExplorerError):
        open_file(path)


def test_that_a_missing_storage_is_told(tmp_path: Path) -> None:
    data = checkpoint({"embedding.weight": tensor("FloatStorage", "0", 24, (8, 3), (3, 1))})
    (tmp_path / "m.pt").write_bytes(as_zip(data))
    with pytest.raises(ExplorerError, match=r"m\.pt is damaged"):
        open_file(tmp_path / "m.pt")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_that_plain_pickles_of_arrays_open(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "vectors.pkl"
    path.write_bytes(pickle.dumps(VALUES.reshape(8, 3), protocol))
    np.testing.assert_array_equal(open_file(path).tables[0].read(), VALUES.reshape(8, 3))
    words = [f"w{i}" for i in range(8)]
    path.write_bytes(pickle.dumps(dict(zip(words, VALUES.reshape(8, 3), strict=True)), protocol))
    (table,) = open_file(path).tables
    assert list(table.labels) == words
    np.testing.assert_array_equal(table.read(), VALUES.reshape(8, 3))
    path.write_bytes(pickle.dumps((words, VALUES.reshape(8, 3)), protocol))
    assert list(open_file(path).tables[0].labels) == words


@pytest.mark.parametrize("protocol", range(1, pickle.HIGHEST_PROTOCOL + 1))
def test_that_plain_pickles_of_tensors_open(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "tensors.pkl"
    weights = torch.from_numpy(VALUES.reshape(8, 3))
    path.write_bytes(pickle.dumps({"embedding.weight": weights, "turned": weights.t()}, protocol))
    tables = {table.name: table.read() for table in open_file(path).tables}
    np.testing.assert_array_equal(tables["embedding.weight"], VALUES.reshape(8, 3))


def test_that_many_thousand_named_vectors_open_in_seconds(tmp_path: Path) -> None:
    words = {f"w{i}": torch.full((8,), float(i)) for i in range(20_000)}
    torch.save(words, tmp_path / "vectors.pt")
    started = time.process_time()
    (table,) = open_file(tmp_path / "vectors.pt").tables
    found = table.read()
    assert time.process_time() - started < 20 * slowness()
    assert table.rows == 20_000
    np.testing.assert_array_equal(found[:, 3], np.arange(20_000))


def test_that_a_list_of_many_tensors_is_looked_through_in_seconds(tmp_path: Path) -> None:
    shared = tensor("FloatStorage", "0", 24, (8, 3), (3, 1))
    entries = {f"layers.{i}.attention.embed.weight": shared for i in range(20_000)}
    (tmp_path / "many.pt").write_bytes(as_zip(checkpoint(entries), {"data/0": VALUES.tobytes()}))
    started = time.process_time()
    (table,) = open_file(tmp_path / "many.pt").tables
    assert time.process_time() - started < 20 * slowness()
    assert len(table.aliases) == 19_999
