"""State dicts of models that see pictures, with the names and shapes of the real ones and random weights."""

from __future__ import annotations

import numpy as np
from PIL import Image
from stage_checkpoints import Maker, State


def cifar_vit(layers: int = 4, heads: int = 4, dim: int = 48) -> State:
    made = Maker(11)
    made.normal("embedding.cls_token", 1, 1, dim)
    made.normal("embedding.position_embeddings", 1, 65, dim)
    made.normal("embedding.patch_embeddings.projection.weight", dim, 3, 4, 4, scale=0.15)
    made.normal("embedding.patch_embeddings.projection.bias", dim, scale=0.1)
    for layer in range(layers):
        name = f"encoder.blocks.{layer}"
        for head in range(heads):
            for part in ("query", "key", "value"):
                made.linear(f"{name}.attention.heads.{head}.{part}", dim // heads, dim)
        made.linear(f"{name}.attention.output_projection", dim, dim)
        made.linear(f"{name}.mlp.dense_1", 4 * dim, dim)
        made.linear(f"{name}.mlp.dense_2", dim, 4 * dim)
        made.norm(f"{name}.layernorm_1", dim)
        made.norm(f"{name}.layernorm_2", dim)
    made.linear("classifier", 10, dim)
    return made.state


def captioning(rows: int = 8387, dim: int = 192, layers: int = 6) -> State:
    made = Maker(12)
    made.linear("encoder.fc_in", dim, 8 * 8 * 3)
    made.normal("encoder.pos_embedding", 1, 256, dim, scale=0.3)
    made.normal("decoder.embedding.weight", rows, dim)
    for side, attentions in (("encoder", ("1",)), ("decoder", ("1", "2"))):
        for layer in range(layers):
            name = f"{side}.blocks.{layer}"
            for number in attentions:
                made.norm(f"{name}.norm{number}", dim)
                attention = f"{name}.attn{number}.multihead_attn"
                made.normal(f"{attention}.in_proj_weight", 3 * dim, dim, scale=dim**-0.5)
                made.normal(f"{attention}.in_proj_bias", 3 * dim, scale=0.1)
                made.linear(f"{attention}.out_proj", dim, dim)
            made.norm(f"{name}.norm_mlp", dim)
            made.linear(f"{name}.mlp.0", 4 * dim, dim)
            made.linear(f"{name}.mlp.2", dim, 4 * dim)
    made.linear("decoder.fc_out", rows, dim)
    return made.state


def scene(width: int, height: int) -> Image.Image:
    """A picture of which no two patches are alike."""
    random = np.random.default_rng(5)
    coarse = random.integers(0, 256, (9, 9, 3), np.uint8)
    return Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
