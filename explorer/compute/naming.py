"""Names for groups of rows: the labels or words that are typical of each, whatever the language."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from explorer.core.importance import by_importance
from explorer.core.labels import Labels

WORDS = 3
_MOST_READ = 1500
_MOST_READ_OF_ALL = 20_000
# Of a group's rows, those of the commonest labels are asked how central they lie.
_LEAST_CANDIDATES, _CANDIDATE_SHARE = 30, 12
_LONGEST = 24
# A word that tells a tenth as much as the first is there by chance.
_LEAST_PART = 0.1
# What a third of the texts outside of a group say, too, is no name for it, however much more it says so.
_MOST_ELSEWHERE = 1 / 3
_MOST_CHARACTERS = 2000
_WORD = re.compile(r"\w+")
# Vowel signs, and the invisible joiners that many scripts' words need, are no letters for ``\w``.
_JOINERS = "\u200c\u200d"
_PIECE_MARKS = "▁Ġ"


def typical_names(
    labels: Labels | None, groups: Sequence[NDArray[np.int64]], xy: NDArray[np.float32], noun: str
) -> tuple[str, ...]:
    """A name for each group of rows.

    Where labels are single words, the most central of the group's commonest ones (vocabularies are
    in order of frequency); where they are texts, the words that make up most of the difference
    between the group's texts and all texts: the terms of the Kullback-Leibler divergence of their
    distributions, which are next to nothing for words that are common everywhere.

    Parameters
    ----------
    labels : Labels or None
    groups : sequence of int64 array
        Rows, ascending.
    xy : float32 array, shape (rows, dimensions)
    noun : str
        Names a group without labels, with its number.
    """
    plain = [f"{noun} {number}" for number in range(1, len(groups) + 1)]
    if labels is None:
        return tuple(plain)
    everything = np.arange(len(labels))
    if _are_texts(labels, everything):
        names = _by_words(labels, groups, everything)
    else:
        names = _by_labels(labels, groups, xy)
    return tuple(", ".join(words) or instead for words, instead in zip(names, plain, strict=True))


def typical_words(labels: Labels | None, groups: Sequence[NDArray[np.int64]]) -> tuple[str, ...] | None:
    """A name for each group by the words of its texts; None where labels are no texts. Blank for no word."""
    if labels is None:
        return None
    everything = np.arange(len(labels))
    if not _are_texts(labels, everything):
        return None
    return tuple(", ".join(words) for words in _by_words(labels, groups, everything))


def _thinned(rows: NDArray[np.int64], most: int) -> list[int]:
    """So many rows at even steps."""
    thinned: list[int] = rows[:: max(1, len(rows) // most)].tolist()
    return thinned


def _words(label: str) -> list[str]:
    """The words that a label begins with, numbers left out."""
    label = label[:_MOST_CHARACTERS]
    if label.isascii():
        words = _WORD.findall(label)
    else:
        words = "".join(sign if _is_of_a_word(sign) else " " for sign in label).split()
    return [word for word in words if not word.isdigit() and _WORD.search(word)]


def _is_of_a_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_" or sign in _JOINERS or category(sign).startswith("M")


def _are_texts(labels: Labels, rows: NDArray[np.int64]) -> bool:
    sample = [_words(labels[row]) for row in _thinned(rows, 500) if not labels.missing[row]]
    if not sample:
        return False
    total, different = sum(map(len, sample)), len({word for words in sample for word in words})
    return total > 2 * len(sample) or (total > 1.5 * len(sample) and total > 2 * different)


def _by_words(
    labels: Labels, groups: Sequence[NDArray[np.int64]], everything: NDArray[np.int64]
) -> list[list[str]]:
    inside = [_counted(labels, _thinned(rows, _MOST_READ)) for rows in groups]
    overall = _counted(labels, _thinned(everything, _MOST_READ_OF_ALL))
    for words, texts in inside:
        # A word met in a group alone is at least as common as there.
        for word in words:
            overall[0].setdefault(word, max(1, round(words[word] / max(texts, 1))))
    total = max(overall[1], 1)
    names = []
    for rows, (words, texts) in zip(groups, inside, strict=True):
        part = len(rows) / max(len(everything), 1)
        shares = {
            word: (count / texts, min(1.0, overall[0][word] / total))
            for word, count in words.items()
            if count > 1 or texts < 10
        }
        scores = {
            word: here * math.log(here / anywhere)
            for word, (here, anywhere) in shares.items()
            if anywhere - part * here <= _MOST_ELSEWHERE * (1.0 - part)
        }
        least = _LEAST_PART * max(scores.values(), default=0.0)
        best = (word for word in scores if scores[word] > max(least, 0.0))
        names.append(_apart(sorted(best, key=lambda word: (-scores[word], word))))
    return names


def _counted(labels: Labels, rows: list[int]) -> tuple[Counter[str], int]:
    """In how many of the rows' texts each word occurs, and how many texts there are."""
    counts: Counter[str] = Counter()
    known = [row for row in rows if not labels.missing[row]]
    for row in known:
        # Lower case is still written as words are: folding makes "ss" of ß, and σ of a final ς.
        counts.update({word.lower() for word in _words(labels[row])})
    return counts, len(known)


def _by_labels(
    labels: Labels, groups: Sequence[NDArray[np.int64]], xy: NDArray[np.float32]
) -> list[list[str]]:
    order = by_importance(labels)
    rank = np.full(len(labels), len(labels), np.int64)
    rank[order] = np.arange(len(order))
    names = []
    for rows in groups:
        ranked = rows[rank[rows] < len(labels)]
        most = max(_LEAST_CANDIDATES, len(ranked) // _CANDIDATE_SHARE)
        first = ranked[np.argsort(rank[ranked], kind="stable")[:most]]
        middle = np.median(xy[rows], axis=0)
        near = first[np.argsort(np.linalg.norm(xy[first] - middle, axis=1), kind="stable")]
        names.append(_apart(_whole(labels[row]) for row in near.tolist()))
    return names


def _apart(words: Iterable[str]) -> list[str]:
    """The first few words that are not the same but for upper and lower case, or one a part of another."""
    chosen: list[str] = []
    for word in islice(words, 200):
        folded = word.casefold()
        if folded and not any(folded in known.casefold() or known.casefold() in folded for known in chosen):
            chosen.append(word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…")
        if len(chosen) == WORDS:
            break
    return chosen


def _whole(label: str) -> str:
    """A token without the marks of word beginnings and ends."""
    return label.strip(_PIECE_MARKS).removesuffix("</w>").removeprefix("##").strip()
