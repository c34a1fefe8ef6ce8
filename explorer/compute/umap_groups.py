"""Groups of neighbouring points, laid out before the points themselves are.

A layout of very many points moves each by little at a time: from PCA on, a million points do not find
their neighbours in any number of epochs that one would wait for. As in multilevel graph drawing (Walshaw,
2003; Hu, 2005), a coarser graph is laid out first, and its picture is where the points start.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.compute.checkpoint import Checkpoint, no_checkpoint, part
from explorer.compute.parallel import each_block, spans
from explorer.compute.umap_graph import FuzzyGraph, united

# Points in a group, on average.
POINTS = 16
# The groups that a group is tied to: its strongest.
_NEAREST = 15
_BLOCK_POINTS = 1 << 16
_BLOCK_GROUPS = 2048
# Points of a group start this far from its place, as a standard deviation, in UMAP's measure.
_STREWN = 0.05


@dataclass(frozen=True, eq=False)
class Groups:
    """Points in groups, and how strongly the groups hold on to each other.

    Attributes
    ----------
    of : int32 array, shape (points,)
        The group of each point.
    graph : FuzzyGraph
        Of the groups.
    """

    of: NDArray[np.int32]
    graph: FuzzyGraph

    def middles(self, positions: NDArray[np.float32]) -> NDArray[np.float32]:
        """The mean position of each group's points: float32 array, shape (groups, dimensions)."""
        sizes = np.bincount(self.of)
        sums = [np.bincount(self.of, axis) for axis in positions.T]
        return (np.stack(sums, axis=1) / sizes[:, None]).astype(np.float32)

    def strewn(self, middles: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
        """Where points start: about their group's place; float32 array, shape (points, dimensions)."""
        random = np.random.default_rng(abs(seed))
        positions = random.standard_normal((len(self.of), middles.shape[1]), np.float32)
        positions *= np.float32(_STREWN)
        positions += middles[self.of]
        return positions


def group(graph: FuzzyGraph, seed: int, least: float, checkpoint: Checkpoint = no_checkpoint) -> Groups:
    """Gather points about some of them drawn at random: each joins the strongest of its neighbours.

    Parameters
    ----------
    graph : FuzzyGraph
        Of n points, its weights above 0.
    seed : int
        The same seed makes the same groups.
    least : float
        Weaker edges between groups are left out.
    checkpoint : Checkpoint

    Returns
    -------
    Groups
        About n / 16; more where points hang together in small parts of which none was drawn.

    Raises
    ------
    Cancelled
        From the checkpoint.
    """
    count = len(graph.starts) - 1
    drawn = np.random.default_rng(abs(seed)).choice(count, -(-count // POINTS), replace=False, shuffle=False)
    drawn.sort()
    found = np.full(count, -1, np.int32)
    found[drawn] = np.arange(len(drawn), dtype=np.int32)
    found = _joined(graph, found, part(checkpoint, 0.0, 0.3, "Layout"))
    alone = np.flatnonzero(found < 0)
    found[alone] = np.arange(len(drawn), len(drawn) + len(alone), dtype=np.int32)

    number = len(drawn) + len(alone)
    members = np.argsort(found, kind="stable")
    begins = np.searchsorted(found[members], np.arange(number + 1))
    near, held = np.empty((number, _NEAREST), np.int32), np.empty((number, _NEAREST), np.float32)
    tie = partial(_tie, graph.starts, graph.ends, graph.weights, members, begins, found, near, held)
    each_block(tie, spans(number, _BLOCK_GROUPS), part(checkpoint, 0.3, 0.9, "Layout"))
    return Groups(found, united(near, held, least, part(checkpoint, 0.9, 1.0, "Layout")))


def _joined(graph: FuzzyGraph, group_of: NDArray[np.int32], checkpoint: Checkpoint) -> NDArray[np.int32]:
    """Have points join round by round, till none is left that can; -1 for those."""
    blocks = spans(len(group_of), _BLOCK_POINTS)
    left = len(group_of) + 1
    while (waiting := int(np.count_nonzero(group_of < 0))) and waiting < left:
        left, after = waiting, group_of.copy()
        join = partial(_join, graph.starts, graph.ends, graph.weights, group_of, after)
        each_block(join, blocks, part(checkpoint, 0.0, 1.0, "Layout"))
        group_of = after
    return group_of


@njit(nogil=True, cache=True)
def _join(starts, ends, weights, before, after, first, last):  # type: ignore[no-untyped-def]
    for point in range(first, last):
        if before[point] >= 0:
            continue
        strongest = np.float32(0.0)
        for edge in range(starts[point], starts[point + 1]):
            if before[ends[edge]] >= 0 and weights[edge] > strongest:
                strongest = weights[edge]
                after[point] = before[ends[edge]]


@njit(nogil=True, cache=True)
def _tie(starts, ends, weights, members, begins, group_of, near, held, first, last):  # type: ignore[no-untyped-def]
    """The groups that each group is tied to most, ascending, and how strongly beside the strongest.

    Where there are fewer, the group itself stands for the missing, with no strength.
    """
    most = near.shape[1]
    total = np.zeros(len(near), np.float32)
    met = np.empty(len(near), np.int32)
    for one in range(first, last):
        count = 0
        for place in range(begins[one], begins[one + 1]):
            point = members[place]
            for edge in range(starts[point], starts[point + 1]):
                other = group_of[ends[edge]]
                if other == one:
                    continue
                if total[other] == 0.0:
                    met[count] = other
                    count += 1
                total[other] += weights[edge]
        strengths = total[met[:count]]
        strongest = np.argsort(-strengths, kind="mergesort")[:most]
        others, strength = np.full(most, one, np.int32), np.zeros(most, np.float32)
        for place, chosen in enumerate(strongest):
            others[place] = met[chosen]
            strength[place] = strengths[chosen] / strengths[strongest[0]]
        order = np.argsort(others, kind="mergesort")
        near[one], held[one] = others[order], strength[order]
        for place in range(count):
            total[met[place]] = 0.0
