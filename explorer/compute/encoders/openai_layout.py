"""OpenAI's and OpenCLIP's names and shapes, mapped onto those of ``transformers``.

Both keep the three input projections of an attention in one tensor (``in_proj_weight``), call the two layers
of a block's MLP ``c_fc`` and ``c_proj``, and store the projections into the shared space transposed. What a
state dict does not say (heads, activation) comes from the configuration, or is assumed and said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from explorer.compute.encoders.weights import Weights
from explorer.core.errors import ExplorerError

State = dict[str, torch.Tensor]

_BLOCKS = r"transformer\.resblocks\.(\d+)\."
# Width of an attention head by the width of the tower, in the published models that depart from 64.
_HEAD_WIDTHS = {1280: 80, 1408: 88, 1664: 104, 1792: 112}
_BLOCK_NAMES = {
    "ln_1": "layer_norm1",
    "ln_2": "layer_norm2",
    "mlp.c_fc": "mlp.fc1",
    "mlp.c_proj": "mlp.fc2",
    "attn.out_proj": "self_attn.out_proj",
}


@dataclass(frozen=True)
class TextShape:
    """A text tower's sizes, as far as its tensors tell them.

    Attributes
    ----------
    width, layers, context, vocabulary, inner : int
        ``inner`` is the width of the MLP's hidden layer.
    """

    width: int
    layers: int
    context: int
    vocabulary: int
    inner: int


@dataclass(frozen=True)
class VisionShape:
    """A vision transformer's sizes, as far as its tensors tell them."""

    width: int
    layers: int
    patch: int
    image: int
    inner: int


def text_shape(weights: Weights) -> TextShape:
    """Sizes of a text tower whose names start with ``token_embedding`` and ``transformer``.

    Raises
    ------
    ExplorerError
        A tensor is missing or of an impossible shape.
    """
    vocabulary, width = _matrix(weights, "token_embedding.weight")
    context, _ = _matrix(weights, "positional_embedding")
    inner, _ = _matrix(weights, "transformer.resblocks.0.mlp.c_fc.weight")
    return TextShape(width, weights.count(_BLOCKS), context, vocabulary, inner)


def vision_shape(weights: Weights) -> VisionShape:
    """Sizes of a vision transformer whose names start with ``conv1`` and ``transformer``.

    Raises
    ------
    ExplorerError
        A tensor is missing or of an impossible shape, or the pictures are not square.
    """
    kernel = weights.shape("conv1.weight")
    positions, width = _matrix(weights, "positional_embedding")
    side = math.isqrt(max(positions - 1, 0))
    if len(kernel) != 4 or kernel[2] != kernel[3] or side * side != positions - 1:
        raise ExplorerError(
            f"The vision tower in {weights.path.name} sees no square pictures: not known here."
        )
    inner, _ = _matrix(weights, "transformer.resblocks.0.mlp.c_fc.weight")
    return VisionShape(width, weights.count(_BLOCKS), kernel[2], side * kernel[2], inner)


def heads_of(width: int, head_width: int | None) -> int:
    """Heads of a vision tower: by its configuration, else by its width, as in all published models."""
    return max(1, width // (head_width or _HEAD_WIDTHS.get(width, 64)))


def text_config(
    shape: TextShape, activation: str, *, heads: int | None = None, eps: float = 1e-5
) -> dict[str, Any]:
    """Values of a ``CLIPTextConfig`` (and of a ``SiglipTextConfig``)."""
    return {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.width,
        "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": heads or max(1, shape.width // 64),
        "max_position_embeddings": shape.context,
        "hidden_act": activation,
        "layer_norm_eps": eps,
        "bos_token_id": max(shape.vocabulary - 2, 0),
        "eos_token_id": shape.vocabulary - 1,
    }


def vision_config(
    shape: VisionShape, activation: str, *, head_width: int | None, eps: float = 1e-5
) -> dict[str, Any]:
    """Values of a ``CLIPVisionConfig``."""
    return {
        "hidden_size": shape.width,
        "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": heads_of(shape.width, head_width),
        "image_size": shape.image,
        "patch_size": shape.patch,
        "hidden_act": activation,
        "layer_norm_eps": eps,
    }


def text_state(weights: Weights) -> State:
    """A text tower's tensors under the names of a ``CLIPTextModel``."""
    state = {
        "embeddings.token_embedding.weight": weights.read("token_embedding.weight"),
        "embeddings.position_embedding.weight": weights.read("positional_embedding"),
        **_norm(weights, "ln_final", "final_layer_norm"),
    }
    return state | _blocks(weights)


def vision_state(weights: Weights) -> State:
    """A vision transformer's tensors under the names of a ``CLIPVisionModel``."""
    state = {
        "embeddings.class_embedding": weights.read("class_embedding"),
        "embeddings.patch_embedding.weight": weights.read("conv1.weight"),
        "embeddings.position_embedding.weight": weights.read("positional_embedding"),
        **_norm(weights, "ln_pre", "pre_layrnorm"),  # spelled so in transformers
        **_norm(weights, "ln_post", "post_layernorm"),
    }
    return state | _blocks(weights)


def projection(weights: Weights, name: str) -> torch.Tensor | None:
    """A projection into the shared space as a linear layer's weight, (to, from); None where there is none."""
    if name in weights:
        return weights.read(name).T.contiguous()
    linear = f"{name}.weight"
    return weights.read(linear) if linear in weights else None


def prefixed(prefix: str, state: Mapping[str, torch.Tensor]) -> State:
    """The same tensors, one level deeper."""
    return {f"{prefix}{name}": tensor for name, tensor in state.items()}


def split_projections(name: str, weight: torch.Tensor, bias: torch.Tensor) -> State:
    """Query, key and value out of the one tensor that holds them in this order."""
    state: State = {}
    pairs = zip(weight.chunk(3), bias.chunk(3), ("q_proj", "k_proj", "v_proj"), strict=True)
    for part_weight, part_bias, part in pairs:
        state[f"{name}.{part}.weight"] = part_weight.contiguous()
        state[f"{name}.{part}.bias"] = part_bias.contiguous()
    return state


def _blocks(weights: Weights) -> State:
    state: State = {}
    for i in range(weights.count(_BLOCKS)):
        block = weights.under(f"transformer.resblocks.{i}.")
        target = f"encoder.layers.{i}."
        for name, ours in _BLOCK_NAMES.items():
            state |= _norm(block, name, f"{target}{ours}")
        state |= split_projections(
            f"{target}self_attn", block.read("attn.in_proj_weight"), block.read("attn.in_proj_bias")
        )
    return state


def _norm(weights: Weights, name: str, ours: str) -> State:
    """A layer's weight and bias under its new name."""
    return {f"{ours}.{part}": weights.read(f"{name}.{part}") for part in ("weight", "bias")}


def _matrix(weights: Weights, name: str) -> tuple[int, int]:
    shape = weights.shape(name)
    if len(shape) != 2 or not all(shape):
        raise ExplorerError(f"{name} in {weights.path.name} is no matrix: it has the shape {shape}.")
    return shape[0], shape[1]
