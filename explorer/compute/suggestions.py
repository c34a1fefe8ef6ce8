"""Labels that are spelt nearly like what was typed."""

from __future__ import annotations

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from explorer.core.labels import Labels

# A label of another length is another word.
_LEAST_SLACK = 2
_LEAST_LIKENESS = 0.5


class Suggestions:
    """A table's labels, folded for comparison.

    Parameters
    ----------
    labels : Labels
    """

    def __init__(self, labels: Labels) -> None:
        named = np.flatnonzero(~labels.missing)
        self._labels = labels
        self._rows = named
        self._folded = [labels[int(row)].casefold() for row in named]
        self._lengths = np.fromiter(map(len, self._folded), np.int64, len(named))

    def closest(self, text: str, count: int) -> tuple[str, ...]:
        """The labels closest to a text by letters added, dropped, changed or swapped, case apart.

        Parameters
        ----------
        text : str
        count : int

        Returns
        -------
        tuple of str
            At most ``count``, closest first; among equally close ones, earlier rows first.
        """
        wanted = text.casefold().strip()
        slack = max(_LEAST_SLACK, len(wanted) // 3)
        near = np.flatnonzero(np.abs(self._lengths - len(wanted)) <= slack)
        found = process.extract(
            wanted,
            [self._folded[place] for place in near],
            scorer=OSA.normalized_similarity,
            score_cutoff=_LEAST_LIKENESS,
            limit=4 * count,
        )
        best = sorted(found, key=lambda match: (-match[1], match[2]))
        labels = dict.fromkeys(self._labels[int(self._rows[near[place]])] for _, _, place in best)
        return tuple(labels)[:count]
