"""Relative positions as T5 has them: each head adds to a score what it has learned for the distance.

Raffel et al., *Exploring the Limits of Transfer Learning*, 2020, section 2.1: near distances have a row each,
far ones share rows on a logarithmic scale, and those to the left and right have rows of their own.
"""

from __future__ import annotations

import math

import torch

from explorer.core.errors import ExplorerError

USUAL_REACH = 128  # from this distance on all share a row


def distance_bias(table: torch.Tensor, places: int, reach: int = USUAL_REACH) -> torch.Tensor:
    """What is added to scores.

    Parameters
    ----------
    table : tensor, shape (rows, heads)
        A half of the rows is for places before, the other for those after.
    places : int
    reach : int
        Distance from which on all share a row.

    Returns
    -------
    float32 tensor, shape (heads, places, places)

    Raises
    ------
    ExplorerError
        There are too few rows, or they reach too far.
    """
    half = len(table) // 2
    single = half // 2  # distances with a row of their own
    if not 0 < single < reach:
        raise ExplorerError(f"A table of {len(table)} distances for a reach of {reach} is not known here.")
    back = torch.arange(places) - torch.arange(places)[:, None]
    distance = back.abs()
    far = torch.log(distance.clamp(min=1).float() / single) / math.log(reach / single) * (half - single)
    row = torch.where(distance < single, distance, (single + far.long()).clamp(max=half - 1))
    return table[row + half * (back > 0)].permute(2, 0, 1)
