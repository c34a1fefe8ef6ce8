"""Rotary positions: queries and keys are turned by an angle that grows with their place.

Su et al., *RoFormer*, 2021; with the halves of a head as the two coordinates that are turned, as the public
checkpoints have them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from explorer.compute.stages.base import NotRun

USUAL_BASE = 10_000.0


def rates(width: int, base: float, scaling: Mapping[str, Any], model: str) -> torch.Tensor:
    """Angle by which each pair of columns is turned from one place to the next.

    Parameters
    ----------
    width : int
        Of a head; even.
    base : float
        θ of the paper.
    scaling : mapping
        What a configuration says of ``rope_scaling``: nothing, or a ``rope_type`` with its numbers.
    model : str
        What it is, in words.

    Returns
    -------
    float32 tensor, shape (width / 2,)

    Raises
    ------
    NotRun
        The kind of scaling is not known here.
    """
    plain = base ** -(torch.arange(0, width, 2).float() / width)
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind in ("default", "dynamic"):  # a dynamic one differs only beyond the places of its training
        return plain
    factor = float(scaling.get("factor", 1.0))
    if kind == "linear":
        return plain / factor
    if kind == "llama3":
        return _llama_3(plain, factor, scaling)
    raise NotRun(
        model, f"Its positions are scaled by “{kind}”, which is not known here: no layer is computed."
    )


def _llama_3(plain: torch.Tensor, factor: float, scaling: Mapping[str, Any]) -> torch.Tensor:
    """Slow turns are slowed down further, fast ones kept, and those between are mixed (Llama 3.1)."""
    slow, fast = float(scaling["low_freq_factor"]), float(scaling["high_freq_factor"])
    turns = float(scaling["original_max_position_embeddings"]) * plain / (2 * math.pi)
    kept = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return kept * plain + (1 - kept) * plain / factor


def turned(x: torch.Tensor, rates: torch.Tensor) -> torch.Tensor:
    """Queries or keys of shape (heads, n, width), each turned as far as its place says."""
    angles = torch.arange(x.shape[1])[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)
