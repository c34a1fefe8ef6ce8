"""word2vec's binary form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.readers import open_file, word2vec_binary, word_vectors

RNG = np.random.default_rng(3)
DIM = 20


def binary(
    names: list[bytes],
    vectors: np.ndarray,
    *,
    newline: bytes = b"",
    promised: int | None = None,
    last: bool = True,
) -> bytes:
    records = [
        name + b" " + row.astype("<f4").tobytes() + newline for name, row in zip(names, vectors, strict=True)
    ]
    data = b"".join(records)
    return b"%d %d\n" % (promised or len(names), vectors.shape[1]) + (
        data if last else data.removesuffix(newline)
    )


def vectors(rows: int) -> np.ndarray:
    return RNG.normal(size=(rows, DIM)).astype(np.float32)


def opened(tmp_path: Path, data: bytes):
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    assert word2vec_binary.sniff(path, data[:4096])
    return word2vec_binary.read(path)


@pytest.mark.parametrize(("newline", "last"), [(b"\n", True), (b"\n", False), (b"", True)])
@pytest.mark.parametrize("rows", [1, 2, 500])
def test_that_records_with_and_without_newlines_lose_no_letter(tmp_path, newline, last, rows):
    names = [b"n%d" % row for row in range(rows)]
    values = vectors(rows)
    (table,) = opened(tmp_path, binary(names, values, newline=newline, last=last)).tables
    assert list(table.labels) == [name.decode() for name in names]
    np.testing.assert_array_equal(table.read(), values)


def test_that_a_name_may_begin_with_a_newline(tmp_path):
    values = vectors(4)
    (table,) = opened(tmp_path, binary([b"a", b"\nb", b"c", b"d"], values)).tables
    assert list(table.labels) == ["a", "\nb", "c", "d"]
    np.testing.assert_array_equal(table.read(), values)


def test_that_a_cut_character_is_escaped_and_its_name_stays_its_own(tmp_path):
    names = ["é".encode()[:1], "è".encode()[:1] + b"x", b"caf\xc3", b"caf", b"caf\xc3\xa9", b"caf\xe9"]
    (table,) = opened(tmp_path, binary(names, vectors(6), newline=b"\n")).tables
    labels = list(table.labels)
    assert labels == ["\\xc3", "\\xc3x", "caf\\xc3", "caf", "café", "caf\\xe9"]
    assert len(set(labels)) == 6


def test_that_a_name_cut_inside_a_character_does_not_join_the_next(tmp_path):
    (table,) = opened(tmp_path, binary([b"a\xc3", b"\xa9b"], vectors(2))).tables
    assert list(table.labels) == ["a\\xc3", "\\xa9b"]


def test_that_a_header_which_promises_more_loses_no_row(tmp_path):
    values = vectors(3)
    file = opened(tmp_path, binary([b"a", b"b", b"c"], values, newline=b"\n", promised=7))
    np.testing.assert_array_equal(file.tables[0].read(), values)
    assert "promises 7 rows; the file holds 3" in file.notes[0]


def test_that_a_header_which_promises_fewer_loses_no_row(tmp_path):
    file = opened(tmp_path, binary([b"a", b"b", b"c"], vectors(3), promised=2))
    assert list(file.tables[0].labels) == ["a", "b", "c"]
    assert "promises 2 rows; the file holds 3" in file.notes[0]


@pytest.mark.parametrize("newline", [b"\n", b""])
def test_that_a_cut_file_is_refused(tmp_path, newline):
    data = binary([b"a", b"b", b"c"], vectors(3), newline=newline)
    path = tmp_path / "cut.bin"
    path.write_bytes(data[:-9])
    with pytest.raises(ExplorerError, match=r"Row 2 of cut\.bin is not complete"):
        word2vec_binary.read(path)


def test_that_a_fasttext_binary_is_called_by_its_name():
    with pytest.raises(ExplorerError, match=r"is a fastText model .* \.vec file"):
        open_file(datapath("lee_fasttext_new.bin"))


def test_that_a_gensim_pickle_named_bin_opens_as_what_it_is(tmp_path):
    vectors_ = KeyedVectors(4)
    vectors_.add_vectors(["a", "b"], np.eye(2, 4, dtype=np.float32))
    vectors_.save(str(tmp_path / "vectors.bin"))
    file = open_file(tmp_path / "vectors.bin")
    assert "gensim" in file.format
    assert list(file.tables[0].labels) == ["a", "b"]


def test_that_a_real_file_reads_as_gensim_reads_it():
    path = Path(datapath("euclidean_vectors.bin"))
    theirs = KeyedVectors.load_word2vec_format(str(path), binary=True)
    (table,) = word2vec_binary.read(path).tables
    assert list(table.labels) == theirs.index_to_key
    np.testing.assert_array_equal(table.read(), theirs.vectors)


def test_that_text_with_a_header_is_not_taken_for_binary(tmp_path):
    path = tmp_path / "text.vec"
    path.write_text("2 2\na 1 2\nb 3 4\n")
    assert not word2vec_binary.sniff(path, path.read_bytes())


@pytest.mark.parametrize("head", [b"5 1000000000000\n", b"999999999999999999 2\n", b"1 0\n", b"3 3\n\0"])
def test_that_a_header_alone_takes_no_memory(tmp_path, head):
    path = tmp_path / "hostile.bin"
    path.write_bytes(head + b"\0a ")
    with pytest.raises(ExplorerError):
        word2vec_binary.read(path)


def test_that_a_file_changed_after_opening_is_refused(tmp_path):
    data = binary([b"a", b"b"], vectors(2))
    file = opened(tmp_path, data)
    file.path.write_bytes(data[:-1])
    with pytest.raises(ExplorerError, match="has changed"):
        file.tables[0].read()


NAMES = [b"w%d" % row for row in range(9)]
VALUES = vectors(9)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([b"\n", b""]),
    st.sampled_from(["cut", "flip", "drop", "splice"]),
    st.integers(0, 500),
    st.integers(0, 500),
    st.integers(0, 7),
)
def test_that_damage_is_refused_or_shifts_no_row(tmp_path_factory, newline, kind, first, second, bit):
    good = binary(NAMES, VALUES, newline=newline)
    low, high = sorted((first, second))
    flipped = bytearray(good)
    flipped[first] ^= 1 << bit
    damaged = {
        "cut": good[:first],
        "flip": bytes(flipped),
        "drop": good[:low] + good[high:],
        "splice": good[:low] + good[low:high] * 2 + good[high:],
    }[kind]
    path = tmp_path_factory.getbasetemp() / "damaged.bin"
    path.write_bytes(damaged)
    if not word2vec_binary.sniff(path, damaged[:4096]):
        return
    try:
        (table,) = word2vec_binary.read(path).tables
    except ExplorerError:
        return
    by_name = {name.decode(): row.tobytes() for name, row in zip(NAMES, VALUES, strict=True)}
    read = table.read()
    wrong = [
        label
        for label, row in zip(table.labels, read, strict=True)
        if by_name.get(label, row.tobytes()) != row.tobytes()
    ]
    # At most the one row that the damage lies in; a flipped bit in a value cannot be known.
    assert len(wrong) <= 1


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_that_no_bytes_bring_it_down(tmp_path_factory, body):
    path = tmp_path_factory.getbasetemp() / "any.bin"
    path.write_bytes(b"3 2\n" + body)
    if word2vec_binary.sniff(path, path.read_bytes()[:4096]):
        try:
            (table,) = word2vec_binary.read(path).tables
        except ExplorerError:
            return
        assert table.read().shape == (len(table.labels), 2)


def test_that_word_vector_text_leaves_binaries_alone(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(binary([b"a", b"b"], vectors(2)))
    assert not word_vectors.sniff(path, path.read_bytes())
