"""``embedding-explorer neighbours``: the rows nearest to a query."""

from __future__ import annotations

import argparse

from explorer.cli.opening import choose_table, health_of, notes_of, open_with
from explorer.cli.printing import print_columns, print_json, print_notes, printable
from explorer.core.label_index import LabelIndex
from explorer.core.labels import label_of
from explorer.core.query_resolve import Resolved, resolve
from explorer.core.results import Metric, SearchResult
from explorer.core.table import EmbeddingTable


def run(call: argparse.Namespace) -> int:
    """Search ``call.file`` for the neighbours of ``call.query``."""
    text = " ".join(call.query)
    opened = open_with(call.file, call.options)
    table = choose_table(opened, call.options)
    index = None if table.labels is None else LabelIndex(table.labels)
    resolved = resolve(text, index, table.rows)
    result = _search(table, resolved, call)
    notes = [*notes_of(opened, table), *resolved.notes]
    if not len(result.rows):
        notes.append("No other row can be a neighbour.")
    ranked = [
        (rank, int(row), label_of(table.labels, int(row)), score)
        for rank, (row, score) in enumerate(zip(result.rows, result.scores, strict=True), 1)
    ]
    if call.options.json:
        print_json(
            {
                "query": text,
                "matched": resolved.matched,
                "table": table.name,
                "metric": str(result.metric),
                "neighbours": [
                    # A float32's shortest digits, not its long expansion as a float64.
                    {"rank": rank, "row": row, "label": label, "score": float(str(score))}
                    for rank, row, label, score in ranked
                ],
                "notes": notes,
            }
        )
        return 0
    print(printable(f"{text}: {resolved.matched} in {table.name} by {result.metric}"))
    print()
    print_columns(
        ("RANK", "DISTANCE" if result.metric.ascending else "SCORE", "ROW", "LABEL"),
        [(str(rank), _shown(score, result.metric), str(row), label) for rank, row, label, score in ranked],
        right=(0, 1, 2),
    )
    print_notes(notes)
    return 0


def _shown(score: float, metric: Metric) -> str:
    """A score in a column: four decimals, or four digits where its size leaves nothing of them to see."""
    usual = metric is Metric.COSINE or score == 0 or 1e-3 <= abs(score) < 1e7
    return f"{score:.4f}" if usual else f"{score:.3e}"


def _search(table: EmbeddingTable, resolved: Resolved, call: argparse.Namespace) -> SearchResult:
    # torch takes seconds to import: only once the query is known to be one.
    from explorer.compute.device import choose_device
    from explorer.compute.search import find_neighbours
    from explorer.compute.vectors import Vectors

    options = call.options
    values = table.read()
    scale = table.dim**0.5 if options.scaled else 1.0
    return find_neighbours(
        Vectors(values, health_of(table, values), choose_device(options.device), scale),
        Metric(call.metric),
        call.k,
        terms=resolved.terms,
        special=None if table.labels is None else table.labels.special,
        all_rows=options.all_rows,
        include_query=options.include_query,
    )
