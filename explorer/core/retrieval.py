"""How good an encoder is at finding what belongs together, and which class each picture is nearest to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Recall:
    """How well queries find what belongs to them.

    Attributes
    ----------
    at_1, at_5, at_10 : float
        The share of queries whose best match is among the first so many.
    median_rank : float
        Of the best match; 1 is the first.
    queries : int
    """

    at_1: float
    at_5: float
    at_10: float
    median_rank: float
    queries: int

    @classmethod
    def of(cls, ranks: NDArray[np.int64]) -> Recall:
        """Summarise ranks, of which 1 is the best."""
        first, five, ten = (float(np.mean(ranks <= k)) for k in (1, 5, 10))
        return cls(first, five, ten, float(np.median(ranks)), len(ranks))


@dataclass(frozen=True)
class Retrieval:
    """Both directions.

    Attributes
    ----------
    text_to_image, image_to_text : Recall
        Their ``queries`` are the numbers of captions and of pictures that took part.
    encoder : str
        Who made the vectors, by name; empty where nobody says.
    notes : tuple of str
        What took no part, and why.
    """

    text_to_image: Recall
    image_to_text: Recall
    encoder: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Classified:
    """The class that each row is nearest to.

    Attributes
    ----------
    codes : int16 array, shape (rows,)
        The class's number; -1 for quarantined rows.
    probability : float32 array, shape (rows,)
        Of that class by the encoder's trained temperature (its cosine where it has none); NaN for
        quarantined rows.
    """

    codes: NDArray[np.int16]
    probability: NDArray[np.float32]
