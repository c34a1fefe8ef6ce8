"""TensorBoard's projector files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile, Role
from explorer.readers import tensorboard, vocabulary

VECTORS = np.array([[0.5, -1, 2], [3, 4, 5.25], [6, 7, 8]], np.float32)
TENSORS = "".join("\t".join(map(str, row)) + "\n" for row in VECTORS.tolist())


def opened(path: Path, header: bool | None = None) -> OpenedFile:
    head = b"" if path.is_dir() else path.read_bytes()[:4096]
    assert tensorboard.sniff(path, head)
    return vocabulary.attach(tensorboard.read(path), header=header)


def written(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, "utf-8")


def test_that_tensors_find_their_metadata(tmp_path):
    written(tmp_path, tensors__tsv=TENSORS, metadata__tsv="king\n\nqueen\n")
    for path in (tmp_path, tmp_path / "tensors.tsv"):
        (table,) = opened(path).tables
        np.testing.assert_array_equal(table.read(), VECTORS)
        assert list(table.labels) == ["king", "", "queen"]
        assert table.labels.source == "metadata.tsv"
        assert table.role is Role.TOKEN


@pytest.mark.parametrize(
    ("tensors", "metadata"),
    [("vecs.tsv", "meta.tsv"), ("w2v_tensor.tsv", "w2v_metadata.tsv"), ("vectors.tsv", "metadata.tsv")],
)
def test_that_files_named_alike_belong_together(tmp_path, tensors, metadata):
    (tmp_path / tensors).write_text(TENSORS)
    (tmp_path / metadata).write_text("a\nb\nc\n")
    assert list(opened(tmp_path / tensors).tables[0].labels) == ["a", "b", "c"]


def test_that_a_header_of_several_columns_is_no_row(tmp_path):
    written(tmp_path, tensors__tsv=TENSORS, metadata__tsv="count\tname\n1\tking\n2\tman\n3\tqueen\n")
    (table,) = opened(tmp_path).tables
    assert list(table.labels) == ["king", "man", "queen"]
    assert table.metadata["count"].tolist() == [1, 2, 3]


def test_that_a_header_of_one_column_is_asked_about_and_shifts_nothing(tmp_path):
    written(tmp_path, tensors__tsv=TENSORS, metadata__tsv="name\nking\nman\nqueen\n")
    (table,) = opened(tmp_path).tables
    assert table.labels is None
    assert "may be a header or a label" in table.notes[0]
    assert "--labels-header" in table.notes[0]
    assert not opened(tmp_path).notes, "it is said once"
    (table,) = opened(tmp_path, header=True).tables
    assert list(table.labels) == ["king", "man", "queen"]
    assert not table.notes


def test_that_metadata_of_another_length_is_left_out_and_told(tmp_path):
    written(tmp_path, tensors__tsv=TENSORS, metadata__tsv="king\n")
    (table,) = opened(tmp_path).tables
    assert table.labels is None
    assert "1 labels for 3 rows" in table.notes[0]


def test_that_integers_are_numbers_not_names(tmp_path):
    written(tmp_path, tensors__tsv="1\t0.5\n2\t0.25\n", metadata__tsv="a\nb\n")
    assert opened(tmp_path / "tensors.tsv").tables[0].read().tolist() == [[1, 0.5], [2, 0.25]]


def test_that_one_row_and_one_column_open(tmp_path):
    written(tmp_path, tensors__tsv="0.5\n1.5\n")
    assert opened(tmp_path).tables[0].read().tolist() == [[0.5], [1.5]]
    written(tmp_path, tensors__tsv="0.5\t2")
    assert opened(tmp_path).tables[0].read().tolist() == [[0.5, 2]]


CONFIG = """
# as TensorFlow writes it
model_checkpoint_path: "model.ckpt"
embeddings {
  tensor_name: "words:0"
  tensor_path: "words.tsv"
  metadata_path: "./words_meta.tsv"
}
embeddings: <
  tensor_name: 'raw'
  tensor_shape: 3
  tensor_shape: 3
  tensor_path: "sub/raw.bytes"
  sprite { image_path: "sprite.png" single_image_dim: [28, 28] }
