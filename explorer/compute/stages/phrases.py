"""Phrases as points, and how far a word moves from one sentence to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.compute.stages.base import StageModel
from explorer.core.errors import ExplorerError
from explorer.core.stages import Of, Phrases, Stage, Stages, TokenComparison

_MOST_NAMED = 3


def encode_phrases(
    model: StageModel,
    phrases: Sequence[str],
    *,
    side: str | None = None,
    tell: Callable[[int], None] = lambda done: None,
) -> Phrases:
    """One vector a phrase: what the model pools it to, else the mean over the last stage's rows.

    Parameters
    ----------
    model : StageModel
    phrases : sequence of str
    side : {"source", "target"}, optional
    tell : callable
        Told how many are done, after each and while one is run; what it raises (Cancelled) ends the work.

    Returns
    -------
    Phrases
        Row *i* is phrase *i*; one that cannot be encoded has a row of NaN, and a note says why.

    Raises
    ------
    ExplorerError
        There is no phrase, or none that can be encoded.
    """
    if not phrases:
        raise ExplorerError("There is no phrase to encode.", "Type some, one a line.")
    found: list[NDArray[np.float32] | None] = []
    faults: dict[str, list[str]] = {}
    how = ""
    for done, phrase in enumerate(phrases, 1):
        try:
            # A large model is a while at one phrase: between its layers, too, it is asked whether to go on.
            vector, how = _pooled(model.run(phrase, side=side, tell=lambda _share: tell(len(found))))
            found.append(vector)
        except ExplorerError as error:
            found.append(None)
            faults.setdefault(error.message, []).append(phrase)
        tell(done)
    dim = next((len(vector) for vector in found if vector is not None), None)
    if dim is None:
        raise ExplorerError(f"None of these phrases can be encoded. {next(iter(faults))}")
    vectors = np.full((len(phrases), dim), np.nan, np.float32)
    for row, pooled in zip(vectors, found, strict=True):
        if pooled is not None:
            row[:] = pooled
    return Phrases(vectors, tuple(phrases), how, tuple(_fault(*each) for each in faults.items()))


def compare_word(
    model: StageModel, first: str, second: str, word: str, *, side: str | None = None
) -> tuple[TokenComparison, ...]:
    """How alike a word is in two sentences, stage by stage.

    Parameters
    ----------
    model : StageModel
    first, second : str
        Sentences that both hold the word; its first place in each is taken.
    word : str
        Where it is several tokens, their mean is taken.

    Returns
    -------
    tuple of TokenComparison
        For each stage with a row a token.

    Raises
    ------
    ExplorerError
        A sentence does not hold the word.
    """
    runs = [model.run(text, side=side) for text in (first, second)]
    places = [_find(model, run, text, word, side) for run, text in zip(runs, (first, second), strict=True)]
    found = []
    for ours, theirs in zip(*(run.stages for run in runs), strict=True):
        if ours.values is not None and ours.values.ndim == 2 and ours.of is Of.TOKENS:
            a, b = (_mean(stage, place) for stage, place in zip((ours, theirs), places, strict=True))
            found.append(TokenComparison(ours.name, _cosine(a, b), _distance(a, b), np.stack([a, b])))
    return tuple(found)


def _pooled(run: Stages) -> tuple[NDArray[np.float32], str]:
    last = run.stages[-1]
    assert last.values is not None
    if last.values.ndim == 1:
        return last.values, last.how
    return last.values.mean(0), f"the mean over the rows of “{last.name}”"


def _fault(message: str, phrases: Sequence[str]) -> str:
    named = ", ".join(f"“{phrase[:40]}”" for phrase in phrases[:_MOST_NAMED])
    more = f" and {len(phrases) - _MOST_NAMED:,} more" if len(phrases) > _MOST_NAMED else ""
    return f"Not encoded: {named}{more}. {message}"


def _find(model: StageModel, run: Stages, text: str, word: str, side: str | None) -> slice:
    """Where a word's tokens stand in a sentence."""
    ids = [token.id for token in run.tokens]
    # Byte-level pieces are others after a blank than at the beginning.
    for spelling in (word, f" {word}"):
        wanted = [token.id for token in model.tokens(spelling, side=side).tokens]
        for start in range(len(ids) - len(wanted) + 1):
            if wanted and ids[start : start + len(wanted)] == wanted:
                return slice(start, start + len(wanted))
    raise ExplorerError(f"“{word[:40]}” is not in “{text[:60]}”.", "Choose a word that both sentences have.")


def _mean(stage: Stage, place: slice) -> NDArray[np.float32]:
    assert stage.values is not None
    found: NDArray[np.float32] = stage.values[place].mean(0)
    return found


def _distance(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    with np.errstate(all="ignore"):
        return float(np.linalg.norm(a - b))


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    with np.errstate(all="ignore"):
        lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
        return float(a @ b) / lengths if lengths else float("nan")
