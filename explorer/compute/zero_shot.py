"""Zero-shot classes: each row's best among some typed ones, and how probable the encoder holds it."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.parallel import map_blocks
from explorer.compute.vectors import Vectors
from explorer.core.errors import ExplorerError
from explorer.core.retrieval import Classified

MOST_CLASSES = 1000
_BLOCK_BYTES = 4 << 20


def classify(
    vectors: Vectors,
    class_vectors: NDArray[np.float32],
    kind: str | None,
    scale: float = 1.0,
    bias: float = 0.0,
    checkpoint: Checkpoint = no_checkpoint,
) -> Classified:
    """Find the class that each row is nearest to by cosine.

    Parameters
    ----------
    vectors : Vectors
    class_vectors : float32 array, shape (classes, dim)
    kind : {"softmax", "sigmoid"} or None
        The probability is the softmax over all classes of ``scale * cosine + bias`` (Radford et al., 2021),
        or that number's sigmoid (Zhai et al., 2023); None gives the cosine itself.
    scale, bias : float
    checkpoint : Checkpoint

    Returns
    -------
    Classified

    Raises
    ------
    ExplorerError
        There are too many classes, or one has no vector or one of another dimension.
    """
    if len(class_vectors) > MOST_CLASSES:
        raise ExplorerError(f"{len(class_vectors):,} classes are more than {MOST_CLASSES:,}.", "Type fewer.")
    if class_vectors.shape[1] != vectors.dim:
        raise ExplorerError(
            f"The classes have {class_vectors.shape[1]} dimensions, the table has {vectors.dim}."
        )
    lengths = np.linalg.norm(class_vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ExplorerError("A class has no vector that can be compared.")
    classes = torch.from_numpy(class_vectors / lengths).to(vectors.device)
    codes = np.full(vectors.rows, -1, np.int16)
    probability = np.full(vectors.rows, np.nan, np.float32)

    def work(start: int, stop: int) -> None:
        rows = torch.nn.functional.normalize(vectors.block(start, stop), dim=1)
        cosines = rows @ classes.T
        best = cosines.max(dim=1)
        if kind == "softmax":
            shares = torch.softmax(scale * cosines, dim=1).amax(dim=1)
        elif kind == "sigmoid":
            shares = torch.sigmoid(scale * best.values + bias)
        else:
            shares = best.values
        codes[start:stop] = best.indices.cpu().numpy()
        probability[start:stop] = shares.cpu().numpy()

    for _ in map_blocks(work, vectors.spans(_BLOCK_BYTES), checkpoint, "Classes"):
        pass
    bad = ~vectors.health.healthy
    codes[bad], probability[bad] = -1, np.nan
    return Classified(codes, probability)
