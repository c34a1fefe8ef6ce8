"""What was asked, and what came back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from explorer.core.query import RowTerm
from explorer.core.query_text import PictureTerm, TextTerm
from explorer.core.results import Metric, SearchResult
from explorer.core.text_note import TextNote


@dataclass(frozen=True)
class Question:
    """A resolved query to one table.

    Attributes
    ----------
    text : str
        As typed, or as it would have been typed for a row that was clicked.
    terms : tuple of RowTerm
    matched : str
        ``"exact"``, ``"normalised"`` or ``"case-folded"``: the loosest match among the terms.
    notes : tuple of str
    metric : Metric
    k : int
    all_rows, include_query : bool
        Bring back special and padding rows; bring back the query's own rows.
    texts : tuple of TextTerm
        For the encoder. The question is the sum of all terms' unit vectors, each times its weight.
    pictures : tuple of PictureTerm
        Likewise.
    """

    text: str
    terms: tuple[RowTerm, ...]
    matched: str = "exact"
    notes: tuple[str, ...] = ()
    metric: Metric = Metric.COSINE
    k: int = 50
    all_rows: bool = False
    include_query: bool = False
    texts: tuple[TextTerm, ...] = ()
    pictures: tuple[PictureTerm, ...] = ()

    @property
    def title(self) -> str:
        """What is asked, in words: the text, and the names of pictures."""
        names = [PurePath(picture.path).name for picture in self.pictures]
        return " + ".join([*([self.text] if self.text else []), *names])

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows that the terms name, in order."""
        return tuple(term.row for term in self.terms)

    @property
    def focus(self) -> int | None:
        """The row asked for, where the question is that row alone."""
        alone = len(self.terms) == 1 and not self.texts and not self.pictures
        return self.terms[0].row if alone and self.terms[0].weight > 0 else None


@dataclass(frozen=True, eq=False)
class Answer:
    """A question's nearest neighbours.

    Attributes
    ----------
    question : Question
    result : SearchResult
    text_notes : tuple of TextNote
        What the encoder could not read of the question's text; places are those in ``question.text``.
    """

    question: Question
    result: SearchResult
    text_notes: tuple[TextNote, ...] = ()

    @property
    def query_vector(self) -> NDArray[np.float64] | None:
        """What the rows were compared with, shape (dim,)."""
        return self.result.query

    @property
    def deviations(self) -> NDArray[np.float64]:
        """Standard deviations by which each result beats the table's background, shape (k,)."""
        background, metric = self.result.background, self.result.metric
        return np.asarray([background.above(float(score), metric) for score in self.result.scores])
