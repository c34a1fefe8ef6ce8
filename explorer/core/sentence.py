"""A typed sentence as a model reads it: tokens, each the number of a row."""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.core.label_index import LabelIndex
from explorer.core.query import parse_partial

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')
_WORD = re.compile(r"\w+|[^\w\s]")
_ROW = re.compile(r"#\d{1,18}", re.ASCII)


@dataclass(frozen=True)
class Token:
    """A token of a sentence.

    Attributes
    ----------
    text : str
        As typed, without quotation marks.
    row : int or None
        The first row of that label; None where there is none.
    """

    text: str
    row: int | None


def tokens_of(text: str, index: LabelIndex | None, rows: int) -> tuple[Token, ...]:
    """Split a sentence where a query would: at blanks, but for what stands in quotes; ``#123`` is a row.

    Labels are found as in a query: exact, else normalised, else case-folded. An unknown word is
    parted from its punctuation where that gives known labels alone.

    Parameters
    ----------
    text : str
    index : LabelIndex or None
        None where the table has no labels: only ``#row`` is known.
    rows : int
        The table's row count.
    """
    tokens: list[Token] = []
    for piece in _PIECE.findall(text):
        if _ROW.fullmatch(piece) and int(piece[1:]) < rows:
            tokens.append(Token(piece, int(piece[1:])))
        elif len(piece) > 1 and piece[0] == piece[-1] == '"':
            quoted = parse_partial(piece).terms[0].text or ""
            tokens.append(Token(quoted, _row_of(quoted, index)))
        else:
            tokens.extend(_bare(piece, index))
    return tuple(tokens)


def _bare(word: str, index: LabelIndex | None) -> list[Token]:
    whole = Token(word, _row_of(word, index))
    if whole.row is not None:
        return [whole]
    parts = [Token(part, _row_of(part, index)) for part in _WORD.findall(word)]
    return parts if parts and all(part.row is not None for part in parts) else [whole]


def _row_of(label: str, index: LabelIndex | None) -> int | None:
    match = None if index is None else index.find(label)
    return None if match is None else match.rows[0]
