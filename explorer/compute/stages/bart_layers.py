"""Layers as BART and its relatives name them; normed before each step or after it."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map
from explorer.compute.stages.attention import Looked, attend
from explorer.compute.stages.linear import Norm, read_norm, table_shape
from explorer.compute.stages.postnorm import PostNormLayer
from explorer.compute.stages.prenorm import PreNormLayer
from explorer.compute.stages.stored import linear_layer


@dataclass(frozen=True, eq=False)
class _Look:
    """Attention over several heads, of places to those of the same text or of the source."""

    heads: int
    query: Map
    key: Map
    value: Map
    output: Map

    def __call__(self, x: torch.Tensor, source: torch.Tensor | None) -> tuple[torch.Tensor, Looked]:
        """What is added, shape (n, dim): from what came before, or from a source of shape (m, dim)."""
        at = x if source is None else source
        mixed, looked = attend(self.query(x), self.key(at), self.value(at), self.heads, causal=source is None)
        return self.output(mixed), looked


@dataclass(frozen=True, eq=False)
class BartDecoderLayer:
    """Self-attention, attention to the encoded source, an MLP; each with its norm."""

    norms_first: bool
    own: _Look
    own_norm: Norm
    cross: _Look
    cross_norm: Norm
    inner: Map
    outer: Map
    last_norm: Norm
    activation: Map

    def __call__(self, x: torch.Tensor, source: torch.Tensor) -> tuple[torch.Tensor, Looked, Looked]:
        """Shape (n, dim) kept; with where it looks in its own text, and in the source of shape (m, dim)."""
        added, own = self.own(self._before(self.own_norm, x), None)
        x = self._after(self.own_norm, x + added)
        added, cross = self.cross(self._before(self.cross_norm, x), source)
        x = self._after(self.cross_norm, x + added)
        added = self.outer(self.activation(self.inner(self._before(self.last_norm, x))))
        return self._after(self.last_norm, x + added), own, cross

    def _before(self, norm: Norm, x: torch.Tensor) -> torch.Tensor:
        return norm(x) if self.norms_first else x

    def _after(self, norm: Norm, x: torch.Tensor) -> torch.Tensor:
        return x if self.norms_first else norm(x)


def bart_layer(
    own: Weights, dim: int, heads: int, activation: Map, *, norms_first: bool, kept: bool
) -> PreNormLayer | PostNormLayer:
    """A layer of an encoder, or of a decoder without one, from the tensors under its name.

    Parameters
    ----------
    own : Weights
    dim, heads : int
    activation : callable
    norms_first : bool
        Whether each step is normed before, not after.
    kept : bool
        As in ``linear_layer``.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    look = _look(own, "self_attn", dim, heads, kept)
    four = look.query, look.key, look.value, look.output
    first, second = (read_norm(own, f"{part}_layer_norm", dim) for part in ("self_attn", "final"))
    fc1, fc2 = _mlp(own, dim, kept)
    if norms_first:
        return PreNormLayer(heads, first, *four, second, fc1, fc2, activation)
    return PostNormLayer(heads, *four, first, fc1, fc2, second, activation)


def bart_decoder_layer(
    own: Weights, dim: int, heads: int, activation: Map, *, norms_first: bool, kept: bool
) -> BartDecoderLayer:
    """A layer of a decoder beside an encoder; as ``bart_layer``."""
    norms = [read_norm(own, f"{part}_layer_norm", dim) for part in ("self_attn", "encoder_attn", "final")]
    return BartDecoderLayer(
        norms_first,
        _look(own, "self_attn", dim, heads, kept),
        norms[0],
        _look(own, "encoder_attn", dim, heads, kept),
        norms[1],
        *_mlp(own, dim, kept),
        norms[2],
        activation,
    )


def _look(own: Weights, name: str, dim: int, heads: int, kept: bool) -> _Look:
    query, key, value, output = (
        linear_layer(own, f"{name}.{part}_proj", dim, dim, kept=kept) for part in ("q", "k", "v", "out")
    )
    return _Look(heads, query, key, value, output)


def _mlp(own: Weights, dim: int, kept: bool) -> tuple[Map, Map]:
    inner = table_shape(own, "fc1.weight")[0]
    return linear_layer(own, "fc1", dim, inner, kept=kept), linear_layer(own, "fc2", inner, dim, kept=kept)
