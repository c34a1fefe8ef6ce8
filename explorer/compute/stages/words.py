"""Texts as the model's own training text was split: words, BPE pieces, events by name."""

from __future__ import annotations

import re

from explorer.compute.stages.base import Tokenized
from explorer.core.labels import Labels
from explorer.core.stages import LeftOut, StageToken

# A run of letters and digits with what is contracted kept on it (don't, king's), or one other sign.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_")
# don't: do n't, don 't, don ' t
_CUTS = (r"(?<=.)(?=n['’]t$)", r"(?<=.)(?=['’])", r"(?<=['’])(?=.)|(?<=.)(?=['’])")
_MOST_NAMED = 8


class WordTokenizer:
    """Lower-cased words; newline and ``-`` are spaces, punctuation is split off.

    A word that the vocabulary lacks is tried as it was typed, then split at its apostrophes; else it is the
    vocabulary's own unknown token, or left out where there is none.

    Parameters
    ----------
    labels : Labels
        Of the token table.
    """

    def __init__(self, labels: Labels) -> None:
        self._rows = row_of(labels)
        self._labels = labels
        self._unknown = next((self._rows[name] for name in UNKNOWN if name in self._rows), None)

    def __call__(self, text: str, special: bool) -> Tokenized:
        words = _WORD.findall(re.sub(r"[\n-]", " ", text))
        tokens: list[StageToken] = []
        left_out: list[LeftOut] = []
        for word in (part for typed in words for part in self._parts(typed)):
            row = self._row(word)
            if row is not None:
                tokens.append(StageToken(row, self._labels[row]))
            elif self._unknown is not None:
                tokens.append(StageToken(self._unknown, word, known=False))
            else:
                left_out.append(LeftOut(word, len(tokens)))
        return Tokenized(tuple(tokens), tuple(left_out), unknown_notes(tokens, left_out))

    def _row(self, word: str) -> int | None:
        lower = word.lower()
        return self._rows.get(lower, self._rows.get(lower.replace("’", "'"), self._rows.get(word)))

    def _parts(self, word: str) -> list[str]:
        """A contracted word in the way in which the vocabulary knows all of its parts."""
        ways = [[word], *(re.split(cut, word) for cut in _CUTS if re.search(cut, word))]
        known = (way for way in ways if all(self._row(part) is not None for part in way))
        return next(known, ways[-1])


UNKNOWN = ("<unk>", "[UNK]", "UNK", "<UNK>", "unk", "<|unk|>")


def row_of(labels: Labels) -> dict[str, int]:
    """Each name's row; the first where several have it."""
    rows: dict[str, int] = {}
    for row in range(len(labels)):
        if not labels.missing[row]:
            rows.setdefault(labels[row], row)
    return rows


def unknown_notes(tokens: list[StageToken], left_out: list[LeftOut]) -> tuple[str, ...]:
    """What to say of words without a row of their own."""
    notes = []
    if unknown := list(dict.fromkeys(token.label for token in tokens if not token.known)):
        notes.append(f"Not in the vocabulary, so read as its unknown token: {_listed(unknown)}.")
    if lost := list(dict.fromkeys(each.label for each in left_out)):
        notes.append(
            f"Not in the vocabulary, which has no token for unknown words, so left out: {_listed(lost)}."
        )
    return tuple(notes)


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else ""
    return ", ".join(f"“{word[:40]}”" for word in words[:_MOST_NAMED]) + more
