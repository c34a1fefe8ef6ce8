"""Pictures: what became of a file, and which pictures a table's rows carry."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels

DIGEST_BYTES = 16


class Verdict(StrEnum):
    """Whether a picture has a vector and, where not, why."""

    OK = "ok"
    CUT_OFF = "cut off"
    TOO_LARGE = "too large"
    NOT_A_PICTURE = "not a picture"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    GONE = "gone"
    NOT_ENCODED = "not encoded"
    PENDING = "not indexed yet"


def digest(data: bytes) -> bytes:
    """What tells contents apart: BLAKE2b of 128 bits."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


class PictureError(ExplorerError):
    """A picture that could not be decoded.

    Parameters
    ----------
    name : str
        The file's name, as shown.
    verdict : Verdict
    reason : str
        In words, without a full stop, e.g. ``"30,000 × 30,000 pixels are more than are decoded"``.
    """

    def __init__(self, name: str, verdict: Verdict, reason: str) -> None:
        super().__init__(f"{name} cannot be used as a picture: {reason}.")
        self.verdict = verdict
        self.reason = reason


@dataclass(frozen=True, eq=False)
class Thumbnails:
    """Where an index's thumbnails lie: JPEGs of at most 256 pixels, one after the other in numbered files.

    Attributes
    ----------
    folder : Path
    files : int32 array, shape (pictures,)
        The number of each one's file; -1 where there is none.
    starts : int64 array, shape (pictures,)
    sizes : int32 array, shape (pictures,)
        In bytes.
    """

    folder: Path
    files: NDArray[np.int32]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int32]

    def read(self, picture: int) -> bytes | None:
        """A JPEG; None where there is none (any more)."""
        number, size = int(self.files[picture]), int(self.sizes[picture])
        if number < 0 or not size:
            return None
        try:
            with (self.folder / f"{number:06}.bin").open("rb") as file:
                file.seek(int(self.starts[picture]))
                data = file.read(size)
        except OSError:
            return None
        return data if len(data) == size else None


@dataclass(frozen=True, eq=False)
class Pictures:
    """The pictures that a table's rows carry, packed: crosses between processes as mapped arrays.

    Every method may be called from any thread.

    Attributes
    ----------
    folder : Path
        The one that names are seen from.
    names : Labels
        Each picture's path in the folder, or an absolute one; missing where it has none.
    of_row : int64 array, shape (rows,), or None
        The picture of each row, -1 for none; None where row i is picture i.
    thumbnails : Thumbnails or None
    texts : Labels or None
        All captions, picture by picture.
    text_starts : int64 array, shape (pictures + 1,), or None
        Picture i has the captions ``text_starts[i]`` to ``text_starts[i + 1]``.
    animated : bool array, shape (pictures,), or None
    first_twin : int64 array, shape (pictures,), or None
        The first picture of the same content; itself where there is none before it.
    reasons : Labels or None
        Why a picture has no vector; missing where it has one.
    pixels : int32 array, shape (pictures, 2), or None
        Width and height, upright; 0 where they are not known.
    """

    folder: Path
    names: Labels
    of_row: NDArray[np.int64] | None = None
    thumbnails: Thumbnails | None = None
    texts: Labels | None = None
    text_starts: NDArray[np.int64] | None = None
    animated: NDArray[np.bool_] | None = None
    first_twin: NDArray[np.int64] | None = None
    reasons: Labels | None = None
    pixels: NDArray[np.int32] | None = None

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return len(self.names) if self.of_row is None else len(self.of_row)

    def picture(self, row: int) -> int | None:
        """The number of the row's picture: rows that share one (a picture's captions) have the same."""
        number = row if self.of_row is None else int(self.of_row[row])
        return number if number >= 0 and not self.names.missing[number] else None

    def file(self, row: int) -> Path | None:
        """The absolute path of the row's picture; None where it has none. The file may be gone."""
        number = self.picture(row)
        return None if number is None else self.folder / self.names[number]

    def name(self, row: int) -> str:
        """The picture's path in the folder; empty where the row has none."""
        number = self.picture(row)
        return "" if number is None else self.names[number]

    def thumbnail(self, row: int) -> bytes | None:
        """A JPEG, its longer side at most 256 pixels; None where the file has to be decoded."""
        number = self.picture(row)
        return None if number is None or self.thumbnails is None else self.thumbnails.read(number)

    def captions(self, row: int) -> tuple[str, ...]:
        """All captions of the row's picture."""
        number = self.picture(row)
        if number is None or self.texts is None or self.text_starts is None:
            return ()
        start, stop = self.text_starts[number : number + 2].tolist()
        return tuple(self.texts[place] for place in range(start, stop))

    def is_animated(self, row: int) -> bool:
        """Whether the picture is known to be an animation, of which the first frame was taken."""
        number = self.picture(row)
        return number is not None and self.animated is not None and bool(self.animated[number])

    def reason(self, row: int) -> str:
        """Why the row's picture has no vector, in words; empty where it has one."""
        number = self.picture(row)
        if number is None or self.reasons is None or self.reasons.missing[number]:
            return ""
        return self.reasons[number]

    def shapes(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Width / height of some rows' pictures, shape (rows,); NaN where it is not known."""
        if self.pixels is None:
            return np.full(len(rows), np.nan)
        numbers = rows if self.of_row is None else self.of_row[rows]
        width, height = np.where((numbers >= 0)[:, None], self.pixels[numbers], 0).astype(np.float64).T
        shapes = np.full(len(rows), np.nan)
        np.divide(width, height, out=shapes, where=(width > 0) & (height > 0))
        return shapes
