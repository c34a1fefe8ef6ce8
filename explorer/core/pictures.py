"""What became of a picture file: its verdict, and the facts that an index keeps of it."""

from __future__ import annotations

import hashlib
from enum import StrEnum

from explorer.core.errors import ExplorerError

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
