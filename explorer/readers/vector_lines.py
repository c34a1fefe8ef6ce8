"""One line of word-vector text: its label, its numbers, and what a sample says about all lines.

word2vec, GloVe and fastText write a row as ``label number number ...``, parted by a space or a tab.
A label may itself hold spaces and any other Unicode blank, so a row's numbers are its *last* fields.
What is done here line by line, in Python, defines what a file means; ``vector_blocks`` does the same for
regular lines at speed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from explorer.core.errors import ExplorerError

BOM = b"\xef\xbb\xbf"

_FIELD = re.compile(rb"[^ \t]+")
_INTEGER = re.compile(rb"\d{1,18}\Z")
_NUMBER = re.compile(
    rb"[+-]?(?:(?:\d+(?:\.(\d*))?|\.(\d+))([eE][+-]?\d+)?|[nN][aA][nN]|[iI][nN][fF](?:inity)?)\Z"
)
_COMMA_NUMBER = re.compile(rb"[+-]?\d*,\d+(?:[eE][+-]?\d+)?\Z")
_COLUMN_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff.-]*\Z")
_LONG = 60


@dataclass(frozen=True)
class LineShape:
    """What all lines of a file of vectors have in common.

    Attributes
    ----------
    dim : int
        Numbers in a row.
    labelled : bool
        False where a line holds numbers only.
    promised : int or None
        Rows that the header line promises; None without a header.
    begin : int
        Bytes before the first row's line.
    first_line : int
        That line's number in the file, counted from 1.
    decimals : int
        A field with at least so many decimals is taken for one of the row's numbers, not for part of
        a name: with rows written as ``0.123456``, ``web 2.0`` is a name, ``web 0.123456`` is not.
    """

    dim: int
    labelled: bool
    promised: int | None
    begin: int
    first_line: int
    decimals: int


@dataclass(frozen=True)
class _Line:
    number: int
    start: int
    text: bytes
    fields: tuple[bytes, ...]

    @property
    def named(self) -> int:
        """Fields, counting an empty label before a leading blank."""
        return len(self.fields) + (self.text[:1] in (b" ", b"\t"))

    @property
    def trailing(self) -> int:
        """How many of the last fields are numbers."""
        count = 0
        for field in reversed(self.fields):
            if not _NUMBER.match(field):
                break
            count += 1
        return count

    @property
    def dim(self) -> int:
        """Numbers in the row, if its first field is the label."""
        return min(self.trailing, self.named - 1)

    def has_columns(self, dim: int) -> bool:
        """Whether tabs part more than the label from the last ``dim`` numbers: a file of columns."""
        return len(self.fields) > dim and b"\t" in _label_text(self.text, dim)


def _label_text(text: bytes, dim: int) -> bytes:
    """What stands before the last ``dim`` fields."""
    return text[: [match.start() for match in _FIELD.finditer(text)][-dim]].strip(b" \t")


def detect_shape(sample: bytes, name: str, *, bare: bool = False) -> LineShape | None:
    """What the first lines of a file say about it.

    Parameters
    ----------
    sample : bytes
        Whole lines from the start of the file.
    name : str
        The file's name, for messages.
    bare : bool
        Whether it is known that rows have no labels and the file no header.

    Returns
    -------
    LineShape or None
        None where this is not a text of vectors, or one of several columns parted by tabs.

    Raises
    ------
    ExplorerError
        It is one, but cannot be read as it stands (decimal commas, a header that contradicts its rows).
    """
    if b"\0" in sample:
        return None
    if b"\n" not in sample and b"\r" in sample.rstrip(b"\r"):
        if detect_shape(sample.replace(b"\r", b"\n"), name, bare=bare) is None:
            return None
        raise ExplorerError(f"{name} ends its lines with carriage returns alone.", "Save it with line feeds.")
    lines = _lines(sample)
    header = None if bare else _header(lines)
    rows = lines[1:] if header else lines
    if not rows:
        if header:
            raise ExplorerError(f"{name} promises {header[0]} rows of {header[1]} numbers, but none follows.")
        return None
    _refuse_commas(rows, name)
    width = _usual(len(line.fields) for line in rows) if bare else _bare_dim(rows, header)
    dim = width or _usual(line.dim for line in rows)
    if header and dim != header[1]:
        if dim < 2:
            return None
        raise ExplorerError(
            f"Line {lines[0].number} of {name} promises {header[1]} numbers a row, "
            f"but line {rows[0].number} has {rows[0].dim}."
        )
    if dim < 1 or (dim == 1 and not header and not bare):
        return None
    if not width and 2 * sum(line.dim >= dim for line in rows) < len(rows):
        return None
    if not header and not bare and _names_columns(rows, dim):
        rows = rows[1:]
        if any(b"\t" in line.text for line in rows):
            return None
    if not width and any(line.has_columns(dim) for line in rows):
        return None
    return LineShape(
        dim=dim,
        labelled=not width,
        promised=header[0] if header else None,
        begin=rows[0].start,
        first_line=rows[0].number,
        decimals=_decimals_of(rows, dim),
    )


def _lines(sample: bytes, most: int = 200) -> list[_Line]:
    found: list[_Line] = []
    start = len(BOM) if sample.startswith(BOM) else 0
    for number, text in enumerate(sample[start:].split(b"\n"), 1):
        line = text.removesuffix(b"\r")
        fields = tuple(_FIELD.findall(line))
        if fields:
            found.append(_Line(number, start, line, fields))
        if len(found) == most:
            break
        start += len(text) + 1
    return found


def _header(lines: list[_Line]) -> tuple[int, int] | None:
    if not lines or len(lines[0].fields) != 2 or not all(map(_INTEGER.match, lines[0].fields)):
        return None
    return int(lines[0].fields[0]), int(lines[0].fields[1])


def _names_columns(rows: list[_Line], dim: int) -> bool:
    """Whether the first line has a name for each of the others' fields."""
    if len(rows) < 2 or len(rows[0].fields) not in (dim, dim + 1):
        return False
    return all(_COLUMN_NAME.match(field) for field in rows[0].fields)


