"""JSON in one piece: an array of records or of vectors, or one object ``{word: vector}``."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers.column_plan import Kind
from explorer.readers.json_records import kind_of, opened_records, plan_records, read_records
from explorer.readers.packed_labels import INSIDE, escape
from explorer.readers.vector_lines import BOM

_RECORDS = 50
_LARGEST = 1 << 30
_WORDS = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*[-\d]')
_ARRAY = re.compile(rb'\s*\[\s*(?:\{\s*"(?:[^"\\]|\\.)*"\s*:|\[\s*(?:-?\d[-+.\deE]*|NaN|null)\s*[,\]])')


def sniff(path: Path, head: bytes) -> bool:
    """Whether the file begins as an array of records or of vectors, or is one object of vectors."""
    return is_array(head) or (_is_by_word(head) and _by_word(path) is not None)


def is_array(head: bytes) -> bool:
    """Whether a file that begins so is an array of records or of vectors, and no kind of text."""
    return b"\0" not in head and _ARRAY.match(head.removeprefix(BOM)) is not None


def _is_by_word(head: bytes) -> bool:
    return b"\0" not in head and _WORDS.match(head.removeprefix(BOM)) is not None


def read(path: Path) -> OpenedFile:
    """Open a JSON file; all of it is parsed here.

    A row without a vector stays in its place as NaN.

    Raises
    ------
    ExplorerError
        The file is no sound JSON, holds no vectors, or vectors of several lengths.
    """
    by_word = _by_word(path)
    if by_word is not None:
        return OpenedFile(path, "JSON", (by_word,))
    if path.stat().st_size > _LARGEST:
        raise ExplorerError(f"{path.name} is over 1 GB in one piece of JSON.", "Save it with a row a line.")
    try:
        entries = json.loads(escape(path.read_bytes().removeprefix(BOM)))
    except (ValueError, RecursionError) as error:
        raise ExplorerError(f"{path.name} is no sound JSON; it may be cut off.", detail=str(error)) from error
    # A bare vector is a record of nothing else.
    records = [{path.stem: entry} if isinstance(entry, list) else entry for entry in entries]
    other = next((i for i, entry in enumerate(entries, 1) if type(entry) is not type(entries[0])), None)
    if other is not None:
        raise ExplorerError(f"Entry {other} of {path.name} is of another kind than the first.")
    plan = plan_records(islice(records, _RECORDS), path.stem)
    if plan is None:
        raise ExplorerError(f"{path.name} is JSON, but holds no vectors that are known here.")
    return opened_records(path, "JSON", plan, read_records(enumerate(records, 1), plan, path.name, "Entry"))


def _by_word(path: Path) -> EmbeddingTable | None:
    """The table of a file that is one object of vectors by their names; None where it is not."""
    with path.open("rb") as file:
        if not _is_by_word(file.read(4096)) or path.stat().st_size > _LARGEST:
            return None
    try:
        pairs: list[tuple[str, Any]] = json.loads(
            escape(path.read_bytes().removeprefix(BOM)), object_pairs_hook=list
        )
        rows = [
            (word, np.array(numbers, np.float64))
            for word, numbers in pairs
            if kind_of(numbers) is Kind.VECTOR
        ]
    except (ValueError, TypeError, RecursionError, OverflowError):
        return None
    dims = {len(vector) for _, vector in rows}
    if len(rows) != len(pairs) or len(rows) < 2 or len(dims) != 1:
        return None
    with np.errstate(over="ignore"):
        vectors = np.stack([vector for _, vector in rows]).astype(np.float32)
    labels = Labels.from_texts((word for word, _ in rows), INSIDE)
    count, dim = vectors.shape
    return EmbeddingTable(path.stem, count, dim, "float32", Role.TOKEN, lambda: vectors, labels=labels)
