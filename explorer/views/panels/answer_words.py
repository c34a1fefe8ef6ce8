"""What is said of an answer in whole sentences."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from explorer.core.placement import agreement, place_query
from explorer.core.results import Metric, SearchResult
from explorer.document import Answer
from explorer.views.label_text import shown_label
from explorer.views.panels.neighbour_model import signed

_CLEAR_MATCH = 3.0
# Of few rows the best ones are a part of the background that they should stand above.
_FEWEST_ROWS = 200


def title(answer: Answer) -> str:
    """What was asked, as it stands over the answer."""
    return shown_label(answer.question.title).replace(" - ", " − ")


def remark(answer: Answer) -> str:
    """What is to be said of an answer in a sentence or two; empty where nothing is."""
    result = answer.result
    parts = []
    if answer.question.notes:
        parts.extend(answer.question.notes)
    elif answer.question.matched != "exact":
        parts.append(f"Matched {answer.question.matched}.")
    parts.extend(dict.fromkeys(note.message for note in answer.text_notes))
    if len(result.scores) and int(result.background.counts.sum()) >= _FEWEST_ROWS:
        # As the list shows it: what reads as 3.0 there is not called less here.
        best = round(result.background.above(float(result.scores[0]), result.metric), 1)
        if best < _CLEAR_MATCH <= _most_above(result):
            parts.append(
                f"Nothing stands out: the best match is only {signed(best, 1)}σ above the table's background."
            )
    return " ".join(parts)


def _most_above(result: SearchResult) -> float:
    """How far a row that is the very thing asked for would stand above the background.

    Where many rows are much like what is asked, not even that one stands out by much, and is no worse for it.
    """
    if result.metric is Metric.DOT:
        return math.inf
    perfect = 1.0 if result.metric is Metric.COSINE else 0.0
    return round(result.background.above(perfect, result.metric), 1)


def trust_sentence(answer: Answer, positions: NDArray[np.float32]) -> str:
    """Whether the query's nearest rows are also near it on the map, in words."""
    question, rows = answer.question, answer.result.rows
    focus = question.focus
    if focus is not None and np.isfinite(positions[focus]).all():
        place = tuple(positions[focus].tolist())
    else:
        found = place_query(positions, rows)
        if found is None:
            return "Map trust here: none of the nearest rows is on the map."
        place = found
    near, total = agreement(positions, place, rows, question.rows)
    if total == 1:
        return f"Map trust here: the nearest row is {'also' if near else 'not'} near on the map."
    count = "none" if near == 0 else "all" if near == total else f"{near}"
    verb = "is" if near in (0, 1) else "are"
    return f"Map trust here: {count} of the {total} nearest rows {verb} also near on the map."
