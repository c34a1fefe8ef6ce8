"""``embedding-explorer map``: a table's layout as a picture, CSV or NPZ."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.cli.opening import choose_table, notes_of, open_with
from explorer.cli.printing import print_json, print_notes, printable
from explorer.cli.progress import Progress
from explorer.cli.writing import require_writable
from explorer.core.labels import label_of
from explorer.core.layout import LayoutSettings
from explorer.core.table import EmbeddingTable


def run(call: argparse.Namespace) -> int:
    """Lay a table of ``call.file`` out and write ``call.output``."""
    output: Path = call.output
    require_writable(output)
    is_picture = output.suffix.lower() == ".png"
    if is_picture:
        from explorer.cli.display import prepare_offscreen

        prepare_offscreen()
    opened = open_with(call.file, call.options)
    table = choose_table(opened, call.options)
    settings = LayoutSettings(method=call.method, seed=call.seed)
    from explorer.cli.laying_out import lay_out

    with Progress() as progress:
        laid = lay_out(table, settings, call.options, for_picture=is_picture, checkpoint=progress)
    if is_picture:
        from explorer.cli.picture import write_picture

        write_picture(output, call.size, call.file, table, laid, settings)
    else:
        _write_positions(output, table, laid.xy)
    placed = int(np.isfinite(laid.xy).all(axis=1).sum())
    notes = notes_of(opened, table)
    if table.dim <= 2:
        notes.append(f"Vectors of {table.dim} number{'s'[: table.dim - 1]} are drawn as they are.")
    if call.options.json:
        print_json(
            {
                "file": str(call.file),
                "table": table.name,
                "output": str(output),
                "method": settings.method,
                "seed": settings.seed,
                "rows": table.rows,
                "placed": placed,
                "notes": notes,
            }
        )
        return 0
    how = f"by {settings.method}" if table.dim > 2 else "as they are"
    print(printable(f"{output}: {placed:,} of {table.rows:,} rows of {table.name}, {how}"))
    print_notes(notes)
    return 0


def _write_positions(output: Path, table: EmbeddingTable, xy: NDArray[np.float32]) -> None:
    from explorer.export.tables import write_layout_csv, write_layout_npz

    write = write_layout_csv if output.suffix.lower() == ".csv" else write_layout_npz
    write(output, np.arange(table.rows), xy, (label_of(table.labels, row) for row in range(table.rows)))
