"""Texts split into the pieces of a vocabulary whose merges are not known."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from explorer.compute.stages.rows import Reading, row_of, special_names, unknown_row
from explorer.compute.stages.text_side import Tokenized
from explorer.core.labels import Labels

_LONGEST_WORD = 200  # letters
# Letters with hyphens, apostrophes and the points in numbers; or one other sign, however often in a row.
_WORD = re.compile(rf"(?:[^\W_]|['’-]|(?<=\d)[.,](?=\d)){{1,{_LONGEST_WORD}}}|(\S)\1{{0,9}}")
_UNKNOWN_COST = 1000.0  # of a letter that is in no piece: more than any number of known pieces
_USUAL_UNKNOWN = 1  # id, where a vocabulary of BPE pieces gives it no name
_CASED = 0.01  # share of names with capital letters, from which they mean something


@dataclass(frozen=True)
class Marks:
    """How a vocabulary tells where in a word a piece stands.

    Attributes
    ----------
    first, inner : str
        Stand before a word's first piece, and before all others.
    last : str
        Stands after a word's last piece.
    opens : bool
        Whether ``first`` stands for the blank before a word, which the first word of a text may lack.
    """

    first: str = ""
    inner: str = ""
    last: str = ""
    opens: bool = False

    def are_in(self, name: str) -> bool:
        """Whether a vocabulary's name has one of the marks."""
        starts = tuple(mark for mark in (self.first, self.inner) if mark)
        return bool((starts and name.startswith(starts)) or (self.last and name.endswith(self.last)))


MARKS = (Marks(last="</w>"), Marks(first="▁"), Marks(first="Ġ", opens=True), Marks(inner="##"))


@dataclass(frozen=True)
class _Way:
    """The best way to spell the beginning of a word: its pieces, or letters that are in none."""

    cost: float
    pieces: tuple[tuple[str, bool], ...]


class PieceTokenizer:
    """Subword pieces, by their marks: BPE's ``</w>``, SentencePiece's ``▁``, byte-level ``Ġ``, ``##``.

    Without the merges that made the vocabulary, a word is split into the fewest pieces that spell it; among
    equals into the more frequent ones (lower ids), as if each had a probability of one over its rank (Zipf).
    Punctuation is a word of its own. Capital letters and accents are taken off where the vocabulary has none.

    Parameters
    ----------
    labels : Labels
        Of the token table.
    marks : Marks
    """

    def __init__(self, labels: Labels, marks: Marks) -> None:
        self._labels, self._marks = labels, marks
        self._rows = row_of(labels)
        self._longest = max(map(len, self._rows), default=1)
        ordinary = self._rows.keys() - special_names(labels)
        self._cased = sum(name.lower() != name for name in ordinary) > _CASED * len(ordinary)
        self._accents = any(_plain(name) != name for name in self._rows)
        self._unknown = unknown_row(self._rows)
        if self._unknown is None and marks.last and len(labels) > _USUAL_UNKNOWN:
            self._unknown = _USUAL_UNKNOWN

    def __call__(self, text: str, special: bool) -> Tokenized:
        reading = Reading(self._labels, self._rows, self._unknown)
        text = text if self._cased else text.lower()
        text = unicodedata.normalize("NFC", text) if self._accents else _plain(text)
        for number, chunk in enumerate(text.split()):
            for match in _WORD.finditer(chunk):
                first = "" if match.start() or (self._marks.opens and not number) else self._marks.first
                for piece, known in self._split(match[0], first):
                    reading.add(piece, self._rows[piece] if known else None)
        return reading.finished(special)

    def _split(self, word: str, first: str) -> list[tuple[str, bool]]:
        """Pieces of a word; letters that are in none of them stand together as they are."""
        best: list[_Way | None] = [_Way(0.0, ()), *[None] * len(word)]
        for start, letter in enumerate(word):
            way = best[start]
            assert way is not None  # by a single letter every place is reached
            _offer(best, start + 1, way, (letter, False), _UNKNOWN_COST)
            for stop in range(start + 1, min(len(word), start + self._longest) + 1):
                for piece in self._candidates(word, start, stop, first):
                    _offer(best, stop, way, (piece, True), 1 + math.log(self._rows[piece] + 2) / 100)
        found = best[-1]
        assert found is not None
        joined: list[tuple[str, bool]] = []
        for piece, known in found.pieces:
            if joined and not known and not joined[-1][1]:
                joined[-1] = (joined[-1][0] + piece, False)
            else:
                joined.append((piece, known))
        return joined

    def _candidates(self, word: str, start: int, stop: int, first: str) -> Iterator[str]:
        """Names of pieces that spell a part of a word, if their marks suit its place."""
        # At a hyphen or apostrophe a word may end, though there is no blank.
        befores = {self._marks.inner if start else first}
        afters = {self._marks.last if stop == len(word) else ""}
        if start and _parted(word[start - 1], word[start]):
            befores.add("")
        if stop < len(word) and _parted(word[stop - 1], word[stop]):
            afters.add(self._marks.last)
        for before in befores:
            for after in afters:
                if (name := before + word[start:stop] + after) in self._rows:
                    yield name


def _offer(best: list[_Way | None], stop: int, way: _Way, piece: tuple[str, bool], cost: float) -> None:
    there = best[stop]
    if there is None or way.cost + cost < there.cost:
        best[stop] = _Way(way.cost + cost, (*way.pieces, piece))


def _parted(before: str, after: str) -> bool:
    """Whether a word may end between two letters that have no blank between them."""
    return not (before.isalnum() and after.isalnum())


def _plain(text: str) -> str:
    """Without accents."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))
