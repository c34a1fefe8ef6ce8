"""The first picture: principal components, or the vectors as they are where they have as few numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import scipy.linalg
import torch
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint
from explorer.compute.matrix import threads_for
from explorer.compute.parallel import map_blocks, spans
from explorer.compute.vectors import Vectors, power_of_two

T = TypeVar("T")

_BLOCK_VALUES = 1 << 20
# Up to here the whole covariance matrix is made and decomposed (well under a second on two cores).
_MOST_EXACT_DIM = 2048
_MOST_EXACT_WORK = 6e10
# Beyond: directions from a sample of rows, made better by passes over all rows.
_SAMPLE_ROWS = 2048
_EXTRA_DIRECTIONS = 8
_PASSES = 2
# Below this share of the largest length, what varies is rounding.
_ROUNDING = 1e-6


def positions_of(
    vectors: Vectors, dimensions: int = 2, *, checkpoint: Checkpoint = no_checkpoint
) -> NDArray[np.float32]:
    """Where the rows of a table lie on its first picture.

    Vectors of no more numbers than the picture has dimensions are drawn as they are, the rest 0;
    others by their first principal components. Equal rows lie on one point.

    Parameters
    ----------
    vectors : Vectors
    dimensions : {2, 3}
    checkpoint : Checkpoint

    Returns
    -------
    float32 array, shape (rows, dimensions)
        NaN for quarantined rows.
    """
    places = np.flatnonzero(vectors.health.healthy)
    xy = np.full((vectors.rows, dimensions), np.nan, np.float32)
    if vectors.dim <= dimensions:
        xy[places, vectors.dim :] = 0.0
        xy[places, : vectors.dim] = vectors.fetch(places)
    elif len(places):
        xy[places] = principal_components(vectors, places, dimensions, checkpoint=checkpoint)
    return xy[vectors.health.first_twin]


def principal_components(
    vectors: Vectors, places: NDArray[np.int64], count: int, *, checkpoint: Checkpoint = no_checkpoint
) -> NDArray[np.float32]:
    """Project rows onto the directions in which they vary most.

    Exact up to some 6·10¹⁰ multiplications for the covariance matrix (2,048 dimensions at most);
    beyond, by subspace iteration from a sample of rows (Halko, Martinsson and Tropp, 2011).

    Parameters
    ----------
    vectors : Vectors
    places : int64 array, shape (n,)
        The healthy rows that take part.
    count : int
        How many components. Those beyond the number of dimensions are 0.
    checkpoint : Checkpoint

    Returns
    -------
    float32 array, shape (n, count)
        Centred. The sign of each component is the one in which its largest weight is positive.
    """
    found = np.zeros((len(places), count), np.float32)
    rows = _Centred(vectors, places, checkpoint)
    wanted = min(count, vectors.dim, len(places))
    exact = vectors.dim <= _MOST_EXACT_DIM and len(places) * vectors.dim**2 <= _MOST_EXACT_WORK
    variance, directions = _leading(rows.covariance(), wanted) if exact else _iterated(rows, wanted)
    if variance <= len(places) * _ROUNDING**2:
        return found
    largest = np.abs(directions).argmax(axis=0)
    directions *= np.where(directions[largest, np.arange(wanted)] < 0, -1.0, 1.0)
    found[:, :wanted] = rows.project(directions) * np.float32(rows.unit)
    return found


class _Centred:
    """Rows less their mean, a block at a time, in units in which none is longer than 1."""

    def __init__(self, vectors: Vectors, places: NDArray[np.int64], checkpoint: Checkpoint) -> None:
        self._vectors = vectors
        self._places = places
        self._checkpoint = checkpoint
        self._blocks = spans(len(places), max(1, _BLOCK_VALUES // vectors.dim))
        self.unit = power_of_two(float(vectors.norms[places].max()))
        self._mean = torch.zeros(vectors.dim, device=vectors.device)
        self._mean = torch.stack(list(self._each(lambda block: block.sum(dim=0)))).sum(dim=0) / len(places)

    def _each(self, work: Callable[[torch.Tensor], T]) -> Iterator[T]:
        everything = len(self._places) == self._vectors.rows

        def block(start: int, stop: int) -> T:
            rows = (
                self._vectors.block(start, stop)
                if everything
                else self._vectors.take(self._places[start:stop])
            )
            return work(rows / self.unit - self._mean)

        threads = threads_for(self._vectors.device)
        return map_blocks(block, self._blocks, self._checkpoint, "PCA", threads=threads)

    def covariance(self) -> NDArray[np.float64]:
        """Times the number of rows, shape (dim, dim)."""
        return _total(self._each(lambda block: block.T @ block))

    def times_covariance(self, directions: NDArray[np.float64]) -> NDArray[np.float64]:
        """The covariance matrix times some directions, without making it."""
        there = self._to_device(directions)
        return _total(self._each(lambda block: block.T @ (block @ there)))

    def project(self, directions: NDArray[np.float64]) -> NDArray[np.float32]:
        """The rows' coordinates along some directions, shape (n, directions)."""
        there = self._to_device(directions)
        return torch.cat(list(self._each(lambda block: block @ there))).cpu().numpy()

    def sample(self, count: int) -> NDArray[np.float32]:
        """At most so many rows, evenly spaced."""
        chosen = self._places[:: -(-len(self._places) // count)]
        return (self._vectors.take(chosen) / self.unit - self._mean).cpu().numpy()

    def _to_device(self, directions: NDArray[np.float64]) -> torch.Tensor:
        return torch.from_numpy(directions.astype(np.float32)).to(self._vectors.device)


def _total(parts: Iterator[torch.Tensor]) -> NDArray[np.float64]:
    total = next(parts).cpu().numpy().astype(np.float64)
    for part in parts:
        total += part.cpu().numpy()
    return total


def _leading(symmetric: NDArray[np.float64], count: int) -> tuple[float, NDArray[np.float64]]:
    """The largest eigenvalue, and the eigenvectors of the largest ones, shape (size, count)."""
    size = len(symmetric)
    values, found = scipy.linalg.eigh(symmetric, subset_by_index=[size - count, size - 1])
    return float(values[-1]), np.ascontiguousarray(found[:, ::-1])


def _iterated(rows: _Centred, count: int) -> tuple[float, NDArray[np.float64]]:
    """As ``_leading`` of the covariance: from a sample of rows, made better by passes over all."""
    sample = rows.sample(_SAMPLE_ROWS).astype(np.float64)
    width = min(count + _EXTRA_DIRECTIONS, *sample.shape)
    found = sample.T @ _leading(sample @ sample.T, width)[1]
    for _ in range(_PASSES):
        found = rows.times_covariance(np.linalg.qr(found)[0])
    found = np.linalg.qr(found)[0]
    variance, turn = _leading(found.T @ rows.times_covariance(found), count)
    return variance, found @ turn
