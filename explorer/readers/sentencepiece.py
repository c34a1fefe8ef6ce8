"""SentencePiece models: the pieces out of ``tokenizer.model``, without the library that made it.

A model is a protocol-buffer message (wire format: https://protobuf.dev/programming-guides/encoding/) whose
field 1 repeats a piece: 1 its text, 2 its score, 3 its type. All other fields are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from explorer.readers.packed_labels import escape

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_PIECES = 1
_TEXT, _TYPE = 1, 3


class PieceType(IntEnum):
    """What a piece is for."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True)
class Piece:
    """One piece; its place in the model is its id."""

    text: str
    type: int

    @property
    def is_special(self) -> bool:
        """Whether no text is made of it: begin, end, unknown, padding."""
        return self.type in (PieceType.UNKNOWN, PieceType.CONTROL)


def is_model(head: bytes) -> bool:
    """Whether the bytes start as a model does: with a piece that has a text and a score."""
    if len(head) < 8 or head[0] != (_PIECES << 3 | _BYTES):
        return False
    try:
        first = next(fields(head, 0, len(head), partial=True))
        inner = list(fields(head, first[2], min(first[3], len(head))))
    except (ValueError, StopIteration):
        return False
    return [field for field, _, _, _ in inner[:2]] == [1, 2]


def read_pieces(data: bytes) -> list[Piece]:
    """All pieces, in the order of their ids.

    Raises
    ------
    ValueError
        The bytes are no such model, or are cut off.
    """
    pieces = []
    for field, kind, start, stop in fields(data, 0, len(data)):
        if field == _PIECES and kind == _BYTES:
            pieces.append(_piece(data, start, stop))
    if not pieces:
        raise ValueError("there is no piece")
    return pieces


def _piece(data: bytes, start: int, stop: int) -> Piece:
    text, kind = None, int(PieceType.NORMAL)
    for field, wire, first, last in fields(data, start, stop):
        if field == _TEXT and wire == _BYTES:
            text = escape(data[first:last])
        elif field == _TYPE and wire == _VARINT:
            kind = _varint(data, first, last)[0]
    if text is None:
        raise ValueError("a piece has no text")
    return Piece(text, kind)


def fields(
    data: bytes, position: int, end: int, *, partial: bool = False
) -> Iterator[tuple[int, int, int, int]]:
    """Each field's number, wire type, and where its value starts and stops.

    Raises
    ------
    ValueError
        The bytes are no such message, or are cut off (unless ``partial``).
    """
    while position < end:
        key, position = _varint(data, position, end)
        field, kind = key >> 3, key & 7
        start = position
        if kind == _VARINT:
            position = _varint(data, position, end)[1]
        elif kind == _FIXED64:
            position += 8
        elif kind == _FIXED32:
            position += 4
        elif kind == _BYTES:
            size, start = _varint(data, position, end)
            position = start + size
        else:
            raise ValueError(f"byte {position} is of an unknown wire type")
        if field == 0 or (position > end and not partial):
            raise ValueError("it breaks off")
        yield field, kind, start, position


def _varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while position < end and shift < 70:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise ValueError("a number breaks off")
