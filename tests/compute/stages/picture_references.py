"""The same models a second time, out of torch's own layers filled from their state dicts."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from PIL import Image
from stage_checkpoints import State
from stage_references import fill
from torch import nn
from torch.nn import functional


def normalised(image: Image.Image, mean: tuple[float, ...], std: tuple[float, ...]) -> torch.Tensor:
    """Shape (1, 3, height, width)."""
    pixels = torch.from_numpy(np.asarray(image, np.float32) / 255)
    return ((pixels - torch.tensor(mean)) / torch.tensor(std)).permute(2, 0, 1)[None]


def vit_outputs(state: State, pixels: torch.Tensor, heads: int = 4) -> list[torch.Tensor]:
    """Patches projected, with position, after each layer."""
    name = "embedding.patch_embeddings.projection"
    patches = functional.conv2d(pixels, state[f"{name}.weight"], state[f"{name}.bias"], stride=4)
    patches = patches.flatten(2).transpose(1, 2)
    x = torch.cat([state["embedding.cls_token"], patches], 1) + state["embedding.position_embeddings"]
    found = [patches[0], x[0]]
    dim = x.shape[2]
    for number in range(4):
        block = f"encoder.blocks.{number}"
        layer = nn.TransformerEncoderLayer(
            dim,
            heads,
            4 * dim,
            dropout=0.0,
            activation=partial(functional.gelu, approximate="tanh"),
            batch_first=True,
            norm_first=True,
        )
        parts = [
            [f"{block}.attention.heads.{h}.{part}" for h in range(heads)]
            for part in ("query", "key", "value")
        ]
        joined = [each for part in parts for each in part]
        layer.self_attn.load_state_dict(
            {
                "in_proj_weight": torch.cat([state[f"{each}.weight"] for each in joined]),
                "in_proj_bias": torch.cat([state[f"{each}.bias"] for each in joined]),
                "out_proj.weight": state[f"{block}.attention.output_projection.weight"],
                "out_proj.bias": state[f"{block}.attention.output_projection.bias"],
            }
        )
        for module, part in (
            (layer.linear1, "mlp.dense_1"),
            (layer.linear2, "mlp.dense_2"),
            (layer.norm1, "layernorm_1"),
            (layer.norm2, "layernorm_2"),
        ):
            fill(module, state, f"{block}.{part}")
        x = layer(x)
        found.append(x[0])
    return found


def captioning_encoder(state: State, pixels: torch.Tensor, heads: int = 8) -> list[torch.Tensor]:
    """Patches projected, with position, after each layer."""
    patches = functional.unfold(pixels, 8, stride=8).transpose(1, 2)
    dim = state["encoder.fc_in.bias"].shape[0]
    linear = nn.Linear(patches.shape[2], dim)
    fill(linear, state, "encoder.fc_in")
    projected = linear(patches)
    x = projected + state["encoder.pos_embedding"]
    found = [projected[0], x[0]]
    for number in range(6):
        block = f"encoder.blocks.{number}"
        layer = nn.TransformerEncoderLayer(
            dim, heads, 4 * dim, dropout=0.0, activation=functional.elu, batch_first=True
        )
        _fill_attention(layer.self_attn, state, f"{block}.attn1.multihead_attn")
        for module, part in (
            (layer.norm1, "norm1"),
            (layer.norm2, "norm_mlp"),
            (layer.linear1, "mlp.0"),
            (layer.linear2, "mlp.2"),
        ):
            fill(module, state, f"{block}.{part}")
        x = layer(x)
        found.append(x[0])
    return found


def captioning_decoder(
    state: State, ids: list[int], patches: torch.Tensor, heads: int = 8
) -> list[torch.Tensor]:
    """Looked up, with position, after each layer."""
    looked = functional.embedding(torch.tensor(ids), state["decoder.embedding.weight"])
    dim = looked.shape[1]
    half = dim // 2
    places = torch.zeros(len(ids), dim)
    for place in range(len(ids)):
        for i in range(half):
            angle = torch.tensor(place / 10000 ** (i / (half - 1)))
            places[place, i], places[place, half + i] = angle.sin(), angle.cos()
    found = [looked, looked + places]
    x = found[-1][None]
    mask = nn.Transformer.generate_square_subsequent_mask(len(ids))
    for number in range(6):
        block = f"decoder.blocks.{number}"
        layer = nn.TransformerDecoderLayer(
            dim, heads, 4 * dim, dropout=0.0, activation=functional.elu, batch_first=True
        )
        _fill_attention(layer.self_attn, state, f"{block}.attn1.multihead_attn")
        _fill_attention(layer.multihead_attn, state, f"{block}.attn2.multihead_attn")
        for module, part in (
            (layer.norm1, "norm1"),
            (layer.norm2, "norm2"),
            (layer.norm3, "norm_mlp"),
            (layer.linear1, "mlp.0"),
            (layer.linear2, "mlp.2"),
        ):
            fill(module, state, f"{block}.{part}")
        x = layer(x, patches[None], tgt_mask=mask)
        found.append(x[0])
    return found


def cross_attention(state: State, x: torch.Tensor, patches: torch.Tensor, heads: int = 8) -> torch.Tensor:
    """Of the first decoder layer, by torch's own: shape (heads, queries, keys)."""
    block = "decoder.blocks.0"
    dim = x.shape[1]
    own, cross = (nn.MultiheadAttention(dim, heads, batch_first=True) for _ in range(2))
    _fill_attention(own, state, f"{block}.attn1.multihead_attn")
    _fill_attention(cross, state, f"{block}.attn2.multihead_attn")
    norm = nn.LayerNorm(dim)
    fill(norm, state, f"{block}.norm1")
    mask = nn.Transformer.generate_square_subsequent_mask(len(x))
    hidden = norm(x[None] + own(x[None], x[None], x[None], attn_mask=mask)[0])
    return cross(hidden, patches[None], patches[None], average_attn_weights=False)[1][0]


def _fill_attention(module: nn.Module, state: State, name: str) -> None:
    parts = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
    module.load_state_dict({part: state[f"{name}.{part}"] for part in parts})
