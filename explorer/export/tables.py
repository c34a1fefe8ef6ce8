"""Layouts and neighbours to CSV and NPZ. Row *i* of the table is row *i* of the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.texts import texts_of
from explorer.export.files import replacing
from explorer.export.rows import npz_arrays, plain


def write_layout_csv(
    path: Path, rows: NDArray[np.integer], xy: NDArray[np.float32], labels: Iterable[str]
) -> None:
    """Columns ``row,x,y,label``, or ``row,x,y,z,label``; a row without a place has empty ones.

    Labels stand as they are, quoted where CSV asks for it; lone surrogates as ``\\udcXX``.
    Coordinates have the digits that bring the same float32 back.
    """
    places = np.asarray(xy, np.float32)
    with replacing(Path(path)) as temporary, _open(temporary) as stream:
        writer = csv.writer(stream)  # ends lines as RFC 4180 does, and so quotes every kind of line end
        writer.writerow(("row", *"xyz"[: places.shape[1]], "label"))
        for row, place, label in zip(rows.tolist(), places, labels, strict=True):
            writer.writerow((row, *(_number(value) for value in place), label))


def write_layout_npz(
    path: Path, rows: NDArray[np.integer], xy: NDArray[np.float32], labels: Iterable[str]
) -> None:
    """Arrays ``row`` (int64), ``xy`` (float32, NaN without a place) and ``label`` (Unicode; packed as
    ``label.utf8`` and ``label.offsets`` where lengths differ very much).

    ``xy`` has two columns, or three where the map has three dimensions.
    """
    names = texts_of([plain(label) for label in labels])
    row, places = np.asarray(rows, np.int64), np.asarray(xy, np.float32)
    if not len(row) == len(places) == len(names):
        raise ValueError(f"{len(row)} rows, {len(places)} places, {len(names)} labels")
    with replacing(Path(path)) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, row=row, xy=places, **npz_arrays("label", names))


def write_neighbours_csv(
    path: Path,
    rows: NDArray[np.integer],
    labels: Sequence[str],
    scores: NDArray[np.floating],
    above: Sequence[float] | None = None,
) -> None:
    """Columns ``rank,row,label,score`` and, where given, ``above`` (the background, in deviations)."""
    header = ("rank", "row", "label", "score") + (() if above is None else ("above",))
    deviations = [()] * len(rows) if above is None else [(f"{value:.4f}",) for value in above]
    with replacing(Path(path)) as temporary, _open(temporary) as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        entries = zip(rows.tolist(), labels, np.asarray(scores, np.float32), deviations, strict=True)
        for rank, (row, label, score, more) in enumerate(entries, 1):
            writer.writerow((rank, row, label, _number(score), *more))


def write_rows_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A heading and rows, each value as it is written in Python; lone surrogates as ``\\udcXX``."""
    with replacing(Path(path)) as temporary, _open(temporary) as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)


def _open(path: Path) -> io.TextIOWrapper:
    return path.open("w", encoding="utf-8", errors="backslashreplace", newline="")


def _number(value: np.float32) -> str:
    return str(value) if np.isfinite(value) else ""
