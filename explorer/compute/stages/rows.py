"""From the parts of a typed text to rows of a token table, by their names."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.compute.stages.text_side import Tokenized
from explorer.core.labels import Labels
from explorer.core.stages import LeftOut, StageToken

_UNKNOWN = ("UNK", "<unk>", "[UNK]", "<UNK>", "unk", "<|unk|>")
_BEGIN = ("BOS", "<s>", "<bos>", "[BOS]", "<sos>", "<start>", "<START>", "<|startoftext|>", "[CLS]")
_FINISH = ("EOS", "</s>", "<eos>", "[EOS]", "<end>", "<END>", "<|endoftext|>", "[SEP]")
_MOST_NAMED = 8


def row_of(labels: Labels) -> dict[str, int]:
    """Each name's row; the first where several have it."""
    rows: dict[str, int] = {}
    for row in range(len(labels)):
        if not labels.missing[row]:
            rows.setdefault(labels[row], row)
    return rows


def unknown_row(rows: dict[str, int]) -> int | None:
    """The row of a vocabulary's token for unknown words."""
    return _first(rows, _UNKNOWN)


def special_names(labels: Labels) -> set[str]:
    """Names that are no text's: of begin, end and the unknown, and those that are marked as special."""
    return {*_UNKNOWN, *_BEGIN, *_FINISH, "PAD", "<pad>", *(labels[int(row)] for row in labels.special)}


class Reading:
    """A text that is being read, token by token.

    Parameters
    ----------
    labels : Labels
    rows : dict of str to int
        What ``row_of`` gives for these labels.
    unknown : int or None
        The row that stands for what has none; None where there is no such row.
    """

    def __init__(self, labels: Labels, rows: dict[str, int], unknown: int | None) -> None:
        self._labels, self._rows, self._unknown = labels, rows, unknown
        self._tokens: list[StageToken] = []
        self._left_out: list[LeftOut] = []

    def add(self, text: str, row: int | None) -> None:
        """Take a part of the text and its row; None where the vocabulary does not have it."""
        if row is not None:
            self._tokens.append(StageToken(row, self._labels[row]))
        elif self._unknown is not None:
            self._tokens.append(StageToken(self._unknown, text, known=False))
        else:
            self._left_out.append(LeftOut(text, len(self._tokens)))

    def finished(self, special: bool) -> Tokenized:
        """All tokens, within those of begin and end where they are asked for."""
        tokens, left_out = self._tokens, self._left_out
        notes, closing = unknown_notes(tokens, left_out), 0
        if special:
            begin, end = _first(self._rows, _BEGIN), _first(self._rows, _FINISH)
            if begin is None and end is None:
                notes.append("The vocabulary names no tokens of begin and end, so none were added.")
            if begin is not None:
                tokens = [StageToken(begin, self._labels[begin]), *tokens]
                left_out = [LeftOut(each.label, each.before + 1) for each in left_out]
            if end is not None:
                tokens = [*tokens, StageToken(end, self._labels[end])]
            closing = int(end is not None)
        return Tokenized(tuple(tokens), tuple(left_out), tuple(notes), closing)


def _first(rows: dict[str, int], names: tuple[str, ...]) -> int | None:
    return next((rows[name] for name in names if name in rows), None)


def unknown_notes(tokens: Sequence[StageToken], left_out: Sequence[LeftOut] = ()) -> list[str]:
    """What to say of words without a row of their own."""
    notes = []
    if unknown := list(dict.fromkeys(token.label for token in tokens if not token.known)):
        notes.append(f"Not in the vocabulary, so read as its unknown token: {_listed(unknown)}.")
    if lost := list(dict.fromkeys(each.label for each in left_out)):
        notes.append(f"Left out, as the vocabulary has neither these nor an unknown token: {_listed(lost)}.")
    return notes


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else ""
    return ", ".join(f"“{word[:40]}”" for word in words[:_MOST_NAMED]) + more
