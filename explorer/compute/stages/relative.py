"""Relative positions as T5 has them: each head adds to a score what it has learned for the distance.

Raffel et al., *Exploring the Limits of Transfer Learning*, 2020, section 2.1: near distances have a row each,
far ones share rows on a logarithmic scale, and those to the left and right have rows of their own.
"""

from __future__ import annotations

import math

import torch

from explorer.core.errors import ExplorerError

USUAL_REACH = 128  # from this distance on all share a row


def distance_bias(
    table: torch.Tensor, places: int, reach: int = USUAL_REACH, *, one_way: bool = False
) -> torch.Tensor:
    """What is added to scores.

    Parameters
    ----------
    table : tensor, shape (rows, heads)
        A half of the rows is for places before, the other for those after; all for those before in a decoder.
    places : int
    reach : int
        Distance from which on all share a row.
    one_way : bool
        Whether it is a decoder's, whose places see none after them.

    Returns
    -------
    float32 tensor, shape (heads, places, places)
        Minus infinity where a place is not seen.

    Raises
    ------
    ExplorerError
        There are too few rows, or they reach too far.
    """
    count = len(table) if one_way else len(table) // 2
    single = count // 2  # distances with a row of their own
    if not 0 < single < reach:
        raise ExplorerError(f"A table of {len(table)} distances for a reach of {reach} is not known here.")
    ahead = torch.arange(places) - torch.arange(places)[:, None]
    distance = (-ahead).clamp(min=0) if one_way else ahead.abs()
    far = torch.log(distance.clamp(min=1).float() / single) / math.log(reach / single) * (count - single)
    row = torch.where(distance < single, distance, (single + far.long()).clamp(max=count - 1))
    if one_way:
        return table[row].permute(2, 0, 1).masked_fill(ahead > 0, -torch.inf)
    return table[row + count * (ahead > 0)].permute(2, 0, 1)
