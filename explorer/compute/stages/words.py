"""Texts split into words, and music into its events, as the models' training text was."""

from __future__ import annotations

import re

from explorer.compute.stages.rows import Reading, row_of, unknown_row
from explorer.compute.stages.text_side import Tokenized
from explorer.core.labels import Labels

# A run of letters and digits with what is contracted kept on it (don't, king's), or one other sign.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_")
# don't: do n't, don 't, don ' t
_CUTS = (r"(?<=.)(?=n['’]t$)", r"(?<=.)(?=['’])", r"(?<=['’])(?=.)|(?<=.)(?=['’])")


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
        self._unknown = unknown_row(self._rows)

    def __call__(self, text: str, special: bool) -> Tokenized:
        reading = Reading(self._labels, self._rows, self._unknown)
        for word in _WORD.findall(re.sub(r"[\n-]", " ", text)):
            for part in self._parts(word):
                reading.add(part, self._row(part))
        return reading.finished(special)

    def _row(self, word: str) -> int | None:
        lower = word.lower()
        return self._rows.get(lower, self._rows.get(lower.replace("’", "'"), self._rows.get(word)))

    def _parts(self, word: str) -> list[str]:
        """A contracted word in the way in which the vocabulary knows all of its parts."""
        ways = [[word], *(re.split(cut, word) for cut in _CUTS if re.search(cut, word))]
        known = (way for way in ways if all(self._row(part) is not None for part in way))
        return next(known, ways[-1])


class EventTokenizer:
    """Names between blanks or commas, each a row's own: music events, and any vocabulary without a pattern.

    Parameters
    ----------
    labels : Labels
    """

    def __init__(self, labels: Labels) -> None:
        self._rows = row_of(labels)
        self._labels = labels

    def __call__(self, text: str, special: bool) -> Tokenized:
        reading = Reading(self._labels, self._rows, None)
        for name in re.split(r"[\s,;]+", text.strip()):
            if name:
                reading.add(name, self._rows.get(name, self._rows.get(name.lower())))
        return reading.finished(special=False)
