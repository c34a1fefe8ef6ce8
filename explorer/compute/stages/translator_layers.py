"""The layers of a translator as *The Annotated Transformer* builds them, and its norm."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.compute.encoders.weights import Weights
from explorer.compute.stages.attention import Looked, attend
from explorer.compute.stages.linear import Linear, read_linear, read_shaped
from explorer.compute.stages.prenorm import PreNormLayer


@dataclass(frozen=True, eq=False)
class UnbiasedNorm:
    """``a_2 * (x - mean) / √(variance + 1e-6) + b_2`` with the unbiased variance."""

    a_2: torch.Tensor
    b_2: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Shape kept."""
        variance, mean = torch.var_mean(x, -1, correction=1, keepdim=True)
        return self.a_2 * (x - mean) / torch.sqrt(variance + 1e-6) + self.b_2


@dataclass(frozen=True, eq=False)
class _Look:
    """Attention over several heads, of normed places to those of the same text or of the source."""

    heads: int
    norm: UnbiasedNorm
    query: Linear
    key: Linear
    value: Linear
    output: Linear

    def __call__(self, x: torch.Tensor, source: torch.Tensor | None = None) -> tuple[torch.Tensor, Looked]:
        """What is added to x, shape (n, dim): from what came before, or from a source of shape (m, dim)."""
        normed = self.norm(x)
        at = normed if source is None else source
        mixed, looked = attend(
            self.query(normed), self.key(at), self.value(at), self.heads, causal=source is None
        )
        return self.output(mixed), looked


@dataclass(frozen=True, eq=False)
class DecoderLayer:
    """Self-attention, attention to the encoded source, a feed-forward block, each normed before."""

    own: _Look
    cross: _Look
    norm: UnbiasedNorm
    inner: Linear
    outer: Linear

    def __call__(self, x: torch.Tensor, source: torch.Tensor) -> tuple[torch.Tensor, Looked, Looked]:
        """Shape (n, dim) kept; with where it looks in its own text, and in the source of shape (m, dim)."""
        added, own = self.own(x)
        x = x + added
        added, cross = self.cross(x, source)
        x = x + added
        return x + self.outer(self.inner(self.norm(x))), own, cross


def read_norm(weights: Weights, name: str, dim: int) -> UnbiasedNorm:
    """A norm.

    Raises
    ------
    ExplorerError
        Its tensors are missing or of other shapes.
    """
    return UnbiasedNorm(*(read_shaped(weights, f"{name}.{part}", (dim,)) for part in ("a_2", "b_2")))


def encoder_layer(weights: Weights, dim: int, heads: int) -> PreNormLayer:
    """A layer of the encoder, from the tensors under its name; raises ExplorerError as ``read_norm``."""
    inner, outer = _feed_forward(weights, dim)
    query, key, value, output = _four(weights, "self_attn", dim)
    return PreNormLayer(
        heads=heads,
        norm_1=read_norm(weights, "sublayer.0.norm", dim),
        query=query,
        key=key,
        value=value,
        output=output,
        norm_2=read_norm(weights, "sublayer.1.norm", dim),
        inner=inner,
        outer=outer,
        activation=lambda x: x,
    )


def decoder_layer(weights: Weights, dim: int, heads: int) -> DecoderLayer:
    """A layer of the decoder, from the tensors under its name; raises ExplorerError as ``read_norm``."""
    own, cross, last = (read_norm(weights, f"sublayer.{i}.norm", dim) for i in range(3))
    inner, outer = _feed_forward(weights, dim)
    return DecoderLayer(
        _Look(heads, own, *_four(weights, "self_attn", dim)),
        _Look(heads, cross, *_four(weights, "src_attn", dim)),
        last,
        inner,
        outer,
    )


def _four(weights: Weights, name: str, dim: int) -> tuple[Linear, Linear, Linear, Linear]:
    """Query, key, value and output of an attention."""
    query, key, value, output = (read_linear(weights, f"{name}.linears.{i}", dim, dim) for i in range(4))
    return query, key, value, output


def _feed_forward(weights: Weights, dim: int) -> tuple[Linear, Linear]:
    """Two linear layers with nothing between them."""
    inner = read_linear(weights, "feed_forward.w_1", dim)
    return inner, read_linear(weights, "feed_forward.w_2", len(inner.weight), dim)
