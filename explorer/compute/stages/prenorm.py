"""A Transformer's layer that norms before self-attention and before its MLP, and adds each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from explorer.compute.stages.activations import Map
from explorer.compute.stages.attention import Looked, attend
from explorer.compute.stages.base import stage
from explorer.compute.stages.linear import Linear
from explorer.compute.stages.postnorm import PostNormLayer
from explorer.core.stages import Of, Stage

_HOW = "self-attention, then an MLP"


@dataclass(frozen=True, eq=False)
class PreNormLayer:
    """One layer.

    Attributes
    ----------
    heads : int
    norm_1, norm_2 : callable
        Before attention, before the MLP; tensors of shape (n, dim).
    query, key, value, output : Linear
    inner, outer : Linear
    activation : callable
    """

    heads: int
    norm_1: Map
    query: Linear
    key: Linear
    value: Linear
    output: Linear
    norm_2: Map
    inner: Linear
    outer: Linear
    activation: Map

    def __call__(
        self, x: torch.Tensor, *, causal: bool = False, bias: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Looked]:
        """Shape (n, dim) kept; ``bias`` adds to the scores."""
        normed = self.norm_1(x)
        mixed, looked = attend(
            self.query(normed), self.key(normed), self.value(normed), self.heads, causal=causal, bias=bias
        )
        x = x + self.output(mixed)
        return x + self.outer(self.activation(self.inner(self.norm_2(x)))), looked


def run_layers(
    x: torch.Tensor,
    layers: Sequence[PreNormLayer | PostNormLayer],
    *,
    of: Of = Of.TOKENS,
    causal: bool = False,
    bias: torch.Tensor | None = None,
    name: str = "after layer",
) -> tuple[torch.Tensor, list[Stage], list[Looked]]:
    """The last hidden state, shape (n, dim), the stage after each layer, and each layer's attention.

    ``bias`` adds to the scores of each layer.
    """
    stages, looked = [], []
    for number, layer in enumerate(layers, 1):
        x, seen = layer(x, causal=causal, bias=bias)
        looked.append(seen)
        stages.append(stage(f"{name} {number}", x, _HOW, of))
    return x, stages, looked
