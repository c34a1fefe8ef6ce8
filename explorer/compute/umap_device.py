"""The epochs of UMAP's layout in torch, for a graphics card.

What ``umap_layout`` computes point by point: a point goes along its due edges one after the other,
everything else standing where it was before the epoch. Here all points take their first edge at once,
then those that have one their second, and so on. No sum is left to chance, so that a seed gives the same
picture, bit for bit, on one kind of device (a processor: with as many threads); not the same as another
kind's, for they round differently.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, part
from explorer.compute.umap_forces import NEAR, curve
from explorer.compute.umap_graph import FuzzyGraph
from explorer.compute.umap_layout import PUSHES
from explorer.core.layout import LayoutSettings

_LIMIT = 4.0
_LEAST = 1e-12
# Edges looked through at a time for those that are due.
_BLOCK_EDGES = 1 << 26


def epochs_on(
    device: str,
    graph: FuzzyGraph,
    positions: NDArray[np.float32],
    epochs: int,
    settings: LayoutSettings,
    checkpoint: Checkpoint,
    first_rate: float = 1.0,
) -> Iterator[NDArray[np.float32]]:
    """The positions after each epoch.

    Parameters
    ----------
    device : str
        One of torch's.
    graph : FuzzyGraph
    positions : float32 array, shape (n, dimensions)
        Where the points start.
    epochs : int
    settings : LayoutSettings
    checkpoint : Checkpoint
    first_rate : float
        Steps grow smaller from it to 0.

    Yields
    ------
    float32 array, shape (n, dimensions)
    """
    there = torch.device(device)
    edges = _Edges(graph, there)
    forces = curve(settings.min_dist)
    random = torch.Generator(device=there).manual_seed(settings.seed % 2**63)
    now = torch.from_numpy(positions.copy()).to(there)
    for epoch in range(epochs):
        progress = part(checkpoint, epoch / epochs, (epoch + 1) / epochs, f"epoch {epoch + 1} of {epochs}")
        before = now.clone()
        rate = first_rate * (1.0 - epoch / epochs)
        turns = edges.turns(epoch)
        for place, (points, others) in enumerate(turns):
            _step(now, before, points, others, rate, forces, random)
            progress(place / len(turns))
        progress(1.0)
        yield now.cpu().numpy()


class _Edges:
    """The edges of a fuzzy graph on a device, each due again and again after an interval of its own."""

    def __init__(self, graph: FuzzyGraph, device: torch.device) -> None:
        starts = torch.from_numpy(graph.starts).to(device)
        points = torch.arange(len(starts) - 1, dtype=torch.int32, device=device)
        self._points = points.repeat_interleave(starts.diff())
        self._ends = torch.from_numpy(graph.ends).to(device)
        self._interval = 1.0 / torch.from_numpy(graph.weights).to(device)
        self._due = self._interval.clone()

    def turns(self, epoch: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Points and the other ends of their due edges: in each turn a point has one edge at most."""
        due = torch.cat([some.le(epoch).nonzero()[:, 0] + start for start, some in _blocks(self._due)])
        self._due[due] += self._interval[due]
        points = self._points[due]
        # A point's edges follow each other: an edge's turn is how far it is from the first of them.
        place = torch.arange(len(due), device=due.device)
        first = torch.ones(len(due), dtype=torch.bool, device=due.device)
        first[1:] = points[1:] != points[:-1]
        turn = place - place[first][first.cumsum(dim=0, dtype=torch.int32) - 1]
        order = turn.argsort(stable=True)
        sizes = torch.bincount(turn).tolist()
        ends = torch.split(self._ends[due[order]].long(), sizes)
        return list(zip(torch.split(points[order].long(), sizes), ends, strict=True))


def _blocks(values: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
    for start in range(0, max(1, len(values)), _BLOCK_EDGES):
        yield start, values[start : start + _BLOCK_EDGES]


def _step(
    now: torch.Tensor,
    before: torch.Tensor,
    points: torch.Tensor,
    others: torch.Tensor,
    rate: float,
    forces: tuple[float, float],
    random: torch.Generator,
) -> None:
    """Move points, no point twice, towards the other ends of an edge each and away from some at random."""
    a, b = forces
    own = now[points]
    away = own - before[others]
    squared = away.square().sum(dim=1, keepdim=True) + _LEAST
    power = squared.pow(b)
    strength = -2.0 * a * b * power / (squared * (a * power + 1.0))
    own = own + rate * (strength * away).clamp(-_LIMIT, _LIMIT)
    drawn = torch.randint(len(before), (len(points), PUSHES), generator=random, device=now.device)
    away = own[:, None] - before[drawn]
    squared = away.square().sum(dim=2, keepdim=True)
    strength = 2.0 * b / ((NEAR + squared) * (a * squared.pow(b) + 1.0))
    now[points] = own + rate * (strength * away).clamp(-_LIMIT, _LIMIT).sum(dim=1)
