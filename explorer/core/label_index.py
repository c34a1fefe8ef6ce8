"""Finding rows by their labels, at once over a million of them.

The labels lie in two haystacks: once as they are, once folded (normalised, lower case).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.core.haystack import SEPARATOR, Haystack, Spellings
from explorer.core.labels import Labels

How = Literal["exact", "normalised", "case-folded"]

_SLICE_ROWS = 10_000
# Stands for the separator while a slice is text: a code point that no text holds and no folding changes.
_MARK = "\U0010ffff"
# The same among ASCII labels, which then are one byte a letter and need no normalising.
_ASCII_MARK = "\xff"
# Where a piece begins or ends a word, as byte-level BPE, SentencePiece and BPE write it.
_BLANKS = (" ", "\t", "\n", "\r")
_BEFORE, _AFTER = ("Ġ", "▁", *_BLANKS), ("</w>", *_BLANKS)
# Pieces that go on within a word are other tokens than the word: asked only when there is nothing else.
_INNER_PIECES = ("##{}", "{}@@")


@dataclass(frozen=True)
class Match:
    """Rows that a text names.

    Attributes
    ----------
    rows : tuple of int
        All rows with that label, ascending.
    how : {"exact", "normalised", "case-folded"}
        How far the text had to be bent to fit.
    """

    rows: tuple[int, ...]
    how: How


class LabelIndex:
    """A look-up of rows by label; needs some 45 bytes a row, and the labels twice.

    Parameters
    ----------
    labels : Labels
        A table's names. Rows without one are never found here.
    """

    def __init__(self, labels: Labels) -> None:
        for _ in self._fill(labels):
            pass

    @classmethod
    def in_slices(cls, labels: Labels) -> Generator[float, None, LabelIndex]:
        """Build an index a few milliseconds at a time, so that a window stays alive meanwhile.

        Yields the part that is done; the generator's return value is the index.
        """
        index = cls.__new__(cls)
        yield from index._fill(labels)
        return index

    def _fill(self, labels: Labels) -> Iterator[float]:
        self.labels = labels
        self._exact, self._folded = Haystack(), Haystack()
        self._spellings = Spellings(len(labels))
        for start in range(0, len(labels), _SLICE_ROWS):
            until = min(start + _SLICE_ROWS, len(labels))
            exact = _separated(labels, start, until)
            folded = _fold_slice(exact, until - start)
            self._exact.add(exact)
            self._folded.add(folded)
            self._spellings.add(folded)
            yield 0.9 * until / len(labels)
        for step, finish in enumerate(
            (self._exact.join, self._exact.sort, self._folded.join, self._folded.sort), 1
        ):
            finish()
            yield 0.9 + 0.025 * step

    def find(self, text: str) -> Match | None:
        """Rows whose label is the text, else that are once both are normalised, else case-folded.

        Normalising is Unicode's NFKC, without blanks around and without the marks by which
        subword tokenizers tell where a word begins or ends (``Ġ``, ``▁``, ``</w>``). Where only
        pieces within a word fit (``##ing``, ``th@@``), these count as a normalised match.
        """
        if rows := self._rows_of(text):
            return Match(rows, "exact")
        plain = normalise(text)
        if plain:
            rows = self._named(self._folded.whole(_encode(fold(text))))
            texts = self._exact.texts(np.array(rows, np.int64))
            fits = {text: normalise(_decode(text)) == plain for text in set(texts)}
            if same := tuple(row for row, text in zip(rows, texts, strict=True) if fits[text]):
                return Match(same, "normalised")
            if rows:
                return Match(rows, "case-folded")
        for pattern in _INNER_PIECES:
            if text and (rows := self._rows_of(pattern.format(text))):
                return Match(rows, "normalised")
        return None

    def complete(self, prefix: str, limit: int = 20) -> list[int]:
        """Rows for what is typed so far, whatever the case: at most ``limit``.

        First those whose label is just that, then those that begin with it, then, where these
        are few, those that hold it anywhere; each group in row order.
        """
        needle = _encode(fold(prefix, open_end=True))
        if not needle:
            return [int(row) for row in np.flatnonzero(~self.labels.missing)[:limit]]
        found: list[int] = self._folded.whole(needle)[:limit].tolist()
        beginning = self._folded.starting(needle, 2 * limit)
        for hits in (beginning, self._folded.holding(needle)):
            seen = set(found)
            found.extend(islice((row for row in hits if row not in seen), limit - len(found)))
            if len(found) == limit:
                break
        return found

    def closest(self, text: str, count: int = 5) -> list[int]:
        """Rows whose folded labels need the fewest edits to become the text; ties in row order.

        An edit is a letter put in, left out, changed or swapped with the next (optimal string
        alignment distance). At most half of the text's letters may need one; one row a label.
        """
        # Only a word that is not there needs it; the window starts quicker without.
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        wanted = fold(text)
        found: dict[str, int] = {}
        for reach in sorted({2, max(2, len(wanted) // 2)}):
            rows = self._spellings.similar(_encode(wanted), reach)
            near = dict(zip(rows.tolist(), map(_decode, self._folded.texts(rows)), strict=True))
            hits = process.extract(wanted, near, scorer=OSA.distance, score_cutoff=reach, limit=None)
            for label, _, row in hits:
                found.setdefault(label, row)
            if len(found) >= count:
                break
        return list(found.values())[:count]

    def _rows_of(self, label: str) -> tuple[int, ...]:
        return self._named(self._exact.whole(_encode(label)))

    def _named(self, rows: NDArray[np.int32]) -> tuple[int, ...]:
        return tuple(rows[~self.labels.missing[rows]].tolist())


def normalise(text: str) -> str:
    """NFKC, without blanks and subword marks around."""
    return _normalise_all(f"{_MARK}{text}{_MARK}", _MARK)[1:-1]


def fold(text: str, open_end: bool = False) -> str:
    """Normalised and case-folded; with ``open_end`` what is at the end stays, as more may follow."""
    if open_end:
        return _fold_all(_MARK + text, _MARK)[1:]
    return _fold_all(f"{_MARK}{text}{_MARK}", _MARK)[1:-1]


def _fold_all(text: str, mark: str) -> str:
    """Fold many labels at once, each between two marks; the marks stay."""
    return _trim(_compose(_normalise_all(text, mark).casefold(), mark), mark)


def _normalise_all(text: str, mark: str) -> str:
    return _trim(_compose(text, mark), mark)


def _compose(text: str, mark: str) -> str:
    return text if mark == _ASCII_MARK else unicodedata.normalize("NFKC", text)


def _trim(text: str, mark: str) -> str:
    before = -1
    while before != len(text):
        before = len(text)
        for sign in _BEFORE:
            text = text.replace(mark + sign, mark)
        for sign in _AFTER:
            text = text.replace(sign + mark, mark)
    return text


def _separated(labels: Labels, start: int, until: int) -> bytes:
    """Rows' labels, each behind a separator."""
    offsets = labels.offsets[start : until + 1]
    ends = offsets - offsets[0] + np.arange(len(offsets))
    out = np.full(ends[-1], 0xFF, np.uint8)
    inside = np.ones(len(out), np.bool_)
    inside[ends[:-1]] = False
    out[inside] = labels.blob[offsets[0] : offsets[-1]]
    return out.tobytes()


def _fold_slice(exact: bytes, rows: int) -> bytes:
    plain = exact.replace(SEPARATOR, b"").isascii()
    mark, coding = (_ASCII_MARK, "latin-1") if plain else (_MARK, "utf-8")
    text = exact.replace(SEPARATOR, mark.encode(coding)).decode(coding, "surrogatepass") + mark
    if text.count(mark) == rows + 1:
        folded = _fold_all(text, mark)[:-1].encode(coding, "surrogatepass")
        return folded.replace(mark.encode(coding), SEPARATOR)
    # Some label holds the mark itself.
    return b"".join(SEPARATOR + _encode(fold(_decode(label))) for label in exact.split(SEPARATOR)[1:])


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decode(label: bytes) -> str:
    return label.decode("utf-8", "surrogatepass")
