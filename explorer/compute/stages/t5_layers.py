"""Layers of T5 and its relatives: learned distances, scores that are not scaled, MLPs that may be gated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.activations import Map, activation_of
from explorer.compute.stages.attention import Looked, mix, split
from explorer.compute.stages.linear import RootNorm, read_root_norm, read_shaped, table_shape
from explorer.compute.stages.relative import USUAL_REACH, distance_bias
from explorer.compute.stages.stored import linear_layer
from explorer.core.errors import ExplorerError

DISTANCES = "layer.0.SelfAttention.relative_attention_bias.weight"
_MLP = "DenseReluDense"


@dataclass(frozen=True, eq=False)
class _Look:
    """Attention over several heads, of normed places to those of the same text or of the source.

    ``distances``, shape (rows, heads), are None towards a source; ``one_way`` is a decoder's, whose places
    see none after them.
    """

    heads: int
    norm: RootNorm
    query: Map
    key: Map
    value: Map
    output: Map
    distances: torch.Tensor | None
    reach: int
    one_way: bool

    def __call__(self, x: torch.Tensor, source: torch.Tensor | None = None) -> tuple[torch.Tensor, Looked]:
        """What is added to x, shape (n, dim): from its own places, or from a source of shape (m, dim)."""
        normed = self.norm(x)
        at = normed if source is None else source
        bias = None
        if self.distances is not None:
            bias = distance_bias(self.distances, len(x), self.reach, one_way=self.one_way)
        queries, keys, values = (
            split(part(places), self.heads)
            for part, places in ((self.query, normed), (self.key, at), (self.value, at))
        )
        mixed, looked = mix(Looked(queries, keys, causal=False, scale=1.0, bias=bias), values)
        return self.output(mixed), looked


@dataclass(frozen=True, eq=False)
class T5Layer:
    """One layer; ``cross`` is None in an encoder, ``gate`` where the MLP has none."""

    own: _Look
    cross: _Look | None
    norm: RootNorm
    gate: Map | None
    inner: Map
    outer: Map
    activation: Map

    def encode(self, x: torch.Tensor) -> tuple[torch.Tensor, Looked]:
        """An encoder's: shape (n, dim) kept."""
        added, looked = self.own(x)
        return self._answer(x + added), looked

    def __call__(self, x: torch.Tensor, source: torch.Tensor) -> tuple[torch.Tensor, Looked, Looked]:
        """A decoder's: shape (n, dim) kept; it also looks at a source of shape (m, dim)."""
        assert self.cross is not None
        added, own = self.own(x)
        x = x + added
        added, cross = self.cross(x, source)
        return self._answer(x + added), own, cross

    def _answer(self, x: torch.Tensor) -> torch.Tensor:
        normed = self.norm(x)
        inner = self.inner(normed)
        gated = self.activation(inner) if self.gate is None else self.activation(self.gate(normed)) * inner
        return x + self.outer(gated)


def read_layers(half: Weights, dim: int, config: Mapping[str, Any], *, kept: bool) -> list[T5Layer]:
    """The layers of an encoder or decoder.

    Parameters
    ----------
    half : Weights
        Under ``encoder.`` or ``decoder.``.
    dim : int
    config : mapping
        Of ``config.json``; empty where there is none.
    kept : bool
        As in ``linear_layer``.

    Raises
    ------
    ExplorerError
        Tensors are missing or of other shapes.
    """
    first = read_shaped(half, f"block.0.{DISTANCES}", table_shape(half, f"block.0.{DISTANCES}"))
    count = min(half.count(r"block\.(\d+)\."), len(half.tensors))
    return [_layer(half.under(f"block.{number}."), dim, first, config, kept) for number in range(count)]


def norm_eps(config: Mapping[str, Any]) -> float:
    """What norms add to the mean square."""
    return float(config.get("layer_norm_epsilon", 1e-6))


def _layer(own: Weights, dim: int, first: torch.Tensor, config: Mapping[str, Any], kept: bool) -> T5Layer:
    eps, crosses = norm_eps(config), own.has("layer.1.EncDecAttention.")
    mlp = "layer.2" if crosses else "layer.1"
    gated = f"{mlp}.{_MLP}.wi_0.weight" in own
    main = f"{mlp}.{_MLP}.{'wi_1' if gated else 'wi'}"
    inner = table_shape(own, f"{main}.weight")[0]
    told = str(config.get("feed_forward_proj", "gated-gelu" if gated else "relu"))
    # UMT5's layers have distances of their own, the others' take those of the first.
    distances = read_shaped(own, DISTANCES, tuple(first.shape)) if DISTANCES in own else first
    heads, reach = first.shape[1], int(config.get("relative_attention_max_distance", USUAL_REACH))

    def look(name: str, table: torch.Tensor | None) -> _Look:
        width = table_shape(own, f"{name}.q.weight")[0]
        if width % heads:
            raise ExplorerError(
                f"A width of {width} cannot be split into the {heads} heads of its distances."
            )
        query, key, value = (linear_layer(own, f"{name}.{part}", dim, width, kept=kept) for part in "qkv")
        output = linear_layer(own, f"{name}.o", width, dim, kept=kept)
        norm = read_root_norm(own, f"{name.rpartition('.')[0]}.layer_norm", dim, eps)
        return _Look(heads, norm, query, key, value, output, table, reach, one_way=crosses)

    return T5Layer(
        own=look("layer.0.SelfAttention", distances),
        cross=look("layer.1.EncDecAttention", None) if crosses else None,
        norm=read_root_norm(own, f"{mlp}.layer_norm", dim, eps),
        gate=linear_layer(own, f"{mlp}.{_MLP}.wi_0", dim, inner, kept=kept) if gated else None,
        inner=linear_layer(own, main, dim, inner, kept=kept),
        outer=linear_layer(own, f"{mlp}.{_MLP}.wo", inner, dim, kept=kept),
        # A gate of GELU means its tanh form.
        activation=activation_of("gelu_new" if told == "gated-gelu" else told.removeprefix("gated-")),
    )
