"""Opened files as the vectors worker keeps them: what the table picker shows, and one table's values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from numpy.typing import NDArray

from explorer.compute.protocol import Source
from explorer.core.dtypes import as_float32
from explorer.core.errors import ExplorerError
from explorer.core.labels import label_of
from explorer.core.listing import FileListing, TableListing
from explorer.core.table import EmbeddingTable, OpenedFile
from explorer.core.texts import Texts, texts_of
from explorer.readers import open_file

_PREVIEW_ROWS = 3
_PREVIEW_VALUES = 4
# Tables beyond the first are read for their preview up to this size.
_PREVIEW_BYTES = 64 << 20


class Files:
    """The file that was opened last, so that picking one of its tables does not open it anew."""

    def __init__(self) -> None:
        self._source: Source | None = None
        self._mark: tuple[object, ...] = ()
        self._opened: OpenedFile | None = None
        self._values: dict[str, NDArray] = {}

    def listing(self, source: Source) -> FileListing:
        """Recognise a file and list its tables, each with its first and last rows.

        Raises
        ------
        ExplorerError
        """
        opened = self._open(source)
        tables = []
        for place, table in enumerate(opened.tables):
            shown = place == 0 or table.rows * table.dim * 4 <= _PREVIEW_BYTES
            values = self._read(table) if shown else None
            if place > 0:
                self._values.pop(table.name, None)
            tables.append(table_listing(table, values))
        return FileListing(str(opened.path), opened.format, tuple(tables), opened.notes, opened.manifest)

    def table(self, source: Source, name: str) -> tuple[EmbeddingTable, NDArray]:
        """One table and its values, which are not kept here any longer.

        Raises
        ------
        ExplorerError
        """
        opened = self._open(source)
        for table in opened.tables:
            if name in (table.name, *table.aliases):
                values = self._read(table)
                del self._values[table.name]
                return table, values
        names = ", ".join(table.name for table in opened.tables)
        raise ExplorerError(f"{opened.path.name} has no table {name}.", f"It has {names}.")

    def _open(self, source: Source) -> OpenedFile:
        mark = tuple(_mark(path) for path in (source.path, source.labels, source.target_labels) if path)
        if self._opened is None or source != self._source or mark != self._mark:
            self._opened, self._source, self._values = None, None, {}
            self._opened = open_file(
                source.path, labels=source.labels, target_labels=source.target_labels, header=source.header
            )
            self._source, self._mark = source, mark
        return self._opened

    def _read(self, table: EmbeddingTable) -> NDArray:
        if table.name not in self._values:
            values = table.read()
            if values.shape != (table.rows, table.dim):
                raise ExplorerError(
                    f"{table.name} holds {values.shape[0]} × {values.shape[1]} values, "
                    f"not the {table.rows} × {table.dim} that the file promised.",
                    "Open the file again: it may have been written to.",
                )
            self._values[table.name] = values
        return self._values[table.name]


def table_listing(table: EmbeddingTable, values: NDArray | None) -> TableListing:
    """What the window shows of a table; previews without numbers where there are no values at hand."""
    ends = sorted(
        {*range(min(_PREVIEW_ROWS, table.rows)), *range(max(0, table.rows - _PREVIEW_ROWS), table.rows)}
    )
    return TableListing(
        name=table.name,
        rows=table.rows,
        dim=table.dim,
        dtype=table.dtype,
        role=table.role,
        aliases=table.aliases,
        labels_source=table.labels.source if table.labels is not None else None,
        labels_count=table.labels.count if table.labels is not None else 0,
        notes=table.notes,
        preview=tuple(
            (row, label_of(table.labels, row), () if values is None else _first_values(values[row]))
            for row in ends
        ),
    )


def mappable(metadata: Mapping[str, NDArray]) -> dict[str, NDArray | Texts]:
    """Metadata columns as arrays that can be mapped: texts that are missing are empty."""
    return {
        name: texts_of(["" if value is None else str(value) for value in column.tolist()])
        if column.dtype.hasobject
        else column
        for name, column in metadata.items()
    }


def _first_values(row: NDArray) -> tuple[float, ...]:
    return tuple(float(value) for value in as_float32(row[:_PREVIEW_VALUES]))


def _mark(path: str) -> tuple[object, ...]:
    """Changes whenever the file is written to."""
    try:
        status = Path(path).stat()
    except OSError:
        return (path,)
    return path, status.st_mtime_ns, status.st_size
