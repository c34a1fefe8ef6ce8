"""Which columns of a file are vectors, which one names the rows, and which describe them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from explorer.core.labels import Labels
from explorer.core.table import Role
from explorer.readers.label_text import NAMING, ROW_KEYS

_NUMBERED = re.compile(r"(.*?)(\d{1,9})\Z", re.DOTALL)
_ABOUT_ROWS = {
    *ROW_KEYS,
    *NAMING,
    "",
    "unnamed: 0",
    *("count", "counts", "freq", "frequency", "rank", "class", "cluster", "category", "target"),
    *("year", "score", "weight", "length", "timestamp", "time", "date"),
}


class Kind(Enum):
    """What a column holds in each row; a fact (yes or no, a date, several texts) never names it."""

    VECTOR = "vector"
    NUMBER = "number"
    TEXT = "text"
    FACT = "fact"
    OTHER = "other"


@dataclass(frozen=True)
class Plan:
    """What the columns of a file are for.

    Attributes
    ----------
    tables : dict of str to tuple of str
        Each table's name and the columns that hold it: one of vectors, or one for each dimension.
    label : str or None
        The column that names the rows.
    metadata : tuple of str
        Columns that describe the rows.
    """

    tables: dict[str, tuple[str, ...]]
    label: str | None
    metadata: tuple[str, ...]

    @property
    def role(self) -> Role:
        """What the rows are, as far as the columns' names tell."""
        names = [name.lower() for name in (*self.tables, *self.metadata, self.label or "")]
        if any("image" in name or "img" in name for name in names):
            return Role.IMAGES
        wordlike = self.label is not None and self.label.lower().rstrip("s") in ("word", "token", "term")
        return Role.TOKEN if wordlike else Role.OTHER


def plan_columns(kinds: Mapping[str, Kind], name: str, *, named: bool = True) -> Plan | None:
    """Sort a file's columns out by what they hold and what they are called.

    Parameters
    ----------
    kinds : mapping of str to Kind
        In the file's order.
    name : str
        What to call a table whose dimensions are columns.
    named : bool
        Whether the file names its columns. Where not, only columns side by side can be dimensions.

    Returns
    -------
    Plan or None
        None where no column or set of columns holds vectors.
    """
    vectors = [column for column, kind in kinds.items() if kind is Kind.VECTOR]
    tables: dict[str, tuple[str, ...]] = {column: (column,) for column in vectors}
    if not tables:
        numbers = [column for column, kind in kinds.items() if kind is Kind.NUMBER]
        tables = _dimension_columns(numbers, name) if named else _side_by_side(kinds, name)
    if not tables:
        return None
    used = {column for columns in tables.values() for column in columns}
    rest = {column: kind for column, kind in kinds.items() if column not in used and kind is not Kind.OTHER}
    label = _label(rest)
    return Plan(tables, label, tuple(column for column in rest if column != label))


def _side_by_side(kinds: Mapping[str, Kind], name: str) -> dict[str, tuple[str, ...]]:
    """The longest run of numeric columns."""
    grouped = itertools.groupby(kinds, key=lambda column: kinds[column] is Kind.NUMBER)
    runs = [tuple(columns) for numeric, columns in grouped if numeric]
    longest = max(runs, key=len, default=())
    return {name: longest} if len(longest) > 1 else {}


def _dimension_columns(numbers: Sequence[str], name: str) -> dict[str, tuple[str, ...]]:
    """Columns called alike and numbered on, else all that are not known to say something else."""
    series: dict[str, dict[int, str]] = {}
    for column in numbers:
        match = _NUMBERED.fullmatch(column)
        if match:
            series.setdefault(match[1], {})[int(match[2])] = column
    runs = {stem: run for stem, run in series.items() if len(run) > 1 and max(run) - min(run) == len(run) - 1}
    longest = max((len(run) for run in runs.values()), default=0)
    same = {stem: run for stem, run in runs.items() if len(run) == longest and longest > 1}
    if same and longest >= 0.5 * len(numbers) / len(same):
        ordered = {stem: tuple(run[number] for number in sorted(run)) for stem, run in same.items()}
        if len(ordered) == 1:
            return {name: next(iter(ordered.values()))}
        return {stem.rstrip("_-. ") or name: run for stem, run in ordered.items()}
    free = tuple(column for column in numbers if column.strip().lower() not in _ABOUT_ROWS)
    return {name: free} if len(free) > 1 else {}


def _label(kinds: Mapping[str, Kind]) -> str | None:
    lower: dict[str, str] = {}
    for column, kind in kinds.items():
        if kind is not Kind.FACT:
            lower.setdefault(column.strip().lower(), column)
    named = [lower[wanted] for wanted in NAMING if wanted in lower]
    texts = [column for column, kind in kinds.items() if kind is Kind.TEXT]
    keys = [lower[wanted] for wanted in (*ROW_KEYS, "", "unnamed: 0") if wanted in lower]
    return next(iter([*named, *texts, *keys]), None)


def unique_names(names: Sequence[str]) -> list[str]:
    """Names told apart where two are equal, by a number behind."""
    counts: Counter[str] = Counter()
    found = []
    for name in names:
        counts[name] += 1
        found.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return found


def labels_of_column(column: NDArray, source: str) -> Labels:
    """Names out of a column of texts or numbers; a missing value is a row without a name."""
    values = column.tolist()
    texts = (
        None if value is None else value if isinstance(value, str) else f"{value:.15g}" for value in values
    )
    return Labels.from_texts(texts, source)


def common_length(lengths: NDArray[np.int64]) -> int:
    """The vectors' length: that of most of them, where 0 is a missing vector; 0 where all are missing."""
    filled = lengths[lengths > 0]
    if not len(filled):
        return 0
    values, counts = np.unique(filled, return_counts=True)
    return int(values[np.argmax(counts)])


def missing_note(name: str, missing: int, rows: int) -> tuple[str, ...]:
    """What to say of rows without a vector."""
    if not missing:
        return ()
    return (f"{missing:,} of the {rows:,} rows of {name} have no vector; they keep their place.",)