def _bare_dim(rows: list[_Line], header: tuple[int, int] | None) -> int:
    """The number of fields where a row is nothing but numbers; 0 where rows have labels."""
    width = len(rows[0].fields)
    if any(line.trailing != len(line.fields) or len(line.fields) != width for line in rows):
        return 0
    if header:
        return width if header[1] == width else 0
    whole = all(_INTEGER.match(line.fields[0]) for line in rows)
    others = all(_INTEGER.match(field) for line in rows for field in line.fields[1:])
    return width if not whole or others else 0


def _usual(dims: Iterable[int]) -> int:
    return Counter(dims).most_common(1)[0][0]


def _refuse_commas(rows: list[_Line], name: str) -> None:
    line = rows[0]
    numbers = line.fields[1:] if len(line.fields) > 2 else line.fields
    if len(numbers) >= 2 and all(map(_COMMA_NUMBER.match, numbers)):
        _refuse_comma(line.number, numbers[0], name)


def _refuse_comma(number: int, field: bytes, name: str) -> NoReturn:
    raise ExplorerError(
        f"Line {number} of {name} is written with decimal commas ({shown(field)}).",
        "Save the numbers with decimal points.",
    )


def _decimals(field: bytes) -> int:
    """Digits after the point; an exponent counts as many."""
    match = _NUMBER.match(field)
    if match is None:
        return -1
    return 9 if match[3] else len(match[1] or match[2] or b"")


def _decimals_of(rows: list[_Line], dim: int) -> int:
    counts = sorted(_decimals(field) for line in rows[:50] for field in line.fields[-dim:])
    return min(3, max(0, counts[len(counts) // 10]))


def split_line(line: bytes, shape: LineShape, number: int, name: str) -> tuple[bytes, list[float]]:
    """A row's label and numbers.

    Parameters
    ----------
    line : bytes
        Without its line end; not blank.
    shape : LineShape
    number : int
        The line's number in the file, counted from 1, for messages.
    name : str
        The file's name, for messages.

    Raises
    ------
    ExplorerError
        The line has more or fewer numbers than the others, or a field that is no number.
    """
    spans = [match.span() for match in _FIELD.finditer(line)]
    cut = len(spans) - shape.dim
    leading = spans[0][0] > 0
    if cut < 0 or (shape.labelled and cut == 0 and not leading):
        _refuse_count(number, len(spans) - (1 if shape.labelled else 0), shape, name)
    numbers = [line[start:stop] for start, stop in spans[cut:]]
    for field in numbers:
        if not _NUMBER.match(field):
            _refuse_field(number, field, name)
    label = line[: spans[cut][0] - 1] if spans[cut][0] else b""
    if cut:
        label = label.rstrip(b" \t")
    if not shape.labelled and cut:
        _refuse_count(number, len(spans), shape, name)
    extra = [line[start:stop] for start, stop in spans[1:cut]]
    if any(_NUMBER.match(field) and _decimals(field) >= shape.decimals for field in extra):
        _refuse_count(number, _Line(number, 0, line, tuple(_FIELD.findall(line))).dim, shape, name)
    return label, [float(field) for field in numbers]


def _refuse_count(number: int, count: int, shape: LineShape, name: str) -> NoReturn:
    raise ExplorerError(
        f"Line {number} of {name} has {count} numbers where the other lines have {shape.dim}.",
        "The file may be damaged or cut off there.",
    )


def _refuse_field(number: int, field: bytes, name: str) -> NoReturn:
    if _COMMA_NUMBER.match(field):
        _refuse_comma(number, field, name)
    raise ExplorerError(f"Line {number} of {name} has {shown(field)} where a number should stand.")


def shown(field: bytes) -> str:
    """A field as a message shows it: quoted, readable, short."""
    text = field[:_LONG].decode("utf-8", "backslashreplace")
    return f"“{text}{'…' if len(field) > _LONG else ''}”"
