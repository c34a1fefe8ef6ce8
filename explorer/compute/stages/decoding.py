"""A decoder's stages beside an encoded source, as every translator has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from explorer.compute.stages.activations import Map
from explorer.compute.stages.attention import Looked, attention
from explorer.compute.stages.base import Computed, stage
from explorer.core.stages import Of, Stage

ALONE = "The decoder also looks at an encoded source sentence, so it is not run on the target side alone"
ADD_SOURCE = f"{ALONE}: give the source sentence as well (--source, or the field below the text)."
_HOW = "self-attention on what came before, attention to the source, an MLP"


class DecoderLayer(Protocol):
    """What is asked of a decoder's layer."""

    def __call__(self, x: torch.Tensor, source: torch.Tensor) -> tuple[torch.Tensor, Looked, Looked]:
        """Shape (n, dim) kept; with where it looks in its own text, and in the source of shape (m, dim)."""


def decode(
    placed: torch.Tensor,
    before: Sequence[Stage],
    layers: Sequence[DecoderLayer],
    last: Map | None,
    source: torch.Tensor,
    tell: Callable[[float], None],
) -> Computed:
    """Take a text through a decoder.

    Parameters
    ----------
    placed : tensor, shape (n, dim)
        Rows as the first layer gets them.
    before : sequence of Stage
        Up to there.
    layers : sequence of DecoderLayer
    last : callable or None
        The norm after all layers, where there is one.
    source : tensor, shape (m, dim)
        Encoded.
    tell : callable
        As in ``Input``.
    """
    x = placed
    stages = [
        stage("encoder output", source, "of the source: what the decoder looks at", Of.SOURCE),
        *before,
    ]
    own, cross = [], []
    for number, layer in enumerate(layers):
        tell(number / len(layers))
        x, looked, across = layer(x, source)
        own.append(looked)
        cross.append(across)
        stages.append(stage(f"after decoder layer {number + 1}", x, _HOW))
    if last is not None:
        stages.append(stage("final norm", last(x), "after the decoder's last layer"))
    return Computed(
        tuple(stages),
        (attention(cross, "cross-attention", keys=Of.SOURCE), attention(own, "target self-attention")),
    )