>
"""


def test_that_a_configuration_lists_its_embeddings(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "raw.bytes").write_bytes(VECTORS.astype("<f4").tobytes())
    written(tmp_path, projector_config__pbtxt=CONFIG, words__tsv=TENSORS, words_meta__tsv="a\nb\nc\n")
    for path in (tmp_path, tmp_path / "projector_config.pbtxt"):
        words, raw = opened(path).tables
        assert (words.name, raw.name) == ("words:0", "raw")
        assert list(words.labels) == ["a", "b", "c"]
        assert raw.labels is None
        assert raw.role is Role.IMAGES
        np.testing.assert_array_equal(words.read(), VECTORS)
        np.testing.assert_array_equal(raw.read(), VECTORS)


def test_that_a_header_is_told_to_every_table_of_a_configuration(tmp_path):
    config = 'embeddings { tensor_name: "%s" tensor_path: "tensors.tsv" metadata_path: "%s.tsv" }\n'
    written(tmp_path, tensors__tsv=TENSORS, a__tsv="name\n1\n2\n3\n", b__tsv="name\nx\ny\nz\n")
    written(tmp_path, projector_config__pbtxt=config % ("a", "a") + config % ("b", "b"))
    assert [table.labels for table in opened(tmp_path).tables] == [None, None]
    first, second = opened(tmp_path, header=True).tables
    assert (list(first.labels), list(second.labels)) == (["1", "2", "3"], ["x", "y", "z"])


@pytest.mark.parametrize(
    "path",
    ["../secret.tsv", "/etc/hostname", "..\\\\x.tsv", "C:/x.tsv", "//host/share/x.tsv", "gone.tsv"],
)
def test_that_a_configuration_cannot_reach_out_of_its_folder(tmp_path, path):
    folder = tmp_path / "logs"
    folder.mkdir()
    written(tmp_path, secret__tsv=TENSORS)
    written(folder, projector_config__pbtxt=f'embeddings {{ tensor_path: "{path}" }}')
    with pytest.raises(ExplorerError, match="which is not in its folder"):
        tensorboard.read(folder)


def test_that_vectors_in_a_tensorflow_checkpoint_are_said_to_be_there(tmp_path):
    written(tmp_path, projector_config__pbtxt='embeddings { tensor_name: "x" }')
    with pytest.raises(ExplorerError, match="TensorFlow checkpoint"):
        tensorboard.read(tmp_path)


def test_that_raw_values_must_be_as_many_as_promised(tmp_path):
    (tmp_path / "raw.bytes").write_bytes(b"\0" * 35)
    written(
        tmp_path,
        projector_config__pbtxt='embeddings { tensor_path: "raw.bytes" tensor_shape: 3 tensor_shape: 3 }',
    )
    with pytest.raises(ExplorerError, match="35 bytes"):
        tensorboard.read(tmp_path)


def test_that_a_ragged_line_is_named(tmp_path):
    written(tmp_path, tensors__tsv="1.5\t2\n1.5\t2\t3\n2.5\t3\n")
    with pytest.raises(ExplorerError, match=r"Line 2 of tensors\.tsv has 3 numbers"):
        tensorboard.read(tmp_path)


@pytest.mark.parametrize("text", ["king\t0.5\t1\nman\t2\t3\n", "word\tx\ty\na\t1\t2\n", "0.5 1\n2 3\n", ""])
def test_that_named_rows_are_left_to_others(tmp_path, text):
    path = tmp_path / "words.tsv"
    path.write_text(text)
    assert not tensorboard.sniff(path, text.encode())


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["cut", "flip", "drop"]), st.floats(0, 1), st.floats(0, 1), st.integers(0, 7))
def test_that_a_damaged_configuration_is_refused_or_understood(tmp_path_factory, kind, first, second, bit):
    folder = tmp_path_factory.getbasetemp() / "logs"
    folder.mkdir(exist_ok=True)
    written(folder, words__tsv=TENSORS, words_meta__tsv="a\nb\nc\n")
    good = CONFIG[: CONFIG.index("embeddings: <")].encode()
    low, high = sorted((int(first * (len(good) - 1)), int(second * (len(good) - 1))))
    flipped = bytearray(good)
    flipped[low] ^= 1 << bit
    damaged = {"cut": good[:low], "flip": bytes(flipped), "drop": good[:low] + good[high:]}[kind]
    (folder / "projector_config.pbtxt").write_bytes(damaged)
    try:
        (table,) = tensorboard.read(folder).tables
    except ExplorerError:
        return
    np.testing.assert_array_equal(table.read(), VECTORS)
    assert table.labels is None or list(table.labels) == ["a", "b", "c"]
