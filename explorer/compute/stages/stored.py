"""Layers of a model too large to be kept in memory: each is read when it is computed with, then let go."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from torch.nn import functional

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map
from explorer.compute.stages.linear import read_linear, read_lookup, read_shaped, table_shape

MOST_STORED = 512
"""Places of a model that is read layer by layer: its stages alone would fill memory."""
_MOST_KEPT = 400_000_000  # numbers, of 4 bytes each


@dataclass(frozen=True, eq=False)
class StoredLinear:
    """A linear layer in its file; computed with in float32.

    Attributes
    ----------
    weights : Weights
    name : str
        Without ``.weight``.
    shape : tuple of int
        Outputs and inputs.
    bias : tensor, shape (outputs,), or None
    """

    weights: Weights
    name: str
    shape: tuple[int, int]
    bias: torch.Tensor | None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Shape (n, inputs) to (n, outputs)."""
        return functional.linear(x, read_shaped(self.weights, f"{self.name}.weight", self.shape), self.bias)


@dataclass(frozen=True, eq=False)
class StoredLookup:
    """A table in its file, of which only the rows that are asked for are read.

    Attributes
    ----------
    weights : Weights
    name : str
        The tensor's.
    """

    weights: Weights
    name: str

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        """Shape (n,) to (n, dim), float32."""
        rows = self.weights.tensors[self.name].read()[ids.numpy()]
        return torch.from_numpy(np.asarray(rows, np.float32))


def can_be_kept(weights: Weights) -> bool:
    """Whether a model's layers are few enough to be kept in memory as float32."""
    return sum(prod(t.shape) for t in weights.tensors.values() if t.is_float) <= _MOST_KEPT


def lookup_table(weights: Weights, name: str, *, kept: bool) -> Map:
    """A token table, kept in memory or read row by row.

    Raises
    ------
    ExplorerError
        It is missing, or no table of numbers.
    """
    table_shape(weights, name)
    return read_lookup(weights, name) if kept else StoredLookup(weights, name)


def linear_layer(
    weights: Weights, name: str, inputs: int, outputs: int | None = None, *, kept: bool = True
) -> Map:
    """A linear layer, kept in memory or read whenever it is computed with; its bias may be missing.

    Parameters
    ----------
    weights : Weights
    name : str
        Without ``.weight``.
    inputs : int
    outputs : int, optional
        As many as there are where not given.
    kept : bool

    Raises
    ------
    ExplorerError
        Its tensors are missing or of other shapes.
    """
    if kept:
        return read_linear(weights, name, inputs, outputs)
    rows, columns = table_shape(weights, f"{name}.weight")
    if columns != inputs or outputs not in (None, rows):
        read_shaped(weights, f"{name}.weight", (outputs or rows, inputs))  # refused in its words
    bias = read_shaped(weights, f"{name}.bias", (rows,)) if f"{name}.bias" in weights else None
    return StoredLinear(weights, name, (rows, inputs), bias)
