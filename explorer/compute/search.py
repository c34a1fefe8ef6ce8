"""Exact nearest neighbours of one query, over all rows, in the original space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.histogram import histogram
from explorer.compute.matrix import threads_for
from explorer.compute.parallel import each_block
from explorer.compute.vectors import Vectors
from explorer.core.errors import ExplorerError
from explorer.core.health import RowState
from explorer.core.query import RowTerm
from explorer.core.results import Background, Metric, SearchResult

BINS = 64
# A float32 product of two unit vectors is off by less than this for any dim met in practice.
_SLACK = np.float32(2e-5)
_EXACT_BYTES = 4 << 20
# Bytes of float32. Converted blocks are new memory and should stay in a core's own cache.
_PLAIN_BLOCK = 4 << 20
_CONVERTED_BLOCK = 1 << 19
_GPU_BLOCK = 1 << 28
_LEAST = 1e-6  # of what went into a sum of float32 unit vectors; less is rounding's
_FLOAT32_MAX = float(np.finfo(np.float32).max)


def query_vector(vectors: Vectors, terms: Sequence[RowTerm], metric: Metric) -> NDArray[np.float64]:
    """The sum that a query's terms stand for.

    Under cosine each row is scaled to unit length, weighted and summed, as word2vec does; under
    dot product and Euclidean distance the rows are summed as they are.

    Parameters
    ----------
    vectors : Vectors
    terms : sequence of RowTerm
    metric : Metric

    Returns
    -------
    float64 array, shape (dim,)

    Raises
    ------
    ExplorerError
        A row is not there or not fit, or the terms cancel out.
    """
    unit = metric is Metric.COSINE
    for term in terms:
        vectors.check_row(term.row, direction=unit)
    rows = vectors.fetch(np.array([term.row for term in terms], np.int64)).astype(np.float64)
    if unit:
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    weights = np.array([term.weight for term in terms])
    total = weights @ rows
    # Rounding leaves a trace of terms that cancel out.
    if (
        metric is not Metric.EUCLIDEAN
        and np.abs(total).max() <= 1e-12 * (np.abs(weights) @ np.abs(rows)).max()
    ):
        raise ExplorerError("The query's terms cancel out: nothing is left to compare with.")
    return total


def candidate_rows(
    vectors: Vectors,
    metric: Metric,
    *,
    own: Sequence[int] = (),
    special: NDArray[np.int64] | None = None,
    first_twin: NDArray[np.int64] | None = None,
    all_rows: bool = False,
    include_query: bool = False,
) -> NDArray[np.bool_]:
    """Which rows may be neighbours.

    Parameters
    ----------
    vectors : Vectors
    metric : Metric
    own : sequence of int
        The query's own rows.
    special : int64 array, optional
        Rows that the tokenizer marks as special.
    first_twin : int64 array, shape (rows,), optional
        For each row the first of the same content: repeats are counted once, as that row.
    all_rows : bool
        Special, padding, repeated and (save under cosine) all-zero rows take part. Rows with a NaN or an
        infinite value never do.
    include_query : bool
        The query's own rows take part.

    Returns
    -------
    bool array, shape (rows,)
    """
    states = vectors.health.states
    fit: NDArray[np.bool_] = (states != RowState.NAN) & (states != RowState.INFINITE)
    if metric is Metric.COSINE:
        fit &= vectors.norms > 0
    taken = fit.copy() if all_rows else fit & vectors.health.healthy
    if special is not None and not all_rows:
        taken[special] = False
    rows = np.array(own, np.int64)
    if first_twin is not None and not all_rows:
        taken &= first_twin == np.arange(vectors.rows)
        rows = np.asarray(first_twin[rows], np.int64)
    taken[rows] = fit[rows] & include_query
    return taken


def search(
    vectors: Vectors, query: NDArray, metric: Metric, k: int, candidates: NDArray[np.bool_]
) -> SearchResult:
    """Find the k nearest candidate rows.

    Every row is scored in float32; rows that can be among the nearest are then scored anew in
    float64, so that equal rows score equal, near-identical rows keep their distance, and the
    answer is the same on every device.

    Parameters
    ----------
    vectors : Vectors
    query : float array, shape (dim,)
    metric : Metric
    k : int
        More than there are candidates gives all.
    candidates : bool array, shape (rows,)

    Returns
    -------
    SearchResult
        Best first; ties go to the smaller row.

    Raises
    ------
    ExplorerError
        A query of another dimension, or one that has no direction under cosine.
    """
    query = np.asarray(query, np.float64)
    length = _length(query, vectors.dim, metric)
    places = np.flatnonzero(candidates)
    if not len(places):
        return SearchResult(places, np.empty(0, np.float32), metric, _background(np.empty(0, np.float32)))
    rough = _Rough.of(vectors, query, length, metric, places)
    chosen = places[rough.at_least_kth(k)]
    exact = _exact_scores(vectors, chosen, query, metric)
    # Rounded as float32 has it, but not to nothing or to infinity.
    rounded = np.ldexp(exact, -np.frexp(np.abs(exact).max())[1]).astype(np.float32)
    order = np.argsort(rounded if metric.ascending else -rounded, kind="stable")[:k]
    scores = np.clip(exact[order], -_FLOAT32_MAX, _FLOAT32_MAX).astype(np.float32)
    return SearchResult(chosen[order], scores, metric, _background(rough.scores), query)


def find_neighbours(
    vectors: Vectors,
    metric: Metric,
    k: int,
    *,
    terms: Sequence[RowTerm] = (),
    vector: NDArray | None = None,
    special: NDArray[np.int64] | None = None,
    first_twin: NDArray[np.int64] | None = None,
    all_rows: bool = False,
    include_query: bool = False,
) -> SearchResult:
    """Answer a query of weighted rows, of a vector from elsewhere, or of both: the parts above together.

    With a vector, which then is a sum of unit vectors itself, the rows are scaled to unit length whatever
    the metric.
    """
    if vector is None:
        query = query_vector(vectors, terms, metric)
    elif terms:
        query = _with_rows(vectors, terms, np.asarray(vector, np.float64))
    else:
        query = np.asarray(vector, np.float64)
    candidates = candidate_rows(
        vectors,
        metric,
        own=[term.row for term in terms],
        special=special,
        first_twin=first_twin,
        all_rows=all_rows,
        include_query=include_query,
    )
    return search(vectors, query, metric, k, candidates)


def _with_rows(
    vectors: Vectors, terms: Sequence[RowTerm], vector: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A sum of unit vectors with those of some rows added."""
    for term in terms:
        vectors.check_row(term.row, direction=True)
    rows = vectors.fetch(np.array([term.row for term in terms], np.int64)).astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    weights = np.array([term.weight for term in terms])
    total: NDArray[np.float64] = weights @ rows + vector
    if np.linalg.norm(total) <= _LEAST * (np.abs(weights).sum() + np.linalg.norm(vector)):
        raise ExplorerError("The query's terms cancel out: nothing is left to compare with.")
    return total


