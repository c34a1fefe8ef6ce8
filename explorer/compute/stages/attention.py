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
    queries, keys : tensor, shape (heads, n, dim of a head)
    causal : bool
    """

    queries: torch.Tensor
    keys: torch.Tensor
    causal: bool

    def weights(self) -> NDArray[np.float32]:
        """Shape (heads, queries, keys); rows sum to 1."""
        with torch.inference_mode():
            scores = self.queries @ self.keys.transpose(1, 2) / math.sqrt(self.queries.shape[2])
            if self.causal:
                later = torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)
                scores = scores.masked_fill(later, -torch.inf)
            found: NDArray[np.float32] = scores.softmax(-1).numpy()
            return found


def attend(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, heads: int, *, causal: bool = False
) -> tuple[torch.Tensor, Looked]:
    """Scaled dot-product attention (Vaswani et al., *Attention Is All You Need*, 2017, section 3.2).

    Parameters
    ----------
    queries : tensor, shape (n, dim)
    keys, values : tensor, shape (m, dim)
    heads : int
        Divides dim; head *h* has the columns from ``h * dim / heads``.
    causal : bool
        Whether a place sees none after it.

    Returns
    -------
    tensor, shape (n, dim)
        The heads side by side.
    Looked
    """
    q, k, v = (x.reshape(len(x), heads, -1).transpose(0, 1) for x in (queries, keys, values))
    # With a batch in front, the kernel that never builds the (n, m) matrix is taken.
    mixed = functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]
    return mixed.transpose(0, 1).flatten(1), Looked(q, k, causal)


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
