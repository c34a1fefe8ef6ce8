"""Names of rows as text: one a line, or columns parted by tabs (TensorBoard's ``metadata.tsv``) or commas.

Lines are matched to rows by their place, so the count must be right to the line. Whether the first line is
a header is known from the count where there are several columns; one column with one line too many could
be either, and is never guessed at.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.readers.packed_labels import escape, pack
from explorer.readers.vector_blocks import load_text
from explorer.readers.vector_lines import BOM, detect_shape
from explorer.readers.word_vectors import sample_lines

_LARGEST = 1 << 30
NAMING = ("label", "labels", "word", "words", "token", "tokens", "text", "name", "title", "term", "key")
# Enough lines that counts which never rise are no coincidence.
_COUNTED = re.compile(rb"(?:[^ \n]+ \d+\n){8}")
ROW_KEYS = ("id", "ids", "index", "row", "token_id", "idx")


class HeaderUnknownError(ExplorerError):
    """Whether the first line is a header has to be asked."""


@dataclass(frozen=True, eq=False)
class NamedRows:
    """What a text says of a table's rows, row by row."""

    labels: Labels
    metadata: dict[str, NDArray]


@dataclass(frozen=True, eq=False)
class LabelText:
    """The lines of a text of labels.

    Attributes
    ----------
    name : str
        The file's name.
    count : int
        Lines; blank ones count.
    columns : list of list of str, or None
        Fields of each line where there are several.
    blob, sizes : bytes, int64 array
        The lines, packed, where they are one column.
    trailing : int
        Blank lines at the very end.
    """

    name: str
    count: int
    columns: list[list[str]] | None
    blob: bytes
    sizes: NDArray[np.int64]
    trailing: int

    def fits(self, rows: int, header: bool | None = None) -> bool:
        """Whether the lines are as many as the rows, with or without a header."""
        try:
            self._first_line(rows, header)
        except ExplorerError:
            return False
        return True

    def for_rows(self, rows: int, header: bool | None) -> NamedRows:
        """Names and further columns of so many rows.

        Parameters
        ----------
        rows : int
        header : bool or None
            Whether the first line is a header; None where nobody has said.

        Raises
        ------
        HeaderUnknownError
            The counts leave it open whether the first line is one, and ``header`` is None.
        ExplorerError
            The counts differ.
        """
        start = self._first_line(rows, header)
        if self.columns is None:
            blob, sizes = self.blob[int(self.sizes[:start].sum()) :], self.sizes[start : start + rows]
            return NamedRows(pack(blob[: int(sizes.sum())], sizes, self.name), {})
        return self._by_column(start, rows)

    def _first_line(self, rows: int, header: bool | None) -> int:
        """The line of row 0: 0, or 1 after a header."""
        if header is not None:
            if self._holds(rows + header):
                return int(header)
        elif self._holds(rows) and not self._looks_headed():
            return 0
        elif self._holds(rows + 1) and self.columns is not None:
            return 1
        elif self._holds(rows) or self._holds(rows + 1):
            raise HeaderUnknownError(
                f"{self.name} has {self.count - self.trailing:,} lines for {rows:,} rows, and its first "
                f"line, “{self._line(0)}”, may be a header or a label.",
                "Say which with --labels-header yes or --labels-header no.",
            )
        if self.count <= self.trailing:
            raise ExplorerError(f"{self.name} has 0 labels for {rows:,} rows: it is empty.")
        start = int(bool(header))
        last = self.count - 1
        raise ExplorerError(
            f"{self.name} has {self.count - start:,} labels for {rows:,} rows: row 0 would be "
            f"“{self._line(start)}”, and “{self._line(last)}” row {last - start:,}.",
            "Choose the labels that belong to this table.",
        )

    def _holds(self, count: int) -> bool:
        """Whether so many lines are there: blank ones at the end may be labels or nothing."""
        return self.count - self.trailing <= count <= self.count

    def _looks_headed(self) -> bool:
        """Whether the first of several columns' fields are names of columns rather than a row."""
        if not self.columns or len(self.columns) < 2:
            return False
        head, *rest = self.columns
        if any(field.strip().lower() in NAMING + ROW_KEYS for field in head):
            return True
        tails = zip(*(line for line in rest if len(line) == len(head)), strict=True)
        return any(
            typed_column([field]).dtype == object and typed_column(list(tail)).dtype != object
            for field, tail in zip(head, tails, strict=False)
            if field.strip()
        )

    def _line(self, index: int) -> str:
        """A line as a message shows it."""
        if not 0 <= index < self.count:
            return ""
        if self.columns is not None:
            return "\t".join(self.columns[index])[:60]
        start = int(self.sizes[:index].sum())
        return escape(self.blob[start : start + min(int(self.sizes[index]), 60)])

    def _by_column(self, start: int, rows: int) -> NamedRows:
        lines = (self.columns or [])[start : start + rows]
        width = max(len(line) for line in (self.columns or [[]]))
        lines = [line + [""] * (width - len(line)) for line in lines + [[]] * (rows - len(lines))]
        heads = (self.columns or [[]])[0] if start else []
        names = [
            heads[i].strip() if i < len(heads) and heads[i].strip() else f"column {i + 1}"
            for i in range(width)
        ]
        columns = [[line[i] for line in lines] for i in range(width)]
        columns = _joined_by_row(columns, names, named=bool(start))
        chosen = label_column(names, columns)
        metadata = {
            _unique(names, i): typed_column(column) for i, column in enumerate(columns) if i != chosen
        }
        return NamedRows(Labels.from_texts(columns[chosen], self.name), metadata)


