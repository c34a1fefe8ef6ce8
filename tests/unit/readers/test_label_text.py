"""Texts of labels: their lines meet a table's rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.core.errors import ExplorerError
from explorer.readers.label_text import HeaderUnknownError, LabelText, read_label_text


def text(tmp_path, content: str | bytes, name: str = "labels.txt") -> LabelText:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_label_text(path)


def names(label_text: LabelText, rows: int, header: bool | None = None) -> list[str]:
    labels = label_text.for_rows(rows, header).labels
    assert len(labels) == rows
    return list(labels)


def test_that_a_label_stands_on_each_line(tmp_path):
    labels = text(tmp_path, "a\nné\n日本\n").for_rows(3, None).labels
    assert list(labels) == ["a", "né", "日本"]
    assert labels.source == "labels.txt"
    assert labels.count == 3


def test_that_blank_lines_keep_their_place(tmp_path):
    assert names(text(tmp_path, "\na\n\n\nb\n"), 5) == ["", "a", "", "", "b"]
    assert names(text(tmp_path, "a\n\n"), 2) == ["a", ""]
    assert names(text(tmp_path, "a\n\n\n"), 1) == ["a"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_that_line_ends_and_byte_order_mark_leave_no_trace(tmp_path, end, bom, last):
    assert names(text(tmp_path, bom + f"a{end}{end}b" + end * last), 3) == ["a", "", "b"]
    table = text(tmp_path, bom + f"name\tn{end}a\t1{end}b\t2" + end * last).for_rows(2, None)
    assert list(table.labels) == ["a", "b"]
    assert table.metadata["n"].tolist() == [1, 2]


def test_that_blanks_inside_a_label_are_kept(tmp_path):
    assert names(text(tmp_path, " a \n\u00a0\n\u2028x\n\x0b\n"), 4) == [" a ", "\u00a0", "\u2028x", "\x0b"]


def test_that_bytes_which_are_not_utf8_are_escaped(tmp_path):
    assert names(text(tmp_path, b"caf\xe9\ncaf\xe8\n"), 2) == ["caf\\xe9", "caf\\xe8"]


def test_that_multi_byte_labels_survive_in_their_thousands(tmp_path):
    wanted = ["é日🙂"[i % 3] * (i % 40) for i in range(50_000)]
    assert names(text(tmp_path, "\n".join(wanted) + "\n"), 50_000) == wanted


def test_that_a_vocabulary_with_counts_is_words_and_their_counts(tmp_path):
    counts = [3, 90, 80, 80, 40, 12, 5, 2, 1]
    found = text(tmp_path, "".join(f"w{i} {count}\n" for i, count in enumerate(counts))).for_rows(9, None)
    assert list(found.labels) == [f"w{i}" for i in range(9)]
    assert found.metadata["column 2"].tolist() == counts


@pytest.mark.parametrize(
    "lines",
    [
        [f"class {i}" for i in range(9, 0, -1)],
        [f"w{i} {i}" for i in range(9)],
        [f"w{i} {90 - i}" for i in range(9)] + ["new york 3"],
        ["Boeing 747", "Airbus 380", "Area 51"],
    ],
)
def test_that_names_which_end_in_a_number_stay_whole(tmp_path, lines):
    assert names(text(tmp_path, "\n".join(lines)), len(lines)) == lines


def test_that_word_vectors_give_their_words_and_not_their_numbers(tmp_path):
    rows = ["king 0.5 -1.25 3", "new york 0.1 0.2 0.3", "né 1e-3 2.5 4.0", "cat 0.25 0.5 0.75"]
    for header in ("", "4 3\n"):
        found = text(tmp_path, header + "\n".join(rows) + "\n", "vectors.txt")
        assert names(found, 4) == ["king", "new york", "né", "cat"]
    ranges = [f"bin {i} {i + 1}" for i in range(9)]
    assert names(text(tmp_path, "\n".join(ranges)), 9) == ranges


@pytest.mark.parametrize("lines", [2, 1, 5, 0])
def test_that_a_wrong_count_is_refused_with_both_counts_and_pairs(tmp_path, lines):
    content = "".join(f"word{i}\n" for i in range(lines))
    with pytest.raises(ExplorerError) as caught:
        text(tmp_path, content).for_rows(3, None)
    assert not isinstance(caught.value, HeaderUnknownError)
    assert f"{lines} labels for 3 rows" in str(caught.value)
    if lines:
        assert "row 0 would be “word0”" in str(caught.value)
        assert f"“word{lines - 1}” row {lines - 1}" in str(caught.value)


def test_that_one_line_too_many_is_asked_about_and_can_be_told(tmp_path):
    lines = text(tmp_path, "Label\nking\nqueen\n")
    with pytest.raises(HeaderUnknownError, match="--labels-header yes"):
        lines.for_rows(2, None)
    assert names(lines, 2, header=True) == ["king", "queen"]
    assert names(lines, 3, header=False) == ["Label", "king", "queen"]
    for rows, header in ((2, False), (3, True)):
        with pytest.raises(ExplorerError, match="labels for"):
            lines.for_rows(rows, header)


def test_that_several_columns_with_a_line_too_many_have_a_header(tmp_path):
    table = text(tmp_path, "count\tWord\tkind\n3\tking\tx\n\t\ty\n5\tqueen\t\n").for_rows(3, None)
    assert list(table.labels) == ["king", "", "queen"]
    np.testing.assert_array_equal(table.metadata["count"], [3, np.nan, 5])
    assert table.metadata["kind"].tolist() == ["x", "y", ""]


def test_that_several_columns_without_a_header_are_numbered(tmp_path):
    table = text(tmp_path, "▁the\t-3.5\n▁of\t-4.25\n▁and\t-5\n").for_rows(3, None)
    assert list(table.labels) == ["▁the", "▁of", "▁and"]
    assert table.metadata["column 2"].tolist() == [-3.5, -4.25, -5]


@pytest.mark.parametrize("content", ["Label\tCount\nking\t3\nqueen\t5\n", "wort\tzahl\nking\t3\nqueen\t5\n"])
def test_that_a_header_in_place_of_a_missing_row_is_asked_about(tmp_path, content):
    with pytest.raises(HeaderUnknownError):
        text(tmp_path, content).for_rows(3, None)


def test_that_lines_with_a_row_number_are_joined_by_it(tmp_path):
    assert names(text(tmp_path, "c\t2\na\t0\nb\t1\n"), 3) == ["a", "b", "c"]
    table = text(tmp_path, "id\tword\tn\n2\tc\t30\n0\ta\t10\n1\tb\t20\n").for_rows(3, None)
    assert list(table.labels) == ["a", "b", "c"]
    assert table.metadata["n"].tolist() == [10, 20, 30]


def test_that_counts_are_not_taken_for_row_numbers(tmp_path):
    assert names(text(tmp_path, "the\t70\nof\t20\nand\t20\n"), 3) == ["the", "of", "and"]


def test_that_csv_fields_may_hold_commas_and_line_ends(tmp_path):
    table = text(
        tmp_path, 'image,caption\n1.jpg,"a dog, wet"\n2.jpg,"two\nlines"\n', "captions.csv"
    ).for_rows(2, None)
    assert list(table.labels) == ["1.jpg", "2.jpg"]
    assert table.metadata["caption"].tolist() == ["a dog, wet", "two\nlines"]


@pytest.mark.parametrize("content", [b"\xff\xfea\0b\0", b"a\0b\n"])
def test_that_what_is_no_utf8_text_is_refused(tmp_path, content):
    with pytest.raises(ExplorerError):
        text(tmp_path, content)


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\t", exclude_categories=("Cs",))))
)
def test_that_what_was_written_is_read(tmp_path_factory, labels):
    content = "".join(label + "\n" for label in labels).encode()
    if content.startswith("\ufeff".encode()) or b"\0" in content:
        return
    read = text(tmp_path_factory.getbasetemp(), content)
    assert read.count == len(labels)
    assert names(read, len(labels)) == labels


@given(st.binary(max_size=80), st.integers(0, 6), st.sampled_from([None, True, False]))
def test_that_any_bytes_fit_or_are_refused(tmp_path_factory, content, rows, header):
    try:
        named = text(tmp_path_factory.getbasetemp(), content).for_rows(rows, header)
    except ExplorerError:
        return
    assert len(named.labels) == rows
    assert all(len(column) == rows for column in named.metadata.values())
