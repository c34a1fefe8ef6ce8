"""Layers from a model's tensors, checked against the shapes that they must have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from explorer.compute.encoders.weights import Weights
from explorer.core.errors import ExplorerError


@dataclass(frozen=True, eq=False)
class Linear:
    """``x @ weight.T + bias``.

    Attributes
    ----------
    weight : tensor, shape (outputs, inputs)
    bias : tensor, shape (outputs,), or None
    """

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Shape (n, inputs) to (n, outputs)."""
        return functional.linear(x, self.weight, self.bias)


@dataclass(frozen=True, eq=False)
class Norm:
    """Layer normalisation with the biased variance, as ``nn.LayerNorm``.

    Attributes
    ----------
    weight, bias : tensor, shape (dim,)
    eps : float
    """

    weight: torch.Tensor
    bias: torch.Tensor
    eps: float

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Shape kept."""
        return functional.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


@dataclass(frozen=True, eq=False)
class RootNorm:
    """Normalisation by the root of the mean square, as ``nn.RMSNorm`` (Zhang and Sennrich, 2019).

    Attributes
    ----------
    weight : tensor, shape (dim,)
    eps : float
    """

    weight: torch.Tensor
    eps: float

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Shape kept."""
        return functional.rms_norm(x, self.weight.shape, self.weight, self.eps)


@dataclass(frozen=True, eq=False)
class Lookup:
    """A table of which rows are taken.

    Attributes
    ----------
    name : str
        The tensor's.
    stored : array, shape (rows, dim)
        In its own type.
    """

    name: str
    stored: NDArray

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        """Shape (n,) to (n, dim), float32."""
        # NumPy knows all stored types here, torch's own conversion only some of them.
        return torch.from_numpy(np.asarray(self.stored[ids.numpy()], np.float32))


def read_lookup(weights: Weights, name: str) -> Lookup:
    """A table, in memory of its own: its file may change while the model is kept.

    Raises
    ------
    ExplorerError
        It is missing, or no table of numbers.
    """
    table_shape(weights, name)
    return Lookup(name, np.array(weights.tensors[name].read()))


def read_linear(weights: Weights, name: str, inputs: int, outputs: int | None = None) -> Linear:
    """A linear layer; its bias may be missing.

    Parameters
    ----------
    weights : Weights
    name : str
        Without ``.weight``.
    inputs : int
    outputs : int, optional
        As many as there are where not given.

    Raises
    ------
    ExplorerError
        Its tensors are missing or of other shapes.
    """
    rows = outputs if outputs is not None else (*weights.shape(f"{name}.weight"), 0)[0]
    weight = read_shaped(weights, f"{name}.weight", (rows, inputs))
    bias = read_shaped(weights, f"{name}.bias", (rows,)) if f"{name}.bias" in weights else None
    return Linear(weight, bias)


def read_norm(weights: Weights, name: str, dim: int, eps: float = 1e-5) -> Norm:
    """A layer normalisation.

    Raises
    ------
    ExplorerError
        Its tensors are missing or of other shapes.
    """
    weight, bias = (read_shaped(weights, f"{name}.{part}", (dim,)) for part in ("weight", "bias"))
    return Norm(weight, bias, eps)


def read_root_norm(weights: Weights, name: str, dim: int, eps: float, offset: float = 0.0) -> RootNorm:
    """A normalisation by the root of the mean square.

    Parameters
    ----------
    weights : Weights
    name : str
        Without ``.weight``.
    dim : int
    eps : float
    offset : float
        What is added to the stored weight: Gemma stores how much it differs from 1.

    Raises
    ------
    ExplorerError
        Its tensor is missing or of another shape.
    """
    return RootNorm(read_shaped(weights, f"{name}.weight", (dim,)) + offset, eps)


def table_shape(weights: Weights, name: str) -> tuple[int, int]:
    """Rows and dim of a table.

    Raises
    ------
    ExplorerError
        It is missing, or no table of numbers.
    """
    shape = weights.shape(name)
    if len(shape) != 2 or 0 in shape or not weights.tensors[name].is_number:
        raise ExplorerError(f"{weights.path.name} is not the model that it seems: {name} is no table.")
    return shape[0], shape[1]


def read_shaped(weights: Weights, name: str, shape: tuple[int, ...]) -> torch.Tensor:
    """A tensor as float32.

    Raises
    ------
    ExplorerError
        It is missing, or of another shape.
    """
    found = weights.shape(name)
    if found != shape:
        raise ExplorerError(
            f"{weights.path.name} is not the model that it seems: {name} has the shape {found}, not {shape}."
        )
    return weights.read(name)


def thirds_of(joined: Linear) -> tuple[Linear, Linear, Linear]:
    """Query, key and value out of the one layer that holds them in this order."""
    weights = joined.weight.chunk(3)
    biases = (None, None, None) if joined.bias is None else joined.bias.chunk(3)
    query, key, value = (Linear(weight, bias) for weight, bias in zip(weights, biases, strict=True))
    return query, key, value
