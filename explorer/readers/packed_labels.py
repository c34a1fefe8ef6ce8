"""Labels from raw bytes: packed as they lie in the file, with bytes that are not UTF-8 escaped."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.core.labels import Labels

INSIDE = "inside the file"

# Names that no text has as a word: a word-vector file's own sentence marks and the tokenizers' in brackets.
BRACKETED = frozenset(
    f"{left}{name}{right}"
    for left, right in ("<>", "[]")
    for word in ("pad", "unk", "bos", "eos", "sos", "cls", "sep", "mask", "start", "end", "unknown")
    for name in (word, word.upper())
) | {"<s>", "</s>", "<|endoftext|>", "<|startoftext|>", "<padding>"}


def pack(blob: bytes, sizes: NDArray[np.int64], source: str) -> Labels:
    """Labels of rows that are all named.

    Parameters
    ----------
    blob : bytes
        All names, one after the other.
    sizes : int64 array, shape (rows,)
        Their lengths in bytes.
    source : str
        Where the names come from.
    """
    if not _is_utf8(blob, sizes):
        names = [escape(name).encode() for name in _cut(blob, sizes)]
        blob, sizes = b"".join(names), np.fromiter(map(len, names), np.int64, len(names))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Labels(
        blob=np.frombuffer(blob, np.uint8),
        offsets=offsets,
        missing=np.zeros(len(sizes), np.bool_),
        source=source,
        special=_bracketed(blob, offsets),
    )


def escape(raw: bytes) -> str:
    """Text of UTF-8 bytes; those that are not stay readable as ``\\xNN``, so that no two names become one."""
    return raw.decode("utf-8", "backslashreplace")


def _is_utf8(blob: bytes, sizes: NDArray[np.int64]) -> bool:
    """Whether every name is: the whole is, and no name starts inside a character."""
    if blob.isascii():
        return True
    try:
        blob.decode()
    except UnicodeDecodeError:
        return False
    starts = (np.cumsum(sizes) - sizes)[sizes > 0]
    return not np.any((np.frombuffer(blob, np.uint8)[starts] & 0xC0) == 0x80)


def _cut(blob: bytes, sizes: NDArray[np.int64]) -> list[bytes]:
    ends = np.cumsum(sizes)
    return [blob[start:end] for start, end in zip((ends - sizes).tolist(), ends.tolist(), strict=True)]


def _bracketed(blob: bytes, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows named as only special tokens are."""
    codes = np.frombuffer(blob, np.uint8)
    filled = np.flatnonzero(offsets[1:] > offsets[:-1])
    first = codes[offsets[:-1][filled]]
    likely = filled[(first == ord("<")) | (first == ord("["))]
    names = (blob[offsets[row] : offsets[row + 1]].decode() for row in likely)
    return np.array([row for row, name in zip(likely, names, strict=True) if name in BRACKETED], np.int64)
