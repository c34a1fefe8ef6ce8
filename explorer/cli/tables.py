"""``embedding-explorer tables``: what a file holds."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from explorer.cli.opening import choose_table, health_of, notes_of, open_with
from explorer.cli.printing import print_columns, print_json, print_notes, printable
from explorer.core.health import HealthCounts
from explorer.core.table import EmbeddingTable

_FAULTS = {
    "nan": "NaN",
    "inf": "infinite",
    "zero": "all zero",
    "duplicates": "repeated",
    "padding": "padding",
}


def run(call: argparse.Namespace) -> int:
    """List the tables of ``call.file``, or the one that the options name."""
    opened = open_with(call.file, call.options)
    tables = opened.tables if call.options.table is None else (choose_table(opened, call.options),)
    counts = [health_of(table, table.read()).counts for table in tables]
    notes = notes_of(opened, *tables)
    if call.options.json:
        print_json(
            {
                "file": str(call.file),
                "format": opened.format,
                "tables": [_as_json(table, count) for table, count in zip(tables, counts, strict=True)],
                "notes": notes,
            }
        )
        return 0
    print(printable(f"{_name(call.file)}: {opened.format}"))
    print()
    print_columns(
        ("TABLE", "ROWS", "DIM", "TYPE", "ROLE", "LABELS", "ROWS WITH FAULTS"),
        [_as_row(table, count) for table, count in zip(tables, counts, strict=True)],
        right=(1, 2),
    )
    print_notes(notes)
    return 0


def _as_json(table: EmbeddingTable, counts: HealthCounts) -> dict[str, object]:
    labels = table.labels
    return {
        "name": table.name,
        "rows": table.rows,
        "dim": table.dim,
        "dtype": table.dtype,
        "role": str(table.role),
        "labels": None if labels is None else {"source": labels.source, "count": labels.count},
        "health": asdict(counts),
    }


def _as_row(table: EmbeddingTable, counts: HealthCounts) -> tuple[str, ...]:
    labels = "none" if table.labels is None else f"{table.labels.count:,} from {table.labels.source}"
    faults = [f"{count:,} {_FAULTS[kind]}" for kind, count in asdict(counts).items() if count]
    return (
        table.name,
        f"{table.rows:,}",
        f"{table.dim:,}",
        table.dtype,
        str(table.role),
        labels,
        ", ".join(faults) or "none",
    )


def _name(path: Path) -> str:
    return path.name or str(path)
