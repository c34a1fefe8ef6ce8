"""What every encoder can do: texts and pictures to vectors of one space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.encoders.preprocessing import Preprocessing
from explorer.compute.encoders.tokenizing import TextTokenizer
from explorer.core.errors import ExplorerError
from explorer.core.text_note import TextNote

if TYPE_CHECKING:
    from explorer.compute.encoders.prompts import Conditioner

_BATCH = 64


@dataclass(frozen=True, eq=False)
class Encoded:
    """Texts as vectors.

    Attributes
    ----------
    vectors : float32 array, shape (n, dim)
        Of unit length, whatever the model's own output has; a vector that the model could not compute (its
        numbers left the range of half precision) is NaN, and keeps its row.
    notes : tuple of tuple of TextNote
        For each text: where it was cut, which words or scripts the tokenizer does not know.
    """

    vectors: NDArray[np.float32]
    notes: tuple[tuple[TextNote, ...], ...]


@dataclass(frozen=True)
class Limits:
    """What an encoder takes at most.

    Attributes
    ----------
    context_length : int or None
        Tokens of a text, special ones included; None without a text encoder.
    image_size : tuple of int or None
        Height and width of the pixels that it sees; None without an image encoder.
    """

    context_length: int | None
    image_size: tuple[int, int] | None


@dataclass(frozen=True)
class Similarity:
    """How the model was trained to turn a cosine into a probability: ``scale * cosine + bias``.

    Attributes
    ----------
    kind : {"softmax", "sigmoid"}
        Over all texts of a picture (CLIP), or for each pair by itself (SigLIP).
    scale, bias : float
    """

    kind: Literal["softmax", "sigmoid"]
    scale: float
    bias: float = 0.0


@dataclass(frozen=True, eq=False)
class TextTower:
    """The half that reads texts.

    Attributes
    ----------
    tokenizer : TextTokenizer
    forward : callable
        ``(ids, mask) -> features``: shapes (n, length), int64 and bool, to (n, dim).
    prefix : str
        Put before each text, as the model was trained.
    """

    tokenizer: TextTokenizer
    forward: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    prefix: str = ""


@dataclass(frozen=True, eq=False)
class ImageTower:
    """The half that sees pictures.

    Attributes
    ----------
    preprocessing : Preprocessing
    forward : callable
        ``pixels -> features``: shape (n, 3, height, width), normalised, to (n, dim).
    """

    preprocessing: Preprocessing
    forward: Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, eq=False)
class Encoder:
    """An encoder, loaded.

    Attributes
    ----------
    name : str
        The folder's or file's own, or ``owner/name`` of a cached model.
    kind : str
        In words: "CLIP", "SigLIP", "OpenAI CLIP", "OpenCLIP", "CLIP trained from scratch",
        "Stable Diffusion text encoder", "sentence encoder".
    path : Path
    dim : int
    fingerprint : str
        Tells these weights, and what they compute, from any others; the same on every machine and device.
    device : torch.device
    dtype : torch.dtype
        In which the model computes.
    text : TextTower or None
    image : ImageTower or None
    notes : tuple of str
        What the user should know, e.g. what was assumed because no file says it.
    similarity : Similarity or None
        None where the model has no trained temperature.
    conditioner : Conditioner or None
        Of a diffusion model's text encoder: the sequence that conditions the denoiser.
    """

    name: str
    kind: str
    path: Path
    dim: int
    fingerprint: str
    device: torch.device
    dtype: torch.dtype
    text: TextTower | None = None
    image: ImageTower | None = None
    notes: tuple[str, ...] = ()
    similarity: Similarity | None = None
    conditioner: Conditioner | None = None

    @property
    def has_text(self) -> bool:
        """Whether it reads texts."""
        return self.text is not None

    @property
    def has_images(self) -> bool:
        """Whether it sees pictures."""
        return self.image is not None

    @property
    def tokenizer(self) -> TextTokenizer | None:
        """How it reads texts."""
        return None if self.text is None else self.text.tokenizer

    @property
    def preprocessing(self) -> Preprocessing | None:
        """How it sees pictures; its ``prepare`` needs neither torch nor the encoder."""
        return None if self.image is None else self.image.preprocessing

    @property
    def limits(self) -> Limits:
        """What it takes at most."""
        return Limits(
            None if self.text is None else self.text.tokenizer.limit,
            None if self.image is None else self.image.preprocessing.size,
        )

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> Encoded:
        """Vectors of texts.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        Encoded
            Unit vectors, a row for each text.

        Raises
        ------
        ExplorerError
            This encoder reads no text.
        """
        if self.text is None:
            raise ExplorerError(f"{self.name} encodes no text.", " ".join(self.notes))
        tower, prefix = self.text, self.text.prefix
        parts, notes = [np.empty((0, self.dim), np.float32)], []
        for start in range(0, len(texts), _BATCH):
            tokens = tower.tokenizer.encode([prefix + text for text in texts[start : start + _BATCH]])
            ids = torch.from_numpy(tokens.ids).to(self.device)
            mask = torch.from_numpy(tokens.mask).to(self.device)
            parts.append(_unit(tower.forward(ids, mask)))
            notes += [_moved(each, len(prefix)) for each in tokens.notes]
        return Encoded(np.concatenate(parts), tuple(notes))

    @torch.inference_mode()
    def encode_images(self, pixels: NDArray | torch.Tensor) -> NDArray[np.float32]:
        """Vectors of pictures.

        Parameters
        ----------
        pixels : array or tensor, shape (n, 3, height, width)
            uint8 as ``preprocessing.prepare`` gives them, or floating-point numbers that are normalised
            already; on any device. The whole batch is computed at once.

        Returns
        -------
        float32 array, shape (n, dim)
            Of unit length; NaN in the rows that could not be computed.

        Raises
        ------
        ExplorerError
            This encoder sees no pictures, or these are not of its size.
        """
        if self.image is None:
            raise ExplorerError(f"{self.name} encodes no pictures.", " ".join(self.notes))
        batch = torch.from_numpy(pixels) if isinstance(pixels, np.ndarray) else pixels
        if batch.ndim != 4 or batch.shape[1:] != (3, *self.image.preprocessing.size):
            wanted, given = (3, *self.image.preprocessing.size), tuple(batch.shape[1:])
            raise ExplorerError(f"{self.name} sees pixels of the shape {wanted}, not {given}.")
        if not len(batch):
            return np.empty((0, self.dim), np.float32)
        batch = batch.to(self.device, non_blocking=True)
        if batch.dtype == torch.uint8:
            factor, shift = (
                torch.tensor(each, device=self.device).view(1, 3, 1, 1)
                for each in self.image.preprocessing.coefficients
            )
            batch = torch.addcmul(shift, batch.float(), factor)
        return _unit(self.image.forward(batch.to(self.dtype)))


def _unit(features: torch.Tensor) -> NDArray[np.float32]:
    """Unit vectors; infinite ones become NaN, those of length zero stay."""
    vectors: NDArray[np.float32] = torch.nn.functional.normalize(features.float(), dim=-1).cpu().numpy()
    return vectors


def _moved(notes: tuple[TextNote, ...], by: int) -> tuple[TextNote, ...]:
    """Notes on a text that had a prefix, on the text itself."""
    if not by:
        return notes
    return tuple(
        TextNote(note.kind, note.message, max(0, note.start - by), max(0, note.end - by)) for note in notes
    )
