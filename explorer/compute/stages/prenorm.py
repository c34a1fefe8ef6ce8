"""A Transformer's layer that norms before self-attention and before its MLP, and adds each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from explorer.compute.stages.activations import Map
from explorer.compute.stages.attention import Looked, attend
from explorer.compute.stages.base import stage
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
    query, key, value, output : Map
    inner, outer : Map
    activation : callable
    """

    heads: int
    norm_1: Map
    query: Map
    key: Map
    value: Map
    output: Map
    norm_2: Map
    inner: Map
    outer: Map
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
    tell: Callable[[float], None] = lambda share: None,
) -> tuple[torch.Tensor, list[Stage], list[Looked]]:
    """The last hidden state, shape (n, dim), the stage after each layer, and each layer's attention.

    ``bias`` adds to the scores of each layer; ``tell`` is told before each what share is done.
    """
    stages, looked = [], []
    for number, layer in enumerate(layers, 1):
        tell((number - 1) / len(layers))
        x, seen = layer(x, causal=causal, bias=bias)
        looked.append(seen)
        stages.append(stage(f"{name} {number}", x, _HOW, of))
    return x, stages, looked
