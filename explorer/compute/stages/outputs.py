"""Output layers beside the token tables that they could be taken for, and other parts that only generate."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from explorer.core.model_parts import OutputComparison
from explorer.core.table import EmbeddingTable, OpenedFile, Role
from explorer.readers.roles import side_of

_SAMPLE = 2000  # rows that are compared
_VAE = ("first_stage_model.", "vae.")


def compare_outputs(opened: OpenedFile) -> tuple[OutputComparison, ...]:
    """Each output layer of a row a token, and the token table with as many rows, of the same side if it says.

    Cosines are those of up to 2,000 rows, evenly taken.
    """
    tokens = [table for table in opened.tables if table.role is Role.TOKEN]
    found = []
    for table in tokens:
        tied = [alias for alias in table.aliases if alias not in {each.name for each in tokens}]
        found += [OutputComparison(alias, table.name, True, 1.0, 0.0) for alias in tied]
    for output in opened.tables:
        beside = _table_of(output, tokens) if output.role is Role.OUTPUT else None
        if beside is not None:
            found.append(_compare(output, beside))
    return tuple(found)


def generation_notes(opened: OpenedFile, names: Iterable[str]) -> tuple[str, ...]:
    """What to say of a model's parts that turn its results into words or pictures.

    Parameters
    ----------
    opened : OpenedFile
    names : iterable of str
        Of all its tensors.
    """
    notes = [each.sentence for each in compare_outputs(opened)]
    if any(name.startswith(_VAE) for name in names):
        notes.append("The file also holds a VAE, which draws pictures from numbers: it embeds no tokens.")
    return tuple(notes)


def _table_of(output: EmbeddingTable, tokens: list[EmbeddingTable]) -> EmbeddingTable | None:
    same = [table for table in tokens if table.rows == output.rows]
    side = side_of(output.name)
    return next((table for table in same if side_of(table.name) in (None, side)), same[0] if same else None)


def _compare(output: EmbeddingTable, table: EmbeddingTable) -> OutputComparison:
    if output.dim != table.dim:
        return OutputComparison(output.name, table.name, False, float("nan"), float("nan"))
    rows = np.unique(np.linspace(0, table.rows - 1, min(table.rows, _SAMPLE)).astype(np.int64))
    ours, theirs = (_unit(np.asarray(each.read()[rows], np.float32)) for each in (output, table))
    shifted = np.roll(theirs, len(rows) // 2, axis=0)
    return OutputComparison(
        output.name,
        table.name,
        bool(np.array_equal(ours, theirs)) and _same(output, table),
        _mean_cosine(ours, theirs),
        _mean_cosine(ours, shifted),
    )


def _same(output: EmbeddingTable, table: EmbeddingTable) -> bool:
    return bool(np.array_equal(output.read(), table.read()))


def _unit(values: NDArray[np.float32]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
    there = (lengths > 0) & np.isfinite(lengths)
    unit: NDArray[np.float32] = np.divide(values, lengths, out=np.zeros_like(values), where=there)
    return unit


def _mean_cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    cosines = (a * b).sum(1)
    finite = cosines[np.isfinite(cosines)]
    return float(finite.mean()) if len(finite) else float("nan")
