"""What the window knows of an encoder and of what it made: everything but the model itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.core.text_note import TextNote


@dataclass(frozen=True)
class EncoderInfo:
    """An encoder, loaded in the encoder worker.

    Attributes
    ----------
    name : str
        The folder's or file's own, or ``owner/name`` of a cached model.
    kind : str
        In words, e.g. ``"CLIP"`` or ``"sentence encoder"``.
    path : str
        By which it is opened again.
    dim : int
    fingerprint : str
        Tells its weights, and what they compute, from any others.
    has_text, has_images : bool
        Whether it reads texts; whether it sees pictures.
    context_length : int or None
        Most tokens of a text, special ones included; None without a text encoder.
    image_size : tuple of int or None
        Height and width of the pixels that it sees; None without an image encoder.
    notes : tuple of str
        What the user should know of it.
    device : str
        Where it computes, e.g. ``"cpu"`` or ``"cuda:0"``.
    similarity_kind : {"softmax", "sigmoid"} or None
        How it was trained to turn a cosine into a probability, ``scale * cosine + bias``: over all texts of
        a picture (CLIP), or for each pair by itself (SigLIP); None where it has no trained temperature.
    similarity_scale, similarity_bias : float
    """

    name: str
    kind: str
    path: str
    dim: int
    fingerprint: str
    has_text: bool
    has_images: bool
    context_length: int | None = None
    image_size: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()
    device: str = "cpu"
    similarity_kind: Literal["softmax", "sigmoid"] | None = None
    similarity_scale: float = 1.0
    similarity_bias: float = 0.0


@dataclass(frozen=True, eq=False)
class EncodedParts:
    """A query's texts, then its pictures, as vectors.

    Attributes
    ----------
    vectors : float32 array, shape (texts + pictures, dim)
        Of unit length; NaN where the model could not compute one.
    notes : tuple of tuple of TextNote
        For each text; places are those in the text itself.
    """

    vectors: NDArray[np.float32]
    notes: tuple[tuple[TextNote, ...], ...] = ()
