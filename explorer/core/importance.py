"""Which rows deserve a label first: vocabularies are written in order of frequency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.core.labels import Labels

FIRST_LETTER = b"a"[0]


def by_importance(labels: Labels) -> NDArray[np.int64]:
    """Rows in the order in which they get labels on the map.

    Words come first, in the vocabulary's order, which is by frequency in nearly all of them; then
    rows whose label starts with a digit, a bracket or a mark (``[unused7]``, ``##ing``, ``!``);
    rows without a name and special rows are left out.

    Parameters
    ----------
    labels : Labels

    Returns
    -------
    int64 array
    """
    sizes = np.diff(labels.offsets)
    named = ~labels.missing & (sizes > 0)
    named[labels.special[labels.special < len(named)]] = False
    first = np.zeros(len(labels), np.uint8)
    first[named] = labels.blob[labels.offsets[:-1][named]]
    folded = first | 0x20
    word = (
        named & (((folded >= FIRST_LETTER) & (folded <= FIRST_LETTER + 25)) | (first >= 0x80)) & (sizes > 2)
    )
    return np.concatenate([np.flatnonzero(word), np.flatnonzero(named & ~word)])
