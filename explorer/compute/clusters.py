"""Groups of rows that point the same way, to colour the map by, each named by typical labels."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.matrix import threads_for
from explorer.compute.metric_points import metric_points
from explorer.compute.naming import typical_words
from explorer.compute.parallel import map_blocks, spans
from explorer.compute.vectors import Vectors
from explorer.core.labels import Labels
from explorer.core.results import Clusters, Metric

_SAMPLE_ROWS = 6000
_SAMPLE_VALUES = 3_000_000
_STARTS = 3
_ROUNDS = 25
_BLOCK_VALUES = 1 << 20
_NAME_WORDS = 3
# A name is sought among a cluster's first rows: vocabularies are often in order of frequency.
_NAME_CANDIDATES = 40
_NAME_SHARE = 10
_LONGEST = 40
_NAME_SCANNED = 20_000
_PIECE_MARKS = "▁Ġ"


def find_clusters(
    vectors: Vectors,
    count: int = 9,
    *,
    labels: Labels | None = None,
    seed: int = 0,
    checkpoint: Checkpoint = no_checkpoint,
) -> Clusters:
    """Group the healthy rows by k-means of their directions.

    The centres are found on an evenly spaced sample of rows, then every row goes to its nearest.

    Parameters
    ----------
    vectors : Vectors
    count : int
        Fewer where the table is small: a cluster has some rows to it.
    labels : Labels, optional
        For the names.
    seed : int
    checkpoint : Checkpoint

    Returns
    -------
    Clusters
        The largest cluster first.

    Raises
    ------
    Cancelled
        From the checkpoint.
    """
    codes = np.full(vectors.rows, -1, np.int16)
    places = np.flatnonzero(vectors.health.healthy)
    if not len(places):
        return Clusters(codes, ())
    count = max(1, min(count, int(math.sqrt(len(places) / 2))))
    most = max(count, min(_SAMPLE_ROWS, _SAMPLE_VALUES // vectors.dim))
    sample = places[:: -(-len(places) // most)]
    directions = metric_points(vectors, sample, Metric.COSINE).cpu().numpy()
    centres = _k_means(directions, count, np.random.default_rng(seed))
    nearest, closeness = _assign(vectors, centres, checkpoint)
    order = np.argsort(-np.bincount(nearest[places], minlength=count), kind="stable")
    rank = np.empty(count, np.int16)
    rank[order] = np.arange(count)
    codes[places] = rank[nearest[places]]
    used = int(codes.max()) + 1
    members = [np.flatnonzero(codes == code) for code in range(used)]
    words = typical_words(labels, members) or ("",) * used
    names = (
        found or _name(rows, closeness, labels, code)
        for code, (rows, found) in enumerate(zip(members, words, strict=True))
    )
    return Clusters(codes, tuple(names))


def _k_means(points: NDArray[np.float32], count: int, random: np.random.Generator) -> NDArray[np.float32]:
    """The best of a few runs of Lloyd's algorithm, each from k-means++ starts (Arthur and
    Vassilvitskii, 2007)."""
    runs = [_lloyd(points, _spread_start(points, count, random)) for _ in range(_STARTS)]
    return min(runs, key=lambda run: run[1])[0]


def _spread_start(
    points: NDArray[np.float32], count: int, random: np.random.Generator
) -> NDArray[np.float32]:
    chosen = [int(random.integers(len(points)))]
    apart = np.full(len(points), np.inf)
    while len(chosen) < count:
        apart = np.minimum(apart, np.square(points - points[chosen[-1]]).sum(axis=1))
        total = apart.sum()
        chosen.append(int(random.choice(len(points), p=apart / total if total > 0 else None)))
    return points[chosen].copy()


def _lloyd(points: NDArray[np.float32], centres: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
    """Centres, and how badly they fit."""
    nearest = np.full(len(points), -1)
    for _ in range(_ROUNDS):
        closeness = points @ centres.T - 0.5 * np.square(centres).sum(axis=1)
        now = closeness.argmax(axis=1)
        if np.array_equal(now, nearest):
            break
        nearest = now
        sizes = np.bincount(nearest, minlength=len(centres))
        members = np.zeros((len(centres), len(points)), np.float32)
        members[nearest, np.arange(len(points))] = 1.0
        means = members @ points / np.maximum(sizes, 1).astype(np.float32)[:, None]
        centres = np.where(sizes[:, None] > 0, means, centres)
    return centres, -float(closeness.max(axis=1).sum())


def _assign(
    vectors: Vectors, centres: NDArray[np.float32], checkpoint: Checkpoint
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The nearest centre of every row's direction, and how close it is."""
    there = torch.from_numpy(centres).to(vectors.device)
    halves = 0.5 * there.square().sum(dim=1)

    def work(start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        directions = torch.nn.functional.normalize(vectors.block(start, stop), dim=1)
        best = (directions @ there.T - halves).max(dim=1)
        return best.indices.cpu().numpy(), best.values.cpu().numpy()

    blocks = spans(vectors.rows, max(1, _BLOCK_VALUES // vectors.dim))
    parts = list(map_blocks(work, blocks, checkpoint, "Clusters", threads=threads_for(vectors.device)))
    return np.concatenate([nearest for nearest, _ in parts]), np.concatenate([close for _, close in parts])


def _name(
    members: NDArray[np.int64], closeness: NDArray[np.float32], labels: Labels | None, code: int
) -> str:
    """The most typical of a cluster's first words, or its number."""
    words: dict[str, str] = {}
    if labels is not None:
        named = members[~labels.missing[members] & ~np.isin(members, labels.special)]
        enough = max(_NAME_CANDIDATES, len(named) // _NAME_SHARE)
        texts = ((row, _whole(labels[int(row)])) for row in named[:_NAME_SCANNED])
        first = list(islice(((row, text) for row, text in texts if _is_word(text)), enough))
        first = first or [(row, labels[int(row)]) for row in named[:_NAME_CANDIDATES]]
        for _, text in sorted(first, key=lambda candidate: -closeness[candidate[0]]):
            shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
            words.setdefault(shown.casefold(), shown)
    return ", ".join(islice(words.values(), _NAME_WORDS)) or f"Cluster {code + 1}"


def _whole(label: str) -> str:
    """A token without the marks of word beginnings and ends."""
    return label.strip(_PIECE_MARKS).removesuffix("</w>").strip()


def _is_word(label: str) -> bool:
    return len(label) >= 3 and label.isalpha()
