"""``embedding-explorer evaluate``: how well captions find their pictures, and pictures their captions."""

from __future__ import annotations

import argparse
from pathlib import Path

from explorer.cli.candidates import Candidates, load_encoder, open_candidates
from explorer.cli.printing import print_columns, print_json, print_notes, printable
from explorer.cli.progress import Progress
from explorer.compute.encoders.base import Encoder
from explorer.compute.evaluation import Pairs, evaluate_index, evaluate_pairs, no_captions
from explorer.core.dtypes import as_float32
from explorer.core.errors import ExplorerError
from explorer.core.retrieval import Recall
from explorer.readers.captions import find_captions
from explorer.readers.index_files import is_index
from explorer.readers.picture_index import open_index


def run(call: argparse.Namespace) -> int:
    """Evaluate ``call.file``."""
    with Progress() as progress:
        progress(-1.0, "Reading")
        if is_index(call.file) and call.captions is None:
            found = evaluate_index(call.file, lambda _made_by: _encoder(call), checkpoint=progress)
        else:
            found = evaluate_pairs(_of_candidates(call), progress)
    pictures, captions = found.image_to_text.queries, found.text_to_image.queries
    directions = {"text_to_image": found.text_to_image, "image_to_text": found.image_to_text}
    if call.options.json:
        print_json(
            {
                "index": str(call.file.absolute()),
                "encoder": found.encoder or None,
                "pictures": pictures,
                "captions": captions,
                **{name: _as_json(recall) for name, recall in directions.items()},
                "notes": list(found.notes),
            }
        )
        return 0
    made_by = f" by {found.encoder}" if found.encoder else ""
    print(printable(f"{call.file}: {pictures:,} pictures and {captions:,} captions{made_by}"))
    print()
    print_columns(
        ("DIRECTION", "RECALL@1", "RECALL@5", "RECALL@10", "MEDIAN RANK"),
        [
            (
                name.replace("_", " "),
                *(f"{share:.3f}" for share in (recall.at_1, recall.at_5, recall.at_10)),
                f"{recall.median_rank:g}",
            )
            for name, recall in directions.items()
        ],
        right=(1, 2, 3, 4),
    )
    print_notes(found.notes)
    return 0


def _as_json(recall: Recall) -> dict[str, float]:
    return {
        "recall@1": recall.at_1,
        "recall@5": recall.at_5,
        "recall@10": recall.at_10,
        "median_rank": recall.median_rank,
        "queries": recall.queries,
    }


def _encoder(call: argparse.Namespace) -> Encoder:
    """The encoder that made the index, where it is or where the command says."""
    return load_encoder(open_index(call.file), call.encoder, call.options.device)


def _of_candidates(call: argparse.Namespace) -> Pairs:
    """Vectors from elsewhere, or an index with another list of captions."""
    if call.captions is None:
        raise ExplorerError(f"{call.file} is no index of pictures.", "Name a list with --captions.")
    candidates = open_candidates(call.file, call.encoder, call.options)
    names = _names(candidates, call.file)
    found = find_captions(call.file.absolute().parent, names, call.captions)
    pairs = [(text, row) for row, name in enumerate(names) for text in found.of.get(name, ())]
    if not pairs:
        raise no_captions(call.file)
    encoder = candidates.encoder()
    texts = encoder.encode_text([text for text, _ in pairs]).vectors
    owners = candidates.twins[[row for _, row in pairs]]
    notes = list(candidates.notes)
    if found.unmatched:
        notes.append(f"{len(found.unmatched):,} names in {call.captions.name} belong to no picture.")
    return Pairs(as_float32(candidates.vectors), texts, owners, encoder.name, tuple(notes))


def _names(candidates: Candidates, path: Path) -> list[str]:
    if is_index(path):
        index = open_index(path)
        return [index.name(row) for row in range(len(index))]
    return [candidates.path(row) for row in range(len(candidates.vectors))]
