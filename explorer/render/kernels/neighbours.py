"""Colours for categories, by which of them lie side by side in a grid of cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.render._compile import compiled

EVENLY = 0.05
"""What a colour that all have costs, beside one that all neighbours have."""


@compiled("int64[] int32[] float32[] int64[] int64[] int64[] float64[,] int64 int64 int32[]!")
def give_colours(
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    weights: NDArray[np.float32],
    cells: NDArray[np.int64],
    own_starts: NDArray[np.int64],
    own: NDArray[np.int64],
    alike: NDArray[np.float64],
    wide: int,
    distinct: int,
    given: NDArray[np.int32],
) -> None:
    """Give each category in turn the colour that is least like those of its neighbours.

    Members (a category, its weight and its cell) are sorted by cell, ``starts`` says where each of
    the grid's cells begins; ``own`` are the places among them by category. No member lies in a cell
    of the grid's rim. The first ``distinct`` categories get a colour each of their own. Whoever has
    none yet has -1.
    """
    used, meets, costs = np.zeros((3, len(alike)))
    for category in range(len(given)):
        meets[:] = 0
        for at in range(own_starts[category], own_starts[category + 1]):
            member = own[at]
            for line in range(-1, 2):
                for column in range(-1, 2):
                    cell = cells[member] + line * wide + column
                    for other in range(starts[cell], starts[cell + 1]):
                        theirs = given[members[other]]
                        if theirs >= 0:
                            meets[theirs] += min(weights[member], weights[other])
        total = max(meets.sum(), 1e-9)
        for colour in range(len(alike)):
            barred = category < distinct and used[colour] > 0
            costs[colour] = np.inf if barred else EVENLY * used[colour] / len(given)
        for theirs in range(len(alike)):
            if meets[theirs] > 0:
                for colour in range(len(alike)):
                    costs[colour] += meets[theirs] / total * alike[theirs, colour]
        best = np.argmin(costs)
        given[category] = best
        used[best] += 1
