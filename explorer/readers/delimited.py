"""CSV and TSV: one column for each dimension, or one of vectors written out as ``[0.1, 0.2]``.

A sample of records settles what each column is; then Arrow reads all of them as just that, so that one
field that does not fit is an error with its line, never a column that silently changes its kind.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.table import EmbeddingTable, OpenedFile
from explorer.readers.column_plan import (
    Kind,
    Plan,
    common_length,
    labels_of_column,
    missing_note,
    plan_columns,
    unique_names,
)
from explorer.readers.json_file import is_array
from explorer.readers.label_text import typed_column
from explorer.readers.packed_labels import INSIDE, escape
from explorer.readers.vector_lines import BOM
from explorer.readers.word_vectors import sample_lines

_RECORDS = 50
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*\Z")
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*\Z")
_NULLS = ["", "NA", "N/A", "null", "NULL", "None"]
_MISSING = frozenset([*_NULLS, "nan", "NaN", "NAN", "-nan", "inf", "-inf", "Inf", "-Inf"])
_LIST = re.compile(r"\s*\[[^\[\]]*\]\s*\Z", re.DOTALL)
_PARTS = re.compile(r"[\s,]+")

csv.field_size_limit(1 << 26)


@dataclass(frozen=True)
class _Dialect:
    """How fields are written, and what the columns are.

    Attributes
    ----------
    delimiter : str
    quoted : bool
        Whether ``"`` wraps fields.
    header : bool
        Whether the first record names the columns.
    names : tuple of str
    plan : Plan
    """

    delimiter: str
    quoted: bool
    header: bool
    names: tuple[str, ...]
    plan: Plan

    @property
    def numeric(self) -> set[str]:
        """Columns that are dimensions."""
        return {column for columns in self.plan.tables.values() if len(columns) > 1 for column in columns}


def sniff(path: Path, head: bytes) -> bool:
    """Whether the first records have columns that hold vectors."""
    if not head or b"\0" in head or is_array(head):
        return False
    try:
        return _dialect(path) is not None
    except ExplorerError:
        return True


def read(path: Path) -> OpenedFile:
    """Open a CSV or TSV file; all records are parsed here.

    A record without a vector stays in its place as a row of NaN.

    Raises
    ------
    ExplorerError
        A record has another number of fields, or a field that is no number; its line is named.
    """
    dialect = _dialect(path)
    if dialect is None:
        raise ExplorerError(f"{path.name} has no columns of vectors.")
    columns = _by_arrow(path, dialect) or _by_hand(path, dialect)
    plan = dialect.plan
    labels = labels_of_column(columns[plan.label], INSIDE) if plan.label is not None else None
    metadata = {name: typed_column(columns[name].tolist()) for name in plan.metadata}
    tables: list[EmbeddingTable] = []
    notes: list[str] = []
    for name, parts in plan.tables.items():
        if len(parts) > 1:
            vectors = np.stack([columns[part] for part in parts], axis=1)
        else:
            vectors = _written_out(path, dialect, columns[parts[0]])
        notes += missing_note(name, int(np.isnan(vectors).all(axis=1).sum()), len(vectors))
        rows, dim = vectors.shape
        tables.append(
            EmbeddingTable(
                name, rows, dim, "float32", plan.role, _giving(vectors), labels=labels, metadata=metadata
            )
        )
    kind = "TSV" if dialect.delimiter == "\t" else "CSV"
    return OpenedFile(path, f"{kind} columns", tuple(tables), tuple(notes))


def _giving(vectors: NDArray[np.float32]) -> Callable[[], NDArray[np.float32]]:
    return lambda: vectors


def _dialect(path: Path) -> _Dialect | None:
    sample = escape(sample_lines(path).removeprefix(BOM))
    first = sample.lstrip("\r\n").split("\n", 1)[0]
    for delimiter in ("\t", ";", ","):
        if delimiter not in first:
            continue
        quoted = delimiter != "\t" or re.search(r'(^|\t)"[^"\t\n]*"(\t|\r?\n|$)', sample) is not None
        records = list(_sampled(sample, delimiter, quoted))
        found = _judge(path, delimiter, quoted, records)
        if found is not None:
            return found
    return None


def _sampled(sample: str, delimiter: str, quoted: bool) -> Iterator[list[str]]:
    reader = _reader(io.StringIO(sample, newline=""), delimiter, quoted)
    try:
        for record in reader:
            if record:
                yield record
            if reader.line_num > _RECORDS:
                return
    except csv.Error:
        return


def _reader(file: io.TextIOBase, delimiter: str, quoted: bool):  # type: ignore[no-untyped-def] # a csv.reader
    return csv.reader(file, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)


def _judge(path: Path, delimiter: str, quoted: bool, records: list[list[str]]) -> _Dialect | None:
    """What the columns of some records are, or None where they hold no vectors."""
    if not records:
        return None
    width = len(records[0])
    body = [record for record in records[1:] if len(record) == width]
    if width < 2 or 2 * len(body) < len(records) - 1:
        return None
    header = _has_header(records[0], body)
    rows = body if header else [records[0], *body]
    if delimiter != ",":
        _refuse_commas(path, records, header)
    heads = [field.strip() for field in records[0]] if header else [f"column {i + 1}" for i in range(width)]
    names = unique_names(heads)
    kinds = {name: _kind([row[i] for row in rows]) for i, name in enumerate(names)}
    if not header and kinds[names[0]] is Kind.NUMBER and _is_key([row[0] for row in rows], rows):
        kinds[names[0]] = Kind.TEXT
    plan = plan_columns(kinds, path.stem, named=header)
    return _Dialect(delimiter, quoted, header, tuple(names), plan) if plan else None


def _has_header(first: list[str], body: list[list[str]]) -> bool:
    """Whether the first record names columns: it has words, or a count, where the others have numbers."""
    if not body:
        return False
    numeric = [i for i in range(len(first)) if _kind([row[i] for row in body]) in (Kind.NUMBER, Kind.VECTOR)]
    heads = [first[i].strip() for i in numeric]
    if any(not _NUMBER.match(head) and head not in _MISSING and not _LIST.match(head) for head in heads):
        return True
    counted = [str(i) for i in range(len(heads))], [str(i + 1) for i in range(len(heads))]
    others = [first[i].strip() for i in range(len(first)) if i not in numeric]
    return len(heads) > 1 and heads in counted and (len(heads) > 3 or "" in others)


def _kind(fields: list[str]) -> Kind:
    filled = [field for field in fields if field.strip() not in _MISSING]
    if not filled:
        return Kind.TEXT
    if 2 * sum(_NUMBER.match(field) is not None for field in filled) > len(filled):
        return Kind.NUMBER
    if 2 * sum(_LIST.match(field) is not None for field in filled) > len(filled):
        return Kind.VECTOR if all(_numbers(field) is not None for field in filled[:1]) else Kind.TEXT
    return Kind.TEXT


def _is_key(fields: list[str], rows: list[list[str]]) -> bool:
    """Whether whole numbers in the first column number the rows, beside fractions in the others."""
    whole = all(field.strip().isdigit() for field in fields)
    return whole and len(set(fields)) == len(fields) and any("." in field for field in rows[0][1:])


def _refuse_commas(path: Path, records: list[list[str]], header: bool) -> None:
    for number, record in enumerate(records[header:], 1 + header):
        written = [field for field in record if _COMMA_NUMBER.match(field)]
        if len(written) > 1:
            _refuse_comma(path, number, written[0])


def _refuse_comma(path: Path, line: int, field: str) -> NoReturn:
    raise ExplorerError(
        f"Line {line} of {path.name} is written with decimal commas (“{field.strip()[:40]}”).",
        "Save the numbers with decimal points.",
    )


def _by_arrow(path: Path, dialect: _Dialect) -> dict[str, NDArray] | None:
    """All columns: dimensions as float32, others as texts. None where something does not fit."""
    numeric = dialect.numeric
    types = {name: pa.float32() if name in numeric else pa.binary() for name in dialect.names}
    try:
        table = arrow_csv.read_csv(
            path,
            arrow_csv.ReadOptions(
                column_names=list(dialect.names),
                skip_rows_after_names=int(dialect.header),
                block_size=1 << 22,
            ),
            arrow_csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char='"' if dialect.quoted else False,
                newlines_in_values=dialect.quoted,
            ),
            arrow_csv.ConvertOptions(column_types=types, null_values=_NULLS),
        )
    except (pa.ArrowInvalid, OSError):
        return None
    if not table.num_rows:
        return None
    return {
        name: table.column(name).to_numpy() if name in numeric else _texts(table.column(name).to_pylist())
        for name in dialect.names
    }


def _texts(values: Iterable[bytes]) -> NDArray:
    texts = [escape(value) for value in values]
    column = np.empty(len(texts), object)
    column[:] = texts
    return column


def _by_hand(path: Path, dialect: _Dialect) -> dict[str, NDArray]:
    """The same record by record: says which line does not fit, or reads what Arrow is too strict for."""
    numeric = dialect.numeric
    columns: dict[str, list[str] | list[float]] = {name: [] for name in dialect.names}
    for line, record in _numbered(path, dialect):
        if len(record) != len(dialect.names):
            raise ExplorerError(
                f"Line {line} of {path.name} has {len(record)} fields where the others have "
                f"{len(dialect.names)}.",
                "The file may be damaged there.",
            )
        for name, field in zip(dialect.names, record, strict=True):
            columns[name].append(_number(path, line, field) if name in numeric else field)  # type: ignore[arg-type]
    if not columns[dialect.names[0]]:
        raise ExplorerError(f"{path.name} has no row below its header.")
    with np.errstate(over="ignore"):
        return {
            name: np.array(values, np.float32) if name in numeric else np.array(values, object)
            for name, values in columns.items()
        }


def _numbered(path: Path, dialect: _Dialect) -> Iterator[tuple[int, list[str]]]:
    """Records below the header that are not blank, each with its line in the file."""
    with path.open(encoding="utf-8-sig", errors="backslashreplace", newline="") as file:
        reader = _reader(file, dialect.delimiter, dialect.quoted)
        skip = dialect.header
        try:
            for record in reader:
                if record and skip:
                    skip = False
                elif record:
                    yield reader.line_num, record
        except csv.Error as error:
            message = f"Line {reader.line_num} of {path.name} cannot be read."
            raise ExplorerError(message, detail=str(error)) from error


def _number(path: Path, line: int, field: str) -> float:
    if _NUMBER.match(field):
        return float(field)
    if field.strip() in _MISSING:
        return float("nan" if field.strip() in _NULLS else field)
    if _COMMA_NUMBER.match(field):
        _refuse_comma(path, line, field)
    raise ExplorerError(f"Line {line} of {path.name} has “{field.strip()[:40]}” where a number should stand.")


def _written_out(path: Path, dialect: _Dialect, column: NDArray) -> NDArray[np.float32]:
    """Vectors out of texts like ``[0.1, 0.2]``; a blank one is a missing vector."""
    rows = [None if field.strip() in _MISSING else _numbers(field) for field in column.tolist()]
    blank = [field.strip() in _MISSING for field in column.tolist()]
    dim = common_length(np.fromiter((0 if row is None else len(row) for row in rows), np.int64, len(rows)))
    if not dim:
        raise ExplorerError(f"{path.name} has no vector in any row.")
    vectors = np.full((len(rows), dim), np.nan, np.float32)
    for index, row in enumerate(rows):
        if row is not None and len(row) == dim:
            vectors[index] = row
        elif not blank[index] and row != []:
            line = next(itertools.islice(_numbered(path, dialect), index, None))[0]
            if row is None:
                raise ExplorerError(f"Line {line} of {path.name} has no vector where one should stand.")
            raise ExplorerError(
                f"Line {line} of {path.name} has {len(row)} numbers where the others have {dim}."
            )
    return vectors


def _numbers(field: str) -> list[float] | None:
    """The numbers of a written-out vector, or None where it is none."""
    if not _LIST.match(field):
        return None
    parts = [part for part in _PARTS.split(field.strip()[1:-1]) if part]
    if not all(_NUMBER.match(part) or part in _MISSING for part in parts):
        return None
    return [float("nan" if part in _NULLS else part) for part in parts]
