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
    if call.options.json:
        print_json(
            {
                "query": text,
                "matched": resolved.matched,
                "table": table.name,
                "metric": str(result.metric),
                "neighbours": [
                    {"rank": rank, "row": row, "label": label_of(table.labels, row), "score": float(score)}
                    for rank, (row, score) in enumerate(_pairs(result), 1)
                ],
                "notes": notes,
            }
        )
        return 0
    print(printable(f"{text}  ({resolved.matched}), {table.name}, {result.metric}"))
    print()
    score_name = "DISTANCE" if result.metric.ascending else "SCORE"
    print_columns(
        ("RANK", score_name, "ROW", "LABEL"),
        [
            (str(rank), score, str(row), label_of(table.labels, row))
            for rank, (row, score) in enumerate(_pairs(result), 1)
        ],
        right=(0, 1, 2),
    )
    print_notes(notes)
    return 0


def _search(table: EmbeddingTable, resolved: Resolved, call: argparse.Namespace) -> SearchResult:
    # torch takes seconds to import: only once the query is known to be one.
    from explorer.compute.device import choose_device
    from explorer.compute.search import candidate_rows, query_vector, search
    from explorer.compute.vectors import Vectors

    options, metric = call.options, Metric(call.metric)
    array = table.read()
    scale = table.dim**0.5 if options.scaled else 1.0
    vectors = Vectors(array, health_of(table, array), choose_device(options.device), scale)
    candidates = candidate_rows(
        vectors,
        metric,
        own=[term.row for term in resolved.terms],
        special=None if table.labels is None else table.labels.special,
        all_rows=options.all_rows,
        include_query=options.include_query,
    )
    return search(vectors, query_vector(vectors, resolved.terms, metric), metric, call.k, candidates)


def _pairs(result: SearchResult) -> list[tuple[int, str]]:
    """Rows and their scores, in the fewest digits that are the same float32."""
    return [(int(row), str(score)) for row, score in zip(result.rows, result.scores, strict=True)]