@dataclass(frozen=True, eq=False)
class _Rough:
    """Float32 scores of the candidate rows, and how far they may be from the truth.

    Attributes
    ----------
    closeness : float32 array, shape (candidates,)
        Larger is nearer: cosine, product, or minus the squared distance; in units in which no
        value of a row or a query overflows.
    slack : float32 array, shape (candidates,)
        By how much each may be off.
    scores : float array, shape (candidates,)
    """

    closeness: NDArray[np.float32]
    slack: NDArray[np.float32]
    scores: NDArray[np.floating]

    @classmethod
    def of(
        cls,
        vectors: Vectors,
        query: NDArray[np.float64],
        length: float,
        metric: Metric,
        places: NDArray[np.int64],
    ) -> _Rough:
        everything = len(places) == vectors.rows
        products = _products(vectors, (query / (length or 1.0)).astype(np.float32))
        norms = vectors.norms
        if not everything:
            products, norms = products[places], norms[places]
        if metric is Metric.COSINE:
            cosines = products / norms
            return cls(cosines, np.full_like(cosines, _SLACK), cosines)
        unit = max(float(norms.max()), length) or 1.0
        products, norms = products / np.float32(unit), norms / np.float32(unit)
        if metric is Metric.DOT:
            return cls(products, _SLACK * norms, products * np.float64(unit * length))
        own = np.float32(length / unit)
        closeness = 2 * own * products - norms * norms - own * own
        distances = np.sqrt(np.maximum(-closeness, 0.0)) * np.float64(unit)
        return cls(closeness, _SLACK * (norms + own) ** 2, distances)

    def at_least_kth(self, k: int) -> NDArray[np.int64]:
        """Places, in order, of all that can be among the k nearest."""
        if k >= len(self.closeness):
            return np.arange(len(self.closeness))
        surely = self.closeness - self.slack
        kth = np.partition(surely, len(surely) - k)[len(surely) - k]
        return np.flatnonzero(self.closeness + self.slack >= kth)


