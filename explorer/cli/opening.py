"""Opening a file and choosing one of its tables, as the options say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from numpy.typing import NDArray

from explorer.cli.options import Options
from explorer.core.errors import ExplorerError
from explorer.core.health import Health
from explorer.core.health_scan import examine, row_blocks
from explorer.core.table import EmbeddingTable, OpenedFile
from explorer.readers import open_file
from explorer.readers.mapped_file import let_go

_OFFERED = 12
_LET_GO_BYTES = 16 << 20


def open_with(path: Path, options: Options) -> OpenedFile:
    """Open a file with the labels that the options name.

    Raises
    ------
    ExplorerError
    """
    return open_file(path, labels=options.labels, target_labels=options.target_labels, header=options.header)


def choose_table(opened: OpenedFile, options: Options) -> EmbeddingTable:
    """The table that was asked for by name or alias; the likeliest where none was.

    Raises
    ------
    ExplorerError
        There is none of that name; the hint names those there are.
    """
    if options.table is None:
        return opened.tables[0]
    for table in opened.tables:
        if options.table == table.name or options.table in table.aliases:
            return table
    names = ", ".join(table.name for table in opened.tables[:_OFFERED])
    more = len(opened.tables) - _OFFERED
    raise ExplorerError(
        f"{opened.path.name} has no table named “{options.table}”.",
        f"It holds {names}{f' and {more} more' if more > 0 else ''}.",
    )


def health_of(table: EmbeddingTable, vectors: NDArray) -> Health:
    """Examine a table's vectors in a pass that keeps none of them in memory."""
    padding = 0 if table.labels is None else table.labels.padding
    return examine(_passing(vectors), table.rows, padding)


def notes_of(opened: OpenedFile, *tables: EmbeddingTable) -> list[str]:
    """What is to be said of a file and of some of its tables."""
    notes = list(opened.notes)
    for table in tables:
        notes.extend(note for note in table.notes if note not in notes)
        if table.aliases:
            notes.append(f"{table.name} is stored once and is also named {', '.join(table.aliases)}.")
    return notes


def _passing(vectors: NDArray) -> Iterator[NDArray]:
    """A table's blocks of rows; the pages of a mapped file are let go again behind them."""
    held = 0
    for block in row_blocks(vectors):
        yield block
        held += block.nbytes
        if held >= _LET_GO_BYTES:
            held = 0
            let_go(vectors)
