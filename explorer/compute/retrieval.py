"""Pictures for a query, and how well an encoder finds pictures and captions by each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.decoding import within_reason
from explorer.compute.encoders.base import Encoder
from explorer.core.errors import ExplorerError
from explorer.core.query import Term
from explorer.core.query_sum import weighted_sum
from explorer.core.retrieval import Recall, Retrieval
from explorer.readers.pictures import Picture

_BLOCK_BYTES = 32 << 20


@dataclass(frozen=True, eq=False)
class PictureQuery:
    """A query as one vector.

    Attributes
    ----------
    vector : float64 array, shape (dim,)
    own : tuple of int
        Rows that the query names.
    notes : tuple of str
    """

    vector: NDArray[np.float64]
    own: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def picture_query(
    terms: Sequence[Term],
    picture: Picture | None,
    encoder: Callable[[], Encoder],
    vector_of: Callable[[int], NDArray],
) -> PictureQuery:
    """The weighted sum of the unit vectors of texts, rows and a picture.

    Parameters
    ----------
    terms : sequence of Term
    picture : Picture or None
        Of weight 1.
    encoder : callable
        Gives the encoder; called only where there is something to encode.
    vector_of : callable
        A row's vector. Raises ExplorerError where the row is not there or has none.

    Returns
    -------
    PictureQuery

    Raises
    ------
    ExplorerError
        The encoder can't encode what is asked for, or the terms cancel out.
    """
    parts: list[tuple[float, NDArray[np.floating]]] = []
    notes: list[str] = []
    texts = [term for term in terms if term.text is not None]
    if texts:
        encoded = encoder().encode_text([term.text or "" for term in texts])
        parts += [(term.weight, vector) for term, vector in zip(texts, encoded.vectors, strict=True)]
        notes += [note.message for own in encoded.notes for note in own]
    own = tuple(term.row for term in terms if term.row is not None)
    parts += [(term.weight, vector_of(term.row)) for term in terms if term.row is not None]
    if picture is not None:
        parts.append((1.0, encode_picture(encoder(), picture)))
    if not parts:
        raise ExplorerError("There is nothing to look for.", "Type a query, or give a picture.")
    return PictureQuery(weighted_sum(parts), own, tuple(dict.fromkeys(notes)))


def encode_picture(encoder: Encoder, picture: Picture) -> NDArray[np.float32]:
    """One picture's vector, as an index has it, shape (dim,).

    Raises
    ------
    ExplorerError
        The encoder sees no pictures.
    """
    if encoder.preprocessing is None:
        raise ExplorerError(f"{encoder.name} encodes no pictures.", " ".join(encoder.notes))
    image = within_reason(picture.image, encoder.preprocessing)
    vectors = encoder.encode_images(encoder.preprocessing.prepare(image)[None])
    return np.asarray(vectors[0], np.float32)


def evaluate(
    images: NDArray[np.float32],
    texts: NDArray[np.float32],
    owners: NDArray[np.int64],
    checkpoint: Checkpoint = no_checkpoint,
) -> Retrieval:
    """Recall and median rank by the protocol of image and text retrieval.

    As in Karpathy and Fei-Fei (2015), on Flickr and COCO: a caption's rank is that of its own picture among
    all pictures; a picture's rank is that of the best of its own captions among all captions. Of equal scores
    the earlier row comes first.

    Parameters
    ----------
    images : float32 array, shape (n, dim)
        Finite, of unit length.
    texts : float32 array, shape (m, dim)
        Likewise.
    owners : int64 array, shape (m,)
        The picture of each text; every picture has at least one.
    checkpoint : Checkpoint

    Returns
    -------
    Retrieval
    """
    n, m = len(images), len(texts)
    by_text = np.empty(m, np.int64)
    step = max(1, _BLOCK_BYTES // (4 * max(n, m)))
    for start in range(0, m, step):
        checkpoint(0.5 * start / m, "Captions")
        scores = texts[start : start + step] @ images.T
        by_text[start : start + step] = _ranks(scores, np.arange(len(scores)), owners[start : start + step])
    order = np.argsort(owners, kind="stable")
    bounds = np.searchsorted(owners[order], np.arange(n + 1))
    by_image = np.empty(n, np.int64)
    for start in range(0, n, step):
        checkpoint(0.5 + 0.5 * start / n, "Pictures")
        stop = min(start + step, n)
        scores = images[start:stop] @ texts.T
        mine = order[bounds[start] : bounds[stop]]
        ranks = _ranks(scores, owners[mine] - start, mine)
        by_image[start:stop] = np.minimum.reduceat(ranks, bounds[start:stop] - bounds[start])
    return Retrieval(Recall.of(by_text), Recall.of(by_image))


def _ranks(
    scores: NDArray[np.float32], rows: NDArray[np.int64], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The rank of ``scores[rows[i], places[i]]`` in its row; equal scores count where they come before."""
    ranks = np.empty(len(rows), np.int64)
    for i, (row, place) in enumerate(zip(rows, places, strict=True)):
        line = scores[row]
        own = line[place]
        ranks[i] = 1 + np.count_nonzero(line > own) + np.count_nonzero(line[:place] == own)
    return ranks
