"""``embedding-explorer search``: the pictures nearest to a text, a picture or both."""

from __future__ import annotations

import argparse
from functools import cache

import numpy as np

from explorer.cli.candidates import open_candidates
from explorer.cli.printing import print_columns, print_json, print_notes, printable
from explorer.compute.device import choose_device
from explorer.compute.retrieval import picture_query
from explorer.compute.search import search
from explorer.compute.vectors import Vectors
from explorer.core.errors import ExplorerError
from explorer.core.query_text import read_query
from explorer.core.results import Metric
from explorer.readers.pictures import read_picture


def run(call: argparse.Namespace) -> int:
    """Search ``call.file`` for pictures."""
    text = " ".join(call.query)
    if not text.strip() and call.image is None:
        raise ExplorerError("There is nothing to look for.", "Type a query, or name a picture with --image.")
    terms, notes = read_query(text) if text.strip() else ((), ())
    if call.image is not None and not call.image.exists():
        raise ExplorerError(f"There is no file {call.image}.")
    picture = None if call.image is None else read_picture(call.image)
    candidates = open_candidates(call.file, call.encoder, call.options)
    query = picture_query(terms, picture, cache(candidates.encoder), candidates.vector_of)
    taken = candidates.counted.copy()
    if not call.options.include_query:
        taken[candidates.twins[list(query.own)]] = False
    vectors = Vectors(candidates.vectors, candidates.health, choose_device(call.options.device))
    found = search(vectors, query.vector, Metric.COSINE, call.k, taken)
    ranked = list(zip(found.rows.tolist(), found.scores, strict=True))
    notes = [*notes, *query.notes, *candidates.notes]
    if not ranked:
        notes.append(
            "No other picture can be a result." if np.any(candidates.counted) else "No picture has a vector."
        )
    if call.options.json:
        print_json(
            {
                "query": text if call.query else None,
                "encoder": candidates.encoder_name,
                "notes": notes,
                "results": [
                    {
                        "rank": rank,
                        "row": row,
                        "path": candidates.path(row),
                        # A float32's shortest digits, not its long expansion as a float64.
                        "score": float(str(score)),
                        "caption": candidates.caption(row),
                    }
                    for rank, (row, score) in enumerate(ranked, 1)
                ],
            }
        )
        return 0
    asked = [*([text] if text.strip() else []), *([f"the picture {call.image}"] if call.image else [])]
    print(printable(" + ".join(asked)))
    print()
    print_columns(
        ("RANK", "ROW", "SCORE", "PATH", "CAPTION"),
        [
            (str(rank), str(row), f"{score:.4f}", candidates.path(row), candidates.caption(row) or "")
            for rank, (row, score) in enumerate(ranked, 1)
        ],
        right=(0, 1, 2),
    )
    print_notes(notes)
    return 0
