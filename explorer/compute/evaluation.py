"""How well an index's captions find their pictures, and the pictures their captions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.encoders.base import Encoder
from explorer.compute.indexing import check_encoder
from explorer.compute.retrieval import evaluate
from explorer.core.errors import ExplorerError
from explorer.core.retrieval import Retrieval
from explorer.readers.picture_index import open_index, state_notes


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pictures, texts, and which picture each text belongs to; rows are those of the whole table.

    Attributes
    ----------
    images : float32 array, shape (rows, dim)
        NaN for pictures without a vector.
    texts : float32 array, shape (captions, dim)
    owners : int64 array, shape (captions,)
    encoder : str
        Its name; empty where nobody says.
    notes : tuple of str
    """

    images: NDArray[np.float32]
    texts: NDArray[np.float32]
    owners: NDArray[np.int64]
    encoder: str = ""
    notes: tuple[str, ...] = ()


def evaluate_index(
    path: Path, encoder: Callable[[str], Encoder], *, checkpoint: Checkpoint = no_checkpoint
) -> Retrieval:
    """Evaluate an index by its own captions; those of repeated pictures belong to the first of them.

    Parameters
    ----------
    path : Path
    encoder : callable
        Loads an encoder by its path; called only where the run that made the index was stopped before its
        captions.
    checkpoint : Checkpoint

    Raises
    ------
    ExplorerError
        There is no index or it has no captions, or its encoder is not where it was.
    """
    checkpoint(-1.0, "Reading")
    index = open_index(path)
    texts, owners = index.caption_vectors()
    if not len(texts):
        raise no_captions(path)
    made_by = index.manifest.encoder
    if not np.isfinite(texts).all(axis=1).any():
        loaded = encoder(made_by.path)
        check_encoder(path, index.manifest, loaded)
        texts = loaded.encode_text(index.all_captions()[0]).vectors
    notes = tuple(state_notes(index))
    return evaluate_pairs(
        Pairs(index.vectors(), texts, index.first_twin[owners], made_by.name, notes), checkpoint
    )


def evaluate_pairs(pairs: Pairs, checkpoint: Checkpoint = no_checkpoint) -> Retrieval:
    """Evaluate what takes part: pictures with a vector and a caption.

    Raises
    ------
    ExplorerError
        There are none.
    """
    lengths = np.linalg.norm(pairs.images, axis=1)
    fit = np.isfinite(lengths) & (lengths > 0)
    usable = np.isfinite(pairs.texts).all(axis=1) & pairs.texts.any(axis=1) & fit[pairs.owners]
    if not usable.any():
        raise ExplorerError("No picture has both a vector and a caption.")
    notes = list(pairs.notes)
    if left := len(usable) - np.count_nonzero(usable):
        notes.append(f"{left:,} captions are left out: they or their pictures have no vector.")
    rows, owners = np.unique(pairs.owners[usable], return_inverse=True)
    if without := np.count_nonzero(fit) - len(rows):
        notes.append(f"{without:,} pictures take no part: they have no caption, or repeat an earlier one.")
    images = pairs.images[rows] / lengths[rows, None]
    texts = pairs.texts[usable]
    texts = texts / np.linalg.norm(texts, axis=1, keepdims=True)
    found = evaluate(images, texts, owners.astype(np.int64), checkpoint)
    return replace(found, encoder=pairs.encoder, notes=tuple(notes))


def no_captions(path: Path) -> ExplorerError:
    """What to say of an index without captions."""
    return ExplorerError(
        f"{path.name} has no captions to evaluate with.",
        "Put captions.txt (image,caption) beside the pictures and index them again.",
    )
