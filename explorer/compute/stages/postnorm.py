"""A Transformer's layer that norms after self-attention and after its MLP, each added to what came in."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.compute.stages.activations import Map
from explorer.compute.stages.attention import Looked, attend
from explorer.compute.stages.linear import Norm


@dataclass(frozen=True, eq=False)
class PostNormLayer:
    """One layer.

    Attributes
    ----------
    heads : int
    query, key, value, output : Map
    attention_norm : Norm
    inner, outer : Map
    output_norm : Norm
    activation : callable
    """

    heads: int
    query: Map
    key: Map
    value: Map
    output: Map
    attention_norm: Norm
    inner: Map
    outer: Map
    output_norm: Norm
    activation: Map

    def __call__(
        self, x: torch.Tensor, *, causal: bool = False, bias: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Looked]:
        """Shape (n, dim) kept; ``bias`` adds to the scores."""
        mixed, looked = attend(
            self.query(x), self.key(x), self.value(x), self.heads, causal=causal, bias=bias
        )
        x = self.attention_norm(x + self.output(mixed))
        return self.output_norm(x + self.outer(self.activation(self.inner(x)))), looked