def read_label_text(path: Path) -> LabelText:
    """The lines of a text of labels, whatever its line ends; a byte order mark is no part of a label.

    Raises
    ------
    ExplorerError
        The file can't be read, is not text, or is too large to be a list of labels.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise ExplorerError(f"{path.name} is over 1 GB: too large for a list of labels.")
        data = path.read_bytes()
    except OSError as error:
        raise ExplorerError(f"{path} cannot be read.", detail=str(error)) from error
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ExplorerError(f"{path.name} is UTF-16 text.", "Save it as UTF-8.")
    if b"\0" in data:
        raise ExplorerError(f"{path.name} is not a text of labels.")
    data = data.removeprefix(BOM).replace(b"\r\n", b"\n")
    if path.suffix.lower() == ".csv" and b"," in data.split(b"\n", 1)[0]:
        return _of_fields(path.name, _csv_lines(data, path.name))
    if b"\t" in data.split(b"\n", 1)[0]:
        lines = [escape(line).split("\t") for line in data.removesuffix(b"\n").split(b"\n")]
        return _of_fields(path.name, lines)
    return _of_vectors(path) or _of_counted_words(path.name, data) or _of_lines(path.name, data)


def _of_vectors(path: Path) -> LabelText | None:
    """The words of a text of word vectors; None for any other text, such as names that end in numbers."""
    try:
        shape = detect_shape(sample_lines(path), path.name)
        if shape is None or not shape.labelled:
            return None
        block = load_text(path, shape)
    except ExplorerError:
        return None
    text = LabelText(path.name, len(block.sizes), None, block.labels, block.sizes, 0)
    words = set(text.for_rows(text.count, False).labels)
    return text if 2 * len(words) > text.count else None


def _of_counted_words(name: str, data: bytes) -> LabelText | None:
    """Words with their counts, most frequent first, as word2vec and GloVe save them; None for other lines."""
    if not _COUNTED.match(data):
        return None
    fields = [line.split(b" ") for line in data.removesuffix(b"\n").split(b"\n")]
    if any(len(field) != 2 or not field[1].isdigit() or len(field[1]) > 18 for field in fields):
        return None
    # word2vec's sentence mark comes first, however often it stands.
    counts = np.array([int(count) for _, count in fields[1:]], np.int64)
    if np.any(counts[1:] > counts[:-1]) or len({word for word, _ in fields}) < len(fields):
        return None
    return _of_fields(name, [[escape(word), escape(count)] for word, count in fields])


def _of_lines(name: str, data: bytes) -> LabelText:
    body = data.removesuffix(b"\n")
    ends = np.flatnonzero(np.frombuffer(body, np.uint8) == 10)
    bounds = np.concatenate([np.array([-1]), ends, np.array([len(body)])])
    sizes = np.diff(bounds).astype(np.int64) - 1
    if not data:
        sizes = np.zeros(0, np.int64)
    trailing = len(body) - len(body.rstrip(b"\n")) + (len(data) > 0 and not body)
    return LabelText(name, len(sizes), None, body.replace(b"\n", b""), sizes, trailing)


def _of_fields(name: str, lines: list[list[str]]) -> LabelText:
    trailing = 0
    while trailing < len(lines) and not any(lines[-1 - trailing]):
        trailing += 1
    return LabelText(name, len(lines), lines, b"", np.zeros(0, np.int64), trailing)


def _csv_lines(data: bytes, name: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(escape(data), newline="")))
    except csv.Error as error:
        raise ExplorerError(f"{name} cannot be read as CSV.", detail=str(error)) from error


def label_column(names: list[str], columns: list[list[str]]) -> int:
    """The column that names the rows: one that is called so, else the first of texts, else the first."""
    lower = [name.lower() for name in names]
    for wanted in NAMING:
        if wanted in lower:
            return lower.index(wanted)
    texts = [i for i, column in enumerate(columns) if typed_column(column).dtype == object]
    return texts[0] if texts else 0


def _joined_by_row(columns: list[list[str]], names: list[str], *, named: bool) -> list[list[str]]:
    """Lines in the order of the rows, where a column says which row each is."""
    rows = len(columns[0])
    for name, column in zip(names, columns, strict=True):
        may_be_key = name.lower() in ROW_KEYS if named else len(columns) == 2
        if may_be_key and all(field.isascii() and field.isdigit() and len(field) < 19 for field in column):
            keys = [int(field) for field in column]
            if sorted(keys) == list(range(rows)):
                order = np.argsort(keys)
                return [[each[i] for i in order] for each in columns]
    return columns


def _unique(names: list[str], index: int) -> str:
    return names[index] if names.index(names[index]) == index else f"{names[index]} ({index + 1})"


def typed_column(column: list[str]) -> NDArray:
    """Numbers where all fields are (an empty one is NaN), else texts."""
    filled = [field.strip() for field in column if field.strip()]
    if filled and not any("_" in field for field in filled):
        try:
            if len(filled) == len(column):
                whole = np.array([int(field) for field in filled], np.int64)
                if all(field == str(number) for field, number in zip(filled, whole.tolist(), strict=True)):
                    return whole
        except (ValueError, OverflowError):
            pass
        try:
            return np.array([float(field.strip() or "nan") for field in column], np.float64)
        except ValueError:
            pass
    texts = np.empty(len(column), object)
    texts[:] = column
    return texts
