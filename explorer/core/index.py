"""What an index of pictures says of itself, and how far a run over a folder is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

FORMAT = "embedding-explorer picture index"
VERSION = 1


@dataclass(frozen=True)
class EncoderIdentity:
    """The encoder that made an index's vectors.

    Attributes
    ----------
    name, kind : str
        As shown.
    path : str
        Where it lay, absolute.
    fingerprint : str
        Tells its weights, and what they compute, from any others.
    dim : int
    """

    name: str
    kind: str
    path: str
    fingerprint: str
    dim: int


@dataclass(frozen=True)
class Manifest:
    """An index's description of itself.

    Attributes
    ----------
    folder : str
        The pictures' folder, absolute.
    folder_beside : str
        The same, seen from the index: found again where both have moved together.
    encoder : EncoderIdentity
    preprocessing : mapping
        How a picture became the encoder's pixels (``Preprocessing.to_json``).
    background : tuple of int
        RGB, that transparent pixels were laid over.
    complete : bool
        False while a run is under way, or was stopped.
    caption_sources, unmatched_captions : tuple of str
        Where captions come from, and names in there that no picture has.
    """

    folder: str
    folder_beside: str
    encoder: EncoderIdentity
    preprocessing: Mapping[str, Any]
    background: tuple[int, ...]
    complete: bool = False
    caption_sources: tuple[str, ...] = ()
    unmatched_captions: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Manifest:
        """What ``to_json`` gave.

        Raises
        ------
        ValueError
            The values are not of that form.
        """
        try:
            encoder = EncoderIdentity(**values["encoder"])
            texts = (encoder.name, encoder.kind, encoder.path, encoder.fingerprint, values["folder"])
            if not all(isinstance(text, str) for text in texts) or type(encoder.dim) is not int:
                raise ValueError("texts or numbers are of another type")
            return cls(
                folder=values["folder"],
                folder_beside=str(values["folder_beside"]),
                encoder=encoder,
                preprocessing=dict(values["preprocessing"]),
                background=tuple(values["background"]),
                complete=bool(values["complete"]),
                caption_sources=tuple(values["caption_sources"]),
                unmatched_captions=tuple(values["unmatched_captions"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"no manifest: {error}") from error


@dataclass(frozen=True)
class IndexProgress:
    """How far a run is.

    Attributes
    ----------
    stage : str
        In words: "Looking through the folder", "Pictures", "Captions", "Saving".
    done, total : int
        Of the stage; total is 0 where nobody knows it yet.
    rate : float
        A second, of late; 0 where it is not known yet.
    """

    stage: str
    done: int = 0
    total: int = 0
    rate: float = 0.0

    @property
    def fraction(self) -> float:
        """Of the stage, 0 to 1; -1 where nobody knows it."""
        return self.done / self.total if self.total else -1.0

    @property
    def seconds_left(self) -> float | None:
        """Time to go at the present rate; None where that is not known."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None


@dataclass(frozen=True)
class IndexReport:
    """What a run found and did.

    Attributes
    ----------
    rows : int
        Of the index, gone pictures included.
    vectors : int
        Rows that have one.
    encoded : int
        Pictures that this run encoded.
    unchanged : int
        Pictures that it found as they were.
    added, changed, gone : int
        Files that are new, have another content, or were deleted since the last run.
    captions : int
        Texts that belong to pictures.
    notes : tuple of str
    """

    rows: int
    vectors: int
    encoded: int
    unchanged: int
    added: int
    changed: int
    gone: int
    captions: int
    notes: tuple[str, ...] = field(default=())
