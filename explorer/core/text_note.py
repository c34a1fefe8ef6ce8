"""What a person should know of how an encoder read a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NoteKind = Literal["cut", "unknown words", "unknown script"]


@dataclass(frozen=True)
class TextNote:
    """Something to know of how a text was read.

    Attributes
    ----------
    kind : {"cut", "unknown words", "unknown script"}
    message : str
        One sentence.
    start, end : int
        The characters of the typed text that it is about.
    """

    kind: NoteKind
    message: str
    start: int
    end: int
