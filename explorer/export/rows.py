"""Some rows of a table with all that is known of them, to CSV, Parquet or NPZ."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.core.labels import Labels, label_of
from explorer.core.texts import Texts, texts_of
from explorer.export.files import Report, replacing, unwatched

if TYPE_CHECKING:
    import pyarrow as pa

AXES = ("x", "y", "z")
_BLOCK = 5_000


@dataclass(frozen=True, eq=False)
class RowsToSave:
    """Rows, and what is to be saved of each.

    Attributes
    ----------
    rows : int64 array, shape (n,)
        Numbers of rows in the table.
    labels : Labels or None
        Of the whole table.
    positions : float32 array, shape (rows of the table, 2 or 3), or None
    metadata : mapping of str to array or Texts
        Of the whole table.
    vectors : float32 array, shape (n, dim), or None
        Of these rows alone.
    scores : float32 array, shape (n,), or None
        Of these rows alone.
    """

    rows: NDArray[np.int64]
    labels: Labels | None = None
    positions: NDArray[np.float32] | None = None
    metadata: Mapping[str, NDArray | Texts] = field(default_factory=dict)
    vectors: NDArray[np.float32] | None = None
    scores: NDArray[np.float32] | None = None

    def names(self, start: int, stop: int) -> list[str]:
        """Labels of some of the rows, fit for a file: lone surrogates as ``\\udcXX``."""
        return [plain(label_of(self.labels, row)) for row in self.rows[start:stop].tolist()]

    def columns(self, start: int, stop: int) -> dict[str, NDArray | Texts]:
        """Everything but labels and vectors of some of the rows, by name; none stands for another."""
        rows = self.rows[start:stop]
        found: dict[str, NDArray | Texts] = {"row": rows}
        if self.positions is not None:
            places = self.positions[rows]
            found |= {axis: places[:, at] for at, axis in enumerate(AXES[: places.shape[1]])}
        if self.scores is not None:
            found["score"] = self.scores[start:stop]
        for name, values in self.metadata.items():
            taken = name in found or name in ("label", "vector")
            found[f"{name} (column)" if taken else name] = values[rows]
        return found

    def blocks(self, report: Report) -> Iterator[tuple[int, int]]:
        """Ends of blocks to write one after the other, reported as they pass."""
        for start in range(0, len(self.rows), _BLOCK):
            report(start / len(self.rows), "Writing")
            yield start, min(start + _BLOCK, len(self.rows))


def write_rows(path: Path, data: RowsToSave, report: Report = unwatched) -> None:
    """Write rows in the format that the name's ending says: ``.parquet``, ``.npz``, else CSV.

    Columns ``row``, ``label``, ``x``, ``y`` (``z``), ``score``, the table's own, and ``vector``. A
    value that is not known is empty. Texts of very different lengths are two arrays of an NPZ:
    ``name.utf8`` and ``name.offsets``, text *i* being ``utf8[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    path : Path
    data : RowsToSave
    report : function of (fraction, stage)
        Called between blocks; may raise to stop, and then nothing is left.

    Raises
    ------
    ExplorerError
        Where the file can't be written.
    """
    writers = {".parquet": _write_parquet, ".npz": _write_npz}
    writers.get(path.suffix.lower(), _write_csv)(path, data, report)


def plain(label: str) -> str:
    """A label that any file can hold."""
    return label.encode("utf-8", "backslashreplace").decode("utf-8")


def watched(labels: Labels | None, rows: int, report: Report) -> Iterator[str]:
    """All labels of a table, reported as they pass."""
    for row in range(rows):
        if row % 1000 == 0:
            report(row / rows, "Writing")
        yield label_of(labels, row)


def _write_csv(path: Path, data: RowsToSave, report: Report) -> None:
    dim = 0 if data.vectors is None else data.vectors.shape[1]
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        names = list(data.columns(0, 0))
        writer.writerow((names[0], "label", *map(plain, names[1:]), *(f"v{at}" for at in range(dim))))
        for start, stop in data.blocks(report):
            rows, *others = (_texts(values) for values in data.columns(start, stop).values())
            parts: list[list[str]] = [rows, data.names(start, stop), *others]
            if data.vectors is not None:
                parts += [_texts(data.vectors[start:stop, at]) for at in range(dim)]
            writer.writerows(zip(*parts, strict=True))


def _write_parquet(path: Path, data: RowsToSave, report: Report) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def block(start: int, stop: int) -> pa.Table:
        columns = {name: _column(values) for name, values in data.columns(start, stop).items()}
        arrays = {
            "row": columns.pop("row"),
            "label": pa.array(data.names(start, stop), pa.string()),
            **columns,
        }
        if data.vectors is not None:
            flat = pa.array(np.ascontiguousarray(data.vectors[start:stop], np.float32).ravel())
            arrays["vector"] = pa.FixedSizeListArray.from_arrays(flat, data.vectors.shape[1])
        return pa.table({plain(name): values for name, values in arrays.items()})

    with replacing(path) as temporary, pq.ParquetWriter(temporary, block(0, 0).schema) as writer:
        for start, stop in data.blocks(report):
            writer.write_table(block(start, stop))


def _write_npz(path: Path, data: RowsToSave, report: Report) -> None:
    names = [name for start, stop in data.blocks(report) for name in data.names(start, stop)]
    columns = data.columns(0, len(data.rows))
    arrays: dict[str, NDArray] = {}
    for name, values in (*columns.items(), ("label", texts_of(names))):
        arrays |= {} if name in AXES else npz_arrays(name, values)
    if data.positions is not None:
        arrays["xy" if data.positions.shape[1] == 2 else "xyz"] = data.positions[data.rows]
    if data.vectors is not None:
        arrays["vector"] = data.vectors
    report(0.9, "Compressing")
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def npz_arrays(name: str, values: NDArray | Texts) -> dict[str, NDArray]:
    """A column as NPZ holds it, under its name."""
    if isinstance(values, Texts):
        return {f"{name}.utf8": values.blob, f"{name}.offsets": values.offsets}
    return {name: _known(values)}


def _column(values: NDArray | Texts) -> pa.Array:
    """A column as Parquet holds it."""
    import pyarrow as pa

    return values.arrow if isinstance(values, Texts) else pa.array(_known(values))


def _known(values: NDArray) -> NDArray:
    """Text of an encoding that all formats hold; everything else as it is."""
    if values.dtype.kind == "U":
        return np.array([plain(text) for text in values.tolist()], np.str_).reshape(values.shape)
    return values


def _texts(values: NDArray | Texts) -> list[str]:
    """A CSV column: numbers with the digits that bring them back, nothing where there is none."""
    if isinstance(values, Texts):
        return values.tolist()
    if values.dtype.kind == "f":
        return [str(value) if np.isfinite(value) else "" for value in values]
    return [plain(str(value)) for value in values.tolist()]
