"""How a text is split for a vocabulary: by its tokenizer's file, else as its names look."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from tokenizers import Tokenizer as FileOfTokens

from explorer.compute.encoders.tokenizer_files import FoundTokenizer, find_tokenizer
from explorer.compute.stages.base import Opening
from explorer.compute.stages.pieces import MARKS, Marks, PieceTokenizer
from explorer.compute.stages.rows import unknown_notes
from explorer.compute.stages.text_side import LONGEST, TextSide, Tokenized, Tokenizer
from explorer.compute.stages.words import WordTokenizer
from explorer.core.errors import ExplorerError
from explorer.core.labels import Labels, label_of
from explorer.core.stages import StageToken

_FILES = frozenset(
    ("tokenizer.json", "vocab.json", "encoder.json", "vocab.txt", "tokenizer.model", "spiece.model")
)
_SAMPLE = 4000
_MARKED = 0.05  # share of names with a mark, from which it is one


def text_side(
    opening: Opening, labels: Labels | None, rows: int, limit: int, model: str, *, special: bool = False
) -> TextSide:
    """A way in for texts by a token table's names.

    Parameters
    ----------
    opening : Opening
    labels : Labels or None
    rows : int
        Of the token table.
    limit : int
        Most tokens that the model takes.
    model : str
        What it is, in words.
    special : bool
        As in ``TextSide``.
    """
    missing = f"There is no vocabulary for this {model}."
    try:
        tokenizer = tokenizer_for(opening, labels)
    except ExplorerError as error:  # ids can still be given
        tokenizer, missing = None, error.message
    return TextSide(rows, min(LONGEST, limit), labels, tokenizer, missing, special)


def tokenizer_for(opening: Opening, labels: Labels | None) -> Tokenizer | None:
    """How a text is to be split for a token table; None where its rows have no names.

    Raises
    ------
    ExplorerError
        A tokenizer's file is damaged.
    """
    if labels is None:
        return None
    if labels.source in _FILES:
        found = find_tokenizer(tokenizer_folders(opening))
        if found is not None and found.size <= len(labels):
            return FileTokenizer(found, labels)
    marks = _marks_of(labels)
    return WordTokenizer(labels) if marks is None else PieceTokenizer(labels, marks)


def _marks_of(labels: Labels) -> Marks | None:
    """The marks that a vocabulary's names have; None where they are whole words."""
    rows = range(0, len(labels), max(1, len(labels) // _SAMPLE))
    sample = [labels[row] for row in rows if not labels.missing[row]]
    for marks in MARKS:
        # No word holds a closing mark; those before a piece are letters and signs of some texts.
        if marks.last and marks.last.encode() in labels.blob.tobytes():
            return marks
        if sum(map(marks.are_in, sample)) > _MARKED * len(sample):
            return marks
    return None


class FileTokenizer:
    """A tokenizer from the file that it came with.

    Parameters
    ----------
    found : FoundTokenizer
    labels : Labels
        Of the token table.
    """

    def __init__(self, found: FoundTokenizer, labels: Labels) -> None:
        # It warns of its threads where a process forks later on.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        self._tokenizer: FileOfTokens = found.tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._labels = labels
        self._unknown = found.id_of("unk_token", "[UNK]", "<unk>")

    def __call__(self, text: str, special: bool) -> Tokenized:
        encoding = self._tokenizer.encode(text, add_special_tokens=special)
        tokens = []
        for id_, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            # GPT-2's own unknown token is an ordinary one: it is never the answer for want of another.
            known = id_ != self._unknown or start == end
            tokens.append(StageToken(id_, label_of(self._labels, id_) if known else text[start:end], known))
        closing = list(takewhile(bool, reversed(encoding.special_tokens_mask)))
        return Tokenized(tuple(tokens), (), tuple(unknown_notes(tokens)), len(closing))


def tokenizer_folders(opening: Opening) -> list[Path]:
    """Where a tokenizer's file may lie, a chosen one first."""
    return [*_around(opening.chosen), opening.folder, *_tokenizers_in(opening.folder)]


def _around(chosen: Path | None) -> Iterable[Path]:
    if chosen is None:
        return ()
    return (chosen,) if chosen.is_dir() else (chosen.parent,)


def _tokenizers_in(folder: Path) -> list[Path]:
    places = (folder / "tokenizer", folder.parent / "tokenizer")
    return [place for place in places if place.is_dir()]
