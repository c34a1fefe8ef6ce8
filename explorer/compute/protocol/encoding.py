"""What the encoder worker answers: queries encoded, pictures indexed, recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from explorer.compute.protocol.messages import ENCODER, Request


@dataclass(frozen=True)
class EncoderRequest(Request):
    """What the encoder worker answers."""

    worker: ClassVar[str] = ENCODER


@dataclass(frozen=True)
class OpenEncoder(EncoderRequest):
    """For an EncoderInfo.

    Attributes
    ----------
    path : str
        A folder, a file, or the name of a cached model.
    index : str or None
        The picture index that it is for: an encoder that did not make it is refused.
    """

    path: str
    index: str | None = None


@dataclass(frozen=True)
class EncodeQuery(EncoderRequest):
    """For EncodedParts: ``path`` names the encoder, ``pictures`` are files."""

    path: str
    texts: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True)
class IndexFolder(EncoderRequest):
    """For an IndexReport: a folder of pictures to an index, or one brought up to date.

    Attributes
    ----------
    folder, encoder, index : str
        Paths.
    captions : str or None
        A list chosen by hand.
    """

    folder: str
    encoder: str
    index: str
    captions: str | None = None


@dataclass(frozen=True)
class Evaluate(EncoderRequest):
    """For a Retrieval of an index's captions and pictures."""

    index: str