def _length(query: NDArray[np.float64], dim: int, metric: Metric) -> float:
    """The query's length, where it can be asked at all."""
    if query.shape != (dim,):
        raise ExplorerError(f"The query has {query.size} dimensions, the table has {dim}.")
    length = float(np.linalg.norm(query))
    if not np.isfinite(length):
        raise ExplorerError("The query holds values that are not finite numbers.")
    if length == 0 and metric is Metric.COSINE:
        raise ExplorerError("The query is all zeros: it has no direction to compare.")
    return length


def _products(vectors: Vectors, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Dot products of all rows with a query of unit length, float32, shape (rows,)."""
    plain = vectors.plain
    asked = torch.from_numpy(query).to(vectors.device)
    products = torch.empty(vectors.rows, device=vectors.device)

    def work(start: int, stop: int) -> None:
        if plain is not None:
            with np.errstate(all="ignore"):
                np.dot(plain[start:stop], query, out=products[start:stop].numpy())
        else:
            torch.mv(vectors.block(start, stop), asked, out=products[start:stop])

    size = _PLAIN_BLOCK if plain is not None else _CONVERTED_BLOCK if vectors.on_cpu else _GPU_BLOCK
    each_block(work, vectors.spans(size), threads=threads_for(vectors.device))
    return products.cpu().numpy()


def _exact_scores(
    vectors: Vectors, rows: NDArray[np.int64], query: NDArray[np.float64], metric: Metric
) -> NDArray[np.float64]:
    """Scores of some rows, computed in float64; each depends on its row and the query alone."""
    scores = np.empty(len(rows))
    step = max(1, _EXACT_BYTES // (8 * vectors.dim))
    for start in range(0, len(rows), step):
        block = vectors.fetch(rows[start : start + step]).astype(np.float64)
        if metric is Metric.EUCLIDEAN:
            block -= query
            found = np.sqrt(np.einsum("ij,ij->i", block, block))
        else:
            found = np.einsum("ij,j->i", block, query)
            if metric is Metric.COSINE:
                found /= np.sqrt(np.einsum("ij,ij->i", block, block)) * np.linalg.norm(query)
                found = np.clip(found, -1.0, 1.0)
        scores[start : start + step] = found
    return scores


def _background(scores: NDArray[np.floating]) -> Background:
    """Mean, deviation and histogram of all candidates' scores."""
    if not len(scores):
        return Background(0.0, 0.0, np.zeros(BINS, np.int64), np.linspace(0.0, 1.0, BINS + 1))
    mean = scores.mean(dtype=np.float64)
    off = scores - scores.dtype.type(mean)
    largest = float(np.abs(off).max()) or 1.0
    spread = largest * np.sqrt(np.square(off / scores.dtype.type(largest)).mean(dtype=np.float64))
    return Background(float(mean), float(spread), *histogram(scores, BINS))
