"""``embedding-explorer evaluate``: how well captions find their pictures, and pictures their captions."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.cli.candidates import Candidates, load_encoder, open_candidates
from explorer.cli.printing import print_columns, print_json, print_notes, printable
from explorer.cli.progress import Progress
from explorer.compute.retrieval import Recall, evaluate
from explorer.core.dtypes import as_float32
from explorer.core.errors import ExplorerError
from explorer.readers.captions import find_captions
from explorer.readers.index_files import is_index
from explorer.readers.picture_index import PictureIndex, open_index, state_notes


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pictures, texts, and which picture each text belongs to; rows are those of the whole index."""

    images: NDArray[np.float32]
    texts: NDArray[np.float32]
    owners: NDArray[np.int64]
    encoder_name: str | None
    notes: list[str]


def run(call: argparse.Namespace) -> int:
    """Evaluate ``call.file``."""
    with Progress() as progress:
        progress(-1.0, "Reading")
        own = is_index(call.file) and call.captions is None
        pairs = _of_index(open_index(call.file), call) if own else _of_candidates(call)
        images, texts, owners = _taking_part(pairs)
        found = evaluate(images, texts, owners, progress)
    directions = {"text_to_image": found.text_to_image, "image_to_text": found.image_to_text}
    if call.options.json:
        print_json(
            {
                "index": str(call.file.absolute()),
                "encoder": pairs.encoder_name,
                "pictures": len(images),
                "captions": len(texts),
                **{name: _as_json(recall) for name, recall in directions.items()},
                "notes": pairs.notes,
            }
        )
        return 0
    made_by = f" by {pairs.encoder_name}" if pairs.encoder_name else ""
    print(printable(f"{call.file}: {len(images):,} pictures and {len(texts):,} captions{made_by}"))
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
    print_notes(pairs.notes)
    return 0


def _as_json(recall: Recall) -> dict[str, float]:
    return {
        "recall@1": recall.at_1,
        "recall@5": recall.at_5,
        "recall@10": recall.at_10,
        "median_rank": recall.median_rank,
        "queries": recall.queries,
    }


def _of_index(index: PictureIndex, call: argparse.Namespace) -> _Pairs:
    """An index's own captions; those of repeated pictures belong to the first of them."""
    texts, owners = index.caption_vectors()
    name = index.manifest.encoder.name
    if len(texts) and not np.isfinite(texts).all(axis=1).any():
        # Indexed by a run that was stopped before its captions.
        encoder = load_encoder(index, call.encoder, call.options.device)
        texts = encoder.encode_text(index.all_captions()[0]).vectors
    if not len(texts):
        raise _no_captions(call.file)
    return _Pairs(index.vectors(), texts, index.first_twin[owners], name, state_notes(index))


def _of_candidates(call: argparse.Namespace) -> _Pairs:
    """Vectors from elsewhere, or an index with another list of captions."""
    if call.captions is None:
        raise ExplorerError(f"{call.file} is no index of pictures.", "Name a list with --captions.")
    candidates = open_candidates(call.file, call.encoder, call.options)
    names = _names(candidates, call.file)
    found = find_captions(call.file.absolute().parent, names, call.captions)
    pairs = [(text, row) for row, name in enumerate(names) for text in found.of.get(name, ())]
    if not pairs:
        raise _no_captions(call.file)
    encoder = candidates.encoder()
    texts = encoder.encode_text([text for text, _ in pairs]).vectors
    owners = candidates.twins[[row for _, row in pairs]]
    notes = list(candidates.notes)
    if found.unmatched:
        notes.append(f"{len(found.unmatched):,} names in {call.captions.name} belong to no picture.")
    return _Pairs(as_float32(candidates.vectors), texts, owners, encoder.name, notes)


def _names(candidates: Candidates, path: Path) -> list[str]:
    if is_index(path):
        index = open_index(path)
        return [index.name(row) for row in range(len(index))]
    return [candidates.path(row) for row in range(len(candidates.vectors))]


def _taking_part(pairs: _Pairs) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """Pictures with a vector and a caption, unit vectors of both, and the owners among those pictures."""
    lengths = np.linalg.norm(pairs.images, axis=1)
    fit = np.isfinite(lengths) & (lengths > 0)
    usable = np.isfinite(pairs.texts).all(axis=1) & pairs.texts.any(axis=1) & fit[pairs.owners]
    if not usable.any():
        raise ExplorerError("No picture has both a vector and a caption.")
    if left := len(usable) - np.count_nonzero(usable):
        pairs.notes.append(f"{left:,} captions are left out: they or their pictures have no vector.")
    rows, owners = np.unique(pairs.owners[usable], return_inverse=True)
    if without := np.count_nonzero(fit) - len(rows):
        pairs.notes.append(
            f"{without:,} pictures take no part: they have no caption, or repeat an earlier one."
        )
    images = pairs.images[rows] / lengths[rows, None]
    texts = pairs.texts[usable]
    return images, texts / np.linalg.norm(texts, axis=1, keepdims=True), owners.astype(np.int64)


def _no_captions(path: Path) -> ExplorerError:
    return ExplorerError(
        f"{path.name} has no captions to evaluate with.",
        "Put captions.txt (image,caption) beside the pictures and index them again.",
    )
