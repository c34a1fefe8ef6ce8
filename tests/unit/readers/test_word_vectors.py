"""Word vectors as text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.core.table import OpenedFile, Role
from explorer.readers import word_vectors
from explorer.readers.vector_blocks import BLOCK, parse_block
from explorer.readers.vector_lines import LineShape, detect_shape, split_line


def opened(tmp_path: Path, text: str | bytes, name: str = "vectors.txt") -> OpenedFile:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert word_vectors.sniff(path, path.read_bytes()[:4096])
    return word_vectors.read(path)


def names_and_rows(file: OpenedFile) -> tuple[list[str], list[list[float]]]:
    (table,) = file.tables
    vectors = table.read()
    assert vectors.shape == (table.rows, table.dim)
    assert vectors.dtype == np.float32
    assert table.labels is not None
    assert len(table.labels) == table.rows
    return list(table.labels), [[float(f"{value:.7g}") for value in row] for row in vectors.tolist()]


def test_that_glove_without_a_header_has_its_dim_and_rows(tmp_path):
    file = opened(tmp_path, "the 0.1 -0.2 0.3\nking 1 2e-1 -.5\n2 +1 0 1E2\n")
    assert names_and_rows(file) == (["the", "king", "2"], [[0.1, -0.2, 0.3], [1, 0.2, -0.5], [1, 0, 100]])
    assert file.tables[0].role is Role.TOKEN
    assert file.tables[0].dtype == "float32"
    assert not file.notes


def test_that_a_header_is_told_from_a_row(tmp_path):
    file = opened(tmp_path, "2 3\nthe 0.1 -0.2 0.3\n2 1 2 3\n")
    assert names_and_rows(file) == (["the", "2"], [[0.1, -0.2, 0.3], [1, 2, 3]])
    assert not file.notes


def test_that_a_row_named_by_a_number_is_no_header(tmp_path):
    assert names_and_rows(opened(tmp_path, "2 0.1 0.2\n3 0.3 0.4\nx 1 2\n"))[0] == ["2", "3", "x"]


@pytest.mark.parametrize("header", ["", "6 3\n"])
def test_that_a_token_may_hold_spaces(tmp_path, header):
    tokens = [". . .", "at name@domain.com", "my name", "king", "web 2.0", "route 66"]
    text = header + "".join(f"{token} 0.125 -0.250 {row}.375\n" for row, token in enumerate(tokens))
    labels, rows = names_and_rows(opened(tmp_path, text))
    assert labels == tokens
    assert rows == [[0.125, -0.25, row + 0.375] for row in range(6)]


def test_that_a_file_of_phrases_only_has_the_right_dim(tmp_path):
    labels, rows = names_and_rows(opened(tmp_path, "my name 0.1 0.2\nat the end 0.3 0.4\nno it is 0.5 0.6\n"))
    assert labels == ["my name", "at the end", "no it is"]
    assert rows == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]


def test_that_only_ascii_space_and_tab_part_fields(tmp_path):
    tokens = [
        "a\u00a0b",
        "\u00a0",
        "\u3000x",
        "y\u2003",
        "\u2028",
        "\u0085z",
        "v\x0bw",
        "f\x0c",
        "\x1cg",
        "\u200b",
    ]
    text = "".join(f"{token} 0.5 {row}.25\n" for row, token in enumerate(tokens))
    assert names_and_rows(opened(tmp_path, text)) == (tokens, [[0.5, row + 0.25] for row in range(10)])


def test_that_a_blank_or_empty_token_keeps_its_row(tmp_path):
    labels, rows = names_and_rows(opened(tmp_path, "a 1 2\n 3 4\n  5 6\nb 7 8\n"))
    assert rows == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert labels == ["a", "", " ", "b"]


@pytest.mark.parametrize(("promised", "note"), [(9, "promises 9 rows"), (1, "promises 1 rows")])
def test_that_a_wrong_header_loses_no_row_and_is_told(tmp_path, promised, note):
    file = opened(tmp_path, f"{promised} 2\na 0.1 0.2\nb 0.3 0.4\nc 0.5 0.6\n")
    assert names_and_rows(file) == (["a", "b", "c"], [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    assert len(file.notes) == 1
    assert note in file.notes[0]
    assert "holds 3" in file.notes[0]


def test_that_a_repeated_token_keeps_both_rows(tmp_path):
    assert names_and_rows(opened(tmp_path, "a 1 2\nb 3 4\na 5 6\n")) == (
        ["a", "b", "a"],
        [[1, 2], [3, 4], [5, 6]],
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "\t\r\n"])
@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("last", [True, False])
def test_that_line_ends_tabs_and_byte_order_mark_leave_no_trace(tmp_path, end, separator, bom, header, last):
    lines = [["first", "0.1", "0.2", "-3"], ["mid", "0.3", "0.4", "0"], ["last", "0.5", "0.6", "7"]]
    text = bom + end.join(separator.join(line) for line in ([["3", "3"]] if header else []) + lines)
    labels, rows = names_and_rows(opened(tmp_path, text + (end if last else "")))
    assert labels == ["first", "mid", "last"]
    assert rows == [[0.1, 0.2, -3], [0.3, 0.4, 0], [0.5, 0.6, 7]]


def test_that_blank_lines_are_no_rows(tmp_path):
    assert names_and_rows(opened(tmp_path, "a 1 2\n\n \nb 3 4\n\r\n"))[0] == ["a", "b"]


def test_that_runs_of_blanks_part_fields_once(tmp_path):
    labels, rows = names_and_rows(opened(tmp_path, "a   1  2\nmy  name \t 3 4\nb 5 6\n"))
    assert labels == ["a", "my  name", "b"]
    assert rows == [[1, 2], [3, 4], [5, 6]]


def test_that_not_a_number_and_infinite_are_numbers_and_words(tmp_path):
    labels, rows = names_and_rows(opened(tmp_path, "nan 0.5 nan 1\ninf -inf 0.25 Infinity\nx 1 2 3\n"))
    assert labels == ["nan", "inf", "x"]
    np.testing.assert_array_equal(rows, [[0.5, np.nan, 1], [-np.inf, 0.25, np.inf], [1, 2, 3]])


@pytest.mark.parametrize(
    ("text", "line", "also"),
    [
        ("a 0,1 0,2\nb 0,3 0,4\n", 1, "comma"),
        ("2 2\na 0,1 0,2\nb 0,3 0,4\n", 2, "comma"),
        ("a 0.1 0.2\nb 0.3 0.4\nc 0.3 0,4\nd 1 2\n", 3, "comma"),
        ("a 0.1 0.2 0.3\nb 0.1 0.2\nc 1 2 3\n", 2, "2 numbers where the other lines have 3"),
        ("a 0.1 0.2 0.3\nb 0.1 0.2 0.3 0.4\nc 1 2 3\n", 2, "4 numbers where the other lines have 3"),
        ("a 1 2 3\nb 4 5 6 7\nc 8 9 1\n", 2, "4 numbers where the other lines have 3"),
        ("a 0.1 0.2 0.3\n0.4 0.5 0.6\nc 1 2 3\n", 2, "2 numbers where the other lines have 3"),
        ("\n\na 0.1 0.2\nb 0.1 oops\nc 1 2\n", 4, "oops"),
        ("a 0.125 -0.5!0.2\nb 1 2 3\nc 4 5 6\n", 1, "2 numbers where the other lines have 3"),
        ("a 0.1 0.2\nb 1_0 2\nc 1 2\n", 2, "1_0"),
        ("a 0.1 0.2\nb 0x10 2\nc 1 2\n", 2, "0x10"),
        ("3 4\na 0.1 0.2 0.3\nb 0.1 0.2 0.5\n", 1, "line 2 has 3"),
    ],
)
def test_that_a_line_which_does_not_fit_is_named(tmp_path, text, line, also):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    assert word_vectors.sniff(path, path.read_bytes())
    with pytest.raises(ExplorerError, match=f"Line {line} ") as caught:
        word_vectors.read(path)
    assert also in str(caught.value)


def test_that_a_bad_line_far_into_a_file_is_named(tmp_path):
    lines = [f"w{row} {row}.5 0.25\n" for row in range(150_000)]
    lines[123_456] = "w 0.5\n"
    path = tmp_path / "long.txt"
    path.write_text("150000 2\n" + "".join(lines))
    assert path.stat().st_size > 4 * BLOCK
    with pytest.raises(ExplorerError, match=r"Line 123458 of long\.txt has 1 numbers"):
        word_vectors.read(path)


def test_that_labels_and_rows_stay_together_across_read_buffers(tmp_path):
    rows = 60_000
    tokens = [
        "é日🙂"[row % 3] * (row % 50) + f"_{row}" + (" x" if row % 997 == 0 else "") for row in range(rows)
    ]
    path = tmp_path / "long.txt"
    path.write_text("".join(f"{token} {row}.5 -0.125 0.250\n" for row, token in enumerate(tokens)))
    assert path.stat().st_size > 4 * BLOCK
    (table,) = word_vectors.read(path).tables
    assert list(table.labels) == tokens
    np.testing.assert_array_equal(table.read()[:, 0], np.arange(rows) + 0.5)


@pytest.mark.parametrize("header", ["", "7 2\n", "90000000 2\n"])
def test_that_rows_of_any_length_find_room(tmp_path, header):
    # Long lines first: the first block tells of far fewer rows than there are.
    names = ["x" * 400 if row < 5_000 else "y" for row in range(400_000)]
    path = tmp_path / "uneven.txt"
    path.write_text(header + "".join(f"{name} {row} 0.5\n" for row, name in enumerate(names)))
    (table,) = word_vectors.read(path).tables
    np.testing.assert_array_equal(table.read()[:, 0], np.arange(400_000))
    assert table.labels.count == 400_000


def test_that_bytes_which_are_not_utf8_are_escaped_and_kept_apart(tmp_path):
    labels, _ = names_and_rows(
        opened(tmp_path, b"caf\xe9 1 2\ncaf\xe8 3 4\n\xc3 5 6\n\xa9 7 8\nna\xc3\xafve 9 1\n")
    )
    assert labels == ["caf\\xe9", "caf\\xe8", "\\xc3", "\\xa9", "naïve"]


def test_that_one_row_opens(tmp_path):
    assert names_and_rows(opened(tmp_path, "king 0.5 0.25")) == (["king"], [[0.5, 0.25]])
    assert names_and_rows(opened(tmp_path, "1 1\nking 0.5\n")) == (["king"], [[0.5]])


def test_that_a_text_of_numbers_alone_has_no_labels(tmp_path):
    (table,) = opened(tmp_path, "0.5 1 2\n-0.25 3 4\n").tables
    assert table.labels is None
    assert table.read().tolist() == [[0.5, 1, 2], [-0.25, 3, 4]]


def test_that_node_numbers_are_labels(tmp_path):
    assert names_and_rows(opened(tmp_path, "3 2\n7 0.5 1\n12 2 3\n0 4 5\n"))[0] == ["7", "12", "0"]


def test_that_special_tokens_are_marked(tmp_path):
    (table,) = opened(tmp_path, "</s> 1 2\nking 3 4\n<unk> 5 6\npad 7 8\n<b> 1 1\n").tables
    assert table.labels.special.tolist() == [0, 2]


@pytest.mark.parametrize(
    "text", ["", "hello world\n", "a,b,c\n1,2,3\n", "the 12345\nof 999\n", "3 4\nhello you\n"]
)
def test_that_other_text_is_left_to_others(tmp_path, text):
    path = tmp_path / "other.txt"
    path.write_text(text)
    assert not word_vectors.sniff(path, text.encode())


def test_that_a_line_of_column_names_is_no_row(tmp_path):
    assert names_and_rows(opened(tmp_path, "word d0 d1\nking 1 2\nman 3 4\n")) == (
        ["king", "man"],
        [[1, 2], [3, 4]],
    )


@pytest.mark.parametrize(
    "text", ["word\td0\td1\nking\t1\t2\n", "king\tnoun\t1.5\t2\nrun\tverb\t3.5\t4\n", "w\tn\td\ne\na\t3\t1\n"]
)
def test_that_columns_parted_by_tabs_are_left_to_the_reader_of_columns(tmp_path, text):
    path = tmp_path / "columns.tsv"
    path.write_text(text)
    assert not word_vectors.sniff(path, text.encode())


@pytest.mark.parametrize("header", ["", "3 2\r"])
def test_that_carriage_returns_alone_are_told_as_what_they_are(tmp_path, header):
    with pytest.raises(ExplorerError, match="carriage returns alone"):
        opened(tmp_path, header + "king 0.5 1\rman 2 3\rqueen 4 5\r")
    (tmp_path / "prose.txt").write_bytes(b"Some words.\rMore of them.\r")
    assert not word_vectors.sniff(tmp_path / "prose.txt", b"Some words.\rMore of them.\r")


def test_that_a_header_with_no_row_says_so(tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("400000 300\n")
    with pytest.raises(ExplorerError, match="promises 400000 rows of 300 numbers, but none follows"):
        word_vectors.read(path)


@pytest.mark.parametrize(
    "name", ["lee_fasttext.vec", "toy-model.vec", "EN.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt"]
)
def test_that_real_files_read_as_gensim_reads_them(name):
    path = Path(datapath(name))
    theirs = KeyedVectors.load_word2vec_format(str(path), unicode_errors="backslashreplace")
    (table,) = word_vectors.read(path).tables
    assert list(table.labels) == theirs.index_to_key
    np.testing.assert_array_equal(table.read(), theirs.vectors)


def test_that_glove_as_stanford_writes_it_opens():
    path = Path(datapath("test_glove.txt"))
    lines = [line.split(" ") for line in path.read_text("utf-8").splitlines()]
    (table,) = word_vectors.read(path).tables
    assert list(table.labels) == [line[0] for line in lines]
    np.testing.assert_array_equal(table.read(), np.array([line[1:] for line in lines], np.float32))


def test_that_a_real_file_whose_header_overcounts_keeps_its_rows():
    file = word_vectors.read(Path(datapath("pretrained.vec")))  # gensim gives up here
    assert (file.tables[0].rows, file.tables[0].dim) == (1, 5)
    assert "promises 3 rows; the file holds 1" in file.notes[0]


@given(
    st.lists(
        st.floats(width=32) | st.floats(-3e38, 3e38) | st.integers(-(10**25), 10**25), min_size=3, max_size=3
    )
)
def test_that_every_number_reads_as_the_nearest_float32(values):
    line = "w " + " ".join(map(repr, values)) + "\n"
    shape = LineShape(3, True, None, 0, 1, 3)
    read = parse_block(line.encode(), shape, 1, "x").vectors[0]
    right = np.array(values, np.float64).astype(np.float32)
    # Arrow rounds once, straight to float32, Python twice: in rare ties they differ by the last bit.
    with np.errstate(over="ignore"):  # past the largest float32 comes infinity
        up, down = (np.nextafter(right, np.float32(way)) for way in (np.inf, -np.inf))
    assert ((read == right) | (read == up) | (read == down) | (np.isnan(read) & np.isnan(right))).all()


TOKENS = st.text(
    st.characters(codec="utf-8", exclude_characters="\n\r\t ", exclude_categories=("Cs",)), min_size=1
)
NUMBERS = st.floats(-1e6, 1e6, width=32)


@given(
    st.lists(st.tuples(TOKENS, st.lists(NUMBERS, min_size=3, max_size=3)), min_size=1, max_size=8),
    st.sampled_from([" ", "\t"]),
    st.sampled_from(["\n", "\r\n", " \n"]),
)
def test_that_what_was_written_is_read_by_block_and_by_line_alike(rows, separator, end):
    shape = LineShape(3, True, None, 0, 1, 3)
    lines = [separator.join([token, *map(repr, numbers)]) for token, numbers in rows]
    block = parse_block("".join(line + end for line in lines).encode(), shape, 1, "x")
    expected = np.array([numbers for _, numbers in rows], np.float32)
    np.testing.assert_array_equal(block.vectors, expected)
    assert block.labels.decode() == "".join(token for token, _ in rows)
    assert block.sizes.tolist() == [len(token.encode()) for token, _ in rows]
    for line, (token, numbers) in zip(lines, rows, strict=True):
        assert split_line(line.encode(), shape, 1, "x") == (token.encode(), numbers)


GOOD = "".join(
    f"{word} {row}.125 -0.500 {row * 7}.062\n" for row, word in enumerate(["a", "né", "c d", "日本", "e"] * 4)
).encode()
GOOD_LINES = {line.strip() for line in GOOD.splitlines()}


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["cut", "flip", "splice", "drop"]),
    st.integers(0, len(GOOD) - 1),
    st.integers(0, len(GOOD) - 1),
    st.integers(0, 7),
)
def test_that_a_damaged_file_is_refused_or_keeps_its_sound_rows(tmp_path_factory, kind, first, second, bit):
    low, high = sorted((first, second))
    flipped = bytearray(GOOD)
    flipped[first] ^= 1 << bit
    damaged = {
        "cut": GOOD[:first],
        "flip": bytes(flipped),
        "splice": GOOD[:low] + GOOD[high:] + GOOD[low:high],
        "drop": GOOD[:low] + GOOD[high:],
    }[kind]
    path = tmp_path_factory.getbasetemp() / "damaged.txt"
    path.write_bytes(damaged)
    if not word_vectors.sniff(path, damaged[:4096]):
        return
    try:
        (table,) = word_vectors.read(path).tables
    except ExplorerError:
        return
    lines = [line for line in damaged.split(b"\n") if line.strip()]
    assert len(lines) == table.rows
    if table.labels is None:  # nothing but numbers is left
        return
    for line, label, vector in zip(lines, table.labels, table.read(), strict=True):
        if line in GOOD_LINES:
            assert label.encode() == line.rsplit(b" ", 3)[0]
            assert vector.tolist() == [float(np.float32(field)) for field in line.rsplit(b" ", 3)[1:]]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300) | st.text("0123456789. ,-e\n\tab", max_size=300).map(str.encode))
def test_that_no_bytes_bring_it_down(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(data)
    if word_vectors.sniff(path, data):
        try:
            (table,) = word_vectors.read(path).tables
        except ExplorerError:
            return
        assert table.read().shape == (table.rows, table.dim)
        assert table.labels is None or len(table.labels) == table.rows


def test_that_a_flood_of_blank_lines_takes_no_memory(tmp_path):
    path = tmp_path / "blank.txt"
    path.write_bytes(b"w " + b"1 " * 50_000 + b"\n" * 3_000_000)
    (table,) = word_vectors.read(path).tables
    assert (table.rows, table.dim) == (1, 50_000)


def test_that_a_shape_is_found_among_numeric_words():
    shape = detect_shape(b"1 0.5 0.5\nroute 66 0.5 0.5\nin 1984 0.25 0.5\nx 0.5 0.5\n2 0.5 0.5\n", "x")
    assert shape is not None
    assert shape.dim == 2
