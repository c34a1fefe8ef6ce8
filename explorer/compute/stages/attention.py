"""Attention over several heads, kept so that its weights can be shown for a layer that is asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from explorer.core.errors import ExplorerError
from explorer.core.stages import Attention, Heads, Of


@dataclass(frozen=True, eq=False)
class Looked:
    """What one layer's attention was computed from.

    Attributes
    ----------
    queries : tensor, shape (heads, n, dim of a head)
    keys : tensor, shape (heads or a divisor of it, m, dim of a head)
        Where there are fewer, each is shared by as many heads in a row.
    causal : bool
    scale : float or None
        What products are multiplied by; None for one over the root of a head's dim.
    bias : tensor that adds to (heads, n, m), or None
        Minus infinity where a place is not seen.
    cap : float or None
        Scores are squeezed to stay within it: ``cap * tanh(score / cap)``.
    """

    queries: torch.Tensor
    keys: torch.Tensor
    causal: bool
    scale: float | None = None
    bias: torch.Tensor | None = None
    cap: float | None = None

    def weights(self) -> NDArray[np.float32]:
        """Shape (heads, queries, keys); rows sum to 1."""
        with torch.inference_mode():
            found: NDArray[np.float32] = self.shares().numpy()
            return found

    def shares(self) -> torch.Tensor:
        """The weights as a tensor."""
        queries, keys = self.queries, for_each_head(self.keys, len(self.queries))
        scale = 1 / math.sqrt(queries.shape[2]) if self.scale is None else self.scale
        scores = queries @ keys.transpose(1, 2) * scale
        if self.cap is not None:
            scores = self.cap * torch.tanh(scores / self.cap)
        if self.bias is not None:
            scores = scores + self.bias
        if self.causal:
            later = torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -torch.inf)
        return scores.softmax(-1)


def for_each_head(shared: torch.Tensor, heads: int) -> torch.Tensor:
    """Keys or values that several heads in a row share, once for each of them."""
    return shared if len(shared) == heads else shared.repeat_interleave(heads // len(shared), 0)


def split(x: torch.Tensor, heads: int) -> torch.Tensor:
    """Shape (n, dim) to (heads, n, dim / heads); head *h* has the columns from ``h * dim / heads``."""
    return x.reshape(len(x), heads, -1).transpose(0, 1)


def attend(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    heads: int,
    *,
    causal: bool = False,
    bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, Looked]:
    """Scaled dot-product attention (Vaswani et al., *Attention Is All You Need*, 2017, section 3.2).

    Parameters
    ----------
    queries : tensor, shape (n, dim)
    keys, values : tensor, shape (m, dim)
    heads : int
        Divides dim.
    causal : bool
        Whether a place sees none after it.
    bias : tensor, optional
        As in ``Looked``; not of a causal one.

    Returns
    -------
    tensor, shape (n, dim)
        The heads side by side.
    Looked
    """
    return mix(Looked(split(queries, heads), split(keys, heads), causal, bias=bias), split(values, heads))


def mix(looked: Looked, values: torch.Tensor) -> tuple[torch.Tensor, Looked]:
    """What the heads take from the places that they look at.

    Parameters
    ----------
    looked : Looked
        Not both causal and with a bias.
    values : tensor, shape (heads or a divisor of it, m, dim of a head)

    Returns
    -------
    tensor, shape (n, heads * dim of a head)
        The heads side by side.
    Looked
    """
    heads = len(looked.queries)
    v = for_each_head(values, heads)
    if looked.cap is not None:
        mixed = looked.shares() @ v
    else:
        # With a batch in front, the kernel that never builds the (n, m) matrix is taken.
        q, k = looked.queries[None], for_each_head(looked.keys, heads)[None]
        mask = None if looked.bias is None else looked.bias[None]
        mixed = functional.scaled_dot_product_attention(
            q, k, v[None], attn_mask=mask, is_causal=looked.causal, scale=looked.scale
        )[0]
    return mixed.transpose(0, 1).flatten(1), looked


def attention(
    looked: list[Looked], name: str = "self-attention", queries: Of = Of.TOKENS, keys: Of = Of.TOKENS
) -> Attention:
    """What is shown of all layers' attention, the first layer first."""
    kept = tuple(looked)
    return Attention(
        name, len(kept), kept[0].queries.shape[0], queries, keys, lambda n: kept[n - 1].weights()
    )


def heads_of(dim: int, asked: int | None, usual: int, told: object = None) -> Heads:
    """How many heads to compute with: what a person has said, else the file, else what is usual.

    Parameters
    ----------
    dim : int
    asked : int or None
        By a person.
    usual : int
    told : object
        A configuration's word; anything but a number is none.

    Raises
    ------
    ExplorerError
        The number does not divide dim.
    """
    is_told = asked is None and isinstance(told, int)
    count = asked if asked is not None else told if isinstance(told, int) else usual
    if count < 1 or dim % count:
        raise ExplorerError(
            f"A width of {dim} cannot be split into {count} heads.", "Say with --heads how many there are."
        )
    return Heads(count, dim, is_guess=asked is None and not is_told, is_told=is_told)
