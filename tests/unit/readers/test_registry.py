"""Files are known by what they hold; what holds no table says what it is."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.readers import open_file

ROWS = torch.arange(240, dtype=torch.float32).reshape(60, 4)


def zipped(**entries: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


def tarred(*names: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name))
    return buffer.getvalue()


def hdf5() -> bytes:
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file["X"] = np.ones((3, 2))
    return buffer.getvalue()


REFUSED = {
    "empty": (b"", "m is empty"),
    "zeros": (bytes(5000), "nothing but zeros"),
    "git lfs": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n",
        "m is a Git LFS pointer.*git lfs pull",
    ),
    "html": (b"\n<!DOCTYPE html>\n<html><head></head></html>", "m is a web page"),
    "html without doctype": (b"<html>Not found</html>", "m is a web page"),
    "xml": (b"<?xml version='1.0'?><Error/>", "m is a web page"),
    "json": (b'{"error": "Repository not found"}', "m is JSON, but holds no vectors"),
    "gguf": (b"GGUF\3\0\0\0" + bytes(100), "m is a GGUF model.*does not read"),
    "hdf5": (hdf5(), "m is an HDF5 file.*does not read"),
    "fasttext": (b"\xba\x16\x4f\x2f\x0c\0\0\0" + bytes(100), r"m is a fastText model.*\.vec"),
    "onnx": (b"\x08\x08\x12\x07pytorch\x1a\x052.1.0" + bytes(100), "m is an ONNX model"),
    "tensorflow lite": (b"\x1c\0\0\0TFL3" + bytes(100), "m is a TensorFlow Lite model"),
    "tensorflow index": (
        bytes(range(100)) + b"\x57\xfb\x80\x8b\x24\x75\x47\xdb",
        "TensorFlow checkpoint's index",
    ),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "m is a picture"),
    "gzip": (b"\x1f\x8b\x08" + bytes(100), "m is packed.*Unpack it"),
    "tar": (tarred("a", "b"), "m is a tar archive"),
    "old torch": (tarred("sys_info", "pickle", "storages", "tensors"), "PyTorch of before 2017"),
    "zip": (zipped(a=b"1", b=b"2"), "m is a zip archive, but no checkpoint"),
    "empty zip": (zipped(), "m is a zip archive, but no checkpoint"),
    "office": (zipped(**{"[Content_Types].xml": b"", "xl__sheet.xml": b""}), "m is an office document"),
    "cut zip": (zipped(archive__data_pkl=bytes(5000))[:3000], "m is cut off or damaged"),
    "exported program": (
        zipped(m__serialized_exported_program_json=b""),
        "m is a zip archive|PyTorch program",
    ),
    "noise": (bytes(range(128, 256)) * 20, "m is of no kind"),
    "truncated pickle": (b"\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94", "m is damaged"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_that_each_file_without_a_table_says_what_it_is(tmp_path: Path, kind: str) -> None:
    content, message = REFUSED[kind]
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ExplorerError, match=message):
        open_file(tmp_path / "m")


@pytest.mark.parametrize(
    "name", ["x.txt", "x.csv", "x.npy", "x.safetensors", "x.kv", "x", "x.gguf", "x.h5ad"]
)
def test_that_a_checkpoint_opens_under_any_name(tmp_path: Path, name: str) -> None:
    torch.save({"wte.weight": ROWS}, tmp_path / name)
    np.testing.assert_array_equal(open_file(tmp_path / name).tables[0].read(), ROWS.numpy())


def test_that_a_path_may_be_text(tmp_path: Path) -> None:
    torch.save({"wte.weight": ROWS}, tmp_path / "m.pth")
    assert open_file(str(tmp_path / "m.pth")).path == tmp_path / "m.pth"


def test_that_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match=r"There is no file .*nothing\.pth"):
        open_file(tmp_path / "nothing.pth")
    with pytest.raises(ExplorerError, match="There is no file"):
        open_file("a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are made on POSIX systems")
def test_that_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ExplorerError, match="neither a file nor a folder"):
        open_file(tmp_path / "pipe")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_that_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    torch.save({"wte.weight": ROWS}, tmp_path / "m.pth")
    (tmp_path / "m.pth").chmod(0)
    with pytest.raises(ExplorerError, match=r"m\.pth cannot be read"):
        open_file(tmp_path / "m.pth")


def test_that_an_empty_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match="is empty"):
        open_file(tmp_path)


def test_that_the_one_checkpoint_of_a_folder_opens_with_its_vocabulary(tmp_path: Path) -> None:
    torch.save({"embedding.weight": ROWS}, tmp_path / "wordLSTM.pth")
    (tmp_path / "word_to_int.p").write_bytes(pickle.dumps({f"w{i}": i for i in range(60)}))
    (tmp_path / "notes.txt").write_text("my model\n")
    opened = open_file(tmp_path)
    assert opened.tables[0].labels[59] == "w59"


def test_that_several_checkpoints_in_a_folder_are_named(tmp_path: Path) -> None:
    for epoch in (10, 20):
        torch.save({"wte.weight": ROWS}, tmp_path / f"GPTe{epoch}.pth")
    with pytest.raises(ExplorerError, match=r"2 files that can be opened: GPTe10\.pth, GPTe20\.pth"):
        open_file(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        '{"the": 0, "of": 1, "and": 2, "to": 3}',
        '["the", "of", "and", "to"]',
        "[PAD]\n[UNK]\nthe\nof\n",
        '{"model": {"type": "WordLevel", "vocab": {"the": 0, "of": 1, "and": 2, "to": 3}}}',
    ],
)
def test_that_a_vocabulary_opened_as_a_table_is_told_for_what_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "names").write_text(text)
    with pytest.raises(ExplorerError, match=r"names holds names but no vectors.*labels"):
        open_file(tmp_path / "names")


def test_that_other_json_is_no_vocabulary(tmp_path: Path) -> None:
    settings = '{"model_type": "bert", "architectures": ["BertModel"], "vocab_size": 30522, "layers": [1, 2]}'
    (tmp_path / "config.json").write_text(settings)
    with pytest.raises(ExplorerError, match="is JSON, but holds no vectors"):
        open_file(tmp_path / "config.json")


def test_that_a_vocabulary_opened_as_a_table_says_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "dict.p").write_bytes(pickle.dumps({f"w{i}": i for i in range(60)}))
    with pytest.raises(ExplorerError, match=r"dict\.p holds names but no vectors.*labels"):
        open_file(tmp_path / "dict.p")


@given(content=st.binary(max_size=300) | st.text(max_size=100).map(str.encode))
def test_that_any_small_file_is_opened_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    try:
        tables = open_file(path).tables
    except ExplorerError as error:
        tables, said = (), error.message
    assert tables or said.endswith((".", "”"))
